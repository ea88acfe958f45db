"""`segue resume` knows every kind of work."""

from __future__ import annotations

import pytest

from segue.cli.resume_kinds import RESUME_KINDS
from segue.work.kinds import KINDS


def test_every_kind_can_be_resumed() -> None:
    """A new kind has its words and ways here, too."""
    assert set(RESUME_KINDS) == set(KINDS)


@pytest.mark.parametrize("name", RESUME_KINDS)
def test_each_kind_asks_in_its_own_words(name: str) -> None:
    """The module of a kind is found."""
    assert RESUME_KINDS[name]().question().endswith("?")
