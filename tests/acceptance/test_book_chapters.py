"""One chapter, a book again, and what reaches the writer's prompt."""

from __future__ import annotations

import pytest

from kit.book import Book
from kit.box import Box

TABLES = """
[[chapter]]
title = "The lamp"
outline = "Mina finds a lamp that burns without oil."

[[chapter]]
title = "등대지기"
outline = "등대지기가 거짓말을 한다."

[[chapter]]
title = "Fog"
outline = "Nobody comes back from the fog."
"""


@pytest.fixture
def book(box: Box) -> Book:
    """A book of three chapters that nobody has begun."""
    made = Book(box)
    made.toml()
    return made


def test_tables_give_each_chapter_its_title_and_outline(book: Book) -> None:
    """`[[chapter]]` instead of a number: as many chapters, each prompt with its own."""
    book.toml(None, TABLES)
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3]
    first, second, third = (book.prompts(n)[0] for n in (1, 2, 3))
    assert "The lamp" in first and "burns without oil" in first
    assert "등대지기" in second and "거짓말을 한다" in second
    assert "Fog" in third and "Nobody comes back" in third
    assert "거짓말을 한다" not in first
    assert "The long night" in first, "the title of the book"


def test_earlier_chapters_reach_later_prompts(book: Book) -> None:
    """What happened before is told to the writer of the next chapter."""
    assert book.write_all().code == 0
    assert "Owl-" not in book.prompts(1)[0]
    assert "Owl-1 found the lamp" in book.prompts(2)[0]
    assert "Owl-2 found the lamp" in book.prompts(3)[0]


def test_the_prompt_of_a_late_chapter_stays_bounded(book: Book) -> None:
    """The last chapters' summaries, not the whole book: long chapters do not pile up."""
    book.toml(8)
    book.writer(
        'text = f"# {chapter}\\n\\nOwl-{chapter} began.\\n\\n" + "All night long. " * 20000'
    )
    done = book.write_all()
    assert done.code == 0, done.said
    assert len(book.prompts(8)[0]) < 100_000


def test_wisdom_of_the_author_reaches_every_prompt(book: Book) -> None:
    """Files in `meta/wisdom/` are given to the writer, revisions too, and stay as they are."""
    book.wisdom.mkdir(parents=True)
    note = book.wisdom / "tone.md"
    note.write_text("Never call the lamp a lantern.\n")
    book.scores({2: [(50, "flat"), 90]})
    assert book.write_all().code == 0
    for write in book.writes:
        assert "Never call the lamp a lantern." in write["prompt"]
    assert "Never call the lamp a lantern." in note.read_text()


def test_what_the_judge_keeps_saying_becomes_wisdom(book: Book) -> None:
    """A recurring reason is appended to `meta/wisdom/` and given to later chapters."""
    book.scores({1: [(60, "adverbs everywhere"), 90], 2: [(60, "adverbs everywhere"), 90]})
    assert book.write_all().code == 0
    assert book.written == [1, 1, 2, 2, 3]
    learnt = [path for path in book.wisdom.glob("*.md") if "adverbs everywhere" in path.read_text()]
    assert learnt
    assert "adverbs everywhere" in book.prompts(3)[0]


def test_the_notes_of_the_author_are_named(book: Book) -> None:
    """`plot/` and `characters/` stand in the prompt where they are there."""
    for name in ("plot/arc.md", "characters/mina.md"):
        (book.root / name).parent.mkdir()
        (book.root / name).write_text("secret")
    assert book.write_all().code == 0
    for write in book.writes:
        assert "plot/" in write["prompt"]
        assert "characters/" in write["prompt"]


def test_notes_that_are_not_there_are_not_named(book: Book) -> None:
    """Nobody is sent to a folder that does not exist."""
    (book.root / "plot").mkdir()
    (book.root / "plot" / "arc.md").write_text("secret")
    assert book.write_all().code == 0
    assert "characters/" not in book.prompts(1)[0]
    assert "plot/" in book.prompts(1)[0]


# --- one chapter


def test_write_n_writes_that_chapter_alone(book: Book) -> None:
    """`segue write 2`: written, judged, revised, completed; no other is touched."""
    book.begun(1, 3)
    old = book.chapter(1).read_bytes()
    book.scores({2: [(60, "flat"), 88]})
    done = book.segue("write", "2")
    assert done.code == 0, done.said
    assert book.written == [2, 2]
    state = book.state
    assert state["completed_chapters"] == [1, 2]
    assert state["quality_scores"]["2"] == 88
    assert not state["completed_at"], "the book is not complete"
    assert book.chapter(1).read_bytes() == old
    assert not book.chapter(3).exists()


def test_write_n_begins_a_book_too(book: Book) -> None:
    """Without a state: the chapter is written; write-all then writes what is left."""
    assert book.segue("write", "2").code == 0
    assert book.state["completed_chapters"] == [2]
    text = book.chapter(2).read_bytes()
    assert book.write_all().code == 0
    assert book.written == [2, 1, 3]
    assert book.chapter(2).read_bytes() == text
    assert sorted(book.state["completed_chapters"]) == [1, 2, 3]


