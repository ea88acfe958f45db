"""A person who edits, deletes, restores and kills at random never gets a false DONE, nor a dead end."""

from __future__ import annotations

import random
import re

import pytest

from kit.feature_bench import APART, FeatureBench
from segue.core.develop import Phase
from segue.engine.executors import Alive, Ended
from segue.engine.plan.beginning import go_on_with
from segue.errors import UserError
from segue.work.feature.developing import repair

CHECKPOINTS = APART + "- {id: cp-3, validate: check guide, files: [guide.md], depends: [cp-1]}\n"
IDS = ("cp-1", "cp-2", "cp-3")
STATUSES = ("pending", "in_progress", "passed", "escalated")
STEPS = 60
STEPS_TO_END_MAX = 200


class Hostile:
    """The bench with a world in it: what of each checkpoint's work is really there."""

    def __init__(self, bench: FeatureBench, seed: int) -> None:
        self.bench, self.random = bench, random.Random(seed)
        self.work = dict.fromkeys(IDS, False)
        self.told: list[str] = []
        bench.develop()
        bench.write_design(CHECKPOINTS)  # it is not the document that is meddled with

    @property
    def missing(self) -> list[str]:
        return [id for id in IDS if not self.work[id] and not self.bench.steps.is_passed_over(id)]

    def go_on(self) -> None:
        """One process ends, or a person answers, or the command is given again."""
        bench = self.bench
        going = [id for id, one in bench.run.jobs.items() if not one.is_dropped]
        dropped = [id for id, one in bench.run.jobs.items() if one.is_dropped]
        if dropped:
            bench.happens(Ended(dropped[0], None, signal=15, is_ours=True))
        elif going:
            self._end(bench.run.jobs[self.random.choice(going)].task.id)
        elif bench.run.ledger.gates:
            gate = next(iter(bench.run.ledger.gates.values()))
            go_on_with(bench.run, gate, self.random.choice(["retry", "retry", "edit", "skip"]))
            bench.happens()
        else:
            self.start()

    def look(self, written: int) -> None:
        """What must hold after everything that happens; `written`: how often before it."""
        bench = self.bench
        if any(b"phase: DONE" in data for data in bench.saved[written:]):
            assert self.missing == [], f"DONE without {self.missing}: {self.told}"
        tasks = [one.task.id for one in bench.run.jobs.values()]
        assert len(tasks) == len(set(tasks)), f"two agents for one task: {tasks}, {self.told}"

    def _end(self, task: str) -> None:
        bench, run = self.bench, self.bench.attempt_of(task).run
        self.told.append(f"{task} ends")
        is_check = run.state == "verifying"
        match task:
            case "check" if self.missing:
                bench.says_failed(*self.missing)
            case "merge" if is_check:
                bench.validated(task, int(bool(self.missing)))
            case "design" | "review" | "check" | "merge":
                bench.ends_well(task)
            case _ if is_check:
                bench.validated(task, int(not self.work[task]))
            case _:
                self.work[task] = self.random.random() < 0.8
                bench.ends_well(task)

    def start(self) -> None:
        bench = self.bench
        if bench.state.resumes_in is Phase.DONE:
            return
        for job in bench.run.jobs:  # what ran when Segue was killed
            found = self.random.choice([None, None, Alive()])
            if found is not None and ".verify" not in job:
                bench.became[job] = found
        bench.develop(None)
        bench.became.clear()

    def kill_and_meddle(self) -> None:
        bench, path = self.bench, self.bench.place.state_file
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
                path.write_bytes(self.random.choice(bench.saved[-12:]))
                if bench.state.phase is Phase.DONE:  # nothing is done then
                    path.write_text(text)
            case 5:
                bench.lose_memory()
            case 6:
                bench.run.ledger.flush()
                path.write_text("phase: [\n")
                try:
                    repair(bench.place, bench.clock.now())
                except UserError:  # the memory was lost before
                    path.write_text(text)
            case _:
                pass
        self.told.append(path.read_text().replace("\n", " "))
        self.start()


@pytest.mark.parametrize("seed", range(6))
def test_no_false_done_and_no_dead_end(bench: FeatureBench, seed: int) -> None:
    """DONE only with all work there at that moment; left in peace it always gets there."""
    hostile = Hostile(bench, seed)
    for _step in range(STEPS):
        written = len(bench.saved)
        if hostile.random.random() < 0.25:
            hostile.kill_and_meddle()
        else:
            hostile.go_on()
        hostile.look(written)
    for _step in range(STEPS_TO_END_MAX):
        if bench.state.resumes_in is Phase.DONE:
            break
        written = len(bench.saved)
        hostile.go_on()
        hostile.look(written)
    assert bench.state.resumes_in is Phase.DONE, hostile.told
