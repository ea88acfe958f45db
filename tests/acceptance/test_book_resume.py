"""`segue resume` in a book: the sentences of the original, the box, the four choices."""

from __future__ import annotations

import json
from datetime import datetime
from unicodedata import normalize

import pytest

from kit.book import Book, box_lines, check_shape, width
from kit.box import Box

NONE = "중단된 세션이 없습니다. /write-all로 새 세션을 시작하세요."
COMPLETE = "이미 완료된 세션입니다. 새 세션은 /write-all로 시작하세요."
NOT_RESUMABLE = "복구 가능한 세션이 없습니다."
RESET = "세션이 초기화되었습니다. /write-all로 새 세션을 시작하세요."
WISDOM = "이전 세션에서 {}건의 지혜가 축적되었습니다"
TRIPPED = {
    "failure_count": 4,
    "failure_reasons": ["대사가 밋밋하다", "too long"],
    "triggered": True,
}


@pytest.fixture
def book(box: Box) -> Book:
    """A book of twelve chapters that nobody has begun."""
    made = Book(box)
    made.toml(12, "acts = 3\n")
    return made


def is_korean(text: str) -> bool:
    return any("가" <= letter <= "힣" for letter in text)


def test_no_state(book: Book) -> None:
    """Nothing was interrupted: the sentence of the original, exit 0, nothing is made."""
    done = book.korean()
    assert done.code == 0
    assert NONE in done.said
    english = book.segue("resume", "--lang", "en")
    assert english.code == 0
    assert "segue write-all" in english.said
    assert not is_korean(english.said)
    assert not book.meta.exists()


def test_a_completed_book(book: Book) -> None:
    """`completed_at` is there: nothing to resume, whatever the other fields say; exit 0."""
    book.begun(12, completed_at="2026-11-15T22:00:00+00:00")
    done = book.korean()
    assert (done.code, COMPLETE in done.said) == (0, True), done.said
    done = book.segue("resume", "--lang", "en")
    assert done.code == 0
    assert "segue write-all" in done.said and not is_korean(done.said)


@pytest.mark.parametrize("flag", [(), ("--continue",), ("--restart",)])
def test_a_book_that_cannot_be_resumed(book: Book, flag: tuple[str, ...]) -> None:
    """Neither active nor resumable: said, exit 0, nobody is started."""
    book.begun(3, ralph_active=False, can_resume=False)
    before = book.state_path.read_bytes()
    done = book.korean(*flag)
    assert (done.code, NOT_RESUMABLE in done.said) == (0, True), done.said
    assert book.written == []
    assert book.state_path.read_bytes() == before


@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True)])
def test_either_field_makes_it_resumable(book: Book, flags: tuple[bool, bool]) -> None:
    """`ralph_active` or `can_resume`: the box is shown; on a pipe it waits for a choice, exit 3."""
    book.begun(3, ralph_active=flags[0], can_resume=flags[1])
    done = book.korean()
    assert done.code == 3, done.said
    assert "중단된 세션 발견" in done.said
    assert book.written == []


def test_the_box_says_what_the_original_says(book: Book) -> None:
    """Project, progress, place, last work and mean score, in the words of the original."""
    book.begun(3, current_act=1)
    out = book.korean().out
    for text in ("중단된 세션 발견", "프로젝트: long-night", "진행: 3/12 챕터 완료", "현재 위치: 1막 4화",
                 "마지막 작업: ", "품질 점수 평균: 82"):  # fmt: skip
        assert any(text in line for line in box_lines(out)), f"{text} in\n{out}"
    for text in ("실패 챕터", "Circuit Breaker", "지혜"):
        assert text not in out, "only where it applies"


def test_the_box_speaks_english(book: Book) -> None:
    """The same facts without a Korean letter, if the book has none."""
    breaker = {**TRIPPED, "failure_reasons": ["too long"]}
    book.begun(3, failed_chapters=[2], completed_chapters=[1, 3], circuit_breaker=breaker)
    out = book.segue("--lang", "en", "resume").out
    assert not is_korean(out), out
    for text in ("long-night", "2/12", "82", "4"):
        assert text in out


def test_further_lines_where_they_apply(book: Book) -> None:
    """Failed chapters, the breaker with its count, the wisdom with its count."""
    book.begun(5, completed_chapters=[1, 3, 4], failed_chapters=[2, 5], circuit_breaker=TRIPPED)
    book.wisdom.mkdir(parents=True)
    for name in ("a.md", "b.md", "c.txt"):
        (book.wisdom / name).write_text("x")
    out = book.korean().out
    (failed,) = [line for line in out.splitlines() if "실패 챕터: " in line]
    assert "2" in failed and "5" in failed
    assert "Circuit Breaker 활성: 4회 실패" in out
    assert WISDOM.format(2) in out


