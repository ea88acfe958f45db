"""What waits for an instant on the server, with the real supervisor and a clock that can be moved:
reminders, deadlines, checkpoints; each once, whoever dies in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from kit.app import House, Open, play
from kit.clock import MovedClock
from segue import i18n
from segue.drivers.notify import Notice
from segue.engine.outbox import NoticeSender, Outbox
from segue.work.phases import recovery
from segue.work.phases.app import open_app
from segue.work.phases.notices import ServerNotices
from segue.work.phases.refused import Refused
from segue.work.phases.saving import Saving
from segue.work.project import Project
from segue.work.settings import config

HOURS = timedelta(hours=1)
MOMENT = timedelta(seconds=30)  # what the tests themselves may take
PLAYER = "write docs/draft.md The sea is deep.\nphase 1\n"
AGENT = """#!/bin/sh
cat >> heard
if [ "$SEGUE_RESUME" = 1 ]; then
  mkdir -p docs; echo "The sea is deep." > docs/draft.md
  echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ==="
  exit 0
fi
{body}
"""
BUSY = "echo busy > begun; until [ -e go ]; do sleep 0.02; done"
ASKS = """cat <<END
[USER_QUESTION $SEGUE_NONCE]
question: Which colour?
options:
  - red
  - blue
default: blue
required: {required}
deadline: 2h
[/USER_QUESTION]
END"""


@dataclass
class Told:
    """A way to tell people that remembers what it told."""

    name: str = "remembers"
    kinds: list[tuple[str, str | None]] = field(default_factory=list)

    async def send(self, notice: Notice) -> None:
        self.kinds.append((notice.kind, notice.gate))

    def of(self, gate: str) -> list[str]:
        return [kind for kind, about in self.kinds if about == gate]


class App(House):
    """A server's work under this clock; `told` are the people outside, over all its lives."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.clock, self.told = MovedClock(), Told()
        self.add(self.script(PLAYER))

    def command(self, name: str, body: str) -> None:
        path = self.folder / f"{name}.sh"
        path.write_text(AGENT.format(body=body), "utf-8")
        path.chmod(0o755)
        self.add(f'[agents.{name}]\nkind = "command"\ncommand = ["{path}"]\n')

    @asynccontextmanager
    async def life(self, *, is_deaf: bool = False) -> AsyncIterator[Open]:
        """From a start to a kill -9: nothing is put in order. `is_deaf`: it dies before it has
        told anybody anything."""
        async with open_app(
            Project(self.folder),
            config.load(self.folder, None),
            environ=self.environ,
            clock=self.clock,
            tz=UTC,
            slots=3,
            command=["segue", "serve"],
        ) as app:
            app.supervisor.recover()
            sender: NoticeSender | None = None
            work = [asyncio.create_task(app.driver.run())]
            if not is_deaf:
                pending = ServerNotices(app.supervisor.records, "http://x")
                sender = NoticeSender(Outbox(pending, self.clock, [self.told]))
                app.supervisor.on_commit(sender.wake)
            try:
                yield Open(app)
            finally:
                await app.supervisor.saving.settle()
                if sender is not None:
                    await sender.close(0)
                for task in work:
                    task.cancel()
                await asyncio.wait(work)
                for task in work:
                    with suppress(asyncio.CancelledError):
                        task.result()

    def pass_(self, server: Open, span: timedelta) -> None:
        """Time goes by."""
        self.clock.ahead += span
        server.app.supervisor.kick()


@pytest.fixture
def app(tmp_path: Path) -> App:
    i18n.use("en")
    return App(tmp_path)


async def settled(server: Open) -> None:
    """All that is due has fired: the loop has gone round, and nothing is due any more."""
    supervisor = server.app.supervisor
    supervisor.kick()
    await server.until(lambda: not supervisor.may_start)
    await server.until(lambda: not supervisor.records.due(supervisor.clock.now()))


