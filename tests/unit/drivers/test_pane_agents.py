"""Which agent a pane holds, by its processes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from segue.drivers.pane_agents import (
    Program,
    agent_among,
    agent_of,
    may_hide_agent,
    may_hide_among,
)
from segue.drivers.panes import (
    Pane,
)


def pane(number: int, host: str = "tmux", socket: str = "/run/s") -> Pane:
    pane_id = f"%{number}" if host == "tmux" else f"wezterm:{number}"
    return Pane(pane_id, host, socket, rows=24, columns=80)


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
