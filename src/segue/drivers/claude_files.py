"""From a process of Claude Code to its transcript: what it recorded about why it stopped.

It keeps no file open, and the newest transcript of a folder may be another's: two in one folder
must never be mixed up. So there are two ways, and where neither is open there is no answer.

- *Sure*: its register, `sessions/PID.json`, names the conversation, and the process by pid and by
  its start in the kernel's ticks, so that an entry of an earlier process with this pid is told
  from its own. It follows `/clear` and `/resume`. Where a second living process is registered for
  the same conversation there is no answer: the transcript is that of both.
- *Fairly sure*, for versions without a register: `--resume ID` or `--session-id ID` on its command
  line. Only if this transcript was written to since the process began and no other one of its
  folder was, for the process may have gone to another conversation since; and not with
  `--fork-session`. It would be wrong if a second process had resumed the same conversation and
  ended.
- *Not used*: open files (there are none); the newest transcript of its folder (one that was quit,
  or a run without a terminal, may have written it while this process waited for its first prompt).

Only processes and files of our own user are looked at. Of a transcript the last 256 KB are read;
whatever cannot be read is no answer, and never an error.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path

from segue.dialects.claude_transcript import TranscriptStop, last_stop
from segue.dialects.structured import Object, Objects, amount_of, instant_of
from segue.drivers import processes
from segue.drivers.pane_agents import Program, agent_among, brand_of, is_attended, is_segue
from segue.drivers.pane_agents import programs_of as programs_below

TAIL_BYTES_MAX = 256 * 1024
ENTRY_BYTES_MAX = 64 * 1024
ENVIRON_BYTES_MAX = 1024 * 1024
ENTRIES_MAX = 500  # registered processes
FOLDERS_MAX = 5_000  # transcripts of a folder, or folders with transcripts

_CONVERSATION = re.compile(r"[0-9A-Za-z][\w-]{0,127}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NAMES_ID = ("--resume", "-r", "--session-id")


@dataclass(frozen=True, slots=True)
class Transcript:
    """Where a process writes, since when it lives, and whether it says that it works."""

    path: Path
    since: datetime
    is_busy: bool = False


def stop_of(pid: int, *, now: datetime, tz: tzinfo) -> TranscriptStop | None:
    """What the claude below this process (a pane's root) says that stopped it; None if unknown."""
    found = transcript_of(pid, now=now)
    if found is None or found.is_busy:
        return None
    lines = tail_of(found.path)
    return last_stop(lines, tz, since=found.since) if lines else None


def transcript_of(pid: int, *, now: datetime) -> Transcript | None:
    """The transcript of the one claude below this process."""
    programs = list(programs_below(pid))
    if agent_among(programs) != "claude":
        return None
    found = []
    for program in _claudes(programs):  # one that was installed by npm may have two processes
        try:
            found.append(_transcript(program, now))
        except (OSError, ValueError):  # gone meanwhile, not ours, or a name that is no path
            continue
    known = [transcript for transcript in found if transcript is not None]
    return known[0] if len({transcript.path for transcript in known}) == 1 else None


def tail_of(path: Path) -> list[bytes]:
    """The last whole lines of a file; none where it cannot be read or is not ours."""
    text, is_whole = _read_end(path, TAIL_BYTES_MAX)
    lines = text.split(b"\n")
    return [line for line in (lines if is_whole else lines[1:]) if line.strip()]


def _claudes(programs: Sequence[Program]) -> Iterator[Program]:
    below_segue: set[int] = set()
    for program in programs:
        if program.parent in below_segue or is_segue(program.argv):
            below_segue.add(program.pid)
        elif _is_talked_to(program):
            yield program


def _is_talked_to(program: Program) -> bool:
    is_claude = program.is_foreground and brand_of(program.argv) == "claude"
    return is_claude and is_attended("claude", program.argv)


def _transcript(program: Program, now: datetime) -> Transcript | None:
    started = processes.start_time(program.pid)
    if started is None or Path(f"/proc/{program.pid}").stat().st_uid != os.geteuid():
        return None
    config = _config_folder(program.pid)
    if config is None:
        return None
    since = _instant_of(started, now)
    register = _register(config, program.pid)
    if register.exists():
        return _registered(program.pid, started, since, config, _entry(register) or {})
    return _named(program, since, config)


def _registered(
    pid: int, started: int, since: datetime, config: Path, entry: Object
) -> Transcript | None:
    """By the register. An entry of another process that had this pid says nothing."""
    conversation = entry.get("sessionId")
    if not _is_of(entry, pid, started) or not isinstance(conversation, str):
        return None
    if not _CONVERSATION.fullmatch(conversation) or _has_twin(config, pid, conversation):
        return None
    path = _path_of(config, str(entry.get("cwd")), conversation)
    epoch_ms = amount_of(entry.get("startedAt"))
    own = instant_of(epoch_ms / 1000) if epoch_ms is not None else None
    return Transcript(path, own or since, entry.get("status") == "busy") if path else None


def _is_of(entry: Object, pid: int, started: int) -> bool:
    return entry.get("pid") == pid and str(entry.get("procStart")) == str(started)


def _has_twin(config: Path, pid: int, conversation: str) -> bool:
    """Whether another living process is in this conversation; True also where that is unknown."""
    with os.scandir(config / "sessions") as listed:
        names = [e.name for e in islice(listed, ENTRIES_MAX + 1) if e.name.endswith(".json")]
    if len(names) > ENTRIES_MAX:
        return True
    others = [int(name[:-5]) for name in names if re.fullmatch(r"[0-9]{1,9}\.json", name)]
    return any(_is_in(config, other, conversation) for other in others if other != pid)


def _is_in(config: Path, pid: int, conversation: str) -> bool:
    """Whether this process lives and is registered for the conversation."""
    facts = processes.read_stat(pid)
    if facts is None or not facts.is_alive:
        return False
    entry = _entry(_register(config, pid)) or {}
    return _is_of(entry, pid, facts.started) and entry.get("sessionId") == conversation


def _register(config: Path, pid: int) -> Path:
    return config / "sessions" / f"{pid}.json"


def _named(program: Program, since: datetime, config: Path) -> Transcript | None:
    """By the command line, for versions that keep no register."""
    conversation = _conversation_in(program.argv)
    if conversation is None:
        return None
    cwd = str(Path(f"/proc/{program.pid}/cwd").readlink())
    path = _path_of(config, cwd, conversation)
    if path is None:
        return None
    with os.scandir(path.parent) as listed:
        entries = list(islice(listed, FOLDERS_MAX + 1))
    touched = [
        entry.name
        for entry in entries
        if entry.name.endswith(".jsonl") and entry.stat().st_mtime >= since.timestamp()
    ]
    is_alone = len(entries) <= FOLDERS_MAX and touched == [path.name]
    return Transcript(path, since) if is_alone else None


def _conversation_in(argv: Sequence[str]) -> str | None:
    if "--fork-session" in argv:
        return None
    for at, word in enumerate(argv):
        name, _equals, value = word.partition("=")
        if name in _NAMES_ID:
            value = value or "".join(argv[at + 1 : at + 2])
            return value if _UUID.fullmatch(value) else None
    return None


def _path_of(config: Path, cwd: str, conversation: str) -> Path | None:
    """Its folder is named after the one it was begun in; else it is looked for in all of them."""
    projects, name = config / "projects", f"{conversation}.jsonl"
    likely = projects / re.sub(r"[^0-9A-Za-z]", "-", cwd) / name
    if likely.is_file():
        return likely
    with os.scandir(projects) as listed:
        folders = [entry.path for entry in islice(listed, FOLDERS_MAX)]
    found = [path for folder in folders if (path := Path(folder, name)).is_file()]
    return found[0] if len(found) == 1 else None


def _config_folder(pid: int) -> Path | None:
    """Where this very process keeps its files, by its own environment."""
    env = environ_of(pid)
    own, home = env.get(b"CLAUDE_CONFIG_DIR"), env.get(b"HOME")
    folder = Path(os.fsdecode(own)) if own else Path(os.fsdecode(home or b""), ".claude")
    return folder if folder.is_absolute() else None


def environ_of(pid: int) -> dict[bytes, bytes]:
    """The environment that a process of our own was started with."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        pairs = file.read(ENVIRON_BYTES_MAX).split(b"\0")
    return {name: value for name, _equals, value in (pair.partition(b"=") for pair in pairs)}


def began_at(pid: int, now: datetime) -> datetime:
    """When a process began; ValueError: it is gone."""
    started = processes.start_time(pid)
    if started is None:
        raise ValueError(pid)
    return _instant_of(started, now)


def _entry(path: Path) -> Object | None:
    text, _is_whole = _read_end(path, ENTRY_BYTES_MAX)
    objects = Objects()
    told = [*objects.feed(text), *objects.close()]
    return told[0] if len(told) == 1 and isinstance(told[0], dict) else None


def _read_end(path: Path, bytes_max: int) -> tuple[bytes, bool]:
    """The end of a file of our own, and whether that is all of it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):
        return b"", True
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            return b"", True
        begin = max(0, facts.st_size - bytes_max)
        return os.pread(fd, bytes_max, begin), begin == 0
    except OSError:
        return b"", True
    finally:
        os.close(fd)


def _instant_of(ticks: int, now: datetime) -> datetime:
    """When a process began, by the clock that `now` was read from."""
    began_s = ticks / os.sysconf("SC_CLK_TCK")
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - began_s
    return now.astimezone(UTC) - timedelta(seconds=max(0.0, age_s))