def test_a_review_reminds_then_presses_then_escalates(app: App) -> None:
    """After 24, 48 and 72 hours, each once and not before; the review itself stays."""

    async def scene() -> None:
        async with app.life() as server:
            review = (await server.pending(server.new(), "review"))["id"]
            await server.until(lambda: app.told.of(review) == ["review"])
            expected = ["review"]
            for kind in ("remind", "urgent", "escalate"):
                app.pass_(server, 24 * HOURS - MOMENT)
                await settled(server)
                assert app.told.of(review) == expected, "not before"
                app.pass_(server, MOMENT)
                expected.append(kind)
                await server.until(lambda: app.told.of(review) == expected)
            app.pass_(server, 500 * HOURS)
            await settled(server)
            other = server.new()
            await server.until(lambda: ("review", (gate_of(server, other))) in app.told.kinds)
            assert app.told.of(review) == expected, "and never again"
            assert server.commands.review(review)["reminders"] == 3
            server.commands.approve(review)

    play(scene)


def test_a_limit_is_told_once_for_each_time_it_parks(app: App) -> None:
    """With the time at which it goes on; one that comes back at once is not told again."""
    body = 'echo "You have hit your usage limit. Please try again in 30 minutes."; exit 1\n'
    app.program("#!/bin/sh\ncat > /dev/null\n" + body, name="limited")

    async def scene() -> None:
        async with app.life() as server:
            id = server.new(agent="limited")
            for told in (1, 1, 2):
                await server.status(id, "in_progress", "paused")
                await server.until(lambda: len(limits(server, id)) >= told)  # noqa: B023
                assert len(limits(server, id)) == told
                before = len(server.trail(id))
                app.pass_(server, 31 * HOURS / 60)
                await server.until(lambda: len(server.trail(id)) >= before + 2)  # noqa: B023
            assert all("resumes by itself at" in text for text in limits(server, id))
            server.commands.cancel(id)

    play(scene)


def limits(server: Open, id: str) -> list[str]:
    sql = "SELECT text FROM notices WHERE task = ? AND kind = 'limit'"
    return [row["text"] for row in server.app.supervisor.records.store.all(sql, id)]


def gate_of(server: Open, id: str) -> str | None:
    items = server.commands.gates("review", task=id, status="pending")["items"]
    return str(items[0]["id"]) if items else None


@pytest.mark.parametrize("is_deaf", [True, False])
def test_a_reminder_is_told_once_over_deaths(app: App, is_deaf: bool) -> None:
    """A server dies after each; before it was told or after it: told once all the same."""

    async def scene() -> None:
        async with app.life() as server:
            id = server.new()
            review = (await server.pending(id, "review"))["id"]
            await server.until(lambda: app.told.of(review) == ["review"])
        expected = ["review"]
        for kind in ("remind", "urgent", "escalate"):
            app.clock.ahead += 24 * HOURS
            expected.append(kind)
            async with app.life(is_deaf=is_deaf) as server:
                await settled(server)
                if not is_deaf:
                    await server.until(lambda: app.told.of(review) == expected)
            async with app.life() as server:
                await settled(server)
                await server.until(lambda: app.told.of(review) == expected)
        async with app.life() as server:
            app.pass_(server, 100 * HOURS)
            await settled(server)
            after = server.new()
            await server.until(lambda: ("review", gate_of(server, after)) in app.told.kinds)
            assert app.told.of(review) == expected
            assert server.commands.task(id)["status"] == "review"

    play(scene)


