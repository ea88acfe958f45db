"""How an agent goes on: what is said to it, into a living process or by starting it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence

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
        return self.tell_all(task, agent, [{"type": kind, "text": text, **more}], besides)

    def tell_all(
        self,
        task: TaskRow,
        agent: AgentRow,
        said: Sequence[Mapping[str, str]],
        besides: Collection[str] = (),
    ) -> list[Change]:
        """Several new things at once: a line for each, or one text. While its work is checked
        there is nothing for it to do, and it is told nothing."""
        if self._is_checked(task.id, besides):
            return []
        run = self.living(task.id)
        if run is not None and run.id not in besides:
            lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in said]
            return [Note("server_run", run.id, {"prompt": "".join(lines)})]
        return self.again(task, agent, "".join(one["text"] for one in said))

    def _is_checked(self, task: str, besides: Collection[str]) -> bool:
        runs = self._records.open_runs(task)
        return any(run.purpose != "work" and run.id not in besides for run in runs)

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
