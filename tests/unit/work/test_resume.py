"""What `segue resume` says of a task list: what would be redone, and what goes on."""

from __future__ import annotations

from kit.bench import Bench
from segue.dialects.events import Opened
from segue.engine.kind import Found
from segue.work.resume import find

GOES_ON = "- [ ] T-1: Build\n  - resume: conversation\n- [ ] T-2: Ship\n  - blocked by: T-1\n"


def cut_off(bench: Bench, plan: str, *, talks: bool = True) -> Found:
    """Ctrl-C while T-1 is at work."""
    bench.begin(plan)
    bench.starts()
    if talks:
        bench.says(Opened("talk-1"))
    bench.stop()
    bench.ends(None, is_ours=True)
    (found,) = find(bench.root / "PLAN.md")
    return found


def test_a_task_that_goes_on_in_its_conversation_is_not_redone(bench: Bench) -> None:
    """`resume: conversation` is explained as what it does."""
    found = cut_off(bench, GOES_ON)
    assert found.why == "it was interrupted during T-1"
    assert found.next.startswith("continue T-1 in the same conversation; run the 1 remaining task")
    assert found.redone == "nothing"


def test_a_task_that_never_opened_a_conversation_is_redone(bench: Bench) -> None:
    """There is nothing to go on with."""
    found = cut_off(bench, GOES_ON, talks=False)
    assert found.next.startswith("restart T-1")
    assert found.redone == "T-1"


def test_other_tasks_are_redone(bench: Bench) -> None:
    """A run that was cut off begins again, whatever it had said."""
    found = cut_off(bench, GOES_ON.replace("  - resume: conversation\n", ""))
    assert (found.redone, "restart T-1" in found.next) == ("T-1", True)
