"""Tasks of `segue serve`: type `custom`, which has neither phases nor reviews; read by REST."""

from __future__ import annotations

from contract.scenes import Step
from kit.box import Box
from kit.server import TOKEN, Answer, Server

from .base import Subject
from .records import DONE, FAILED, PARKED, PENDING, RUNNING, WAITING, Gate, Json, Park, epoch

AGENT = {
    "idle": PENDING, "running": RUNNING, "paused": PARKED, "waiting_dependency": WAITING,
    "waiting_question": WAITING, "waiting_review": WAITING, "completed": DONE, "failed": FAILED,
}  # fmt: skip
TASK = {
    "draft": PENDING,
    "pending": PENDING,
    "completed": DONE,
    "failed": FAILED,
    "review": WAITING,
}


class ServerTasks(Subject):
    """Tasks that are created as drafts, so that each can have a part of its own, then submitted."""

    kind = "server"
    fails_after = 2  # the first end without a report is followed by a reminder

    def __init__(self, box: Box, voice: str = "text") -> None:
        super().__init__(box, voice)
        box.extra_env["SEGUE_TOKEN"] = TOKEN
        self._ids: list[str] = []
        self._plays: dict[int, tuple[list[Step], ...]] = {}
        self._slots = 1
        self.rest: Server

    def plays(self, *turns: list[Step], task: int | None = None) -> None:
        if task is None or task < len(self._ids):
            super().plays(*turns, task=task)
        else:
            self._plays[task] = turns  # it has no id yet

    def begin(self, tasks: int = 1, *, is_side_by_side: bool = True) -> None:
        self._begin(tasks if is_side_by_side else 1, [{}] * tasks)

    def begin_in_turn(self) -> None:
        self._begin(1, [{}, {"dependsOn": 0}])

    def _begin(self, slots: int, more: list[dict[str, int]]) -> None:
        self.count, self._slots = len(more), slots
        self.configure()
        self.drive()
        for number, fields in enumerate(more):
            body: Json = {"title": f"Part {number}", "description": "do it", "type": "custom"}
            body |= {name: [self._ids[task]] for name, task in fields.items()}
            self._ids.append(self.rest.post("/tasks", body).ok()["id"])
            if number in self._plays:
                super().plays(*self._plays[number], task=number)
        for name in self._ids:
            self.rest.do(name, "submit")

    def drive(self) -> None:
        if not self.is_driven():
            going = self.box.start("serve", "--port", "0", "--json", "--slots", str(self._slots))
            self.rest = Server(going)

    def key(self, task: int) -> str:
        return self._ids[task]

    def name(self, task: int) -> str:
        return self._ids[task]

    def state(self, task: int) -> str:
        now: Json = self.rest.task(self.name(task))
        if now["status"] in TASK:
            return TASK[now["status"]]
        return AGENT[now["agentStatus"] if "agentStatus" in now else self._agent(task)["status"]]

    def _agent(self, task: int) -> Json:
        return self.rest.agent(self.name(task))

    def parks(self) -> list[Park]:
        tasks = {name: task for task, name in enumerate(self._ids)}
        return [
            Park(tasks[park["taskId"]], park["kind"], epoch(park["wakesAt"]), park["account"])
            for park in self.rest.get("/limits").ok()["parks"]
            if park.get("taskId") in tasks
        ]

    def again(self, task: int) -> int:
        """A retry is a new task that names the old one."""
        made = [t for t in self.rest.items("/tasks") if t.get("retryOf") == self.name(task)]
        assert made, "the retry made no task"
        self._ids.append(made[-1]["id"])
        self.count += 1
        return self.count - 1

    def answer_by_api(self, gate: Gate, text: str) -> Answer:
        return self.rest.post(f"/questions/{gate.id}/answer", {"answer": text})

    def make_needless(self, gate: Gate) -> None:
        self.rest.do(self.name(gate.task), "cancel")

    def history(self, task: int) -> list[str]:
        rows = self.rest.journal(self.name(task))
        states = [AGENT.get(row["to"]) for row in rows if row.get("entity") == "agent"]
        return [state for state in states if state]
