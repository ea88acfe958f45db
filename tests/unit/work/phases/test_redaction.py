"""What people provided in confidence is in nothing that leaves the server."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.clock import HandClock
from segue.drivers.notify import Notice
from segue.engine.outbox import Outbox
from segue.errors import UserError
from segue.store import works
from segue.store.changes import Add, Put, stamp
from segue.store.rows import SERVER
from segue.store.sqlite import Store
from segue.work.phases import moves
from segue.work.phases.notices import ServerNotices
from segue.work.phases.records import Records
from segue.work.phases.redaction import Redactor, revealed

NOW = datetime(2026, 11, 16, tzinfo=UTC)
TASK, OTHER = "task_0123456789ab", "task_ba9876543210"
SECRET = 'sk-"quoted"-and-long'
MASK = "••••"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "segue.db")
    works.enrol(opened, SERVER, tmp_path, NOW)
    for id in (TASK, OTHER):
        row = {
            "work": SERVER, "key": id, "title": f"About {SECRET}", "description": "",
            "type": "custom", "agent": "a",
        }  # fmt: skip
        opened.move(Add("task", id, "draft", row, "open"), at=NOW)
    yield opened
    opened.close()


def provide(store: Store, name: str = "KEY") -> None:
    row: dict[str, str | bytes] = {
        "task": TASK,
        "name": name,
        "value": b"sealed",
        "created_at": stamp(NOW),
    }
    store.move(Put("secrets", row), at=NOW)


def redactor_of(store: Store, given: Mapping[str, str] | None = None) -> Redactor:
    values = {"KEY": SECRET} if given is None else given
    return Redactor(store, lambda task: values if task == TASK else {})


def test_a_secret_is_masked_in_its_task_alone(store: Store) -> None:
    """In each form it may be written in; nothing else is touched."""
    provide(store)
    redactor = redactor_of(store)
    assert redactor.text(TASK, f"use {SECRET}!") == f"use {MASK}!"
    assert redactor.text(TASK, json.dumps({"a": SECRET})) == f'{{"a": "{MASK}"}}'
    assert redactor.text(TASK, "use nothing") == "use nothing"
    assert redactor.text(OTHER, f"use {SECRET}!") == f"use {SECRET}!"


def test_what_is_hidden_for_an_agent_comes_back_as_it_was(store: Store) -> None:
    """In plain text and in a line of JSON; the longer of two secrets first; what nobody hid is
    not touched."""
    provide(store)
    given = {"KEY": SECRET, "LONGER": f"{SECRET}-and-more", "PORT": "8080"}
    redactor = redactor_of(store, given)
    text = f"use {SECRET}-and-more, {SECRET} at 8080"
    hidden = redactor.hidden(TASK, text)
    assert "quoted" not in hidden
    assert "-and-more" not in hidden, "nothing is left of the longer one"
    assert "8080" in hidden
    assert revealed(hidden, given) == text
    line = revealed(json.dumps({"text": hidden}, ensure_ascii=False), given, is_json=True)
    assert json.loads(line) == {"text": text}
    assert redactor.hidden(OTHER, text) == text
    assert revealed("\ue000NONE\ue001", given) == "\ue000NONE\ue001"


def test_one_mask_does_not_run_into_the_next_text(store: Store) -> None:
    """Each text is looked at by itself."""
    provide(store)
    redactor = redactor_of(store)
    half, rest = SECRET[:8], SECRET[8:]
    assert [redactor.text(TASK, part) for part in (SECRET, SECRET, half, rest)] == [
        MASK, MASK, half, rest,
    ]  # fmt: skip


def test_what_is_provided_later_is_known_after_renewal(store: Store) -> None:
    """Texts that were written before are masked from then on."""
    redactor = redactor_of(store)
    assert redactor.text(TASK, SECRET) == SECRET
    provide(store)
    redactor.renew()
    assert redactor.text(TASK, SECRET) == MASK


def test_only_what_was_worded_is_masked(store: Store) -> None:
    """A secret that is a word of ours breaks no shape: states and ids stay what they are."""
    provide(store)
    redactor = redactor_of(store, {"KEY": "pending"})
    shown: dict[str, Any] = {
        "id": "q_1",
        "taskId": TASK,
        "status": "pending",
        "question": "is it pending?",
        "options": ["pending", "no"],
        "metadata": {"error": "pending", "number": 3},
        "deliverables": [{"path": "pending", "text": "pending", "diff": None}],
        "comments": [{"file": "a", "line": 1, "text": "pending"}],
    }
    assert redactor.shown(TASK, shown) == {
        "id": "q_1",
        "taskId": TASK,
        "status": "pending",
        "question": f"is it {MASK}?",
        "options": [MASK, "no"],
        "metadata": {"error": MASK, "number": 3},
        "deliverables": [{"path": "pending", "text": MASK, "diff": None}],
        "comments": [{"file": "a", "line": 1, "text": MASK}],
    }
    assert redactor.shown(OTHER, shown) is shown


def test_with_another_key_it_is_said_and_nothing_breaks(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """Secrets that cannot be opened are nobody's to know, nor to mask; said once."""

    def wrong(task: str) -> Mapping[str, str]:
        raise UserError("key_wrong", "another key")

    provide(store)
    redactor = Redactor(store, wrong)
    with caplog.at_level(logging.ERROR):
        assert redactor.text(TASK, "a text") == redactor.text(TASK, "a text") == "a text"
    assert len(caplog.records) == 1


class Kept:
    name = "kept"

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    async def send(self, notice: Notice) -> None:
        self.notices.append(notice)


def test_notices_carry_no_secret(store: Store) -> None:
    """Neither in the text of a question, nor in the headline or the title."""
    provide(store)
    store.move(moves.notice(TASK, "trouble", f"{SECRET} was refused", NOW), at=NOW)
    way = Kept()
    pending = ServerNotices(Records(store), "http://x", redactor_of(store).text)
    outbox = Outbox(pending, HandClock(NOW), [way])
    asyncio.run(outbox.send_due())
    (told,) = way.notices
    assert told.text == f"{MASK} was refused"
    assert told.title == f"About {MASK}"
    assert SECRET not in repr(told) and SECRET not in json.dumps(told.headline)
