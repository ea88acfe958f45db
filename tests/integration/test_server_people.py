"""What people hear, and what becomes of what they say: tasks that cannot begin, limits that a
person knows to be over, secrets in an answer, refusals without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.app import House, play
from segue.work.phases.refused import Refused

SECRET = 'sk-"quoted"-and-secret-4711'
PRELUDE = """#!/bin/sh
n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n
block() { echo "[$1 $SEGUE_NONCE]"; cat; echo "[/$1]"; }
finish() { echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; }
phase() { echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ==="; }
"""


# Tasks that wait for one that failed or is gone


def test_a_task_that_waits_for_a_failed_one_says_so(house: House) -> None:
    """Once, when it comes to that, also if it is submitted only then; its state stays."""
    house.add(house.script("hang\n"))

    async def scene() -> None:
        async with house.open() as server:
            first = server.new("custom")
            second = server.new("custom", depends_on=[first])
            await server.status(first, "in_progress")
            assert server.commands.task(second)["error"] is None
            server.commands.cancel(first)
            late = server.new("custom", depends_on=[first])
            for id in (second, late):
                task = server.commands.task(id)
                assert (task["status"], task["waitsFor"]) == ("pending", [first])
                assert "which failed" in task["error"]
                assert server.troubles(id) == [task["error"]]

    play(scene)


def test_a_task_whose_own_agent_fails_tells_those_that_wait(house: House) -> None:
    """Not only what a person cancels."""
    house.add(house.script("exit 3\n"))

    async def scene() -> None:
        async with house.open() as server:
            first = server.new("custom")
            second = server.new("custom", depends_on=[first])
            await server.status(first, "failed")
            (text,) = server.troubles(second)
            assert first in text

    play(scene)


def test_a_task_that_waits_for_a_deleted_one_says_so(house: House) -> None:
    """It is out of the queue, changed and submitted again without a word."""
    house.add(house.script("hang\n"))

    async def scene() -> None:
        async with house.open(slots=1) as server:
            first = server.new("custom")
            await server.status(first, "in_progress")
            server.commands.cancel(first)
            second = server.new("custom", depends_on=[first])
            server.commands.delete_task(first)
            assert "which was deleted" in server.commands.task(second)["error"]
            assert ["which was deleted" in text for text in server.troubles(second)] == [
                False,
                True,
            ]
            server.commands.cancel(second)
            assert server.commands.change_task(second, {"depends_on": []})["error"] is None
            server.commands.submit(second)
            await server.status(second, "in_progress")
            assert len(server.troubles(second)) == 2

    play(scene)


# A limit that a person knows to be over


@pytest.mark.parametrize("is_over", [True, False])
def test_a_task_that_a_person_resumed_opens_its_account(house: House, is_over: bool) -> None:
    """Meanwhile the others wait. Once it has worked, those that wait for the account begin; if it
    is refused again, they still wait."""
    refused = "echo 'Claude usage limit reached. Your limit will reset in 30 minutes.'"
    house.program(
        PRELUDE + "cat > /dev/null\n"
        f"if [ ! -e ../../../../over ]; then {refused}\n"
        '[ "$SEGUE_RESUME" = 1 ] && until [ -e go ]; do sleep 0.02; done; exit 1; fi\n'
        "echo I go on; until [ -e go ]; do sleep 0.02; done; finish\n",
    )

    async def scene() -> None:
        async with house.open() as server:
            supervisor = server.app.supervisor
            first = server.new("custom")
            await server.status(first, "in_progress", "paused")
            others = [server.new("custom") for _n in range(2)]
            assert supervisor.accounts.is_parked("player")
            if is_over:
                (house.folder / "over").touch()
            server.commands.resume(first)
            await server.until(lambda: any(a.lines for a in supervisor.attempts.values()))
            assert supervisor.accounts.canary("player") == first
            assert {server.commands.task(id)["status"] for id in others} == {"pending"}
            Path(server.commands.task(first)["workspace"], "go").touch()
            if is_over:
                await server.status(first, "completed")
                await server.until(
                    lambda: all(server.commands.task(id)["startedAt"] for id in others)
                )
            else:
                sql = "SELECT id FROM runs WHERE task = ? AND state = 'parked'"
                await server.until(lambda: len(supervisor.records.store.all(sql, first)) == 2)
                await server.status(first, "in_progress", "paused")
                assert supervisor.accounts.is_parked("player")
                assert {server.commands.task(id)["status"] for id in others} == {"pending"}
            for id in others if is_over else (first, *others):
                server.commands.cancel(id)

    play(scene)


# Secrets in what people say


@pytest.mark.parametrize("is_interactive", [False, True])
def test_an_answer_with_a_secret_is_not_stored_in_clear(house: House, is_interactive: bool) -> None:
    """The agent gets it as it was said; no table ever has it."""
    ask = 'printf "question: Which key?\\n" | block USER_QUESTION'
    need = 'printf "type: api_key\\nname: SEA_KEY\\n" | block DEPENDENCY_REQUEST'
    listen = "listen() { IFS= read -r line; printf '%s\\n' \"$line\" >> heard; }\nlisten\n"
    if is_interactive:
        body = (
            f"{listen}case $n in\n1) {need} ;;\n2) {ask}; listen; finish ;;\n*) finish ;;\nesac\n"
        )
    else:
        body = f"cat >> heard\ncase $n in\n1) {need} ;;\n2) {ask} ;;\n*) finish ;;\nesac\n"
    more = "interactive = true\n" if is_interactive else ""
    house.program(PRELUDE + body, more=more)
    seen: list[str] = []

    async def scene() -> None:
        async with house.open() as server:
            store = server.app.supervisor.records.store
            id = server.new("custom")
            needed = await server.pending(id, "dependency")
            server.commands.provide(needed["id"], SECRET)
            asked = await server.pending(id, "question")
            workspace = Path(server.commands.task(id)["workspace"])

            def look() -> None:
                for table in ("gates", "runs", "journal", "notices"):
                    seen.extend(str(tuple(row)) for row in store.all(f"SELECT * FROM {table}"))

            server.app.supervisor.on_commit(look)
            shown = server.commands.answer(asked["id"], f"take {SECRET} here")
            assert shown["answer"] == "take •••• here"
            await server.status(id, "completed")
            heard = (workspace / "heard").read_text()
            escaped = SECRET.replace('"', '\\"') if is_interactive else SECRET
            assert f"take {escaped} here" in heard

    play(scene)
    assert any("take " in row for row in seen)
    assert not any("and-secret-4711" in row for row in seen)


def test_feedback_and_a_reason_with_a_secret_are_not_stored_in_clear(house: House) -> None:
    """The same for whatever else people say to an agent."""
    need = 'printf "type: api_key\\nname: KEY$n\\n" | block DEPENDENCY_REQUEST'
    done = 'echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ==="'
    house.program(
        PRELUDE + f"cat >> heard; mkdir -p docs; echo 'The sea' > docs/draft.md\n"
        f"case $n in\n1|2) {need} ;;\n*) {done} ;;\nesac\n",
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new()
            server.commands.provide((await server.pending(id, "dependency"))["id"], SECRET)
            needed = await server.pending(id, "dependency")
            server.commands.reject(needed["id"], f"not {SECRET} again")
            review = await server.pending(id, "review")
            comments = [{"file": "docs/draft.md", "line": 1, "text": f"no {SECRET}"}]
            server.commands.request_changes(review["id"], f"without {SECRET}", comments)
            again = await server.pending(id, "review")
            assert again["round"] == 2
            workspace = Path(server.commands.task(id)["workspace"])
            heard = (workspace / "heard").read_text()
            for words in (f"not {SECRET} again", f"without {SECRET}", f"no {SECRET}"):
                assert words in heard
            store = server.app.supervisor.records.store
            rows = [str(tuple(row)) for row in store.all("SELECT * FROM gates")]
            assert rows
            assert not any("and-secret-4711" in row for row in rows)

    play(scene)


CHECKED = """
[types.checked]
[[types.checked.phases]]
name = "only"
deliverables = ["out.md"]
verify = 'CHECK'
"""

# Refusals


def test_what_is_refused_has_no_effect_at_all(house: House) -> None:
    """Neither the agent nor the check finds the default that the agent named in its environment:
    the check that it would have made pass fails."""
    house.add(CHECKED.replace("CHECK", 'test "$SEA_URL" = sqlite'))
    house.program(
        PRELUDE + "cat >> heard\n"
        'case $n in\n1) printf "type: env_variable\\nname: SEA_URL\\ndefault: sqlite\\n" '
        "| block DEPENDENCY_REQUEST ;;\n"
        '*) echo "<$SEA_URL>" > got; echo x > out.md; phase ;;\nesac\n',
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("checked")
            needed = await server.pending(id, "dependency")
            shown = server.commands.reject(needed["id"])
            assert (shown["status"], shown["reason"]) == ("rejected", "")
            workspace = Path(server.commands.task(id)["workspace"])
            await server.until(lambda: len(server.runs(id, "check")) > 0)
            assert (workspace / "got").read_text() == "<>\n"
            heard = (workspace / "heard").read_text()
            assert "SEA_URL will not be provided (–). Continue without it." in heard
            assert "efault" not in heard.partition("SEA_URL will not")[2]
            await server.until(lambda: "failed" in server.runs(id, "check"))

    play(scene)


def test_a_check_gets_nothing_that_the_agent_asked_for(house: House) -> None:
    """A person provides it: the agent has it, its check does not."""
    house.add(CHECKED.replace("CHECK", 'test -z "$SEA_KEY"'))
    house.program(
        PRELUDE + "cat > /dev/null\n"
        'case $n in\n1) printf "type: api_key\\nname: SEA_KEY\\n" | block DEPENDENCY_REQUEST ;;\n'
        '*) echo "$SEA_KEY" > out.md; phase ;;\nesac\n',
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("checked")
            server.commands.provide((await server.pending(id, "dependency"))["id"], "of the sea")
            await server.pending(id, "review")
            workspace = Path(server.commands.task(id)["workspace"])
            assert (workspace / "out.md").read_text() == "of the sea\n"

    play(scene)


# Answers and values are checked


ASKS = """case $n in
1) block USER_QUESTION <<END
question: Which database?
options:
  - PostgreSQL
  - SQLite
