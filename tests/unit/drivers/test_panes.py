"""Panes: their events, and what is typed into them."""

from __future__ import annotations

import asyncio

import pytest

from kit.waiting import until_async
from segue.drivers.panes import (
    TEXT_CHARS_MAX,
    HostBack,
    HostGone,
    Pane,
    PaneAppeared,
    PaneChanged,
    PaneEvent,
    PaneEvents,
    PaneGone,
    check_text,
    key_bytes,
)
from segue.errors import Bug


def pane(number: int, host: str = "tmux", socket: str = "/run/s") -> Pane:
    pane_id = f"%{number}" if host == "tmux" else f"wezterm:{number}"
    return Pane(pane_id, host, socket, rows=24, columns=80)


def taken(*events: PaneEvent) -> list[PaneEvent]:
    """What a reader gets who looks after all of them were put."""

    async def main() -> list[PaneEvent]:
        queue = PaneEvents()
        for event in events:
            queue.put(event)
        queue.close()
        return [event async for event in queue]

    return asyncio.run(main())


def test_changes_that_wait_are_one() -> None:
    """A slow reader finds each pane that changed once, where it changed first."""
    many = [PaneChanged("%1"), PaneChanged("%2"), *[PaneChanged("%1")] * 1000]
    assert taken(*many) == [PaneChanged("%1"), PaneChanged("%2")]


def test_a_pane_that_went_has_not_changed() -> None:
    """Its going takes back what was waiting to be told of it."""
    assert taken(PaneChanged("%1"), PaneChanged("%2"), PaneGone("%1")) == [
        PaneChanged("%2"),
        PaneGone("%1"),
    ]


def test_a_pane_that_nobody_saw_never_was() -> None:
    """It appeared and went before anybody looked."""
    assert taken(PaneAppeared(pane(1)), PaneChanged("%1"), PaneGone("%1")) == []
    come_and_gone: list[PaneEvent] = [PaneAppeared(pane(1)), PaneGone("%1")]
    assert taken(*come_and_gone * 1000) == []


def test_a_host_that_goes_takes_everything_along() -> None:
    """After it there is only what came since."""
    events: list[PaneEvent] = [PaneAppeared(pane(1)), PaneChanged("%1"), HostGone("gone")]
    back: list[PaneEvent] = [HostBack(), PaneAppeared(pane(2))]
    assert taken(*events) == [HostGone("gone")]
    assert taken(*events, *back) == [HostGone("gone"), *back]
    assert taken(*events, *back, HostGone("again")) == [HostGone("again")]


def test_events_wake_their_reader() -> None:
    """One who waits gets the next event as it comes, and the end at the end."""

    async def main() -> None:
        queue = PaneEvents()
        got: list[PaneEvent] = []

        async def read() -> None:
            async for event in queue:
                got.append(event)

        reading = asyncio.create_task(read())
        for n in range(3):
            queue.put(PaneChanged(f"%{n}"))
            await until_async(lambda n=n: len(got) > n)
        queue.close()
        async with asyncio.timeout(5):
            await reading
        assert got == [PaneChanged(f"%{n}") for n in range(3)]

    asyncio.run(main())


@pytest.mark.parametrize("text", ["\x1b[A", "a\rb", "\x03", "\x7f", "\x9b", "x" * 16_385])
def test_what_would_press_a_key_is_not_text(text: str) -> None:
    """Control characters, and more than can be meant."""
    with pytest.raises(Bug):
        check_text(text)


def test_text_is_text() -> None:
    """Letters of all kinds, tabs and line breaks, up to the bound."""
    check_text("계속 \t\n é 😀" + "x" * (TEXT_CHARS_MAX - 20))


def test_keys_are_known_by_name() -> None:
    """Others than those that are there are a mistake of ours."""
    assert (key_bytes("Enter"), key_bytes("Up")) == ("\r", "\x1b[A")
    with pytest.raises(Bug):
        key_bytes("enter")
