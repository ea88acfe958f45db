"""A report as one HTML file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from segue.work.report.facts import Report, WorkReport
from segue.work.report.html import page

NOW = datetime(2026, 11, 18, 8, tzinfo=UTC)


def test_everything_is_escaped_and_nothing_is_fetched() -> None:
    failed = {"task": "T-1", "title": "<script>alert(1)</script>", "error": '"><img src=x>'}
    work = WorkReport("tasklist", "<b>.md", "failed", failed=[failed])
    text = page(Report(NOW - timedelta(hours=1), NOW, [work]))
    assert "<script" not in text
    assert "<img" not in text
    assert "<b>" not in text
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in text
