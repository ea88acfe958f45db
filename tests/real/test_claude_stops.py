"""Claude Code, for real: limits park it, a person is asked where waiting does not help."""

from __future__ import annotations

import json
import time

import pytest

from kit.stage import FULL, HOLD, ONE, Stage, at, until


def told_by_claude(stage: Stage) -> int:
    """The reset in the program's own event."""
    (log,) = (stage.root / ".segue" / "logs").glob("T-1-*[0-9a-f].log")
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    told = [line["rate_limit_info"] for line in lines if line["type"] == "rate_limit_event"]
    (reset,) = {info["resetsAt"] for info in told if info["status"] == "rejected"}
    assert isinstance(reset, int)
    return reset


@pytest.mark.parametrize(
    ("mode", "wait_s", "kind"),
    [("429u5h", 4000, "session_limit"), ("429u7d", 200_000, "weekly_limit")],
)
def test_a_subscription_limit_parks_until_the_very_instant(
    stage: Stage, mode: str, wait_s: int, kind: str
) -> None:
    """The reset is the epoch that the server sent; work goes on at it, plus the margin."""
    stage.agent("claude", f"{mode}:{wait_s}", oauth=True, margin_s=7)
    stage.plan(ONE + "- [ ] **T-2**: another\n  - blocked by: T-1\n")
    done = stage.run("--no-wait")
    assert (done.code, done.finished["parked"]) == (4, ["T-1"]), done.said
    (parked,) = done.of("task_parked")
    assert (parked["task"], parked["kind"], parked["account"]) == ("T-1", kind, "claude")
    sent = int(stage.asked()[0].at) + wait_s
    assert at(parked["resets_at"]) == told_by_claude(stage)
    assert at(parked["resets_at"]) in (sent, sent + 1), "the clock may have ticked in between"
    assert at(parked["wakes_at"]) == at(parked["resets_at"]) + 7
    assert len(stage.asked()) == 1
    assert stage.marks()["T-1"] == "~"
    (shown,) = stage.status()["parks"]
    assert (shown["kind"], at(shown["wakes_at"])) == (kind, at(parked["wakes_at"]))
    stage.nothing_left()


def test_a_parked_task_wakes_once_and_goes_on(stage: Stage) -> None:
    """At its instant it goes on in its conversation with the resume text; no retry is used."""
    stage.agent("claude", "429u5h:3", "say:done", oauth=True)
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run()
    assert (done.code, done.tasks("task_completed")) == (0, ["T-1"]), done.said
    (parked,), (resumed,) = done.of("task_parked"), done.of("task_resumed")
    late_s = at(resumed["at"]) - at(parked["wakes_at"])
    assert 0 <= late_s < 10, "never before, and not long after"
    first, second = stage.asked()
    assert second.at >= at(parked["wakes_at"]) >= int(first.at) + 3 + 1
    assert "use a tool" in second.messages[0]["text"], "the same conversation"
    assert second.prompt.endswith("continue")
    assert done.of("task_retrying") == []
    assert [row["retries_used"] for row in stage.rows("SELECT * FROM tasks")] == [0]
    assert len(stage.rows("SELECT DISTINCT resume_id FROM runs")) == 1
    stage.nothing_left()


def test_a_park_survives_the_death_of_segue(stage: Stage) -> None:
    """Killed while it waits: the next start keeps the park, wakes it once and not before."""
    stage.agent("claude", "429u5h:4", "say:done", oauth=True)
    stage.plan(ONE)
    going = stage.start_run()
    parked = going.event("task_parked")
    going.kill()
    done = stage.run()
    assert done.code == 0, done.said
    assert done.tasks("park_kept") == ["T-1"]
    assert done.tasks("task_resumed") == done.tasks("task_completed") == ["T-1"]
    _first, second = stage.asked()
    assert second.at >= at(parked["wakes_at"])
    assert "use a tool" in second.messages[0]["text"]
    stage.nothing_left()


