"""Panes: their events, their locks, and whose agent is in them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import pytest

from kit.waiting import until_async
from segue.drivers.pane_agents import (
    Program,
    agent_among,
    agent_of,
    may_hide_agent,
    may_hide_among,
)
from segue.drivers.pane_lock import PaneLock, Watcher, holder, lock_name
from segue.drivers.panes import (
    TEXT_CHARS_MAX,
    HostBack,
    HostGone,
    Pane,
    PaneAppeared,
    PaneChanged,
    PaneEvent,
    PaneEvents,
    PaneGone,
    check_text,
    key_bytes,
)
from segue.errors import Bug


def pane(number: int, host: str = "tmux", socket: str = "/run/s") -> Pane:
    pane_id = f"%{number}" if host == "tmux" else f"wezterm:{number}"
    return Pane(pane_id, host, socket, rows=24, columns=80)


def taken(*events: PaneEvent) -> list[PaneEvent]:
    """What a reader gets who looks after all of them were put."""

    async def main() -> list[PaneEvent]:
        queue = PaneEvents()
        for event in events:
            queue.put(event)
        queue.close()
        return [event async for event in queue]

    return asyncio.run(main())


def test_changes_that_wait_are_one() -> None:
    """A slow reader finds each pane that changed once, where it changed first."""
    many = [PaneChanged("%1"), PaneChanged("%2"), *[PaneChanged("%1")] * 1000]
    assert taken(*many) == [PaneChanged("%1"), PaneChanged("%2")]


def test_a_pane_that_went_has_not_changed() -> None:
    """Its going takes back what was waiting to be told of it."""
    assert taken(PaneChanged("%1"), PaneChanged("%2"), PaneGone("%1")) == [
        PaneChanged("%2"),
        PaneGone("%1"),
    ]


def test_a_pane_that_nobody_saw_never_was() -> None:
    """It appeared and went before anybody looked."""
    assert taken(PaneAppeared(pane(1)), PaneChanged("%1"), PaneGone("%1")) == []
    come_and_gone: list[PaneEvent] = [PaneAppeared(pane(1)), PaneGone("%1")]
    assert taken(*come_and_gone * 1000) == []


def test_a_host_that_goes_takes_everything_along() -> None:
    """After it there is only what came since."""
    events: list[PaneEvent] = [PaneAppeared(pane(1)), PaneChanged("%1"), HostGone("gone")]
    back: list[PaneEvent] = [HostBack(), PaneAppeared(pane(2))]
    assert taken(*events) == [HostGone("gone")]
    assert taken(*events, *back) == [HostGone("gone"), *back]
    assert taken(*events, *back, HostGone("again")) == [HostGone("again")]


def test_events_wake_their_reader() -> None:
    """One who waits gets the next event as it comes, and the end at the end."""

    async def main() -> None:
        queue = PaneEvents()
        got: list[PaneEvent] = []

        async def read() -> None:
            async for event in queue:
                got.append(event)

        reading = asyncio.create_task(read())
        for n in range(3):
            queue.put(PaneChanged(f"%{n}"))
            await until_async(lambda n=n: len(got) > n)
        queue.close()
        async with asyncio.timeout(5):
            await reading
        assert got == [PaneChanged(f"%{n}") for n in range(3)]

    asyncio.run(main())


@pytest.mark.parametrize("text", ["\x1b[A", "a\rb", "\x03", "\x7f", "\x9b", "x" * 16_385])
def test_what_would_press_a_key_is_not_text(text: str) -> None:
    """Control characters, and more than can be meant."""
    with pytest.raises(Bug):
        check_text(text)


def test_text_is_text() -> None:
    """Letters of all kinds, tabs and line breaks, up to the bound."""
    check_text("계속 \t\n é 😀" + "x" * (TEXT_CHARS_MAX - 20))


def test_keys_are_known_by_name() -> None:
    """Others than those that are there are a mistake of ours."""
    assert (key_bytes("Enter"), key_bytes("Up")) == ("\r", "\x1b[A")
    with pytest.raises(Bug):
        key_bytes("enter")


# --- locks

HOLD = """
import sys
from segue.drivers.pane_lock import PaneLock
from segue.drivers.panes import Pane
lock = PaneLock(Pane(sys.argv[1], "tmux", sys.argv[2], 24, 80))
assert lock.take() is None
import subprocess
child = subprocess.Popen(["sleep", "1000"], close_fds=False, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
sys.stdin.readline()
"""


class Other:
    """Another watcher, which holds a pane and has a child."""

    def __init__(self, of: Pane) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, of.id, of.socket],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.child = int(self.process.stdout.readline())

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *_error: object) -> None:
        os.kill(self.child, signal.SIGKILL)
        self.process.kill()
        self.process.communicate()

    def release(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "released\n"


@pytest.fixture
def mine() -> Pane:
    """A pane that no other test means."""
    return pane(3, socket=f"/run/{os.getpid()}/{time.monotonic_ns()}")


def test_one_watcher_holds_a_pane(mine: Pane) -> None:
    """The other learns who has it; after a release it is free."""
    lock = PaneLock(mine)
    with Other(mine) as other:
        theirs = Watcher(other.process.pid, os.geteuid())
        assert lock.take() == theirs
        assert holder(lock_name(mine)) == theirs
        other.release()
        assert holder(lock_name(mine)) is None
        assert lock.take() is None
    assert PaneLock(mine).take() == Watcher(os.getpid(), os.geteuid()), "not even twice by one"
    lock.release()
    assert holder(lock_name(mine)) is None
    assert lock.take() is None
    lock.release()
    lock.release()


def test_a_lock_dies_with_its_holder(mine: Pane) -> None:
    """Whatever kills it, and although it has a child that lives on."""
    lock = PaneLock(mine)
    with Other(mine) as other:
        assert lock.take() is not None
        other.process.kill()
        other.process.wait()
        assert lock.take() is None
        lock.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_lock_holds_among_users(mine: Pane) -> None:
    """Another user finds it held, and by whom; and root finds the other's."""

    def as_nobody(act: Callable[[], bool]) -> int:
        pid = os.fork()
        if pid == 0:  # pragma: no cover - another process
            os.setuid(65534)
            os._exit(0 if act() else 1)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    own = PaneLock(mine)
    assert own.take() is None
    ours = Watcher(os.getpid(), 0)
    # The child has a copy of the held lock, so it asks by another object.
    assert as_nobody(lambda: PaneLock(mine).take() == ours) == 0
    own.release()
    assert as_nobody(lambda: PaneLock(mine).take() is None) == 0


def test_locks_of_other_panes_are_others() -> None:
    """The same number on another server, another number, another host."""
    names = {
        lock_name(pane(1)),
        lock_name(pane(11)),
        lock_name(pane(1, socket="/run/t")),
        lock_name(pane(1, host="wezterm")),
    }
    assert len(names) == 4
    assert lock_name(pane(1)) == lock_name(pane(1))


def test_a_name_that_begins_alike_is_not_taken_for_it(mine: Pane) -> None:
    """Pane 3 is free while somebody holds pane 31."""
    longer = PaneLock(pane(31, socket=mine.socket))
    assert longer.take() is None
    assert holder(lock_name(mine)) is None
    longer.release()


# --- agents


def tree(*argvs: Sequence[str], background: Sequence[int] = ()) -> list[Program]:
    """Processes, each the child of the one before."""
    return [
        Program(n + 1, n, tuple(argv), is_foreground=n + 1 not in background)
        for n, argv in enumerate(argvs)
    ]


NODE = "/usr/lib/node_modules"


@pytest.mark.parametrize(
    ("argv", "brand"),
    [
        (["claude"], "claude"),
        (["/home/u/.local/bin/claude", "--continue"], "claude"),
        (["claude", "fix the tests", "--model", "opus"], "claude"),
        (["node", f"{NODE}/@anthropic-ai/claude-code/cli.js"], "claude"),
        (["bun", "run", "x.ts"], None),
        (["codex"], "codex"),
        (["codex", "resume", "--last"], "codex"),
        (["node", "/usr/bin/codex", "--model", "x"], "codex"),
        (["node", "--max-old-space-size=8192", "-r", "x.js", "/usr/bin/gemini"], "gemini"),
        (["node", f"{NODE}/@google/gemini-cli/dist/index.js", "-i", "hello"], "gemini"),
        ([f"{NODE}/opencode-ai/node_modules/opencode-linux-x64/bin/opencode"], "opencode"),
        (["opencode", "/home/u/work"], "opencode"),
        (["/x/bin/.opencode"], "opencode"),
        (["/my programs/claude"], "claude"),
        (["claude --resume"], "claude"),
        (["node /usr/bin/gemini"], "gemini"),
        # Nobody can type to these.
        (["claude", "-p", "hello"], None),
        (["claude", "--output-format", "stream-json", "--print"], None),
        (["codex", "exec", "--json", "hello"], None),
        (["codex", "app-server"], None),
        (["node", "/usr/bin/gemini", "--acp"], None),
        (["opencode", "run", "hello"], None),
        (["opencode", "serve"], None),
        # These only read files that are called so.
        (["vim", "claude"], None),
        (["less", "/home/u/claude/codex"], None),
        (["grep", "-r", "claude", "."], None),
        (["bash", "-c", "claude; sleep 1"], None),
        (["node", "-e", "claude"], None),
        (["python3", "claude.py"], None),
        (["ssh", "host", "claude"], None),
        (["claude-wrapper"], None),
        (["node"], None),
        ([""], None),
        ([], None),
    ],
)
def test_whose_program_a_command_line_starts(argv: list[str], brand: str | None) -> None:
    """By its name, or by the script that an interpreter runs; only where one can talk to it."""
    assert agent_among(tree(["-bash"], argv)) == brand
    assert agent_among(tree(argv)) == brand


def test_the_agent_nearest_to_the_root_counts() -> None:
    """One that works for another one is a tool of it."""
    assert agent_among(tree(["zsh"], ["opencode"], ["claude"])) == "opencode"
    assert agent_among(tree(["zsh"], ["claude", "-p", "x"], ["codex"])) is None


def test_an_agent_without_the_terminal_is_none() -> None:
    """Stopped with Ctrl-Z or started in the background, it would not get what is typed."""
    assert agent_among(tree(["bash"], ["claude"], background=[2])) is None
    assert agent_among(tree(["bash"], ["claude"], ["codex"], background=[2])) == "codex"


def test_runs_of_segue_are_left_alone() -> None:
    """What it has started is its own, however far below; its neighbours are not."""
    for own in (
        ["segue", "run", "P.md"],
        ["/x/python3.12", "/x/bin/segue"],
        ["python3", "-m", "segue"],
    ):
        assert agent_among(tree(["bash"], own, ["keeper"], ["claude"])) is None
    bash, segue, below, beside = (
        Program(1, 0, ("bash",)),
        Program(2, 1, ("segue", "watch")),
        Program(4, 2, ("claude",)),
        Program(3, 1, ("codex",)),
    )
    assert agent_among([bash, segue, below, beside]) == "codex"


@pytest.mark.parametrize(
    ("argvs", "may_hide"),
    [
        ([["-bash"], ["ssh", "host"]], True),
        ([["zsh"], ["docker", "exec", "-it", "box", "bash"]], True),
        ([["python3", "/opt/bin/wrapper"]], True),
        ([["-bash"]], False),
        ([["bash"], ["less", "claude.log"]], False),
        ([["bash"], ["vim", "screen.txt"]], False),
        ([["bash"], ["claude", "-p", "hello"]], False),
        ([["bash"], ["segue", "run", "PLAN.md"]], False),
        ([["bash"], ["ssh", "host"], ["claude"]], False),
    ],
)
def test_where_the_screen_may_know_more_than_the_processes(
    argvs: list[list[str]], may_hide: bool
) -> None:
    """Not where a shell waits, text is shown, or an agent is known that does not count."""
    assert may_hide_among(tree(*argvs)) is may_hide


def test_a_pane_whose_root_is_not_known_or_gone_holds_none() -> None:
    """No process, no agent."""
    assert agent_of(pane(1)) is None
    assert agent_of(Pane("%1", "tmux", "", 24, 80, pid=2**22 - 1)) is None
    assert may_hide_agent(pane(1)), "nothing speaks against it"
    assert not may_hide_agent(Pane("%1", "tmux", "", 24, 80, pid=2**22 - 1))
