"""Bad input is told with file and line; the judge's faults are never the writer's."""

from __future__ import annotations

import os
import tomllib

import pytest

from kit.book import Book, check_shape
from kit.box import Box
from kit.waiting import until


@pytest.fixture
def book(box: Box) -> Book:
    """A book of two chapters that nobody has begun."""
    made = Book(box)
    made.toml(2)
    return made


HEAD = 'title = "Night"\nchapters = 2\nwriter = "pen"\n'
JUDGE = 'judge = "critic"\n'


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        (HEAD + JUDGE + 'treshold = 80\n', 5, "threshold"),
        (HEAD + JUDGE + 'threshold = "high"\n', 5, "threshold"),
        (HEAD + JUDGE + "threshold = 101\n", 5, "threshold"),
        (HEAD + JUDGE + "threshold = -1\n", 5, "threshold"),
        (HEAD + JUDGE + "threshold = true\n", 5, "threshold"),
        (HEAD + JUDGE + "acts = 0\n", 5, "acts"),
        (HEAD + JUDGE + "max_iterations = 0\n", 5, "max_iterations"),
        (HEAD.replace("= 2", "= 0") + JUDGE, 2, "chapters"),
        (HEAD.replace("= 2", "= -3") + JUDGE, 2, "chapters"),
        (HEAD.replace("= 2", '= "two"') + JUDGE, 2, "chapters"),
        (HEAD.replace("= 2", "= 2.5") + JUDGE, 2, "chapters"),
        (HEAD.replace('"pen"', '"pne"') + JUDGE, 3, "pen"),
        (HEAD + 'judge = "nobody"\n', 4, "nobody"),
        (HEAD + 'judge_command = "python3 judge.py"\n', 4, "judge_command"),
        (HEAD + "judge_command = []\n", 4, "judge_command"),
        (HEAD + 'judge = "critic\nacts = 2\n', 4, ""),
        (HEAD + JUDGE + "\n[[chapter]]\ntitel = 'x'\n", 7, "title"),
    ],
)  # fmt: skip
def test_errors_of_book_toml_name_the_line(book: Book, text: str, line: int, word: str) -> None:
    """Exit 2 with file, line and cure; nothing is written."""
    (book.root / "book.toml").write_text(text)
    done = book.write_all("--json")
    assert done.code == 2, done.said
    error = done.json["error"]
    assert {"code", "message", "file", "line", "hint"} <= error.keys()
    assert error["file"].endswith("book.toml")
    assert error["line"] == line, error
    assert word in f"{error['message']} {error['hint']}"
    assert not book.state_path.exists() and not book.chapters.exists()
    assert book.written == []


@pytest.mark.parametrize(
    ("text", "word"),
    [('title = "x"\nwriter = "pen"\njudge = "critic"\n', "chapters"), ("", "chapters"),
     (HEAD + JUDGE + 'judge_command = ["true"]\n', "judge")],
)  # fmt: skip
def test_what_is_missing_or_said_twice(book: Book, text: str, word: str) -> None:
    """No chapters, two judges: exit 2, and what is to be added is named."""
    (book.root / "book.toml").write_text(text)
    done = book.write_all("--lang", "en")
    assert done.code == 2, done.said
    assert "book.toml" in done.said
    assert word in done.said
    assert book.written == []


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_errors_of_book_toml_in_words(book: Book, lang: str) -> None:
    """File, line and cure are said, in the language asked for."""
    (book.root / "book.toml").write_text(HEAD + JUDGE + "treshold = 80\n")
    done = book.write_all("--lang", lang)
    assert done.code == 2, done.said
    assert "book.toml:5" in done.said
    assert "threshold" in done.said
    assert any("가" <= letter <= "힣" for letter in done.said) is (lang == "ko")


@pytest.mark.parametrize("command", [("write-all",), ("write", "1")])
def test_no_book_here(book: Book, command: tuple[str, ...]) -> None:
    """Without `book.toml`: exit 2, with a sentence that names it; nothing is made."""
    (book.root / "book.toml").unlink()
    done = book.segue(*command, "--lang", "en")
    assert done.code == 2, done.said
    assert "book.toml" in done.said
    assert not book.meta.exists()


def test_continue_without_book_toml(book: Book) -> None:
    """What the state says is enough: a `book.toml` is written and shown, and the book goes on."""
    book.begun(1, 2, max_iterations=7)
    (book.root / "book.toml").unlink()
    book.writer("""
        if ".judge." in environ["SEGUE_TASK"]:
            print('{"score": 90}')
            sys.exit(0)
    """)
    assert book.segue("resume", "--status").code == 0, "it can be looked at before"
    done = book.segue("resume", "--continue", "--lang", "en")
    assert done.code == 0, done.said
    told = tomllib.loads((book.root / "book.toml").read_text("utf-8"))
    assert (told["title"], told["chapters"], told["max_iterations"]) == ("long-night", 2, 7)
    assert "chapters = 2" in done.out
    assert book.state["completed_chapters"] == [1, 2]


