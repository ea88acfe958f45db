"""From a process to the transcript of its conversation: its own, or none."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.waiting import until
from segue.drivers import claude_files, processes
from segue.drivers.claude_files import stop_of, tail_of

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"
# It takes its time, as the real one does, before it can be talked to.
PROGRAM = """\
import pathlib, signal, sys
pathlib.Path(sys.argv[0] + f".{sys.argv[-1]}.up").touch()
signal.pause()
"""


def line(text: str, at: str = "2026-11-16T04:00:00Z") -> str:
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}
    told = {"type": "assistant", "timestamp": at, "isApiErrorMessage": True, "message": message}
    return json.dumps(told) + "\n"


class Place:
    """A home with transcripts, and programs called claude in terminals of their own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.config = self.home / ".claude"
        self.work = folder / "my.work"
        self.work.mkdir()
        self.program = folder / "claude"
        self.program.write_text(PROGRAM)
        self._running: list[tuple[subprocess.Popen[bytes], int]] = []

    def start(self, *args: str, env: dict[str, str] | None = None, line: str = '"$@"; true') -> int:
        """The root of a pane, a shell with claude below it by this line; returns when it is up."""
        name = f"n{len(self._running)}"
        argv = [sys.executable, str(self.program), *args, name]
        # Who leads a session and opens a terminal has it as its own.
        master, terminal = pty.openpty()
        root = subprocess.Popen(
            ["/bin/sh", "-c", f'exec 0<>"$0"; {line}', os.ttyname(terminal), *argv],
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=terminal,
            cwd=self.work,
            env={"HOME": str(self.home), **(env or {})},
            start_new_session=True,
        )
        os.close(terminal)
        self._running.append((root, master))
        until(Path(f"{self.program}.{name}.up").exists)
        return root.pid

    def end(self, root: int) -> None:
        processes.kill_tree(root)
        for popen, master in self._running:
            if popen.pid == root:
                popen.wait()
                os.close(master)
        self._running = [pair for pair in self._running if pair[0].pid != root]

    def close(self) -> None:
        for popen, _master in list(self._running):
            self.end(popen.pid)

    def claude(self, root: int) -> int:
        """The process of claude itself."""
        return (processes.descendants(root) or [root])[-1]

    def register(self, root: int, conversation: str, **more: Any) -> Path:
        """The entry of a process, as the program makes it."""
        pid = more.pop("of", None) or self.claude(root)
        entry = {
            "pid": pid,
            "sessionId": conversation,
            "cwd": str(self.work),
            "startedAt": 1794801596506,
            "procStart": str(processes.start_time(pid)),
            "status": "idle",
        }
        path = self.config / "sessions" / f"{pid}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**entry, **more}))
        return path

    def transcript(self, conversation: str, text: str, folder: str = "", age_s: float = 0) -> Path:
        """The transcript of a conversation that stands still."""
        slug = folder or str(self.work).replace("/", "-").replace(".", "-").replace("_", "-")
        path = self.config / "projects" / slug / f"{conversation}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line(text))
        then = time.time() - age_s
        os.utime(path, (then, then))
        return path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


def kind(root: int) -> str | None:
    stop = stop_of(root, now=datetime.now(UTC), tz=UTC)
    return stop.kind if stop else None


def test_the_register_leads_to_the_transcript(place: Place) -> None:
    """A pane's shell, the claude below it, its register, its conversation: the stop."""
    root = place.start()
    place.transcript(ONE, "You've hit your weekly limit · resets Nov 19, 3:17pm (UTC)")
    assert kind(root) is None
    place.register(root, ONE)
    stop = stop_of(root, now=datetime.now(UTC), tz=UTC)
    assert stop is not None
    assert (stop.kind, stop.resets_at) == (
        "weekly_limit",
        datetime(2026, 11, 19, 15, 17, tzinfo=UTC),
    )
    assert stop.is_self_resuming is None


def test_a_pane_may_be_the_agent_itself(place: Place) -> None:
    """Without a shell above it, too."""
    root = place.start(line='exec "$@"')
    place.register(root, ONE)
    place.transcript(ONE, "Prompt is too long")
    assert kind(root) == "context_limit"


def test_two_in_one_folder_are_told_apart(place: Place) -> None:
    """Each has its own conversation, whichever was written to last."""
    first, second, third = place.start(), place.start(), place.start()
    place.transcript(ONE, "Credit balance is too low")
    place.transcript(TWO, "Prompt is too long", age_s=500)
    place.register(first, ONE)
    place.register(second, TWO)
    assert (kind(first), kind(second), kind(third)) == ("billing", "context_limit", None)


