"""Answers that are left for whoever runs the plan: whole, once, in order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from segue.errors import UserError
from segue.store import mailbox
from segue.store.mailbox import Letter, done, post, take

AT = datetime(2026, 11, 16, 1, 2, 3, 456789, tzinfo=UTC)
POST = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from segue.errors import UserError
from segue.store.mailbox import post
print("ready", flush=True)
sys.stdin.readline()
try:
    post(Path(sys.argv[1]), "g1", sys.argv[2], "test", datetime.now(UTC))
except UserError as error:
    print(error.problem.code)
else:
    print("posted")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mailbox"


def code_of(folder: Path, gate: str, answer: str) -> str:
    """Why a letter was refused."""
    with pytest.raises(UserError) as caught:
        post(folder, gate, answer, "me", AT)
    return caught.value.problem.code


def test_a_letter_is_taken_as_it_was_posted(folder: Path) -> None:
    """Gate, answer, who and when come through; it stays until it is done with."""
    posted = post(folder, "25b2826c17b7", "두 줄\n\x00'\"", "mcp", AT)
    assert take(folder) == take(folder) == [posted]
    assert posted == Letter(
        folder / "25b2826c17b7.json", "25b2826c17b7", "두 줄\n\x00'\"", "mcp", AT
    )
    done(posted)
    done(posted)
    assert take(folder) == []


def test_letters_come_in_their_order(folder: Path) -> None:
    """The oldest first, whatever the names."""
    for gate, minutes in (("b", 3), ("c", 1), ("a", 2)):
        post(folder, gate, gate, "me", AT + timedelta(minutes=minutes))
    assert [letter.gate for letter in take(folder)] == ["c", "a", "b"]


def test_the_first_answer_stands(folder: Path) -> None:
    """A second one is told that there is one already, and changes nothing."""
    first = post(folder, "g1", "yes", "me", AT)
    assert code_of(folder, "g1", "no") == "already_answered"
    assert take(folder) == [first]
    assert list(folder.iterdir()) == [first.path]


def test_one_of_many_wins(folder: Path) -> None:
    """Of processes that answer at the same moment, exactly one is told that it has."""
    many = [
        subprocess.Popen(
            [sys.executable, "-c", POST, str(folder), f"answer {n}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(4)
    ]
    for one in many:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(len(many)) as pool:
        told = [out.strip() for out, _err in pool.map(lambda one: one.communicate("go\n"), many)]
    assert sorted(told) == ["already_answered"] * 3 + ["posted"]
    [letter] = take(folder)
    assert letter.answer == f"answer {told.index('posted')}"


def test_nobody_else_reads_answers(folder: Path) -> None:
    """An answer may be a secret: folder and letter are the owner's alone."""
    letter = post(folder, "g1", "secret", "me", AT)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert letter.path.stat().st_mode & 0o777 == 0o600


def test_a_letter_is_on_the_disk_before_it_has_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text, then name, then folder: a power failure leaves a whole letter or none."""
    seen: list[str] = []
    sync, link = os.fsync, os.link

    def fsync(fd: int) -> None:
        seen.append(f"sync {Path(f'/proc/self/fd/{fd}').readlink().name[:3]}")
        sync(fd)

    def linked(*names: Path) -> None:
        seen.append("link")
        link(*names)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", linked)
    post(folder, "g1", "yes", "me", AT)
    assert seen == ["sync .g1", "link", "sync mai"]


@pytest.mark.parametrize("gate", ["", "../x", "a/b", ".hidden", "a b", "x" * 65, "a\n", "가"])
def test_a_gate_is_no_path(folder: Path, gate: str) -> None:
    """An id that could lead out of the folder is refused, and nothing is made."""
    assert code_of(folder, gate, "yes") == "bad_gate"
    assert not folder.exists()


def test_an_answer_is_bounded(folder: Path) -> None:
    """The longest answer comes through, in its widest form; a longer one is refused."""
    longest = "\x00" * mailbox.ANSWER_BYTES_MAX
    post(folder, "g1", longest, "me", AT)
    assert [letter.answer for letter in take(folder)] == [longest]
    assert code_of(folder, "g2", longest + "x") == "answer_too_long"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Where nothing can be left, the words say so."""
    (tmp_path / "mailbox").write_text("a file")
    assert code_of(tmp_path / "mailbox", "g1", "yes") == "read_only"
    assert code_of(tmp_path / "nowhere" / "mailbox", "g1", "yes") == "read_only"


def test_no_folder_is_no_letters(folder: Path) -> None:
    """A project that nobody has answered in has no mailbox."""
    assert take(folder) == []


GOOD = {"gate": "g1", "answer": "yes", "by": "me", "at": "2026-11-16T01:00:00Z"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "[" * 50_000,
        json.dumps({**GOOD, "gate": "other"}),
        json.dumps({**GOOD, "answer": 7}),
        json.dumps({**GOOD, "at": "soon"}),
        json.dumps({**GOOD, "at": "2026-11-16T01:00:00"}),
        json.dumps({**GOOD, "answer": "x" * mailbox.LETTER_BYTES_MAX}),
    ],
)
def test_what_is_no_letter_gives_its_place_up(folder: Path, text: str) -> None:
    """A file that cannot be read as a letter is put aside; the gate can be answered."""
    folder.mkdir()
    (folder / "g1.json").write_text(text)
    assert take(folder) == []
    post(folder, "g1", "yes", "me", AT)
    assert [letter.answer for letter in take(folder)] == ["yes"]


def test_what_is_no_file_is_not_waited_for(folder: Path, tmp_path: Path) -> None:
    """A pipe, a folder, a link out of the folder: put aside, neither opened nor followed."""
    folder.mkdir()
    (tmp_path / "outside.json").write_text(json.dumps({**GOOD, "gate": "link"}))
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "notes.txt").write_text("not ours")
    assert take(folder) == []
    assert list(folder.glob("[!.]*.json")) == []
    assert (folder / "notes.txt").exists()


def test_a_letter_being_written_is_not_seen(folder: Path) -> None:
    """What a writer that was killed left half-way is never taken for an answer."""
    folder.mkdir()
    (folder / ".g1.abcdef.json").write_text(json.dumps(GOOD))
    assert take(folder) == []
    assert (folder / ".g1.abcdef.json").exists()


def test_half_a_character_does_not_come_through(folder: Path) -> None:
    """JSON can carry half of a surrogate pair, which no table takes."""
    post(folder, "g1", "a\ud800b", "me", AT)
    assert [letter.answer for letter in take(folder)] == ["a?b"]
