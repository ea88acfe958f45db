"""Notices: out once by each way, again after a failure, not again after a death."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kit.clock import HandClock
from kit.waiting import until, until_async
from segue.core.leash import parse_quiet
from segue.core.machines import GateState, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.drivers.notify import Bell, Command, Desktop, Notice, Ntfy, Undelivered, Webhook
from segue.engine import gates, outbox
from segue.engine.outbox import NoticeSender, Outbox
from segue.errors import UserError
from segue.store import works
from segue.store.changes import Add, Put, stamp
from segue.store.rows import SERVER
from segue.store.sqlite import Store
from segue.work.phases import moves
from segue.work.phases.notices import ServerNotices
from segue.work.phases.records import Records
from segue.work.settings.channels import read_notifiers, webhook_secret
from segue.work.settings.config import NotifySettings

START = datetime(2026, 11, 16, tzinfo=UTC)
URL = "http://127.0.0.1:8765"
TASK, GATE = "task_aaaaaaaaaaaa", "q_bbbbbbbbbbbb"


@dataclass
class Kept:
    """A way that keeps what it is given, or fails, or waits."""

    name: str
    got: list[Notice] = field(default_factory=list)
    fails: bool = False
    before: Callable[[], Awaitable[object]] | None = None

    async def send(self, notice: Notice) -> None:
        if self.before is not None:
            await self.before()
        if self.fails:
            raise Undelivered("not today")
        self.got.append(notice)


@pytest.fixture
def clock() -> HandClock:
    return HandClock(START)


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """One task with an open question."""
    store = Store.open(tmp_path / "segue.db")
    fill(store)
    yield Records(store)
    store.close()


def fill(store: Store) -> None:
    task = {
        "work": SERVER, "key": TASK, "title": "Shop", "description": "d", "type": "custom",
        "agent": "shell",
    }  # fmt: skip
    gate = {"work": SERVER, "task": TASK, "kind": "question", "text": "Which?"}
    works.enrol(store, SERVER, store.path.parent, START)
    added = store.move(
        Add("task", TASK, TaskState.IN_PROGRESS, task, Trigger.OPEN),
        Add("agent", TASK, AgentState.WAITING_QUESTION, {}, Trigger.OPEN),
        Add("gate", GATE, GateState.PENDING, gate, Trigger.OPEN),
        at=START,
    )
    assert added


def tell(records: Records, kind: str = "question", text: str = "Which?", gate: str | None = GATE,
         at: datetime = START) -> None:  # fmt: skip
    assert records.store.move(moves.notice(TASK, kind, text, at, gate), at=at)


def rows(records: Records) -> list[dict[str, Any]]:
    return [dict(row) for row in records.store.all("SELECT * FROM notices ORDER BY id")]


def send(records: Records, clock: HandClock, *notifiers: Kept) -> None:
    asyncio.run(_send_all(Outbox(ServerNotices(records, URL), clock, notifiers)))


async def _send_all(outbox: Outbox) -> None:
    while await outbox.send_due():
        pass


def test_a_notice_goes_out_once_by_each_way(records: Records, clock: HandClock) -> None:
    """And is done then."""
    one, two = Kept("one"), Kept("two")
    tell(records)
    send(records, clock, one, two)
    send(records, clock, one, two)
    [notice] = one.got
    assert two.got == [notice]
    assert notice.id == f"{TASK}-1"
    assert notice.headline == "Answer needed: Shop"
    assert notice.text == "Which?"
    assert notice.link == f"{URL}/tasks/{TASK}#question"
    [row] = rows(records)
    assert sorted(json.loads(row["sent"])) == ["one", "two"]
    assert row["next_at"] is None


@pytest.mark.parametrize(
    ("kind", "gate", "headline", "anchor"),
    [
        ("completed", None, "Completed: Shop", ""),
        ("failed", None, "Failed: Shop", ""),
        ("trouble", None, "Problem: Shop", ""),
        ("remind", GATE, "Reminder: Answer needed: Shop", "#question"),
        ("urgent", GATE, "Urgent: Answer needed: Shop", "#question"),
        ("escalate", GATE, "Waiting too long: Answer needed: Shop", "#question"),
        ("review", "rev_1", "Review needed: Shop", "#review"),
        ("dependency", "dep_1", "STRIPE_KEY needed: Shop", "#dependency"),
        ("something_new", None, "Shop", ""),
    ],
)
def test_each_kind_names_what_is_needed(
    records: Records, clock: HandClock, kind: str, gate: str | None, headline: str, anchor: str
) -> None:
    """And links to the place where it can be given."""
    for id, sort in (("rev_1", "review"), ("dep_1", "dependency")):
        row = {"work": SERVER, "task": TASK, "kind": sort, "name": "STRIPE_KEY"}
        records.store.move(Add("gate", id, GateState.PENDING, row, Trigger.OPEN), at=START)
    way = Kept("one")
    tell(records, kind, "text", gate)
    send(records, clock, way)
    assert (way.got[0].headline, way.got[0].kind) == (headline, kind)
    assert way.got[0].link == f"{URL}/tasks/{TASK}{anchor}"


def test_what_failed_is_tried_again_by_that_way_alone(records: Records, clock: HandClock) -> None:
    """After growing waits; with the same id."""
    good, bad = Kept("good"), Kept("bad", fails=True)
    tell(records)
    waits: list[float] = []
    for _n in range(3):
        send(records, clock, good, bad)
        next_at = datetime.fromisoformat(rows(records)[0]["next_at"])
        waits.append((next_at - clock.at).total_seconds())
        clock.at = next_at - timedelta(milliseconds=1)
        bad.fails = False
        send(records, clock, good, bad)
        assert bad.got == [], "not before its instant"
        bad.fails = True
        clock.at = next_at
    assert waits == [10, 30, 90]
    bad.fails = False
    send(records, clock, good, bad)
    assert [notice.id for notice in good.got] == [notice.id for notice in bad.got] == [f"{TASK}-1"]
    assert rows(records)[0]["next_at"] is None


def test_tries_are_bounded_and_told_in_the_log(
    records: Records, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    """The waits grow up to an hour; then it is given up."""
    bad = Kept("bad", fails=True)
    tell(records)
    tries = 0
    while (next_at := rows(records)[0]["next_at"]) is not None:
        wait = datetime.fromisoformat(next_at) - clock.at
        assert wait <= timedelta(hours=1)
        clock.at += wait
        send(records, clock, bad)
        tries += 1
    assert tries == outbox.TRIES_MAX == rows(records)[0]["tries"]
    assert timedelta(hours=1) < clock.at - START < timedelta(hours=6)
    warned = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warned) == tries
    assert TASK in warned[0].getMessage()
    assert "not today" in warned[0].getMessage()
    assert "gave up sending notice" in caplog.records[-1].getMessage()


def test_without_any_way_nothing_piles_up(records: Records, clock: HandClock) -> None:
    """A way that is added later is not flooded with what was."""
    tell(records)
    send(records, clock)
    late = Kept("late")
    send(records, clock, late)
    assert late.got == []


def test_what_was_settled_meanwhile_is_told_with_its_outcome(
    records: Records, clock: HandClock
) -> None:
    """A failed try is repeated, and says what came of it; a reminder is not needed any more."""
    way = Kept("one", fails=True)
    tell(records)
    tell(records, "remind")
    send(records, clock, way)
    gate = records.gate(GATE)
    assert gate is not None
    settled = gates.settle(gate, Trigger.ANSWER, START, "SQLite")
    assert records.store.move(*settled, at=START)
    way.fails = False
    clock.at += timedelta(hours=1)
    send(records, clock, way)
    [notice] = way.got
    assert (notice.kind, notice.gate, notice.outcome) == ("question", GATE, "answered")
    assert (notice.headline, notice.text) == ("Resolved: Shop", "Which? – answered: SQLite")
    assert [row["next_at"] for row in rows(records)] == [None, None]


@pytest.mark.parametrize(
    ("kind", "is_held"),
    [("question", False), ("failed", False), ("error", False), ("urgent", False),
     ("review", True), ("completed", True), ("limit", True), ("remind", True)],
)  # fmt: skip
def test_quiet_hours_hold_back_what_is_not_urgent(
    records: Records, clock: HandClock, kind: str, is_held: bool
) -> None:
    """Until they are over; that is no try."""
    way, quiet = Kept("one"), parse_quiet("23:00-07:00")
    tell(records, kind, "text", None)
    box = Outbox(ServerNotices(records, URL), clock, [way], quiet)
    asyncio.run(_send_all(box))
    assert (way.got == []) is is_held
    clock.at = START + timedelta(hours=7)
    asyncio.run(_send_all(box))
    assert [notice.kind for notice in way.got] == [kind]
    assert rows(records)[0]["tries"] == 0


def test_the_end_of_a_work_waits_for_what_is_due_and_not_for_ever(
    records: Records, clock: HandClock
) -> None:
    """A way that hangs has its bound; what it was given stays for the next start."""

    async def main() -> None:
        quick, stuck = Kept("quick"), Kept("stuck", before=asyncio.Event().wait)
        tell(records)
        sender = NoticeSender(Outbox(ServerNotices(records, URL), clock, [quick]))
        await sender.close()
        assert len(quick.got) == 1
        tell(records, "completed", "done", None)
        sender = NoticeSender(Outbox(ServerNotices(records, URL), clock, [quick, stuck]))
        await sender.close(0.05)
        assert len(quick.got) == 2
        assert [row["next_at"] is None for row in rows(records)] == [True, False]

    asyncio.run(main())


def test_a_way_that_hangs_holds_up_no_other(records: Records, clock: HandClock) -> None:
    """Each way that worked is marked at once, while another is still under way."""

    async def main() -> None:
        hangs = asyncio.Event()
        stuck, quick = Kept("stuck", before=hangs.wait), Kept("quick")
        tell(records)
        tell(records, "completed", "done", None)
        sending = asyncio.create_task(
            Outbox(ServerNotices(records, URL), clock, (stuck, quick)).send_due()
        )
        await until_async(
            lambda: [json.loads(row["sent"]) for row in rows(records)] == [["quick"]] * 2
        )
        assert len(quick.got) == 2
        hangs.set()
        await sending
        assert len(stuck.got) == 2
        assert {row["next_at"] for row in rows(records)} == {None}

    asyncio.run(main())


def test_the_pump_sends_when_it_is_woken_and_when_a_row_is_due(
    records: Records, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sleeps in between, until the instant of the next row."""
    slept: list[float] = []
    real = Outbox.wait_s

    def wait_s(self: Outbox) -> float:
        slept.append(real(self))
        return slept[-1]

    monkeypatch.setattr(Outbox, "wait_s", wait_s)

    async def main() -> None:
        way = Kept("one", fails=True)
        sender = NoticeSender(Outbox(ServerNotices(records, URL), clock, [way]))
        await until_async(lambda: slept == [outbox.LOOK_EVERY_S])
        tell(records)
        sender.wake()
        await until_async(lambda: slept[1:] == [10.0])
        way.fails = False
        clock.at += timedelta(seconds=9.95)
        sender.wake()
        await until_async(lambda: len(slept) == 3)
        assert 0 < slept[2] < 0.1
        assert way.got == []
        clock.at += timedelta(seconds=1)  # nobody wakes it: its own sleep ends
        await until_async(lambda: len(way.got) == 1)
        await sender.close(0)

    asyncio.run(main())