def test_a_review_that_is_decided_reminds_nobody(app: App) -> None:
    """Neither after an approval nor after a request; the next round has times of its own."""

    async def scene() -> None:
        async with app.life() as server:
            id = server.new()
            first = (await server.pending(id, "review"))["id"]
            app.pass_(server, 23 * HOURS)
            server.commands.request_changes(first, "deeper")
            await server.until(lambda: gate_of(server, id) not in (None, first))
            second = str(gate_of(server, id))
            app.pass_(server, 2 * HOURS)
            await settled(server)
            app.pass_(server, 22 * HOURS)
            await server.until(lambda: "remind" in app.told.of(second))
            assert app.told.of(first) == ["review"]
            server.commands.approve(second)
            app.pass_(server, 200 * HOURS)
            await settled(server)
            assert app.told.of(second) == ["review", "remind"]

    play(scene)


def test_the_times_are_those_of_the_settings(app: App) -> None:
    """`[reviews] remind_after`, `urgent_after`, `escalate_after`."""
    app.add('[reviews]\nremind_after = "1h"\nurgent_after = "90m"\nescalate_after = "2h"\n')

    async def scene() -> None:
        async with app.life() as server:
            review = (await server.pending(server.new(), "review"))["id"]
            for kind, span in (("remind", 60), ("urgent", 30), ("escalate", 30)):
                app.pass_(server, timedelta(minutes=span))
                await server.until(lambda: app.told.of(review)[-1:] == [kind])  # noqa: B023
            assert app.told.of(review) == ["review", "remind", "urgent", "escalate"]

    play(scene)


def test_an_optional_question_takes_its_default_at_its_deadline(app: App) -> None:
    """Not before it; the agent hears the default once; whoever answers then is too late."""
    app.command("asker", ASKS.format(required="false"))

    async def scene() -> None:
        async with app.life() as server:
            id = server.new(agent="asker")
            question = (await server.pending(id, "question"))["id"]
            app.pass_(server, 2 * HOURS - MOMENT)
            await settled(server)
            assert server.commands.task(id)["agentStatus"] == "waiting_question"
            app.pass_(server, MOMENT)
            await server.status(id, "review")
            heard_once(server, id, "blue")
            with pytest.raises(Refused) as refused:
                server.commands.answer(question, "red")
            assert refused.value.status == 409

    play(scene)


def heard_once(server: Open, id: str, answer: str) -> None:
    """The agent was told the answer, in one run, and the journal has one of it."""
    heard = (Path(server.commands.task(id)["workspace"]) / "heard").read_text("utf-8")
    assert heard.count(f"{answer}\n") == 1, heard
    rows = server.commands.journal(id, page_size=200)["items"]
    assert [row["trigger"] for row in rows if row["entity"] == "agent"].count("answer") == 1


def test_a_deadline_that_passes_while_nobody_is_there(app: App) -> None:
    """The next server finds it due, and gives the default, once; so does the one after it."""
    app.command("asker", ASKS.format(required="false"))

    async def scene() -> None:
        async with app.life() as server:
            id = server.new(agent="asker")
            await server.pending(id, "question")
        app.clock.ahead += 3 * HOURS
        async with app.life() as server:
            await settled(server)
            await server.status(id, "review")
        async with app.life() as server:
            await settled(server)
            await server.status(id, "review")
            heard_once(server, id, "blue")

    play(scene)


def test_a_required_question_stays_and_reminds(app: App) -> None:
    """Its deadline is told once, over a death as well; then the reminders; the answer counts."""
    app.command("asker", ASKS.format(required="true"))

    async def scene() -> None:
        async with app.life() as server:
            id = server.new(agent="asker")
            question = (await server.pending(id, "question"))["id"]
            app.pass_(server, 2 * HOURS)
            await server.until(lambda: app.told.of(question) == ["question", "urgent"])
        async with app.life() as server:
            await settled(server)
            assert server.commands.task(id)["agentStatus"] == "waiting_question"
            app.pass_(server, 22 * HOURS)
            expected = ["question", "urgent", "remind"]
            await server.until(lambda: app.told.of(question) == expected)
            server.commands.answer(question, "red")
            await server.status(id, "review")
            heard_once(server, id, "red")
            app.pass_(server, 100 * HOURS)
            await settled(server)
            assert app.told.of(question) == expected

    play(scene)


