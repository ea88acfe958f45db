"""How a run is shown: what is a line of the log, and what is a result."""

from __future__ import annotations

import json
import re

import pytest

from segue.cli.reporters import JsonReporter, LineReporter

WARNING = "[WARN] could not read the reset time; waiting 3600 s"


def test_a_warning_is_a_line_of_the_log_too(capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error with its time; the event stays what it was."""
    JsonReporter().emit("notice", text=WARNING)
    told = capsys.readouterr()
    assert json.loads(told.out)["text"] == WARNING
    assert re.fullmatch(rf"\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\] {re.escape(WARNING)}\n", told.err)


def test_a_warning_is_in_both_places_of_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever keeps only one of the two has it."""
    LineReporter().emit("notice", text=WARNING)
    told = capsys.readouterr()
    assert told.out.endswith(f" {WARNING}\n")
    assert told.err.endswith(f"] {WARNING}\n")


@pytest.mark.parametrize("reporter", [JsonReporter(), LineReporter()])
@pytest.mark.parametrize(
    ("event", "text"), [("notice", "the plan was moved"), ("gate_opened", "[WARN] or not?")]
)
def test_what_is_no_warning_is_no_line_of_the_log(
    capsys: pytest.CaptureFixture[str],
    reporter: JsonReporter | LineReporter,
    event: str,
    text: str,
) -> None:
    """Nothing but results leaves the program otherwise."""
    reporter.emit(event, task="T-1", text=text)
    told = capsys.readouterr()
    assert text in told.out
    assert told.err == ""
