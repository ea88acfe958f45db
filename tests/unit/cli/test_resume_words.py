"""Words instead of flags: what a sentence chooses, and what it must not choose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segue import i18n
from segue.cli.resume_words import ASK, PHRASES, chosen, split
from segue.errors import UserError

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


@pytest.fixture(autouse=True)
def _english() -> None:
    i18n.use("en")


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("이어서 써줘", "continue"),
        ("resume", "continue"),
        ("계속 집필", "continue"),
        ("어디까지 했지", "status"),
        ("어디까지 했지?", "status"),
        ("/resume", "continue"),
        ("중단된 거 이어서", "continue"),
        ("다시 시작", ASK),
        ("where was I", "status"),
        ("Where was I?", "status"),
    ],
)
def test_the_sentences_of_the_original_choose(text: str, choice: str) -> None:
    """To the letter, with or without the stroke and the question mark."""
    assert chosen(text) == choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("이어서써줘", "continue"),
        ("현재 챕터 재시작", ASK),
        ("상태만 확인", "status"),
        ("세션 초기화", ASK),
        ("세션초기화", ASK),
        ("처음부터 다시", ASK),
        ("처음부터 다시 써줘", ASK),
        ("resume해줘", "continue"),
        ("status보여줘", "status"),
        ("please continue", "continue"),
        ("Go on!", "continue"),
        ("how far are we", "status"),
        ("start over", ASK),
        ("please start all over again", ASK),
        ("reset", ASK),
        ("reset the state", ASK),
        ("start from scratch", ASK),
        ("go on from the beginning", ASK),
        ("where was I again", "status"),
        ("show the state", "status"),
        ("  GO   ON  ", "continue"),
    ],
)
def test_what_people_say_in_both_languages_chooses(text: str, choice: str) -> None:
    """Blanks, case and endings do not matter."""
    assert chosen(text) == choice


@pytest.mark.parametrize(
    ("phrase", "choice"),
    [(phrase, choice) for choice, phrases in PHRASES.items() for phrase in phrases],
)
def test_every_known_phrase_chooses_what_it_stands_for(phrase: str, choice: str) -> None:
    """None is overruled by a part of itself."""
    assert chosen(phrase) == choice


@pytest.mark.parametrize("text", ["", "hello", "안녕", "?", "continued", "resettle", "prestart"])
def test_a_sentence_that_says_nothing_chooses_nothing(text: str) -> None:
    """Parts of other words are no words; the cure is named."""
    with pytest.raises(UserError) as caught:
        chosen(text)
    assert caught.value.problem.code == "usage"
    assert caught.value.problem.hint


@pytest.mark.parametrize(
    "text",
    [
        "초기화하지 마",
        "초기화 하지마",
        "초기화하지 말아줘",
        "초기화 말고 이어서",
        "초기화 안 해",
        "초기화하지 않고 이어서",
        "don't reset anything",
        "don’t reset",
        "do not reset",
        "never reset this",
        "no reset please",
        "dont wipe it",
        "go on without a reset",
        "don't continue",
    ],
)
def test_a_sentence_with_a_not_in_it_changes_nothing(text: str) -> None:
    """Fail closed: a place that was reset by mistake is a place lost."""
    with pytest.raises(UserError) as caught:
        chosen(text)
    assert caught.value.problem.code == "usage"


@pytest.mark.parametrize("text", ["reset or go on", "이어서 초기화", "이어서 집필하고 다시 시작"])
def test_a_sentence_that_would_begin_something_again_asks_whatever_else_it_says(text: str) -> None:
    """The four choices are cheap; a text that was rewritten by mistake is not."""
    assert chosen(text) == ASK


def test_a_sentence_that_says_two_things_chooses_none() -> None:
    """Both are named."""
    with pytest.raises(UserError) as caught:
        chosen("resume the status")
    assert "continue, status" in caught.value.problem.message


def test_a_not_beside_a_question_is_still_a_question() -> None:
    """To show the state changes nothing."""
    assert chosen("I do not know where was I") == "status"


@calm
@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    """One of the choices, or an error in words."""
    try:
        assert chosen(text) in PHRASES
    except UserError as error:
        assert error.problem.hint


# Paths among the words


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "novel").mkdir()
    (tmp_path / "PLAN.md").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "path", "choice"),
    [
        ((), ".", None),
        (("novel",), "novel", None),
        (("./novel",), "novel", None),
        (("PLAN.md",), "PLAN.md", None),
        (("novel", "이어서", "써줘"), "novel", "continue"),
        (("이어서", "써줘"), ".", "continue"),
        (("where was I",), ".", "status"),
        (("go", "on", "./novel"), "novel", "continue"),
        (("go", "on", "PLAN.md"), "PLAN.md", "continue"),
        (("/resume",), ".", None),  # the name of the command alone: what to do is asked
        (("resume",), ".", None),
        (("/write-all",), ".", None),
        (("/resume", "계속"), ".", "continue"),
        (("novel", "resume"), "novel", None),
        (("where", "was", "I?"), ".", "status"),
    ],
)
def test_a_path_may_stand_before_or_behind_the_words(
    here: Path, words: tuple[str, ...], path: str, choice: str | None
) -> None:
    """Without one it is here."""
    assert split(words) == (Path(path), choice)


@pytest.mark.parametrize(
    "word", ["./nowhere", "/no/where", "missing.md", "../no/where", "~/nowhere-x"]
)
def test_a_path_that_is_not_there_is_told_as_a_path(here: Path, word: str) -> None:
    """Not taken for words."""
    with pytest.raises(UserError) as caught:
        split((word,))
    assert caught.value.problem.code == "path_not_found"
    assert caught.value.problem.file == str(Path(word))


def test_a_long_sentence_in_one_argument_is_words(here: Path) -> None:
    """Too long for a name of a file."""
    assert split(("이어서 써줘 " * 100,)) == (Path(), "continue")