NAMES = ["긴 밤, 등대지기의 노래", "🌙 night 🦉", normalize("NFD", "긴 밤"), "x" * 300, "밤" * 150,
         "a|b\tc", "끝\n줄", "é ü ö"]  # fmt: skip


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_the_box_is_straight(book: Book, number: int) -> None:
    """All lines have the same width on a terminal, whatever the book is called."""
    name, lang = NAMES[number], ("ko", "en")[number % 2]
    breaker = {**TRIPPED, "failure_reasons": [name, "대사가 " * 40]}
    book.begun(3, 99, project_id=name, failed_chapters=list(range(20, 90)), circuit_breaker=breaker)
    for flags in ((), ("--status",)):
        lines = box_lines(book.segue("--lang", lang, "resume", *flags).out)
        assert len(lines) >= 8
        assert len({width(line) for line in lines}) == 1, "\n".join(lines)


def test_the_state_view_says_what_the_original_says(book: Book) -> None:
    """Progress, quality, time and the completed list; nothing is changed; exit 0."""
    book.begun(3, circuit_breaker=TRIPPED)
    before = book.state_path.read_bytes()
    done = book.korean("--status")
    assert done.code == 0, done.said
    for text in ("세션 상세 현황", "-- 진행 상황 --", "전체: 12화", "완료: 3화", "실패: 0화", "남은: 9화",
                 "진행률: 25%", "-- 품질 정보 --", "마지막 점수: 83", "Circuit Breaker: 활성",
                 "실패 이유: ", "대사가 밋밋하다", "too long", "-- 시간 정보 --", "시작: ",
                 "마지막 체크포인트: ", "경과: ", "-- 완료된 챕터 --"):  # fmt: skip
        assert text in done.out, f"{text} in\n{done.out}"
    after = done.out[done.out.index("-- 완료된 챕터 --") :]
    assert all(number in after for number in "123")
    assert book.state_path.read_bytes() == before
    assert book.written == []
    assert book.backups() == []


def test_the_state_view_of_a_sound_book(book: Book) -> None:
    """The breaker is told as normal; English has no Korean letter."""
    book.begun(3)
    assert "Circuit Breaker: 정상" in book.korean("--status").out
    english = book.segue("resume", "--status", "--lang", "en").out
    assert not is_korean(english)
    assert "25%" in english


def test_a_state_with_the_fields_of_the_original_only(book: Book) -> None:
    """What another tool wrote with fewer fields is read, shown, and gone on with."""
    book.toml(3)
    book.begun(1, 3)
    few = ("project_id", "ralph_active", "can_resume", "total_chapters", "current_act",
           "current_chapter", "completed_chapters", "last_checkpoint", "last_quality_score")  # fmt: skip
    book.put({name: value for name, value in book.state.items() if name in few})
    assert "진행: 1/3 챕터 완료" in book.korean().out
    assert book.korean("--status").code == 0
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [2, 3]
    check_shape(book.state)


# --- doing it


def test_continue_goes_on(book: Book) -> None:
    """From the current chapter to the end; what is completed is not touched."""
    book.begun(10)
    texts = [book.chapter(n).read_bytes() for n in range(1, 11)]
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [11, 12]
    assert [book.chapter(n).read_bytes() for n in range(1, 11)] == texts
    assert book.state["completed_at"]


def test_continue_gives_the_wisdom(book: Book) -> None:
    """It reaches the writer's context."""
    book.begun(11)
    book.wisdom.mkdir(parents=True)
    (book.wisdom / "tone.md").write_text("Never call the lamp a lantern.\n")
    assert book.segue("resume", "--continue").code == 0
    assert "Never call the lamp a lantern." in book.prompts(12)[0]


def test_restart_takes_the_current_chapter_only(book: Book) -> None:
    """Its half text is kept beside it; the next chapter is not begun."""
    book.begun(3)
    book.chapter(4).write_text("Half of four")
    done = book.segue("resume", "--restart")
    assert done.code == 0, done.said
    assert book.written == [4]
    assert book.state["completed_chapters"] == [1, 2, 3, 4]
    assert not book.state["completed_at"]
    assert [path.parent for path in book.somewhere("Half of four")] == [book.chapters]


def test_restart_takes_the_half_chapter(book: Book) -> None:
    """A file whose number is not completed was being written, even if another is current."""
    book.begun(3, current_chapter=4)
    book.chapter(5).write_text("Half of five")
    done = book.segue("resume", "--restart")
    assert done.code == 0, done.said
    assert book.written == [5]
    assert book.somewhere("Half of five")


def test_reset_writes_exactly_five_fields(book: Book) -> None:
    """Backed up first; the chapters stay; the sentence of the original."""
    before = book.begun(3, x_other="kept in the backup")
    done = book.korean("--reset")
    assert (done.code, RESET in done.said) == (0, True), done.said
    state = book.state
    datetime.fromisoformat(state.pop("reset_at"))
    assert state == {"ralph_active": False, "can_resume": False, "mode": None,
                     "reset_reason": "user_requested"}  # fmt: skip
    (backup,) = book.backups()
    assert json.loads(backup.read_text()) == before
    assert book.chapter(3).exists()
    again = book.korean()
    assert (again.code, NOT_RESUMABLE in again.said) == (0, True), again.said


def test_reset_in_english(book: Book) -> None:
    """The English sentence names the command to begin with."""
    book.begun(3)
    done = book.segue("resume", "--reset", "--lang", "en")
    assert done.code == 0
    assert "segue write-all" in done.said and not is_korean(done.said)
