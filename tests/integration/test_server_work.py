"""The server's work with real processes: phases, gates, limits, deaths."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.app import House, play
from kit.processes import all_stopped, state_of
from segue.work.phases.refused import Refused
from segue.work.project import Project

TWO_PHASES = """
say I begin
write docs/draft.md The sea is deep.
phase 1
write docs/final.md The sea is deep, and wide.
phase 2
"""


def test_a_task_passes_through_its_phases(house: House) -> None:
    """Each phase is reviewed; the last approval completes it, and everything is in the journal."""
    house.add(house.script(TWO_PHASES))

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            review = await server.pending(id, "review")
            task = server.commands.task(id)
            assert (task["status"], task["currentPhase"], task["totalPhases"]) == ("review", 1, 2)
            assert task["allowedActions"] == ["approve", "request_changes", "cancel"]
            shown = server.commands.review(review["id"])["deliverables"]
            assert [(item["path"], item["text"]) for item in shown] == [
                ("docs/draft.md", "The sea is deep.\n")
            ]
            server.commands.approve(review["id"])
            second = await server.until(
                lambda: server.commands.gates("review", task=id, status="pending")["items"]
            )
            server.commands.approve(second[0]["id"])
            await server.status(id, "completed", "completed")
            assert server.commands.task(id)["progress"] == 100
            with pytest.raises(Refused) as refused:
                server.commands.approve(review["id"])
            assert refused.value.status == 409
            assert [step for step in server.trail(id) if step[0] == "task"] == [
                ("task", None, "draft"),
                ("task", "draft", "pending"),
                ("task", "pending", "in_progress"),
                ("task", "in_progress", "review"),
                ("task", "review", "in_progress"),
                ("task", "in_progress", "review"),
                ("task", "review", "completed"),
            ]

    play(scene)


def test_changes_are_asked_for_and_made(house: House) -> None:
    """The feedback reaches the agent; the next round shows what changed."""
    house.add('[agents.player]\nkind = "command"\ncommand = ["./agent.sh"]\n')
    agent = house.folder / "agent.sh"
    agent.write_text(
        """#!/bin/sh
mkdir -p docs
if [ "$SEGUE_RESUME" = 1 ]; then { echo again; cat; } >> docs/draft.md; else echo first > docs/draft.md; fi
echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ==="
sleep 30
"""
    )
    agent.chmod(0o755)

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            review = await server.pending(id, "review")
            comments = [{"file": "docs/draft.md", "line": 3, "text": "deeper"}]
            server.commands.request_changes(review["id"], "More about fish", comments)
            again = await server.until(
                lambda: server.commands.gates("review", task=id, status="pending")["items"]
            )
            shown = server.commands.review(again[0]["id"])
            assert shown["round"] == 2
            text = shown["deliverables"][0]["text"]
            assert text == "first\nagain\nMore about fish\n- docs/draft.md:3: deeper\n"

    play(scene)


def test_what_is_missing_is_reworked_and_then_fails(house: House) -> None:
    """Segue's own checks send it back three times at most."""
    house.add(house.script("phase 1\n" * 9))

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            task = await server.status(id, "failed")
            assert "docs/draft.md" in task["error"]
            reworks = [e for e in server.commands.journal(id)["items"] if e["trigger"] == "rework"]
            assert len([e for e in reworks if e["entity"] == "task"]) == 3

    play(scene)


def test_a_question_waits_and_its_answer_goes_on(house: House) -> None:
    """Checked against the options; answered twice is refused."""
    house.add(house.script('ask "Which sea?" North Baltic\n' + TWO_PHASES))

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            question = await server.pending(id, "question")
            assert server.commands.agent(id)["blockedBy"] == "question"
            with pytest.raises(Refused) as refused:
                server.commands.answer(question["id"], "Baltik")
            assert (refused.value.status, refused.value.facts["suggestion"]) == (422, "Baltic")
            assert server.commands.answer(question["id"], "baltic")["answer"] == "Baltic"
            with pytest.raises(Refused) as refused:
                server.commands.answer(question["id"], "North")
            assert refused.value.status == 409
            await server.pending(id, "review")

    play(scene)


