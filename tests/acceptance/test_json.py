"""The JSON shapes of run, status, resume and doctor."""

from __future__ import annotations

import signal
from datetime import UTC, datetime, timedelta
from typing import Any

from kit.box import Box
from kit.waiting import until


def one_plan(box: Box) -> dict[str, Any]:
    result = box.segue("status", "--json")
    assert result.code == 0, result.said
    plans = result.json["plans"]
    assert len(plans) == 1
    plan: dict[str, Any] = plans[0]
    assert {"path", "kind", "state", "counts", "parks", "gates", "usage"} <= plan.keys()
    assert plan["kind"] == "tasklist"
    return plan


def test_events_of_a_run(box: Box) -> None:
    """Each line has event and at; tasks start before they complete; the last line is finished."""
    box.plan("- [ ] T-1: a\n  - run: true\n- [ ] T-2: b (deps: T-1)\n  - run: true\n")
    done = box.run()
    now = datetime.now(UTC)
    for event in done.events:
        at = datetime.fromisoformat(event["at"])
        assert now - timedelta(minutes=2) < at <= now
    names = [(e["event"], e["task"]) for e in done.events if "task" in e]
    assert names == [
        ("task_started", "T-1"),
        ("task_completed", "T-1"),
        ("task_started", "T-2"),
        ("task_completed", "T-2"),
    ]
    end = done.finished
    assert end["completed"] == ["T-1", "T-2"]
    assert [end[k] for k in ("failed", "skipped", "parked", "waiting", "exit")] == [
        [],
        [],
        [],
        [],
        0,
    ]


def test_json_prints_results_only(box: Box) -> None:
    """With --json nothing stands on stderr, and nothing but JSON on stdout."""
    box.plan("- [ ] T-1: a\n  - run: echo noise; echo noise >&2\n")
    done = box.run()
    assert done.err == ""
    assert len(done.events) >= 3


def test_usage_is_summed(box: Box) -> None:
    """Tokens and dollars of all runs stand on task_completed, finished and status."""
    box.scripted(
        "[T-1]\nusage 100 10 0.5\nlimit rate_limit 100ms\nusage 20 2 0.25\n[T-2]\nusage 1 1\n"
    )
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n")
    done = box.run()
    first = done.of("task_completed", "T-1")[0]["usage"]
    assert first == {"input_tokens": 120, "output_tokens": 12, "cost_usd": 0.75}
    assert done.of("task_completed", "T-2")[0]["usage"]["cost_usd"] is None
    whole = {"input_tokens": 121, "output_tokens": 13, "cost_usd": 0.75}
    assert done.finished["usage"] == whole
    assert one_plan(box)["usage"] == whole


def test_status_of_a_plan_that_finished(box: Box) -> None:
    """After the run: finished, counts by state."""
    box.plan("- [ ] T-1: a\n  - run: true\n- [x] T-2: b\n")
    box.run()
    plan = one_plan(box)
    assert plan["state"] == "finished"
    assert {k: v for k, v in plan["counts"].items() if v} == {"completed": 2}
    assert plan["path"].endswith("PLAN.md")


def test_status_of_a_plan_that_never_ran(box: Box) -> None:
    """A plan that was never started is pending, and looking at it writes nothing."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    plan = one_plan(box)
    assert plan["state"] == "pending"
    assert plan["counts"]["pending"] == 1
    assert not (box.root / ".segue").exists()


def test_status_while_it_runs_after_an_interrupt_and_after_a_death(box: Box) -> None:
    """Running while it runs; interrupted after SIGINT and after kill -9."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.hold('go')}\n")
    going = box.start_run()
    going.event("task_started", "T-1")
    plan = one_plan(box)
    assert (plan["state"], plan["counts"]["in_progress"]) == ("running", 1)
    going.send(signal.SIGINT)
    assert going.end().code == 130
    assert one_plan(box)["state"] == "interrupted"
    going = box.start_run()
    going.event("task_started", "T-1")
    going.kill()
    assert one_plan(box)["state"] == "interrupted"


def test_status_of_a_failed_plan(box: Box) -> None:
    """A plan that ended with failures is failed."""
    box.plan(
        "- [ ] T-1: a\n  - retries: 0\n  - run: false\n- [ ] T-2: b (deps: T-1)\n  - run: true\n"
    )
    box.run()
    plan = one_plan(box)
    assert plan["state"] == "failed"
    assert (plan["counts"]["failed"], plan["counts"]["skipped"]) == (1, 1)


def test_status_of_an_empty_folder(box: Box) -> None:
    """Nothing here is an empty list, not an error."""
    result = box.segue("status", "--json")
    assert (result.code, result.json) == (0, {"plans": []})


