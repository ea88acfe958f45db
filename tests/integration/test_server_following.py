"""Tasks that depend on one that failed: they follow whoever tries it again, and people can let
them begin without it or fail."""

from __future__ import annotations

import pytest

from kit.app import House, Open, play
from segue.work import overview
from segue.work.phases.commands import NewTask
from segue.work.phases.refused import Refused

# It fails once, and does it the second time, wherever it is started.
SECOND_TIME = """#!/bin/sh
if [ -e "$SEGUE_PROJECT/tried" ]; then
  echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="
else
  touch "$SEGUE_PROJECT/tried"
  printf '[ERROR %s]\\ntype: fatal\\nmessage: no luck\\n[/ERROR]\\n' "$SEGUE_NONCE"
fi
"""
DONE = '#!/bin/sh\necho "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="\n'


async def failed_and_waiting(server: Open) -> tuple[str, str]:
    first = server.new("custom", "unlucky")
    second = server.new("custom", "lucky", depends_on=[first])
    await server.status(first, "failed")
    return first, second


@pytest.fixture
def house(house: House) -> House:
    house.program(SECOND_TIME, "unlucky")
    house.program(DONE, "lucky")
    return house


def test_those_that_depend_on_a_task_follow_its_retry(house: House) -> None:
    """Until the new task is completed they wait for it, and say so; then they begin."""

    async def scene() -> None:
        async with house.open() as server:
            first, second = await failed_and_waiting(server)
            draft = server.commands.retry(first)["id"]
            waits = server.commands.task(second)
            assert (waits["waitsFor"], waits["dependsOn"]) == ([draft], [first])
            assert "waits for the draft" in waits["error"]
            server.commands.submit(draft)
            await server.status(second, "completed")
            assert server.commands.task(draft)["status"] == "completed"
            assert server.commands.task(second)["waitsFor"] == []

    play(scene)


def test_a_task_that_waits_in_vain_is_in_the_inbox_with_what_can_be_done(house: House) -> None:
    """It says what it waits for; its retry takes it out again."""

    async def scene() -> None:
        async with house.open() as server:
            first, second = await failed_and_waiting(server)
            (item,) = server.commands.inbox()["items"]
            assert (item["kind"], item["taskId"]) == ("stuck", second)
            assert item["acts"] == ["retry", "go_without", "fail"]
            assert [one["id"] for one in item["missing"]] == [first]
            assert set(server.commands.task(second)["allowedActions"]) >= set(item["acts"])
            assert server.commands.inbox(kind="stuck", task=second)["total"] == 1
            (standing,) = overview.look(house.folder)
            (gate,) = standing.gates
            assert (gate["kind"], gate["id"], first in gate["text"]) == ("stuck", second, True)
            assert server.commands.inbox(kind="question")["total"] == 0
            made = server.commands.retry(second)
            assert (made["retryOf"], made["status"] != "draft") == (first, True)
            await server.status(second, "completed")
            assert server.commands.inbox()["total"] == 0

    play(scene)


def test_a_task_begins_without_what_failed(house: House) -> None:
    """Only that is left out: what is still under way is waited for."""

    async def scene() -> None:
        async with house.open() as server:
            first, second = await failed_and_waiting(server)
            other = server.commands.create_task(_draft())["id"]
            third = server.new("custom", "lucky", depends_on=[first, other])
            server.commands.go_without(third)
            assert server.commands.task(third)["dependsOn"] == [other]
            server.commands.go_without(second)
            await server.status(second, "completed")
            rows = server.commands.journal(second)["items"]
            (row,) = [row for row in rows if row["trigger"] == "go_without"]
            assert row["metadata"]["without"] == [first]

    play(scene)


def test_a_task_fails_with_what_it_waits_for(house: House) -> None:
    """Those that wait for it in turn are told of, and it can be tried again."""

    async def scene() -> None:
        async with house.open() as server:
            first, second = await failed_and_waiting(server)
            third = server.new("custom", "lucky", depends_on=[second])
            assert server.troubles(third) == []
            failed = server.commands.fail(second)
            assert (failed["status"], failed["outcome"]) == ("failed", "failed")
            assert first in failed["error"]
            (text,) = server.troubles(third)
            assert second in text
            assert "retry" in failed["allowedActions"]

    play(scene)


def test_a_retry_that_fails_is_told_to_those_that_follow_it(house: House) -> None:
    """And the retry of the retry is followed as well."""

    async def scene() -> None:
        async with house.open() as server:
            first, second = await failed_and_waiting(server)
            again = server.commands.retry(first)["id"]
            server.commands.delete_task(again)
            assert server.commands.task(second)["waitsFor"] == [first]
            (house.folder / "tried").unlink()
            again = server.commands.retry(first, submit=True)["id"]
            await server.status(again, "failed")
            assert again in server.troubles(second)[-1]
            server.commands.retry(again, submit=True)
            await server.status(second, "completed")

    play(scene)


def test_what_waits_for_nothing_in_vain_has_no_such_acts(house: House) -> None:
    """The refusal says what is possible; what is gone cannot be tried again."""

    async def scene() -> None:
        async with house.open() as server:
            draft = server.commands.create_task(_draft())["id"]
            waits = server.new("custom", "lucky", depends_on=[draft])
            for act in (server.commands.go_without, server.commands.fail, server.commands.retry):
                with pytest.raises(Refused) as refused:
                    act(waits)
                assert (refused.value.status, refused.value.code) == (409, "not_allowed")
            server.commands.delete_task(draft)
            (item,) = server.commands.inbox()["items"]
            assert item["acts"] == ["go_without", "fail"]
            server.commands.go_without(waits)
            await server.status(waits, "completed")

    play(scene)


def _draft() -> NewTask:
    return NewTask("A draft", "Not yet", "custom", "lucky")