END
;;
*) cat > heard; finish ;;
esac
"""


def test_a_question_takes_own_words_that_say_so(house: House) -> None:
    """They are passed on as they are, close to an option or not; without the word for it they are
    refused, with a suggestion if there is one."""
    house.program(PRELUDE + ASKS)

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            question = (await server.pending(id, "question"))["id"]
            for text, suggestion in (("Postgres", "PostgreSQL"), ("a spreadsheet", None)):
                with pytest.raises(Refused) as refused:
                    server.commands.answer(question, text)
                assert refused.value.facts["suggestion"] == suggestion
            server.commands.answer(question, "Postgres, but the old one", own_words=True)
            task = await server.status(id, "completed")
            assert "Postgres, but the old one" in Path(task["workspace"], "heard").read_text()

    play(scene)


NEEDS = """case $n in
1) block DEPENDENCY_REQUEST <<END
type: file
name: logo
description: the logo
END
;;
*) echo "$logo" > heard; finish ;;
esac
"""


def test_a_file_that_is_provided_is_there(house: House) -> None:
    """By its whole path, or from the project's folder; what was sent is not repeated."""
    house.program(PRELUDE + NEEDS)
    (house.folder / "logo.svg").write_text("<svg/>")

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            needed = (await server.pending(id, "dependency"))["id"]
            for value in ("no-such.svg", "/no/such.svg", "x" * 5_000, "~nobody-there/x"):
                with pytest.raises(Refused) as refused:
                    server.commands.provide(needed, value)
                assert (refused.value.status, refused.value.code) == (422, "no_file")
                assert value not in refused.value.message
            server.commands.provide(needed, "logo.svg")
            task = await server.status(id, "completed")
            heard = Path(task["workspace"], "heard").read_text().strip()
            assert heard == str(house.folder / "logo.svg")

    play(scene)


