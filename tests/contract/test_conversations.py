"""One process on one conversation, whichever kinds of work know it."""

from __future__ import annotations

import pytest

from contract.scenes import hold, turn
from contract.subjects import Subject
from contract.subjects.records import DONE

pytestmark = pytest.mark.moments


def test_two_runs_never_share_a_conversation(structured: Subject) -> None:
    """Two agents name the same one: the second is ended and waits until the first is done. That
    is no failure."""
    (structured.box.out / "talk").write_text("0a0a0a0a-0000-4000-8000-000000000000", "utf-8")
    structured.plays(*[turn(hold("go"))] * 10)
    structured.begin(2)
    structured.until(lambda: len(structured.record("talks")) >= 3, "another try of the second")
    structured.release("go")
    for task in range(2):
        structured.wait(task, DONE)
