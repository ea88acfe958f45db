"""What Segue looks for in deliverables itself takes time in proportion to them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from segue.core.phases import Phase
from segue.work.phases import own_checks
from segue.work.phases.own_checks import DEADLINE_S, placeholders, shortcomings

PATIENCE = 5
EVIL = {
    "blanks": "TODO{}x".replace("{}", " " * 400),
    "marks": "# " * 200 + "todox",
    "names": "todo(" * 80,
    "brackets": "[todo " * 80,
    "ticks": "".join("`" * n + "x" for n in range(1, 28)),
    "one tick": "` " * 200,
    "dots": "to be added" + "." * 390 + "x",
    "here": "[insert " * 50,
}


def cost(line: str, times: int) -> float:
    """The least time of this thread for so many lines in one."""
    text = line * times
    found = []
    for _try in range(PATIENCE):
        before = time.thread_time()
        placeholders(text)
        found.append(time.thread_time() - before)
    return min(found)


@pytest.mark.parametrize("evil", EVIL)
def test_a_line_that_is_four_times_as_long_costs_no_square(
    evil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the bound of a line's length, too: four times the text, about four times the time,
    not sixteen times."""
    monkeypatch.setattr(own_checks, "LINE_CHARS_MAX", 10**9)
    assert cost(EVIL[evil], 40) < 10 * max(cost(EVIL[evil], 10), 0.0005)


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("TODO" + " " * 1990, True),
        ("TODO" + " " * 30 + "list", False),
        ("`` TODO ` x `` is done", False),
        ("`TODO` and TODO", True),
        ("a ` b TODO", True),
        ("to be written\tlater", True),
        ("여기에   작성", True),
    ],
)
def test_what_is_found_stays_the_same(line: str, is_one: bool) -> None:
    """However many blanks, and apart from code."""
    assert bool(placeholders(line)) is is_one


def test_a_check_ends_at_its_deadline(tmp_path: Path) -> None:
    """What takes too long is wanting, in words."""
    sizes = {}
    for n in range(3):
        (tmp_path / f"{n}.md").write_text("text")
        sizes[f"{n}.md"] = 4
    at = iter([0.0, 1.0, 2.0, 3.0, 4.0, DEADLINE_S + 1.0])
    phase = Phase("only", deliverables=("*.md",))
    reasons = shortcomings(phase, sizes, tmp_path, clock=lambda: next(at))
    assert len(reasons) == 1 and str(DEADLINE_S) in reasons[0]
