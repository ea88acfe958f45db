"""`segue mcp` as a real process, spoken to by the SDK's own client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import ClientSession, StdioServerParameters, stdio_client

from kit.waiting import until
from segue.dialects import tool_channel
from segue.dialects.events import (
    Asked,
    DependencyAsked,
    ErrorReported,
    Event,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
)
from segue.dialects.tool_channel import ToolChannel
from segue.drivers.processes import read_stat
from segue.engine.locks import lock_path
from segue.errors import UserError
from segue.mcp.agent import Reports, Step
from segue.mcp.tools import Refused, harmless
from segue.store import lock
from segue.store.rows import GateRow
from segue.store.sqlite import Store
from segue.work.add_act import consent
from segue.work.project import Project

T = TypeVar("T")
NONCE = "a1b2c3"
AT = datetime(2026, 11, 16, tzinfo=UTC)
SEGUE = ["-P", "-m", "segue"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    },
}
NO_RUN = {"SEGUE_RUN": ""}  # whatever these tests themselves are run by
AGENT_TOOLS = [
    "ask_question",
    "request_dependency",
    "report_step",
    "complete_phase",
    "complete_task",
    "report_error",
]
PERSON_TOOLS = ["list_plans", "status", "run_plan", "stop_plan", "answer", "approve"]
ASKING = """\
- [ ] **T-1**: Choose
  ```sh
  if test -n "$SEGUE_RESUME"; then cat; exit; fi
  printf '[USER_QUESTION %s]\\nquestion: Which database?\\noptions:\\n' $SEGUE_NONCE
  printf '  - PostgreSQL\\n  - SQLite\\n[/USER_QUESTION]\\n'
  ```
"""
WAITING = (
    "- [ ] **W-1**: Wait\n  - run: until test -e {name}; do sleep 0.02; done; touch {name}.seen\n"
)


def is_running(pid: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.is_alive


def parent_of(pid: int) -> int:
    stat = read_stat(pid)
    assert stat is not None
    return stat.parent


def end_runs(root: Path) -> None:
    """Whatever a test that failed half-way has left at work."""
    for path in root.rglob("*.lock"):
        holder = lock.holder(path)
        if holder is not None:
            os.kill(holder.pid, signal.SIGINT)
            until(lambda path=path: lock.holder(path) is None, "the end of a run")


def command_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


class Client:
    """One server, and calls of its tools."""

    def __init__(self, portal: BlockingPortal, session: ClientSession) -> None:
        self._portal, self._session = portal, session

    def call(self, name: str, /, **arguments: Any) -> str:
        """A call that is done: its text."""
        text, is_error = self._call(name, arguments)
        assert not is_error, text
        return text

    def refused(self, name: str, /, **arguments: Any) -> str:
        """A call that is refused: why."""
        text, is_error = self._call(name, arguments)
        assert is_error, text
        return text

    def _call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        result = self._portal.call(self._session.call_tool, name, arguments)
        [content] = result.content
        return content.text, bool(result.is_error)

    def call_at_once(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        """All of them, none waiting for another."""

        async def all_of_them() -> None:
            async with anyio.create_task_group() as group:
                for name, arguments in calls:
                    group.start_soon(self._session.call_tool, name, arguments)

        self._portal.call(all_of_them)

    @property
    def tools(self) -> list[Any]:
        return list(self._portal.call(self._session.list_tools).tools)


@asynccontextmanager
async def connected(server: StdioServerParameters) -> AsyncIterator[ClientSession]:
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


class Servers:
    """Starts servers that end with the test."""

    def __init__(self, portal: BlockingPortal, stack: ExitStack) -> None:
        self._portal, self._stack = portal, stack

    def start(self, folder: Path, *args: str, env: dict[str, str] | None = None) -> Client:
        return self._stack.enter_context(self.running(folder, *args, env=env))

    def running(
        self, folder: Path, *args: str, env: dict[str, str] | None = None
    ) -> AbstractContextManager[Client]:
        # A server that several tests share was started before the state of one of them.
        state = {
            "XDG_STATE_HOME": os.environ.get("XDG_STATE_HOME", str(folder.parent / "own-state"))
        }
        server = StdioServerParameters(
            command=sys.executable,
            args=[*SEGUE, "mcp", *args],
            env=state | (env or NO_RUN),
            cwd=folder,
        )
        return self._client(server)

    def start_like(self, server: StdioServerParameters) -> Client:
        return self._stack.enter_context(self._client(server))

    def _client(self, server: StdioServerParameters) -> AbstractContextManager[Client]:
        portal = self._portal

        class Connected:
            def __enter__(self) -> Client:
                self._inner = portal.wrap_async_context_manager(connected(server))
                return Client(portal, self._inner.__enter__())

            def __exit__(self, *error: Any) -> None:
                self._inner.__exit__(*error)

        return Connected()


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as made:
        yield made


@pytest.fixture
def servers(portal: BlockingPortal, tmp_path: Path) -> Iterator[Servers]:
    with ExitStack() as stack:
        stack.callback(end_runs, tmp_path)
        yield Servers(portal, stack)


class At:
    """An agent's server, and the file that its calls go to."""

    def __init__(self, client: Client, path: Path) -> None:
        self.client, self.path = client, path

    def heard(self) -> list[Event]:
        """What Segue hears of the calls so far; then the file is empty again."""
        data = self.path.read_bytes() if self.path.exists() else b""
        self.path.write_bytes(b"")
        dialect = ToolChannel(NONCE)
        return [*dialect.feed(data), *dialect.close()]


