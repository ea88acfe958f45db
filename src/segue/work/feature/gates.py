"""What a person is asked about a feature: its design, and checkpoints that could not be done."""

from __future__ import annotations

from collections.abc import Callable

from segue.core.develop import Phase, Status
from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.engine.acts import CannotError
from segue.engine.plan.questions import EDIT, retry_failed
from segue.engine.question_texts import DESIGN, ESCALATED, text_of
from segue.i18n import _
from segue.store.rows import GateRow
from segue.work.feature.feature_work import FeatureWork

RETRY, SKIP, STOP = "retry", "skip", "stop"
CHOICES = (RETRY, EDIT, SKIP, STOP)
APPROVE = "approve"
APPROVALS = frozenset({APPROVE, "approved", "ok", "yes", "y", "승인", "예", "네"})
ERROR_LINES = 12


def way_on(*, waits_for_design: bool, has_escalated: bool, more: str = "") -> str:
    """The command that gets further without a terminal. `more`: options that are to be repeated."""
    if waits_for_design:
        return f"segue develop --approve{more}"
    if has_escalated:
        return f"segue develop --resume --on-escalated {RETRY}|{EDIT}|{SKIP}{more}"
    return f"segue develop --resume{more}"


def is_open(steps: FeatureWork, category: str) -> bool:
    return any(gate.category == category for gate in steps.run.ledger.gates.values())


def withdraw_stale(steps: FeatureWork) -> None:
    """Questions that the file has settled: about a design that it is past, about a checkpoint that
    it does not call escalated."""
    marks = steps.state.checkpoints
    for gate in list(steps.run.ledger.gates.values()):
        about = marks.get(str(gate.about.get("checkpoint")))
        is_past = gate.category == DESIGN and steps.state.phase is not Phase.DESIGN
        is_other = gate.category == ESCALATED and (
            about is None or about.status is not Status.ESCALATED
        )
        if is_past or is_other:
            steps.run.ledger.close_gate(gate, None)


def holds_design(steps: FeatureWork) -> bool:
    """Whether the finished design waits for a person; the question is asked once."""
    run = steps.run
    gate = next((g for g in run.ledger.gates.values() if g.category == DESIGN), None)
    if steps.options.is_approved:
        if gate is not None:
            run.ledger.close_gate(gate, APPROVE)
        return False
    if gate is not None:
        return True
    if not steps.options.has_gates:
        return False
    about = {"path": str(steps.design.relative_to(steps.folder.root))}
    text = text_of(DESIGN, about)
    run.open_gate(run.ledger.add_question(None, text, DESIGN, (), APPROVE, about))
    return True


def ask_about_escalated(steps: FeatureWork) -> bool:
    """Everything else is done: decide about the checkpoints that failed. True: continue."""
    run = steps.run
    if steps.state.phase is not Phase.IMPLEMENT:
        return False
    failed = [one.id for one in steps.checkpoints if steps.state_of(one.id) is TaskState.FAILED]
    if reopen_free(steps):
        steps.passed_over()
        return True
    choice = steps.options.on_escalated
    if choice == STOP:
        return False
    asked = {gate.about.get("checkpoint") for gate in run.ledger.gates.values()}
    is_going_on = False
    for id in failed:
        if _is_chosen(steps, id, choice):
            steps.settled_by_choice.add(id)
            _close(steps, id)
            _settle(steps, id, choice)
            is_going_on = True
        elif id not in asked:
            run.open_gate(_question(steps, id))
            is_going_on = is_going_on or run.questions.is_asking
    run.act()  # the questions are published before they are asked
    return is_going_on


def reopen_free(steps: FeatureWork) -> bool:
    """Continue checkpoints that waited for one that a person has settled."""
    held = (TaskState.FAILED, TaskState.SKIPPED)
    was_one_free = False
    for _round in steps.checkpoints:
        free = [
            one.id
            for one in steps.checkpoints
            if steps.state_of(one.id) is TaskState.SKIPPED
            and not steps.is_passed_over(one.id)
            and not any(
                steps.state_of(id) in held for id in one.depends if not steps.is_passed_over(id)
            )
        ]
        for id in free:
            steps.run.move_task(id, TaskState.PENDING, Trigger.REOPEN)
            steps.run.publish("task_reopened", task=id, waits_for=[])
        was_one_free = was_one_free or bool(free)
        if not free:
            break
    return was_one_free


def _is_chosen(steps: FeatureWork, id: str, choice: str) -> bool:
    """Whether the command line settles it, once. Only what stood there before the command was
    given can have been mended by hand."""
    if id in steps.settled_by_choice:
        return False
    return choice in (RETRY, SKIP) or (choice == EDIT and id in steps.escalated_before)


def _close(steps: FeatureWork, id: str) -> None:
    for gate in list(steps.run.ledger.gates.values()):
        if id in (gate.about.get("checkpoint"), gate.task):
            steps.run.questions.withdraw(gate.id)
            steps.run.ledger.close_gate(gate, None)


def _question(steps: FeatureWork, id: str) -> GateRow:
    row = steps.run.ledger.tasks[id]
    error = (row.error or "").splitlines()
    tried = max(row.retries_used + 1, steps.state.checkpoints[id].iteration)
    about = {"checkpoint": id, "tried": tried, "error": "\n".join(error[-ERROR_LINES:])}
    text = text_of(ESCALATED, about)
    return steps.run.ledger.add_question(None, text, ESCALATED, CHOICES, STOP, about)


def answered(steps: FeatureWork, gate: GateRow, answer: str) -> bool | None:
    """None: the question was an agent's, not the feature's."""
    match gate.category:
        case "design":
            steps.run.ledger.close_gate(gate, answer)
            if answer.strip().lower() in APPROVALS:
                steps.go_on_after_design()
            else:
                wish = _("a person requested changes: {text}").format(text=answer.strip())
                steps.design_again(wish)
            return True
        case "escalated":
            if answer != STOP:
                steps.run.ledger.close_gate(gate, answer)
                _settle(steps, gate.about["checkpoint"], answer)
            return True
        case _:
            return None


def decide(steps: FeatureWork, id: str, choice: str, take: Callable[[], None]) -> bool:
    """A person wants a checkpoint retried or skipped, without having been asked. One whose agent
    waits for an answer can be skipped, and a retry takes a skip back."""
    if not any(one.id == id for one in steps.checkpoints):
        return False
    if choice == RETRY and steps.is_passed_over(id):
        take()
        steps.run.skipped_here.discard(id)
        steps.run.move_task(id, TaskState.PENDING, Trigger.REOPEN, retries_used=0)
        steps.run.publish("task_reopened", task=id, waits_for=[])
        steps.passed_over()
        return True
    is_asked = any(gate.task == id for gate in steps.run.ledger.gates.values())
    if steps.state_of(id) is not TaskState.FAILED and not (is_asked and choice == SKIP):
        raise CannotError(_("{task} has not failed").format(task=id))
    take()
    _close(steps, id)
    _settle(steps, id, choice)
    return True


def _settle(steps: FeatureWork, id: str, choice: str) -> None:
    run = steps.run
    match choice:
        case "skip":
            run.move_task(id, TaskState.SKIPPED, Trigger.SKIP)
            run.skipped_here.add(id)
            run.publish("task_skipped", task=id, because=None)
            steps.passed_over()
        case "edit":  # no iteration of the agent: the count stays
            steps.by_hand.add(id)
            retry_failed(run, id, used=run.ledger.tasks[id].retries_used)
            steps.passed_over()
        case _:
            steps.by_hand.discard(id)
            retry_failed(run, id)
            steps.passed_over()
