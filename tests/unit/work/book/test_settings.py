"""`book.toml`: what is read, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue import i18n
from segue.errors import Problem, UserError
from segue.work.book.settings import Book, Chapter, load, parse

PATH = Path("night", "book.toml")


@pytest.fixture(autouse=True)
def _english() -> None:
    i18n.use("en")


def problems(text: str) -> list[Problem]:
    with pytest.raises(UserError) as caught:
        parse(text, PATH)
    return caught.value.problems


def test_a_book_is_read_with_all_it_can_say() -> None:
    """Every key of the documentation."""
    text = """\
title = "The long night"
chapters = 3
acts = 2
threshold = 72.5
writer = "claude"
judge_command = ["python3", "judge.py"]
max_iterations = 9
judge_timeout = "2m"
notes = ["plot", "people.md"]
[[chapter]]
title = "Lamps"
outline = "They go out."
"""
    assert parse(text, PATH) == Book(
        title="The long night",
        chapters=(Chapter("Lamps", "They go out."), Chapter(), Chapter()),
        acts=2,
        threshold=72.5,
        writer="claude",
        judge=None,
        judge_command=("python3", "judge.py"),
        max_iterations=9,
        judge_timeout_s=120,
        notes=("plot", "people.md"),
        text=text,
    )


def test_what_is_not_said_has_its_default() -> None:
    """The folder's name is the title; the project's agents write and judge."""
    book = parse("chapters = 2", PATH)
    assert book == Book("night", (Chapter(), Chapter()), text="chapters = 2")
    assert (book.acts, book.threshold, book.max_iterations) == (None, None, None)
    assert (book.writer, book.judge, book.judge_command) == (None, None, ())
    assert book.notes == ("plot", "characters")


def test_a_threshold_of_nothing_is_a_threshold() -> None:
    """0 is not the default."""
    assert parse("chapters = 1\nthreshold = 0", PATH).threshold == 0


def test_tables_alone_say_how_many_chapters_there_are() -> None:
    """A title, an outline, both or none."""
    book = parse('[[chapter]]\ntitle = "One"\n[[chapter]]\noutline = "x"\n[[chapter]]\n', PATH)
    assert book.chapters == (Chapter("One"), Chapter("", "x"), Chapter())
    assert book.chapter(1).title == "One"
    assert book.chapter(3) == Chapter()


def test_no_notes_can_be_wanted() -> None:
    """An empty list."""
    assert parse("chapters = 1\nnotes = []", PATH).notes == ()


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("chapters = 1\ntitel = 'x'", "unknown_key", 2),
        ("chapters = 0", "bad_value", 1),
        ("chapters = 10001", "bad_value", 1),
        ("chapters = true", "bad_value", 1),
        ("chapters = 1.0", "bad_value", 1),
        ("title = ''\nchapters = 1", "bad_value", 1),
        ("chapters = 1\n\nacts = 0", "bad_value", 3),
        ("chapters = 1\nthreshold = 101", "bad_value", 2),
        ("chapters = 1\nthreshold = -1", "bad_value", 2),
        ("chapters = 1\nthreshold = nan", "bad_value", 2),
        ("chapters = 1\nthreshold = '80'", "bad_value", 2),
        ("chapters = 1\nmax_iterations = 0", "bad_value", 2),
        ("chapters = 1\njudge_command = 'judge.py'", "bad_value", 2),
        ("chapters = 1\njudge_command = []", "bad_value", 2),
        ("chapters = 1\nwriter = 5", "bad_value", 2),
        ("chapters = 1\nnotes = ['../secret']", "bad_value", 2),
        ("chapters = 1\nnotes = ['/etc']", "bad_value", 2),
        ("chapters = 1\njudge_timeout = 'soon'", "bad_value", 2),
        ("chapters = 1\njudge = 'a'\njudge_command = ['b']", "bad_value", 3),
        ("chapters = 1\nchapter = 'one'", "bad_value", 2),
        ("chapters = 1\n[[chapter]]\n[[chapter]]", "bad_value", 1),
        ("title = 'x'", "missing_value", None),
        ("chapters = [", "bad_toml", 1),
        ("title = 'x'\nchapters = [", "bad_toml", 2),
        ("", "missing_value", None),
        ("chapters = 1\n\ntitle = The long night", "bad_toml", 3),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_a_cure(
    text: str, code: str, line: int | None
) -> None:
    """The file, the line, what to write instead."""
    (problem,) = problems(text)
    assert (problem.code, problem.line, problem.file) == (code, line, str(PATH))
    assert problem.hint


def test_a_slip_in_a_name_is_asked_about() -> None:
    """Did you mean …?"""
    (problem,) = problems("chapters = 1\ntreshold = 70")
    assert "threshold" in (problem.hint or "")


@pytest.mark.parametrize(
    ("wrong", "code"), [("title = 5", "bad_value"), ("titel = 'x'", "unknown_key")]
)
def test_a_problem_in_a_later_table_has_the_line_of_that_table(wrong: str, code: str) -> None:
    """Not that of the first one that has such a key."""
    text = f'[[chapter]]\ntitle = "One"\ntitel_ = 1\n\n[[ chapter ]]\noutline = "x"\n{wrong}\n'
    found = problems(text)
    assert [(one.code, one.line) for one in found] == [("unknown_key", 3), (code, 7)]


def test_every_problem_is_told_at_once() -> None:
    """Nobody mends one to be told the next."""
    found = problems("chapters = 0\nacts = 'two'\ntitel = 1")
    assert sorted(one.line or 0 for one in found) == [1, 2, 3]


def test_a_folder_without_a_book_says_how_to_write_one(tmp_path: Path) -> None:
    """Named by its path."""
    with pytest.raises(UserError) as caught:
        load(tmp_path)
    assert caught.value.problem.code == "no_book"
    assert caught.value.problem.file == str(tmp_path / "book.toml")


def test_a_book_that_is_no_text_is_told(tmp_path: Path) -> None:
    """Not shown as a fault of Segue."""
    (tmp_path / "book.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(UserError) as caught:
        load(tmp_path)
    assert caught.value.problem.code == "book_unreadable"