def facts(path: Path | str) -> dict[str, str]:
    return {"SEGUE_RUN": "T-1-1-abcd", "SEGUE_TOLD": str(path), "SEGUE_NONCE": NONCE}


@pytest.fixture(scope="module")
def agent(portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[At]:
    """The server of an agent at work; one for all tests, as it starts slowly."""
    folder = tmp_path_factory.mktemp("agent")
    with ExitStack() as stack:
        client = Servers(portal, stack).start(folder, env=facts(folder / "told"))
        yield At(client, folder / "told")


# For an agent at work


def test_an_agent_gets_the_tools_to_tell(agent: At) -> None:
    """Six tools, described shortly, that nobody has to be asked about or to look for."""
    assert [tool.name for tool in agent.client.tools] == AGENT_TOOLS
    for tool in agent.client.tools:
        assert 20 < len(tool.description) < 200
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations.destructive_hint is False
        assert tool.meta == {"anthropic/alwaysLoad": True}


@pytest.mark.parametrize(
    ("tool", "arguments", "events", "says"),
    [
        (
            "ask_question",
            {"question": "Which?"},
            [Asked("Which?")],
            "started again with the answer",
        ),
        (
            "ask_question",
            {
                "question": "Which?",
                "options": ["a", "b"],
                "default": "a",
                "required": False,
                "deadline": "2h",
            },
            [Asked("Which?", ("a", "b"), "a", "choice", is_required=False, deadline_s=7200.0)],
            "Stop working now",
        ),
        (
            "ask_question",
            {"question": "Sure?", "category": "confirmation"},
            [Asked("Sure?", category="confirmation")],
            "Stop working now",
        ),
        (
            "request_dependency",
            {"type": "api_key", "name": "KEY", "description": "for payments"},
            [DependencyAsked("api_key", "KEY", "for payments")],
            "Stop working now",
        ),
        (
            "request_dependency",
            {
                "type": "file",
                "name": "data/prices.csv",
                "description": "to import",
                "required": False,
                "default": "data/old.csv",
            },
            [DependencyAsked("file", "data/prices.csv", "to import", False, "data/old.csv")],
            "Stop working now",
        ),
        (
            "ask_question",
            {"question": "Now?", "priority": "urgent"},
            [Asked("Now?", priority=2)],
            "Stop working now",
        ),
        ("report_step", {"n": 2}, [StepDone(2)], "Noted"),
        ("report_step", {"n": "3"}, [StepDone(3)], "Noted"),
        (
            "complete_phase",
            {"summary": "made it", "deliverables": ["docs/a.md"], "phase": 1},
            [Said("made it"), Said("- docs/a.md"), PhaseDone(1)],
            "End your turn",
        ),
        ("complete_phase", {"summary": "made"}, [Said("made"), PhaseDone(None)], "End your turn"),
        ("complete_task", {"summary": "made"}, [Said("made"), TaskDone()], "End your turn"),
        (
            "report_error",
            {"message": "no disk"},
            [ErrorReported("recoverable", "no disk", "notify_user")],
            "Continue",
        ),
        (
            "report_error",
            {"message": "no", "type": "fatal", "recovery": "checkpoint_and_fail"},
            [ErrorReported("fatal", "no", "checkpoint_and_fail")],
            "Stop working now",
        ),
        (
            "report_error",
            {"message": "no", "recovery": "pause_and_retry"},
            [ErrorReported("recoverable", "no", "pause_and_retry")],
            "started again later",
        ),
    ],
)
def test_each_call_is_heard(
    agent: At, tool: str, arguments: dict[str, Any], events: list[Event], says: str
) -> None:
    """A call is one line that Segue hears, and its answer says what to do now."""
    assert says in agent.client.call(tool, **arguments)
    assert agent.path.read_bytes().count(b"\n") == 1
    assert agent.heard() == events


def test_all_that_was_given_is_in_the_line(agent: At) -> None:
    """Every value stands in the file, by the names of the text protocol."""
    agent.client.call(
        "ask_question", question="Which?", default="a", required=False, deadline="30m"
    )
    line = json.loads(agent.path.read_bytes())
    agent.heard()
    assert line["arguments"] == {
        "question": "Which?",
        "default": "a",
        "category": "clarification",
        "required": False,
        "deadline": "30m",
    }
    assert datetime.fromisoformat(line["at"]).tzinfo is not None


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("ask_question", {}, "question: Field required"),
        ("ask_question", {"question": "  "}, "question: "),
        ("ask_question", {"question": "x" * 10_001}, "question: "),
        ("ask_question", {"question": "Which?", "option": ["a"]}, "option: "),
        ("ask_question", {"question": "Which?", "options": "a"}, "options: "),
        ("ask_question", {"question": "Which?", "options": ["a", ""]}, "options.1: "),
        (
            "ask_question",
            {"question": "?", "options": ["a"], "default": "b"},
            "not one of the options",
        ),
        ("ask_question", {"question": "?", "required": False}, "needs a default"),
        ("ask_question", {"question": "?", "deadline": "soon"}, "not a duration"),
        ("ask_question", {"question": "?", "category": "budget"}, "category: "),
        ("request_dependency", {"name": "KEY", "description": "x"}, "type: Field required"),
        ("request_dependency", {"type": "gold", "name": "K", "description": "x"}, "type: "),
        (
            "request_dependency",
            {"type": "api_key", "name": "my key", "description": "x"},
            "environment variable",
        ),
        (
            "request_dependency",
            {"type": "env_variable", "name": "SEGUE_RUN", "description": "x"},
            "not SEGUE_",
        ),
        (
            "request_dependency",
            {"type": "file", "name": "x" * 201, "description": "x"},
            "name: ",
        ),
        ("ask_question", {"question": "?", "priority": "top"}, "priority: "),
        ("ask_question", {"question": "..."}, "it contains no question"),
        ("report_error", {"message": "…"}, "it has no message"),
        ("complete_task", {}, "summary: "),
        ("complete_task", {"summary": "x", "phase": 1}, "phase: "),
        ("report_step", {"n": 0}, "n: "),
        ("report_step", {"n": 1.5}, "n: "),
        ("complete_phase", {"summary": ""}, "summary: "),
        ("report_error", {"message": "x", "type": "odd"}, "type: "),
    ],
)
def test_wrong_arguments_are_told(
    agent: At, tool: str, arguments: dict[str, Any], why: str
) -> None:
    """What cannot be used is refused by the name of the field; nothing is written."""
    assert why in agent.client.refused(tool, **arguments)
    assert agent.heard() == []


