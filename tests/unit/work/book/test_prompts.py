"""What the writer and the judge of a book are told."""

from __future__ import annotations

from dataclasses import replace

from segue.core.book import BookState
from segue.work.book import prompts, wisdom
from segue.work.book.folder import BookFolder
from segue.work.book.prompts import EXCERPT_CHARS, NOTES_MAX
from segue.work.book.settings import Book, Chapter

BOOK = Book("The long night", (Chapter("Lamps", "They go out."), *[Chapter()] * 9))
STATE = BookState("night", 10, total_acts=3, current_act=1, current_chapter=1)


def chapter(folder: BookFolder, number: int, text: str) -> None:
    folder.chapters.mkdir(exist_ok=True)
    folder.chapter(number).write_text(text)


def test_a_draft_has_its_place_its_outline_and_its_file(folder: BookFolder) -> None:
    """In this order."""
    text = prompts.draft(BOOK, folder, STATE, {})
    parts = [
        "“The long night”: chapter 1 of 10, act 1 of 3.",
        "Lamps\nThey go out.",
        str(folder.chapters / "chapter_1.md"),
    ]
    assert [part in text for part in parts] == [True] * 3
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)


def test_what_there_is_nothing_of_has_no_heading(folder: BookFolder) -> None:
    """A chapter without outline, notes, chapters before, wisdom."""
    text = prompts.draft(BOOK, folder, replace(STATE, current_chapter=2), {})
    assert [line for line in text.splitlines() if line.startswith("#")] == ["## What to do"]


def test_the_last_three_chapters_are_told(folder: BookFolder) -> None:
    """By what was said of them, else by how they begin and end; gaps are passed over."""
    for number in (1, 2, 3, 5, 7):
        chapter(folder, number, f"Text of {number}.")
    text = prompts.draft(BOOK, folder, replace(STATE, current_chapter=6), {3: "Three, in short."})
    assert "Three, in short." in text
    assert "Text of 3." not in text
    for number, is_told in ((1, False), (2, True), (5, True), (7, False)):
        assert (f"Text of {number}." in text) is is_told
    assert text.index("Text of 2.") < text.index("Three, in short.") < text.index("Text of 5.")


def test_a_long_chapter_is_told_by_its_ends(folder: BookFolder) -> None:
    """The middle is left out."""
    chapter(folder, 1, "begin " + "middle " * 1000 + "end")
    text = prompts.excerpt(folder.chapter(1))
    assert text.startswith("begin")
    assert text.endswith("end")
    assert len(text) <= 2 * EXCERPT_CHARS + 3
    chapter(folder, 2, "x" * 2 * EXCERPT_CHARS)
    assert prompts.excerpt(folder.chapter(2)) == "x" * 2 * EXCERPT_CHARS


def test_a_chapter_that_is_no_unicode_can_be_told(folder: BookFolder) -> None:
    """As far as it goes."""
    folder.chapters.mkdir()
    folder.chapter(1).write_bytes(b"caf\xe9 noir")
    assert "noir" in prompts.draft(BOOK, folder, replace(STATE, current_chapter=2), {})


def test_notes_are_named_and_not_told(folder: BookFolder) -> None:
    """Folders with what is in them, single files; links and missing ones not."""
    for name in ("plot/acts.md", "characters/dog/dog.md", "people.md", "other/x.md"):
        path = folder.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret words")
    (folder.root / "plot" / "link.md").symlink_to("/etc/hostname")
    book = replace(BOOK, notes=("plot", "characters", "people.md", "missing"))
    text = prompts.draft(book, folder, STATE, {})
    for name in ("- plot/acts.md", "- characters/dog/dog.md", "- people.md"):
        assert name in text
    for name in ("link.md", "other/", "missing", "secret words"):
        assert name not in text


def test_of_very_many_notes_some_are_named(folder: BookFolder) -> None:
    """A prompt has a bound."""
    (folder.root / "plot").mkdir()
    for number in range(NOTES_MAX + 20):
        (folder.root / "plot" / f"{number:04d}.md").touch()
    text = prompts.draft(BOOK, folder, STATE, {})
    assert text.count("- plot/") == NOTES_MAX


def test_wisdom_is_told_in_drafts_and_revisions(folder: BookFolder) -> None:
    """And not to the judge, who has an eye of its own."""
    wisdom.from_author(folder, 1, "the dog lives")
    assert "the dog lives" in prompts.draft(BOOK, folder, STATE, {})
    assert "the dog lives" in prompts.revision(BOOK, folder, STATE, ())
    assert "the dog lives" not in prompts.judgement(BOOK, folder, STATE)


def test_a_revision_has_the_score_and_the_reasons(folder: BookFolder) -> None:
    """Each in its line; the score is the one of this chapter."""
    state = replace(STATE, scores=(40, 61.5), last_quality_score=99, quality_threshold=72.5)
    text = prompts.revision(BOOK, folder, state, ("too short", "no dog"))
    assert "61.5 of 100; it needs 72.5" in text
    assert "- too short\n- no dog" in text
    assert str(folder.chapters / "chapter_1.md") in text


def test_without_a_judgement_a_revision_has_the_error(folder: BookFolder) -> None:
    """A score of an earlier chapter is none of this one."""
    state = replace(STATE, last_error="exit code 3", last_quality_score=90)
    text = prompts.revision(BOOK, folder, state, ())
    assert "- exit code 3" in text
    assert "of 100" not in text


def test_a_revision_whose_cause_is_not_known_can_be_told(folder: BookFolder) -> None:
    """A state of another tool may lack it."""
    assert "chapter_1.md" in prompts.revision(BOOK, folder, STATE, ())


def test_the_judge_is_told_the_threshold_and_the_shape_of_its_answer(folder: BookFolder) -> None:
    """And the file; the last line is the shape."""
    text = prompts.judgement(BOOK, folder, STATE)
    assert "80 of 100" in text
    assert str(folder.chapters / "chapter_1.md") in text
    assert text.splitlines()[-1] == '{"score": 0-100, "reasons": ["…"]}'


def test_a_chapter_is_called_by_its_title(folder: BookFolder) -> None:
    """Or by its number alone."""
    assert prompts.name_of(BOOK, 1) == "Chapter 1: Lamps"
    assert prompts.name_of(BOOK, 2) == "Chapter 2"
