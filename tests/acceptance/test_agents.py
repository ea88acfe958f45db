"""What agents get: prompt, environment, questions; the command agent."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime

import pytest

from kit.box import Box
from kit.terminal import Terminal
from kit.waiting import until

AGENT = r"""
import os, re, sys, time
from pathlib import Path

out = Path(sys.argv[1])
prompt = sys.stdin.read()
name = f"{os.environ['SEGUE_TASK']}.{os.environ['SEGUE_ATTEMPT']}"
(out / f"prompt.{name}").write_text(prompt)
print(f"working on {os.environ['SEGUE_TASK']}")
shown = re.search(r"=== STEP N DONE( \w+)? ===", prompt)
if shown and "second" in prompt:
    print(f"=== STEP 2 DONE{shown[1] or ''} ===", flush=True)
    plan = Path("PLAN.md")
    deadline = time.monotonic() + 60
    while "- [x] second" not in plan.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    (out / f"seen.{name}").write_text(plan.read_text())
print(f"summary of {os.environ['SEGUE_TASK']}: the moon is made of cheese")
if os.environ["SEGUE_TASK"] == "T-2" and os.environ["SEGUE_ATTEMPT"] == "1":
    print("the oven is cold", file=sys.stderr)
    sys.exit(4)
"""


def command_agent(box: Box, more: str = "") -> None:
    (box.tmp / "agent.py").write_text(AGENT)
    command = f'["{sys.executable}", "{box.tmp}/agent.py", "{box.out}"]'
    box.config(f'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = {command}\n{more}')


def test_the_prompt_of_a_command_agent(box: Box) -> None:
    """On its stdin: title, body, sub-steps, what its blockers said, and later the previous error."""
    command_agent(box)
    box.plan(
        "- [ ] **T-1**: Bake the cake\n\n  Use three eggs.\n\n  ```python\n  eggs = 3\n  ```\n"
        "- [ ] **T-2**: Serve it (deps: T-1)\n  - retries: 1\n  - steps:\n    - [ ] first\n    - [ ] second\n"
    )
    assert box.run().code == 0, box.text()
    first = (box.out / "prompt.T-1.1").read_text()
    assert "Bake the cake" in first
    assert "Use three eggs." in first
    assert "eggs = 3" in first
    second = (box.out / "prompt.T-2.1").read_text()
    for words in ("Serve it", "first", "second", "T-1", "the moon is made of cheese"):
        assert words in second
    assert "=== STEP" in second, "it is told how to report sub-steps"
    assert "the oven is cold" not in second
    assert "the oven is cold" in (box.out / "prompt.T-2.2").read_text()


def test_a_step_marker_of_a_command_agent_ticks_the_step(box: Box) -> None:
    """The marker as the prompt shows it ticks that step while the agent runs."""
    command_agent(box)
    box.plan("- [ ] **T-1**: Bake\n  - steps:\n    - [ ] first\n    - [ ] second\n")
    assert box.run().code == 0
    seen = (box.out / "seen.T-1.1").read_text()
    assert "    - [ ] first\n    - [x] second\n" in seen


@pytest.mark.parametrize("is_verified", [False, True])
def test_an_agent_that_ticks_its_own_task_is_not_believed(box: Box, is_verified: bool) -> None:
    """It goes on to its end, and what Segue checks decides."""
    agent = box.tmp / "agent.sh"
    agent.write_text(
        "cat > /dev/null\n"
        'sed -i "s/\\[~\\] $SEGUE_TASK/[x] $SEGUE_TASK/" PLAN.md\n'
        'while grep -q "\\[x\\] $SEGUE_TASK" PLAN.md; do sleep 0.02; done\n'  # until it is seen
        f"echo ended >> {box.out}/ended\n"
    )
    box.config(f'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["sh", "{agent}"]\n')
    check = f"echo verified >> {box.out}/verified; {'true' if is_verified else 'false'}"
    box.plan(f"- [ ] T-1: a\n  - verify: {check}\n  - retries: 0\n")
    done = box.run("--json")
    assert done.code == (0 if is_verified else 1), done.said
    assert ("[x] T-1" if is_verified else "[!] T-1") in box.text()
    assert (box.out / "ended").read_text() == "ended\n"
    assert (box.out / "verified").read_text() == "verified\n"


def test_what_every_agent_finds_in_its_environment(box: Box) -> None:
    """SEGUE_TASK, RUN, ATTEMPT, CONVERSATION, PROJECT are there; secrets of Segue's own are not."""
    box.extra_env = {
        "MY_SECRET_TOKEN": "hush",
        "AWS_SECRET_ACCESS_KEY": "hush",
        "SEGUE_KEY": "hush",
    }
    box.plan(f"- [ ] T-1: a\n  - run: env > {box.out}/env; pwd > {box.out}/pwd\n")
    assert box.run().code == 0
    env = dict(
        line.split("=", 1) for line in (box.out / "env").read_text().splitlines() if "=" in line
    )
    assert env["SEGUE_TASK"] == "T-1"
    assert env["SEGUE_ATTEMPT"] == "1"
    assert env["SEGUE_PROJECT"] == str(box.root)
    assert env["SEGUE_RUN"]
    assert env["SEGUE_CONVERSATION"]
    assert env["HOME"] == str(box.home)
    assert "PATH" in env
    assert "hush" not in (box.out / "env").read_text()
    assert (box.out / "pwd").read_text().strip() == str(box.root)