def test_what_is_too_long_is_refused(agent: At) -> None:
    """A call that does not fit into one line is refused as a whole, with what to do instead."""
    why = agent.client.refused("ask_question", question="?", options=["가" * 9_000] * 3)
    assert "Too long" in why
    assert "file" in why
    assert agent.heard() == []


def test_a_tool_that_is_not_there_is_told(agent: At) -> None:
    """A person's tools do not exist for an agent at work."""
    for name in [*PERSON_TOOLS, "rm"]:
        assert agent.client.refused(name, path="PLAN.md") == f"No such tool: {name}."


def test_calls_at_the_same_time_do_not_mix(agent: At, servers: Servers) -> None:
    """Calls of one server and of two on the same file: every line whole, none lost."""
    other = servers.start(agent.path.parent, env=facts(agent.path))
    steps = [("report_step", {"n": n}) for n in range(1, 41)]
    asked = [("ask_question", {"question": "가" * 9_000 + str(n)}) for n in range(10)]
    agent.client.call_at_once([*steps[:20], *asked])
    other.call_at_once(steps[20:])
    heard = agent.heard()
    assert {event.n for event in heard if isinstance(event, StepDone)} == set(range(1, 41))
    assert len([event for event in heard if isinstance(event, Asked)]) == 10
    assert len(heard) == 50


