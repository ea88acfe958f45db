"""A report in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from segue.work.report.facts import Report, Used, WorkReport
from segue.work.report.markdown import headline, markdown, terminal, usage

NOW = datetime(2026, 11, 18, 8, tzinfo=UTC)


def report(**facts: Any) -> Report:
    return Report(
        NOW - timedelta(hours=12), NOW, [WorkReport("tasklist", "PLAN.md", "finished", **facts)]
    )


def done(**more: Any) -> dict[str, Any]:
    return {"task": "T-1", "title": "Build", "seconds": 2, "attempts": 1, "evidence": None, **more}


def test_the_night_in_one_line() -> None:
    found = report(done=[done()], waiting=[{"id": "g", "task": "T-2", "text": "Which?"}])
    assert headline(found) == "1 done · 1 item waits for you"


def test_what_was_verified_says_how() -> None:
    found = report(done=[done(evidence={"command": "make test"}), done(task="T-2")])
    text = terminal(found)
    assert "✔ T-1 Build (2s, verified: make test)" in text
    assert "✔ T-2 Build (2s, not verified)" in text


def test_other_peoples_text_stays_one_harmless_line() -> None:
    failed = {"task": "T-1", "title": "a\x1b[31m\n# b", "error": "x\ny\x07"}
    text = markdown(report(failed=[failed]))
    assert "- ✘ T-1 a # b: x y" in text


def test_no_cost_is_not_a_cost_of_zero() -> None:
    assert usage(Used(1000, 2)) == "1,000 tokens read, 2 written, no cost reported"
    assert usage(Used(1, 2, 0.5)).endswith("$0.50")
