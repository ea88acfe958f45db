"""The panes kind, from top to bottom: what is sent to a pane, and what follows from what its screen
shows, from how a try came out, and from what a person wants.

Limits are judged as everywhere (`engine/limits.py`); the account is parked in the transaction of
the pane's own move; a canary that works for real opens it (`engine/canary.py`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from segue.core.decide import SPACING, ParkView
from segue.core.limits import holds_account
from segue.core.machines import PaneState, Trigger
from segue.dialects.events import LimitHit
from segue.engine import limits
from segue.engine.accounts import Accounts
from segue.engine.canary import CONTINUES, Canaries, Proof
from segue.engine.clock import Clock
from segue.engine.executors.pane_screen import ScreenReading, is_later_limit, is_same_limit
from segue.engine.executors.pane_typing import (
    Attended,
    InVain,
    NothingSent,
    NoWaitEntry,
    Prompt,
    Resumed,
    Settled,
    TypingOutcome,
    WouldSend,
)
from segue.store.changes import Change
from segue.work.panes.messages import PaneMessages
from segue.work.panes.options import CommandOptions
from segue.work.panes.pane_gates import NEEDS_PERSON
from segue.work.panes.pane_records import Also, PaneRecords
from segue.work.panes.watched_pane import WatchedPane

DOUBTS_MAX = 1
DOUBT_S = 0.3  # a screen may be caught while it is painted
RETRY = timedelta(seconds=10)  # after a pane could not be reached
STOPPED = (PaneState.PAUSED, PaneState.ERROR)


class PanePolicy:
    """`panes`: all that are watched, by their jobs. `look_after`: read a pane's screen again, after
    so many seconds."""

    def __init__(
        self,
        panes: Mapping[str, WatchedPane],
        records: PaneRecords,
        accounts: Accounts,
        messages: PaneMessages,
        options: CommandOptions,
        clock: Clock,
        look_after: Callable[[str, float], None],
    ) -> None:
        self._panes, self._records, self._accounts = panes, records, accounts
        self._messages, self._options, self._clock = messages, options, clock
        self._look_after = look_after
        self._limits = limits.Policy(options.waits, options.leash.max_windows)
        self.canaries = Canaries(accounts)

    # What is sent

    def prompt(self, pane: WatchedPane) -> Prompt:
        options = self._options
        return Prompt(
            options.resume_text,
            pane.limit,
            agent=pane.agent,
            sends=pane.sends,
            step=pane.step,
            recheck_s=options.recheck_s,
            is_dry=options.is_dry,
        )

    @staticmethod
    def park_of(pane: WatchedPane) -> ParkView:
        """A pane that waits, as a decision sees it: a park like any other."""
        assert pane.wakes_at is not None
        is_for_limit = holds_account(pane.kind or "")
        return ParkView(pane.id, pane.task, pane.account, pane.wakes_at, is_for_limit)

    # What its screen shows

    def adopted(self, pane: WatchedPane) -> None:
        """A former watcher may have sent to it, or have chosen it as the canary."""
        if pane.sent_at is not None and pane.wakes_at is not None:
            reacts_at = pane.sent_at + timedelta(seconds=self._options.recheck_s)
            pane.wakes_at = max(pane.wakes_at, reacts_at)
        if self._accounts.canary(pane.account) == pane.task:
            self.canaries.adopt(pane.account, pane.task)
            pane.proof = Proof(is_structured=False)

    def shown(self, pane: WatchedPane, reading: ScreenReading, *, has_ended: bool = False) -> None:
        if pane.proof is not None:
            self._prove(pane, pane.proof, reading)
        if not pane.is_ours:
            self._show(pane, reading)
        elif reading.limit is not None and self._is_corroborated(pane, reading, has_ended):
            pane.doubts = 0
            self._stopped(pane, reading, reading.limit)
        elif reading.limit is not None and pane.state in (*STOPPED, PaneState.BLOCKED):
            pane.doubts = 0  # what is known of it holds while it shows a limit
        elif self._is_sure(pane, reading):
            self._not_stopped(pane, reading, has_ended=has_ended)

    def _show(self, pane: WatchedPane, reading: ScreenReading) -> None:
        """Another watcher has it: an event says what it shows, and nothing is written down."""
        state, found = reading.state, reading.found
        if reading.limit is not None:
            now = self._clock.now()
            verdict = limits.judge(reading.limit, pane.agent, now, self._limits, limits.Before())
            is_asking = isinstance(verdict, limits.AskPerson) and not reading.is_self_resuming
            state = PaneState.BLOCKED if is_asking else PaneState.PAUSED
        if pane.state is not state:
            pane.state, pane.kind, pane.wakes_at = state, found.kind, None
            pane.evidence, pane.resets_at = found.evidence, found.resets_at
            self._messages.event(pane)

    def _stopped(self, pane: WatchedPane, reading: ScreenReading, limit: LimitHit) -> None:
        is_known = pane.state in (*STOPPED, PaneState.BLOCKED) and is_same_limit(pane.limit, limit)
        was_left = pane.state is PaneState.PAUSED and pane.wakes_at is None
        if not is_known:
            self._wait(pane, reading)
        elif reading.is_self_resuming and pane.wakes_at is not None:
            self._leave_alone(pane, limit)
        elif was_left and not reading.is_self_resuming:
            self._wait(pane, reading)  # it would have resumed by itself, and will not any more
        elif pane.is_attended and not reading.found.draft:
            pane.is_attended = False

    def _is_corroborated(self, pane: WatchedPane, reading: ScreenReading, has_ended: bool) -> bool:
        """A limit that is only probable counts where its agent has ended, or where the pane stays
        idle and unchanged: the agent may simply have finished."""
        if not reading.found.is_probable or has_ended:
            pane.suspect = ""
            return True
        now = self._clock.now()
        if pane.suspect != reading.still_text or pane.suspect_since is None:
            pane.suspect, pane.suspect_since = reading.still_text, now
            self._look_after(pane.id, self._options.probable_after_s)
            return False
        left_s = self._options.probable_after_s - (now - pane.suspect_since).total_seconds()
        if left_s > 0:
            self._look_after(pane.id, left_s)
        return left_s <= 0

    def _is_sure(self, pane: WatchedPane, reading: ScreenReading) -> bool:
        """A stop that cannot be seen may only be being painted: one more look decides."""
        is_clear = pane.state not in STOPPED or reading.state is PaneState.BUSY
        if is_clear or pane.doubts >= DOUBTS_MAX:
            pane.doubts = 0
            return True
        pane.doubts += 1
        self._look_after(pane.id, DOUBT_S)
        return False

    def _not_stopped(self, pane: WatchedPane, reading: ScreenReading, *, has_ended: bool) -> None:
        if pane.step and pane.state is PaneState.PAUSED and self._is_half_done(pane, reading):
            return  # its own turn finishes the try
        state = reading.state
        if state is not PaneState.BUSY and has_ended:
            state = PaneState.DONE
        elif self._is_unanswered(pane, reading):
            pane.is_attended = pane.is_attended and bool(reading.found.draft)
            return  # it does not continue: its next try, or a person, sees to it
        if pane.state is state:
            return
        was_stopped, was_sent = pane.state is PaneState.PAUSED, pane.sends > 0
        pane.is_attended = pane.is_rehearsed = False
        if not self._records.see(pane, state, reading.found.evidence):
            return
        if was_stopped and was_sent:
            self._works_again(pane)
        elif was_stopped and state is not PaneState.DONE:
            self._messages.came_first(pane)
        self._messages.event(pane)

    @staticmethod
    def _is_half_done(pane: WatchedPane, reading: ScreenReading) -> bool:
        """Whether a try that was cut off is still to be finished: its remedy runs, or its text
        waits for Enter."""
        if reading.state is PaneState.BLOCKED:
            return False
        return pane.step != "text" or reading.state is not PaneState.BUSY

    def _is_unanswered(self, pane: WatchedPane, reading: ScreenReading) -> bool:
        """Whether our own text is the last word there: it took the stop's place, and no more."""
        is_sent = pane.state in STOPPED and pane.sends > 0
        return is_sent and reading.is_unanswered(self._options.resume_text)

    def lost(self, pane: WatchedPane) -> None:
        self.gave_up(pane)
        if pane.is_ours:
            self._records.lose(pane)
        pane.state = PaneState.DEAD
        self._messages.lost(pane)
        self._messages.event(pane)

    # What follows from a stop

    def _wait(self, pane: WatchedPane, reading: ScreenReading) -> None:
        """A new stop: its pane is parked, and its account with it, or a person is asked."""
        now, limit = self._clock.now(), reading.recorded_limit
        assert limit is not None
        if limit.unknown_zone:
            self._messages.unknown_zone(limit.unknown_zone)
        if reading.is_self_resuming:
            self._leave_alone(pane, limit)
            return
        if reading.found.is_probable:
            self._ask(pane, limit)  # nothing is typed at an agent that may have finished
            return
        verdict = self._judge(pane, limit, now, refusals=pane.refusals)
        if not isinstance(verdict, limits.Park):
            self._ask(pane, limit)
            return
        own = at = verdict.wakes_at
        if verdict.holds_account:  # what stops the others of its account stops it, too
            at = max(at, self._accounts.parked_until(pane.account) or at)
        windows = pane.windows + verdict.holds_account
        pane.is_attended = pane.is_rehearsed = pane.is_woken = False
        also = self._account_changes(pane, limit.kind, at)
        if not self._records.park(pane, wakes_at=at, windows=windows, also=also, **_values(limit)):
            return
        self._hold_others(pane, limit.kind, at)
        guess_s = None if limit.resets_at else self._options.waits.weekly_s
        self._messages.parked(pane, guess_s=guess_s, is_for_account=at > own + SPACING)
        notes = {"notes": ["unknown_zone"]} if limit.unknown_zone else {}
        self._messages.event(pane, "park", **notes)

    def _judge(
        self, pane: WatchedPane, limit: LimitHit, now: datetime, *, refusals: int
    ) -> limits.Verdict:
        before = limits.Before(refusals=refusals, windows=pane.windows)
        jitter = random.random()  # noqa: S311 - it spreads, it hides nothing
        return limits.judge(limit, pane.agent, now, self._limits, before, jitter)

    def _account_changes(self, pane: WatchedPane, kind: str, at: datetime) -> Also:
        """The account's own park, for the transaction of the pane's."""
        if not holds_account(kind) or self._options.is_dry:
            return tuple
        return lambda: self._accounts.parked(pane.account, kind, at)

    def _hold_others(self, pane: WatchedPane, kind: str, at: datetime) -> None:
        """Others of the account would run into the same limit: they wait as long."""
        if holds_account(kind):
            self.canaries.parked(pane.account)
            self._move_others(pane, at, lambda wakes_at: wakes_at + SPACING < at)

    def _move_others(
        self, pane: WatchedPane, at: datetime, is_moved: Callable[[datetime], bool]
    ) -> None:
        for other in self._panes.values():
            is_mate = other.account == pane.account and other is not pane and other.is_waiting
            if not is_mate or not holds_account(other.kind or ""):
                continue
            if other.wakes_at is not None and is_moved(other.wakes_at):
                self._records.wait_until(other, at)
                self._messages.event(other, "park")

    def _leave_alone(self, pane: WatchedPane, limit: LimitHit) -> None:
        """It resumes by itself: what is sent as well would be done twice."""
        if self._records.park(pane, wakes_at=None, **_values(limit)):
            self._messages.left_alone(pane)
            self._messages.event(pane, "wait")

    def _ask(self, pane: WatchedPane, limit: LimitHit) -> None:
        """A person must fix this: waiting does not help, or must not last so long unasked."""
        if self._records.park(pane, cause=Trigger.ASK, wakes_at=None, **_values(limit)):
            self._messages.needs_person(pane)
            self._messages.event(pane, "ask")

    # What follows from a try

    def typed(self, pane: WatchedPane, outcome: TypingOutcome | None) -> None:
        match outcome:
            case NothingSent(reading, is_expected):
                self.shown(pane, reading)
                # Another program has the terminal: worth another look when it prints.
                pane.is_attended = is_expected and pane.state is PaneState.PAUSED
            case Attended():
                pane.is_attended = True
                self._messages.attended(pane)
                self._messages.event(pane, "wait", attended=True)
            case WouldSend():
                pane.is_rehearsed = True
            case NoWaitEntry(reading) if reading.limit is not None:
                self._messages.no_entry_waits(pane)
                self._ask(pane, reading.limit)
            case Resumed(reading):
                self._resumed(pane, reading)
            case Settled(reading):
                self.shown(pane, reading)
            case InVain(reading, is_refused):
                self._in_vain(pane, reading, is_refused=is_refused)
            case _:
                pass  # another watcher was faster: its row says what follows
        if pane.proof is None:  # nothing was sent, or it does not react
            self.gave_up(pane)

    def not_typed(self, pane: WatchedPane, error: str) -> None:
        """The pane could not be reached; nothing was sent."""
        self._messages.could_not_send(error)
        self._records.wait_until(pane, self._clock.now() + RETRY)
        self.gave_up(pane)

    def _resumed(self, pane: WatchedPane, reading: ScreenReading) -> None:
        if self._records.see(pane, reading.state, reading.found.evidence):
            self._works_again(pane)
            self._messages.event(pane)

    def _in_vain(self, pane: WatchedPane, reading: ScreenReading, *, is_refused: bool) -> None:
        """A refusal until a later time is a new wait, and no failed try."""
        limit, now = reading.limit or pane.limit, self._clock.now()
        if is_refused and reading.limit and is_later_limit(pane.limit, limit, now):
            pane.refusals += 1
            self._wait(pane, reading)
            return
        self._messages.failed(pane, self._options.max_sends)
        if pane.sends >= self._options.max_sends:
            self._records.give_up(pane)
            self._messages.gave_up(pane)
            self._messages.event(pane, "give_up")
            return
        verdict = self._judge(pane, limit, now, refusals=pane.sends) if is_refused else None
        at = verdict.wakes_at if isinstance(verdict, limits.Park) else now
        also = self._account_changes(pane, limit.kind, at)
        self._records.wait_until(pane, at, is_refused=is_refused, also=also, step="")
        self._hold_others(pane, limit.kind, at)
        self._messages.event(pane, "park")

    # Working again

    def _works_again(self, pane: WatchedPane) -> None:
        """It reacted to what was sent. Whether its account's limit is over, its output tells."""
        self._messages.resumed(pane)
        pane.refusals = 0
        pane.proof = Proof(is_structured=False)
        pane.proof.said(pane.resumed_at or self._clock.now())
        self._look_after(pane.id, CONTINUES.total_seconds())

    def _prove(self, pane: WatchedPane, proof: Proof, reading: ScreenReading) -> None:
        """Whether a reading shows that it works for real: it is still busy after a while, or it has
        ended well."""
        if reading.limit is not None:
            pane.proof = None
            return
        now = self._clock.now()
        proof.said(now)
        if not proof.works and reading.state is PaneState.BUSY:
            return
        pane.proof = None
        if self.canaries.works(pane.account, pane.task) or pane.is_woken:
            self._accounts.opened(pane.account)
        if pane.is_woken:  # the limit is over, as a person thought: nothing waits for its reset
            pane.is_woken = False
            self._move_others(pane, now, lambda wakes_at: wakes_at > now)

    def gave_up(self, pane: WatchedPane) -> None:
        """It is lost, or no try helped: another one tries its account."""
        pane.proof = None
        self.canaries.ended(pane.account, pane.task)

    # What a person wants

    def hold(self, pane: WatchedPane, *, is_held: bool) -> None:
        """It is left alone, or not any more."""
        self._records.note(pane, is_held=is_held)
        self._messages.event(pane, "hold" if is_held else "release")

    def wake(self, pane: WatchedPane, also: Also = tuple) -> bool:
        """The limit is over, or what waiting could not fix is fixed. `also`: what changes in the
        same transaction. False: it is not stopped, or not ours."""
        is_given_up = pane.state in NEEDS_PERSON and pane.kind is not None
        if not pane.is_ours or not (pane.state is PaneState.PAUSED or is_given_up):
            return False
        now = self._clock.now()
        pane.is_woken = holds_account(pane.kind or "")
        changes = self._with_account(pane, also)
        if is_given_up:
            self._records.park(pane, wakes_at=now, is_held=False, also=changes)
        else:
            self._records.wait_until(pane, now, also=changes, is_held=False)
        pane.is_attended = pane.is_rehearsed = False
        return True

    def _with_account(self, pane: WatchedPane, also: Also) -> Also:
        def changes() -> Iterable[Change]:
            yield from self._accounts.woken(pane.account)
            yield from also()

        return changes

    def park(self, pane: WatchedPane, until: datetime, also: Also = tuple) -> None:
        """One that waits gets another time."""
        self._records.wait_until(pane, until, also=also)
        self._messages.event(pane, "park")


def _values(limit: LimitHit) -> dict[str, Any]:
    return {"kind": limit.kind, "evidence": limit.text, "resets_at": limit.resets_at}