BAD_JUDGES = [
    "print('I like it.'); sys.exit(0)",
    "print('{\"score\": 85'); sys.exit(0)",
    "score = 101",
    "score = -1",
    "score = 'good'",
    "score = True",
    "score = None",
    "score = float('nan')",
    "print('{\"reasons\": []}'); sys.exit(0)",
    "print('[90]'); sys.exit(0)",
    "print('no model loaded'); sys.exit(7)",
    'print(\'{"score": 95, "reasons": []}\'); sys.exit(7)',
    "sys.exit(0)",
    "os.kill(os.getpid(), 9)",
]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(code, "agent" if n % 2 else "command") for n, code in enumerate(BAD_JUDGES)],
)
def test_a_broken_judge_is_not_the_fault_of_the_writer(book: Book, code: str, kind: str) -> None:
    """No try is used up, nothing is accepted; mended, it judges what was written."""
    if kind == "agent":
        book.toml(2, judge='judge = "critic"\n')
    book.judge(code)
    done = book.write_all("--lang", "en", "--no-wait")
    assert done.code not in (0, 130), done.said
    assert "judge" in done.said.lower() or "critic" in done.said
    state = book.state
    check_shape(state)
    assert state["completed_chapters"] == [] and state["failed_chapters"] == []
    assert state["quality_scores"] == {} and state["retry_count"] == 0
    assert state["circuit_breaker"]["failure_count"] == 0
    assert not state["completed_at"] and state["can_resume"] is True
    assert book.written == [1]
    text = book.chapter(1).read_bytes()
    book.judge("")
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [1, 2]
    assert book.chapter(1).read_bytes() == text


def test_a_judge_that_is_not_there(book: Book) -> None:
    """The command cannot be found: told with its name; the writer is not blamed."""
    book.toml(1, judge='judge_command = ["no-such-judge"]\n')
    done = book.write_all()
    assert done.code not in (0, 1), done.said
    assert "no-such-judge" in done.said
    if book.state_path.exists():
        assert book.state["failed_chapters"] == []


@pytest.mark.parametrize("reasons", ["'one text'", "None", "[1, {'a': 2}]", "['x' * 100_000]"])
def test_strange_reasons_do_not_stop_the_book(book: Book, reasons: str) -> None:
    """A good score with reasons of a wrong kind: accepted or told as the judge's fault."""
    book.toml(1)
    book.judge(f"reasons = {reasons}")
    done = book.write_all()
    assert done.code in (0, 2, 3), done.said
    check_shape(book.state)
    assert book.state["failed_chapters"] == []


def test_a_second_writer_is_sent_away(book: Book) -> None:
    """Who holds the book is said, exit 2; the first one is not disturbed."""
    book.writer('if start == 1: hold("go")')
    going = book.start()
    until(lambda: book.written == [1], "the first chapter")
    before = book.state_path.read_bytes()
    for command in (("write-all",), ("write", "2")):
        done = book.segue(*command)
        assert done.code == 2, (command, done.said)
        assert str(going.pid) in done.said, "who holds it"
    for flag in ("--continue", "--restart", "--reset"):
        done = book.segue("resume", flag)
        assert done.code in (0, 2), (flag, done.said)
        assert str(going.pid) in done.said, "who holds it"
    assert book.state_path.read_bytes() == before
    assert book.segue("resume", "--status").code == 0
    book.box.release("go")
    assert going.end().code == 0
    assert book.written == [1, 2]


def test_a_folder_that_cannot_be_written(book: Book) -> None:
    """`chapters/` is read-only: told in words, never as a completed chapter."""
    book.chapters.mkdir()
    book.chapters.chmod(0o555)
    before = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps",
              "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []  # fmt: skip
    done = book.write_all(before=before)
    book.chapters.chmod(0o755)
    assert done.code in (1, 2, 3), done.said
    assert "chapter" in done.said
    assert list(book.chapters.iterdir()) == []
    if book.state_path.exists():
        assert book.state["completed_chapters"] == []


def test_a_file_where_the_chapters_should_be(book: Book) -> None:
    """`chapters` is a file: told in words, and it is still there."""
    book.chapters.write_text("mine")
    done = book.write_all()
    assert done.code in (1, 2, 3), done.said
    assert book.chapters.read_text() == "mine"