def test_a_dependency_comes_by_the_environment_and_is_never_shown(house: House) -> None:
    """Encrypted in the tables; the agent has it; nothing that is shown has it."""
    secret = "sk-very-secret-4711"
    house.add(
        house.script("depend api_key SEA_KEY for the sea\nenv docs/key.txt SEA_KEY\n" + TWO_PHASES)
    )
    (house.folder / "x").mkdir()

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            wanted = await server.pending(id, "dependency")
            assert (wanted["type"], wanted["name"]) == ("api_key", "SEA_KEY")
            workspace = Path(server.commands.task(id)["workspace"])
            (workspace / "docs").mkdir()
            server.commands.provide(wanted["id"], secret)
            await server.pending(id, "review")
            assert (workspace / "docs/key.txt").read_text() == "SEA_KEY has 19 characters\n"
            shown = str(
                [server.commands.task(id), server.commands.dependencies(id), server.trail(id)]
            )
            assert secret not in shown

    play(scene)
    kept = Project(house.folder)
    for path in (*kept.memory.rglob("*"), *kept.state.rglob("*")):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def test_a_limit_pauses_and_goes_on_by_itself(house: House) -> None:
    """A park is a row with a timer; no retry is used up."""
    house.add(
        "[recovery]\nwake_margin_s = 0\n" + house.script("limit session_limit 1s\n" + TWO_PHASES)
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            await server.until(lambda: server.commands.agent(id)["status"] == "paused")
            parks = server.commands.limits()["parks"]
            assert [(park["taskId"], park["kind"]) for park in parks] == [(id, "session_limit")]
            await server.pending(id, "review")
            causes = [e["trigger"] for e in server.commands.journal(id)["items"]]
            assert causes.count("limit") == causes.count("wake") == 1

    play(scene)


def test_a_task_is_cancelled_in_every_wait(house: House) -> None:
    """Its agent ends, its gates are withdrawn."""
    house.add(house.script('ask "Which?"\n'))

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            await server.pending(id, "question")
            task = server.commands.cancel(id, "not needed")
            assert (task["status"], task["agentStatus"]) == ("failed", "failed")
            assert task["error"] == "cancelled: not needed"
            assert server.commands.questions(id)["items"][0]["status"] == "withdrawn"
            again = server.commands.retry(id, submit=True)
            assert again["retryOf"] == id

    play(scene)


def test_an_agent_that_says_nothing_is_reminded_once(house: House) -> None:
    """Then the task fails, with a clear reason."""
    house.add(house.script("say hello\n"))

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            task = await server.status(id, "failed")
            assert "without a report" in task["error"]
            assert len(server.app.supervisor.records.store.all("SELECT * FROM runs")) == 2

    play(scene)


def test_tasks_wait_for_those_they_depend_on(house: House) -> None:
    """And begin by themselves when these are completed."""
    house.add(house.script("done\n"))

    async def scene() -> None:
        async with house.open() as server:
            first = server.new("custom")
            second = server.new("custom", depends_on=[first])
            await server.status(second, "completed")
            assert server.commands.task(first)["status"] == "completed"

    play(scene)


LIVING = """
import json, os, subprocess, sys, pathlib
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
pathlib.Path("pids").write_text(f"{os.getpid()} {child.pid}")
nonce = os.environ["SEGUE_NONCE"]
log = open("heard", "a")
def say(*lines):
    print(*lines, sep="\\n", flush=True)
for line in sys.stdin:
    told = json.loads(line)
    log.write(f"{told['type']} {told.get('answer', '')}\\n"); log.flush()
    if told["type"] == "prompt" and "Phase 1" in told["text"]:
        say(f"[USER_QUESTION {nonce}]", "question: Which sea?", "[/USER_QUESTION]")
    elif told["type"] == "question_answer":
        pathlib.Path("docs").mkdir(exist_ok=True)
        pathlib.Path("docs/draft.md").write_text("The " + told["answer"] + " sea")
        say(f"=== PHASE 1 COMPLETE {nonce} ===")
    elif told["type"] == "prompt":
        pathlib.Path("docs/final.md").write_text("Done.")
        say(f"=== PHASE 2 COMPLETE {nonce} ===")
"""


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_living_agent_stands_still_while_people_think(house: House, is_killed: bool) -> None:
    """Its whole tree is stopped in waits, grandchildren in sessions of their own too; what people
    say reaches it once, also over a restart of the server; at the end nothing of it is left."""
    (house.folder / "agent.py").write_text(LIVING)
    house.add(
        '[agents.player]\nkind = "command"\ninteractive = true\n'
        f'command = ["{sys.executable}", "{house.folder}/agent.py"]\n'
    )
    pids: list[int] = []

    async def ask() -> str:
        async with house.open(is_killed=is_killed) as server:
            id = server.new()
            await server.pending(id, "question")
            workspace = Path(server.commands.task(id)["workspace"])
            pids.extend(map(int, (workspace / "pids").read_text().split()))
            await server.until(lambda: all_stopped(pids))
            return id

    async def answer(id: str) -> None:
        async with house.open(is_killed=is_killed) as server:
            assert all_stopped(pids)
            question = await server.pending(id, "question")
            server.commands.answer(question["id"], "North")
            await server.pending(id, "review")
            await server.until(lambda: all_stopped(pids))

    async def approve(id: str) -> None:
        async with house.open() as server:
            for _phase in range(2):
                review = await server.pending(id, "review")
                server.commands.approve(review["id"])
            await server.status(id, "completed")
            await server.until(lambda: {state_of(pid) for pid in pids} == {""})
            workspace = Path(server.commands.task(id)["workspace"])
            heard = (workspace / "heard").read_text().split("\n")
            assert heard == ["prompt ", "question_answer North", "prompt ", ""]

    async def scene() -> None:
        id = await ask()
        await answer(id)
        await approve(id)

    play(scene)


def test_pause_and_resume_stop_and_continue_the_tree(house: House) -> None:
    """By a person; it stays paused over a restart."""
    house.add('[agents.player]\nkind = "command"\ncommand = ["./agent.sh"]\n')
    agent = house.folder / "agent.sh"
    agent.write_text("#!/bin/sh\necho $$ > pid\nsetsid sleep 1000 &\necho $! >> pid\nwait\n")
    agent.chmod(0o755)

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            workspace = Path((await server.status(id, "in_progress"))["workspace"])
            pids = await server.until(lambda: _pids(workspace / "pid"))
            server.commands.pause(id)
            await server.until(lambda: all_stopped(pids))
        async with house.open() as server:
            assert server.commands.agent(id)["status"] == "paused"
            assert all_stopped(pids)
            server.commands.resume(id)
            await server.until(lambda: {state_of(pid) for pid in pids} == {"S"})
            server.commands.cancel(id)
            await server.until(lambda: {state_of(pid) for pid in pids} == {""})

    play(scene)


def _pids(path: Path) -> list[int] | None:
    words = path.read_text().split() if path.exists() else []
    return list(map(int, words)) if len(words) == 2 else None


def test_a_canary_that_nobody_saw_does_not_hold_its_account_for_ever(house: House) -> None:
    """Killed between sending a canary and starting it, or cancelled before its first word: the
    others of the account go on."""
    settings = "[recovery]\nwake_margin_s = 0\n"
    house.add(settings + house.script("limit session_limit 1s\nwait 1s\nhang\n"))

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            await server.until(lambda: server.commands.agent(id)["status"] == "paused")
        async with house.open() as server:  # as it was left: a canary was sent, and never began
            accounts = server.app.supervisor.accounts
            assert accounts.probe("player", id)
            assert accounts.view()["player"].probing
        async with house.open() as server:
            await server.until(lambda: server.commands.agent(id)["status"] == "running")

    play(scene)


def test_a_canary_that_is_cancelled_lets_the_others_go(house: House) -> None:
    """Its end says as much as its first word."""
    house.add("[recovery]\nwake_margin_s = 0\n" + house.script("limit session_limit 1s\nhang\n"))

    async def scene() -> None:
        async with house.open() as server:
            ids = [server.new("custom") for _n in range(2)]

            def state(id: str) -> str:
                return str(server.commands.agent(id)["status"])

            await server.until(lambda: [state(id) for id in ids] == ["paused"] * 2)
            await server.until(lambda: "running" in [state(id) for id in ids])
            first = next(id for id in ids if server.commands.agent(id)["status"] == "running")
            (other,) = set(ids) - {first}
            server.commands.cancel(first)
            await server.until(lambda: server.commands.agent(other)["status"] == "running")

    play(scene)
