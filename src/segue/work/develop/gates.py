"""What a person is asked about a feature: its design, and checkpoints that could not be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.core.develop import Phase
from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.i18n import _
from segue.work.questions import retry_failed
from segue.work.rows import GateRow

if TYPE_CHECKING:
    from segue.work.develop.steps import FeatureSteps

DESIGN, ESCALATED = "design", "escalated"
RETRY, EDIT, SKIP, STOP = "retry", "edit", "skip", "stop"
CHOICES = (RETRY, EDIT, SKIP, STOP)
APPROVE = "approve"
APPROVALS = frozenset({APPROVE, "approved", "ok", "yes", "y", "승인", "예", "네"})
ERROR_LINES = 12


def is_open(steps: FeatureSteps, category: str) -> bool:
    return any(gate.category == category for gate in steps.run.ledger.gates.values())


def holds_design(steps: FeatureSteps) -> bool:
    """Whether the finished design waits for a person; the question is asked once."""
    run = steps.run
    gate = next((g for g in run.ledger.gates.values() if g.category == DESIGN), None)
    if steps.manner.is_approved:
        if gate is not None:
            run.ledger.close_gate(gate, APPROVE)
        return False
    if gate is not None:
        return True
    if not steps.manner.has_gates:
        return False
    text = _("the design is written: {path}\n“approve” goes on; anything else is what to change")
    shown = steps.design.relative_to(steps.folder.root)
    question = run.ledger.add_question(None, text.format(path=shown), DESIGN, (), APPROVE)
    run.open_gate(question)
    return True


def ask_about_escalated(steps: FeatureSteps) -> bool:
    """Everything else has been done: what of the checkpoints that could not? True: it goes on."""
    run = steps.run
    if steps.state.phase is not Phase.IMPLEMENT:
        return False
    failed = [one.id for one in steps.checkpoints if steps.state_of(one.id) is TaskState.FAILED]
    if steps.reopen_free():
        steps.passed_over()
        return True
    choice = steps.manner.on_escalated
    if choice == STOP:
        return False
    asked = {gate.about.get("checkpoint") for gate in run.ledger.gates.values()}
    is_going_on = False
    for id in failed:
        if choice in (RETRY, SKIP) and id not in steps.settled_by_choice:
            steps.settled_by_choice.add(id)
            _close(steps, id)
            _settle(steps, id, choice)
            is_going_on = True
        elif id not in asked:
            run.open_gate(_question(steps, id))
            is_going_on = is_going_on or run.questions.is_asking
    run.commit()  # the questions are told before they are asked
    return is_going_on


def _close(steps: FeatureSteps, id: str) -> None:
    for gate in list(steps.run.ledger.gates.values()):
        if gate.about.get("checkpoint") == id:
            steps.run.ledger.close_gate(gate, None)


def _question(steps: FeatureSteps, id: str) -> GateRow:
    row = steps.run.ledger.tasks[id]
    error = (row.error or "").splitlines()
    tried = max(row.retries_used + 1, steps.state.checkpoints[id].iteration)
    text = _(
        "{id} could not be done; it was tried {n} times.\n{error}\n"
        "retry: from iteration 1\n"
        "edit: you mend it by hand, then it is validated\n"
        "skip: the others go on without it\n"
        "stop: nothing is done now"
    ).format(id=id, n=tried, error="\n".join(error[-ERROR_LINES:]))
    about = {"checkpoint": id}
    return steps.run.ledger.add_question(None, text, ESCALATED, CHOICES, STOP, about)


def answered(steps: FeatureSteps, gate: GateRow, answer: str) -> bool | None:
    """None: the question was an agent's, not the feature's."""
    match gate.category:
        case "design":
            steps.run.ledger.close_gate(gate, answer)
            if answer.strip().lower() in APPROVALS:
                steps.go_on_after_design()
            else:
                wish = _("a person asks for changes: {text}").format(text=answer.strip())
                steps.design_again(wish)
            return True
        case "escalated":
            if answer != STOP:
                steps.run.ledger.close_gate(gate, answer)
                _settle(steps, gate.about["checkpoint"], answer)
            return True
        case _:
            return None


def _settle(steps: FeatureSteps, id: str, choice: str) -> None:
    run = steps.run
    match choice:
        case "skip":
            run.move_task(id, TaskState.SKIPPED, Trigger.SKIP)
            run.skipped_here.add(id)
            run.tell("task_skipped", task=id, because=None)
            steps.passed_over()
        case _:
            if choice == EDIT:
                steps.by_hand.add(id)
            else:
                steps.by_hand.discard(id)
            retry_failed(run, id)
            steps.passed_over()