def test_status_of_a_broken_plan_does_not_fail(box: Box) -> None:
    """A plan that Segue knows and that is broken now is still listed."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    box.run()
    box.plan("- [ ] T-1: a\n- [ ] T-1: again\n")
    result = box.segue("status", "--json")
    assert result.code == 0
    assert len(result.json["plans"]) == 1


def test_resume_finds_and_continues(box: Box) -> None:
    """An interrupted plan is found with why and next; --continue goes on with it."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.note()}\n- [ ] T-2: b (deps: T-1)\n  - run: {box.hold('go')}\n"
    )
    going = box.start_run()
    going.event("task_started", "T-2")
    going.send(signal.SIGTERM)
    assert going.end().code == 130
    result = box.segue("resume", "--json")
    assert result.code == 0
    found = result.json["found"]
    assert len(found) == 1
    assert {"path", "kind", "resumable", "why", "next"} <= found[0].keys()
    assert (found[0]["kind"], found[0]["resumable"]) == ("tasklist", True)
    assert "T-2" in found[0]["next"]
    full = box.segue("resume", "--status", "--json")
    assert full.code == 0
    assert full.json["found"][0]["state"]["counts"]["in_progress"] == 1, full.out
    box.release("go")
    assert box.segue("resume", "--continue").code == 0
    assert box.marks() == {"T-1": "x", "T-2": "x"}
    assert box.notes() == ["T-1"]
    assert not any(item["resumable"] for item in box.segue("resume", "--json").json["found"])


def test_resume_explains(box: Box) -> None:
    """`--explain` says why here, what is redone, what was lost and what it costs."""
    box.plan("- [x] T-1: a\n- [~] T-2: b\n  - run: true\n")
    result = box.segue("resume", "--explain")
    assert result.code == 0
    assert "T-2" in result.out
    assert box.marks()["T-2"] == "~", "explaining changes nothing"


def test_resume_reset_begins_anew_with_a_backup(box: Box) -> None:
    """`--reset` puts every mark back to `[ ]` and keeps the old plan."""
    box.plan("- [x] T-1: a\n  - [x] s\n- [!] T-2: b\n  - run: true\n  <!-- retries: 2/2 -->\n")
    before = box.plan_path.read_bytes()
    assert box.segue("resume", "--reset").code in (0, 1)
    assert box.marks() == {"T-1": " ", "T-2": " "}
    kept = [
        p
        for p in box.root.rglob("*")
        if p.is_file() and p != box.plan_path and p.read_bytes() == before
    ]
    assert kept, "a backup is kept"


def test_resume_with_nothing_to_resume(box: Box) -> None:
    """A finished plan is not resumable; the command says so and changes nothing."""
    box.plan("- [x] T-1: a\n  - run: false\n")
    result = box.segue("resume", "--json")
    assert result.code == 0
    assert not any(item["resumable"] for item in result.json["found"])


def test_doctor(box: Box) -> None:
    """Doctor says what is there, what is missing and how to get it."""
    result = box.segue("doctor", "--json")
    assert result.code == 0
    names = {agent["name"] for agent in result.json["agents"]}
    assert {"shell", "script", "claude", "codex", "gemini", "opencode"} <= names
    assert any(tool["name"] == "git" for tool in result.json["tools"])
    assert "git" in box.segue("doctor").out


def test_segue_alone_looks_at_the_folder(box: Box) -> None:
    """`segue` without a command shows what can be done here."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    result = box.segue()
    assert result.code == 0
    assert "PLAN.md" in result.out
    assert not (box.root / ".segue").exists()


def test_help_has_an_example_on_one_screen(box: Box) -> None:
    """`--help` of every command is one screen with an example."""
    for command in ("run", "plan", "status", "resume", "doctor"):
        result = box.segue(command, "--help")
        assert result.code == 0
        assert "segue " + command in result.out.split("Example")[1]
        assert len(result.out.splitlines()) <= 40


def test_status_says_who_is_at_work_for_how_long_and_with_which_words(box: Box) -> None:
    """And `run` without a plan takes PLAN.md."""
    box.plan(f"- [ ] **T-001**: a\n  - run: echo I am at it; {box.hold('go')}\n")
    going = box.start("run", "--json")
    going.event("task_started")
    until(lambda: "I am at it" in box.segue("status").out, "its words")
    assert "▶ T-001 (shell, " in box.segue("status").out
    [plan] = box.segue("status", "--json").json["plans"]
    [run] = plan["runs"]
    assert (run["task"], run["said"]) == ("T-001", "I am at it")
    box.release("go")
    assert going.end().code == 0


def test_plan_without_a_name_takes_the_plan_of_this_folder(box: Box) -> None:
    """`segue plan` looks at PLAN.md, as `segue run` runs it; without one both say so in one way."""
    missing = box.segue("plan", "--json")
    assert missing.code == 2
    assert missing.json["error"]["code"] == "plan_not_found"
    assert missing.json == box.segue("run", "--json").json
    box.plan("- [ ] T-1: a\n  - run: true\n")
    assert box.segue("plan", "--json").json == box.segue("plan", "PLAN.md", "--json").json
    assert "T-1" in box.segue("plan").out