# Reports that do not count


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("=== CUSTOM TASK COMPLETE ===", "=== CUSTOM TASK COMPLETE {nonce} ==="),
        ("=== CUSTOM TASK COMPLETE abcdef ===", "=== CUSTOM TASK COMPLETE {nonce} ==="),
        ("[USER_QUESTION]\nquestion: Which?\n[/USER_QUESTION]", "[USER_QUESTION {nonce}]"),
        ('[ERROR_JSON]{"message": "x"}[/ERROR_JSON]', "[ERROR_JSON {nonce}]"),
    ],
)
def test_a_report_without_the_nonce_says_so(house: House, report: str, expected: str) -> None:
    """The reminder and the failure name the line that counts."""
    house.program(
        f"#!/bin/sh\necho $SEGUE_NONCE > nonce; cat >> heard\ncat <<'END'\n{report}\nEND\n"
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            task = await server.status(id, "failed")
            folder = Path(task["workspace"])
            wanted = expected.format(nonce=(folder / "nonce").read_text().strip())
            assert wanted in task["error"]
            assert "without the nonce" in task["error"]
            reminder = (folder / "heard").read_text().rpartition("You ended without")[2]
            assert f"`{wanted}`" in reminder

    play(scene)


def test_a_block_that_cannot_be_used_is_named_in_the_reminder(house: House) -> None:
    """A name that no variable can have, for example."""
    house.program(
        PRELUDE + "cat >> heard; block DEPENDENCY_REQUEST <<END\ntype: api_key\nname: my key\nEND\n"
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            task = await server.status(id, "failed")
            assert "the name must be a valid environment variable" in task["error"]
            heard = (Path(task["workspace"]) / "heard").read_text()
            assert "the name must be a valid environment variable" in heard

    play(scene)
