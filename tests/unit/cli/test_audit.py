"""How an audit is worded."""

from __future__ import annotations

import pytest

from segue.cli import audit
from segue.store.chain import Break
from segue.work.audit import Audit, Fault


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Break(3, "changed", 3), "row 3 was changed after it was written"),
        (Break(3, "unlinked", 3), "row 3 does not follow the previous row"),
        (Break(3, "missing", 3), "row 3 is missing"),
        (Break(3, "missing", 9), "rows 3 to 9 are missing"),
    ],
)
def test_a_break_is_named_by_its_row(found: Break, words: str) -> None:
    """In words, with its number."""
    assert audit.in_words(found) == words


@pytest.mark.parametrize("why", ["missing", "changed"])
def test_a_fault_is_named_by_file_and_task(why: str) -> None:
    """And by the row that recorded it."""
    text = audit.fault_in_words(Fault("/e/T-1.log", why, "T-1", "T-1-1-ab", 7))
    assert text.startswith("/e/T-1.log")
    assert why in text
    assert "T-1 (row 7)" in text


def test_a_forged_time_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing in a row acts on the terminal."""
    decision = {
        "row": 1, "at": "\x1b[2Jforged", "actor": None, "via": None, "decided": "completed",
        "kind": "task", "id": "p/T-1", "task": "T-1", "answer": None, "evidence": None,
    }  # fmt: skip
    audit._show(Audit(1, "a" * 64, [Break(1, "changed", 1)], [], [decision]))
    told = capsys.readouterr().out
    assert "forged" in told
    assert "\x1b[2J" not in told
    assert "row 1 was changed" in told
