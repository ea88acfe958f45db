"""Permission to use a tool, and answers by act: who is asked, what is granted, what is told."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from kit.bench import CLAUDE, Bench
from segue.core.machines import ActState
from segue.core.plan import TaskState
from segue.dialects.events import Asked, Finished, Opened, PermissionAsked
from segue.engine.acts import Verb
from segue.engine.executors import ActsAdded, NeverStarted
from segue.engine.gates import ALLOW, ALLOW_TOOL, DENY
from segue.engine.plan.beginning import go_on_with
from segue.store.changes import Add

ONE = "- [ ] T-1: Build\n  - retries: 0\n"


def bash(command: str, request: str = "r-1") -> PermissionAsked:
    return PermissionAsked(request, "Bash", command, {"command": command})


def begun(bench: Bench, settings: str = "") -> Bench:
    bench.settings(CLAUDE + settings)
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"))
    return bench


def answer(bench: Bench, text: str) -> None:
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, text)
    bench.turn()
    bench.starts()


def sent(bench: Bench) -> list[dict[str, Any]]:
    return [json.loads(data)["response"] for _job, data in bench.engine.sent]


# --- by the rules -----------------------------------------------------------------------------


def test_what_the_rules_allow_is_answered_at_once(bench: Bench) -> None:
    """The agent goes on in the same breath; nobody is asked."""
    begun(bench, 'allow = ["Bash(pytest:*)"]\n').says(bash("pytest -q", "r-7"))
    (given,) = sent(bench)
    assert given["request_id"] == "r-7"
    assert given["response"] == {"behavior": "allow", "updatedInput": {"command": "pytest -q"}}
    assert bench.engine.to_end == []
    assert bench.told("permission_asked")[0]["verdict"] == "allow"


def test_what_the_rules_deny_is_refused_at_once(bench: Bench) -> None:
    """It reads why, and goes on without."""
    begun(bench, 'permissions = "full"\ndeny = ["Bash(git push:*)"]\n').says(bash("git push"))
    (refused,) = sent(bench)
    assert refused["response"]["behavior"] == "deny"
    assert "rules" in refused["response"]["message"]
    assert bench.run.ledger.gates == {}
    assert bench.told("permission_asked")[0]["verdict"] == "deny"


def test_every_request_gets_its_own_answer(bench: Bench) -> None:
    """Several that came together are answered by their ids."""
    begun(bench, 'allow = ["Bash(ls:*)"]\nunlisted = "deny"\n')
    bench.says(bash("ls", "r-1"), bash("rm x", "r-2"), bash("ls -l", "r-3"))
    found = [(told["request_id"], told["response"]["behavior"]) for told in sent(bench)]
    assert found == [("r-1", "allow"), ("r-2", "deny"), ("r-3", "allow")]


def test_an_agent_that_does_not_listen_is_no_reason_to_fall(bench: Bench) -> None:
    """It has ended meanwhile; its end tells more."""
    begun(bench, 'allow = ["Bash"]\n')
    bench.engine.is_deaf = True
    bench.says(bash("ls"))
    assert "T-1" in bench.told("notice")[0]["text"]
    bench.says(Finished(False))
    bench.ends(0)
    assert bench.state() is TaskState.COMPLETED


# --- by a person ------------------------------------------------------------------------------


def test_what_no_rule_decides_is_asked_of_a_person(bench: Bench) -> None:
    """The agent ends; the question says what it wants; doing nothing means no."""
    begun(bench).says(bash("make deploy"))
    assert bench.engine.to_end == [bench.job]
    assert bench.engine.sent == []
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    assert "Bash" in gate.text
    assert "make deploy" in gate.text
    assert (gate.options, gate.preset) == ((ALLOW, ALLOW_TOOL, DENY), DENY)
    assert gate.category == "permission"


def test_allowed_once_is_allowed_for_the_same_use_only(bench: Bench) -> None:
    """It goes on in its conversation, asks again by itself and gets leave; for another use not."""
    begun(bench).says(bash("make deploy"))
    bench.ends(143, is_ours=True)
    answer(bench, ALLOW)
    assert "--resume" in bench.engine.jobs[bench.job].argv
    assert "You may now use Bash (make deploy)" in bench.prompt()
    bench.says(bash("make deploy", "r-2"))
    assert sent(bench)[0]["response"]["behavior"] == "allow"
    bench.says(bash("make destroy", "r-3"))
    assert len(sent(bench)) == 1
    assert bench.engine.to_end[-1] == bench.job


def test_allowed_as_a_tool_is_allowed_for_every_use(bench: Bench) -> None:
    """Of this task; the deny list still stands before it."""
    begun(bench, 'deny = ["Bash(git push:*)"]\n').says(bash("make deploy"))
    bench.ends(143, is_ours=True)
    answer(bench, ALLOW_TOOL)
    bench.says(bash("anything at all", "r-2"), bash("git push", "r-3"))
    assert [told["response"]["behavior"] for told in sent(bench)] == ["allow", "deny"]


@pytest.mark.parametrize("said", [DENY, "no", "", "Allow!", "allow everything"])
def test_anything_but_leave_is_no_leave(bench: Bench, said: str) -> None:
    """The agent is told to go on without; when it asks again, so is the person."""
    begun(bench).says(bash("make deploy"))
    bench.ends(143, is_ours=True)
    answer(bench, said)
    assert "You may not use Bash (make deploy)" in bench.prompt()
    bench.says(bash("make deploy", "r-2"))
    assert sent(bench) == []
    assert bench.engine.to_end[-1] == bench.job


def test_leave_for_one_task_is_none_for_another(bench: Bench) -> None:
    """What a person allowed was about that task."""
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n")
    first, second = bench.engine.begun
    for job in (first, second):
        bench.starts(job)
    bench.says(bash("make"), job=first)
    bench.ends(143, is_ours=True, job=first)
    answer(bench, ALLOW_TOOL)
    bench.says(bash("make", "r-2"), job=second)
    assert sent(bench) == []
    assert second in bench.engine.to_end


def test_leave_outlives_segue(bench: Bench) -> None:
    """A grant is a row: the next start knows it."""
    begun(bench).says(bash("make deploy"))
    bench.ends(143, is_ours=True)
    answer(bench, ALLOW)
    bench.start()
    bench.recover()
    bench.starts()
    bench.says(bash("make deploy", "r-2"))
    assert sent(bench)[0]["response"]["behavior"] == "allow"


def test_leave_is_for_what_the_person_was_shown(bench: Bench) -> None:
    """Of two requests at once the first is asked about, and the grant is for that one alone."""
    begun(bench).says(bash("ls docs", "r-1"), bash("rm -rf /", "r-2"))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    assert "ls docs" in gate.text
    answer(bench, ALLOW)
    assert "ls docs" in bench.prompt()
    bench.says(bash("rm -rf /", "r-3"))
    assert sent(bench) == [], "nobody allowed this"


def test_a_question_before_it_is_the_one_that_is_asked(bench: Bench) -> None:
    """The first counts; its answer is the agent's, in the person's own words."""
    begun(bench).says(Asked("Which database?"), bash("make deploy"))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    assert gate.text == "Which database?"
    answer(bench, ALLOW)
    assert '"content": "allow\\n"' in bench.prompt()
    bench.says(bash("make deploy", "r-2"))
    assert sent(bench) == [], "an answer to another question grants nothing"


def test_leave_is_told_in_the_same_words_after_a_death(bench: Bench) -> None:
    """Segue died between the answer and the start: the agent reads the same prompt."""
    begun(bench).says(bash("make deploy"))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, ALLOW)
    bench.turn()
    meant, job = bench.prompt(), bench.job
    bench.start()
    bench.engine.became[job] = NeverStarted()
    bench.recover()
    assert bench.prompt() == meant


# --- by act -----------------------------------------------------------------------------------


def asked(bench: Bench) -> str:
    begun(bench).says(Asked("Which database?"))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates
    return gate


def test_an_act_is_an_answer_like_any_other(bench: Bench) -> None:
    """It is taken in while the plan runs, once, and the agent resumes with it."""
    act = bench.adds(Verb.ANSWER, gate=asked(bench), answer="SQLite")
    bench.happens(ActsAdded())
    assert '"content": "SQLite\\n"' in bench.prompt()
    assert bench.told("gate_answered")[0]["by"] == "kim"
    assert bench.outcome(act).state is ActState.TAKEN
    bench.happens(ActsAdded())
    assert len(bench.engine.begun) == 2


def test_an_act_that_came_while_nobody_ran_is_taken_in_at_the_start(bench: Bench) -> None:
    """The question is not asked again."""
    bench.adds(Verb.ANSWER, gate=asked(bench), answer="SQLite")
    bench.start()
    bench.recover()
    assert '"content": "SQLite\\n"' in bench.prompt()
    assert bench.told("gate_opened") == []


def test_an_act_of_another_work_stays(bench: Bench) -> None:
    """Its owner takes it in."""
    begun(bench)
    bench.run.ledger.stage(Add("work", "other", "pending", {"kind": "tasklist", "path": "/else"}))
    bench.run.ledger.commit()
    act = bench.adds(Verb.WAKE, work="other")
    bench.happens(ActsAdded())
    assert bench.outcome(act).state is ActState.WAITING


def test_an_answer_to_what_was_settled_meanwhile_is_refused(bench: Bench) -> None:
    """With the reason, for whoever gave it."""
    act = bench.adds(Verb.ANSWER, gate=asked(bench), answer="SQLite")
    answer(bench, "PostgreSQL")
    bench.happens(ActsAdded())
    found = bench.outcome(act)
    assert (found.state, "is no longer waiting" in (found.reason or "")) == (ActState.REFUSED, True)


# --- in time ----------------------------------------------------------------------------------


def optional(**more: Any) -> Asked:
    wanted: dict[str, Any] = {"is_required": False, "deadline_s": 60.0, **more}
    return Asked("Which?", ("a", "b"), "a", **wanted)


def asks(bench: Bench, asked: Asked) -> None:
    begun(bench)
    bench.says(asked)
    bench.ends(None, is_ours=True)


def test_an_optional_question_takes_its_default_after_its_deadline(bench: Bench) -> None:
    """Told as such; the agent goes on with the answer, once."""
    asks(bench, optional())
    assert bench.engine.wakes_at == bench.clock.now() + timedelta(seconds=60)
    bench.pass_s(59)
    assert bench.told("task_resumed") == []
    bench.pass_s(1)
    (told,) = bench.told("gate_answered")
    assert (told["task"], told["by"], told["answer"]) == ("T-1", "deadline", "a")
    assert len(bench.told("task_resumed")) == 1
    assert bench.attempt.answer == "a"
    assert bench.run.ledger.gates == {}
    bench.pass_s(60)
    assert len(bench.told("gate_answered")) == 1


def test_a_deadline_that_passed_while_nobody_was_there(bench: Bench) -> None:
    """The next start takes the default at once, and asks nobody."""
    asks(bench, optional())
    bench.run.ledger.flush()
    bench.clock.pass_s(3600)
    bench.start()
    bench.recover()
    assert bench.told("gate_opened") == []
    assert bench.told("gate_answered")[0]["answer"] == "a"
    assert bench.attempt.answer == "a"


@pytest.mark.parametrize("kept", [{"is_required": True}, {"deadline_s": None}])
def test_other_questions_stay_open(bench: Bench, kept: dict[str, Any]) -> None:
    """Required ones, and those without a deadline."""
    asks(bench, optional(**kept))
    bench.pass_s(3600)
    assert bench.told("gate_answered") == []
    assert len(bench.run.ledger.gates) == 1


def test_nothing_takes_its_default_while_the_plan_is_stopped(bench: Bench) -> None:
    """That would start an agent; the next start does it."""
    asks(bench, optional())
    bench.stop()
    bench.pass_s(61)
    assert bench.told("gate_answered") == []
