"""`segue serve`: questions and dependencies: checked, delivered once, secrets never shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.processes import all_running, all_stopped
from kit.serve import GOOD, NEEDS, QUESTION, House
from kit.server import Server
from kit.waiting import stays, until

SECRET = "sk_live_51Nxq-Zr8aTgE0wXyQ7b"
ASKS = f"case $n in 1) {QUESTION} ;; *) {GOOD} ;; esac\n"
WANTS = f'note "${{STRIPE_KEY:-none}}"\ncase $n in 1) {NEEDS} ;; *) {GOOD} ;; esac\n'


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def question(fields: str) -> str:
    return f"block USER_QUESTION <<END\n{fields}\nEND\n"


def asking(house: House, fields: str) -> tuple[Server, str]:
    """A server with a task whose agent asks this at its first start."""
    house.hand("a", f"case $n in 1) {question(fields)} ;; *) {GOOD} ;; esac\n")
    server = house.serve()
    return server, server.new()


# --- questions


def test_a_question_waits_for_its_answer(house: House) -> None:
    """The agent waits, what it asked is shown everywhere, the answer starts it again, once."""
    house.hand("a", ASKS)
    server = house.serve()
    task = server.new()
    assert server.agent_is(task, "waiting_question")["blockedBy"] == "question"
    assert server.task(task)["status"] == "in_progress"
    shown = server.waiting("questions", task)
    assert shown["question"] == "Which database?"
    assert shown["options"] == ["PostgreSQL", "SQLite"]
    assert (shown["default"], shown["category"]) == ("SQLite", "choice")
    assert [q["id"] for q in server.items("/questions?status=pending")] == [shown["id"]]
    until(lambda: server.items(f"/tasks/{task}/checkpoints"), "a checkpoint at the wait")
    until(lambda: not house.agents(), "it is not started while it waits")
    answered = server.post(f"/questions/{shown['id']}/answer", {"answer": "PostgreSQL"}).ok()
    assert "PostgreSQL" in json.dumps(answered)
    server.reaches(task, "review")
    assert house.starts(task) == 2
    assert "PostgreSQL" in house.heard(task, 2)
    first, second = (line.split() for line in house.lines(task, "started"))
    assert (second[0], second[1]) == ("1", first[1]), "resumed in its conversation"
    assert server.get("/questions?status=pending").ok()["total"] == 0
    assert server.path(task, "agent")[1:4] == ["running", "waiting_question", "running"]


def test_an_agent_that_does_not_stop_at_its_question_is_stopped(house: House) -> None:
    """One-shot: it is ended at the gate and cannot go on by itself."""
    house.hand(
        "a", f"case $n in 1) {QUESTION} sleep 1; note went on; hold never ;; *) {GOOD} ;; esac\n"
    )
    server = house.serve()
    task = server.new()
    server.agent_is(task, "waiting_question")
    until(lambda: not house.agents(), "it is gone")
    server.answer(task, "SQLite").ok()
    server.reaches(task, "review")
    assert house.lines(task, "notes") == []


def test_answers_are_checked(house: House) -> None:
    """Exact and other case are taken; a close one is refused with the suggestion; others with the list."""
    house.hand("a", ASKS)
    server = house.serve()
    task = server.new()
    where = f"/questions/{server.waiting('questions', task)['id']}/answer"
    close = server.post(where, {"answer": "Postgres"}).problem(422)
    assert "PostgreSQL" in json.dumps(close), "did you mean"
    other = server.post(where, {"answer": "a spreadsheet"}).problem(422)
    assert "SQLite" in json.dumps(other) and "PostgreSQL" in json.dumps(other)
    for wrong in ({}, {"answer": ""}, {"answer": None}, {"answer": 3}, {"answer": ["SQLite"]}):
        server.post(where, wrong).problem(422)
    assert server.agent(task)["status"] == "waiting_question", "nothing was taken"
    server.post(where, {"answer": "postgresql"}).ok()
    server.reaches(task, "review")
    assert "PostgreSQL" in house.heard(task, 2), "in the option's own spelling"


def test_answering_twice_is_refused(house: House) -> None:
    """The first answer stands; the second is 409 and never reaches the agent."""
    house.hand("a", ASKS)
    server = house.serve()
    task = server.new()
    where = f"/questions/{server.waiting('questions', task)['id']}/answer"
    server.post(where, {"answer": "SQLite"}).ok()
    server.post(where, {"answer": "PostgreSQL"}).problem(409)
    server.reaches(task, "review")
    assert house.starts(task) == 2
    assert "PostgreSQL" not in house.heard(task, 2).split("How to report")[0]


def test_a_free_answer_is_taken_as_it_is(house: House) -> None:
    """A question without options takes any text: Korean, lines, braces."""
    server, task = asking(house, "category: clarification\nquestion: What is its name?")
    said = '가나다 "quoted" $HOME `id`\nand {a} second line'
    server.answer(task, said).ok()
    server.reaches(task, "review")
    assert said in house.heard(task, 2)


def test_an_optional_question_takes_its_default_after_the_deadline(house: House) -> None:
    """`required: false` with a deadline: it answers itself, and the agent goes on once."""
    server, task = asking(
        house,
        "category: choice\nquestion: Colour?\noptions:\n  - red\n  - blue\ndefault: blue\n"
        "required: false\ndeadline: 1s",
    )
    gate = server.waiting("questions", task)
    server.reaches(task, "review")
    assert house.starts(task) == 2 and "blue" in house.heard(task, 2)
    server.post(f"/questions/{gate['id']}/answer", {"answer": "red"}).problem(409)


def test_a_required_question_stays(house: House) -> None:
    """It has a default and a deadline, but it is required: it waits for a person."""
    server, task = asking(
        house,
        "category: choice\nquestion: Colour?\noptions:\n  - red\n  - blue\ndefault: blue\n"
        "required: true\ndeadline: 1s",
    )
    server.agent_is(task, "waiting_question")
    stays(lambda: server.agent(task)["status"] == "waiting_question", "it stays", 2.0)
    server.answer(task, "red").ok()
    server.reaches(task, "review")


def test_a_question_by_json_block(house: House) -> None:
    """`[USER_QUESTION_JSON nonce]{…}[/USER_QUESTION_JSON]` says the same."""
    body = '{"question": "Which one?", "options": ["x", "y"], "default": "y"}'
    house.hand("a", f"""case $n in
