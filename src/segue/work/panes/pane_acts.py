"""The watcher takes in what people want of its panes: each act once, with what follows from it."""

from __future__ import annotations

from segue.core.machines import PaneState
from segue.engine import acts
from segue.engine.acts import CannotError, Intake, Verb
from segue.engine.clock import Clock
from segue.i18n import _
from segue.store.rows import PANES, ActRow
from segue.store.sqlite import Store
from segue.work.panes.watched_pane import WatchedPane
from segue.work.panes.watcher import Watcher


class PaneActs:
    def __init__(self, store: Store, watcher: Watcher, clock: Clock) -> None:
        self._store, self._watcher, self._clock = store, watcher, clock
        handlers = {Verb.WAKE: self._wake, Verb.PARK: self._park, Verb.RETRY: self._retry}
        self._intake = Intake(handlers, self._refuse)

    def take_in(self) -> None:
        """All that is about panes of ours. What is about others waits for their owner."""
        waiting = acts.waiting(self._store, PANES)
        self._intake.take(act for act in waiting if self._pane(act) is not None)

    def _pane(self, act: ActRow) -> WatchedPane | None:
        pane = self._watcher.panes.get(_name(act))
        return pane if pane is not None and pane.is_ours else None

    def _refuse(self, act: ActRow, why: str) -> None:
        self._store.move(acts.refused(act, why), at=self._clock.now())

    def _wake(self, act: ActRow) -> bool:
        pane = self._pane(act)
        if pane is None or not self._watcher.wake(pane, lambda: [acts.taken(act)]):
            raise CannotError(_("{task} is not parked").format(task=_name(act)))
        return True

    def _retry(self, act: ActRow) -> bool:
        pane = self._pane(act)
        if pane is None or pane.state is not PaneState.ERROR:
            raise CannotError(_("{task} has not failed").format(task=_name(act)))
        return self._wake(act)

    def _park(self, act: ActRow) -> bool:
        pane, until = self._pane(act), acts.until(act)
        if pane is None or pane.state is not PaneState.PAUSED:
            text = _("{task} is not parked, and Segue does not stop programs in panes")
            raise CannotError(text.format(task=_name(act)))
        self._watcher.park(pane, until, lambda: [acts.taken(act)])
        return True


def _name(act: ActRow) -> str:
    return str(act.task)
