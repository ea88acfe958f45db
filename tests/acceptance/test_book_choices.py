"""The four choices of `segue resume` at a terminal, and words instead of flags."""

from __future__ import annotations

import pytest

from kit.book import Book, box_lines, width
from kit.box import Box
from kit.terminal import Terminal

RESET = "세션이 초기화되었습니다. /write-all로 새 세션을 시작하세요."
CHOICES = ("어떻게 진행하시겠습니까?", "이어서 집필", "중단 지점(4화)부터 계속", "현재 챕터 재시작",
           "4화만 다시 작성", "상태만 확인", "상세 진행 상황 표시 후 종료", "세션 초기화",
           "상태 리셋 (백업 생성 후)")  # fmt: skip


@pytest.fixture
def book(box: Box) -> Book:
    """A book of five chapters, three of them completed."""
    made = Book(box)
    made.toml(5)
    made.begun(3, 5)
    return made


def asked(book: Book) -> Terminal:
    terminal = Terminal(book.box, "--lang", "ko", "resume")
    for text in CHOICES:
        terminal.expect(text)
    return terminal


def test_the_first_choice_continues(book: Book) -> None:
    """All four choices are shown in the words of the original; 1 goes on to the end."""
    terminal = asked(book)
    terminal.type("1\r")
    assert terminal.end().code == 0
    assert book.written == [4, 5]


def test_the_second_choice_restarts_the_chapter(book: Book) -> None:
    """2 writes the current chapter and no other."""
    terminal = asked(book)
    terminal.type("2\r")
    assert terminal.end().code == 0
    assert book.written == [4]


def test_the_third_choice_shows_the_state(book: Book) -> None:
    """3 shows it and ends; nobody is started."""
    terminal = asked(book)
    terminal.type("3\r")
    terminal.expect("세션 상세 현황")
    assert terminal.end().code == 0
    assert book.written == []


def test_the_fourth_choice_resets(book: Book) -> None:
    """4 backs up and resets (asked once more or not)."""
    terminal = asked(book)
    terminal.type("4\r")
    terminal.expect(RESET)
    assert terminal.end().code == 0
    assert book.state["reset_reason"] == "user_requested"
    assert len(book.backups()) == 1


def test_a_wrong_key_is_asked_again(book: Book) -> None:
    """Nonsense chooses nothing; Ctrl-C leaves everything as it is."""
    terminal = asked(book)
    before = book.state_path.read_bytes()
    terminal.type("9\r")
    terminal.expect("1부터 4까지의 숫자를 입력하세요.")
    terminal.expect(CHOICES[0], times=2)
    terminal.type("\x03")
    assert terminal.end().code in (3, 130)
    assert book.state_path.read_bytes() == before
    assert book.written == []


def test_choices_in_english(book: Book) -> None:
    """Four choices without a Korean letter, by the same keys."""
    terminal = Terminal(book.box, "--lang", "en", "resume")
    terminal.expect("4")
    terminal.expect("?")
    assert not any("가" <= letter <= "힣" for letter in terminal.text)
    terminal.type("3\r")
    done = terminal.end()
    assert done.code == 0
    assert "60%" in done.out
    assert book.written == []


def test_the_box_fits_the_terminal(book: Book) -> None:
    """A long name, many failed chapters: no line is longer than the terminal is wide."""
    book.toml(99)
    book.begun(3, 99, project_id="긴 밤 " * 60, failed_chapters=list(range(20, 90)))
    terminal = Terminal(book.box, "--lang", "en", "resume", "--status")
    lines = box_lines(terminal.end().out)
    assert lines
    assert len({width(line) for line in lines}) == 1
    assert width(lines[0]) <= 120


# --- words


@pytest.mark.parametrize(
    "words",
    ["이어서 써줘", "계속 집필", "중단된 거 이어서", "continue", "keep writing", "go on", "continue writing please"],
)  # fmt: skip
def test_words_that_mean_continue(book: Book, words: str) -> None:
    """Said as several arguments, in both languages, without asking."""
    done = book.segue("resume", *words.split())
    assert done.code == 0, done.said
    assert book.written == [4, 5]


def test_words_in_quotes(book: Book) -> None:
    """Said as one argument."""
    assert book.segue("resume", "이어서 써줘").code == 0
    assert book.written == [4, 5]


@pytest.mark.parametrize("words", ["어디까지 했지", "where was I", "where was i?", "status"])
def test_words_that_ask_where_it_stands(book: Book, words: str) -> None:
    """The state view; nothing is written."""
    before = book.state_path.read_bytes()
    done = book.segue("resume", *words.split())
    assert done.code == 0, done.said
    assert "60%" in done.out
    assert book.written == []
    assert book.state_path.read_bytes() == before


@pytest.mark.parametrize("words", ["resume", "/resume"])
def test_the_name_of_the_command_itself(book: Book, words: str) -> None:
    """Offers the choices; on a pipe that is exit 3, and nothing is done."""
    done = book.korean(words)
    assert done.code == 3, done.said
    assert "중단된 세션 발견" in done.out
    assert book.written == []


@pytest.mark.parametrize("words", ["다시 시작", "처음부터 다시", "start over"])
def test_words_that_would_reset_or_rewrite_ask_first(book: Book, words: str) -> None:
    """The same in both languages: the four choices, exit 3 on a pipe, and nothing is done."""
    before = book.state_path.read_bytes()
    done = book.korean(*words.split())
    assert done.code == 3, done.said
    for choice in ("이어서 집필", "현재 챕터 재시작", "상태만 확인", "세션 초기화"):
        assert choice in done.out
    assert (book.written, book.backups()) == ([], [])
    assert book.state_path.read_bytes() == before


@pytest.mark.parametrize(
    "words", ["bake a cake", "no/such/folder", "don't reset anything", "초기화하지 마"]
)
def test_words_that_mean_nothing_do_nothing(book: Book, words: str) -> None:
    """Not understood, or taken back: nothing is done, and it is said."""
    before = book.state_path.read_bytes()
    done = book.segue("resume", *words.split())
    assert done.code in (2, 3), done.said
    assert done.said.strip()
    assert book.state_path.read_bytes() == before
    assert book.written == []


def test_a_path_is_still_a_path(book: Book) -> None:
    """`segue resume FOLDER` looks there; a folder may be called like a word."""
    other = Book(book.box, "continue")
    other.toml(5)
    other.begun(1, 5, project_id="another-night")
    done = book.segue("resume", "continue")
    assert done.code == 3, done.said
    assert "another-night" in done.out
    assert book.written == []
