"""Verification on the server: limits and pauses while the work is checked."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from kit.app import House, play
from kit.processes import is_stopped

CHECKED = """
[types.checked]
[[types.checked.phases]]
name = "only"
deliverables = ["out.md"]
verify = "echo $$ >> ../pids; until [ -e ../go ]; do sleep 0.05; done"
"""
JUDGED = """
[types.judged]
[[types.judged.phases]]
name = "only"
deliverables = ["out.md"]
reviewer = "judge"
"""
WORKER = """#!/bin/sh
cat > /dev/null
echo "The sea is deep." > out.md
echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ==="
"""
PASS = """echo '{"verdict": "pass", "reasons": []}'\n"""


@pytest.mark.parametrize(
    "words",
    ["You've hit your usage limit. Please try again in 2 seconds.", "Credit balance is too low"],
)
def test_a_limit_of_the_reviewer_is_waited_for(house: House, words: str) -> None:
    """It parks the reviewer's account and uses up no rework: the review runs again, the work does
    not. What waiting cannot mend is asked, and the review runs again after the answer."""
    is_asked = words.startswith("Credit")
    house.add("[recovery]\nwake_margin_s = 0\n" + JUDGED)
    house.program(WORKER)
    house.program(
        "#!/bin/sh\ncat >> prompts\n"
        f'if [ ! -e tried ]; then touch tried; echo "{words}"; exit 1; fi\n' + PASS,
        "judge",
        'account = "judges"\n',
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("judged")
            if is_asked:
                question = await server.pending(id, "question")
                assert "judge has a billing problem" in question["question"]
                server.commands.answer(question["id"], "I paid")
            else:
                await server.status(id, "in_progress", "paused")
                assert [park["account"] for park in server.commands.limits()["parks"]] == ["judges"]
            await server.pending(id, "review")
            assert (server.runs(id, "work"), server.runs(id, "review")) == (
                ["completed"],
                ["parked", "completed"],
            )
            trail = server.commands.journal(id, page_size=200)["items"]
            assert "rework" not in {entry["trigger"] for entry in trail}
            if not is_asked:
                assert [e["to"] for e in trail if e["trigger"] == "limit"] == ["paused"]
                accounts = server.app.supervisor.records.store.all("SELECT id FROM accounts")
                assert [row["id"] for row in accounts] == ["judges"]
            prompts = Path(server.commands.task(id)["workspace"], "prompts").read_text()
            assert prompts.count("Review the work of another agent") == 2

    play(scene)


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_check_stands_still_while_its_task_is_paused(house: House, is_killed: bool) -> None:
    """It goes on at the resume, also over a restart: the work is not done again."""
    house.add(CHECKED)
    house.program(WORKER)

    async def pause() -> tuple[str, int]:
        async with house.open(is_killed=is_killed) as server:
            id = server.new("checked")
            await server.until(lambda: "running" in server.runs(id, "check"))
            folder = Path(server.commands.task(id)["workspace"]).parent
            pid = int(await server.until(lambda: _text(folder / "pids")))
            server.commands.pause(id)
            await server.until(lambda: is_stopped(pid))
            (folder / "go").touch()
            return id, pid

    async def resume(id: str, pid: int) -> None:
        async with house.open() as server:
            assert (is_stopped(pid), server.commands.agent(id)["status"]) == (True, "paused")
            server.commands.resume(id)
            await server.pending(id, "review")
            assert (server.runs(id, "work"), server.runs(id, "check")) == (
                ["completed"],
                ["completed"],
            )

    async def scene() -> None:
        await resume(*await pause())

    play(scene)


def _text(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


@pytest.mark.parametrize("type", ["checked", "judged"])
def test_what_ends_while_its_task_is_paused_is_checked_again(house: House, type: str) -> None:
    """A check that was killed meanwhile, or had ended just before: it runs again at the resume,
    and the work does not."""
    house.add(CHECKED + JUDGED)
    house.program(WORKER)
    house.program(
        "#!/bin/sh\ncat > /dev/null\necho $$ >> ../pids\n"
        "until [ -e ../go ]; do sleep 0.05; done\n" + PASS,
        "judge",
    )
    purpose = {"checked": "check", "judged": "review"}[type]

    async def scene() -> None:
        async with house.open() as server:
            id = server.new(type)
            await server.until(lambda: "running" in server.runs(id, purpose))
            folder = Path(server.commands.task(id)["workspace"]).parent
            pid = int(await server.until(lambda: _text(folder / "pids")))
            server.commands.pause(id)
            await server.until(lambda: is_stopped(pid))
            os.kill(pid, signal.SIGKILL)
            await server.until(lambda: server.runs(id, purpose) == ["failed", "intended"])
            (folder / "go").touch()
            server.commands.resume(id)
            await server.pending(id, "review")
            assert (server.runs(id, "work"), server.runs(id, purpose)) == (
                ["completed"],
                ["failed", "completed"],
            )

    play(scene)
