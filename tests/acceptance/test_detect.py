"""`segue detect`, as people and scripts call it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kit.command import SEGUE, Result

RULE = "─" * 60
BANNER = "You've hit your session limit · resets 7:20pm (Asia/Seoul)"
SCREEN = f"⏺ Done.\n\n❯ go on\n  ⎿  {BANNER}\n\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts\n"
NOW = ("--now", "2026-03-16T13:19:00+09:00", "--tz", "Asia/Seoul")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()  # a project: nothing above it is looked at
    return tmp_path


def detect(
    here: Path, *arguments: str, screen: str | bytes = SCREEN, env: dict[str, str] | None = None
) -> Result:
    given = screen.encode() if isinstance(screen, str) else screen
    done = subprocess.run(
        [SEGUE, *arguments],
        input=given,
        capture_output=True,
        check=False,
        cwd=here,
        timeout=60,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(here),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **(env or {}),
        },
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_an_answer_in_words(here: Path) -> None:
    """What stopped it, until when, and the line that says so."""
    done = detect(here, "detect", *NOW)
    assert done.code == 0
    assert done.out.splitlines() == [
        "paused: 5-hour limit",
        "  until 2026-03-16 19:20:00 KST (6h 1m from now)",
        f"  “{BANNER}”",
    ]


@pytest.mark.parametrize("arguments", [
    ("--lang", "ko", "detect", *NOW),
    ("detect", "--lang", "ko", *NOW),
    ("detect", *NOW, "--lang", "ko"),
])  # fmt: skip
def test_an_answer_in_korean(here: Path, arguments: tuple[str, ...]) -> None:
    """`--lang` before the command and behind it."""
    done = detect(here, *arguments)
    assert done.out.splitlines()[0].startswith("멈춤: ")
    assert "2026-03-16 19:20:00 KST까지 (지금부터 6h 1m)" in done.out


def test_a_file_or_standard_input(here: Path) -> None:
    """A name, a dash, or nothing."""
    (here / "screen.txt").write_text(SCREEN)
    answers = [
        detect(here, "detect", *NOW, *name, screen=text).out
        for name, text in ((["screen.txt"], ""), (["-"], SCREEN), ([], SCREEN))
    ]
    assert len(set(answers)) == 1
    assert "5-hour limit" in answers[0]


def test_one_answer_as_json(here: Path) -> None:
    """The documented fields, and no others."""
    done = detect(here, "detect", "--json", *NOW)
    assert done.json == {
        "id": None,
        "paused": True,
        "kind": "session_limit",
        "resets_at": "2026-03-16T10:20:00Z",
        "wait_s": 21660.0,
        "state": "paused",
        "evidence": BANNER,
        "source": "screen",
        "confidence": "certain",
        "notes": [],
    }


def test_nothing_stops_it(here: Path) -> None:
    """Exit code 0 all the same."""
    done = detect(here, "detect", "--json", screen=f"⏺ Done.\n\n{RULE}\n❯ \n{RULE}\n")
    assert (done.code, done.json["paused"], done.json["kind"]) == (0, False, None)
    assert done.json["state"] == "idle"
    assert detect(here, "detect", screen="").code == 0
    assert detect(here, "detect", screen=b"\xff\xfe\x00garbage\x1b[999;999H").code == 0


def test_why(here: Path) -> None:
    """The rule, how the time was read, what was passed over."""
    out = detect(here, "detect", "--explain", *NOW).out
    assert "rule: you-hit" in out
    assert "time: “7:20pm (Asia/Seoul)”" in out
    assert "a status line: ? for shortcuts" in out
    explained = detect(here, "detect", "--explain", "--json", *NOW).json
    assert explained["rule"] == "you-hit"
    assert explained["time"]["zone"] == "Asia/Seoul"
    assert explained["aside"] == [{"text": "? for shortcuts", "why": "status"}]


def test_a_zone_that_is_not_known_is_told_without_being_asked(here: Path) -> None:
    """The time then counts for nothing: it may be hours off."""
    screen = "You've hit your limit · resets 3pm (Mars/Olympus)"
    done = detect(here, "detect", *NOW, screen=screen)
    assert "unknown time zone “Mars/Olympus”" in done.out
    assert "15:00:00" not in done.out
    korean = detect(here, "detect", "--lang", "ko", *NOW, screen=screen)
    assert "“Mars/Olympus”" in korean.out
    assert detect(here, "detect", "--json", screen=screen).json["notes"] == ["unknown_zone"]


@pytest.mark.parametrize(("arguments", "told"), [
    (("detect", "--tz", "Mars/Olympus"), "Mars/Olympus"),
    (("detect", "--now", "soon"), "`soon` is not a time"),
    (("detect", "missing.txt"), "missing.txt"),
    (("detect", "--colour"), "--colour"),
])  # fmt: skip
def test_bad_usage(here: Path, arguments: tuple[str, ...], told: str) -> None:
    """Exit code 2, and what to do."""
    done = detect(here, *arguments)
    assert done.code == 2
    assert told in done.err
    assert "→" in done.err or "Usage" in done.err or "usage" in done.err


# Many


def lines(*cases: Any) -> bytes:
    return b"".join(
        (case if isinstance(case, bytes) else json.dumps(case).encode()) + b"\n" for case in cases
    )


def test_many_screens(here: Path) -> None:
    """Each line its answer, in order; a bad line is answered with what is wrong."""
    given = lines(
        {"id": "a", "text": SCREEN, "now": "2026-03-16T04:19:00Z", "tz": "Asia/Seoul"},
        b"{no json",
        b"[1]",
        {"id": 4, "text": 5},
        {"id": 6, "text": "x", "now": "never"},
        b"",
        {"id": "z", "text": "all is well", "tool": "codex"},
    )
    done = detect(here, "detect", "--jsonl", screen=given)
    assert done.code == 0
    answers = done.events
    assert [answer["id"] for answer in answers] == ["a", None, None, 4, 6, "z"]
    assert ["error" in answer for answer in answers] == [False, *[True] * 4, False]
    assert answers[0]["resets_at"] == "2026-03-16T10:20:00Z"
    assert answers[-1]["paused"] is False


def test_a_zone_that_is_not_known_is_told_and_not_used(here: Path) -> None:
    """The machine's stands in for it: the line gets its answer."""
    given = lines(
        {"id": 1, "text": SCREEN, "now": "2026-03-16T04:19:00Z", "tz": "Mars/X"},
        {"id": 2, "text": SCREEN, "now": "2026-03-16T04:19:00Z", "tz": "Asia/Seoul"},
    )
    told, known = detect(here, "detect", "--jsonl", "--tz", "Asia/Seoul", screen=given).events
    assert (told["notes"], known["notes"]) == (["unknown_zone"], [])
    assert told["resets_at"] == known["resets_at"] == "2026-03-16T10:20:00Z"


