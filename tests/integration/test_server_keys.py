"""An Idempotency-Key holds over the death of the server, wherever that comes."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from kit.app import House, Open, play
from segue.core.machines import Trigger
from segue.errors import UserError
from segue.server.app import make_app
from segue.server.idempotency import StoredReplies
from segue.store.sqlite import Store
from segue.store.tokens import Tokens

TOKEN = "a-token-for-tests-that-is-long-enough"
SCRIPT = """
ask "Which colour?" Blue Green
depend api_key SEA_KEY "to look"
write docs/draft.md The sea is green.
phase 1
write docs/final.md The sea is deep.
phase 2
"""


class Killed(BaseException):
    """The server is no more."""


async def post(work: Open, path: str, body: object, key: str) -> httpx2.Response:
    store = work.app.commands.supervisor.records.store
    app = make_app(work.commands, token=TOKEN, replies=StoredReplies(store), tokens=Tokens(store))
    headers = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": key}
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", headers=headers
    ) as client:
        return await client.post(f"/api{path}", json=body)


def dies_at(store: Store, cause: Trigger) -> None:
    """From now on the commit of this deed is the last thing that the server does."""
    move = store.move

    def moved(*changes: Any, **more: Any) -> bool:
        is_done = move(*changes, **more)
        if any(getattr(change, "cause", None) is cause for change in changes):
            raise Killed
        return is_done

    store.move = moved  # type: ignore[method-assign]


def test_what_was_done_is_answered_by_the_next_server(house: House) -> None:
    """Create, submit, answer, provide, approve, rewind: killed behind the commit, before the
    answer. Sent again with its key, each is answered as what it did, and is not done again."""
    house.add(house.script(SCRIPT))
    id = checkpoint = ""

    async def twice(cause: Trigger, path: str, body: object, status: int) -> dict[str, Any]:
        async with house.open(is_killed=True) as work:
            dies_at(work.app.commands.supervisor.records.store, cause)
            try:
                await post(work, path, body, f"key-{cause}")
            except (Killed, BaseExceptionGroup):
                pass
            else:
                raise AssertionError("it lives")
        async with house.open(is_killed=True) as work:
            answer = await post(work, path, body, f"key-{cause}")
            assert (answer.status_code, answer.headers.get("idempotency-replayed")) == (
                status, "true",
            ), (cause, answer.text)  # fmt: skip
            twice_done = work.app.commands.supervisor.records.store.all(
                "SELECT entity FROM journal WHERE cause = ? GROUP BY entity, entity_id"
                " HAVING count(*) > 1", cause
            )  # fmt: skip
            assert not twice_done, cause
            shown: dict[str, Any] = answer.json()
            return shown

    async def gate(kind: str) -> str:
        async with house.open(is_killed=True) as work:
            return str((await work.pending(id, kind))["id"])

    async def scene() -> None:
        nonlocal id, checkpoint
        new = {"title": "A report", "description": "The sea", "type": "report", "agent": "player"}
        id = (await twice(Trigger.OPEN, "/tasks", new, 201))["id"]
        assert (await twice(Trigger.SUBMIT, f"/tasks/{id}/submit", {}, 200))["status"] == "pending"
        question = await gate("question")
        told = await twice(
            Trigger.ANSWER, f"/questions/{question}/answer", {"answer": "Blue"}, 200
        )  # fmt: skip
        assert told["answer"] == "Blue"
        needed = await gate("dependency")
        given = {"value": "sk-a-secret"}
        told = await twice(Trigger.PROVIDE, f"/dependencies/{needed}/provide", given, 200)
        assert told["status"] == "provided"
        review = await gate("review")
        told = await twice(Trigger.APPROVE, f"/reviews/{review}/approve", {}, 200)
        assert told["status"] == "approved"
        await gate("review")
        async with house.open(is_killed=True) as work:
            await work.commands.saved(id)
            checkpoint = work.commands.checkpoints(id)["items"][0]["id"]
        body = {"checkpointId": checkpoint}
        await twice(Trigger.REWIND, f"/tasks/{id}/rewind", body, 200)

    play(scene)


def test_an_answer_that_cannot_be_kept_is_no_deed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both or neither: on a full disk nothing is made; later it is made, once."""
    house.add(house.script(SCRIPT))
    body = {"title": "A report", "description": "The sea", "type": "report"}

    def full(_book: StoredReplies, _reply: object) -> None:
        raise UserError("disk_full", "the disk is full")

    async def scene() -> None:
        async with house.open() as work:
            with monkeypatch.context() as patch:
                patch.setattr(StoredReplies, "keeping", full)
                assert (await post(work, "/tasks", body, "k")).status_code == 503
            assert work.commands.list_tasks()["total"] == 0
            answers = [await post(work, "/tasks", body, "k") for _n in range(2)]
            assert [answer.status_code for answer in answers] == [201, 201]
            assert answers[0].content == answers[1].content
            assert work.commands.list_tasks()["total"] == 1

    play(scene)
