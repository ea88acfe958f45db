"""Building many objects at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from segue.core.bulk import no_collection


@pytest.fixture(autouse=True)
def _collecting() -> Iterator[None]:
    yield
    gc.enable()


def test_no_garbage_is_looked_for_meanwhile() -> None:
    """And afterwards it is again."""
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_puts_it_back_as_well() -> None:
    """A plan that cannot be read leaves the process as it was."""
    with pytest.raises(ValueError, match="broken"), no_collection():
        raise ValueError("broken")
    assert gc.isenabled()


def test_who_had_switched_it_off_finds_it_off() -> None:
    """Also where one is inside another."""
    gc.disable()
    with no_collection(), no_collection():
        pass
    assert not gc.isenabled()
