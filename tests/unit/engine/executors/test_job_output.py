"""What a job says, as events in the inbox."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.clock import HandClock
from segue.dialects.events import Event, Said
from segue.drivers.inotify import FolderWatch
from segue.engine.executors import Broke, Due, Happening, Heard, Job, job_output
from segue.engine.executors.job_output import SAID_MAX, JobOutput
from segue.engine.inbox import Inbox


class Lines:
    """Each line is a word of the agent; `open` begins a block that the end closes."""

    def __init__(self) -> None:
        self.has_open_block = False

    def feed(self, data: bytes) -> Iterator[Event]:
        for line in data.decode().splitlines():
            if line == "broken":
                raise ValueError(line)
            self.has_open_block |= line == "open"
            yield Said(line)

    def feed_err(self, data: bytes) -> Iterator[Event]:
        return self.feed(data)

    def close_blocks(self) -> Iterator[Event]:
        self.has_open_block = False
        yield Said("closed by its silence")

    def close(self) -> Iterator[Event]:
        yield Said("the end")


def heard(tmp_path: Path, text: str, *, lost_tail: bytes = b"", wait_s: float = 0) -> list[object]:
    """What the inbox gets of a job with this log."""

    async def act() -> list[Happening]:
        watch, inbox = FolderWatch(), Inbox[Happening](HandClock(), Due())
        output = JobOutput(watch, inbox)
        log = tmp_path / "run.log"
        log.write_text(text)
        job = Job("run", ("true",), {}, tmp_path, log, Lines())
        for follower in output.followers(job):
            await follower.drain()
            follower.stop()
        await asyncio.sleep(wait_s)
        output.close(job, lost_tail)
        output.let_go()
        watch.close()
        return await inbox.next(0)

    return [
        one.event.text if isinstance(one, Heard) and isinstance(one.event, Said) else one
        for one in asyncio.run(act())
    ]


def test_lines_come_in_order_and_the_dialect_is_closed(tmp_path: Path) -> None:
    """What a full disk did not take comes before its end."""
    found = heard(tmp_path, "one\ntwo\n", lost_tail=b"three\n")
    assert found == ["one", "two", "three", "the end"]


def test_of_very_many_lines_the_last_ones_are_told(tmp_path: Path) -> None:
    """The log has them all."""
    found = heard(tmp_path, "".join(f"{n}\n" for n in range(500)))
    assert found == [*(str(n) for n in range(500 - SAID_MAX, 500)), "the end"]


def test_a_block_that_is_not_closed_ends_with_its_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken as far as it goes, also while its job runs on."""
    monkeypatch.setattr(job_output, "BLOCK_S", 0.0)
    found = heard(tmp_path, "open\n", wait_s=0.01)
    assert found == ["open", "closed by its silence", "the end"]


def test_an_error_of_a_dialect_names_its_job(tmp_path: Path) -> None:
    """Nobody above would know which it was."""
    first, *_ = heard(tmp_path, "broken\n")
    assert isinstance(first, Broke)
    assert first.job == "run"
