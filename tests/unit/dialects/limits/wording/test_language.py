"""The table of one language: what is in none of its rows."""

from __future__ import annotations

from segue.dialects.limits.wording.ko import KOREAN
from segue.dialects.limits.wording.language import sentence_at


def test_a_message_is_made_of_known_words() -> None:
    """What somebody reports has words of its own."""
    assert KOREAN.unknown_share("주간 한도에 도달했습니다.") < 0.1
    assert KOREAN.unknown_share("결제 모듈 리팩터링을 마쳤고 배포도 끝냈습니다.") > 0.3


def test_a_sentence_ends_where_the_next_begins() -> None:
    """A condition in one sentence says nothing about another."""
    text = "Limit erreicht. Wenn es eilt, warten Sie nicht."
    assert sentence_at(text, 0) == "Limit erreicht"
    assert "Wenn" in sentence_at(text, 20)
