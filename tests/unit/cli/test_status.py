"""`segue status`: where everything stands, in words and for programs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.bench import Bench
from kit.questions import asked, parked
from kit.shell import Shell
from kit.standing import standing
from segue import i18n
from segue.cli import status
from segue.store.lock import Holder


def at(**ahead: float) -> str:
    """A time so far from now, as the tables have it."""
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat().replace("+00:00", "Z")


def usage(read: int = 0) -> dict[str, Any]:
    return {"input_tokens": read, "output_tokens": 5, "cost_usd": None}


def test_nothing_has_run_here(segue: Shell) -> None:
    """The command that changes that is named; a program reads an empty list."""
    said = segue("status")
    assert (said.code, said.out) == (
        0,
        "Nothing has run here yet. Start with: segue run PLAN.md\n",
    )
    assert segue("status", "--json").json == {"plans": []}


def test_a_plan_that_waits_for_a_person_shows_what_is_asked_and_what_failed(
    bench: Bench, segue: Shell
) -> None:
    asked(bench)
    lines = segue("status").out.splitlines()
    assert lines[0] == "❓ PLAN.md  waits for you  0/2"
    assert "  ❓ T-1: Which database?" in lines
    assert any(line.startswith("  ✘ T-2 Test") for line in lines)
    assert lines[-1] == "  to continue: segue run PLAN.md"


def test_a_parked_plan_shows_when_it_resumes(bench: Bench, segue: Shell) -> None:
    """The task and its account, each with the time that is left."""
    parked(bench, wait_s=7200)
    text = segue("status").out
    assert "⏳ PLAN.md  parked  0/1\n" in text
    assert "  ⏳ T-1: 5-hour limit, resumes at " in text
    assert "⏳ account claude: parked until " in text
    assert text.count("(in 2h)") == 2


def test_a_running_plan_shows_who_works_and_what_was_said(alone: Path) -> None:
    """For how long, and no more of the last words than a line has room for."""
    runs = [
        {"task": "T-1", "since": at(minutes=-5), "agent": "claude", "said": "x" * 500},
        {"task": "T-2", "since": at(minutes=-5), "agent": "codex", "said": ""},
    ]
    holder = Holder(4711, at(hours=-1), "segue run PLAN.md")
    plan = standing(
        alone / "PLAN.md", "running", holder=holder, runs=runs, running=["T-1", "T-2", "T-3"]
    )
    lines = status.one(plan).splitlines()
    assert lines[1].startswith("  process 4711, since ")
    assert lines[2:] == [
        f"  ▶ T-1 (claude, 5m): {'x' * status.SAID_CHARS_MAX}",
        "  ▶ T-2 (codex, 5m)",
        "  ▶ T-3",
    ]


def test_further_lines_of_a_text_are_indented(alone: Path) -> None:
    """None of them looks like the next plan."""
    gates = [{"task": None, "text": "The budget is used up.\n✔ PLAN.md  finished"}]
    failed = [{"task": "T-1", "title": "Build", "error": "exit code 3\n✔ PLAN.md  finished"}]
    plan = standing(alone / "PLAN.md", "waiting", gates=gates, failed=failed)
    first, *rest = status.one(plan).splitlines()
    assert first.startswith("❓ PLAN.md")
    assert all(line.startswith("  ") for line in rest), rest


def test_a_failure_without_a_word_has_no_colon(alone: Path) -> None:
    failed = [{"task": "T-1", "title": "Build", "error": None}]
    plan = standing(alone / "PLAN.md", "failed", failed=failed, completed=2)
    assert "  ✘ T-1 Build" in status.one(plan).splitlines()
    assert status.one(plan).splitlines()[:2] == ["✘ PLAN.md  failed  2/3", "  1 failed"]


@pytest.mark.parametrize(
    ("kind", "path", "go_on", "command"),
    [
        ("tasklist", "my plan.md", "", "segue run 'my plan.md'"),
        ("book", "", "segue write-all --resume", "segue write-all --resume"),
        ("book", "night", "segue write-all --resume", "segue resume night --continue"),
        ("develop", ".develop-workflow/state.yaml", "segue develop --approve",
         "segue develop --approve"),
        ("develop", "app/.develop-workflow/state.yaml", "segue develop --approve",
         "segue resume app/.develop-workflow/state.yaml --continue"),
        ("server", ".segue", "segue serve", "segue serve"),
    ],
)  # fmt: skip
def test_the_command_that_continues_it_works_from_here(
    alone: Path, kind: str, path: str, go_on: str, command: str
) -> None:
    """Its own where it is at home, else the one that finds it by its path."""
    plan = standing(alone / path, "interrupted", kind, go_on=go_on)
    assert status.one(plan).splitlines()[-1] == f"  to continue: {command}"


def test_accounts_are_told_apart_only_where_there_are_several() -> None:
    def account(name: str, read: int, **more: Any) -> dict[str, Any]:
        return {
            "account": name,
            "usage": usage(read),
            "state": "open",
            "parked_until": None,
            **more,
        }

    one, two = account("claude", 10), account("codex", 20)
    assert status.accounts_in_words([one, account("idle", 0)]) == []
    assert status.accounts_in_words([one, two]) == [
        "",
        "account claude: 10 tokens read, 5 written, no cost reported",
        "account codex: 20 tokens read, 5 written, no cost reported",
    ]
    past = account("claude", 0, state="parked", parked_until=at(minutes=-1))
    assert status.accounts_in_words([past]) == [], "its time has come"


def test_a_park_without_a_time_says_only_why(alone: Path) -> None:
    parks = [{"task": "T-1", "kind": "until", "wakes_at": None}]
    lines = status.one(standing(alone / "PLAN.md", "parked", parks=parks)).splitlines()
    assert "  ⏳ T-1: past the time in [leash] until" in lines


@pytest.mark.usefixtures("alone")
def test_watch_prints_again_until_nobody_reads(
    segue: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe: a look for each second, and an end by itself."""
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        assert len(waited) < 5, "nobody reads it any more"

    monkeypatch.setattr("segue.cli.status.time.sleep", sleep)
    monkeypatch.setattr("segue.cli.status.streams.is_read", lambda: len(waited) < 2)
    said = segue("status", "--watch")
    assert (said.code, said.out.count("Nothing has run here yet."), waited) == (0, 3, [1.0, 1.0])


def test_a_korean_reader_gets_korean(alone: Path) -> None:
    i18n.use("ko")
    text = status.one(standing(alone / "PLAN.md", "interrupted", pending=1))
    assert "segue run PLAN.md" in text
    assert "interrupted" not in text
    assert "to continue" not in text