def test_the_env_table_of_an_agent_wins(box: Box) -> None:
    """`env` gives literals, takes "$NAME" from Segue's own, and is stronger than both."""
    box.extra_env = {"MY_KEY": "from outside", "LC_X": "x"}
    command = f'["sh", "-c", "cat > /dev/null; env > {box.out}/env"]'
    box.config(
        f'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = {command}\n'
        'env = { A_WORD = "lit $eral", TOKEN = "$MY_KEY", LANG = "tlh", SEGUE_ATTEMPT = "99" }\n'
    )
    box.plan("- [ ] T-1: a\n")
    assert box.run().code == 0
    env = dict(
        line.split("=", 1) for line in (box.out / "env").read_text().splitlines() if "=" in line
    )
    assert env["TOKEN"] == "from outside"
    assert env["LANG"] == "tlh"
    assert env["SEGUE_ATTEMPT"] == "99"
    assert "A_WORD" in env
    assert "MY_KEY" not in env


def test_agent_choice_by_task_option_and_config(box: Box) -> None:
    """A task's `agent:` beats `--agent`, which beats segue.toml."""
    one = f'["sh", "-c", "cat > /dev/null; echo $SEGUE_TASK-one >> {box.out}/who"]'
    two = f'["sh", "-c", "cat > /dev/null; echo $SEGUE_TASK-two >> {box.out}/who"]'
    box.config(
        f'agent = "one"\n[agents.one]\nkind = "command"\ncommand = {one}\n'
        f'[agents.two]\nkind = "command"\ncommand = {two}\n'
    )
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n  - agent: one\n")
    assert box.run("--agent", "two", "--jobs", "1").code == 0
    assert box.notes("who") == ["T-1-two", "T-2-one"]
    box.plan("- [ ] T-3: a\n")
    assert box.run().code == 0
    assert box.notes("who")[-1] == "T-3-one"


def test_a_command_agent_that_fails_hands_over_its_error(box: Box) -> None:
    """The end of what it said stands in the plan's comment."""
    box.config(
        'agent = "mine"\n[agents.mine]\nkind = "command"\n'
        'command = ["sh", "-c", "cat > /dev/null; echo the dog ate it >&2; exit 3"]\n'
    )
    box.plan("- [ ] T-1: a\n  - retries: 0\n")
    assert box.run().code == 1
    assert "the dog ate it" in box.text()