def test_two_on_one_conversation_are_no_answer(place: Place) -> None:
    """Both write to it, and nobody can tell whose stop it was; when one has ended, it can."""
    first, second = place.start(), place.start()
    place.transcript(ONE, "Credit balance is too low")
    place.register(first, ONE)
    stale = place.register(second, ONE)
    assert (kind(first), kind(second)) == (None, None)
    place.end(second)
    assert stale.exists(), "one that was killed leaves its entry"
    assert kind(first) == "billing"


def test_an_entry_of_an_earlier_process_is_not_believed(place: Place) -> None:
    """Its pid was given away again: no answer, whatever the command line says."""
    root = place.start("--resume", ONE)
    place.transcript(ONE, "Credit balance is too low")
    place.register(root, ONE, procStart="12345")
    assert kind(root) is None
    place.register(root, ONE, pid=1)
    assert kind(root) is None
    place.register(root, ONE, procStart=None)
    assert kind(root) is None
    place.register(root, ONE)
    assert kind(root) == "billing"


def test_one_that_works_is_not_stopped(place: Place) -> None:
    """It says that it is busy before its transcript does."""
    root = place.start()
    place.transcript(ONE, "Credit balance is too low")
    place.register(root, ONE, status="busy")
    assert kind(root) is None
    place.register(root, ONE, status="waiting")
    assert kind(root) == "billing"


def test_a_stop_from_before_the_process_does_not_go_on_by_itself(place: Place) -> None:
    """Whoever resumed the conversation shows the words of the process before, and waits."""
    root = place.start()
    path = place.transcript(ONE, "You've hit your 5-hour limit · resets 4:57am (UTC)")
    note = {"type": "system", "subtype": "informational", "timestamp": "2026-11-16T04:00:00.1Z"}
    note["content"] = "Usage limit reached · continuing automatically at 4:57am"
    path.write_text(path.read_text() + json.dumps(note) + "\n")
    for started_at_s, expected in ((1794801596, True), (1794801700, False)):
        place.register(root, ONE, startedAt=started_at_s * 1000)
        stop = stop_of(root, now=datetime.now(UTC), tz=UTC)
        assert stop is not None
        assert stop.is_self_resuming is expected


@pytest.mark.parametrize("entry", ["", "[]", "{", '{"pid": null}', "x" * 100_000])
def test_a_broken_entry_is_no_answer(place: Place, entry: str) -> None:
    """It may be being written."""
    root = place.start("--resume", ONE)
    place.transcript(ONE, "Credit balance is too low")
    place.register(root, ONE).write_text(entry)
    assert kind(root) is None


def test_a_conversation_is_no_way_out_of_the_folder(place: Place) -> None:
    """What is no name of a conversation is not made part of a path."""
    root = place.start()
    outside = place.transcript("x", "Credit balance is too low").rename(place.home / "x.jsonl")
    place.register(root, "../../../x")
    assert outside.exists()
    assert kind(root) is None


def test_the_process_says_where_it_keeps_its_files(place: Place) -> None:
    """Its own `CLAUDE_CONFIG_DIR` counts, not ours."""
    elsewhere = place.home / "elsewhere"
    root = place.start(env={"CLAUDE_CONFIG_DIR": str(elsewhere)})
    place.register(root, ONE)
    place.transcript(ONE, "Credit balance is too low")
    assert kind(root) is None
    place.config = elsewhere
    place.register(root, ONE)
    place.transcript(ONE, "Prompt is too long")
    assert kind(root) == "context_limit"