@pytest.mark.parametrize(
    ("path", "why"),
    [(".", "Is a directory"), ("none/told", "No such file"), ("/dev/full", "space")],
)
def test_a_file_that_cannot_be_written_is_told(
    servers: Servers, tmp_path: Path, path: str, why: str
) -> None:
    """The agent learns that nobody heard it, and of the other way; the server lives on."""
    client = servers.start(tmp_path, env=facts(tmp_path / path))
    for _again in range(2):
        said = client.refused("ask_question", question="Which?")
        assert why in said
        assert "text markers" in said
    assert [tool.name for tool in client.tools] == AGENT_TOOLS


def test_a_run_that_does_not_listen_is_told(servers: Servers, tmp_path: Path) -> None:
    """Without a file to tell to, an agent at work still gets no other tools than its own."""
    client = servers.start(tmp_path, "--project", str(tmp_path), env={"SEGUE_RUN": "T-1-1-abcd"})
    assert [tool.name for tool in client.tools] == AGENT_TOOLS
    assert "SEGUE_TOLD is not set" in client.refused("report_step", n=1)


def test_a_persons_tool_in_a_run_is_refused_and_journalled(
    servers: Servers, tmp_path: Path
) -> None:
    """Each call of one is a row with the run and the tool; a name that nobody has is none."""
    project = Project(tmp_path)
    project.prepare()
    Store.open(project.database).close()
    run = {**facts(tmp_path / "told"), "SEGUE_PROJECT": str(tmp_path)}
    client = servers.start(tmp_path, "--project", str(tmp_path), env=run)
    for name in ("approve", "answer", "no_such_tool"):
        assert name in client.refused(name, gate="g-1", text="yes")
    store = Store.open(project.database)
    rows = store.all("SELECT data FROM journal WHERE entity = 'refusal' ORDER BY seq")
    notices = store.all("SELECT text FROM notices")
    store.close()
    tried = [json.loads(row["data"]) for row in rows]
    assert [(one["via"], one["tried"]) for one in tried] == [("mcp", "approve"), ("mcp", "answer")]
    assert all(one["actor"] == "agent T-1-1-abcd" for one in tried)
    assert len(notices) == 1


def test_a_cut_off_line_does_not_spoil_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the disk took half of a line, the call is refused and the next begins a new one."""
    reports = Reports(facts(tmp_path / "told"), lambda: AT)
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:20]))
    with pytest.raises(Refused, match="disk is full"):
        reports.step(Step(n=1))
    monkeypatch.setattr(os, "write", write)
    reports.step(Step(n=2))
    dialect = ToolChannel(NONCE)
    heard = list(dialect.feed((tmp_path / "told").read_bytes()))
    assert heard[-1] == StepDone(2)
    assert len(heard) == 2


def test_a_call_is_on_the_disk_before_it_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One write and one sync: what was answered is not lost with the power."""
    done: list[str] = []
    write, sync = os.write, os.fsync

    def note_write(fd: int, data: bytes) -> int:
        done.append("write")
        return write(fd, data)

    def note_sync(fd: int) -> None:
        done.append("sync")
        sync(fd)

    monkeypatch.setattr(os, "write", note_write)
    monkeypatch.setattr(os, "fsync", note_sync)
    Reports(facts(tmp_path / "told"), lambda: AT).step(Step(n=1))
    assert done == ["write", "sync"]


