"""How an agent continues: the text it gets, into a living process or by starting it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence

from segue.core.machines import RunState
from segue.engine.prompts import CONTINUE, interrupted
from segue.errors import UserError
from segue.store.changes import Change, Note
from segue.store.rows import AgentRow, PhaseTaskRow, RunRow
from segue.work.agents.profiles import Profile
from segue.work.phases import moves
from segue.work.phases.records import Records


class Continuation:
    """`profile`: an agent by its name; `instead`: who works for it now."""

    def __init__(
        self,
        records: Records,
        profile: Callable[[str], Profile],
        instead: Callable[[Profile], Profile] = lambda profile: profile,
    ) -> None:
        self._records, self.profile, self._instead = records, profile, instead

    def named(self, name: str) -> Profile | None:
        """The agent of an earlier run, if it can still be had."""
        try:
            return self.profile(name)
        except UserError:
            return None

    def profile_or_fallback(self, name: str) -> Profile:
        """Who works for an agent now: itself, or its fallback while its account is parked."""
        return self._instead(self.profile(name))

    def worker(self, task: PhaseTaskRow) -> Profile:
        """Who works on a task: the agent that has its conversation; at its beginning, its agent."""
        before = self._records.last_work(task.id)
        known = self.named(before.agent) if before is not None else None
        return known or self.profile_or_fallback(task.agent)

    def living(self, task: str) -> RunRow | None:
        """The run of a process that waits, stopped, for the text to continue with."""
        for run in self._records.open_runs(task):
            if run.role == "work" and run.state is RunState.RUNNING:
                return run
        return None

    def begin(self, task: PhaseTaskRow, agent: AgentRow, prompt: str, nonce: str) -> list[Change]:
        """A new conversation."""
        profile = self.worker(task)
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

    def prompt_agent(
        self,
        task: PhaseTaskRow,
        agent: AgentRow,
        text: str,
        kind: str,
        *,
        besides: Collection[str] = (),
        **more: str,
    ) -> list[Change]:
        """Something new for it: an answer, feedback, the next phase. `kind` is the type of the
        line that an interactive agent gets. `besides`: runs that are about to end."""
        return self.tell_all(task, agent, [{"type": kind, "text": text, **more}], besides)

    def tell_all(
        self,
        task: PhaseTaskRow,
        agent: AgentRow,
        said: Sequence[Mapping[str, str]],
        besides: Collection[str] = (),
    ) -> list[Change]:
        """Several new things at once: a line for each, or one text. While its work is checked
        there is nothing for it to do, and it gets no text."""
        if self._is_checked(task.id, besides):
            return []
        run = self.living(task.id)
        if run is not None and run.id not in besides:
            lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in said]
            return [Note("run", run.id, {"prompt": "".join(lines)})]
        return self.on(task, agent, "".join(one["text"] for one in said))

    def _is_checked(self, task: str, besides: Collection[str]) -> bool:
        runs = self._records.open_runs(task)
        return any(run.role != "work" and run.id not in besides for run in runs)

    def on(self, task: PhaseTaskRow, agent: AgentRow, text: str) -> list[Change]:
        """Started again where it was. One whose process was killed while it was stopped hears
        that it was interrupted."""
        before = self._records.last_work(task.id)
        if before is not None and before.state is RunState.CUT_OFF:
            text = f"{interrupted(CONTINUE)}\n\n{text}"
        return self.again(task, agent, text)

    def again(
        self, task: PhaseTaskRow, agent: AgentRow, text: str, purpose: str = ""
    ) -> list[Change]:
        """Started again, in its conversation where it has one."""
        profile = self.worker(task)
        before = self._records.last_work(task.id)
        _id, add = moves.add_run(
            task,
            agent,
            text,
            nonce=before.nonce if before else moves.new_nonce(),
            name=profile.name,
            account=profile.account,
            purpose=purpose,
            attempt=task.reworks + 1,
            resumes=before,
            resume_id=agent.resume_id,
        )
        return [add]