1) echo "[USER_QUESTION_JSON $SEGUE_NONCE]"'{body}'"[/USER_QUESTION_JSON]" ;;
*) {GOOD} ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new()
    shown = server.waiting("questions", task)
    assert (shown["question"], shown["options"]) == ("Which one?", ["x", "y"])
    server.answer(task, "x").ok()
    server.reaches(task, "review")


def test_a_marker_in_pieces_is_one_marker(house: House) -> None:
    """Printed byte by byte with pauses: the same question."""
    house.hand("a", f"""case $n in
1) {{ {QUESTION} }} | while IFS= read -r l; do printf '%s' "$l" | head -c 5; sleep 0.05
   printf '%s\\n' "$l" | tail -c +6; done; hold never ;;
*) {GOOD} ;; esac
""".replace("{ block", "{\nblock").replace("END\n }", "END\n}"))  # fmt: skip
    server = house.serve()
    task = server.new()
    assert server.waiting("questions", task)["options"] == ["PostgreSQL", "SQLite"]


def test_several_questions_one_after_the_other(house: House) -> None:
    """Each is answered by itself; the agent gets each answer once, in its order."""
    house.hand("a", f"""case $n in
1) {question("question: First?")} ;;
2) {question("question: Second?")} ;;
*) {GOOD} ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new()
    server.answer(task, "answer-one").ok()
    until(lambda: house.starts(task) == 2, "the second start")
    until(lambda: len(server.items(f"/tasks/{task}/questions")) == 2, "the second question")
    server.answer(task, "answer-two").ok()
    server.reaches(task, "review")
    told = house.heard(task, 2) + house.heard(task, 3)
    assert told.count("answer-one") == 1 and told.count("answer-two") == 1
    assert house.starts(task) == 3


# --- an agent whose stdin stays open

LIVE = f"""sleep 1000 &
echo "$! $$" | tr ' ' '\\n' > "$out/pids"
case $n in
1) {QUESTION}
   note asked
   listen
   {GOOD}
   listen
   write one.md "The second round of it all."; phase 1
   listen ;;
