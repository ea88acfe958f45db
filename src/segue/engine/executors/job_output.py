"""What a job says: its files are followed into its dialect, and the events go into the inbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import cast

from segue.dialects.events import Dialect, Event, Said, SupportsSkim, Unfinished
from segue.drivers.follow import Follower, Turns
from segue.drivers.inotify import FolderWatch
from segue.drivers.masking import Masker
from segue.engine.executors import Broke, Happening, Heard, Job
from segue.engine.inbox import Inbox

SAID_MAX, SAID_LEAST = 200, 2  # lines reported of one chunk, and while the inbox is full
INBOX_FULL = 5_000
BLOCK_S = 30.0  # a block that was not closed after such a silence will not be


class JobOutput:
    def __init__(self, watch: FolderWatch, inbox: Inbox[Happening]) -> None:
        self._watch, self._inbox = watch, inbox
        self._turns = Turns()
        self._blocks: dict[str, asyncio.TimerHandle] = {}  # jobs in the middle of telling something

    def followers(self, job: Job) -> list[Follower]:
        """One for each file in which the job can be heard."""
        heard: list[tuple[Path, Callable[[bytes], Iterable[Event]]]] = []
        heard.append((job.log, job.dialect.feed))
        if job.err is not None:
            heard.append((job.err, job.dialect.feed_err))
        if job.told is not None:
            heard.append((job.told.path, _masked(job.told.dialect.feed, job.masks)))
        skim = None
        if _skims(type(job.dialect)):
            skim = partial(self._hear, job, cast("SupportsSkim", job.dialect).skim)
        return [
            Follower(
                self._watch,
                path,
                partial(self._hear, job, feed),
                turns=self._turns,
                skim=skim if path == job.log else None,
            )
            for path, feed in heard
        ]

    def _hear(self, job: Job, feed: Callable[[bytes], Iterable[Event] | None], data: bytes) -> bool:
        """False: the dialect has taken nothing in."""
        try:
            found = feed(data)
            events = None if found is None else list(found)
        except Exception as error:  # noqa: BLE001 - the caller would not know which job it was
            self._inbox.notify(Broke(job.id, error))
            return True
        if events is None:
            return False
        for event in self._worth_telling(events):
            self._inbox.notify(Heard(job.id, event))
        if (timer := self._blocks.pop(job.id, None)) is not None:
            timer.cancel()
        if isinstance(job.dialect, Unfinished) and job.dialect.has_open_block:
            loop = asyncio.get_running_loop()
            self._blocks[job.id] = loop.call_later(BLOCK_S, self._close_blocks, job)
        return True

    def _worth_telling(self, events: list[Event]) -> Iterable[Event]:
        """Of very many lines at once only the last ones: nobody can read so fast, the log has all,
        and a slow consumer must not fall further behind."""
        room = SAID_MAX if len(self._inbox) < INBOX_FULL else SAID_LEAST
        if len(events) <= room:
            return events
        excess = sum(isinstance(event, Said) for event in events) - room
        kept = []
        for event in events:
            if excess > 0 and isinstance(event, Said):
                excess -= 1
            else:
                kept.append(event)
        return kept

    def _close_blocks(self, job: Job) -> None:
        """It began to tell something and fell silent: taken as far as it goes."""
        self._blocks.pop(job.id, None)
        if isinstance(job.dialect, Unfinished):
            for event in job.dialect.close_blocks():
                self._inbox.notify(Heard(job.id, event))

    def close(self, job: Job, lost_tail: bytes) -> None:
        """It has ended. `lost_tail`: what a full disk did not take; its report may be in this."""
        if (timer := self._blocks.pop(job.id, None)) is not None:
            timer.cancel()
        if lost_tail:
            for event in job.dialect.feed(lost_tail):
                self._inbox.notify(Heard(job.id, event))
        for dialect in (job.dialect, *([job.told.dialect] if job.told else [])):
            for event in dialect.close():
                self._inbox.notify(Heard(job.id, event))

    def let_go(self) -> None:
        """The last listener is gone."""
        for timer in self._blocks.values():
            timer.cancel()
        self._blocks.clear()


@cache
def _skims(dialect: type[Dialect]) -> bool:
    """Asked once for each dialect: to compare with a protocol takes long."""
    return issubclass(dialect, SupportsSkim)


def _masked(
    feed: Callable[[bytes], Iterable[Event]], masks: tuple[str, ...]
) -> Callable[[bytes], Iterable[Event]]:
    """What an agent tells by tool call passes no keeper: its secrets are taken out here."""
    if not masks:
        return feed
    masker = Masker(masks)
    return lambda data: feed(masker.feed(data))
