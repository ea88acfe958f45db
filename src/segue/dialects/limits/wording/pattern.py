"""What one pattern is: a way to say that an agent is stopped, in one or more phrases."""

from __future__ import annotations

import re
from typing import NamedTuple

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.wording import words
from segue.dialects.limits.wording.words import alternatives

# What the phrases have in common.
BE = (
    r"(?:'re|'s|\s+(?:is|are|was|seems?|appears?))(?: (?:to be|currently|temporarily|now|still|also"
    r"|again))*\s+"
)
IS = rf"(?:(?:{alternatives(words.IS)}|'s)\s+)*"
# Any word but those that make it a case or a question.
ANY_WORD = (
    r"(?:(?!(?:if|when|whether|once|unless|until|how|what|why|that|which|to|not|for|will)\b)"
    r"[\w.'-]+ )"
)


class Pattern(NamedTuple):
    """A phrase is matched where a message may begin.

    `kind` is empty where the words decide it (kinds.py). `never` must not stand in the same line.
    `trust` is how sure it must be that the program itself speaks: 1, it does or nothing else is
    said; 2, it does. Two quick looks come before the close one: `begins`, how a phrase begins in
    small letters (unless with the name of a limit), and `needs`, words without one of which in the
    line it does not count; empty where they would not help.
    """

    id: str
    kind: str
    phrases: tuple[str, ...]
    never: Expression | None = None
    agents: tuple[str, ...] = ()  # empty: any
    trust: int = 0
    begins: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def holds_for(self, brand: str) -> bool:
        return not self.agents or not brand or brand in self.agents


def one(
    id_: str,
    kind: str,
    *phrases: str,
    never: str = "",
    agents: str = "",
    trust: int = 0,
    begins: str = "",
    needs: str = "",
) -> Pattern:
    """A pattern, its lists of words written in one piece."""
    no = Expression(never, re.IGNORECASE) if never else None
    brands, first, needed = tuple(agents.split()), tuple(begins.split()), tuple(needs.split())
    return Pattern(id_, kind, phrases, no, brands, trust, first, needed)
