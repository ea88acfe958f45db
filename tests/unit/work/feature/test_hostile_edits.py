"""A person who edits, deletes, restores and kills at random never gets a false DONE, nor a dead end."""

from __future__ import annotations

import random
import re

import pytest

from kit.feature_bench import APART, FeatureBench
from segue.core.develop import Phase
from segue.engine.executors import Alive, Ended
from segue.errors import UserError
from segue.work.feature.developing import repair

CHECKPOINTS = APART + "- {id: cp-3, validate: check guide, files: [guide.md], depends: [cp-1]}\n"
IDS = ("cp-1", "cp-2", "cp-3")
STATUSES = ("pending", "in_progress", "passed", "escalated")
STEPS = 60
STEPS_TO_END_MAX = 200


class Hostile:
    """The bench with a world in it: what of each checkpoint's work is really there."""

    def __init__(self, desk: FeatureBench, seed: int) -> None:
        self.desk, self.random = desk, random.Random(seed)
        self.work = dict.fromkeys(IDS, False)
        self.told: list[str] = []
        desk.develop()
        desk.write_design(CHECKPOINTS)  # it is not the document that is meddled with

    @property
    def missing(self) -> list[str]:
        return [id for id in IDS if not self.work[id] and not self.desk.steps.is_passed_over(id)]

    def go_on(self) -> None:
        """One process ends, or a person answers, or the command is given again."""
        desk = self.desk
        going = [id for id, one in desk.run.jobs.items() if not one.is_dropped]
        dropped = [id for id, one in desk.run.jobs.items() if one.is_dropped]
        if dropped:
            desk.happens(Ended(dropped[0], None, signal=15, is_ours=True))
        elif going:
            self._end(desk.run.jobs[self.random.choice(going)].task.id)
        elif desk.run.ledger.gates:
            gate = next(iter(desk.run.ledger.gates.values()))
            desk.run.go_on_with(gate, self.random.choice(["retry", "retry", "edit", "skip"]))
            desk.happens()
        else:
            self.start()

    def look(self, written: int) -> None:
        """What must hold after everything that happens; `written`: how often before it."""
        desk = self.desk
        if any(b"phase: DONE" in data for data in desk.saved[written:]):
            assert self.missing == [], f"DONE without {self.missing}: {self.told}"
        tasks = [one.task.id for one in desk.run.jobs.values()]
        assert len(tasks) == len(set(tasks)), f"two agents for one task: {tasks}, {self.told}"

    def _end(self, task: str) -> None:
        desk, run = self.desk, self.desk.attempt_of(task).run
        self.told.append(f"{task} ends")
        is_check = run.state == "verifying"
        match task:
            case "check" if self.missing:
                desk.says_failed(*self.missing)
            case "merge" if is_check:
                desk.validated(task, int(bool(self.missing)))
            case "design" | "review" | "check" | "merge":
                desk.ends_well(task)
            case _ if is_check:
                desk.validated(task, int(not self.work[task]))
            case _:
                self.work[task] = self.random.random() < 0.8
                desk.ends_well(task)

    def start(self) -> None:
        desk = self.desk
        if desk.state.resumes_in is Phase.DONE:
            return
        for job in desk.run.jobs:  # what ran when Segue was killed
            found = self.random.choice([None, None, Alive()])
            if found is not None and ".verify" not in job:
                desk.became[job] = found
        desk.develop(None)
        desk.became.clear()

    def kill_and_meddle(self) -> None:
        desk, path = self.desk, self.desk.place.state_file
        text = path.read_text()
        if self.random.random() < 0.5:
            self.work[self.random.choice(IDS)] = False
        act = self.random.randrange(8)
        self.told.append(f"act {act}")
        match act:
            case 0 | 1:
                phase = self.random.choice(["DESIGN", "REVIEW", "IMPLEMENT", "MERGE"])
                path.write_text(re.sub(r"phase: \w+", f"phase: {phase}", text))
            case 2 | 3:
                status, n = self.random.choice(STATUSES), self.random.randrange(4)
                mark = f"{{ status: {status}, iteration: {n} }}"
                id = self.random.choice(IDS)
                path.write_text(re.sub(rf"{id}: .*", f"{id}: {mark}", text))
            case 4:
                path.write_bytes(self.random.choice(desk.saved[-12:]))
                if desk.state.phase is Phase.DONE:  # nothing is done then
                    path.write_text(text)
            case 5:
                desk.lose_memory()
            case 6:
                desk.run.ledger.flush()
                path.write_text("phase: [\n")
                try:
                    repair(desk.place, desk.clock.now())
                except UserError:  # the memory was lost before
                    path.write_text(text)
            case _:
                pass
        self.told.append(path.read_text().replace("\n", " "))
        self.start()


@pytest.mark.parametrize("seed", range(6))
def test_no_false_done_and_no_dead_end(desk: FeatureBench, seed: int) -> None:
    """DONE only with all work there at that moment; left in peace it always gets there."""
    hostile = Hostile(desk, seed)
    for _step in range(STEPS):
        written = len(desk.saved)
        if hostile.random.random() < 0.25:
            hostile.kill_and_meddle()
        else:
            hostile.go_on()
        hostile.look(written)
    for _step in range(STEPS_TO_END_MAX):
        if desk.state.resumes_in is Phase.DONE:
            break
        written = len(desk.saved)
        hostile.go_on()
        hostile.look(written)
    assert desk.state.resumes_in is Phase.DONE, hostile.told