def test_a_limit_parks_the_account(stage: Stage) -> None:
    """What else is on the account does not even try before the reset; then one goes first."""
    stage.agent("claude", "429u5h:3", "slow:1", "say:done", oauth=True)
    stage.plan(ONE + "- [ ] **T-2**: another\n")
    done = stage.run("--jobs", "1")
    assert (done.code, done.finished["completed"]) == (0, ["T-1", "T-2"]), done.said
    (parked,) = done.of("task_parked")
    later = stage.asked()[1:]
    assert len(later) == 2
    assert all(asked.at >= at(parked["wakes_at"]) for asked in later)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("429:1", "rate_limit"), ("529", "overloaded"), ("500", "overloaded")],
)
def test_other_refusals_park_too(stage: Stage, mode: str, kind: str) -> None:
    """Too many requests and an overloaded service are waited out; no try is used up."""
    stage.agent("claude", mode, retries=0)
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run("--no-wait")
    assert (done.code, done.finished["parked"]) == (4, ["T-1"]), done.said
    (parked,) = done.of("task_parked")
    assert parked["kind"] == kind
    assert at(parked["wakes_at"]) > time.time()
    stage.nothing_left()


@pytest.mark.parametrize(
    ("mode", "oauth"), [("401", False), ("401", True), ("credit", False), ("403", False)]
)
def test_a_person_is_asked_where_waiting_does_not_help(
    stage: Stage, mode: str, oauth: bool
) -> None:
    """No login, no credit: a gate, soon; seen to, the next run goes on in the conversation."""
    stage.agent("claude", mode, oauth=oauth)
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run()
    assert (done.code, done.finished["waiting"]) == (3, ["T-1"]), done.said
    (gate,) = done.of("gate_opened")
    assert gate["task"] == "T-1"
    assert stage.marks() == {"T-1": "~"}
    assert [shown["id"] for shown in stage.status()["gates"]] == [gate["gate"]]
    stage.nothing_left()
    before = len(stage.asked())
    stage.plays("say:done")
    again = stage.run()
    assert (again.code, again.tasks("task_completed")) == (0, ["T-1"]), again.said
    assert again.of("conversation_lost") == []
    (last,) = stage.asked()[before:]
    assert "use a tool" in last.messages[0]["text"], "the same conversation"
    assert len(stage.rows("SELECT DISTINCT resume_id FROM runs")) == 1
    stage.nothing_left()


def test_not_seen_to_is_asked_again(stage: Stage) -> None:
    """The next run finds the account as it was: one more gate, not a failure, not a storm."""
    stage.agent("claude", "credit")
    stage.plan(ONE + "  - retries: 0\n")
    assert stage.run().code == 3
    again = stage.run()
    assert (again.code, again.finished["waiting"]) == (3, ["T-1"]), again.said
    assert len(stage.status()["gates"]) == 1


def test_silence_is_told_and_ended_past_the_bound(stage: Stage) -> None:
    """A stream that died without a word: looked at, told, ended, and gone on with."""
    stage.agent("claude", "stall", "say:done", more="silence_after = 3\nsilence_max = 6")
    stage.plan(ONE)
    done = stage.run()
    assert (done.code, done.tasks("task_completed")) == (0, ["T-1"]), done.said
    silent = done.of("task_silent")[-1]
    assert silent["seconds"] >= 3
    assert silent["is_alive"] is True
    assert any("claude" in name for name in silent["processes"]), silent
    assert silent["connections"] >= 1
    assert silent["stopped"] == 0
    first, second = stage.asked()
    assert second.at - first.at >= 5
    assert first.ended == "client_gone"
    assert "use a tool" in second.messages[0]["text"]
    assert second.prompt.endswith("continue"), "the same conversation"
    assert len(stage.rows("SELECT DISTINCT resume_id FROM runs")) == 1
    stage.nothing_left()


def test_silence_alone_ends_nothing(stage: Stage) -> None:
    """Without a bound a silent agent is told of, once for each silence, and left alone."""
    more = f"silence_after = 1\n{FULL}"
    stage.agent("claude", f"tool:{HOLD}", "say:done", more=more)
    stage.plan(ONE)
    going = stage.start_run()
    stage.tool_pid()
    count = len(going.result.of("task_silent"))
    until(lambda: len(going.result.of("task_silent")) > count, "the silence of the tool")
    silent = going.result.of("task_silent")[-1]
    assert len(silent["processes"]) > 1, "the tool is seen too"
    agent = stage.agent_pid()
    began = time.monotonic()
    until(lambda: time.monotonic() - began > 2, "two more seconds")
    assert len(going.result.of("task_silent")) == count + 1
    assert stage.agent_pid() == agent
    stage.release_tool()
    result = going.end()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    assert len(stage.asked()) == 2
