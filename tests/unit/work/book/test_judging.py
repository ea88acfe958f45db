"""The judge's word: the last JSON object with a score that it printed."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segue import i18n
from segue.core.book import Verdict
from segue.work.book.judging import REASON_CHARS_MAX, REASONS_MAX, dump, load, read

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


@pytest.fixture(autouse=True)
def _english() -> None:
    i18n.use("en")


def said(score: object, *reasons: object) -> str:
    return json.dumps({"score": score, "reasons": list(reasons)}, ensure_ascii=False)


@calm
@given(
    st.floats(0, 100) | st.integers(0, 100),
    st.lists(st.text(min_size=1, max_size=30).filter(str.strip), max_size=5),
    st.text(max_size=40),
    st.text(alphabet=st.characters(exclude_characters="{"), max_size=40),
)
def test_a_verdict_is_found_whatever_stands_around_it(
    score: float, reasons: list[str], before: str, after: str
) -> None:
    """Talk before and after, in any number of lines."""
    verdict = read(f"{before}\n{said(score, *reasons)}\n{after}")
    assert verdict == Verdict(score, tuple(reason.strip() for reason in reasons))


@calm
@given(st.text(max_size=200))
def test_no_output_breaks_the_reader(text: str) -> None:
    """A verdict, or why there is none."""
    assert isinstance(read(text), Verdict | str)


@calm
@given(st.floats(0, 100), st.lists(st.text(max_size=20), max_size=4).map(tuple))
def test_a_verdict_is_kept_in_the_tables_as_it_is(score: float, reasons: tuple[str, ...]) -> None:
    """There and back."""
    assert load(dump(Verdict(score, reasons))) == Verdict(score, reasons)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (f"{said(10)} no, rather {said(90)}", 90),
        (f'{said(90)}\n{{"note": "done"}}', 90),
        (f"```json\n{said(70)}\n```", 70),
        ('{"score": 80, "detail": {"score": 3}}', 80),
        (f"{{ not json {said(55)}", 55),
        ('{"score": 61}', 61),
        ('{"score": 0}', 0),
        ('{"score": 99.5, "reasons": []}', 99.5),
        ('{\n  "score": 77,\n  "reasons": [\n    "a"\n  ]\n}', 77),
    ],
)
def test_the_last_object_with_a_score_counts(text: str, score: float) -> None:
    """Objects without one are talk."""
    verdict = read(text)
    assert isinstance(verdict, Verdict)
    assert verdict.score == score


@pytest.mark.parametrize("text", ["", "90", "score: 90", "[90]", "{", '{"Score": 90}', '"score"'])
def test_without_an_object_there_is_no_verdict(text: str) -> None:
    """Told with the shape that is wanted."""
    assert '{"score"' in str(read(text))


@pytest.mark.parametrize("score", [-1, 100.1, "90", None, True, [90], 10**400])
def test_a_score_is_a_number_from_0_to_100(score: object) -> None:
    """Nothing is guessed."""
    found = read(said(score))
    assert isinstance(found, str)
    assert "0 to 100" in found


def test_not_a_number_is_no_score() -> None:
    """Python would read it."""
    assert isinstance(read('{"score": NaN}'), str)


@pytest.mark.parametrize("reasons", [5, None, {"a": 1}, [1], [["a"]]])
def test_reasons_are_texts(reasons: object) -> None:
    """Anything else is no verdict."""
    assert "reasons" in str(read(json.dumps({"score": 50, "reasons": reasons})))


def test_one_reason_alone_may_be_a_text() -> None:
    """It is meant well."""
    assert read('{"score": 50, "reasons": "too short"}') == Verdict(50, ("too short",))


def test_reasons_are_bounded_and_blank_ones_dropped() -> None:
    """So many, so long."""
    verdict = read(said(50, " ", "x" * 5000, *["y"] * 100))
    assert isinstance(verdict, Verdict)
    assert verdict.reasons[0] == "x" * REASON_CHARS_MAX
    assert len(verdict.reasons) == REASONS_MAX


def test_half_a_character_in_a_reason_becomes_a_whole_one() -> None:
    """JSON can say it, and no file can hold it."""
    verdict = read('{"score": 50, "reasons": ["dog \\ud83d"]}')
    assert verdict == Verdict(50, ("dog ?",))


def test_much_output_before_the_verdict_does_not_hide_it() -> None:
    """A judge that logs in JSON."""
    assert read('{"level": "info"}\n' * 30_000 + said(90)) == Verdict(90)


@pytest.mark.parametrize("text", ['{"a":' * 50_000, "{" * 250_000, '{"' * 100_000])
def test_hostile_output_is_read_in_bounded_time(text: str) -> None:
    """Processor time, as a busy machine has less of it."""
    start_s = time.process_time()
    assert isinstance(read(text), str)
    assert time.process_time() - start_s < 2
