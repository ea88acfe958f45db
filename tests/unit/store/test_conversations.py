"""One process on one conversation, whoever dies and whoever comes at the same time."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from segue.drivers import processes
from segue.drivers.runs import is_under_way
from segue.errors import UserError
from segue.store.conversations import BEGINS_S, ConversationHolder, Conversations, folder

OURS = ConversationHolder("run-1", "/a/run-1.claim", "/a/PLAN.md", "T-1")
THEIRS = ConversationHolder("run-2", "/b/run-2.claim", "/b/NIGHT.md", "T-9")


def always(claim: Path) -> bool:
    return True


def never(claim: Path) -> bool:
    return False


def held(path: Path, is_live: Callable[[Path], bool] = always) -> Conversations:
    return Conversations(path / "held", is_live)


def test_one_run_has_it_and_the_next_is_told_who(tmp_path: Path) -> None:
    """Whoever comes second gets the first one's plan and task, and nothing changes."""
    conversations = held(tmp_path)
    assert conversations.take("claude", "talk", OURS) is None
    assert conversations.take("claude", "talk", THEIRS) == OURS
    assert conversations.take("claude", "talk", THEIRS) == OURS


def test_the_same_run_may_take_it_again(tmp_path: Path) -> None:
    """A program repeats the name of its conversation; an adopted run does, too."""
    conversations = held(tmp_path)
    assert conversations.take("claude", "talk", OURS) is None
    assert conversations.take("claude", "talk", OURS) is None


def test_a_holder_that_is_dead_holds_nothing(tmp_path: Path) -> None:
    """Its file stays behind; its claim is asked, by its own path, and only about it."""
    asked: list[Path] = []

    def is_live(claim: Path) -> bool:
        asked.append(claim)
        return False

    conversations = held(tmp_path, is_live)
    assert conversations.take("claude", "talk", OURS) is None
    assert asked == []
    assert conversations.take("claude", "talk", THEIRS) is None
    assert asked == [Path(OURS.claim)]
    assert held(tmp_path).take("claude", "talk", OURS) == THEIRS


def test_conversations_are_told_apart_by_program_and_id(tmp_path: Path) -> None:
    """Two programs can use the same name; two ids are two, however they are written."""
    conversations = held(tmp_path)
    assert conversations.take("claude", "talk", OURS) is None
    for kind, id in (("codex", "talk"), ("claude", "Talk"), ("claude", "talk "), ("claude", "")):
        assert conversations.take(kind, id, THEIRS) is None, (kind, id)


@pytest.mark.parametrize(
    "id", ["../../x", "/etc/passwd", "a\0b", "x" * 10_000, "대화 🚀", ".", "\n"]
)
def test_whatever_a_program_calls_its_conversation_is_no_path(tmp_path: Path, id: str) -> None:
    """Nothing is written outside the folder, and nothing falls."""
    conversations = held(tmp_path)
    assert conversations.take("claude", id, OURS) is None
    assert conversations.take("claude", id, THEIRS) == OURS
    assert [path.name for path in tmp_path.iterdir()] == ["held"]
    assert all(path.is_file() for path in (tmp_path / "held").iterdir())


def test_it_is_let_go_by_its_holder_only(tmp_path: Path) -> None:
    """A run that never had it cannot release it for another; releasing twice is nothing."""
    conversations = held(tmp_path)
    conversations.take("claude", "talk", OURS)
    conversations.release("claude", "talk", THEIRS.run)
    assert conversations.take("claude", "talk", THEIRS) == OURS
    for _twice in range(2):
        conversations.release("claude", "talk", OURS.run)
    assert conversations.take("claude", "talk", THEIRS) is None


def test_a_late_release_of_one_that_lost_it_does_not_let_it_go(tmp_path: Path) -> None:
    """It was taken for dead and comes back to say goodbye: the new holder keeps it."""
    held(tmp_path).take("claude", "talk", OURS)
    held(tmp_path, never).take("claude", "talk", THEIRS)
    held(tmp_path).release("claude", "talk", OURS.run)
    assert held(tmp_path).take("claude", "talk", OURS) == THEIRS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"run-1"',
        b"\xff\xfe",
        json.dumps({"run": "run-1"}).encode(),
        json.dumps({"run": 1, "claim": "c", "plan": "p", "task": "t"}).encode(),
        b"[" * 10_000,
    ],
    ids=lambda content: repr(content[:20]),
)
def test_a_file_that_says_nothing_holds_nothing(tmp_path: Path, content: bytes) -> None:
    """A spoilt file is no reason to wait for ever; it is replaced whole."""
    conversations = held(tmp_path)
    conversations.take("claude", "talk", OURS)
    (path,) = (tmp_path / "held").glob("claude-*")
    path.write_bytes(content)
    conversations.release("claude", "talk", OURS.run)
    assert conversations.take("claude", "talk", THEIRS) is None
    assert conversations.take("claude", "talk", OURS) == THEIRS


def test_what_it_knows_of_a_run_survives_any_name(tmp_path: Path) -> None:
    """Paths need not be UTF-8, nor short."""
    odd = ConversationHolder(
        "r", "/a/\udcff.claim", "/" + "long/" * 700 + "\udcffPLAN.md", "작업-1"
    )
    conversations = held(tmp_path)
    conversations.take("claude", "talk", odd)
    assert conversations.take("claude", "talk", THEIRS) == odd


