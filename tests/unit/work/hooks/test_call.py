"""One firing of a hook: what is believed of its payload."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from segue.work.hooks.call import Call
from segue.work.project import Project


def call(environ: dict[str, str] | None = None, **payload: Any) -> Call:
    notes: Any = None
    return Call("Stop", payload, environ or {}, Project(Path("/p")), notes, datetime.now(UTC))


def test_a_run_of_segues_is_known_by_its_environment() -> None:
    """A person's own agent by its absence."""
    assert call({"SEGUE_RUN": "T-1-1-ab", "SEGUE_PLACE": "/p/x.place"}).run == "T-1-1-ab"
    assert call({"SEGUE_PLACE": "/p/x.place"}).place_file == Path("/p/x.place")
    assert (call().run, call().place_file) == (None, None)


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", 7, None, "x" * 1000])
def test_a_name_that_is_none_of_a_conversation_is_no_conversation(name: object) -> None:
    """It could be part of a path."""
    assert call(session_id=name).conversation is None


def test_what_is_no_text_counts_as_none() -> None:
    """The payload comes from outside."""
    assert call(session_id="abc-123").conversation == "abc-123"
    assert (call(a="x").text("a"), call(a=3).text("a"), call().text("a")) == ("x", "", "")
