"""Files that are replaced whole, and files that a person edits at the same time."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.store import files


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def save(path: Path, data: bytes) -> None:
    """As editors save: a new file under the old name."""
    other = path.with_name("editor-swap")
    other.write_bytes(data)
    other.replace(path)


def test_replace_puts_the_whole_content_and_nothing_else(tmp_path: Path) -> None:
    """After a replacement there is one file, with the new bytes and the mode asked for."""
    path = tmp_path / "state.json"
    files.replace(path, b"one")
    files.replace(path, b"two", mode=0o600)
    assert (path.read_bytes(), mode(path), names(tmp_path)) == (b"two", 0o600, ["state.json"])


def test_a_replacement_that_fails_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk refuses, the old bytes stand and no temporary file is left."""
    path = tmp_path / "state.json"
    path.write_bytes(b"old")

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        files.replace(path, b"new")
    with pytest.raises(OSError, match="no space"):
        files.exchange_if(path, b"new", b"old")
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["state.json"])


def test_the_data_is_synchronised_before_the_name_and_the_folder_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fsync of the file, rename, fsync of the folder: in this order."""
    path = tmp_path / "state.json"
    path.write_bytes(b"old")
    seen: list[tuple[str, bytes]] = []
    real = os.fsync

    def spy(fd: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        seen.append(("folder" if is_folder else "file", path.read_bytes()))
        real(fd)

    monkeypatch.setattr(os, "fsync", spy)
    files.replace(path, b"new")
    files.exchange_if(path, b"newer", b"new")
    assert seen == [("file", b"old"), ("folder", b"new"), ("file", b"new"), ("folder", b"newer")]


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o664, 0o755])
def test_an_exchange_keeps_the_mode(tmp_path: Path, bits: int) -> None:
    """The file's permissions are what they were, and no temporary file is left."""
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"old")
    path.chmod(bits)
    assert files.exchange_if(path, b"new", b"old") is None
    assert (path.read_bytes(), mode(path), names(tmp_path)) == (b"new", bits, ["PLAN.md"])


def test_an_exchange_keeps_the_owner(tmp_path: Path) -> None:
    """A file of somebody else stays theirs."""
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"old")
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 12345, 12346)
    assert files.exchange_if(path, b"new", b"old") is None
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


def test_an_exchange_with_another_content_than_expected_does_nothing(tmp_path: Path) -> None:
    """What somebody wrote before our look is returned, and stands."""
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"theirs")
    assert files.exchange_if(path, b"ours", b"expected") == b"theirs"
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", ["PLAN.md"])


def slip_in(monkeypatch: pytest.MonkeyPatch, *writes: Callable[[], object]) -> None:
    """Each write happens right before one of the steps that swap the names."""
    real = files._exchange
    waiting = list(writes)

    def exchange(one: Path, other: Path) -> bool:
        if waiting:
            waiting.pop(0)()
        return real(one, other)

    monkeypatch.setattr(files, "_exchange", exchange)


@pytest.mark.parametrize("how", ["rename", "in place"])
def test_an_edit_between_the_look_and_the_step_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A person's write in the last moment is returned, and is what the file holds."""
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"old")
    write = {
        "rename": lambda: save(path, b"theirs"),
        "in place": lambda: path.write_bytes(b"theirs"),
    }[how]
    slip_in(monkeypatch, write)
    assert files.exchange_if(path, b"ours", b"old") == b"theirs"
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", ["PLAN.md"])


def test_with_a_spare_no_file_is_made_or_deleted(tmp_path: Path) -> None:
    """The file that was replaced carries the next text; nothing appears beside the plan."""
    folder, memory = tmp_path / "plan", tmp_path / "memory"
    folder.mkdir()
    memory.mkdir()
    path, spare = folder / "PLAN.md", memory / "spare"
    path.write_bytes(b"one")
    path.chmod(0o640)
    first = path.stat().st_ino
    assert files.exchange_if(path, b"two, longer", b"one", spare=spare) is None
    assert spare.stat().st_ino == first
    assert files.exchange_if(path, b"3", b"two, longer", spare=spare) is None
    assert (path.read_bytes(), path.stat().st_ino) == (b"3", first)
    assert path.stat().st_mode & 0o777 == 0o640
    assert files.exchange_if(path, b"ours", b"another", spare=spare) == b"3"
    assert (path.read_bytes(), names(folder)) == (b"3", ["PLAN.md"])


