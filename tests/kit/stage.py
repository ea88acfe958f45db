"""A stage for the real programs: a project, a fake model that it knows, the real `segue`.

It is the acceptance tests' `Box` with a real agent in it. Programs and Segue share one clean
home, so that whatever is left behind can be found by it.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from kit.agents_here import PROGRAMS, clean_env
from kit.box import Box
from kit.command import Event, Going, Result
from kit.processes import all_stopped, environ_of
from kit.terminal import Terminal
from kit.waiting import until
from segue.drivers import processes
from segue.testing.models import Asked, FakeModels, modes, responses
from segue.testing.models.acts import Speak, Usage
from segue.testing.models.tools import Call, Command, File, call_for

__all__ = ["Asked", "Event", "Going", "Result", "Stage", "Terminal", "at", "until"]

LANE = "work"
AGENT_S = 120.0  # how long one run of a real program may take here at most
THREE = (
    "- [ ] **T-1**: one\n  DO: echo 1 >> one.txt\n  - verify: test -s one.txt\n"
    "- [ ] **T-2**: two\n  DO: echo 2 >> two.txt\n  - blocked by: T-1\n"
    "  - verify: test -s two.txt\n"
    "- [ ] **T-3**: three\n  DO: cat one.txt two.txt > three.txt\n  - blocked by: T-2\n"
    "  - verify: grep -q 2 three.txt\n"
)
ONE = "- [ ] **T-1**: use a tool\n"
GOES_ON = "- [ ] **T-1**: use a tool\n  - resume: conversation\n"
FULL = 'permissions = "full"'
HOLD = "echo $$ >> tool.pid; until [ -e go ]; do sleep 0.1; done"  # a tool that can be released
TOOL_UP = "echo $$ >> tool.pid; exec tail -f /dev/null"  # a tool that runs until it is ended


def at(text: str) -> float:
    """An instant of an event, as seconds since the epoch."""
    return datetime.fromisoformat(text).timestamp()


def any_tool(wish: Command | File, offered: Sequence[str]) -> Call | None:
    """As the fake model chooses a tool; `tool:NAME {json}` calls the tool of this name.

    Codex offers the tools of a server as one, and wants to be told which of them: `NAME/tool`.
    """
    if isinstance(wish, Command):
        name, _blank, rest = wish.line.partition(" ")
        server, _dashes, tool = name.rpartition("__")
        if rest.startswith("{"):
            for known in (name, server):
                if known in offered:
                    called = name if known == name else f"{server}/{tool}"
                    return Call(called, json.loads(rest))
    return call_for(wish, offered)


def in_its_server(item: Callable[[Speak], dict[str, Any]]) -> Callable[[Speak], dict[str, Any]]:
    """Codex's wire format, with the name of a tool's server where there is one."""

    def with_server(act: Speak) -> dict[str, Any]:
        worded = item(act)
        if act.call is not None and "/" in act.call.tool:
            server, _slash, tool = act.call.tool.partition("/")
            worded |= {"name": tool, "namespace": server}
        return worded

    return with_server


class Stage(Box):
    """A project whose agent is a real program on a fake model."""

    def __init__(self, tmp: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(tmp)
        self._patch = patch
        patch.setattr(modes, "call_for", any_tool)
        patch.setattr(responses, "_item", in_its_server(responses._item))
        self.models = FakeModels(tmp / "requests.jsonl")
        self.extra_env = {"SEGUE_LANG": "en", "TZ": "UTC"}

    def __enter__(self) -> Stage:
        self.models.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_everything()
        self.models.__exit__(kind, error, trace)

    # --- the agent and its model

    def agent(
        self,
        kind: str,
        *plays: str,
        more: str = "",
        rest: str = "",
        command: Sequence[str] | None = None,
        oauth: bool = False,
        retries: int | None = None,
        mcp: bool = False,
        margin_s: float = 1,
        lane: str = LANE,
    ) -> None:
        """The project's agent, and what its model plays. `more` goes into its table, `rest`
        behind it."""
        url = self.models.lane(lane, *plays)
        env = clean_env(self.tmp, url, kind, oauth=oauth, retries=retries)
        del env["PATH"]
        self.config(
            f'agent = "{kind}"\n[agents.{kind}]\n'
            f"command = {json.dumps(list(command or self.command(kind)))}\n"
            f"mcp = {str(mcp).lower()}\n{more}\n"
            f"[agents.{kind}.env]\n"
            + "".join(f"{name} = {json.dumps(value)}\n" for name, value in env.items())
            + f"[recovery]\nwake_margin_s = {margin_s}\n{rest}\n"
        )

    def command(self, kind: str) -> list[str]:
        return [str(PROGRAMS[kind]())]

    def plays(self, *what: str, lane: str = LANE) -> None:
        """What the model does with the next requests."""
        self.models.lane(lane, *what)

    def every_answer_uses(self, read: int, written: int, cached: int = 0) -> None:
        """What the model says that each of its answers cost, whatever is in it."""
        self._patch.setattr(modes, "usage_of", lambda seen, text: Usage(read, written, cached))

    def asks_in_words(self, kind: str, question: str, said: str = "Let me see.") -> str:
        """A run whose agent says something, asks by the markers of its prompt and ends its turn
        before Segue has heard of it; the gate."""
        self.agent(kind, f"tool:{HOLD}", more=FULL)
        self.plan(ONE)
        going = self.start_run()
        self.tool_pid()
        nonce = self.environ_of(self.agent_pid())["SEGUE_NONCE"]
        asking = f"[USER_QUESTION {nonce}]\nquestion: {question}\n[/USER_QUESTION]"
        self.plays(f"say:{said}\n{asking}\n")
        going.send(signal.SIGSTOP)
        self.release_tool()
        until(lambda: self.has_said_all(kind), "the end of its turn", AGENT_S)
        going.send(signal.SIGCONT)
        done = going.end()
        assert done.code == 3, done.said
        (gate,) = done.of("gate_opened")
        assert gate["text"] == question
        return str(gate["gate"])

    def has_said_all(self, kind: str) -> bool:
        """Whether the agent has come to the end of its turn: by its own word, or by its end."""
        last = {"claude": '"type":"result"', "codex": '"type":"turn.completed"'}
        return last[kind] in self.log() if kind in last else not self.agents()

    def asked(self, count: int = 0, lane: str = LANE) -> list[Asked]:
        """The requests so far; waits until there are so many."""
        if count:
            until(lambda: len(self.models.requests(lane)) >= count, f"request {count}", AGENT_S)
        return self.models.requests(lane)

    def answers(self, kind: str) -> int:
        """How many answers a program tells the cost of."""
        if kind == "gemini":  # those to its routing questions too
            return len([a for a in self.models.requests(side=True) if a.wire == "gemini"])
        return len(self.asked())

    def never_two_at_once(self, lane: str = LANE) -> None:
        """No request began before the one before it had ended."""
        spans = self.spans(lane)
        for earlier, later in pairwise(spans):
            assert earlier[1] <= later[0], spans

    def spans(self, lane: str = LANE) -> list[tuple[float, float]]:
        """When each request began and ended, in the order of their beginning."""
        began: dict[int, float] = {}
        ended: dict[int, float] = {}
        mine = {asked.number for asked in self.models.requests(lane)}
        for line in (self.tmp / "requests.jsonl").read_text("utf-8").splitlines():
            told = json.loads(line)
            times = began if told["event"] == "asked" else ended
            times[told["number"]] = told["at"]
        return sorted((began[n], ended.get(n, time.time())) for n in mine)

    # --- what is remembered

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        base = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            base.row_factory = sqlite3.Row
            return base.execute(sql, values).fetchall()
        finally:
            base.close()

    def status(self) -> dict[str, Any]:
        plans = self.segue("status", "--json").json["plans"]
        (plan,) = [p for p in plans if p["path"] == str(self.plan_path)]
        found: dict[str, Any] = plan
        return found

    def answer(self, gate: str, text: str) -> None:
        """A person answers from elsewhere."""
        assert self.segue("answer", gate, text).code == 0

    def log(self, task: str = "T-1") -> str:
        """What all runs of a task have printed."""
        logs = (self.root / ".segue" / "logs").glob(f"{task}-*.log")
        return "".join(p.read_text("utf-8") for p in logs if not p.name.endswith(".err.log"))

    def completed(self, done: Result, *tasks: str) -> None:
        """These tasks, and no others, were completed, each once; the plan and its end say so."""
        tasks = tasks or ("T-1",)
        assert (done.code, tuple(done.finished["completed"])) == (0, tasks), done.said
        assert sorted(done.tasks("task_completed")) == sorted(set(done.tasks("task_completed")))
        assert self.marks() == dict.fromkeys(tasks, "x")

    def is_in_conversation(self, asked: Asked) -> bool:
        """Whether the model was shown what went on before, and not the task alone."""
        first = asked.messages[0]["text"]  # some programs join what the user said in a row
        return "use a tool" in first and (len(asked.messages) > 1 or first.endswith("continue"))

    def continues_after_a_cut(self, resume: str) -> None:
        """The next start does the task once more: in its conversation but for `fresh`, and with the
        whole task but for `conversation`. The agent is always told that it was interrupted."""
        result = self.run()
        self.completed(result)
        assert result.of("task_parked") == [], "nobody else is in the conversation of the dead"
        assert len(self.asked()) == 2
        last = self.asked()[-1]
        assert self.is_in_conversation(last) is (resume != "fresh")
        assert "interrupted" in last.prompt
        assert ("use a tool" in last.prompt) is (resume != "conversation")
        conversations = self.rows("SELECT DISTINCT resume_id FROM runs")
        assert len(conversations) == (2 if resume == "fresh" else 1)
        self.nothing_left()

    # --- processes

    def tool_pid(self, count: int = 1) -> int:
        """The process of the newest tool that the agent has started by `TOOL_UP`."""
        path = self.root / "tool.pid"

        def started() -> list[str]:
            found = path.read_text().split() if path.exists() else []
            return found if len(found) >= count else []

        return int(until(started, "the tool", AGENT_S)[-1])

    def release_tool(self) -> None:
        """Let the tool of `HOLD` come to its end."""
        (self.root / "go").touch()

    def agent_pids(self) -> list[int]:
        """The agents' own processes: those below a keeper, which is not of the project."""
        ours = self.agents()
        return [p for p in ours if (s := processes.read_stat(p)) and s.parent not in ours]

    def agent_pid(self) -> int:
        (pid,) = until(self.agent_pids, "the agent", AGENT_S)
        return pid

    def parent_of(self, pid: int) -> int:
        stat = processes.read_stat(pid)
        assert stat is not None
        return stat.parent

    def nothing_left(self) -> None:
        """No process of this project lives on, in whatever session."""
        try:
            until(lambda: not self.left_behind(), "the end of all processes")
        except AssertionError:
            raise AssertionError(f"left behind: {self.left_behind()}") from None

    def is_alive(self, pid: int) -> bool:
        stat = processes.read_stat(pid)
        return stat is not None and stat.is_alive

    def state_of(self, pid: int) -> str:
        stat = processes.read_stat(pid)
        return stat.state if stat else ""

    def all_stand_still(self, *pids: int) -> None:
        """Wait until none of them does anything any more."""
        until(lambda: all_stopped(pids), "standing still")

    def kill(self, pid: int, number: signal.Signals = signal.SIGKILL) -> None:
        os.kill(pid, number)

    def gone(self, pid: int) -> None:
        until(lambda: not self.is_alive(pid), f"the end of {pid}")

    def environ_of(self, pid: int) -> dict[str, str]:
        return environ_of(pid)
