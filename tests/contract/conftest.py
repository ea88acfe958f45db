"""Every test of the contract runs for every kind of work, but for the cells that `cells.py` lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contract.cells import NOT_APPLICABLE
from contract.known_differences import KNOWN
from contract.subjects import KINDS, Subject
from kit.box import Box

Make = Callable[..., Subject]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each kind; known differences are strict xfails."""
    if "kind" not in metafunc.fixturenames:
        return
    name = metafunc.function.__name__
    kinds = [kind for kind in KINDS if kind not in NOT_APPLICABLE.get(name, {})]
    cells = [pytest.param(kind, marks=_difference(name, kind)) for kind in kinds]
    metafunc.parametrize("kind", cells)


def _difference(name: str, kind: str) -> list[pytest.MarkDecorator]:
    """A known difference must be seen: a fix removes its row."""
    if kind not in KNOWN.get(name, {}):
        return []
    reason = KNOWN[name][kind]
    return [pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason)]


@pytest.fixture
def make(kind: str, tmp_path: Path) -> Iterator[Make]:
    """A subject of this kind; whatever it started is ended afterwards."""
    made: list[Subject] = []

    def one(voice: str = "text") -> Subject:
        made.append(KINDS[kind](Box(tmp_path), voice))
        return made[-1]

    yield one
    for subject in made:
        subject.close()


@pytest.fixture
def subject(make: Make) -> Subject:
    """Work whose agent speaks plain text (in a pane: the program there)."""
    return make()


@pytest.fixture
def structured(make: Make) -> Subject:
    """Work whose agent has structured output and conversations."""
    return make("claude")


@pytest.fixture
def spending(make: Make) -> Subject:
    """Work whose agent reports what it costs while it works."""
    return make("script")
