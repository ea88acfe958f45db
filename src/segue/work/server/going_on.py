"""How an agent goes on: what is said to it, into a living process or by starting it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from segue.core.machines import RunState
from segue.store.changes import Change, Note
from segue.work.agents import Profile
from segue.work.server import moves
from segue.work.server.records import Records
from segue.work.server.rows import AgentRow, RunRow, TaskRow


def takes_lines(profile: Profile) -> bool:
    """It stays alive while it waits, and takes one JSON object per line."""
    return profile.settings.is_interactive and profile.brand is None


class GoingOn:
    def __init__(self, records: Records, profile: Callable[[str], Profile]) -> None:
        self._records, self.profile = records, profile

    def living(self, task: str) -> RunRow | None:
        """The run of a process that waits, stopped, to be told how to go on."""
        for run in self._records.open_runs(task):
            if run.purpose == "work" and run.state is RunState.RUNNING:
                return run
        return None

    def begin(self, task: TaskRow, agent: AgentRow, prompt: str, nonce: str) -> list[Change]:
        """A new conversation."""
        profile = self.profile(task.agent)
        _id, add = moves.add_run(
            task,
            agent,
            prompt,
            nonce=nonce,
            name=profile.name,
            account=profile.account,
            attempt=task.reworks + 1,
        )
        return [add]

    def tell(
        self,
        task: TaskRow,
        agent: AgentRow,
        text: str,
        kind: str,
        *,
        besides: Collection[str] = (),
        **more: str,
    ) -> list[Change]:
        """Something new for it: an answer, feedback, the next phase. `kind` is what an interactive
        agent is told it is. `besides`: runs that are about to end."""
        run = self.living(task.id)
        if run is not None and run.id not in besides:
            line = json.dumps({"type": kind, "text": text, **more}, ensure_ascii=False)
            return [Note("server_run", run.id, {"prompt": line + "\n"})]
        return self.again(task, agent, text)

    def again(self, task: TaskRow, agent: AgentRow, text: str) -> list[Change]:
        """Started again, in its conversation where it has one."""
        profile = self.profile(task.agent)
        before = self._records.last_work(task.id)
        _id, add = moves.add_run(
            task,
            agent,
            text,
            nonce=before.nonce if before else moves.new_nonce(),
            name=profile.name,
            account=profile.account,
            attempt=task.reworks + 1,
            resumes=before,
            resume_id=agent.resume_id,
        )
        return [add]