def test_a_spare_with_another_name_is_left_alone(tmp_path: Path) -> None:
    """A hard link that a person made to the plan keeps the text it had."""
    path, spare, kept = tmp_path / "PLAN.md", tmp_path / "spare", tmp_path / "kept"
    path.write_bytes(b"one")
    os.link(path, kept)
    assert files.exchange_if(path, b"two", b"one", spare=spare) is None
    assert files.exchange_if(path, b"three", b"two", spare=spare) is None
    assert (path.read_bytes(), kept.read_bytes()) == (b"three", b"one")


def test_a_second_edit_while_the_first_is_put_back_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two saves in a row: the later one is neither lost nor undone by the earlier one."""
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"old")
    slip_in(monkeypatch, lambda: save(path, b"first"), lambda: save(path, b"second"))
    assert files.exchange_if(path, b"ours", b"old") is not None
    assert (path.read_bytes(), names(tmp_path)) == (b"second", ["PLAN.md"])


def test_edits_of_a_busy_person_are_never_lost(tmp_path: Path) -> None:
    """While a thread saves again and again, our writes never bring an older text back and
    the last save is there at the end, under our mark."""
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"0|")
    saves = 400
    done = threading.Event()

    def person() -> None:
        for n in range(1, saves + 1):
            save(path, b"%d|" % n)
        done.set()

    thread = threading.Thread(target=person)
    thread.start()
    seen = [0]

    def mark() -> bool:
        found = path.read_bytes()
        text = found.partition(b"|")[0]
        seen.append(int(text))
        return files.exchange_if(path, text + b"|marked", found) is None

    while not done.is_set():
        mark()
    thread.join()
    assert mark()
    assert seen == sorted(seen), "an older text came back"
    assert path.read_bytes() == b"%d|marked" % saves
    assert names(tmp_path) == ["PLAN.md"]


def test_where_names_cannot_be_swapped_the_file_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without the swap gets a plain replacement, still compared first."""
    monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"old")
    assert files.exchange_if(path, b"new", b"other") == b"old"
    assert files.exchange_if(path, b"new", b"old") is None
    assert (path.read_bytes(), names(tmp_path)) == (b"new", ["PLAN.md"])


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """Temporary files of this very file go; the file, others' files and look-alikes stay."""
    path = tmp_path / "PL[A]N.md"
    kept = ["PL[A]N.md", "PL[A]N.md.segue-1", ".PLAN.md.segue-2", ".other.md.segue-3"]
    for name in [*kept, ".PL[A]N.md.segue-77"]:
        (tmp_path / name).touch()
    files.remove_leftovers(path)
    assert names(tmp_path) == sorted(kept)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.EDQUOT, "disk_full"),
        (errno.EROFS, "read_only"),
        (errno.EACCES, "read_only"),
    ],
)
def test_what_the_file_system_says_is_said_in_words(number: int, code: str) -> None:
    """A full disk and a read-only one are told apart, with the file and a cure."""
    problem = files.in_words(OSError(number, os.strerror(number)), Path("x/PLAN.md")).problem
    assert (problem.code, problem.file) == (code, "x/PLAN.md")
    assert os.strerror(number) in problem.message
    assert problem.hint


def test_without_the_folder_of_the_spare_the_text_is_written_all_the_same(tmp_path: Path) -> None:
    """Somebody removed it: that says nothing about the file itself."""
    path = tmp_path / "PLAN.md"
    path.write_bytes(b"one")
    spare = tmp_path / "gone" / "spare"
    assert files.exchange_if(path, b"two", b"one", spare=spare) is None
    assert (path.read_bytes(), names(tmp_path)) == (b"two", ["PLAN.md"])