def test_an_agent_that_does_not_read_its_prompt(box: Box) -> None:
    """A program that ignores its stdin is no failure, however long the prompt."""
    box.config('agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["true"]\n')
    body = "".join(f"  line {n} of a long story\n" for n in range(5000))
    box.plan(f"- [ ] T-1: a\n\n{body}")
    assert box.run().code == 0


def test_an_agent_that_talks_a_lot(box: Box) -> None:
    """Ten megabytes of output, bytes that are no text, and a line without an end are all survived."""
    box.plan(
        "- [ ] T-1: a\n  - run: head -c 5000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/urandom;"
        " printf '\\n=== STEP 1 DONE ==='\n"
    )
    assert box.run().code == 0


def test_a_question_waits_for_a_person(box: Box) -> None:
    """`ask` opens a gate: exit 3, `[~]`, the question in status; other tasks have run."""
    box.scripted(
        '[T-1]\nappend log one\nask "Which database?" PostgreSQL SQLite\nappend log two\n[T-2]\nappend log other\n'
    )
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n")
    done = box.run("--jobs", "1")
    assert done.code == 3
    opened = done.of("gate_opened", "T-1")
    assert len(opened) == 1
    assert done.finished["waiting"] == ["T-1"]
    assert box.marks() == {"T-1": "~", "T-2": "x"}
    plan = box.segue("status", "--json").json["plans"][0]
    assert plan["state"] == "waiting"
    gate = plan["gates"][0]
    assert {"id", "kind", "task", "text"} <= gate.keys()
    assert (gate["task"], "Which database?" in gate["text"]) == ("T-1", True)
    again = box.run()
    assert again.code == 3, "still nobody answered"
    assert (box.root / "log").read_text() == "one\nother\n", "asked once, not started again"
    assert box.marks()["T-1"] == "~"


def test_a_question_is_answered_on_a_terminal(box: Box) -> None:
    """On a terminal the question is put with its options; the answer lets the agent go on."""
    box.scripted('append log one\nask "Which database?" PostgreSQL SQLite\nappend log two\n')
    box.plan("- [ ] T-1: a\n")
    terminal = Terminal(box, "run", "PLAN.md")
    shown = terminal.expect("SQLite")
    assert "Which database?" in shown
    assert "PostgreSQL" in shown
    terminal.type("SQLite\n")
    assert terminal.end().code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_a_question_asked_before_is_put_on_a_terminal_later(box: Box) -> None:
    """A gate left by a run without a terminal is put to the person who comes later."""
    box.scripted('append log one\nask "Which database?" PostgreSQL SQLite\nappend log two\n')
    box.plan("- [ ] T-1: a\n")
    assert box.run().code == 3
    terminal = Terminal(box, "run", "PLAN.md")
    terminal.expect("Which database?")
    terminal.expect("SQLite")
    terminal.type("SQLite\n")
    assert terminal.end().code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_a_question_survives_kill_9(box: Box) -> None:
    """A gate is a row: after a death it is still there and the agent is not started again."""
    box.scripted('[T-1]\nappend log one\nask "Go on?" yes no\nappend log two\n[T-2]\nhang\n')
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n")
    going = box.start_run("--jobs", "2")
    going.event("gate_opened", "T-1")
    going.event("task_started", "T-2")
    box.power_cut()
    plan = box.segue("status", "--json").json["plans"][0]
    assert [gate["task"] for gate in plan["gates"]] == ["T-1"]
    box.edit("- [~] T-2", "- [x] T-2")
    assert box.run().code == 3
    assert (box.root / "log").read_text() == "one\n"


def test_a_bad_scenario_is_told_with_its_line(box: Box) -> None:
    """A scenario with an unknown verb names file and line; nothing hangs."""
    box.scripted("say hello\nsya hello\n")
    box.plan("- [ ] T-1: a\n  - retries: 0\n")
    done = box.segue("run", "PLAN.md")
    assert done.code in (1, 2)
    assert re.search(r"play\.scenario:2", done.said), done.said


