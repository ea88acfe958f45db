"""Which agent a pane holds, by the processes in it.

A pane is a shell as often as not, the agent a child of it, and often that is an interpreter with
a script. Only an agent that a person can talk to counts, and only while it has the terminal: what
is typed to one that was stopped with Ctrl-Z goes to the shell. Where no process can tell, as with
ssh, the screen may: `may_hide_agent` says whether it is worth a look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from segue.drivers import processes
from segue.drivers.panes import Pane

ARGUMENTS_MAX = 40
PROCESSES_MAX = 200

INTERPRETERS = re.compile(r"(node|nodejs|bun|deno|tsx|python[0-9.]*)")
PACKAGES = {
    "@anthropic-ai/claude-code": "claude",
    "@openai/codex": "codex",
    "@google/gemini-cli": "gemini",
    "opencode-ai": "opencode",
}
AGENTS = frozenset(PACKAGES.values())
# With these the program answers once, or serves another program: it takes no typed input.
UNATTENDED = {
    "claude": frozenset({"-p", "--print", "mcp", "doctor", "update", "install"}),
    "codex": frozenset({"exec", "e", "app-server", "mcp", "mcp-server", "login", "sandbox"}),
    "gemini": frozenset({"-p", "--prompt", "--acp", "--experimental-acp", "mcp", "extensions"}),
    "opencode": frozenset({"run", "serve", "acp", "web", "auth", "models", "mcp"}),
}
TAKES_VALUE = frozenset({"-r", "--require", "--import", "--loader", "--conditions", "-C"})
OWN = "segue"  # its runs have agents below it, which take no typed input
# What these show was printed or written: no agent behind it takes typed input as a prompt.
SHELLS = frozenset(
    {
        "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "sh", "tcsh",
        "xonsh", "zsh",
    }
)  # fmt: skip
VIEWERS = frozenset(
    {
        "asciinema", "bat", "batcat", "cat", "delta", "diff", "emacs", "fzf", "git", "glow", "head",
        "helix", "htop", "hx", "kak", "less", "man", "mc", "micro", "more", "most", "nano", "nvim",
        "sleep", "tail", "tee", "tig", "top", "vi", "view", "vim", "watch",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Program:
    """A process of a pane: its arguments, and whether the terminal is its own now."""

    pid: int
    parent: int
    argv: tuple[str, ...]
    is_foreground: bool = True


def agent_of(pane: Pane) -> str | None:
    """`claude`, `codex`, `gemini`, `opencode`, or None; a look at the processes of this moment."""
    return agent_among(list(programs_of(pane.pid))) if pane.pid is not None else None


def may_hide_agent(pane: Pane) -> bool:
    """Whether an agent may be in it that no process of this machine shows: beyond ssh, in a
    container, under another name, or because nothing is known of its processes."""
    return pane.pid is None or may_hide_among(list(programs_of(pane.pid)))


def may_hide_among(programs: Sequence[Program]) -> bool:
    """One that is known and does not count (it has no terminal, or takes no input) hides none;
    neither do a shell that waits and a program that only shows text."""
    if any(brand_of(program.argv) or is_segue(program.argv) for program in programs):
        return False
    names = {name_of(program.argv) for program in programs if program.is_foreground}
    return bool(names - SHELLS - VIEWERS - {""})


def agent_among(programs: Sequence[Program]) -> str | None:
    """The agent nearest to the root; parents come before their children."""
    below_segue: set[int] = set()
    for program in programs:
        if program.parent in below_segue or is_segue(program.argv):
            below_segue.add(program.pid)
            continue
        brand = brand_of(program.argv)
        if brand and program.is_foreground:
            return brand if is_attended(brand, program.argv) else None
    return None


def brand_of(argv: Sequence[str]) -> str | None:
    """Whose program a command line starts; a file that is only read by that name is none."""
    words = _program_words(argv)
    if not words:
        return None
    for package, brand in PACKAGES.items():
        if f"/{package}/" in words[0]:
            return brand
    name = re.sub(r"\.(js|mjs|cjs|ts|exe)$", "", PurePath(words[0]).name.lstrip("."))
    return name if name in AGENTS else None


def is_attended(brand: str, argv: Sequence[str]) -> bool:
    """Whether it was started to be talked to: an option counts anywhere, a command at its place."""
    words = _program_words(argv)[1:]
    options = {word for word in words if word.startswith("-")}
    command = {word for word in words[:1] if not word.startswith("-")}
    return not UNATTENDED[brand] & (options | command)


def name_of(argv: Sequence[str]) -> str:
    words = _program_words(argv)
    return PurePath(words[0]).name if words else ""


def is_segue(argv: Sequence[str]) -> bool:
    return name_of(argv) == OWN


def _program_words(argv: Sequence[str]) -> list[str]:
    """The command line from the program on, or from the script if that is an interpreter's."""
    words = list(argv)
    if not words:
        return []
    if len(words) == 1 and PurePath(words[0]).name not in AGENTS:
        words = words[0].split() or [""]  # a program has written a title over its arguments
    first = PurePath(words[0].removeprefix("-")).name
    if not INTERPRETERS.fullmatch(first):
        return [words[0].removeprefix("-"), *words[1:]]
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-m":
            return [word.partition(".")[0] for word in words[at + 1 : at + 2]] + words[at + 2 :]
        if words[at] in ("-c", "-e", "--eval"):
            return []
        at += 2 if words[at] in TAKES_VALUE else 1
    return words[at:]


def programs_of(root: int) -> Iterator[Program]:
    """The process and all below it, parents first; what ends meanwhile is left out."""
    for pid, _started in processes.tree(root)[:PROCESSES_MAX]:
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            stat = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            continue
        fields = stat[stat.rindex(b")") + 2 :].split()
        parent, group, foreground = int(fields[1]), int(fields[2]), int(fields[5])
        argv = line.decode("utf-8", "replace").rstrip("\0").split("\0")
        yield Program(pid, parent, tuple(argv[:ARGUMENTS_MAX]), group == foreground)


def roots_on(ttys: Iterable[str]) -> dict[str, int]:
    """The process that each terminal was opened for: the root of what runs in it."""
    names = {}
    for tty in ttys:
        with suppress(OSError):
            names[Path(tty).stat().st_rdev] = tty
    found = {}
    for entry in Path("/proc").iterdir() if names else ():
        if entry.name.isdigit():
            with suppress(OSError):
                stat = (entry / "stat").read_bytes()
                fields = stat[stat.rindex(b")") + 2 :].split()
                leader, device = int(fields[3]), int(fields[4])
                if leader == int(entry.name) and device in names:
                    found[names[device]] = leader
    return found
