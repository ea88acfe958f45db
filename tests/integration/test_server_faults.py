"""What agents get wrong in how they report is told to people and is in the log, a few times."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kit.app import House, play
from segue.engine.executors import job_output
from segue.work.phases import protocol_faults

PRELUDE = """#!/bin/sh
cat > /dev/null
mkdir -p docs; echo "The sea is deep." > docs/draft.md
"""
DONE = 'echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ==="\n'
UNCLOSED = 'printf "[USER_QUESTION $SEGUE_NONCE]\\nquestion: Which sea?\\n"\n'
BAD_TYPE = (
    'printf "[DEPENDENCY_REQUEST $SEGUE_NONCE]\\ntype: nonsense\\nname: zz\\n'
    '[/DEPENDENCY_REQUEST]\\n"\n'
)
OTHER_PHASE = 'echo "=== PHASE 2 COMPLETE $SEGUE_NONCE ==="\n'
NO_PHASES = 'echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="\n'
FAULTS = {
    "closed by the next block": (UNCLOSED + BAD_TYPE, "USER_QUESTION was never closed"),
    "a value that there is not": (BAD_TYPE, "the type must be one of"),
    "another phase": (OTHER_PHASE, "phase 2 is complete"),
    "the end of a task that has phases": (NO_PHASES, "complete: the task has phases"),
}


def logged(caplog: pytest.LogCaptureFixture, id: str) -> list[str]:
    return [r.getMessage() for r in caplog.records if getattr(r, "task", None) == id]


@pytest.mark.parametrize("which", FAULTS)
def test_a_fault_is_told_and_logged_and_the_work_goes_on(
    house: House, caplog: pytest.LogCaptureFixture, which: str
) -> None:
    """It counts for nothing: the phase that is complete afterwards is reviewed."""
    body, words = FAULTS[which]
    house.program(PRELUDE + body + DONE)

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            await server.status(id, "review", "waiting_review")
            assert [words in text for text in server.troubles(id)].count(True) == 1
            assert any(words in line for line in logged(caplog, id))
            assert not server.commands.questions(id)["items"]

    play(scene)


def test_a_block_that_stays_open_is_told_after_a_while(
    house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent says nothing more: people hear of it while it is still there."""
    monkeypatch.setattr(job_output, "BLOCK_S", 0.1)
    house.program(PRELUDE + UNCLOSED + "sleep 1000\n")

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            (text,) = await server.until(lambda: server.troubles(id))
            assert "USER_QUESTION" in text
            assert logged(caplog, id)
            assert server.commands.task(id)["status"] == "in_progress"
            server.commands.cancel(id)

    play(scene)


def test_a_noisy_agent_makes_no_storm(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Hundreds of faults are a few notices, and a line that says that there are more."""
    noise = 'n=3; while [ $n -lt 300 ]; do echo "=== PHASE $n COMPLETE $SEGUE_NONCE ==="; '
    house.program(PRELUDE + noise + "n=$((n+1)); done\n" + UNCLOSED + UNCLOSED + DONE)

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            await server.status(id, "review", "waiting_review")
            assert len(server.troubles(id)) == protocol_faults.TOLD_MAX
            assert len(logged(caplog, id)) == protocol_faults.TOLD_MAX + 1
            assert "not told any more" in logged(caplog, id)[-1]

    play(scene)


def test_a_fault_that_is_heard_again_is_not_told_again(house: House) -> None:
    """The server was killed: it reads the log of the living agent from its beginning."""
    house.program(PRELUDE + OTHER_PHASE + "until [ -e go ]; do sleep 0.02; done\n" + DONE)

    async def scene() -> None:
        async with house.open(is_killed=True) as server:
            id = server.new()
            await server.until(lambda: server.troubles(id))
        async with house.open() as server:
            Path(server.commands.task(id)["workspace"], "go").touch()
            await server.status(id, "review", "waiting_review")
            assert len(server.troubles(id)) == 1

    play(scene)


def test_lines_of_the_log_name_the_task(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """A reviewer's words are no reports, and make no faults."""
    house.program(PRELUDE + BAD_TYPE + DONE)
    judge = house.folder / "judge.sh"
    judge.write_text("#!/bin/sh\ncat > /dev/null\n" + OTHER_PHASE + "echo 'VERDICT: PASS'\n")
    judge.chmod(0o755)
    house.add(
        '[agents.judge]\nkind = "command"\ncommand = ["./judge.sh"]\n'
        '[types.judged]\n[[types.judged.phases]]\nname = "draft"\nreviewer = "judge"\n'
        'deliverables = ["docs/draft.md"]\n'
    )
    caplog.set_level(logging.WARNING)

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("judged")
            await server.status(id, "review", "waiting_review")
            assert len(server.troubles(id)) == 1
            assert len(logged(caplog, id)) == 1

    play(scene)


def test_a_question_that_cannot_be_optional_is_told(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """There is nothing it could take after its deadline: it waits, and people know why."""
    optional = UNCLOSED.replace("sea?", "sea?\\nrequired: false")
    house.program(PRELUDE + optional + 'printf "[/USER_QUESTION]\\n"\n')

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            assert (await server.pending(id, "question"))["required"]
            (text,) = server.troubles(id)
            assert "has no default" in text
            assert logged(caplog, id)

    play(scene)
