"""Quick looks before close ones: they must never turn away what a close look would find."""

from __future__ import annotations

import re
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segue.dialects.limits.wording import matching, words
from segue.dialects.limits.wording.pattern import Pattern
from segue.dialects.limits.wording.patterns import PATTERNS
from segue.dialects.limits.wording.phrases import SLOT

PHRASES = [(pattern, phrase) for pattern in PATTERNS for phrase in pattern.phrases]
written = partial(st.from_regex, fullmatch=True)
often = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
# What is looked at behind or before a place: left out, so that texts can be made of the rest.
AROUND = re.compile(r"\\b|\(\?<?[=!](?:[^()\[\]]|\[(?:\\.|[^\]])*\]|\((?:[^()]|\([^()]*\))*\))*\)")


def plain(source: str) -> re.Pattern[str]:
    return re.compile(AROUND.sub("", source), re.ASCII | re.IGNORECASE)


# Their `needs` are narrower than their phrases: what has none of the words does not count.
NARROW = frozenset({"auth", "balance", "network"})


@pytest.mark.parametrize(("pattern", "phrase"), PHRASES, ids=[p.id for p, _phrase in PHRASES])
def test_a_phrase_begins_as_it_says_and_has_what_it_needs(pattern: Pattern, phrase: str) -> None:
    """Whatever a phrase can be: the words of the table are in it."""
    before, slot, after = phrase.partition(SLOT)

    @often
    @given(written(plain(before)), written(plain(after)))
    def holds(first: str, last: str) -> None:
        text = f"{first}usage limit{last}" if slot else first
        if pattern.begins and before:
            assert text[: matching.BEGIN_CHARS].lower().startswith(pattern.begins)
        if pattern.needs and pattern.id not in NARROW:
            assert words.has_any(words.plain_lower(text), pattern.needs)

    holds()


def test_the_weightiest_pattern_counts_wherever_its_words_stand_in_the_table() -> None:
    """At the first place that has any; a brand's own words only from that brand."""
    line = "Error: you have exhausted your daily quota on this model"
    found = matching.first(line, [0, 7], "gemini", 2)
    assert found is not None
    assert (found.rule, found.kind, found.start) == ("gemini-quota", "daily_quota", 7)
    extra = "out of extra usage"
    assert [
        found.rule if (found := matching.first(extra, [0], brand, 0)) else None
        for brand in ("claude", "codex", "")
    ] == ["claude-extra-usage", "reached-limit", "claude-extra-usage"]


def test_what_must_not_stand_beside_it_turns_a_pattern_away() -> None:
    """Also where the speaker is not sure enough."""
    assert matching.first("the server is overloaded", [0], "", 0) is not None
    assert matching.first("the server is overloaded, says docker", [0], "", 0) is None
    assert matching.first("please wait 5 minutes.", [0], "", 0) is None
    assert matching.first("please wait 5 minutes.", [0], "", 1) is not None