esac
"""


def test_a_live_agent_is_stopped_and_continued(house: House) -> None:
    """Its tree stands still at the question (state T) and gets the answer on its stdin: one start."""
    house.live("a", LIVE)
    server = house.serve()
    task = server.new()
    gate = server.waiting("questions", task)
    pids = [int(pid) for pid in until(lambda: house.lines(task, "pids"), "its pids")]
    until(lambda: all_stopped(pids), "all of it is stopped")
    server.answer(task, "SQLite").ok()
    server.reaches(task, "review")
    until(lambda: all_stopped(pids), "stopped in the review, too")
    review = server.review(task)
    server.post(f"/reviews/{review}/request-changes", {"feedback": "Again, please."}).ok()
    until(lambda: len(server.items(f"/tasks/{task}/reviews")) == 2, "the second round")
    server.approve(task).ok()
    server.reaches(task, "completed")
    until(lambda: not house.agents(), "ended")
    told = [json.loads(line) for line in house.heard(task).splitlines()]
    assert [line["type"] for line in told[:3]] == ["prompt", "question_answer", "feedback"]
    assert (told[1]["questionId"], told[1]["answer"]) == (gate["id"], "SQLite")
    assert "Again, please." in told[2]["text"]
    assert house.starts(task) == 1, "never restarted"


def test_a_live_agent_is_restarted_for_a_dependency(house: House) -> None:
    """What comes by the environment needs a new process: the old one is gone, the new one has it."""
    house.live(
        "a",
        f'note "${{STRIPE_KEY:-none}}"\ncase $n in 1) {NEEDS} hold never ;; *) {GOOD} listen ;; esac\n',
    )
    server = house.serve()
    task = server.new()
    server.agent_is(task, "waiting_dependency")
    server.provide(task, SECRET).ok()
    server.reaches(task, "review")
    assert house.lines(task, "notes") == ["none", SECRET]
    assert [line.split()[0] for line in house.lines(task, "started")] == ["0", "1"]
    running = {env["SEGUE_RUN"] for env in house.agents().values() if "SEGUE_RUN" in env}
    assert len(running) == 1, "never two agents for one task"
    pid = int(house.lines(task, "starts")[1])
    assert all_stopped([pid]) or all_running([pid])


# --- dependencies


def test_a_dependency_comes_by_the_environment(house: House) -> None:
    """Asked for by name, provided by a person, in the agent's environment from then on."""
    house.hand("a", WANTS)
    server = house.serve()
    task = server.new(kind="two")
    assert server.agent_is(task, "waiting_dependency")["blockedBy"] == "dependency"
    shown = server.waiting("dependencies", task)
    assert (shown["type"], shown["name"]) == ("api_key", "STRIPE_KEY")
    assert shown["description"] == "for payments" and shown["required"] is True
    server.post(f"/dependencies/{shown['id']}/provide", {"value": SECRET}).ok()
    server.reaches(task, "review")
    server.approve(task).ok()
    until(lambda: house.starts(task) >= 3, "the next phase")
    until(lambda: len(house.lines(task, "notes")) >= 3, "its note")
    assert house.lines(task, "notes")[:3] == ["none", SECRET, SECRET], "also in the next phase"


