"""Something unexpected while one task is seen to: it fails alone, and nothing spins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.app import House, Open, play
from segue import i18n
from segue.dialects.script import Script
from segue.engine import notices, outage
from segue.errors import UserError
from segue.store.changes import stamp
from segue.store.sqlite import Store
from segue.work.phases import checking, outcomes, storage_outage, timers
from segue.work.phases.driver import PhaseDriver
from segue.work.phases.processes import Processes
from segue.work.phases.saving import Saving
from segue.work.phases.supervisor import Supervisor

ONE_PHASE = """
write docs/draft.md The sea is deep.
phase 1
"""
ASKING = 'ask "Which colour?" Blue Green\n' + ONE_PHASE
SECRET = "sk-never-to-be-seen-0815"


class Unexpected(Exception):  # noqa: N818 - the word says it
    """What nobody thought of."""


@pytest.fixture
def house(tmp_path: Path) -> House:
    i18n.use("en")
    made = House(tmp_path)
    made.add(made.script(ONE_PHASE))
    made.add(made.script(ASKING, "asker"))
    made.add(made.script('depend api_key SEA_KEY "to look"\n' + ONE_PHASE, "needy"))
    return made


def breaks_for(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, is_it: Callable[..., bool]
) -> list[object]:
    """Let a function raise where it is about something; what it was called with then."""
    real: Callable[..., Any] = getattr(where, name)
    hits: list[object] = []

    def broken(*given: Any, **more: Any) -> Any:
        if is_it(*given, **more):
            hits.append(given)
            raise Unexpected(f"the inside of it, {SECRET}")
        return real(*given, **more)

    monkeypatch.setattr(where, name, broken)
    return hits


async def failed_alone(server: Open, bad: str, good: str) -> dict[str, Any]:
    """The one has failed, with all that belongs to that; the other gets to its review."""
    task = await server.status(bad, "failed", "failed")
    assert "Unexpected" in task["error"]
    assert ("task", "in_progress", "failed") in server.trail(bad)
    await server.status(good, "review", "waiting_review")
    sql = "SELECT count(*) FROM timers WHERE task = ?"
    store = server.app.supervisor.records.store
    assert store.one(sql, bad)[0] == 0, "it reminds nobody"  # type: ignore[index]
    assert not server.app.supervisor.records.open_runs(bad)
    supervisor = server.app.supervisor
    await server.until(lambda: bad not in {a.run.task for a in supervisor.attempts.values()})
    return task


WHERE: dict[str, tuple[object, str]] = {
    "when its run has ended": (outcomes, "ended"),
    "when its phase is checked": (checking, "begin"),
    "when it is assigned": (outcomes, "assigned"),
    "when its process is begun": (Processes, "_begin"),
    "when it was started": (PhaseDriver, "_started"),
    "when something is heard": (PhaseDriver, "_heard"),
}


@pytest.mark.parametrize("place", WHERE)
def test_an_exception_about_one_task_fails_that_task_alone(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    """Error kept, journal row, log with id and traceback; the others go on."""
    bad: list[str] = []

    def is_bad(*given: Any) -> bool:
        return bool(bad) and any(bad[0] in str(value) for value in given[1:])

    hits = breaks_for(monkeypatch, *WHERE[place], is_bad)

    async def scene() -> None:
        async with house.open() as server:
            bad.append(str(server.commands.create_task(new())["id"]))
            good = server.new()
            server.commands.submit(bad[0])
            await failed_alone(server, bad[0], good)
            assert len(hits) <= 3, "not again and again"
            later = server.new()
            await server.status(later, "review")

    with caplog.at_level(logging.ERROR, "segue.work.phases"):
        play(scene)
    told = [record for record in caplog.records if getattr(record, "task", None) == bad[0]]
    assert told
    assert told[0].exc_info
    assert bad[0] in told[0].getMessage()


def new() -> Any:
    from segue.work.phases.commands import NewTask

    return NewTask("A report", "About the sea", "report", "player")


def test_an_exception_in_a_dialect_fails_its_task(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the engine stumbles over while it listens is known by its job."""
    bad: list[str] = []
    breaks_for(monkeypatch, Script, "feed", lambda _self, data: b"Which colour?" in data)

    async def scene() -> None:
        async with house.open() as server:
            bad.append(server.new(agent="asker"))
            await failed_alone(server, bad[0], server.new())

    play(scene)