def test_write_n_that_fails(book: Book) -> None:
    """Four writes, then it is a failed chapter and the exit code is 1."""
    book.scores({2: [(50, "a"), (55, "b"), (60, "c"), (65, "d")]})
    done = book.segue("write", "2")
    assert done.code == 1, done.said
    assert book.written == [2, 2, 2, 2]
    assert book.state["failed_chapters"] == [2]


def test_a_failed_chapter_written_again_is_no_longer_failed(book: Book) -> None:
    """`segue write 2` after its failure: accepted, it moves from one list to the other."""
    book.scores({2: [(50, "a"), (55, "b"), (60, "c"), (65, "d"), 90]})
    assert book.write_all().code == 1
    done = book.segue("write", "2")
    assert done.code == 0, done.said
    assert sorted(book.state["completed_chapters"]) == [1, 2, 3]
    assert book.state["failed_chapters"] == []


def test_continue_takes_failed_chapters_up_again(book: Book) -> None:
    """After exit 1 the book can be resumed: what failed is tried again, what is completed stays."""
    book.scores({2: [(50, "a"), (55, "b"), (60, "c"), (65, "d"), 90]})
    assert book.write_all().code == 1
    assert not book.state["completed_at"]
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [1, 2, 2, 2, 2, 3, 2]
    assert sorted(book.state["completed_chapters"]) == [1, 2, 3]
    assert book.state["completed_at"]


def test_a_completed_chapter_that_is_written_again_keeps_its_old_text(book: Book) -> None:
    """Whatever `segue write 1` does about it, what was accepted once is never lost."""
    book.begun(2, 3)
    book.segue("write", "1")
    assert book.somewhere("Old text of 1.")
    assert "Old text of 2." in book.chapter(2).read_text()


@pytest.mark.parametrize("number", ["0", "4", "-1", "two", "99999999999999999999"])
def test_a_chapter_that_the_book_does_not_have(book: Book, number: str) -> None:
    """Bad usage: exit 2, in words, and nothing is written."""
    done = book.segue("write", "--", number)
    assert done.code == 2, done.said
    assert done.said.strip()
    assert book.written == []
    assert not book.chapters.exists() or not list(book.chapters.iterdir())


def test_a_book_elsewhere_is_named_by_its_folder(box: Box) -> None:
    """`segue write-all FOLDER` and `segue write N FOLDER` work from anywhere."""
    book = Book(box, "books/night")
    book.toml(2)
    assert box.segue("write", "2", "books/night").code == 0
    assert box.segue("write-all", "books/night").code == 0
    assert book.written == [2, 1]
    assert book.state["completed_chapters"] in ([1, 2], [2, 1])
    assert book.chapter(1).exists() and not (box.root / "meta").exists()


# --- again


def test_a_completed_book_is_not_written_again(book: Book) -> None:
    """`write-all` on it starts nobody and changes no chapter."""
    assert book.write_all().code == 0
    before = {n: book.chapter(n).read_bytes() for n in (1, 2, 3)}
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3]
    assert {n: book.chapter(n).read_bytes() for n in (1, 2, 3)} == before


@pytest.mark.parametrize("args", [(), ("--resume",)])
def test_write_all_goes_on_where_it_stopped(book: Book, args: tuple[str, ...]) -> None:
    """With or without `--resume`, what is completed is not written again."""
    book.begun(2, 3)
    done = book.write_all(*args)
    assert done.code == 0, done.said
    assert book.written == [3]
    assert "Old text of 1." in book.chapter(1).read_text()
    assert sorted(book.state["completed_chapters"]) == [1, 2, 3]


def test_a_book_that_grew_is_written_to_its_new_end(book: Book) -> None:
    """More chapters in `book.toml` than before: the new ones are written, the old ones stay."""
    book.toml(2)
    assert book.write_all().code == 0
    book.toml(4)
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3, 4]
    assert book.state["total_chapters"] == 4


def test_after_a_reset_a_book_begins_anew_and_no_text_is_lost(book: Book) -> None:
    """Reset, write-all: all chapters are written again; the old texts are kept beside them."""
    book.begun(2, 3)
    assert book.segue("resume", "--reset").code == 0
    done = book.write_all()
    assert done.code == 0, done.said
    assert sorted(book.state["completed_chapters"]) == [1, 2, 3]
    for number in (1, 2):
        assert book.somewhere(f"Old text of {number}.")


def test_json_prints_events_and_nothing_else(book: Book) -> None:
    """`write-all --json`: one object per line with event and at; the last one is finished."""
    done = book.write_all("--json")
    assert done.code == 0
    assert done.err == ""
    assert all({"event", "at"} <= event.keys() for event in done.events)
    assert done.finished["exit"] == 0


@pytest.mark.parametrize("command", ["write-all", "write", "resume"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_help_is_one_screen_with_an_example(book: Book, command: str, lang: str) -> None:
    """`--help` fits a screen, shows how it is called, and exists in both languages."""
    done = book.segue("--lang", lang, command, "--help")
    assert done.code == 0
    assert len(done.out.splitlines()) <= 40
    assert f"segue {command}" in done.out.split("\n", 2)[2], "an example"
    assert any("가" <= letter <= "힣" for letter in done.out) is (lang == "ko")
