"""A book from its first chapter to its last: written, judged, revised, accepted or failed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.book import Book, check_shape
from kit.box import Box


@pytest.fixture
def book(box: Box) -> Book:
    """A book of three chapters that nobody has begun."""
    made = Book(box)
    made.toml()
    return made


def test_a_book_is_written_from_its_first_chapter_to_its_last(book: Book) -> None:
    """Each chapter is written once, judged once, in order; the state says it is complete."""
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == book.judged == [1, 2, 3]
    for number in (1, 2, 3):
        assert f"Owl-{number} found the lamp in draft 1." in book.chapter(number).read_text()
    state = book.state
    check_shape(state)
    assert state["completed_chapters"] == [1, 2, 3]
    assert state["failed_chapters"] == []
    assert state["quality_scores"] == {"1": 90, "2": 90, "3": 90}
    assert state["last_quality_score"] == 90
    assert state["quality_threshold"] == 80
    assert state["total_chapters"] == 3
    assert state["ralph_active"] is False
    assert state["completed_at"]
    assert book.box.left_behind() == {}


def test_the_writer_is_told_which_file_to_write(book: Book) -> None:
    """The file stands in the prompt and in SEGUE_TARGET, the number in SEGUE_CHAPTER."""
    assert book.write_all().code == 0
    for number, write in enumerate(book.writes, 1):
        assert write["env"]["SEGUE_CHAPTER"] == str(number)
        target = Path(write["cwd"], write["target"])
        assert target.resolve() == book.chapter(number).resolve()
        assert f"chapters/chapter_{number}.md" in write["prompt"]
        assert {"SEGUE_TASK", "SEGUE_RUN", "SEGUE_ATTEMPT", "SEGUE_CONVERSATION"} <= write[
            "env"
        ].keys()


def test_the_judge_gets_the_path_as_its_last_argument(book: Book) -> None:
    """It reads the chapter as it is to be accepted, after its own arguments."""
    words = [sys.executable, "-S", str(book.programs / "judge.py"), "--strict"]
    book.toml(1, judge=f"judge_command = {words}\n".replace("'", '"'))
    assert book.write_all().code == 0
    (judgement,) = book.kept("judgements")
    assert judgement["argv"][0] == "--strict"
    assert judgement["text"] == book.chapter(1).read_text()


def test_a_judge_beside_the_book_is_found(book: Book) -> None:
    """`judge_command = ["python3", "judge.py"]` runs in the book's folder, as the example has it."""
    program = (book.programs / "judge.py").read_text()
    (book.root / "judge.py").write_text(program)
    book.toml(1, judge='judge_command = ["python3", "judge.py"]\n')
    folder = Path(sys.executable).parent
    done = book.write_all(env={"PATH": f"{folder}:/usr/bin:/bin"})
    assert done.code == 0, done.said
    assert book.judged == [1]


def test_the_judge_may_be_an_agent(book: Book) -> None:
    """A run of its own, with a prompt of its own that names or holds the chapter."""
    book.toml(2, judge='judge = "critic"\n')
    book.scores({1: [(50, "too short"), 85], 2: [91]})
    book.judge('print("Let me think. {\\"score\\": 3, \\"reasons\\": []} would be harsh.")')
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == book.judged == [1, 1, 2]
    assert book.state["quality_scores"] == {"1": 85, "2": 91}
    prompt = book.kept("judgements")[0]["prompt"]
    assert "chapter_1.md" in prompt or "Owl-1 found the lamp in draft 1" in prompt
    assert prompt != book.prompts(1)[0]
    assert '"score"' in prompt, "it is told how to answer"
    conversations = {kept["env"]["SEGUE_CONVERSATION"] for kept in book.kept("judgements")[:1]}
    assert conversations.isdisjoint({book.writes[0]["env"]["SEGUE_CONVERSATION"]})


def test_the_last_object_of_a_judging_agent_counts(book: Book) -> None:
    """Objects before it, also ones with a score, and text after it change nothing."""
    book.toml(1, judge='judge = "critic"\n')
    book.judge(
        """
        print('{"score": 20, "reasons": ["a first thought"]}')
        print('So, all in all:')
        print('```json\\n{"score": 88, "reasons": ["fine {really}"]}\\n```\\nThat is my verdict.')
        sys.exit(0)
        """
    )
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.state["quality_scores"] == {"1": 88}


def test_the_word_of_the_writer_is_not_believed(book: Book) -> None:
    """A score that the writer prints is no judgement."""
    book.toml(1)
    book.writer('print(\'{"score": 100, "reasons": []}\')')
    book.scores({1: [(10, "a"), (20, "b"), (30, "c"), (40, "d")]})
    assert book.write_all().code == 1
    assert book.state["completed_chapters"] == []


@pytest.mark.parametrize(
    ("score", "writes"), [(80, 1), (80.0, 1), (79, 2), (79.9, 2), (100, 1), (0, 2)]
)
def test_the_threshold_is_reached_at_the_threshold(book: Book, score: float, writes: int) -> None:
    """At or over it the chapter is completed; under it, by however little, it is revised."""
    book.toml(1)
    book.scores({1: [(score, "close"), 95]})
    assert book.write_all().code == 0
    assert len(book.written) == writes
    assert book.state["quality_scores"]["1"] == (score if writes == 1 else 95)