def test_an_exception_while_a_person_acts_is_not_the_persons(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer was taken; what goes wrong behind it fails the task, not the request."""

    async def scene() -> None:
        async with house.open() as server:
            id = server.new(agent="asker")
            question = await server.pending(id, "question")
            breaks_for(monkeypatch, Processes, "_begin", lambda _self, task, _run: task.id == id)
            assert server.commands.answer(question["id"], "Blue")["answer"] == "Blue"
            await failed_alone(server, id, server.new())
            monkeypatch.undo()

    play(scene)


def test_a_task_that_waits_fails_with_all_that_waits(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A timer that cannot fire: the question is withdrawn, the agent has failed."""

    async def scene() -> None:
        async with house.open() as server:
            id = server.new(agent="asker")
            question = await server.pending(id, "question")
            breaks_for(
                monkeypatch, timers, "_fire", lambda _supervisor, timer: timer["kind"] == "save"
            )
            make_due(server, "save", id)
            task = await failed_alone(server, id, server.new())
            assert SECRET in task["error"], "nobody gave it in confidence"
            found = server.commands.gates("question", task=id)["items"]
            assert [(gate["id"], gate["status"]) for gate in found] == [
                (question["id"], "withdrawn")
            ]

    play(scene)


def make_due(server: Open, kind: str, id: str) -> None:
    """Let a timer's instant come."""
    supervisor = server.app.supervisor
    now = stamp(supervisor.clock.now())
    store = supervisor.records.store
    row = store.one("SELECT * FROM timers WHERE task = ? AND kind = ?", id, kind)
    assert row is not None
    from segue.store.changes import Put

    supervisor.commit(Put("timers", {**dict(row), "at": now}))
    supervisor.kick()


def test_what_people_gave_in_confidence_is_not_in_the_error(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception that quotes a secret is shown without it."""

    async def scene() -> None:
        async with house.open() as server:
            id = server.new(agent="needy")
            needed = await server.pending(id, "dependency")
            breaks_for(monkeypatch, checking, "begin", lambda _supervisor, task, *_: task.id == id)
            server.commands.provide(needed["id"], SECRET)
            task = await failed_alone(server, id, server.new())
            assert SECRET not in task["error"]
            assert "***" in task["error"]

    play(scene)


def test_a_reminder_that_cannot_be_told_leaves_the_review_alone(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person has the word: the task stays in review, and nothing spins."""
    house.add('[reviews]\nremind_after = "1s"\n')

    async def scene() -> None:
        async with house.open() as server:
            hits = breaks_for(monkeypatch, notices, "once", lambda *_given: True)
            id = server.new()
            review = await server.pending(id, "review")
            await server.until(lambda: hits)
            for _turn in range(20):
                server.app.supervisor.kick()
                await asyncio.sleep(0)
            assert len(hits) == 1, "it is not tried again and again"
            assert server.commands.task(id)["status"] == "review"
            monkeypatch.undo()
            server.commands.approve(review["id"])

    play(scene)


def test_a_task_that_cannot_even_be_failed_is_set_aside(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processes are ended, nothing is tried again and again, the others go on."""

    async def scene() -> None:
        async with house.open() as server:
            id = server.new(agent="asker")
            question = await server.pending(id, "question")
            hits = breaks_for(
                monkeypatch, checking, "begin", lambda _supervisor, task, *_: task.id == id
            )
            saves = breaks_for(monkeypatch, Saving, "given", lambda _self, task: task == id)
            monkeypatch.setattr(
                "segue.work.phases.task_failure._failed",
                lambda supervisor, task, text: (_ for _ in ()).throw(Unexpected("again")),
            )
            monkeypatch.setattr(Saving, "given", lambda _self, task: {})
            server.commands.answer(question["id"], "Blue")
            supervisor = server.app.supervisor
            await server.until(lambda: id in supervisor.quarantined)
            good = server.new()
            await server.status(good, "review")
            await server.until(lambda: id not in {a.run.task for a in supervisor.attempts.values()})
            assert len(hits) == 1
            assert not saves
            monkeypatch.undo()
        async with house.open() as server:  # the next start takes it up again
            await server.status(id, "review")

    play(scene)


def test_an_error_about_no_task_is_survived(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is let go and taken up again, as after a death; the work is done once."""

    async def scene() -> None:
        async with house.open() as server:
            first = server.new()
            await server.status(first, "review")
            once = [True]
            hits = breaks_for(monkeypatch, timers, "next_at", lambda _supervisor: bool(once))
            real = storage_outage.until_over

            async def seen(supervisor: Supervisor, error: Exception) -> None:
                once.clear()
                await real(supervisor, error)

            monkeypatch.setattr(storage_outage, "until_over", seen)
            second = server.new()
            await server.status(second, "review")
            assert len(hits) == 1
            trail = [step for step in server.trail(second) if step[0] == "task"]
            assert trail[-1] == ("task", "in_progress", "review")
            assert len(trail) == len(set(trail))

    play(scene)


def test_an_error_that_comes_again_and_again_ends_the_server(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounded: after a few times it is raised."""
    monkeypatch.setattr(outage, "FIRST_WAIT_S", 0.001)
    hits = breaks_for(monkeypatch, timers, "next_at", lambda _supervisor: True)

    async def scene() -> None:
        async with house.open() as server:
            await server.until(lambda: len(hits) > storage_outage.RECENT_ERRORS_MAX)

    with pytest.raises(Unexpected):
        play(scene)
    assert len(hits) == storage_outage.RECENT_ERRORS_MAX + 1


def test_files_of_one_task_that_cannot_be_written_hold_up_the_others_only_a_few_times(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room, but not for this one: a few tries, then it fails, and says why."""
    monkeypatch.setattr(outage, "FIRST_WAIT_S", 0.001)
    bad: list[str] = []
    real = Saving.keep_round
    hits = []

    def full(self: Saving, task: Any, *given: Any) -> Any:
        if task.id in bad:
            hits.append(task.id)
            raise UserError("disk_full", "the disk is full", file="elsewhere")
        return real(self, task, *given)

    monkeypatch.setattr(Saving, "keep_round", full)

    async def scene() -> None:
        async with house.open() as server:
            bad.append(str(server.commands.create_task(new())["id"]))
            good = server.new()
            server.commands.submit(bad[0])
            task = await server.status(bad[0], "failed", "failed")
            assert "the disk is full" in task["error"]
            await server.status(good, "review", "waiting_review")
            assert len(hits) == 4

    play(scene)


def test_a_database_that_cannot_be_written_for_a_while(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever commit it hits, for however long: the work completes, each step once."""
    monkeypatch.setattr(outage, "FIRST_WAIT_S", 0.001)
    real = Store.move

    def run(number: int) -> int:
        count = [0]

        def move(self: Store, *changes: Any, **more: Any) -> bool:
            count[0] += 1
            if number <= count[0] < number + 3:
                raise UserError("database_busy", "somebody holds it", file=str(self.path))
            return real(self, *changes, **more)

        async def scene() -> None:
            async with house.open() as server:
                id = server.new(agent="asker")
                monkeypatch.setattr(Store, "move", move)
                question = await server.pending(id, "question")
                await server.until(lambda: answered(server, question["id"]))
                await server.status(id, "review", "waiting_review")
                monkeypatch.setattr(Store, "move", real)
                steps = [step for step in server.trail(id) if step[0] == "task"]
                assert steps[-1] == ("task", "in_progress", "review")
                assert len(steps) == len(set(steps))
                asked = server.commands.gates("question", task=id)["items"]
                assert [gate["status"] for gate in asked] == ["answered"]

        play(scene)
        return count[0]

    number = 1
    while number <= run(number):
        number += 1
    assert number > 4, "there were as many commits at least"


def answered(server: Open, question: str) -> bool:
    """A person who is told to come back does so."""
    try:
        server.commands.answer(question, "Blue")
    except UserError as error:
        assert error.problem.code == "database_busy"
        return False
    return True


def test_a_pause_in_the_moment_of_the_end_loses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent has ended, and nobody has heard of it when a person pauses it: it stays paused,
    and goes on when it is told to."""
    real = PhaseDriver._ended
    paused: list[str] = []
    task: list[str] = []

    async def scene() -> None:
        async with house.open() as server:

            def ended(self: PhaseDriver, ended: Any) -> None:
                if not paused:
                    paused.append(server.commands.pause(task[0])["agentStatus"])
                real(self, ended)

            monkeypatch.setattr(PhaseDriver, "_ended", ended)
            task.append(id := server.new())
            await server.until(lambda: paused == ["paused"])
            await server.until(lambda: not server.app.supervisor.records.open_runs(id))
            assert server.commands.task(id)["agentStatus"] == "paused"
            server.commands.resume(id)
            await server.status(id, "review", "waiting_review")

    play(scene)
