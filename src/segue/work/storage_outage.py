"""The run of a plan while nothing can be kept (`engine/outage.py`): its agents work on, and once
storage works again, the plan is opened again."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from segue.core.plan import MARKS, TaskState
from segue.drivers.launcher import Launcher
from segue.drivers.runs import Live, recover
from segue.engine import signals
from segue.engine.outage import can_write, is_passing, is_trouble, waits_s
from segue.engine.plan.environment import Environment
from segue.engine.plan.finish import INTERRUPTED, Result
from segue.errors import UserError
from segue.i18n import _
from segue.store import usage
from segue.store.rows import IS_OPEN
from segue.store.sqlite import Store
from segue.work.project import Project


class Outage(Exception):  # noqa: N818 - the word says it
    """Storage failed while a plan runs. Its agents continue."""

    def __init__(self, why: BaseException, project: Project, plan: Path) -> None:
        super().__init__(str(why))
        self.project, self.plan = project, plan


async def outlast(begin: Callable[[bool], Awaitable[Result]], environment: Environment) -> Result:
    """Run a plan; when storage fails, wait, and continue it (`begin(True)`)."""
    outage: Outage | None = None
    while True:
        try:
            return await begin(outage is not None)
        except Outage as error:
            outage = error
        except (UserError, OSError) as error:
            if outage is None or not is_passing(error):
                raise
        text = _("{why}: Segue waits until it can write again; the agents keep working")
        environment.emit("notice", text=text.format(why=outage))
        if not await _until_writable(outage, environment):
            return await _stop(outage, environment)
        environment.emit("notice", text=_("Segue can write again and has resumed"))


async def _until_writable(outage: Outage, environment: Environment) -> bool:
    """False: a person wants it to stop."""
    stop = asyncio.Event()
    actions = dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), stop.set)
    with signals.handled(actions):
        for wait_s in waits_s():
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await stop.wait()
                    return False
            if _is_writable(outage.project, environment.clock.now()):
                return True
    raise AssertionError("it is waited for ever")


def _is_writable(project: Project, now: datetime) -> bool:
    try:
        project.prepare()
        store = Store.open(project.database)
    except (UserError, OSError) as error:
        if not is_trouble(error):
            raise
        return False
    try:
        store.wait_at_most(1.0)
        return can_write(store, project.runs, now)
    finally:
        store.close()


async def _stop(outage: Outage, environment: Environment) -> Result:
    """The agents end; the marks stay as they are, and the next start continues from them."""
    project, launcher = outage.project, Launcher()
    store = Store.open_readonly(project.database)
    if store is None:
        return Result([], [], [], [], [], INTERRUPTED)
    try:
        plan = store.one("SELECT id FROM works WHERE path = ?", str(outage.plan))
        id = plan["id"] if plan else ""
        sql = f"SELECT id, verify_job FROM runs WHERE work = ? AND {IS_OPEN}"  # noqa: S608 - ours
        for row in store.all(sql, id):
            for job in filter(None, (row["id"], row["verify_job"])):
                claim, end = project.runs / f"{job}.claim", project.runs / f"{job}.end"
                if isinstance(found := recover(claim, end, job), Live):
                    await launcher.end(found)
        tasks = store.all("SELECT key, state FROM tasks WHERE work = ?", id)
        by = {state: [t["key"] for t in tasks if t["state"] == state] for state in MARKS}
        done, failed = by[TaskState.COMPLETED], by[TaskState.FAILED]
        result = Result(done, failed, by[TaskState.SKIPPED], [], [], INTERRUPTED)
        environment.emit(
            "finished",
            completed=done,
            failed=failed,
            skipped=result.skipped,
            parked=[],
            waiting=[],
            usage=usage.of_plan(store, id),
            exit=INTERRUPTED,
        )
        return result
    finally:
        await launcher.close()
        store.close()
