"""The watcher takes in what people want of its panes: each act once, with what follows from it."""

from __future__ import annotations

from segue.core.machines import PaneState
from segue.engine import acts
from segue.engine.acts import CannotError, Verb
from segue.engine.clock import Clock
from segue.i18n import _
from segue.store.actors import acting
from segue.store.changes import instant
from segue.store.rows import PANES, ActRow
from segue.store.sqlite import Store
from segue.work.panes.watcher import Watcher


class PaneActs:
    def __init__(self, store: Store, watcher: Watcher, clock: Clock) -> None:
        self._store, self._watcher, self._clock = store, watcher, clock

    def take_in(self) -> None:
        """All that is about panes of ours. What is about others waits for whoever has them."""
        for act in acts.waiting(self._store, PANES):
            try:
                with acting(acts.by(act)):
                    self._take(act)
            except CannotError as why:
                self._store.move(acts.refused(act, str(why)), at=self._clock.now())

    def _take(self, act: ActRow) -> None:
        name = str(act.data.get("name"))
        pane = self._watcher.panes.get(name)
        if pane is None or not pane.is_ours:
            return
        also = lambda: [acts.taken(act)]  # noqa: E731 - a value for the transaction
        match act.verb:
            case Verb.WAKE:
                if not self._watcher.wake(pane, also):
                    raise CannotError(_("{task} is not parked").format(task=name))
            case Verb.PARK:
                if pane.state is not PaneState.PAUSED:
                    text = _("{task} is not parked, and Segue ends no program in a pane")
                    raise CannotError(text.format(task=name))
                self._watcher.park(pane, instant(str(act.data["until"])), also)
            case verb:
                text = _("`{verb}` is not possible for this kind of work")
                raise CannotError(text.format(verb=verb))
