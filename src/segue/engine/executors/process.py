"""Agents as processes of this machine.

Each job is attended by one coroutine: it launches a keeper, follows the job's log into
its dialect, waits for the keeper's end and reads what it left. Everything it learns goes
into one inbox, which the work reads. Nothing polls: logs and the plan's folder are
watched by the kernel, ends come as pidfd events, and one timer serves the nearest park.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from segue.drivers import processes
from segue.drivers import runs as drivers
from segue.drivers.inotify import ANYTHING, FolderWatch
from segue.drivers.launcher import Launcher
from segue.drivers.process_activity import activity_below
from segue.drivers.runs import Live, Order
from segue.engine import bell
from segue.engine.clock import Clock
from segue.engine.executors import (
    ActsAdded,
    Alive,
    Broke,
    Due,
    Ended,
    Finished,
    Gone,
    Happening,
    Job,
    Look,
    NeverStarted,
    PlanTouched,
    Recovered,
    Started,
    StopWanted,
)
from segue.engine.executors.job_output import JobOutput
from segue.engine.inbox import Inbox
from segue.errors import AgentError
from segue.i18n import _

PTY_SIZE = (40, 120)
LEFT = ("in", "first", "told", "place")  # what a job leaves beside its records
SPARES_MAX = 16
SWEEP_AFTER_S = 7 * 86_400.0


class ProcessExecutor:
    """Runs jobs as processes under keepers that outlive Segue."""

    def __init__(
        self,
        runs: Path,
        clock: Clock,
        launcher: Launcher,
        *,
        grace_s: float = 5.0,
        tells_errors: bool = False,
    ) -> None:
        """`tells_errors`: one about a job comes as `Broke`, and is not raised."""
        self._runs = runs
        self._runs_text = str(runs)
        self._clock = clock
        self._grace_s = grace_s
        self._tells_errors = tells_errors
        self._launcher = launcher
        self._watch = FolderWatch()
        self._inbox = Inbox[Happening](clock, Due())
        self._output = JobOutput(self._watch, self._inbox)
        self._live: dict[str, Live] = {}
        self._launching: asyncio.Event | None = None  # the last one: whether it was reported
        self._attending: dict[str, asyncio.Task[None]] = {}
        self._unknown: set[asyncio.Task[None]] = set()  # ends of what an earlier supervisor began
        self._wanted_end: set[str] = set()
        self._watched: set[Path] = set()
        self._spares: list[Path] = []

    # Jobs

    def begin(self, job: Job) -> None:
        self._attend_by(job.id, self._launch(job))

    def recover(self, job: Job, *, stays_paused: bool = False) -> Recovered:
        found = drivers.recover(self._path(job.id, "claim"), self._path(job.id, "end"), job.id)
        match found:
            case Live():
                if not stays_paused:  # its supervisor may have paused it
                    processes.continue_tree(found.keeper, root=False)
                self._tell_started(job, found, True)
                self._attend_by(job.id, self._attend(job, found))
                return Alive()
            case drivers.End():
                self._attend_by(job.id, self._settle_found(job))
                return Finished()
            case drivers.Revoked():
                return NeverStarted()  # the revocation stays: a late keeper must find it
            case _:
                self._clean(job.id)
                return Gone()

    async def end(self, job: str, *, now: bool = False) -> None:
        self._wanted_end.add(job)
        if (live := self._live.get(job)) is not None:
            if not live.is_over:
                processes.continue_tree(live.keeper, root=False)  # one that is paused cannot end
            await self._launcher.end(live, now=now)

    async def end_all(self) -> None:
        """End every job: an error from which this process cannot continue."""
        await asyncio.gather(*(self.end(job) for job in list(self._live)))

    def end_soon(self, job: str, *, now: bool = False) -> None:
        """As `end`, without waiting for it: the end comes through the inbox."""
        self._attend_by(job, self.end(job, now=now), f"end of {job}, now: {now}")

    def end_unknown(self, job: str) -> None:
        """End what an earlier supervisor started and is no longer wanted. No job begins before it
        has ended: it may be at work on the same task."""
        claim, end = self._path(job, "claim"), self._path(job, "end")
        if not claim.exists() and end.exists():
            return
        found = drivers.recover(claim, end, job)
        if isinstance(found, Live):
            name = f"end of {job}"
            self._attend_by(job, self._launcher.end(found), name)
            self._unknown.add(self._attending[name])
            self._attending[name].add_done_callback(self._unknown.discard)

    async def unknown_ended(self) -> None:
        while self._unknown:
            await asyncio.wait(self._unknown)

    # What can be done to a job that runs

    def send(self, job: str, data: bytes) -> None:
        self._launcher.send(self._path(job, "in"), data)

    def unread(self, job: str) -> int:
        return drivers.unread(self._path(job, "in"))

    def end_input(self, job: str) -> None:
        if (live := self._at_work(job)) is not None:
            self._launcher.end_input(live, self._path(job, "in"))

    def pause(self, job: str) -> None:
        if (live := self._at_work(job)) is not None:
            processes.stop_tree(live.keeper, root=False)

    def go_on(self, job: str) -> None:
        if (live := self._at_work(job)) is not None:
            processes.continue_tree(live.keeper, root=False)

    def look(self, job: str) -> Look | None:
        live = self._at_work(job)
        if live is None or not processes.is_alive(live.keeper, live.started):
            return None
        seen = activity_below(live.keeper)
        return Look(seen.names, seen.stopped, seen.connections)

    def _at_work(self, job: str) -> Live | None:
        live = self._live.get(job)
        return None if live is None or live.is_over else live

    def _attend_by(
        self, job: str, attending: Coroutine[None, None, None], name: str | None = None
    ) -> None:
        name = name or job

        def done(task: asyncio.Task[None]) -> None:
            if self._attending.get(name) is task:
                del self._attending[name]
            if not task.cancelled() and (error := task.exception()) is not None:
                self._inbox.notify(Broke(job, error))

        self._attending[name] = asyncio.create_task(attending)
        self._attending[name].add_done_callback(done)

    async def _launch(self, job: Job) -> None:
        """Jobs that begin together are reported as started in the order in which they began."""
        before, mine = self._launching, asyncio.Event()
        self._launching = mine
        try:
            await self.unknown_ended()
            live = await self._launcher.launch(self._order(job))
        except AgentError as error:
            self._inbox.notify(Ended(job.id, None, error=str(error)))
            return
        else:
            if before is not None:
                await before.wait()
            self._tell_started(job, live, False)
        finally:
            mine.set()
        await self._attend(job, live)

    def _order(self, job: Job) -> Order:
        stdin = first = None
        if job.stdin is not None or job.is_interactive:
            stdin = self._path(job.id, "in")
        if job.is_interactive:
            first = self._path(job.id, "first")
            _write(first, job.stdin or b"")
        elif stdin is not None:
            _write(stdin, job.stdin or b"")
        return Order(
            run=job.id,
            argv=job.argv,
            env=job.env,
            cwd=job.cwd,
            stdin=stdin,
            first=first,
            err=job.err,
            interactive=job.is_interactive,
            pty=PTY_SIZE if job.has_terminal else None,
            log=job.log,
            claim=self._path(job.id, "claim"),
            end=self._path(job.id, "end"),
            grace_s=self._grace_s,
            spare=self._spares.pop() if self._spares else None,
            masks=job.masks,
            layers=job.layers,
        )

    def _tell_started(self, job: Job, live: Live, is_adopted: bool) -> None:
        self._live[job.id] = live  # from now on it can be paused and sent to
        self._keep_watching(job.log.parent)
        handle = {"keeper": live.keeper, "keeper_started": live.started}
        self._inbox.notify(Started(job.id, handle, is_adopted))

    async def _attend(self, job: Job, live: Live) -> None:
        if job.id in self._wanted_end:  # it was to end before it had begun
            await self._launcher.end(live)
        followers = self._output.followers(job)
        for follower in followers:
            follower.start()
        timed_out = False
        try:
            if job.deadline is None:
                await self._launcher.ended(live)
            else:
                timed_out = await self._until(job, live, job.deadline)
            if not self._path(job.id, "end").exists():  # its keeper was killed
                await self._launcher.end(live, now=True)
            for follower in followers:
                await follower.drain()
        finally:
            for follower in followers:
                follower.stop()
        self._finish(job, timed_out)

    async def _until(self, job: Job, live: Live, deadline: datetime) -> bool:
        """Wait for the end, or make it at the deadline; True if it came to that."""
        while True:
            left_s = (deadline - self._clock.now()).total_seconds()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._launcher.ended(live), max(0.0, min(left_s, 60.0)))
                return False
            if self._clock.now() >= deadline:
                await self._launcher.end(live)
                return True

    async def _settle_found(self, job: Job) -> None:
        for follower in self._output.followers(job):
            try:
                await follower.drain()
            finally:
                follower.stop()
        self._finish(job, False, is_unseen=True)

    def _finish(self, job: Job, timed_out: bool, *, is_unseen: bool = False) -> None:
        end = drivers.read_outcome(self._path(job.id, "claim"), self._path(job.id, "end"))
        self._output.close(job, end.lost_tail if end is not None else b"")
        self._live.pop(job.id, None)
        for path in job.unwelcome:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        if end is None:
            killed = _("its keeper process was killed")
            happened = Ended(job.id, None, error=killed, keeper_died=True)
        else:
            happened = Ended(
                job.id,
                end.code,
                signal=end.signal,
                is_ours=end.by != "itself",
                timed_out=timed_out,
                error=end.error.strerror if end.error else None,
                lost_bytes=end.lost_bytes,
                is_unseen=is_unseen,
            )
        self._inbox.notify(happened)

    def forget(self, job: str) -> None:
        """Its end was recorded: what was kept for a next supervisor can go."""
        self._wanted_end.discard(job)
        if len(self._spares) < SPARES_MAX:
            self._spares.append(self._path(job, "end"))
            self._clean(job, *LEFT)
        else:
            self._clean(job, "end", *LEFT)

    def sweep(self) -> None:
        """Remove what was left by runs that ended long ago (revocations, places)."""
        before = self._clock.now().timestamp() - SWEEP_AFTER_S
        with contextlib.suppress(FileNotFoundError):  # another sweeps as well, or all is gone
            for path in self._runs.iterdir():
                if path.lstat().st_mtime < before:
                    path.unlink(missing_ok=True)

    def claim_again(self) -> None:
        """Claims were removed under their runs: a next supervisor must find those that live."""
        for job, live in self._live.items():
            if not live.is_over:
                drivers.claim_again(self._path(job, "claim"), self._path(job, "end"), live)

    def _path(self, job: str, what: str) -> Path:
        return _run_path(f"{self._runs_text}/{job}.{what}")

    def _clean(self, job: str, *files: str) -> None:
        for what in files or ("end", "claim", *LEFT):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._runs_text}/{job}.{what}")  # noqa: PTH108 - once for every run

    # The inbox, the timer, the plan's folder

    def notify(self, happening: Happening) -> None:
        self._inbox.notify(happening)

    def soon(self, action: Callable[[], None]) -> None:
        """Do something behind the jobs that were just begun."""

        def act() -> None:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - raised where the inbox is read
                self._inbox.notify(Broke("", error))

        asyncio.get_running_loop().call_soon(act)

    def want_stop(self, *, now: bool) -> None:
        self.notify(StopWanted(now))

    def watch_plan(self, plan: Path) -> None:
        def touched(name: str) -> None:
            if name == plan.name:
                self.notify(PlanTouched())

        self._watch.watch(plan.parent, touched)

    def watch_bell(self, folder: Path) -> None:
        """Report each ring; the owner looks at earlier acts when it starts."""

        def rang(name: str) -> None:
            if name in (bell.NAME, ANYTHING):
                self.notify(ActsAdded())

        self._watch.watch(folder, rang)

    def _keep_watching(self, folder: Path) -> None:
        """One watch for all logs, kept while they come and go."""
        if folder not in self._watched:
            self._watched.add(folder)
            self._watch.watch(folder, lambda name: None)

    def wake_at(self, at: datetime | None) -> None:
        self._inbox.wake_at(at)

    async def next(self, timeout_s: float | None = None) -> list[Happening]:
        told = await self._inbox.next(timeout_s)
        if not self._tells_errors:
            for happening in told:
                if isinstance(happening, Broke):
                    raise happening.error
        return told

    async def let_go(self) -> None:
        self._output.let_go()
        attending = list(self._attending.values())
        for task in attending:
            task.cancel()
        await asyncio.gather(*attending, return_exceptions=True)
        self._live.clear()
        self._wanted_end.clear()
        self._inbox.close()
        await self._launcher.close()  # of a run that is recovered the keeper's own end tells

    async def close(self) -> None:
        await self.let_go()
        for spare in self._spares:
            spare.unlink(missing_ok=True)
        self._watch.close()


@lru_cache(maxsize=256)
def _run_path(name: str) -> Path:
    """A path is slow to make, and each is needed several times while its run lives."""
    return Path(name)


def _write(path: Path, data: bytes) -> None:
    """Only the agent may read its input."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
