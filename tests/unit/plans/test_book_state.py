"""`meta/ralph-state.json`: read, written, and what its schema says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from segue import i18n
from segue.core.book import BookState, Breaker
from segue.plans.book_state import (
    BREAKER,
    FIELDS,
    LIST_MAX,
    OWN_FIELDS,
    DamagedError,
    NewerError,
    parse,
    render,
    render_reset,
    schema,
)

SPEC = [
    "schema_version",
    "project_id",
    "mode",
    "ralph_active",
    "can_resume",
    "started_at",
    "last_checkpoint",
    "last_updated",
    "completed_at",
    "total_chapters",
    "total_acts",
    "current_act",
    "current_chapter",
    "completed_chapters",
    "failed_chapters",
    "quality_scores",
    "last_quality_score",
    "quality_threshold",
    "retry_count",
    "iteration",
    "max_iterations",
    "last_error",
    "pause_reason",
    "circuit_breaker",
]
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
VALIDATOR = Draft202012Validator(schema())
NULLABLE = {
    "mode", "started_at", "last_checkpoint", "last_updated", "completed_at", "last_quality_score",
    "last_error", "pause_reason",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _english() -> None:
    i18n.use("en")


def dump(told: Any) -> bytes:
    return json.dumps(told, allow_nan=False).encode()


def read(told: Any) -> BookState:
    return parse(dump(told))


def why(told: Any) -> str:
    with pytest.raises(DamagedError) as caught:
        read(told)
    return str(caught.value)


# Writing and reading again

texts = st.text(max_size=20)
scores = st.floats(-1e9, 1e9) | st.integers(0, 100)
unknown = st.dictionaries(
    st.text(max_size=8).map(lambda name: f"x_{name}"),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


@st.composite
def states(draw: st.DrawFn) -> BookState:
    total = draw(st.integers(1, 30))
    chapters = st.sets(st.integers(1, total)).map(lambda found: tuple(sorted(found)))
    count = st.integers(0, 10**9)
    maybe = st.none() | texts
    return BookState(
        project_id=draw(texts),
        total_chapters=total,
        total_acts=draw(count),
        quality_threshold=draw(scores),
        max_iterations=draw(count),
        mode=draw(maybe),
        ralph_active=draw(st.booleans()),
        can_resume=draw(st.booleans()),
        started_at=draw(maybe),
        last_checkpoint=draw(maybe),
        last_updated=draw(maybe),
        completed_at=draw(maybe),
        current_act=draw(count),
        current_chapter=draw(st.integers(1, total)),
        completed_chapters=draw(chapters),
        failed_chapters=draw(chapters),
        quality_scores=draw(st.dictionaries(st.integers(1, total), scores)),
        last_quality_score=draw(st.none() | scores),
        retry_count=draw(count),
        iteration=draw(count),
        last_error=draw(maybe),
        pause_reason=draw(maybe),
        circuit_breaker=draw(
            st.builds(
                Breaker, count, st.lists(texts, max_size=3).map(tuple), st.booleans(), unknown
            )
        ),
        schema_version=draw(st.integers(0, 1) | st.sampled_from(["1", "1.2"])),
        step=draw(count),
        tries=draw(st.dictionaries(st.integers(1, total), count)),
        scores=tuple(draw(st.lists(scores, max_size=3))),
        is_written=draw(st.booleans()),
        is_due=draw(st.booleans()),
        more=draw(unknown),
    )


@settings(calm, max_examples=40)
@given(states())
def test_a_state_that_was_written_is_read_as_it_was(state: BookState) -> None:
    """Every field, ours and those of others; and the schema agrees with what was written."""
    data = render(state)
    assert parse(data) == state
    assert render(parse(data)) == data
    VALIDATOR.validate(json.loads(data))


@settings(calm, max_examples=40)
@given(states())
def test_every_field_of_the_documentation_is_written_each_time(state: BookState) -> None:
    """In its order, before everything else."""
    told = json.loads(render(state))
    assert [name for name in told if name in SPEC] == SPEC
    assert set(told) - set(SPEC) == {"segue", *state.more}
    assert {"failure_count", "failure_reasons", "triggered"} <= set(told["circuit_breaker"])


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_a_character_of_another_tool_goes_through(text: str) -> None:
    """JSON can write half a surrogate pair, and UTF-8 cannot: the file stays readable."""
    state = read({"last_error": text, "x_note": text})
    data = render(state)
    assert parse(data) == state
    assert json.loads(data)["x_note"] == text


def test_what_others_keep_never_takes_the_place_of_a_field() -> None:
    """Even if it bears the name of one."""
    state = BookState("night", 3, more={"total_chapters": 99, "segue": 1, "x": 2})
    told = json.loads(render(state))
    assert (told["total_chapters"], told["x"]) == (3, 2)
    assert isinstance(told["segue"], dict)


def test_what_is_missing_has_its_default() -> None:
    """An empty object is a state; a new one where nothing was begun."""
    state = read({})
    assert state == BookState("", 0)
    assert not state.ralph_active
    assert not state.can_resume


def test_a_state_without_our_own_part_begins_its_steps_at_its_iterations() -> None:
    """Another tool wrote it."""
    assert read({"iteration": 7}).step == 7
    assert read({"iteration": 7, "segue": {"step": 9}}).step == 9
    assert read({"iteration": 7, "segue": "what?"}).step == 7


def test_chapters_are_in_order_and_named_once() -> None:
    """Whatever order another tool wrote them in."""
    state = read({"total_chapters": 9, "completed_chapters": [3, 1, 3], "failed_chapters": [2]})
    assert (state.completed_chapters, state.failed_chapters) == ((1, 3), (2,))


def test_whole_numbers_may_be_written_with_a_point() -> None:
    """JSON knows one sort of numbers; some tools write all of them so."""
    state = read({"schema_version": 1.0, "total_chapters": 3.0, "completed_chapters": [1.0, 2.0]})
    assert (state.schema_version, state.total_chapters, state.completed_chapters) == (1, 3, (1, 2))
    assert b"3.0" not in render(state)


def test_a_reset_state_has_exactly_five_fields() -> None:
    """And can be read as a state in which nothing is going on."""
    data = render_reset("2026-03-01T12:00:00Z")
    assert json.loads(data) == {
        "ralph_active": False,
        "can_resume": False,
        "mode": None,
        "reset_at": "2026-03-01T12:00:00Z",
        "reset_reason": "user_requested",
    }
    state = parse(data)
    assert (state.total_chapters, state.ralph_active, state.can_resume) == (0, False, False)


# Damage


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"3",
        b"\xff\xfe",
        b'{"a": 1,}',
        b"\x00" * 50,
        b"[" * 100_000,
    ],
)
def test_bytes_that_are_no_object_are_damage(data: bytes) -> None:
    """Empty, torn, of another kind: told in words."""
    with pytest.raises(DamagedError, match="JSON"):
        parse(data)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("field", ["last_quality_score", "x_other"])
def test_what_is_no_number_of_json_is_damage(field: str, number: str) -> None:
    """Written again, no other tool could read it."""
    with pytest.raises(DamagedError):
        parse(f'{{"{field}": {number}}}'.encode())


@pytest.mark.parametrize("field", ["last_quality_score", "total_chapters", "iteration"])
def test_a_number_beyond_all_measure_is_damage(field: str) -> None:
    """However many digits it has."""
    with pytest.raises(DamagedError):
        parse(f'{{"{field}": {"9" * 400}}}'.encode())


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"total_chapters": "12"}, '`total_chapters` cannot be "12"'),
        ({"total_chapters": None}, "`total_chapters` cannot be null"),
        ({"total_chapters": True}, "`total_chapters` cannot be true"),
        ({"total_chapters": 2.5}, "`total_chapters` cannot be 2.5"),
        ({"iteration": -1}, "`iteration` cannot be -1"),
        ({"ralph_active": 1}, "`ralph_active` cannot be 1"),
        ({"project_id": None}, "`project_id` cannot be null"),
        ({"completed_chapters": {"1": 1}}, '`completed_chapters` cannot be {"1": 1}'),
        ({"completed_chapters": [0]}, "`completed_chapters` cannot be [0]"),
        ({"failed_chapters": ["1"]}, '`failed_chapters` cannot be ["1"]'),
        ({"quality_scores": [90]}, "`quality_scores` cannot be [90]"),
        ({"quality_scores": {"one": 90}}, '`quality_scores` cannot be {"one": 90}'),
        ({"quality_scores": {"1": None}}, '`quality_scores` cannot be {"1": null}'),
        ({"circuit_breaker": []}, "`circuit_breaker` cannot be []"),
        ({"circuit_breaker": {"triggered": "no"}}, '`circuit_breaker.triggered` cannot be "no"'),
        (
            {"circuit_breaker": {"failure_reasons": [1]}},
            "`circuit_breaker.failure_reasons` cannot be [1]",
        ),
        ({"segue": {"step": "1"}}, '`segue.step` cannot be "1"'),
    ],
)
def test_a_field_of_the_wrong_sort_is_named_with_its_value(told: dict[str, Any], said: str) -> None:
    """So that a person can mend it."""
    assert why(told) == said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"completed_chapters": [1, 4]},
            "`completed_chapters` names chapter 4, but the book has 3",
        ),
        ({"failed_chapters": [9]}, "`failed_chapters` names chapter 9, but the book has 3"),
        ({"current_chapter": 4}, "`current_chapter` names chapter 4, but the book has 3"),
        ({"current_chapter": 0}, "`current_chapter` names chapter 0, but the book has 3"),
    ],
)
def test_chapters_that_the_book_does_not_have_are_damage(more: dict[str, Any], said: str) -> None:
    """But for a book that is finished: nothing is gone on with there."""
    assert why({"total_chapters": 3, **more}) == said
    read({"total_chapters": 3, "completed_at": "2026-03-01T00:00:00Z", **more})
    read(more)


@pytest.mark.parametrize("version", [2, "2", "2.1", 2.0, 10**12, "0002", "9" * 5000, 1e300])
def test_a_state_of_a_newer_version_is_not_damage(version: Any) -> None:
    """It is left alone, whatever else is in it."""
    with pytest.raises(NewerError):
        read({"schema_version": version, "total_chapters": "of another sort"})


@pytest.mark.parametrize("version", [1, "1", "1.9", 0, "v7", "", 1.0])
def test_a_version_of_ours_or_an_older_one_is_read(version: Any) -> None:
    """And is written as it was."""
    assert json.loads(render(read({"schema_version": version})))["schema_version"] == version


def test_lists_have_a_bound() -> None:
    """A state of hundreds of megabytes is none."""
    assert read({"circuit_breaker": {"failure_reasons": [""] * LIST_MAX}})
    assert "failure_reasons" in why({"circuit_breaker": {"failure_reasons": [""] * (LIST_MAX + 1)}})
    assert "completed_chapters" in why({"completed_chapters": [1] * (LIST_MAX + 1)})
    assert "scores" in why({"segue": {"scores": [1] * (LIST_MAX + 1)}})


# The schema that is shipped

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from(
        [10**9, 10**9 + 1, -(10**9), -(10**9) - 1, 10**30, 0.5, 3.0, -1.0, 1e9, 1e10, -1e10]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
    st.lists(st.integers(-1, 5) | st.floats(0, 5) | texts | st.none(), max_size=3),
    st.dictionaries(
        st.sampled_from(["1", "01", "0", "", "a", "²", "１", "-1", "123456789", "1234567890"]),
        st.integers(-1, 100) | st.floats(0, 100) | st.none() | texts,
        max_size=3,
    ),
)
good = {
    "schema_version": st.sampled_from([1, "1", "1.0", 0, "first", 1.0]),
    "quality_scores": st.dictionaries(st.sampled_from(["1", "2", "010"]), scores, max_size=2),
    "completed_chapters": st.lists(st.integers(1, 5), max_size=3),
    "failed_chapters": st.lists(st.integers(1, 5), max_size=3),
    "ralph_active": st.booleans(),
    "total_chapters": st.integers(0, 9),
    "project_id": texts,
}
breakers = st.fixed_dictionaries(
    {},
    optional={
        "failure_count": junk | st.integers(0, 5),
        "failure_reasons": junk | st.lists(texts, max_size=2),
        "triggered": junk | st.booleans(),
        "x_other": junk,
    },
)
own = st.fixed_dictionaries(
    {},
    optional={
        "step": junk | st.integers(0, 5),
        "tries": junk | st.dictionaries(st.sampled_from(["1", "2"]), st.integers(0, 9), max_size=2),
        "scores": junk | st.lists(scores, max_size=2),
        "is_written": junk | st.booleans(),
        "is_due": junk | st.booleans(),
        "x_other": junk,
    },
)
documents = st.fixed_dictionaries(
    {},
    optional={
        **{name: good.get(name, texts) | junk for name in FIELDS},
        "circuit_breaker": breakers | junk,
        "segue": own | junk,
        "reset_at": junk,
        "reset_reason": junk,
        "x_other": junk,
    },
)


def is_accepted(told: Any) -> bool | None:
    """What the reader says; None where only the numbers of chapters, or the version, decide."""
    try:
        read(told)
    except NewerError:
        return None
    except DamagedError as error:
        return None if "but the book has" in str(error) else False
    return True


def check(told: Any) -> None:
    accepted = is_accepted(told)
    if accepted is not None:
        errors = [error.message for error in VALIDATOR.iter_errors(told)]
        assert accepted == (not errors), (told, errors)


@settings(calm, max_examples=150)
@given(documents | junk)
def test_the_schema_accepts_what_the_reader_accepts(told: Any) -> None:
    """Whole documents with any values in any fields."""
    check(told)


@settings(calm, max_examples=400)
@given(st.sampled_from([*FIELDS, "circuit_breaker", "segue", "reset_at", "x_other"]), junk)
def test_the_schema_and_the_reader_agree_on_each_field(name: str, value: Any) -> None:
    """One field at a time, so that nothing hides behind another."""
    check({name: value})


@calm
@given(st.sampled_from([*BREAKER, "x_other"]), junk)
def test_the_schema_and_the_reader_agree_on_the_breaker(name: str, value: Any) -> None:
    """Field by field."""
    check({"circuit_breaker": {name: value}})


@calm
@given(st.sampled_from([*OWN_FIELDS, "x_other"]), junk)
def test_the_schema_and_the_reader_agree_on_our_own_part(name: str, value: Any) -> None:
    """Field by field."""
    check({"segue": {name: value}})


@pytest.mark.parametrize(
    "key", ["1", "01", "0", "", "a", "²", "１", "-1", " 1", "1.0", "123456789", "1234567890"]
)
def test_the_schema_and_the_reader_agree_on_what_names_a_chapter(key: str) -> None:
    """Digits, and no more than nine of them."""
    check({"quality_scores": {key: 5}})
    check({"segue": {"tries": {key: 5}}})


@pytest.mark.parametrize(
    "told",
    [
        {"circuit_breaker": {"failure_reasons": [""] * (LIST_MAX + 1)}},
        {"completed_chapters": [1] * (LIST_MAX + 1)},
        {"quality_scores": {str(n): 1 for n in range(LIST_MAX + 1)}},
        {"segue": {"scores": [1] * (LIST_MAX + 1)}},
        {"segue": {"tries": {str(n): 1 for n in range(LIST_MAX + 1)}}},
    ],
    ids=lambda told: str(told)[:30],
)
def test_the_schema_has_the_same_bounds(told: dict[str, Any]) -> None:
    """What is too long for the reader is too long for the schema."""
    assert is_accepted(told) is False
    assert not VALIDATOR.is_valid(told)


def test_the_schema_is_a_schema_and_names_every_field() -> None:
    """Those of the documentation, with null where null is a value."""
    shipped = schema()
    Draft202012Validator.check_schema(shipped)
    assert set(shipped["properties"]) == {*SPEC, "segue", "reset_at", "reset_reason"}
    nullable = {name for name in FIELDS if VALIDATOR.is_valid({name: None})}
    assert nullable == NULLABLE


def test_a_reset_state_fits_the_schema() -> None:
    """As other tools find it."""
    VALIDATOR.validate(json.loads(render_reset("2026-03-01T12:00:00Z")))


def test_a_state_is_not_changed_by_what_is_read_later() -> None:
    """States are values."""
    state = read({"total_chapters": 3, "x_list": [1]})
    assert replace(state, iteration=1) != state
    assert state == read({"total_chapters": 3, "x_list": [1]})