def test_a_revision_gets_the_reasons_of_the_judge(book: Book) -> None:
    """All of them, and the file to revise; the draft's own prompt had none."""
    book.toml(1)
    book.scores({1: [(60, "the dialogue is flat", "the lamp has no colour"), 82]})
    assert book.write_all().code == 0
    draft, revision = book.prompts(1)
    for reason in ("the dialogue is flat", "the lamp has no colour"):
        assert reason in revision
        assert reason not in draft
    assert "chapters/chapter_1.md" in revision
    assert "in draft 2." in book.chapter(1).read_text()


def test_a_revision_can_read_the_draft(book: Book) -> None:
    """What is revised still stands in its file when the writer begins."""
    book.toml(1)
    book.scores({1: [(60, "flat"), 82]})
    book.writer('keep("found", there=target.exists() and target.read_text() or "")')
    assert book.write_all().code == 0
    first, second = (found["there"] for found in book.kept("found"))
    assert first == ""
    assert "in draft 1." in second


def test_four_writes_then_the_chapter_has_failed(book: Book) -> None:
    """One draft, three revisions, then the next chapter; at the end exit 1."""
    book.scores({2: [(50, "first"), (55, "second"), (60, "third"), (65, "fourth"), (99, "fifth")]})
    done = book.write_all()
    assert done.code == 1, done.said
    assert book.written == [1, 2, 2, 2, 2, 3]
    state = book.state
    check_shape(state)
    assert state["completed_chapters"] == [1, 3]
    assert state["failed_chapters"] == [2]
    assert book.chapter(2).exists(), "its last text is kept"
    assert "2" in done.said
    assert book.box.left_behind() == {}


def test_a_chapter_accepted_at_its_last_revision_is_no_failure(book: Book) -> None:
    """The fourth write counts like the first."""
    book.scores({1: [(50, "a"), (55, "b"), (60, "c"), 80]})
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 1, 1, 1, 2, 3]
    assert book.state["retry_count"] == 0, "the next chapter began with none"


def test_acts_divide_the_book(book: Book) -> None:
    """Six chapters in three acts: two each; the state names the act of the current chapter."""
    book.toml(6, "acts = 3\n")
    with book.watched() as seen:
        assert book.write_all().code == 0
    acts = {s["current_chapter"]: s["current_act"] for s in seen.states if s["current_chapter"]}
    assert acts == {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3}
    assert {s["total_acts"] for s in seen.states} == {3}


def test_a_folder_that_pads_its_numbers_goes_on_padding(book: Book) -> None:
    """`chapter_001.md` is read and kept; the next one is `chapter_002.md`."""
    book.begun(1, 3)
    book.chapter(1).rename(book.chapters / "chapter_001.md")
    done = book.write_all()
    assert done.code == 0, done.said
    names = sorted(path.name for path in book.chapters.glob("*.md"))
    assert names == ["chapter_001.md", "chapter_002.md", "chapter_003.md"]
    assert book.written == [2, 3]
    assert "Old text of 1" in (book.chapters / "chapter_001.md").read_text()


def test_a_text_that_was_there_before_the_book_began_is_kept(book: Book) -> None:
    """An author's own `chapter_001.md` without a state: padded names, and no text is lost."""
    book.chapters.mkdir()
    (book.chapters / "chapter_001.md").write_text("By the author's own hand.")
    assert book.write_all().code in (0, 3)
    assert book.somewhere("By the author's own hand.")
    assert not book.chapter(2).exists(), "chapter_002.md, as the folder has it"


def test_a_writer_that_writes_nothing_is_not_judged(book: Book) -> None:
    """Ended well without the file: no chapter, nothing for the judge, and it is said."""
    book.toml(1)
    book.writer("sys.exit(0)")
    done = book.write_all()
    assert done.code in (1, 3), done.said
    assert book.judged == []
    assert book.state["completed_chapters"] == []
    assert len(book.written) <= 6, "it is not tried for ever"


def test_a_revision_that_changes_nothing_is_not_a_completed_chapter(book: Book) -> None:
    """The old bytes are judged again at most; only the judge accepts."""
    book.toml(1)
    book.scores({1: [(50, "a"), (55, "b"), (60, "c"), (65, "d")]})
    book.writer("if nth > 1: sys.exit(0)")
    assert book.write_all().code in (1, 3)
    assert book.state["completed_chapters"] == []


def test_a_writer_that_crashes_is_tried_again(book: Book) -> None:
    """An ending with an error is one failed try; the next one may succeed."""
    book.toml(1)
    book.writer("if nth == 1: print('segmentation fault'); sys.exit(5)")
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 1]
    assert book.judged == [1]


def test_a_writer_that_always_crashes_ends(book: Book) -> None:
    """The chapter is not completed, the book does not run for ever, the cause is told."""
    book.toml(1)
    book.writer("print('out of ink'); sys.exit(5)")
    done = book.write_all()
    assert done.code in (1, 3), done.said
    assert book.judged == []
    assert len(book.written) <= 6
    assert "out of ink" in done.said or "5" in done.said
    assert book.state["last_error"]
