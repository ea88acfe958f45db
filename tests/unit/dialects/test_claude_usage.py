"""What a process of Claude Code has used, as far as it has told."""

from __future__ import annotations

from typing import Any

from segue.dialects.claude_usage import MESSAGES_MAX, Meter
from segue.dialects.events import Used


def message(id: object, read: int, written: int, **more: int) -> dict[str, Any]:
    return {"id": id, "usage": {"input_tokens": read, "output_tokens": written, **more}}


def models(read: int, written: int, cost: float | None) -> dict[str, Any]:
    told: dict[str, Any] = {"inputTokens": read, "outputTokens": written}
    return {"opus": told if cost is None else {**told, "costUSD": cost}}


def test_a_message_that_is_told_again_counts_once() -> None:
    """With what was told last."""
    meter = Meter()
    assert meter.message(message("a", 10, 1)) == Used(10, 1, None)
    assert meter.message(message("a", 10, 7)) == Used(10, 7, None)
    assert meter.message(message("b", 5, 2)) == Used(15, 9, None)


def test_nothing_new_tells_nothing() -> None:
    """Nor does a message without an id, or without tokens."""
    meter = Meter()
    meter.message(message("a", 10, 1))
    assert meter.message(message("a", 10, 1)) is None
    assert meter.message(message(None, 10, 1)) is None
    assert meter.message(message("b", 0, 0)) is None
    assert meter.message({}) is None


def test_what_was_read_from_and_into_the_cache_was_read() -> None:
    """All three counts."""
    more = {"cache_creation_input_tokens": 20, "cache_read_input_tokens": 300}
    assert Meter().message(message("a", 1, 1, **more)) == Used(321, 1, None)


def test_a_turn_counts_as_its_result_tells_it() -> None:
    """The next turn is added to it, and its cost as well."""
    meter = Meter()
    meter.message(message("a", 10, 1))
    first = {"model_usage_since_last_result": models(40, 8, 0.5)}
    assert meter.result(first) == Used(40, 8, 0.5)
    assert meter.message(message("b", 5, 2)) == Used(45, 10, 0.5)
    second = {"model_usage_since_last_result": models(6, 3, 0.25)}
    assert meter.result(second) == Used(46, 11, 0.75)


def test_an_interrupted_turn_counts_as_it_was_heard() -> None:
    """Its result tells nothing."""
    meter = Meter()
    meter.message(message("a", 10, 1))
    assert meter.result({"usage": {"input_tokens": 0, "output_tokens": 0}}) is None
    assert meter.message(message("b", 5, 2)) == Used(15, 3, None)


def test_sums_over_the_process_are_not_added_up() -> None:
    """`modelUsage` and `total_cost_usd` hold all turns so far."""
    meter = Meter()
    assert meter.result({"modelUsage": models(40, 8, 0.5), "total_cost_usd": 0.5}) == Used(
        40, 8, 0.5
    )
    assert meter.result({"modelUsage": models(60, 9, 0.7), "total_cost_usd": 0.7}) == Used(
        60, 9, 0.7
    )


def test_a_cost_that_not_every_model_tells_is_not_the_whole() -> None:
    """Then the sum over the process counts, if there is one; it never falls."""
    own = {"opus": {"outputTokens": 1, "costUSD": 0.5}, "haiku": {"outputTokens": 1}}
    meter = Meter()
    told = {"model_usage_since_last_result": own, "total_cost_usd": 0.9}
    assert meter.result(told) == Used(0, 2, 0.9)
    assert meter.result({"model_usage_since_last_result": own, "total_cost_usd": 0.1}) == Used(
        0, 4, 0.9
    )


def test_a_turn_of_many_messages_is_counted_whole() -> None:
    """Though only the last of them are remembered each."""
    meter = Meter()
    count = MESSAGES_MAX + 50
    for number in range(count):
        used = meter.message(message(str(number), 2, 1))
    assert used == Used(2 * count, count, None)
    assert len(meter._messages) == MESSAGES_MAX
