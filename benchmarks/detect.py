"""Detecting limits: what stopped this screen, against the regular expressions of a script.

Whole screens (200 rows of scrollback, as `tmux capture-pane -S -200` gives them) and single ones
(40 rows), each with values of its own so that no line is read twice: half of them stopped by a
limit, half at work on code about limits. The script is what people have: a dozen expressions
tried on the whole text. It is no rival in what it finds, only in how long looking takes; the ratio
is bounded so that knowing more stays affordable. `--jsonl` is the command, from bytes to bytes;
start-up is `segue detect` on one screen minus `python -c pass`, medians in turn. Processor time
where nothing else is said, best round of each side.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import mkdtemp

from measure import SEGUE, Figure, cpu_s, in_turn, listed, run, wall_s

from segue.dialects.limits import detect

NOW = datetime(2026, 3, 16, 13, 19, tzinfo=UTC)
ROUNDS = 5
SCREENS, CASES = 400, 6_000
STARTS = 15
RULE = "─" * 100

MESSAGES = (
    "  ⎿  You've hit your session limit · resets {h}:{m:02}pm (Asia/Seoul)",
    "  ⎿  Weekly limit reached · resets Oct {d} at {h}:{m:02}am",
    '  ⎿  API Error: 529 {{"type":"error","error":{{"type":"overloaded_error","message":'
    '"Overloaded"}},"request_id":"req_{m}{d}{h}"}}',
    "  ⎿  Credit balance is too low · add {d} at console.example/billing/{m}",
)
WORK = (
    "⏺ Bash(pytest -q tests/test_limiter_{m}.py)\n  ⎿  {d} passed in 0.{m:02}s",
    "⏺ The limiter rejects call {m} of {d}: rate limit exceeded is now raised once per window.",
    "⏺ Update(src/limit_{d}.py)\n  ⎿  Updated with 2 additions\n"
    "     {m} +     raise LimitReached(n)\n"
    '     {d} +     """Rate limit exceeded."""',
    "❯ what happens when {d} requests hit the limit at {h}:{m:02}?",
)
# What scripts that wake panes have, in one form or another.
SCRIPT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:usage|rate|session|weekly|5-hour) limit (?:reached|exceeded|hit)",
        r"you(?:'ve| have) (?:hit|reached) your .{0,40}limit",
        r"limit reached.{0,80}resets? (?:at )?(.+)",
        r"resets? (?:at )?(\d{1,2}(?::\d\d)?\s*(?:am|pm))(?:\s*\(([^)]+)\))?",
        r"resets? ([A-Z][a-z]{2} \d{1,2}(?:,| at) \d{1,2}(?::\d\d)?\s*(?:am|pm))",
        r"limit reached\|(\d{10})",
        r"try again (?:in|at|after) (.+)",
        r"too many requests|\b429\b",
        r"overloaded|\b529\b",
        r"credit balance is too low|out of credits",
        r"context (?:limit|window|length).{0,40}(?:reached|exceeded)|prompt is too long",
        r"quota (?:exceeded|exhausted)",
    )
)


def screen(chance: random.Random, blocks: int, *, is_stopped: bool) -> str:
    def filled(text: str) -> str:
        return text.format(
            h=chance.randint(1, 12), m=chance.randint(0, 59), d=chance.randint(1, 28)
        )

    parts = [filled(chance.choice(WORK)) for _ in range(blocks)]
    if is_stopped:
        parts.append("❯ go on\n" + filled(chance.choice(MESSAGES)))
    return "\n\n".join(parts) + f"\n\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts\n"


def screens(seed: int, count: int, blocks: int) -> list[str]:
    chance = random.Random(seed)
    return [screen(chance, blocks, is_stopped=n % 2 == 0) for n in range(count)]


def _looked(texts: list[str]) -> None:
    for text in texts:
        detect(text, tool="claude", now=NOW, tz=UTC)


def _scripted(texts: list[str]) -> None:
    for text in texts:
        for pattern in SCRIPT:
            pattern.search(text)


def _sides(blocks: int) -> tuple[Callable[[], float], Callable[[], float], float]:
    """How long each side takes for screens that it has not seen; and how many MB they are."""
    rounds = iter(range(1_000_000))
    size = sum(len(text.encode()) for text in screens(0, SCREENS, blocks)) / 1e6

    def side(look: Callable[[list[str]], None]) -> Callable[[], float]:
        def measured() -> float:
            texts = screens(next(rounds), SCREENS, blocks)
            return cpu_s(lambda: look(texts))

        return measured

    return side(_looked), side(_scripted), size


def measure(folder: Path) -> list[Figure]:
    place = Path(mkdtemp(dir=folder))
    _looked(screens(-1, 20, 10))  # expressions are compiled when first needed
    tall_looked, tall_scripted, tall_mb = _sides(70)
    looked, scripted, _mb = _sides(12)
    tall_s, tall_script_s, one_s, script_s = in_turn(
        ROUNDS, tall_looked, tall_scripted, looked, scripted
    )
    rates = [tall_mb / took for took in tall_s]
    script_rates = [tall_mb / took for took in tall_script_s]
    per_mb = "{:.1f}"
    return [
        Figure(
            "screens with scrollback",
            max(rates),
            20,
            True,
            unit="MB/s",
            details=(
                f"Segue, {tall_mb / SCREENS * 1e3:.0f} kB each, MB/s: {listed(rates, per_mb)}",
                f"a dozen expressions, MB/s: {listed(script_rates, per_mb)}",
            ),
        ),
        Figure(
            "one screen ÷ a dozen expressions",
            min(one_s) / min(script_s),
            4,
            False,
            details=(
                f"Segue, µs: {listed(_each_us(one_s), '{:.0f}')}",
                f"a dozen expressions, µs: {listed(_each_us(script_s), '{:.0f}')}",
            ),
        ),
        _jsonl(place),
        _start(place),
    ]


def _each_us(times_s: list[float]) -> list[float]:
    return [took / SCREENS * 1e6 for took in times_s]


def _jsonl(place: Path) -> Figure:
    file, one = place / "cases.jsonl", place / "one.jsonl"
    cases = [
        json.dumps({"id": n, "text": text, "tool": "claude", "now": NOW.isoformat(), "tz": "UTC"})
        for n, text in enumerate(screens(7, CASES, 12))
    ]
    file.write_text("\n".join(cases) + "\n", encoding="utf-8")
    one.write_text(cases[0] + "\n", encoding="utf-8")
    all_s, one_s = in_turn(
        3,
        lambda: wall_s(lambda: run([SEGUE, "detect", "--jsonl", file], place)),
        lambda: wall_s(lambda: run([SEGUE, "detect", "--jsonl", one], place)),
    )
    rates = [CASES / took for took in all_s]
    return Figure(
        "segue detect --jsonl",
        max(rates),
        5_000,
        True,
        unit="cases/s",
        details=(
            f"{CASES:,} cases, start-up and all, cases/s: {listed(rates, '{:.0f}')}",
            f"start-up with one case, s: {listed(one_s, '{:.2f}')}",
        ),
    )


def _start(place: Path) -> Figure:
    text = place / "screen.txt"
    text.write_text(screens(3, 1, 12)[0], encoding="utf-8")
    bare, took = in_turn(
        STARTS,
        lambda: wall_s(lambda: run([sys.executable, "-c", "pass"], place)),
        lambda: wall_s(lambda: run([SEGUE, "detect", text], place)),
    )
    more_ms = (median(took) - median(bare)) * 1e3
    details = tuple(
        f"{what}, ms: median {median(t) * 1e3:.0f}, from {min(t) * 1e3:.0f} to {max(t) * 1e3:.0f}"
        for what, t in (("segue detect", took), ("python -c pass", bare))
    )
    return Figure("segue detect − python", more_ms, 150.0, False, unit="ms", details=details)
