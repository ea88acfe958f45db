"""A state that is damaged: a backup is offered, nothing is overwritten, no text is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.book import Book, check_shape
from kit.box import Box
from kit.terminal import Terminal

HOPELESS = "복구 불가능. /write-all로 새 세션을 시작하세요."


@pytest.fixture
def book(box: Box) -> Book:
    """A book of five chapters, three of them completed."""
    made = Book(box)
    made.toml(5)
    made.begun(3, 5)
    return made


def corrupt(book: Book) -> list[Path]:
    return sorted(book.root.rglob("ralph-state.corrupt-*.json"))


def broken(state: dict[str, Any], how: str) -> bytes:
    raw = json.dumps(state, ensure_ascii=False).encode()
    wrong: dict[str, dict[str, Any]] = {
        "number": {"completed_chapters": "three"},
        "mixed": {"completed_chapters": [1, "two", None]},
        "scores": {"quality_scores": [90, 80]},
        "breaker": {"circuit_breaker": "on"},
        "total": {"total_chapters": "five"},
        "flag": {"ralph_active": "yes"},
    }
    made = {
        "empty": b"", "truncated": raw[: len(raw) // 2], "zeroes": b"\0" * 512, "list": b"[1, 2]",
        "null": b"null", "not utf-8": raw.replace(b"long-night", b"\xff\xfe"),
        "conflict": b"<<<<<<< HEAD\n" + raw + b"\n=======\n" + raw + b"\n>>>>>>> theirs\n",
        "deep": b"[" * 100_000,
    }  # fmt: skip
    return made.get(how) or (
        b"" if how == "empty" else json.dumps({**state, **wrong[how]}).encode()
    )


HOWS = ["empty", "truncated", "zeroes", "list", "null", "not utf-8", "conflict", "deep", "number",
        "mixed", "scores", "breaker", "total", "flag"]  # fmt: skip


@pytest.mark.parametrize("how", HOWS)
def test_damage_without_a_backup(book: Book, how: str) -> None:
    """Said in the words of the original, exit 3, the damaged file and the chapters are kept."""
    raw = broken(book.state, how)
    book.put(raw)
    done = book.korean()
    assert done.code == 3, done.said
    assert HOPELESS in done.said
    assert book.state_path.read_bytes() == raw or corrupt(book)[0].read_bytes() == raw
    assert book.written == []
    assert "Old text of 3." in book.chapter(3).read_text()


@pytest.mark.parametrize("how", ["empty", "truncated", "number", "breaker"])
def test_continue_takes_the_newest_valid_backup(book: Book, how: str) -> None:
    """Said so; the damaged file is kept; the book goes on from there."""
    good = book.state
    older = {**good, "completed_chapters": [1], "current_chapter": 2}
    book.put_backup(older, "20261115T200000Z")
    name = book.put_backup(good, "20261115T210000Z").name
    book.put_backup(b'{"ralph_active": tr', "20261115T220000Z")
    raw = broken(good, how)
    book.put(raw)
    done = book.segue("resume", "--continue", "--lang", "en")
    assert done.code == 0, done.said
    assert "backup" in done.said
    assert "20261115T210000Z" in done.said or name in done.said
    assert book.written == [4, 5]
    assert [path.read_bytes() for path in corrupt(book)] == [raw]
    check_shape(book.state)
    assert book.state["completed_chapters"] == [1, 2, 3, 4, 5]


def test_damage_with_a_backup_and_nothing_chosen(book: Book) -> None:
    """The backup is offered, exit 3; nothing is restored behind anybody's back."""
    book.put_backup(book.state, "20261115T210000Z")
    book.put(b"{")
    done = book.segue("resume", "--lang", "en")
    assert done.code == 3, done.said
    assert "backup" in done.said
    assert book.written == []
    assert len(book.backups()) == 1


def test_damage_at_a_terminal_offers_the_backup(book: Book) -> None:
    """Asked; yes takes the backup, and the book goes on."""
    book.put_backup(book.state, "20261115T210000Z")
    book.put(b"{")
    terminal = Terminal(book.box, "--lang", "en", "resume")
    terminal.expect("Use the backup")
    terminal.type("y\r")
    assert terminal.end().code == 0
    assert [path.read_bytes() for path in corrupt(book)] == [b"{"]
    assert book.written == [4, 5]


def test_what_the_sentence_speaks_of_can_be_typed(book: Book) -> None:
    """Beside the words of the original stands the command that begins anew, and it does."""
    book.put(b"{")
    done = book.korean()
    assert HOPELESS in done.said
    assert "segue write-all --restart" in done.said
    assert book.write_all().code == 3, "three chapters are there: it is for a person to say"
    assert book.written == []
    done = book.write_all("--restart")
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3, 4, 5]
    assert book.somewhere("Old text of 3.")
    assert [path.read_bytes() for path in corrupt(book)] == [b"{"]


def test_damage_before_anything_was_written(book: Book) -> None:
    """No backup, no chapter: a plain start does what the sentence says; the file is kept."""
    book.put(b"{")
    for number in (1, 2, 3):
        book.chapter(number).unlink()
    assert HOPELESS in book.korean().said
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3, 4, 5]
    assert [path.read_bytes() for path in corrupt(book)] == [b"{"]


