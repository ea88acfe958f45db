"""`segue report`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell
from segue.cli.report import moment
from segue.errors import UserError

NOW = datetime(2026, 11, 18, 8, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8h", NOW - timedelta(hours=8)),
        ("2d", NOW - timedelta(days=2)),
        ("2026-11-17T18:00:00Z", datetime(2026, 11, 17, 18, tzinfo=UTC)),
    ],
)
def test_times_that_people_write(text: str, expected: datetime) -> None:
    assert moment(text, NOW) == expected


@pytest.mark.usefixtures("alone")
def test_a_clock_means_the_last_time_it_showed_that() -> None:
    for text in ("08:00", "23:59"):
        at = moment(text, NOW)
        assert timedelta(0) <= NOW - at < timedelta(days=1)


def test_what_is_no_time_is_told() -> None:
    with pytest.raises(UserError, match="tomorrow"):
        moment("tomorrow", NOW)


def now(bench: Bench) -> None:
    """The plan runs at the real time: a command knows no other."""
    bench.clock.at = datetime.now(UTC)
    asked(bench)


def test_it_shows_what_waits_and_what_failed(bench: Bench, segue: Shell) -> None:
    now(bench)
    shown = segue("report")
    assert shown.code == 0
    assert "❓ T-1: Which database?" in shown.out
    assert "✘ T-2" in shown.out


def test_files_are_written(bench: Bench, segue: Shell) -> None:
    now(bench)
    shown = segue("report", "--html", "r.html", "--markdown", "r.md")
    assert (shown.code, shown.out) == (0, "")
    assert (bench.root / "r.html").read_text().startswith("<!doctype html>")
    assert (bench.root / "r.md").read_text().startswith("# Report")


def test_markdown_alone_goes_to_the_output(bench: Bench, segue: Shell) -> None:
    now(bench)
    assert segue("report", "--markdown").out.startswith("# Report")
    assert segue("report", "--json").json["works"][0]["path"] == "PLAN.md"


def test_an_empty_folder_says_so(alone: Path, segue: Shell) -> None:
    assert alone.is_dir()
    assert segue("report").out == "Nothing has happened here since then.\n"
