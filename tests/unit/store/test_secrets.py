"""Secrets at rest: which key, who may read it, and what is said when it is not the one."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from segue.errors import UserError
from segue.store import files, secrets
from segue.store.secrets import KEY_FILE, Secrets

TEXT = "sk-live-한글-\ud800-0123456789"


def refusal(secrets_: Secrets, sealed: bytes) -> str:
    with pytest.raises(UserError) as told:
        secrets_.open(sealed)
    assert told.value.problem.hint
    return told.value.problem.code


@pytest.mark.parametrize("environ", [{}, {"SEGUE_KEY": ""}, {"SEGUE_KEY": "x"}])
def test_what_is_sealed_can_be_opened_after_a_restart(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """By the same key in another process; the value is not in what is kept."""
    sealed = Secrets(tmp_path, environ).seal(TEXT)
    assert Secrets(tmp_path, dict(environ)).open(sealed) == TEXT
    assert b"sk-live" not in sealed
    assert Secrets(tmp_path, environ).seal(TEXT) != sealed


def test_the_key_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Mode 600 whatever the umask; nothing else is left beside it; it is made once."""
    before = os.umask(0)
    try:
        Secrets(tmp_path / "data", {}).seal("one")
    finally:
        os.umask(before)
    (key,) = (tmp_path / "data").iterdir()
    assert (key.name, stat.S_IMODE(key.stat().st_mode)) == (KEY_FILE, 0o600)
    content = key.read_bytes()
    Secrets(tmp_path / "data", {}).seal("two")
    assert key.read_bytes() == content


def test_with_a_key_in_the_environment_there_is_no_file(tmp_path: Path) -> None:
    """`SEGUE_KEY` wins, and nothing is written."""
    Secrets(tmp_path, {"SEGUE_KEY": "a text"}).seal("one")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o644, 0o620])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, bits: int) -> None:
    """Neither sealing nor opening uses it; the cure is named."""
    kept = Secrets(tmp_path, {})
    sealed = kept.seal("one")
    kept.key_file.chmod(bits)
    assert refusal(kept, sealed) == "key_exposed"
    with pytest.raises(UserError, match="other users can read"):
        kept.seal("two")
    kept.key_file.chmod(0o600)
    assert kept.open(sealed) == "one"


def test_a_key_that_is_a_link_a_folder_or_a_fifo_is_refused(tmp_path: Path) -> None:
    """The key is a plain file; nothing is followed, and nothing waits for a writer."""
    kept = Secrets(tmp_path, {})
    sealed = kept.seal("one")
    moved = kept.key_file.rename(tmp_path / "moved")
    kept.key_file.symlink_to(moved)
    assert refusal(kept, sealed) == "key_unreadable"
    kept.key_file.unlink()
    kept.key_file.mkdir()
    assert refusal(kept, sealed) == "key_unreadable"
    kept.key_file.rmdir()
    os.mkfifo(kept.key_file, 0o600)
    assert refusal(kept, sealed) == "key_unreadable"


def test_a_wrong_key_is_told(tmp_path: Path) -> None:
    """Another text, another file: said, not raised as an error of a library."""
    by_text = Secrets(tmp_path, {"SEGUE_KEY": "right"}).seal("one")
    by_file = Secrets(tmp_path, {}).seal("one")
    assert refusal(Secrets(tmp_path, {"SEGUE_KEY": "wrong"}), by_text) == "wrong_key"
    other = Secrets(tmp_path / "other", {})
    other.seal("two")
    assert refusal(other, by_file) == "wrong_key"


def test_a_missing_key_is_told_and_none_is_made(tmp_path: Path) -> None:
    """What was sealed by the file needs the file; by the variable, the variable."""
    by_text = Secrets(tmp_path, {"SEGUE_KEY": "right"}).seal("one")
    assert refusal(Secrets(tmp_path, {}), by_text) == "key_missing"
    kept = Secrets(tmp_path, {})
    sealed = kept.seal("one")
    kept.key_file.unlink()
    assert refusal(kept, sealed) == "key_missing"
    assert list(tmp_path.iterdir()) == []


def test_what_the_file_sealed_opens_beside_the_variable(tmp_path: Path) -> None:
    """Who sets `SEGUE_KEY` later loses nothing."""
    sealed = Secrets(tmp_path, {}).seal("one")
    assert Secrets(tmp_path, {"SEGUE_KEY": "new"}).open(sealed) == "one"


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 44, b"A" * 100])
def test_a_broken_key_is_told(tmp_path: Path, content: bytes) -> None:
    """It is not replaced: what was sealed by it may still be opened when it comes back."""
    kept = Secrets(tmp_path, {})
    sealed = kept.seal("one")
    kept.key_file.write_bytes(content)
    assert refusal(kept, sealed) == "key_broken"
    with pytest.raises(UserError, match="not a key"):
        kept.seal("two")
    assert kept.key_file.read_bytes() == content


@pytest.mark.parametrize("environ", [{}, {"SEGUE_KEY": "x"}])
def test_a_broken_value_is_told(tmp_path: Path, environ: dict[str, str]) -> None:
    """Cut, changed, or no sealed value at all."""
    kept = Secrets(tmp_path, environ)
    sealed = kept.seal("one")
    for broken in (sealed[:-5], sealed[:30], sealed[:-6] + b"AAAAAA", sealed[:3]):
        assert refusal(kept, broken) == "wrong_key"
    for no_value in (b"", b"f", b"one", b"\xff\x00", b"f2." + sealed[3:]):
        assert refusal(kept, no_value) == "value_broken"


def test_two_processes_that_make_the_key_at_once_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is second uses the first one's key: both can open what either sealed."""
    first, second = Secrets(tmp_path, {}), Secrets(tmp_path, {})
    make = secrets._make_key
    sealed = []

    def late(path: Path) -> None:
        monkeypatch.setattr(secrets, "_make_key", make)
        sealed.append(first.seal("one"))  # between the look for a key and its making
        make(path)

    monkeypatch.setattr(secrets, "_make_key", late)
    sealed.append(second.seal("two"))
    assert [second.open(value) for value in sealed] == ["one", "two"]
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key, no half of one, and words."""

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError) as told:
        Secrets(tmp_path, {}).seal("one")
    assert told.value.problem.code == "disk_full"
    assert list(tmp_path.iterdir()) == []
    assert files.in_words(OSError(13, "no"), tmp_path).problem.code == "read_only"


def test_without_the_library_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealing and opening both say so."""
    kept = Secrets(tmp_path, {})
    sealed = kept.seal("one")
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert refusal(kept, sealed) == "library_missing"
    with pytest.raises(UserError, match="library"):
        kept.seal("two")


def test_the_library_is_not_imported_before_it_is_needed() -> None:
    """Commands that have nothing to do with secrets start without it."""
    code = "import sys, segue.store.secrets; sys.exit('cryptography' in sys.modules)"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0
