"""Fixtures of the acceptance tests: a project in a temporary folder, and the real command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.box import Box

# Whole commands with the sandbox as users have it by default: these agents name no process of
# their own by its id, which is another one outside.
IN_SANDBOX = ("test_order", "test_failed", "test_signals", "test_tries", "test_marks", "test_bytes")


@pytest.fixture
def box(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Box]:
    """A project folder of its own; whatever still runs in it afterwards is ended."""
    made = Box(tmp_path)
    if request.path.stem in IN_SANDBOX:
        made.confine()
    yield made
    made.end_everything()
