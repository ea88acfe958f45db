"""The server's log: what it says on a terminal."""

from __future__ import annotations

import logging

import pytest

from segue.server import log


def test_a_terminal_sees_only_the_words_of_a_message(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A task's title may hold escape sequences; the log on standard error shows none."""
    record = logging.LogRecord(
        "segue.server", logging.ERROR, __file__, 1, "task %s\nfailed", ("a\x1b]0;owned\x07b\u202ec",), None
    )  # fmt: skip
    log.shown.handle(record)
    assert capsys.readouterr().err == "task abc\nfailed\n"
