"""The part of a prompt that explains the protocol, read by the dialect that it explains."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from segue import i18n
from segue.dialects.events import (
    Asked,
    DependencyAsked,
    ErrorReported,
    Event,
    Garbled,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
)
from segue.dialects.text import Text
from segue.mcp import agent
from segue.work.phases.protocol import how_to_report

NONCE = "a1b2c3"


@pytest.fixture(params=["en", "ko"], autouse=True)
def _language(request: pytest.FixtureRequest) -> Iterator[None]:
    i18n.use(request.param)
    yield
    i18n.use("en")


def told(text: str, nonce: str | None) -> list[Event]:
    dialect = Text(nonce or NONCE, is_own=nonce is None)
    events = [*dialect.feed(text.encode()), *dialect.close()]
    return [event for event in events if not isinstance(event, Said)]


@pytest.mark.parametrize("nonce", [NONCE, None])
@pytest.mark.parametrize("phase", [2, None])
@pytest.mark.parametrize("has_tools", [False, True])
def test_an_agent_that_repeats_its_prompt_reports_nothing(
    phase: int | None, nonce: str | None, has_tools: bool
) -> None:
    """The markers of the explanation are no markers; its example blocks say nothing."""
    events = told(how_to_report(phase, nonce, has_tools), nonce)
    assert all(isinstance(event, Garbled) for event in events)
    assert len(events) == (0 if has_tools else 3)


@pytest.mark.parametrize("nonce", [NONCE, None])
@pytest.mark.parametrize(("phase", "event"), [(2, PhaseDone(2)), (None, TaskDone())])
@pytest.mark.parametrize("has_tools", [False, True])
def test_the_markers_work(
    phase: int | None, event: Event, nonce: str | None, has_tools: bool
) -> None:
    """Printed alone on its line, the marker that is shown completes what was given to do."""
    shown = re.findall(r"=== .*? ===", how_to_report(phase, nonce, has_tools))
    assert shown
    *steps, done = shown
    assert told(done + "\n", nonce) == [event]
    assert [told(step.replace("N", "3", 1), nonce) for step in steps] == [[StepDone(3)]] * len(
        steps
    )
    assert bool(steps) == (phase is not None and not has_tools)


@pytest.mark.parametrize("nonce", [NONCE, None])
def test_the_blocks_work(nonce: str | None) -> None:
    """Filled in, each block that is shown is heard."""
    text = how_to_report(1, nonce, False).replace("…", "A_NAME")
    assert told(text, nonce) == [
        DependencyAsked("api_key", "A_NAME", "A_NAME"),
        Asked("A_NAME", ("A_NAME", "A_NAME"), "A_NAME", "choice"),
        ErrorReported("recoverable", "A_NAME", "pause_and_retry"),
    ]


@pytest.mark.parametrize("phase", [1, None])
def test_the_tools_that_are_named_exist(phase: int | None) -> None:
    """Every tool of the text is one that the agent gets, and it is short."""
    text = how_to_report(phase, None, True)
    named = set(re.findall(r"`(\w+)`", text))
    assert named <= {tool.name for tool in agent.tools({})}
    assert len(named) >= 4
    assert len(text) < 900
    assert len(how_to_report(phase, NONCE, False)) < 2_000
