"""What is done about a worker when its screen was looked at: nothing sent, all written down."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from segue.core.decide import SPACING
from segue.core.limits import family, holds_account
from segue.core.machines import PaneState, Trigger
from segue.dialects.claude_transcript import TranscriptStop
from segue.engine.accounts import Accounts
from segue.engine.canary import CONTINUES, Canaries, Proof
from segue.engine.clock import Clock
from segue.store.changes import Change
from segue.work.panes.messages import Telling
from segue.work.panes.options import CommandOptions
from segue.work.panes.screen_look import Look
from segue.work.panes.stops import Stop, Verdict, is_known, judge, stop_of, wakes_at
from segue.work.panes.turns import Turns, is_waiting
from segue.work.panes.workers import Worker, Workers

DOUBTS_MAX = 1
SURE_S = 0.3  # a screen may be caught while it is painted


class Keeping:
    """`transcript_of`: what the agent below a process has written down itself. `mates_of`: the
    others of a worker's account. `look_after`: look at a worker again, after so many seconds."""

    def __init__(
        self,
        workers: Workers,
        accounts: Accounts,
        telling: Telling,
        wishes: CommandOptions,
        clock: Clock,
        *,
        transcript_of: Callable[[int, datetime], TranscriptStop | None],
        has_agent: Callable[[Worker], bool],
        has_ended: Callable[[Worker], bool],
        mates_of: Callable[[Worker], Iterable[Worker]],
        look_after: Callable[[Worker, float], None],
    ) -> None:
        self._workers, self._accounts = workers, accounts
        self._telling, self._wishes, self._clock = telling, wishes, clock
        self._transcript_of, self.has_agent = transcript_of, has_agent
        self._has_ended, self._mates_of, self._look_after = has_ended, mates_of, look_after
        self._canaries = Canaries(accounts)
        self.turns = Turns(wishes.leash, accounts, self._canaries)

    def settle(self, worker: Worker, look: Look) -> None:
        """Take what a look shows for what it is."""
        if worker.proof is not None:
            self._prove(worker, worker.proof, look)
        if not worker.is_ours:
            self._show(worker, look)
        elif look.found.paused:
            worker.doubts = 0
            self._stopped(worker, look)
        elif self._is_sure(worker, look):
            self._seen(worker, look)

    def _show(self, worker: Worker, look: Look) -> None:
        """Another watcher keeps it: what it shows is told, and nothing written down."""
        state, found = look.state, look.found
        if found.paused:
            verdict = judge(stop_of(found), self._clock.now(), windows=0, windows_max=None)
            state = PaneState.BLOCKED if verdict is Verdict.ASK else PaneState.PAUSED
        if worker.state is not state:
            worker.state, worker.kind, worker.wakes_at = state, found.kind, None
            worker.evidence, worker.resets_at = found.evidence, found.resets_at
            self._telling.event(worker)

    def _stopped(self, worker: Worker, look: Look) -> None:
        stop = self.stop_on(worker, look)
        was_left = worker.state is PaneState.PAUSED and worker.wakes_at is None
        if not is_known(worker, stop):
            self._park(worker, stop)
        elif stop.is_self_resuming and worker.wakes_at is not None:
            self._leave_alone(worker, stop)
        elif was_left and not stop.is_self_resuming:
            self._park(worker, stop)  # it would have gone on by itself, and will not any more
        elif worker.is_attended and not look.found.draft:
            worker.is_attended = False

    def _is_sure(self, worker: Worker, look: Look) -> bool:
        """A stop that is not to be seen may only be being painted: one more look decides."""
        was_stopped = worker.state in (PaneState.PAUSED, PaneState.ERROR)
        if not was_stopped or look.state is PaneState.BUSY or worker.doubts >= DOUBTS_MAX:
            worker.doubts = 0
            return True
        worker.doubts += 1
        self._look_after(worker, SURE_S)
        return False

    def _seen(self, worker: Worker, look: Look) -> None:
        if worker.step and worker.state is PaneState.PAUSED and self._goes_on(worker, look):
            return  # a try is half done: its own turn goes on with it
        state = look.state
        if state is not PaneState.BUSY and self._has_ended(worker):
            state = PaneState.DONE
        elif self.is_unanswered(worker, look):
            worker.is_attended = worker.is_attended and bool(look.found.draft)
            return  # it does not go on: its next try, or a person, sees to it
        if worker.state is state:
            return
        was_stopped, was_sent = worker.state is PaneState.PAUSED, worker.sends > 0
        worker.is_attended = worker.is_shown = False
        if not self._workers.see(worker, state, look.found.evidence):
            return
        if was_stopped and was_sent:
            self._works_again(worker)
        elif was_stopped and state is not PaneState.DONE:
            self._telling.came_first(worker)
        self._telling.event(worker)

    @staticmethod
    def _goes_on(worker: Worker, look: Look) -> bool:
        """Whether a try that was cut off is still to be finished: its remedy runs, or its text
        waits for Enter."""
        if look.state is PaneState.BLOCKED:
            return False
        return worker.step != "text" or look.state is not PaneState.BUSY

    def is_unanswered(self, worker: Worker, look: Look) -> bool:
        """Whether our own text is the last word there: it took the stop's place, and no more."""
        is_stopped = worker.state in (PaneState.PAUSED, PaneState.ERROR)
        return is_stopped and worker.sends > 0 and look.is_unanswered(self._wishes.resume_text)

    # Stops

    def _park(self, worker: Worker, stop: Stop) -> None:
        now = self._clock.now()
        stop = self._from_transcript(worker, stop, now)
        notes = {"notes": ["unknown_zone"]} if stop.unknown_zone else {}
        if stop.unknown_zone:
            self._telling.unknown_zone(stop.unknown_zone)
        windows_max = self._wishes.leash.max_windows
        verdict = judge(stop, now, windows=worker.windows, windows_max=windows_max)
        if verdict is Verdict.ASK:
            self.ask(worker, stop)
            return
        if verdict is Verdict.LEAVE:
            self._leave_alone(worker, stop)
            return
        own = at = self._wakes_at(stop, now, repeated=worker.refusals)
        if holds_account(stop.kind):  # what stops the others of its account stops it, too
            at = max([at, *self._known_walls(worker)])
        windows = worker.windows + holds_account(stop.kind)
        worker.is_attended = worker.is_shown = worker.is_woken = False
        changes = self._account_changes(worker, stop.kind, at)
        if not self._workers.park(
            worker, wakes_at=at, windows=windows, also=changes, **_values(stop)
        ):
            return
        self._hold_mates(worker, stop.kind, at)
        guess_s = None if stop.resets_at else self._wishes.waits.weekly_s
        self._telling.parked(worker, guess_s=guess_s, is_for_account=at > own + SPACING)
        self._telling.event(worker, Verdict.PARK, **notes)

    def stop_on(self, worker: Worker, look: Look) -> Stop:
        """The stop that a screen shows; whether it will really go on by itself is looked up."""
        stop = stop_of(look.found)
        if not stop.is_self_resuming:
            return stop
        return self._from_transcript(worker, stop, self._clock.now())

    def _known_walls(self, worker: Worker) -> Iterator[datetime]:
        for mate in self._mates_of(worker):
            if is_waiting(mate) and mate.wakes_at is not None and holds_account(mate.kind or ""):
                yield mate.wakes_at

    def _account_changes(
        self, worker: Worker, kind: str, at: datetime
    ) -> Callable[[], Iterable[Change]]:
        """The account's own park, for the transaction of the worker's."""
        if not holds_account(kind) or self._wishes.is_dry:
            return tuple
        return lambda: self._accounts.parked(worker.account, kind, at)

    def _hold_mates(self, worker: Worker, kind: str, at: datetime) -> None:
        """Others of the account would run into the same wall: they wait as long."""
        if not holds_account(kind):
            return
        self._canaries.parked(worker.account)
        for mate in self._mates_of(worker):
            is_held = is_waiting(mate) and holds_account(mate.kind or "")
            if is_held and mate.wakes_at is not None and mate.wakes_at + SPACING < at:
                self._workers.note(mate, wakes_at=at)
                self._telling.event(mate, Verdict.PARK)

    def _from_transcript(self, worker: Worker, stop: Stop, now: datetime) -> Stop:
        """The agent's own record is believed before its screen: until when, and whether it goes
        on by itself. A resumed conversation shows words that an earlier process meant."""
        if worker.agent != "claude" or worker.pane.pid is None:
            return stop
        told = self._transcript_of(worker.pane.pid, now)
        is_same = told is not None and (
            family(told.kind) == family(stop.kind)
            or (holds_account(told.kind) and holds_account(stop.kind))
        )
        if told is None or not is_same:
            return stop
        if stop.is_self_resuming and told.is_self_resuming is not False:
            return stop
        stop = replace(stop, kind=told.kind, is_self_resuming=False)
        if told.resets_at is None:
            return stop
        return replace(stop, resets_at=told.resets_at, is_minute=told.is_minute, unknown_zone="")

    def _leave_alone(self, worker: Worker, stop: Stop) -> None:
        if self._workers.park(worker, wakes_at=None, **_values(stop)):
            self._telling.left_alone(worker)
            self._telling.event(worker, Verdict.LEAVE)

    def ask(self, worker: Worker, stop: Stop) -> None:
        """A person must fix this: waiting does not help."""
        if self._workers.park(worker, cause=Trigger.ASK, wakes_at=None, **_values(stop)):
            self._telling.needs_person(worker)
            self._telling.event(worker, Verdict.ASK)

    # Going on

    def refused(self, worker: Worker, stop: Stop) -> None:
        """It answered with a limit that lasts longer: a new wait, and no try in vain."""
        worker.refusals += 1
        self._park(worker, stop)

    def again(self, worker: Worker, stop: Stop, is_refused: bool) -> None:
        """A try was in vain. Refused: it waits as for any limit; no reaction: at once."""
        at = now = self._clock.now()
        if is_refused:
            at = self._wakes_at(stop, now, repeated=worker.sends)
        self._workers.note(
            worker, also=self._account_changes(worker, stop.kind, at), wakes_at=at, step=""
        )
        self._hold_mates(worker, stop.kind, at)
        self._telling.event(worker, Verdict.PARK)

    def resumed(self, worker: Worker, look: Look) -> None:
        if self._workers.see(worker, look.state, look.found.evidence):
            self._works_again(worker)
            self._telling.event(worker)

    def _works_again(self, worker: Worker) -> None:
        """It reacted to what was sent. Whether its account's limit is over, its output tells."""
        self._telling.resumed(worker)
        worker.refusals = 0
        worker.proof = Proof(is_structured=False)
        worker.proof.said(worker.resumed_at or self._clock.now())
        self._look_after(worker, CONTINUES.total_seconds())

    def _prove(self, worker: Worker, proof: Proof, look: Look) -> None:
        """Whether a look shows that it works for real: it is still busy after a while, or it has
        ended well."""
        if look.found.paused:
            worker.proof = None
            return
        proof.said(self._clock.now())
        if not proof.works and look.state is PaneState.BUSY:
            return
        worker.proof = None
        if self._canaries.works(worker.account, worker.id) or worker.is_woken:
            self._accounts.opened(worker.account)
        if worker.is_woken:
            worker.is_woken = False
            self._bring_forward(worker, self._clock.now())

    def adopted(self, worker: Worker) -> None:
        """A former watcher may have sent it as a canary."""
        if self._accounts.canary(worker.account) == worker.id:
            self._canaries.adopt(worker.account, worker.id)
            worker.proof = Proof(is_structured=False)

    def gave_up(self, worker: Worker) -> None:
        """It is lost, or no try helped: another one tries its account."""
        worker.proof = None
        self._canaries.ended(worker.account, worker.id)

    def _bring_forward(self, worker: Worker, now: datetime) -> None:
        """A person was right that the limit is over: the others need not wait for its reset."""
        for mate in self._mates_of(worker):
            is_held = is_waiting(mate) and holds_account(mate.kind or "")
            if is_held and mate.wakes_at is not None and mate.wakes_at > now:
                self._workers.note(mate, wakes_at=now)
                self._telling.event(mate, Verdict.PARK)

    def _wakes_at(self, stop: Stop, now: datetime, *, repeated: int) -> datetime:
        jitter = random.random()  # noqa: S311 - it spreads, it hides nothing
        return wakes_at(stop, now, self._wishes.waits, repeated=repeated, jitter=jitter)


def _values(stop: Stop) -> dict[str, Any]:
    return {"kind": stop.kind, "evidence": stop.evidence, "resets_at": stop.resets_at}