@pytest.mark.parametrize("kind", ["claude", "codex"])
def test_a_real_agent_that_is_missing(box: Box, kind: str) -> None:
    """A known agent that is not installed is told with how to get it."""
    box.plan("- [ ] T-1: a\n")
    result = box.run("--agent", kind, env={"PATH": "/usr/bin:/bin"})
    assert result.code == 2
    assert kind in result.json["error"]["message"]
    assert result.json["error"]["hint"]
    assert not (box.root / ".segue").exists()


INTERACTIVE = r"""
import json, os, sys
from pathlib import Path

nonce = os.environ["SEGUE_NONCE"]
for line in sys.stdin:
    said = json.loads(line)
    with Path(sys.argv[1], "said").open("a") as file:
        file.write(json.dumps(said) + "\n")
    if said["type"] == "prompt":
        print(f"[USER_QUESTION {nonce}]\nquestion: Which?\noptions:\n  - A\n  - B\n[/USER_QUESTION]")
"""


def test_an_interactive_agent_reads_json_lines(box: Box) -> None:
    """The task as a prompt, the answer of a person as an answer; an object in each line."""
    (box.tmp / "agent.py").write_text(INTERACTIVE)
    command = f'["{sys.executable}", "{box.tmp}/agent.py", "{box.out}"]'
    agent = f'[agents.mine]\nkind = "command"\ninteractive = true\ncommand = {command}\n'
    box.config(f'agent = "mine"\n{agent}')
    box.plan("- [ ] **T-1**: Bake the cake\n")
    terminal = Terminal(box, "run", "PLAN.md")
    terminal.expect("Which?")
    terminal.type("2\r")
    assert terminal.end().code == 0
    prompt, answer = map(json.loads, (box.out / "said").read_text().splitlines())
    assert prompt["type"] == "prompt"
    assert "Bake the cake" in prompt["text"]
    assert (answer["type"], answer["answer"]) == ("question_answer", "B")
    assert answer["questionId"]


OPTIONAL = """\
#!/bin/sh
prompt=$(cat)
if [ -n "$SEGUE_RESUME" ]; then echo "$prompt" > OUT/answer; exit 0; fi
echo "[USER_QUESTION $SEGUE_NONCE]"
printf 'question: Which?\\nrequired: false\\ndefault: yes please\\ndeadline: 2s\\n'
echo "[/USER_QUESTION]"
sleep 60
"""


def asks_optionally(box: Box) -> None:
    (box.root / "agent.sh").write_text(OPTIONAL.replace("OUT", str(box.out)))
    box.config('agent = "c"\n[agents.c]\nkind = "command"\ncommand = ["sh", "agent.sh"]\n')
    box.plan("- [ ] T-1: a\n")


def test_an_optional_question_takes_its_default_in_a_later_run(box: Box) -> None:
    """On a pipe nobody waits for the deadline; once it is over the work goes on by itself."""
    asks_optionally(box)
    first = box.run()
    assert (first.code, first.finished["waiting"]) == (3, ["T-1"])
    (gate,) = box.segue("status", "--json").json["plans"][0]["gates"]
    until(lambda: datetime.now(UTC) > datetime.fromisoformat(gate["deadline"]), "the deadline")
    second = box.run()
    assert second.code == 0
    assert [e["by"] for e in second.of("gate_answered")] == ["deadline"]
    assert "yes please" in (box.out / "answer").read_text()


def test_an_optional_question_takes_its_default_on_a_terminal(box: Box) -> None:
    """While it is asked; nobody has to press a key."""
    asks_optionally(box)
    terminal = Terminal(box, "run", "PLAN.md")
    terminal.expect("Which?")
    terminal.expect("uses the default: yes please")
    assert terminal.end().code == 0
    assert "yes please" in (box.out / "answer").read_text()
