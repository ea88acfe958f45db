"""What was learnt while writing, kept once and given to later chapters."""

from __future__ import annotations

import pytest

from segue import i18n
from segue.core.book import Verdict
from segue.errors import UserError
from segue.work.book import wisdom
from segue.work.book.folder import BookFolder
from segue.work.book.wisdom import LINE_CHARS_MAX, TEXT_CHARS_MAX


def learnt(folder: BookFolder, *reasons: str, chapter: int = 1) -> str:
    wisdom.from_judge(folder, chapter, Verdict(50, reasons))
    path = folder.wisdom / "judge.md"
    return path.read_text("utf-8") if path.exists() else ""


def test_each_reason_is_a_line_with_its_chapter(folder: BookFolder) -> None:
    """Under a heading."""
    assert learnt(folder, "too short", "no dog", chapter=3).splitlines() == [
        "# What the judge objects to",
        "- too short (chapter 3)",
        "- no dog (chapter 3)",
    ]


def test_a_reason_that_recurs_is_kept_once(folder: BookFolder) -> None:
    """Where it was first met; case, blanks and the language of the line do not matter."""
    learnt(folder, "Too short (again)")
    text = learnt(folder, "too  short\n(again)", chapter=2)
    assert text.count("hort") == 1
    i18n.use("ko")
    assert learnt(folder, "TOO SHORT (AGAIN)", chapter=5) == text


def test_a_line_is_one_line_of_bounded_length(folder: BookFolder) -> None:
    """Whatever the judge says."""
    text = learnt(folder, "a\n# heading\n" + "x" * 5000)
    assert len(text.splitlines()) == 2
    assert len(text.splitlines()[1]) < LINE_CHARS_MAX + 30


def test_nothing_said_is_nothing_learnt(folder: BookFolder) -> None:
    """No file is made for it."""
    assert learnt(folder, " ", "\n") == ""
    assert wisdom.summary(folder) == ""


def test_what_the_author_wrote_there_is_kept(folder: BookFolder) -> None:
    """Lines are added behind it."""
    folder.wisdom.mkdir(parents=True)
    (folder.wisdom / "judge.md").write_text("My own words\n\n- and a list\n", "utf-8")
    text = learnt(folder, "too short")
    assert text == "My own words\n\n- and a list\n- too short (chapter 1)\n"


def test_the_authors_decisions_have_a_file_of_their_own(folder: BookFolder) -> None:
    """Both are in the summary."""
    learnt(folder, "too short")
    wisdom.from_author(folder, 2, "the dog lives")
    assert [path.name for path in folder.wisdom_files()] == ["decisions.md", "judge.md"]
    assert "the dog lives (chapter 2)" in wisdom.summary(folder)
    assert "too short (chapter 1)" in wisdom.summary(folder)


def test_the_summary_is_bounded_and_keeps_the_newest(folder: BookFolder) -> None:
    """As much as a prompt can take."""
    for number in range(300):
        wisdom.from_author(folder, number, f"decision {number} {'x' * 50}")
    text = wisdom.summary(folder)
    assert len(text) <= TEXT_CHARS_MAX
    assert "decision 299" in text


def test_words_that_are_no_unicode_are_kept_as_far_as_they_go(folder: BookFolder) -> None:
    """Typed on a strange terminal, or read from a strange file."""
    wisdom.from_author(folder, 1, "dog \udcff")
    (folder.wisdom / "old.md").write_bytes(b"caf\xe9")
    assert "dog ?" in wisdom.summary(folder)
    assert "caf" in wisdom.summary(folder)


def test_a_place_that_cannot_be_written_is_told(folder: BookFolder) -> None:
    """A file where the folder should be."""
    folder.meta.mkdir()
    folder.wisdom.write_text("a file")
    with pytest.raises(UserError):
        learnt(folder, "too short")