def test_a_full_disk_neither_ends_the_pump_nor_repeats_what_went_out(
    records: Records, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What arrived but could not be marked is marked when there is space again."""
    monkeypatch.setattr(outbox, "TROUBLE_S", 0.01)
    real, is_full, refused = Store.move, [True], []

    def move(self: Store, *changes: Any, at: datetime) -> bool:
        if is_full[0] and isinstance(changes[0], Put):
            refused.append(changes)
            raise UserError("disk_full", "the disk is full")
        return real(self, *changes, at=at)

    tell(records)
    monkeypatch.setattr(Store, "move", move)

    async def main() -> None:
        way = Kept("one")
        sender = NoticeSender(Outbox(ServerNotices(records, URL), clock, [way]))
        await until_async(lambda: len(refused) >= 3)
        is_full[0] = False
        await until_async(lambda: rows(records)[0]["next_at"] is None)
        assert len(way.got) == 1
        await sender.close(0)

    asyncio.run(main())


def test_one_that_fails_lets_the_others_end_first() -> None:
    """Else they would be sent again while they are still under way."""
    ended: list[str] = []

    async def slow() -> None:
        await asyncio.sleep(0.01)
        ended.append("slow")

    async def fails() -> None:
        raise UserError("disk_full", "the disk is full")

    with pytest.raises(UserError):
        asyncio.run(outbox._together([fails(), slow()]))
    assert ended == ["slow"]


PUMPING = """
import asyncio, sys
from pathlib import Path
from segue.engine.clock import SystemClock
from segue.store.rows import SERVER
from segue.store.sqlite import Store
from segue.work.settings.channels import read_notifiers
from segue.work.settings.config import NotifySettings
from segue.engine.outbox import NoticeSender, Outbox
from segue.work.phases.notices import ServerNotices
from segue.work.phases.records import Records

folder = Path(sys.argv[1])
store, clock = Store.open(folder / "segue.db"), SystemClock()
settings = NotifySettings(tuple(sys.argv[2:]))
notifiers, _missing = read_notifiers(settings, {"SEGUE_WEBHOOK_SECRET": "s"}, clock, folder)

async def main():
    NoticeSender(Outbox(ServerNotices(Records(store), "http://127.0.0.1:1"), clock, notifiers))
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_kill_repeats_only_what_was_under_way(records: Records, tmp_path: Path) -> None:
    """After kill -9 in the middle of one way, the other is not used again; the id is the same."""
    got: list[tuple[str, dict[str, Any]]] = []
    is_stuck = threading.Event()
    go_on = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            got.append((self.path, body))
            if self.path == "/stuck" and not is_stuck.is_set():
                is_stuck.set()
                go_on.wait(60)
                return
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    address = f"webhook:http://127.0.0.1:{server.server_port}"
    command = [sys.executable, "-c", PUMPING, str(tmp_path), f"{address}/quick", f"{address}/stuck"]
    tell(records, at=datetime.now(UTC))
    first = subprocess.Popen(command)
    try:
        assert is_stuck.wait(60)
        until(lambda: len(json.loads(rows(records)[0]["sent"])) == 1)
        first.send_signal(signal.SIGKILL)
        first.wait()
        go_on.set()
        second = subprocess.Popen(command)
        try:
            until(lambda: rows(records)[0]["next_at"] is None)
        finally:
            second.kill()
            second.wait()
    finally:
        first.kill()
        first.wait()
        go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()
    assert sorted(path for path, _body in got) == ["/quick", "/stuck", "/stuck"]
    assert {body["id"] for _path, body in got} == {f"{TASK}-1"}


def test_the_ways_of_the_settings_are_read(tmp_path: Path, clock: HandClock) -> None:
    """Each kind; one that is named twice is one way; names give no address away."""
    program = tmp_path / "notify-send"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environ = {"PATH": str(tmp_path), "SEGUE_WEBHOOK_SECRET": "given"}
    wanted = [
        "desktop",
        "bell",
        "webhook:https://example.org/secret-path",
        "webhook:https://example.org/secret-path",
        "ntfy:http://127.0.0.1:2586/secret-topic",
        "command:notify-send -s 'a b' me@example.org",
    ]
    notifiers, missing = read_notifiers(NotifySettings(tuple(wanted)), environ, clock, tmp_path)
    assert missing == []
    desktop, bell, webhook, ntfy, command = notifiers
    assert isinstance(bell, Bell)
    assert isinstance(desktop, Desktop)
    assert isinstance(webhook, Webhook)
    assert (webhook.url, webhook.secret) == ("https://example.org/secret-path", "given")
    assert webhook.now() == START.timestamp()
    assert isinstance(ntfy, Ntfy)
    assert ntfy.url == "http://127.0.0.1:2586/secret-topic"
    assert isinstance(command, Command)
    assert command.argv == ("notify-send", "-s", "a b", "me@example.org")
    names = [way.name for way in (desktop, webhook, ntfy, command)]
    assert len(set(names)) == 4
    assert not any("secret" in name for name in names)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dekstop", "did you mean `desktop`?"),
        ("pigeon:post", "desktop, bell, webhook, ntfy, command"),
        ("desktop:loud", 'write "desktop"'),
        ("webhook", "webhook:https://"),
        ("webhook:", "webhook:https://"),
        ("webhook:example.org/secret", "full address"),
        ("webhook:ftp://example.org/secret", "full address"),
        ("webhook:http://[secret", "full address"),
        ("ntfy:https://example.org/se cret", "full address"),
        ("ntfy:https://example.org:99999/secret", "full address"),
        ("command:mail 'secret", "close the quotes"),
        ("command: ", "command:mail"),
        ("bell:loud", 'write "bell"'),
    ],
)
def test_a_way_that_cannot_be_is_told_at_the_start(
    tmp_path: Path, clock: HandClock, text: str, said: str
) -> None:
    """In words, with the cure; the address itself, which may be a secret, is not repeated."""
    with pytest.raises(UserError) as caught:
        read_notifiers(NotifySettings((text,)), {"PATH": "/nowhere"}, clock, tmp_path)
    problem = caught.value.problem
    assert said in f"{problem.message} {problem.hint}"
    assert "[notify] channels" in problem.message
    assert "secret" not in problem.message
    assert not list(tmp_path.iterdir()), "nothing is made for what is refused"


