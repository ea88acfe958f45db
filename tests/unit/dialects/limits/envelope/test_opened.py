"""What carries a message: logs, exceptions, answers of HTTP, data."""

from __future__ import annotations

import pytest

from segue.dialects.limits.envelope.opened import last_entry, opened

TRACE = (
    "Traceback (most recent call last):",
    '  File "/app/run.py", line 88, in <module>',
    "    main()",
    "openai.RateLimitError: quota gone",
)
JAVA = (
    "java.lang.RuntimeException: turn failed",
    "    at com.acme.Main.run(Main.java:44)",
    "Caused by: com.acme.QuotaException: quota gone",
    "    ... 3 more",
)
YAML = ("status: error", "error:", "  code: 429", "  message: quota gone")


@pytest.mark.parametrize(
    ("rows", "how"),
    [
        (("2026-03-11 14:20:00 ERROR agent: quota gone",), "log"),
        (("HTTP/2 429", "retry-after: 600"), "http"),
        (TRACE, "exception"),
        (JAVA, "exception"),
        (("google.api_core.exceptions.ResourceExhausted: 429 quota gone",), "exception"),
        (('{"level":"error","msg":"quota gone"}',), "data"),
        (('agent failed: "{\\"error\\":{\\"message\\":\\"quota gone\\"}}"',), "data"),
        (("{'status': 'failed', 'detail': 'quota gone'}",), "data"),
        (("ts=2026-03-11T13:20:00Z lvl=error status=429 msg=x",), "data"),
        (YAML, "data"),
    ],
)
def test_an_alarm_is_told_by_its_form(rows: tuple[str, ...], how: str) -> None:
    """Each says that a program raised it, whatever its words."""
    assert opened(rows).how == how


@pytest.mark.parametrize(
    "row",
    [
        "2026-03-11 14:20:00 INFO agent: quota gone",
        '{"level":"info","msg":"rate limit remaining","remaining":0}',
        "HTTP/2 200",
        "The quota is gone.",
        "limits: {weekly: 500}",
        'src/a.py:3: {"error": {"code": 429}}',
        '- {"error": {"code": 429}}',
        "RateLimitError: raised when the quota is gone",
    ],
)
def test_what_raises_no_alarm(row: str) -> None:
    """Information, settings, search results, lists and documents are not alarms."""
    assert opened((row,)).how == ""


def test_frames_are_left_out() -> None:
    """The message of an exception is all but its frames, whose files may be named anything."""
    assert opened(TRACE).lines == ["openai.RateLimitError: quota gone"]


def test_the_last_entry_of_a_log_counts() -> None:
    """Rows without a head belong to the entry above them."""
    rows = ("14:20:00 INFO a: one", "14:20:01 ERROR a: two", "that goes on here")
    assert last_entry(rows) == 1
    assert opened(rows[1:]).lines == ["two that goes on here"]