def test_the_folder_is_the_users_own(tmp_path: Path) -> None:
    """Nobody else can read whose conversations there are, or hold them."""
    held(tmp_path).take("claude", "talk", OURS)
    assert stat.S_IMODE((tmp_path / "held").stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "held").write_text("in the way")
    with pytest.raises(UserError):
        held(tmp_path).take("claude", "talk", OURS)


def test_one_that_is_about_to_start_has_it_already(tmp_path: Path) -> None:
    """It is taken before the process starts: in between nobody else may have it either."""
    conversations = Conversations(tmp_path / "held", is_under_way)
    ours = replace(OURS, claim=str(tmp_path / "run-1.claim"))
    assert conversations.take("claude", "talk", ours) is None
    assert conversations.take("claude", "talk", THEIRS) == ours
    (path,) = (tmp_path / "held").glob("claude-*")
    long_ago = time.time() - 2 * BEGINS_S
    os.utime(path, (long_ago, long_ago))
    assert conversations.take("claude", "talk", THEIRS) is None, "it never started"


def test_a_clock_that_was_set_back_holds_nothing_for_ever(tmp_path: Path) -> None:
    """A holder that never started and whose file is of a later time has it no more."""
    conversations = Conversations(tmp_path / "held", is_under_way)
    conversations.take("claude", "talk", replace(OURS, claim=str(tmp_path / "run-1.claim")))
    (path,) = (tmp_path / "held").glob("claude-*")
    tomorrow = time.time() + 86_400
    os.utime(path, (tomorrow, tomorrow))
    assert conversations.take("claude", "talk", THEIRS) is None


def test_it_is_held_by_a_claim_of_a_living_process(tmp_path: Path) -> None:
    """As the keepers write it; one of a process that is gone, or of another boot, holds nothing."""
    conversations = Conversations(tmp_path / "held", is_under_way)
    claim = tmp_path / "run-1.claim"
    ours = replace(OURS, claim=str(claim))
    facts: dict[str, Any] = {
        "pid": os.getpid(),
        "started": processes.start_time(os.getpid()),
        "boot": processes.boot_id(),
    }
    claim.write_text(json.dumps(facts))
    assert conversations.take("claude", "talk", ours) is None
    assert conversations.take("claude", "talk", THEIRS) == ours
    claim.write_text(json.dumps({**facts, "ended_at": 1.0}))
    assert conversations.take("claude", "talk", THEIRS) == ours, "its keeper still ends the tree"
    for change in ({"started": 1}, {"boot": "another"}, {"pid": 0}):
        claim.write_text(json.dumps({**facts, **change}))
        assert conversations.take("claude", "talk", THEIRS) is None, change
        conversations.release("claude", "talk", THEIRS.run)
        conversations.take("claude", "talk", ours)


# --- at the same time -------------------------------------------------------------------------

RACERS, ROUNDS = 4, 25

RACER = """
import sys
import time
from pathlib import Path
from segue.store.conversations import ConversationHolder, Conversations

conversations = Conversations(Path(sys.argv[1]), lambda claim: True)
ours = ConversationHolder(sys.argv[2], "/claim", "/plan", "T-1")
print("ready", flush=True)
for line in sys.stdin:
    holder = conversations.take("claude", line.strip(), ours)
    print(holder.run if holder else "mine", flush=True)
"""


def racer(folder: Path, name: str) -> subprocess.Popen[str]:
    """A process that tries for each conversation that it is told of."""
    return subprocess.Popen(
        [sys.executable, "-c", RACER, str(folder), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


def test_of_many_that_come_at_once_one_gets_it(tmp_path: Path) -> None:
    """In every round exactly one process has it, and all others are told that one."""
    names = [f"run-{number}" for number in range(RACERS)]
    with ExitStack() as stack:
        racers = [stack.enter_context(racer(tmp_path / "held", name)) for name in names]
        for process in racers:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for turn in range(ROUNDS):
            for process in racers:
                assert process.stdin is not None
                process.stdin.write(f"talk-{turn}\n")
            told = [
                (process.stdout.readline() if process.stdout else "").strip() for process in racers
            ]
            winner = names[told.index("mine")]
            assert sorted(told) == sorted(["mine", *[winner] * (RACERS - 1)])


# --- where ------------------------------------------------------------------------------------


def test_where_a_users_conversations_are_held(tmp_path: Path) -> None:
    """The user's state folder, for all projects; the project's own memory without a home."""
    otherwise = tmp_path / "memory"
    home = {"HOME": str(tmp_path)}
    assert folder({**home, "XDG_STATE_HOME": "/s"}, otherwise) == Path("/s/segue/conversations")
    assert folder(home, otherwise) == tmp_path / ".local" / "state" / "segue" / "conversations"
    assert folder({**home, "XDG_STATE_HOME": ""}, otherwise) == folder(home, otherwise)
    assert folder({}, otherwise) == otherwise
    assert folder({"HOME": "/no/such/home"}, otherwise) == otherwise