def test_an_answer_in_time_stands(app: App) -> None:
    """The deadline of a question that was answered does nothing."""
    app.command("asker", ASKS.format(required="false"))

    async def scene() -> None:
        async with app.life() as server:
            id = server.new(agent="asker")
            server.commands.answer((await server.pending(id, "question"))["id"], "red")
            await server.status(id, "review")
            app.pass_(server, 3 * HOURS)
            await settled(server)
            heard_once(server, id, "red")
            (found,) = server.commands.gates("question", task=id)["items"]
            assert (found["status"], found["answer"]) == ("answered", "red")

    play(scene)


def test_a_checkpoint_every_ten_minutes_of_work(app: App) -> None:
    """While its agent works, over a death of the server too; not while it waits."""
    app.command("busy", BUSY)
    tens = timedelta(minutes=10)

    def at_work(server: Open, id: str) -> bool:
        return (Path(server.commands.task(id)["workspace"] or "-") / "begun").exists()

    async def scene() -> None:
        async with app.life() as server:
            id = server.new(agent="busy")
            await server.until(lambda: at_work(server, id))
            app.pass_(server, tens - MOMENT)
            await settled(server)
            assert server.kinds(id) == []
            app.pass_(server, MOMENT)
            await server.until(lambda: server.kinds(id) == ["timer"])
            app.pass_(server, tens)
            await server.until(lambda: server.kinds(id) == ["timer"] * 2)
        app.clock.ahead += tens
        async with app.life() as server:
            await server.until(lambda: server.kinds(id) == ["timer"] * 3)
            server.commands.pause(id)
            await server.until(lambda: server.kinds(id)[-1] == "pause")
            app.pass_(server, 3 * tens)
            await settled(server)
            server.commands.cancel(id)
            await server.until(lambda: server.kinds(id)[-1] == "final")
            assert server.kinds(id) == [*["timer"] * 3, "pause", "final"]
            sql = "SELECT count(*) FROM timers WHERE task = ?"
            row = server.app.supervisor.records.store.one(sql, id)
            assert row is not None
            assert row[0] == 0, "nothing is left that could fire"

    play(scene)


def test_a_wait_that_no_checkpoint_knows_of_gets_one_at_the_next_start(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server died between the step and its checkpoint: the next one writes it."""

    async def scene() -> None:
        async with app.life() as server:
            with monkeypatch.context() as patch:
                patch.setattr(Saving, "save", lambda _self, _id, _kind: None)
                id = server.new()
                await server.pending(id, "review")
            assert server.kinds(id) == []
        async with app.life() as server:
            await server.until(lambda: server.kinds(id) == ["recovered"])
        async with app.life() as server:
            await settled(server)
            await server.app.supervisor.saving.settle()
            assert server.kinds(id) == ["recovered"]

    play(scene)


def test_very_many_missing_checkpoints_come_slowly_and_at_once_where_they_are_asked_for(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that has just started is soon at rest; whoever looks waits for no other task."""
    monkeypatch.setattr(recovery, "SAVED_AT_ONCE_MAX", 0)
    monkeypatch.setattr(recovery, "REST", 1e9)
    ids: list[str] = []

    async def scene() -> None:
        async with app.life() as server:
            with monkeypatch.context() as patch:
                patch.setattr(Saving, "save", lambda _self, _id, _kind: None)
                ids.extend(server.new() for _task in range(3))
                for id in ids:
                    await server.pending(id, "review")
        async with app.life() as server:
            await server.until(lambda: any(server.kinds(id) for id in ids))
            await server.app.supervisor.saving.settle()
            left = [id for id in ids if not server.kinds(id)]
            assert len(left) == 2
            await server.commands.saved(left[1])
            assert server.kinds(left[1]) == ["recovered"]
            assert server.kinds(left[0]) == []

    play(scene)