@pytest.mark.parametrize("env", [{"CLAUDE_CONFIG_DIR": ".claude"}, {"HOME": ""}])
def test_a_place_that_depends_on_who_looks_is_none(
    place: Place, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative folder would be another one for us."""
    root = place.start(env=env)
    place.register(root, ONE)
    place.transcript(ONE, "Credit balance is too low")
    monkeypatch.chdir(place.home)
    assert kind(root) is None


def test_a_transcript_is_found_in_another_folder(place: Place) -> None:
    """Long names are cut, and folders change; but two of one name are one too many."""
    root = place.start()
    place.register(root, ONE)
    place.transcript(ONE, "Prompt is too long", "-cut-4f3a")
    assert kind(root) == "context_limit"
    place.transcript(ONE, "Credit balance is too low", "-other")
    assert kind(root) is None


@pytest.mark.parametrize("words", [["--resume", ONE], ["-r", ONE], [f"--session-id={ONE}"]])
def test_without_a_register_the_command_line_tells(place: Place, words: Sequence[str]) -> None:
    """It names the conversation, and nothing else in the folder was written to since."""
    root = place.start(*words)
    place.transcript(TWO, "Prompt is too long", age_s=3600)
    place.transcript(ONE, "Credit balance is too low")
    assert kind(root) == "billing"
    place.transcript(TWO, "Prompt is too long")
    assert kind(root) is None, "it may have gone to another conversation"


def test_without_a_register_an_old_transcript_is_no_answer(place: Place) -> None:
    """The process has not written to it, so it may be anybody's."""
    root = place.start("--resume", ONE)
    place.transcript(ONE, "Credit balance is too low", age_s=3600)
    assert kind(root) is None


@pytest.mark.parametrize("words", [["--resume", ONE, "--fork-session"], ["--resume", "x"], []])
def test_without_a_register_or_a_name_there_is_no_answer(
    place: Place, words: Sequence[str]
) -> None:
    """The only transcript of the folder may be another's: rather none than the wrong one."""
    root = place.start(*words)
    place.transcript("x" if "x" in words else ONE, "Credit balance is too low")
    assert kind(root) is None


def test_a_run_beside_it_is_not_mistaken_for_it(place: Place) -> None:
    """What runs `claude -p` in the same terminal (a hook, a script) is another conversation."""
    root = place.start(line='"$@" & "$@" -p beside; true')
    until(Path(f"{place.program}.beside.up").exists)
    first, second = processes.descendants(root)
    place.register(root, ONE, of=first)
    place.register(root, TWO, of=second)
    place.transcript(ONE, "Credit balance is too low")
    place.transcript(TWO, "Prompt is too long")
    assert kind(root) == "billing"


def test_one_that_nobody_can_talk_to_is_none(place: Place) -> None:
    """A run without a terminal, another program, a process that is gone."""
    root = place.start("-p")
    place.register(root, ONE)
    place.transcript(ONE, "Credit balance is too low")
    assert kind(root) is None
    place.end(root)
    assert kind(root) is None
    assert kind(os.getpid()) is None


def test_files_and_processes_of_another_user_are_left_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not ours to read, even where we could."""
    root = place.start()
    place.register(root, ONE)
    path = place.transcript(ONE, "Credit balance is too low")
    assert (kind(root), len(tail_of(path))) == ("billing", 1)
    own = os.geteuid()
    users = iter([54321])
    monkeypatch.setattr(os, "geteuid", lambda: next(users, own))
    assert kind(root) is None, "the process is looked at first"
    assert kind(root) == "billing"
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert tail_of(path) == []


def test_what_is_no_readable_file_is_no_answer(place: Place) -> None:
    """A folder, a pipe that nobody writes to, nothing at all: no error, and no waiting."""
    root = place.start()
    place.register(root, ONE)
    path = place.transcript(ONE, "Credit balance is too low")
    path.unlink()
    assert kind(root) is None
    path.mkdir()
    assert (kind(root), tail_of(path)) == (None, [])
    path.rmdir()
    os.mkfifo(path)
    assert (kind(root), tail_of(path)) == (None, [])
    path.unlink()
    path.symlink_to("/dev/zero")
    assert (kind(root), tail_of(path)) == (None, [])
    assert tail_of(Path("no\0path")) == []


def test_of_a_long_transcript_the_end_is_read(place: Place) -> None:
    """The last 256 KB, without the line that begins before them."""
    root = place.start()
    place.register(root, ONE)
    path = place.transcript(ONE, "")
    filler = json.dumps({"type": "user", "message": {"content": "x" * 1000}}) + "\n"
    path.write_text(filler * 3000 + line("Credit balance is too low"))
    lines = tail_of(path)
    assert 200 * 1024 < sum(map(len, lines)) <= claude_files.TAIL_BYTES_MAX
    assert all(told.startswith(b"{") for told in lines)
    assert kind(root) == "billing"
    path.write_text(line("Credit balance is too low") + filler[:-1])
    assert kind(root) is None
    path.write_text(line("Credit balance is too low") + "x" * claude_files.TAIL_BYTES_MAX)
    assert kind(root) is None, "all that was read is the end of one line"


def test_a_crowded_register_is_no_answer(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all entries can be looked at, nobody knows that there is no second process."""
    root = place.start()
    place.transcript(ONE, "Credit balance is too low")
    place.register(root, ONE)
    monkeypatch.setattr(claude_files, "ENTRIES_MAX", 3)
    folder = place.config / "sessions"
    for number in range(2):
        (folder / f"{number}.json").write_text("{}")
    assert kind(root) == "billing"
    (folder / "9.json").write_text("{}")
    assert kind(root) is None
