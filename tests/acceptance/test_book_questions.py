"""A writer that asks: the book waits for its author, and what was decided is remembered."""

from __future__ import annotations

import pytest

from kit.book import Book, check_shape
from kit.box import Box
from kit.terminal import Terminal

ASKS = """
asked = re.search(r"\\[USER_QUESTION (\\w+)\\]", prompt)
if start == 1:
    print(f"[USER_QUESTION {asked[1]}]\\ncategory: choice\\nquestion: Does Mina live?\\noptions:")
    print("  - she lives\\n  - she drowns\\n[/USER_QUESTION]")
    sys.stdout.flush()
    time.sleep(0.2)
    sys.exit(0)
"""


@pytest.fixture
def book(box: Box) -> Book:
    """A book of two chapters whose writer asks a question in the first."""
    made = Book(box)
    made.toml(2)
    made.writer(ASKS)
    return made


def test_without_a_terminal_the_book_waits(book: Book) -> None:
    """Exit 3, the question is told; no try is used up, nothing is judged."""
    done = book.write_all("--lang", "en")
    assert done.code == 3, done.said
    assert "Does Mina live?" in done.said
    state = book.state
    check_shape(state)
    assert (state["can_resume"], state["current_chapter"]) == (True, 1)
    assert state["failed_chapters"] == [] and state["retry_count"] == 0
    assert book.judged == []
    (plan,) = book.segue("status", "--json").json["plans"]
    assert plan["state"] == "waiting"
    assert "Does Mina live?" in plan["gates"][0]["text"]


def test_what_the_author_decides_is_remembered(book: Book) -> None:
    """Answered at a terminal: the writer goes on with it, later chapters are told of it."""
    terminal = Terminal(book.box, "write-all", "--lang", "en")
    terminal.expect("[2] she drowns")
    terminal.expect("> ")
    terminal.type("2\r")
    done = terminal.end()
    assert done.code == 0, done.said
    assert book.written == [1, 1, 2]
    assert "she drowns" in book.prompts(1)[1]
    assert any("she drowns" in path.read_text() for path in book.wisdom.glob("*.md"))
    assert "she drowns" in book.prompts(2)[0]


def test_a_question_survives_and_is_asked_again(book: Book) -> None:
    """Asked without a terminal, answered later by `segue resume` at one, once."""
    assert book.write_all().code == 3
    terminal = Terminal(book.box, "resume", "--continue", "--lang", "en")
    terminal.expect("[1] she lives")
    terminal.expect("> ")
    terminal.type("1\r")
    done = terminal.end()
    assert done.code == 0, done.said
    assert book.written == [1, 1, 2]
    assert "she lives" in book.prompts(1)[1]