def test_an_agent_is_known_without_its_environment(servers: Servers, tmp_path: Path) -> None:
    """A program that starts servers with few variables: the run is known from the processes above."""
    words = [sys.executable, *SEGUE, "mcp"]
    script = 'env -u SEGUE_RUN -u SEGUE_TOLD -u SEGUE_NONCE "$@"; exit $?'
    client = servers.start_like(
        StdioServerParameters(
            command="sh",
            args=["-c", script, "sh", *words],
            env=facts(tmp_path / "told"),
            cwd=tmp_path,
        )
    )
    assert [tool.name for tool in client.tools] == AGENT_TOOLS
    client.call("report_step", n=4)
    assert At(client, tmp_path / "told").heard() == [StepDone(4)]


# For a person's own agent


class Commands:
    """A project, and the server of a person's agent in it."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client, self.root = client, root
        self.project = Project(root)

    def plan(self, name: str, text: str) -> Path:
        path = self.root / name
        path.write_text(text)
        return path

    def segue(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *SEGUE, *args],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def asking(self, name: str) -> str:
        """A plan whose task has asked; the gate's id."""
        self.plan(name, ASKING)
        assert self.segue("run", name, "--json").returncode == 3
        [gate] = self.standing(name)["gates"]
        return str(gate["id"])

    def standing(self, name: str) -> dict[str, Any]:
        [standing] = json.loads(self.client.call("status", path=name))["plans"]
        return dict(standing)

    def holder(self, name: str) -> lock.Holder | None:
        return lock.holder(lock_path(self.project, self.root / name))

    def waiting(self, project: Project | None = None) -> dict[str, str]:
        """What was answered and not taken in yet, by gate."""
        path = (project or self.project).database
        if not path.exists():  # nothing has run there
            return {}
        store = Store.open(path)
        try:
            rows = store.all("SELECT gate, data FROM acts WHERE state = 'waiting'")
        finally:
            store.close()
        return {row["gate"]: json.loads(row["data"])["answer"] for row in rows}


@pytest.fixture(scope="module")
def commands(
    portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Commands]:
    root = tmp_path_factory.mktemp("project").resolve()
    (root / "segue.toml").write_text("")
    with ExitStack() as stack:
        stack.callback(end_runs, root)
        yield Commands(Servers(portal, stack).start(root), root)


def test_a_person_gets_the_levers(commands: Commands) -> None:
    """Six tools; those that change something are marked, so that the person is asked."""
    assert [tool.name for tool in commands.client.tools] == PERSON_TOOLS
    for tool in commands.client.tools:
        assert 20 < len(tool.description) < 200
        is_looking = tool.name in ("list_plans", "status")
        assert tool.annotations.read_only_hint is is_looking
        assert tool.annotations.destructive_hint is not is_looking
    for name in AGENT_TOOLS:
        assert commands.client.refused(name) == f"No such tool: {name}."


def test_status_is_that_of_the_command(commands: Commands) -> None:
    """What the tool returns is what `segue status --json` prints; `list_plans` has it in short."""
    commands.plan("short.md", "- [ ] **S-1**: One\n- [x] **S-2**: Two\n")
    assert json.loads(commands.client.call("status")) == json.loads(
        commands.segue("status", "--json").stdout
    )
    assert commands.standing("short.md")["counts"]["completed"] == 1
    listed = json.loads(commands.client.call("list_plans"))
    assert listed["project"] == str(commands.root)
    [short] = [plan for plan in listed["plans"] if plan["path"] == "short.md"]
    assert short == {
        "path": "short.md",
        "kind": "tasklist",
        "state": "pending",
        "completed": 1,
        "tasks": 2,
        "open_gates": 0,
    }