def test_a_rebuild_from_the_chapters_is_offered(book: Book) -> None:
    """No backup at all: beyond the sentence of the original, it says how the files can help."""
    book.put(b"{")
    done = book.segue("resume", "--lang", "en")
    assert done.code == 3
    assert "chapter" in done.said.lower()
    assert "rebuil" in done.said.lower()


def test_the_rebuild_at_a_terminal(book: Book) -> None:
    """Asked; yes makes a state from the chapter files, keeps the damaged one, and goes on."""
    book.put(b"{")
    terminal = Terminal(book.box, "--lang", "en", "resume")
    terminal.expect("[Y/n]")
    terminal.type("y\r")
    assert terminal.end().code == 0
    assert [path.read_bytes() for path in corrupt(book)] == [b"{"]
    assert book.written == [4, 5]
    for number in (1, 2, 3):
        assert f"Old text of {number}." in book.chapter(number).read_text()


@pytest.mark.parametrize("has_backup", [True, False])
def test_no_at_a_terminal_changes_nothing(book: Book, has_backup: bool) -> None:
    """Neither the backup nor the rebuild is taken; the damaged file stays where it is."""
    if has_backup:
        book.put_backup(book.state, "20261115T210000Z")
    book.put(b"{")
    terminal = Terminal(book.box, "--lang", "en", "resume")
    terminal.expect("[Y/n]")
    terminal.type("n\r")
    assert terminal.end().code == 3
    assert book.state_path.read_bytes() == b"{"
    assert book.written == []


def test_the_rebuild_by_a_flag(book: Book) -> None:
    """`--rebuild` counts the chapters that are there, keeps the damaged file, and goes on."""
    book.put(b"{")
    done = book.segue("resume", "--rebuild")
    assert done.code == 0, done.said
    assert [path.read_bytes() for path in corrupt(book)] == [b"{"]
    assert book.written == [4, 5]
    check_shape(book.state)
    for number in (1, 2, 3):
        assert f"Old text of {number}." in book.chapter(number).read_text()


@pytest.mark.parametrize(
    "command", [("write-all",), ("write", "4"), ("resume", "--restart"), ("resume", "--reset")]
)
def test_nobody_writes_over_a_damaged_state(book: Book, command: tuple[str, ...]) -> None:
    """Whatever is called, the damaged bytes and the texts are still there afterwards."""
    raw = b'{"ralph_active": tru'
    book.put(raw)
    done = book.segue(*command)
    assert done.said.strip()
    kept = [path.read_bytes() for path in book.meta.rglob("*") if path.is_file()]
    assert raw in kept
    for number in (1, 2, 3):
        assert book.somewhere(f"Old text of {number}.")


def test_a_newer_schema_is_left_alone(book: Book) -> None:
    """A state of a later version is not touched: told, exit 2 or 3, by every command."""
    book.begun(3, 5, schema_version=99)
    raw = book.state_path.read_bytes()
    for command in (("resume",), ("resume", "--continue"), ("write-all",)):
        done = book.segue(*command, "--lang", "en")
        assert done.code in (2, 3), (command, done.said)
        assert "99" in done.said
        assert book.state_path.read_bytes() == raw
    assert book.written == []
    assert corrupt(book) == []


def test_a_completed_chapter_whose_file_is_gone(book: Book) -> None:
    """Told, and written again: the book is whole at the end."""
    book.chapter(2).unlink()
    shown = book.segue("resume", "--lang", "en")
    assert "2" in shown.said
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert sorted(book.written) == [2, 4, 5]
    assert all(book.chapter(n).exists() for n in range(1, 6))
    assert sorted(book.state["completed_chapters"]) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("current", [99, 0, -3])
def test_a_current_chapter_that_cannot_be(book: Book, current: int) -> None:
    """Beyond the end or before the beginning: told by its name, and nothing is begun over."""
    book.begun(3, 5, current_chapter=current)
    shown = book.segue("resume", "--lang", "en")
    assert shown.code == 3, shown.said
    done = book.segue("resume", "--continue", "--lang", "en")
    if done.code != 0:
        assert done.code == 3, done.said
        assert "current_chapter" in done.said and str(current) in done.said
        assert book.written == []
    assert not {1, 2, 3} & set(book.written)


def test_a_current_chapter_that_is_completed_already(book: Book) -> None:
    """The first one that is left is taken."""
    book.begun(3, 5, current_chapter=2)
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [4, 5]


def test_chapters_completed_beyond_the_book(book: Book) -> None:
    """`book.toml` has fewer chapters than were completed: nothing is deleted, nothing breaks."""
    book.toml(2)
    done = book.segue("resume", "--continue")
    assert done.code in (0, 2, 3), done.said
    assert book.written == []
    assert "Old text of 3." in book.chapter(3).read_text()


def test_a_state_that_is_a_folder(book: Book) -> None:
    """Said in words, exit 2 or 3."""
    book.state_path.unlink()
    book.state_path.mkdir()
    done = book.segue("resume")
    assert done.code in (2, 3), done.said
