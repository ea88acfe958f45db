"""What agents say and do, as it happens: read from their logs in a thread of its own.

Logs may be long, and the loop waits for nobody. So one thread reads them, with a connection of its
own to the database for each look, and hands over finished items. It watches the logs only while
somebody follows.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from segue.drivers.inotify import FolderWatch
from segue.errors import UserError
from segue.store.changes import stamp
from segue.store.rows import IS_OPEN, SERVER
from segue.store.sqlite import Store
from segue.work.conversation import Conversation, Entry
from segue.work.project import Project

Json = dict[str, Any]
Listener = Callable[[Sequence[Json]], None]

PACE_S = 0.1
ITEMS_MAX = 1_000  # of one look; older ones are in the conversation
TASKS_MAX = 1_000  # whose conversations are kept open; an item that comes twice has one id
TASKS = (
    f"SELECT task FROM runs WHERE work = '{SERVER}' AND ({IS_OPEN} OR updated_at >= ?)"  # noqa: S608 - names are ours
    f" UNION SELECT task FROM gates WHERE work = '{SERVER}' AND settled_at >= ?"
    " AND task IS NOT NULL"
    f" UNION SELECT task FROM acts WHERE work = '{SERVER}' AND verb = 'message'"
    " AND created_at >= ? AND task IS NOT NULL"
)
NEW_RUNS = "SELECT id FROM runs WHERE task = ? AND created_at >= ?"

logger = logging.getLogger("segue.output")


def shown(task: str, entry: Entry) -> Json:
    """An item as the API has it."""
    found = entry.to_json()
    found["isError"] = found.pop("is_error")
    return {"taskId": task, **found}


class OutputFeed:
    """`kinds`: the kind of each agent by its name in the settings."""

    def __init__(
        self, project: Project, kinds: Mapping[str, str], now: Callable[[], datetime]
    ) -> None:
        self._project, self._kinds, self._now = project, kinds, now
        self._thread = ThreadPoolExecutor(1, "segue-output")
        self._listener: Listener | None = None
        self._watch: FolderWatch | None = None
        self._due: asyncio.TimerHandle | None = None
        self._look: asyncio.Task[None] | None = None
        self._is_new = False
        self._since = self._looked_at = ""
        self._known: dict[str, Conversation] = {}  # of the thread
        self._peeked: dict[str, str] = {}  # of the thread: text that was shown before it was whole

    # Pages

    async def page(self, task: str, page: int, page_size: int) -> tuple[list[Json], int]:
        """Some items of a conversation, the oldest first, and how many there are."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._page, task, page, page_size)

    def _page(self, task: str, page: int, page_size: int) -> tuple[list[Json], int]:
        first, places = (page - 1) * page_size, dict[str, int]()
        items: dict[int, Json] = {}
        store = Store.open_readonly(self._project.database)
        if store is None:
            return [], 0
        try:
            for item in _all(task, self._conversation(store, task)):
                place = places.setdefault(item["id"], len(places))
                if first <= place < first + page_size:
                    items[place] = item  # a result replaces its call
        finally:
            store.close()
        return [items[place] for place in sorted(items)], len(places)

    # As it happens

    def follow(self, listener: Listener | None) -> None:
        """Hand over what comes from now on; None: stop following."""
        self._listener = listener
        if listener is None:
            self._stop()
        elif self._watch is None:
            self._since = self._looked_at = stamp(self._now())
            self._watch = FolderWatch()
            self._watch.watch(self._project.logs, lambda _name: self.changed())
            self._thread.submit(self._forget)
            self.changed()

    def changed(self) -> None:
        """A log or the database changed."""
        if self._watch is None:
            return
        self._is_new = True
        if self._due is None and self._look is None:
            self._due = asyncio.get_running_loop().call_later(PACE_S, self._begin)

    async def close(self) -> None:
        self.follow(None)
        if self._look is not None:
            await asyncio.wait([self._look])
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _stop(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _begin(self) -> None:
        self._due = None
        self._is_new = False
        self._look = asyncio.get_running_loop().create_task(self._hand_over())
        self._look.add_done_callback(self._ended)

    def _ended(self, look: asyncio.Task[None]) -> None:
        self._look = None
        if not look.cancelled() and (error := look.exception()) is not None:
            logger.error("output is not followed: %s", error, exc_info=error)
        elif self._is_new:
            self.changed()

    async def _hand_over(self) -> None:
        loop = asyncio.get_running_loop()
        looked_at, now = self._looked_at, stamp(self._now())
        try:
            found = await loop.run_in_executor(
                self._thread, self._new_items, self._since, looked_at
            )
        except UserError as error:  # the database cannot be read now: it may pass
            logger.warning("output is delayed: %s", error)
            return
        self._looked_at = now
        if found and self._listener is not None:
            self._listener(found)

    # In the thread

    def _forget(self) -> None:
        self._known.clear()
        self._peeked.clear()

    def _new_items(self, since: str, looked_at: str) -> list[Json]:
        found: deque[Json] = deque(maxlen=ITEMS_MAX)
        store = Store.open_readonly(self._project.database)
        if store is None:
            return []
        try:
            for row in store.all(TASKS, looked_at, looked_at, looked_at):
                found.extend(self._of(store, row["task"], since))
        finally:
            store.close()
        return list(found)

    def _of(self, store: Store, task: str, since: str) -> Iterator[Json]:
        known = self._known.get(task)
        if known is not None:
            known.store = store
            yield from (shown(task, entry) for entry in known.read())
        else:
            known = self._known[task] = self._conversation(store, task)
            new = {row["id"] for row in store.all(NEW_RUNS, task, since)}
            for entry in known.read():
                is_new = entry.run in new or entry.role == "person"
                if is_new and (entry.item.at is None or stamp(entry.item.at) >= since):
                    yield shown(task, entry)
        for entry in known.peek():
            item = shown(task, entry)
            if self._peeked.get(item["id"]) != item["text"]:
                self._peeked[item["id"]] = item["text"]
                yield item
        while len(self._known) > TASKS_MAX:
            del self._known[next(iter(self._known))]

    def _conversation(self, store: Store, task: str) -> Conversation:
        logs, evidence = self._project.logs, self._project.evidence
        return Conversation(store, task, logs, evidence, self._kinds)


def _all(task: str, conversation: Conversation) -> Iterator[Json]:
    yield from (shown(task, entry) for entry in conversation.read())
    yield from (shown(task, entry) for entry in conversation.peek())