def test_the_project_can_be_named(servers: Servers, tmp_path: Path) -> None:
    """`--project` looks there, wherever the server was started."""
    there = tmp_path / "there"
    there.mkdir()
    (there / "PLAN.md").write_text("- [ ] **S-1**: One\n")
    client = servers.start(tmp_path, "--project", str(there))
    listed = json.loads(client.call("list_plans"))
    assert listed["project"] == str(there.resolve())
    assert [plan["path"] for plan in listed["plans"]] == ["PLAN.md"]


@pytest.mark.parametrize("tool", ["status", "run_plan", "stop_plan"])
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../elsewhere.md", "outside the project"),
        ("/etc/hostname", "outside the project"),
        ("link.md", "outside the project"),
        ("none.md", "no"),
        ("a\0b", "not a valid path"),
    ],
)
def test_paths_stay_in_the_project(commands: Commands, tool: str, path: str, why: str) -> None:
    """No path and no link leads out of the project; what is not there is told."""
    if not (commands.root / "link.md").is_symlink():
        (commands.root / "link.md").symlink_to("/etc/hostname")
    assert why in commands.client.refused(tool, path=path).lower()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "path: Field required"),
        ({"path": "P.md", "jobs": 0}, "jobs: "),
        ({"path": "P.md", "jobs": 10_000}, "jobs: "),
        ({"path": "P.md", "on_failed": "cry"}, "on_failed: "),
        ({"path": "P.md", "isolate": True}, "isolate: "),
    ],
)
def test_a_run_with_wrong_arguments_is_refused(
    commands: Commands, arguments: dict[str, Any], why: str
) -> None:
    """Arguments are checked before anything is looked at."""
    assert why in commands.client.refused("run_plan", **arguments)


def test_a_plan_that_cannot_run_is_refused_with_its_line(servers: Servers, tmp_path: Path) -> None:
    """What is wrong comes back as words with file and line; nothing was made."""
    (tmp_path / "P.md").write_text("- [ ] **T-1**: One\n  - blocked by: T-9\n  - run: true\n")
    client = servers.start(tmp_path)
    why = client.refused("run_plan", path="P.md")
    assert "P.md:" in why
    assert "T-9" in why
    assert "nobody" in client.refused("run_plan", path="P.md", agent="nobody")
    assert not (tmp_path / ".segue").exists()


def test_a_run_outlives_the_server(servers: Servers, tmp_path: Path) -> None:
    """`run_plan` returns while the plan runs, and the plan goes on when the server has ended."""
    tmp_path = tmp_path.resolve()
    (tmp_path / "P.md").write_text(WAITING.format(name="go"))
    path = lock_path(Project(tmp_path), tmp_path / "P.md")
    with servers.running(tmp_path) as client:
        said = client.call("run_plan", path="P.md", agent="shell", jobs=2)
        holder = lock.holder(path)
        assert holder is not None
        assert f"process {holder.pid}" in said
        assert "--jobs=2" in holder.command
        assert not is_running(os.getpgid(holder.pid)), "it is in the server's process group"
        assert "mcp" not in command_of(parent_of(holder.pid)), "it is a child of the server"
        why = client.refused("run_plan", path="P.md")
        assert f"Already running: process {holder.pid}" in why
    still = lock.holder(path)
    assert still is not None
    assert still.pid == holder.pid
    (tmp_path / "go").touch()
    until(lambda: lock.holder(path) is None, "the end of the run")
    assert "[x]" in (tmp_path / "P.md").read_text()
    [events] = (tmp_path / ".segue" / "logs").glob("*.run.jsonl")
    assert str(events.relative_to(tmp_path)) in said
    assert json.loads(events.read_text().splitlines()[-1])["event"] == "finished"


