"""An escalated checkpoint is to be done after all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from segue.core.develop import Phase, Progress, Status
from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.engine.kind import Skippable, Unskipped
from segue.engine.standing import Standing
from segue.plans import develop_state
from segue.work.feature.folder import FeatureFolder
from segue.work.owned import owned


def find_task(work: Standing, name: str) -> Skippable | None:
    found = _feature(work).load()
    if found is None or name not in found[1].checkpoints:
        return None
    is_skipped = found[1].checkpoints[name].status is Status.ESCALATED
    return Skippable(is_skipped, partial(_unskip, work, name))


def _feature(work: Standing) -> FeatureFolder:
    return FeatureFolder(work.path.parent.parent)


def _unskip(work: Standing, name: str) -> Unskipped:
    """The checkpoint is pending again, and with it the phase in which checkpoints are made."""
    folder = _feature(work)
    with owned(work.path, work.kind) as ledger:
        found = folder.load()
        assert found is not None
        data, feature = found
        feature = feature.with_checkpoint(name, Progress())
        if feature.phase in (Phase.MERGE, Phase.DONE):
            feature = replace(feature, phase=Phase.IMPLEMENT)
        for gate in list(ledger.gates.values()):
            if gate.about.get("checkpoint") == name:
                ledger.close_gate(gate, None)
        row = ledger.tasks.get(name)
        if row is not None and row.state is TaskState.SKIPPED:
            ledger.move_task(name, TaskState.PENDING, Trigger.REOPEN, retries_used=0)
        elif row is not None and row.state is TaskState.FAILED:
            ledger.move_task(name, TaskState.PENDING, Trigger.RETRY, retries_used=0)
        ledger.commit()
        folder.save(develop_state.edit(data, feature))
    return Unskipped(name, work.path, work.kind, "segue develop --resume")
