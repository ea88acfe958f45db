"""Typing a prompt, once: what is looked at before each key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from segue.dialects.events import LimitHit
from segue.dialects.screen import Screen
from segue.drivers.panes import PaneError
from segue.engine.executors.pane_screen import ScreenReading, read_screen
from segue.engine.executors.pane_typing import (
    COMPACT,
    TEXT,
    Attended,
    InVain,
    NothingSent,
    NoWaitEntry,
    Prompt,
    Resumed,
    TypingOutcome,
    WouldSend,
    type_prompt,
)

RULE = "─" * 60
STOP = "  ⎿ You've hit your 5-hour limit · resets 3pm"
FULL = "  ⎿  Context limit reached · /compact or /clear to continue"
BUSY = "❯ 계속\n\n✻ Thinking… (3s · esc to interrupt)"
START = datetime(2026, 3, 1, 15, 0, 10, tzinfo=UTC)
KNOWN = LimitHit("session_limit", START.replace(second=0), text=STOP.strip())


def stopped(draft: str = "", stop: str = STOP) -> str:
    return f"⏺ Halfway.\n{stop}\n\n{RULE}\n❯ {draft}\n{RULE}\n"


@dataclass
class Desk:
    """A terminal whose screen is a function of what was sent, and the log of whoever types."""

    screen: Callable[[Desk], str]
    events: list[str] = field(default_factory=list)
    at: datetime = START
    is_free: bool = True
    is_broken: bool = False
    shows_typing: bool = True
    enter_after_s: float = 0.5

    @property
    def sent(self) -> list[str]:
        return [event for event in self.events if not event.startswith(("claim", "said", "began"))]

    def now(self) -> datetime:
        return self.at

    def has_agent(self) -> bool:
        return self.is_free

    async def read(self) -> ScreenReading:
        lines = tuple(self.screen(self).split("\n"))
        screen = Screen(lines, lines, (), None, 24, 80)
        return read_screen(screen, "claude", self.at, UTC)

    async def send_text(self, text: str) -> None:
        if self.is_broken:
            raise PaneError("no answer")
        self.events.append(text)

    async def send_key(self, key: str) -> None:
        self.events.append(f"<{key}>")

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    async def changed(self, within_s: float) -> None:
        self.at += timedelta(seconds=within_s)

    # the log

    is_first = True

    def claim(self, step: str, *, is_new: bool) -> bool:
        self.events.append(f"claim {step}{' new' if is_new else ''}")
        return self.is_first

    def begun(self) -> None:
        self.events.append("began")

    def typed(self, action: str, text: str) -> None:
        self.events.append(f"said {action}")

    def not_typed(self, error: PaneError) -> None:
        self.events.append(f"said {error}")


def typed(desk: Desk, prompt: Prompt | None = None) -> TypingOutcome | None:
    prompt = prompt or Prompt("계속", KNOWN, agent="claude")
    return asyncio.run(type_prompt(desk, prompt, desk))


def echoing(desk: Desk) -> str:
    """It shows what is typed, and works after Enter."""
    if desk.sent[-1:] == ["<Enter>"]:
        return BUSY
    return stopped(draft="".join(desk.sent))


def test_a_try_is_claimed_then_typed_then_submitted() -> None:
    """Nothing is sent that was not written down before; Enter is a key of its own."""
    desk = Desk(echoing)
    assert isinstance(typed(desk), Resumed)
    assert desk.events == [
        "began",
        "claim text new",
        "계속",
        "<Enter>",
        "said send",
    ]
    assert desk.at - START >= timedelta(seconds=3.5), "a paste is not a submission; a look behind"


def test_another_screen_gets_nothing() -> None:
    """A person came first, or another program has the terminal."""
    outcome = typed(desk := Desk(lambda _desk: BUSY))
    assert isinstance(outcome, NothingSent)
    assert (outcome.is_expected, desk.events) == (False, [])
    outcome = typed(desk := Desk(echoing, is_free=False))
    assert isinstance(outcome, NothingSent)
    assert (outcome.is_expected, desk.events) == (True, [])


def test_another_limit_than_the_one_that_was_waited_for_gets_nothing() -> None:
    """Its own wait comes first."""
    later = "  ⎿ You've hit your 5-hour limit · resets 9pm"
    assert isinstance(typed(Desk(lambda _desk: stopped(stop=later))), NothingSent)


def test_what_a_person_has_half_typed_stays() -> None:
    """Neither sent nor cleared."""
    desk = Desk(lambda _desk: stopped(draft="what about"))
    assert typed(desk) == Attended()
    assert desk.events == []


def test_after_a_death_between_text_and_enter_enter_is_sent_alone() -> None:
    """It is the rest of the same try."""
    desk = Desk(lambda desk: BUSY if desk.sent else stopped(draft="계속"))
    prompt = Prompt("계속", KNOWN, agent="claude", sends=1, step=TEXT)
    assert isinstance(typed(desk, prompt), Resumed)
    assert desk.sent == ["<Enter>"]
    assert "claim text new" not in desk.events
    assert desk.events[-1] == "said enter"


def test_another_owner_that_was_faster_types_alone() -> None:
    """The claim is lost: nothing is sent."""
    desk = Desk(echoing)
    desk.is_first = False
    assert typed(desk) is None
    assert desk.sent == []


def test_a_dry_run_says_what_it_would_send() -> None:
    """And sends nothing."""
    desk = Desk(echoing)
    assert typed(desk, Prompt("계속", KNOWN, is_dry=True)) == WouldSend()
    assert desk.events == ["began", "said send"]


@pytest.mark.parametrize("shown", ["", "Do you want to proceed?\n❯ 1. Yes\n  2. No"])
def test_a_text_that_does_not_appear_is_not_submitted(shown: str) -> None:
    """It was swallowed, or a question came up, which Enter would answer."""
    desk = Desk(lambda desk: (shown or stopped()) if desk.sent else stopped())
    typed(desk)
    assert desk.sent == ["계속"]


@pytest.mark.parametrize(("answer", "is_refused"), [(stopped(), False), (None, True)])
def test_a_stop_that_stays_is_a_try_in_vain(answer: str | None, is_refused: bool) -> None:
    """Refused where the agent answered with it."""
    refusal = f"⏺ Halfway.\n{STOP}\n\n❯ 계속\n{STOP}\n\n{RULE}\n❯ \n{RULE}\n"

    def screen(desk: Desk) -> str:
        return (answer or refusal) if desk.sent[-1:] == ["<Enter>"] else echoing(desk)

    outcome = typed(Desk(screen))
    assert isinstance(outcome, InVain)
    assert outcome.is_refused is is_refused


def test_what_cannot_be_sent_is_judged_by_the_screen() -> None:
    """It may have arrived."""
    desk = Desk(lambda _desk: stopped(), is_broken=True)
    assert isinstance(typed(desk), InVain)
    assert desk.events[-1] == "said no answer"


def test_a_full_context_is_compacted_once() -> None:
    """The agent's own remedy, then the text; not again in a try that was cut off behind it."""
    full = LimitHit("context_limit", text=FULL.strip())

    def screen(desk: Desk) -> str:
        match desk.sent:
            case [*_, "계속", "<Enter>"]:
                return BUSY
            case [*_, "<Enter>"] | []:
                return stopped(stop=FULL)
        return stopped(draft=desk.sent[-1], stop=FULL)

    desk = Desk(screen)
    assert isinstance(typed(desk, Prompt("계속", full, agent="claude")), Resumed)
    assert desk.sent == ["/compact", "<Enter>", "계속", "<Enter>"]
    desk = Desk(screen)
    typed(desk, Prompt("계속", full, agent="claude", sends=1, step=COMPACT))
    assert desk.sent == ["계속", "<Enter>"]