def test_a_plan_is_stopped_and_goes_on(commands: Commands) -> None:
    """Stopped, its place is kept; run again, it ends; what does not run cannot be stopped."""
    commands.plan("long.md", WAITING.format(name="long"))
    assert "long.md is not running" in commands.client.refused("stop_plan", path="long.md")
    commands.client.call("run_plan", path="long.md")
    until(lambda: commands.standing("long.md")["running"], "the task's start")
    commands.client.call("stop_plan", path="long.md")  # it may still end its agents
    until(lambda: commands.holder("long.md") is None, "the end of the first run")
    assert commands.standing("long.md")["state"] == "interrupted"
    (commands.root / "long").touch()
    commands.client.call("run_plan", path="long.md")
    until(lambda: commands.standing("long.md")["state"] == "finished", "the end")


def test_failed_tasks_can_be_tried_again(commands: Commands) -> None:
    """`on_failed` reaches the run."""
    commands.plan("fails.md", "- [ ] **F-1**: Try\n  - retries: 0\n  - run: test -e mended\n")
    commands.client.call("run_plan", path="fails.md")
    until(lambda: commands.standing("fails.md")["state"] == "failed", "the failure")
    until(lambda: commands.holder("fails.md") is None, "the end of the first run")
    (commands.root / "mended").touch()
    commands.client.call("run_plan", path="fails.md", on_failed="retry")
    until(lambda: commands.standing("fails.md")["state"] == "finished", "the end")


def test_an_answer_is_left_for_the_next_run(commands: Commands) -> None:
    """Checked, added once, and told when it will be used."""
    gate = commands.asking("rest.md")
    why = commands.client.refused("answer", gate=gate, text="Postgres")
    assert "the options: PostgreSQL, SQLite" in why
    assert "did you mean `PostgreSQL`?" in why
    assert gate not in commands.waiting()
    said = commands.client.call("answer", gate=gate, text="sqlite")
    assert "'SQLite'" in said
    assert "takes effect when it runs again" in said
    assert commands.waiting()[gate] == "SQLite"
    assert "already answered" in commands.client.refused("answer", gate=gate, text="PostgreSQL")
    assert "already answered" in commands.client.refused("approve", gate=gate)
    assert commands.waiting()[gate] == "SQLite"


def test_an_answer_is_used_by_the_next_run(commands: Commands) -> None:
    """The run takes the act in, and the task resumes with the answer."""
    gate = commands.asking("used.md")
    commands.client.call("answer", gate=gate, text="PostgreSQL")
    commands.client.call("run_plan", path="used.md")
    until(lambda: commands.standing("used.md")["state"] == "finished", "the end")
    until(lambda: gate not in commands.waiting(), "the act's end")
    why = commands.client.refused("answer", gate=gate, text="SQLite")
    assert f"{gate} is already answered: by mcp" in why


def test_an_answer_to_a_plan_at_work_says_so(commands: Commands) -> None:
    """While somebody runs the plan, the answer is for them, now."""
    commands.plan("busy.md", ASKING + WAITING.format(name="busy"))
    commands.client.call("run_plan", path="busy.md", jobs=2)
    gate = until(lambda: commands.standing("busy.md")["gates"], "the question")[0]["id"]
    assert "The owner of busy.md has processed it" in commands.client.call("approve", gate=gate)
    (commands.root / "busy").touch()
    until(lambda: commands.holder("busy.md") is None, "the end of the run")


def test_a_gate_that_is_not_there_is_told(commands: Commands) -> None:
    """An id that nobody knows comes back with those that are open."""
    gate = commands.asking("open.md")
    why = commands.client.refused("answer", gate="0123456789ab", text="yes")
    assert "No such gate: 0123456789ab" in why
    assert gate in why
    assert "No such gate" in commands.client.refused("approve", gate="../../x")
    assert "gate: " in commands.client.refused("answer", gate="", text="yes")
    assert "text: " in commands.client.refused("answer", gate=gate, text=" ")


def test_a_gate_of_a_project_inside_is_found(commands: Commands) -> None:
    """A folder with a segue.toml of its own has its own memory; its gates are answered there."""
    inner = commands.root / "inner"
    inner.mkdir()
    (inner / "segue.toml").write_text("")
    gate = commands.asking("inner/PLAN.md")
    commands.client.call("answer", gate=gate, text="SQLite")
    assert gate not in commands.waiting()
    assert commands.waiting(Project(inner)) == {gate: "SQLite"}