def test_a_secret_is_shown_nowhere(house: House) -> None:
    """Not in any answer, event, page, file or log, although the agent itself prints it."""
    house.hand("a", f"""case $n in 1) {NEEDS} ;;
*) echo "the key is $STRIPE_KEY!"; echo "twice $STRIPE_KEY$STRIPE_KEY"
   printf 'in two '; printf '%s' "$STRIPE_KEY" | head -c 9; sleep 0.3
   printf '%s' "$STRIPE_KEY" | tail -c +10; echo ' pieces'
   echo "{{\\"key\\": \\"$STRIPE_KEY\\"}}" >&2
   {GOOD} ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new()
    server.agent_is(task, "waiting_dependency")
    seen: list[bytes] = [server.provide(task, SECRET).body]
    server.reaches(task, "review")
    for path in ("", "/agent", "/phases", "/reviews", "/questions", "/dependencies", "/checkpoints",
                 "/journal", "/log"):  # fmt: skip
        seen.append(server.get(f"/tasks/{task}{path}").body)
    for path in ("/tasks", "/questions", "/limits", "/settings", "/workers", "/metrics"):
        seen.append(server.get(path).body)
    page = {"Authorization": f"Bearer {server.token}", "Accept": "text/html"}
    for path in ("/", f"/tasks/{task}"):
        seen.append(server.raw("GET", path, None, page).body)
    last = server.journal(task)[-1].get("seq", 1)
    with server.stream(f"/tasks/{task}/events", after=0) as stream:
        got = stream.until(lambda e: (e["id"] or 0) >= last)
        seen += [json.dumps(event).encode() for event in got]
    seen += [server.going.result.said.encode()]
    log = server.log(task)
    assert "the key is" in log and " pieces" in log, "what it said is there, without the secret"
    for text in seen:
        assert SECRET.encode() not in text
    server.stop()
    found = [str(path.relative_to(house.root)) for path in house.found(SECRET)]
    assert found == [], "in no file, clear"


def test_a_secret_is_at_rest_under_a_key_that_only_its_owner_reads(house: House) -> None:
    """No file of the server's memory that holds key or token is readable by others."""
    house.hand("a", WANTS)
    server = house.serve()
    task = server.new()
    server.agent_is(task, "waiting_dependency")
    server.provide(task, SECRET).ok()
    server.reaches(task, "review")
    keys = [p for p in house.state.rglob("*") if p.is_file() and "key" in p.name.lower()]
    assert keys, "a key file"
    for path in keys:
        assert path.stat().st_mode & 0o777 == 0o600, path


def test_a_dependency_survives_a_restart(house: House) -> None:
    """Provided, then the server dies and starts again: the next phase still has it."""
    house.hand("a", f"""note "${{STRIPE_KEY:-none}}"
case $n in 1) {NEEDS} ;; 2) {GOOD} ;; *) write two.md "The rest of it."; phase 2 ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new(kind="two")
    server.agent_is(task, "waiting_dependency")
    server.provide(task, SECRET).ok()
    server.reaches(task, "review")
    server.kill()
    server = house.serve()
    server.approve(task).ok()
    until(lambda: house.starts(task) == 3, "the next phase")
    server.reaches(task, "review")
    assert house.lines(task, "notes") == ["none", SECRET, SECRET]


def test_a_refused_dependency_is_told_and_the_agent_goes_on(house: House) -> None:
    """Reject with a reason: the agent is started again with it, without the variable."""
    house.hand("a", WANTS)
    server = house.serve()
    task = server.new()
    where = f"/dependencies/{server.waiting('dependencies', task)['id']}"
    server.post(f"{where}/reject", {"reason": "We have no contract."}).ok()
    server.reaches(task, "review")
    assert "We have no contract." in house.heard(task, 2) and "STRIPE_KEY" in house.heard(task, 2)
    assert house.lines(task, "notes") == ["none", "none"]
    server.post(f"{where}/provide", {"value": "late"}).problem(409)


def test_providing_is_checked_and_taken_once(house: House) -> None:
    """What cannot be in an environment is 422 (nothing, a zero byte, 180 kB); a second value is 409."""
    house.hand("a", WANTS)
    server = house.serve()
    task = server.new()
    where = f"/dependencies/{server.waiting('dependencies', task)['id']}/provide"
    for wrong in ({}, {"value": ""}, {"value": None}, {"value": 7}, {"value": "a\0b"},
                  {"value": "가" * 60_000}):  # fmt: skip
        assert server.post(where, wrong).status == 422, wrong
    assert server.agent(task)["status"] == "waiting_dependency"
    server.post(where, {"value": "first"}).ok()
    server.post(where, {"value": "second"}).problem(409)
    server.reaches(task, "review")
    assert house.lines(task, "notes") == ["none", "first"]


def test_an_agent_cannot_ask_for_a_variable_of_segues_own(house: House) -> None:
    """`SEGUE_TOKEN`, `PATH`, `LD_PRELOAD` as names: none of them opens a way to set it."""
    fields = "type: env_variable\nname: SEGUE_NONCE\ndescription: x\nrequired: true\n"
    house.hand("a", f'case $n in 1) printf "{fields}" | block DEPENDENCY_REQUEST ;; esac\n{GOOD}')
    server = house.serve()
    task = server.new()
    server.reaches(task, "review")
    assert server.items(f"/tasks/{task}/dependencies") == []


def test_the_servers_token_is_not_given_to_agents(house: House) -> None:
    """`SEGUE_TOKEN` and `SEGUE_KEY` of the server are not in an agent's environment."""
    house.hand("a", f'env > "$out/env"\n{GOOD}')
    server = house.serve(env={"AWS_SECRET_ACCESS_KEY": "not-for-agents"})
    task = server.new()
    server.reaches(task, "review")
    env = (house.out / task / "env").read_text()
    assert server.token not in env and "not-for-agents" not in env
    for name in ("SEGUE_TASK", "SEGUE_RUN", "SEGUE_ATTEMPT", "SEGUE_CONVERSATION", "SEGUE_PROJECT"):
        assert f"\n{name}=" in f"\n{env}"
    assert f"SEGUE_TASK={task}\n" in env