def menu(cursor: int, *entries: str) -> str:
    rows = [f" {'❯' if n == cursor else ' '} {n + 1}. {text}" for n, text in enumerate(entries)]
    head = f"❯ go on\n{STOP}\n\n What do you want to do?\n\n"
    return head + "\n".join(rows) + "\n\n Enter to confirm · Esc to cancel"


def test_a_menu_is_left_by_the_entry_that_waits() -> None:
    """With a look after each key: the cursor may have been moved by a person meanwhile."""
    entries = ("Upgrade your plan", "Stop and wait for limit to reset")

    def screen(desk: Desk) -> str:
        if "<Enter>" not in desk.sent:
            return menu(desk.sent.count("<Down>"), *entries)
        sent = desk.sent[desk.sent.index("<Enter>") + 1 :]
        return BUSY if sent[-1:] == ["<Enter>"] else stopped(draft="".join(sent))

    desk = Desk(screen)
    assert isinstance(typed(desk), Resumed)
    assert desk.sent == ["<Down>", "<Enter>", "계속", "<Enter>"]


def test_a_menu_that_only_sells_is_for_a_person() -> None:
    """No key is pressed."""
    desk = Desk(lambda _desk: menu(0, "Upgrade your plan", "Add funds to continue"))
    assert isinstance(typed(desk), NoWaitEntry)
    assert desk.sent == []