def test_the_instant_may_be_a_number(here: Path) -> None:
    """Seconds since 1970, as programs have it; what cannot be an instant is told."""
    number = 1773634740  # 2026-03-16T04:19:00Z
    nows = (number, number + 0.5, str(number), 5, -number, 1e300, True)
    given = lines(
        *({"id": n, "text": SCREEN, "now": now, "tz": "Asia/Seoul"} for n, now in enumerate(nows))
    )
    answers = detect(here, "detect", "--jsonl", screen=given).events
    assert [answer.get("resets_at") for answer in answers[:3]] == ["2026-03-16T10:20:00Z"] * 3
    assert answers[0]["wait_s"] - answers[1]["wait_s"] == 0.5
    assert all("error" in answer for answer in answers[3:])


def test_many_screens_with_reasons(here: Path) -> None:
    """`--explain` adds them to each."""
    done = detect(here, "detect", "--jsonl", "--explain", screen=lines({"id": 1, "text": BANNER}))
    assert done.json["rule"] == "you-hit"


def test_answers_come_as_the_lines_are_fed(here: Path) -> None:
    """The first answer is there before the second line is written."""
    with subprocess.Popen(
        [SEGUE, "detect", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=here
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        for number in range(3):
            program.stdin.write(lines({"id": number, "text": BANNER}))
            program.stdin.flush()
            assert json.loads(program.stdout.readline())["id"] == number
        program.stdin.close()
        assert program.wait(60) == 0


# A user's own patterns

OWN = """
[[limits.patterns]]
pattern = '(?i)no more juice'
kind = "daily_quota"
agent = "squeezer"
"""


def test_patterns_of_the_project_count(here: Path) -> None:
    """From `segue.toml`, from a folder below it, and from the user's own settings."""
    (here / "below").mkdir()
    (here / "segue.toml").write_text(OWN)
    juice = "No more juice until 6pm"
    for folder in (here, here / "below"):
        done = detect(folder, "detect", "--json", "--tool", "squeezer", screen=juice)
        assert done.json["kind"] == "daily_quota"
    assert not detect(here, "detect", "--json", "--tool", "other", screen=juice).json["paused"]
    many = detect(here, "detect", "--jsonl", screen=lines({"text": juice, "tool": "squeezer"}))
    assert many.json["kind"] == "daily_quota"
    (here / "segue.toml").unlink()
    (here / ".config" / "segue").mkdir(parents=True)
    (here / ".config" / "segue" / "config.toml").write_text(OWN)
    own = detect(here, "detect", "--json", "--tool", "squeezer", screen=juice)
    assert own.json["kind"] == "daily_quota"


def test_a_pattern_that_does_not_compile(here: Path) -> None:
    """Exit code 2 with the file, the line and the cure; in Korean, too."""
    (here / "segue.toml").write_text(
        f"{OWN}\n[[limits.patterns]]\nkind = 'billing'\npattern = '('\n"
    )
    done = detect(here, "detect")
    assert done.code == 2
    assert "segue.toml:9: `(` is not a regular expression" in done.err
    assert "→" in done.err
    assert "정규식이 아닙니다" in detect(here, "detect", "--lang", "ko").err
    told = detect(here, "detect", "--json").json["error"]
    assert (told["code"], told["line"]) == ("bad_value", 9)