def gate_of(options: tuple[str, ...], category: str = "choice", kind: str = "question") -> GateRow:
    return GateRow("g1", None, None, kind, "Which?", options, category=category)


@pytest.mark.parametrize(
    ("gate", "word"),
    [
        (gate_of(("no", "Yes")), "Yes"),
        (gate_of(("deny", "allow"), "permission"), "allow"),
        (gate_of(("예", "아니오")), "예"),
        (gate_of(("PostgreSQL", "SQLite")), "PostgreSQL"),
        (gate_of((), "confirmation"), "yes"),
        (gate_of((), "permission"), "allow"),
        (gate_of((), kind="review"), "approve"),
    ],
)
def test_a_gate_is_approved_in_its_own_word(gate: GateRow, word: str) -> None:
    """Yes where an option says yes, else the first one, else what fits the kind."""
    assert consent(gate) == word


@pytest.mark.parametrize("gate", [gate_of(()), gate_of(("no", "maybe")), gate_of((), "dependency")])
def test_what_needs_words_is_not_approved(gate: GateRow) -> None:
    """An open question, a dependency, options of which none says yes: an answer is needed."""
    with pytest.raises(UserError, match="means yes"):
        consent(gate)


def test_what_agents_wrote_is_plain_in_the_status(commands: Commands) -> None:
    """A title that would turn the text around, or act on a terminal, does neither."""
    commands.plan("odd.md", "- [!] **O-1**: a\x1b[2Jb\u202ec\n")
    [failed] = commands.standing("odd.md")["failed"]
    assert failed["title"] == "abc"


def test_what_agents_wrote_is_made_plain() -> None:
    """No control character is left in any depth, and no text is without end."""
    given = {"a\x1b": ["\x1b[2Jx\x07", {"b": "한\u202e글\n."}], "n": 1, "long": "x" * 20_000}
    made = harmless(given)
    assert made["a"] == ["x", {"b": "한글\n."}]
    assert made["n"] == 1
    assert len(made["long"]) == 10_001


# The command


def test_without_the_sdk_the_cure_is_told(tmp_path: Path) -> None:
    """Exit 2, and the words name what to install."""
    code = "import sys; sys.modules['mcp'] = None; from segue.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code, "mcp"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "pip install 'segue[mcp]'" in ended.stderr
    assert ended.stdout == ""


def test_the_sdk_is_imported_by_the_server_alone() -> None:
    """The command's help costs nothing of the SDK."""
    code = (
        "import sys, segue.cli.mcp, segue.engine.acts, segue.dialects.tool_channel;"
        " print([name for name in ('mcp', 'pydantic', 'anyio') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_the_server_ends_with_its_input(tmp_path: Path) -> None:
    """Garbage is not its end, end of file is: exit 0, nothing on standard output but answers."""
    ended = subprocess.run(
        [sys.executable, *SEGUE, "mcp"],
        cwd=tmp_path,
        env={**os.environ, **NO_RUN},
        input="garbage\n\n[1]\n" + json.dumps(HELLO) + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 0
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    [answer] = [told for told in answers if told.get("id") == 1]
    assert answer["result"]["serverInfo"]["name"] == "segue"
    assert answer["result"]["instructions"]


def test_it_ends_with_an_interrupt(tmp_path: Path) -> None:
    """Ctrl-C ends it at once, though a thread waits for input that never comes."""
    with subprocess.Popen(
        [sys.executable, *SEGUE, "mcp"],
        cwd=tmp_path,
        env={**os.environ, **NO_RUN},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b"serverInfo" in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        try:
            assert server.wait(60) == 130
        finally:
            server.kill()


def test_names_are_those_of_the_dialect() -> None:
    """The tools that an agent gets are those that Segue hears."""
    assert sorted(tool_channel._READERS) == sorted([*AGENT_TOOLS, tool_channel.REFUSED])
