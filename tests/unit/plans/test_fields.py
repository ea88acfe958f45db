"""The values of fields."""

from __future__ import annotations

import pytest

from segue.core.plan import Priority, Resume
from segue.plans.fields import (
    BadValue,
    Fields,
    blockers,
    command,
    duration_s,
    paths,
    priority,
    resume,
    retries,
    split_field,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("blocked by: T-1", ("blocked by", "T-1")),
        ("Blocked-By : T-1", ("blocked by", "T-1")),
        ("선행 태스크： T-1", ("blocked by", "T-1")),
        ("**verify**: make", ("verify", "make")),
        ("**verify:** make", ("verify", "make")),
        ("**verify: make**", ("verify", "make")),
        ("`run`: make", ("run", "make")),
        ("**files**: **/*.py", ("files", "**/*.py")),
        ("files: **/a.py, b/**", ("files", "**/a.py, b/**")),
        ("시간  제한: 5m", ("timeout", "5m")),
        ("steps:", ("steps", "")),
        ("작업: do this", None),
        ("note: verify: x", None),
        ("verify", None),
        (": x", None),
    ],
)
def test_a_field_is_known_by_its_key(text: str, found: tuple[str, str] | None) -> None:
    """A key is read in both languages and any spelling; other words with a colon are text."""
    assert split_field(text) == found


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("T-1", ("T-1",)),
        ("T-1, T-2;T-3、T-4 T-5", ("T-1", "T-2", "T-3", "T-4", "T-5")),
        ("T-1 and T-2 및 작업-3.", ("T-1", "T-2", "작업-3")),
        ("`T-1`, **T-2**, [T-3], [T-4](#t-4), T-1", ("T-1", "T-2", "T-3", "T-4")),
        ("build-the-api", ("build-the-api",)),
        ("none", ()),
        ("None.", ()),
        ("-", ()),
        ("없음", ()),
        ("", ()),
    ],
)
def test_blockers(value: str, ids: tuple[str, ...]) -> None:
    """Blockers are told apart whatever stands between and around them."""
    assert blockers(value) == ids


@pytest.mark.parametrize(
    ("value", "globs"),
    [
        ("a.py, b.py c.py", ("a.py", "b.py", "c.py")),
        ("`a b.py` 'c d' \"e f\"", ("a b.py", "c d", "e f")),
        ("src/{a,b}/**/*.py,x", ("src/{a,b}/**/*.py", "x")),
        ("없음", ()),
    ],
)
def test_paths(value: str, globs: tuple[str, ...]) -> None:
    """Globs are told apart; quotes, back-ticks and braces hold one together."""
    assert paths(value) == globs


@pytest.mark.parametrize(
    ("value", "bare"),
    [
        ("make", "make"),
        ("`make`", "make"),
        ("`a` && `b`", "`a` && `b`"),
        ("``echo `x` ``", "echo `x`"),
        ("echo `x`", "echo `x`"),
    ],
)
def test_commands(value: str, bare: str) -> None:
    """Back-ticks are taken off only if they hold the whole command."""
    assert command(value) == bare


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("90s", 90), ("5m", 300), ("2h", 7200), ("1h30m", 5400), ("1.5h", 5400), ("500ms", 0.5),
        ("`1h 30m`", 5400), ("5M", 300),
    ],
)  # fmt: skip
def test_durations(value: str, seconds: float) -> None:
    """A timeout is a number with its unit, or several."""
    assert duration_s(value) == pytest.approx(seconds)


@pytest.mark.parametrize("value", ["10", "", "5 minutes", "-5m", "m", "0s", "5분", "1e3s", "٣s"])
def test_bad_durations(value: str) -> None:
    """Anything else is refused, with the cure."""
    with pytest.raises(BadValue) as bad:
        duration_s(value)
    assert "90s" in bad.value.hint


@pytest.mark.parametrize("value", ["-1", "101", "two", "1.5", "²"])
def test_bad_retries(value: str) -> None:
    """Retries are a whole number from 0 to 100."""
    with pytest.raises(BadValue):
        retries(value)
    assert retries("0") == 0
    assert retries("100") == 100


def test_priorities() -> None:
    """Priorities are read in both languages; others are refused."""
    assert [priority(word) for word in ("Critical", "높음", "보통", "low")] == list(Priority)
    with pytest.raises(BadValue):
        priority("urgent")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("resume: conversation", ("resume", "conversation")),
        ("Resume : Conversation", ("resume", "Conversation")),
        ("**resume:** `restart`", ("resume", "`restart`")),
        ("재개: 대화", ("resume", "대화")),
        ("재개：처음부터", ("resume", "처음부터")),
        ("재개: conversation", ("resume", "conversation")),
        ("resume: 대화", ("resume", "대화")),
        ("resume: converstaion", ("resume", "converstaion")),
        ("resume: https://example.org/cv.pdf", None),
        ("Resume: the work of last week", None),
        ("재개: 회의는 두 시에", None),
        ("resume:", None),
        ("resumes: conversation", None),
    ],
)
def test_a_resume_field_is_known_by_its_key_and_its_words(
    text: str, found: tuple[str, str] | None
) -> None:
    """Also nearly spelt, so that it can be told; a sentence about something else is text."""
    assert split_field(text) == found


def test_how_a_task_resumes() -> None:
    """In both languages, with or without back-ticks; anything else is refused with the cure."""
    for value in ("conversation", "Conversation", "`conversation`", "**대화**", " 대화 "):
        assert resume(value) is Resume.CONVERSATION, value
    for value in ("restart", "`restart`", "RESTART", "처음부터"):
        assert resume(value) is Resume.RESTART, value
    for value in ("fresh", "`Fresh`", "새로", "새 대화"):
        assert resume(value) is Resume.FRESH, value
    for value in ("converstaion", "yes", "conversation restart", ""):
        with pytest.raises(BadValue) as bad:
            resume(value)
        assert "conversation" in bad.value.hint
        assert "fresh" in bad.value.hint
        assert "restart" in bad.value.hint


def test_a_resume_field_with_its_value_set_off_by_underscores() -> None:
    """What is known to be the field can also be read."""
    found = split_field("resume: _conversation_")
    assert found is None or resume(found[1]) is Resume.CONVERSATION


def test_lists_grow_and_the_later_of_others_wins() -> None:
    """A list given twice is joined; of anything else the later counts."""
    fields = Fields()
    for name, value in [
        ("blocked by", "T-1"), ("blocked by", "T-2, T-1"), ("files", "a"), ("files", "b"),
        ("agent", "claude"), ("agent", "codex"),
    ]:  # fmt: skip
        fields.put(name, value)
    assert fields.blocked_by == ("T-1", "T-2")
    assert fields.files == ("a", "b")
    assert fields.agent == "codex"


@pytest.mark.parametrize(
    "name", ["verify", "run", "agent", "timeout", "retries", "priority", "resume"]
)
def test_an_empty_field_is_refused(name: str) -> None:
    """A field that needs a value and has none says so."""
    with pytest.raises(BadValue):
        Fields().put(name, " `` ")