def test_a_way_whose_program_is_not_here_is_left_out_and_told(
    tmp_path: Path, clock: HandClock
) -> None:
    """A user's own settings hold on every machine: the work goes on with the other notifiers."""
    wanted = ("desktop", "command:no-such-program-of-ours secret", "bell")
    notifiers, missing = read_notifiers(
        NotifySettings(wanted), {"PATH": "/nowhere"}, clock, tmp_path
    )
    assert [way.name for way in notifiers] == ["bell"]
    assert "apt install libnotify-bin" in (missing[0].hint or "")
    assert "not installed" in missing[1].message
    assert "secret" not in missing[1].message


def test_all_that_is_wrong_is_told_together(tmp_path: Path, clock: HandClock) -> None:
    """One start, one list."""
    with pytest.raises(UserError) as caught:
        wanted = ("pigeon", "webhook:x", "ntfy:http://ok.example")
        read_notifiers(NotifySettings(wanted), {}, clock, tmp_path)
    assert len(caught.value.problems) == 2


def test_the_secret_of_webhooks_is_made_once_and_kept_to_oneself(tmp_path: Path) -> None:
    """Unless the environment gives one."""
    made = webhook_secret(tmp_path, {})
    assert len(made) >= 32
    assert webhook_secret(tmp_path, {}) == made
    assert (tmp_path / "webhook-secret").stat().st_mode & 0o777 == 0o600
    assert webhook_secret(tmp_path, {"SEGUE_WEBHOOK_SECRET": "given"}) == "given"
    assert os.listdir(tmp_path) == ["webhook-secret"]  # noqa: PTH208 - names are all we need


def test_instants_of_rows_are_those_of_the_clock(records: Records, clock: HandClock) -> None:
    """A row of the future stays where it is."""
    tell(records, at=START + timedelta(seconds=5))
    way = Kept("one")
    send(records, clock, way)
    assert way.got == []
    assert rows(records)[0]["next_at"] == stamp(START + timedelta(seconds=5))
