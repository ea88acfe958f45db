"""All validations together, before anything is merged, and what follows where one fails.

Each checkpoint has passed by itself. One that fails beside the others was broken by another one: it
goes back to IMPLEMENT with its next iteration, and a person is asked after the third.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from segue.core.develop import ITERATIONS_MAX, Checkpoint
from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.engine.plan.attempts import ERROR_CHARS_MAX
from segue.i18n import _
from segue.work.feature.feature_work import FeatureWork

CHECK = "check"  # the task that runs them
OUTPUT_BYTES_MAX = 256 * 1024
FAILED = re.compile(r"^failed:((?: \S+)+)$", re.MULTILINE)


def script(checkpoints: Sequence[Checkpoint]) -> str:
    """Each validation by itself; the names of those that failed, last."""
    lines = ["# " + _("all validations"), "failed="]
    for one in checkpoints:
        lines.append(f"echo {shlex.quote(_head(one))}")
        lines.append(f'sh -c {shlex.quote(one.validate)} || failed="$failed {one.id}"')
    lines.append('test -z "$failed" || { echo; echo "failed:$failed"; exit 1; }')
    return "\n".join(lines)


def _head(one: Checkpoint) -> str:
    return f"== {one.id}: {one.validate}"


def failures(output: str, checkpoints: Sequence[Checkpoint]) -> dict[str, str]:
    """The checkpoints that the script named as failed, and what each of them printed."""
    named = FAILED.findall(output)
    ids = set(named[-1].split()) if named else set()
    return {one.id: _part(output, one, checkpoints) for one in checkpoints if one.id in ids}


def _part(output: str, one: Checkpoint, checkpoints: Sequence[Checkpoint]) -> str:
    """What stands between the head of a validation and the next; all of it without a head."""
    _before, head, rest = output.partition(_head(one) + "\n")
    if not head:
        return output.strip()[-ERROR_CHARS_MAX:]
    ends = [rest.find(f"\n{_head(other)}\n") for other in checkpoints]
    ends += [rest.rfind("\nfailed:")]
    end = min((at for at in ends if at >= 0), default=len(rest))
    return rest[:end].strip()[-ERROR_CHARS_MAX:]


def send_back(steps: FeatureWork) -> None:
    """The validations on the whole have failed: the tables say whose work it is now."""
    run = steps.run
    last = run.ledger.last_run(CHECK)
    output = run.job_factory.files.tail(last.id, OUTPUT_BYTES_MAX) if last is not None else ""
    for id, printed in failures(output, steps.wanted).items():
        iteration = steps.state.checkpoints[id].iteration
        error = _("its validation passed on its own but fails together with the others:")
        error = f"{error}\n{printed}".rstrip()
        if iteration >= ITERATIONS_MAX:
            run.ledger.move_task(id, TaskState.FAILED, Trigger.FAIL, error=error)
            text = _("{id} still fails together with the others after {n} attempts")
        else:
            run.ledger.move_task(
                id, TaskState.PENDING, Trigger.REOPEN, retries_used=iteration, error=error
            )
            text = _("{id} fails together with the others: back to IMPLEMENT, iteration {n}/{most}")
            iteration += 1
        run.publish("notice", text=text.format(id=id, n=iteration, most=ITERATIONS_MAX))
