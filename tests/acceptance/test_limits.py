"""Limits park, and the work goes on in its conversation, once, not before its instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from acceptance_kit import Box, until


def at(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() == timedelta(0), "instants are UTC"
    return moment


def conversation(box: Box) -> str:
    """The conversation of the one agent that runs now."""
    agents = until(box.agents, "an agent")
    names = {environ["SEGUE_CONVERSATION"] for environ in agents.values()}
    assert len(names) == 1
    return names.pop()


def test_a_limit_parks_and_the_work_goes_on(box: Box) -> None:
    """Parked with kind and instants, `[~]` meanwhile, resumed in the same conversation, no retry used."""
    box.scripted("append log one\nwait 500ms\nlimit session_limit 2s\nwait 500ms\nappend log two\n")
    box.plan("- [ ] T-1: a\n  - retries: 0\n")
    going = box.start_run()
    before = conversation(box)
    parked = going.event("task_parked", "T-1")
    assert parked["kind"] == "session_limit"
    assert at(parked["wakes_at"]) >= at(parked["resets_at"])
    assert box.marks() == {"T-1": "~"}
    until(lambda: not box.agents(), "nothing idle in memory")
    resumed = going.event("task_resumed", "T-1")
    assert conversation(box) == before
    late = at(resumed["at"]) - at(parked["wakes_at"])
    assert timedelta(0) <= late < timedelta(seconds=1)
    done = going.end()
    assert done.code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"
    assert done.tasks("task_started") == ["T-1"]
    assert "<!--" not in box.text()


def test_the_margin_after_a_reset(box: Box) -> None:
    """By default the wake is five seconds after the reset."""
    box.scripted("limit session_limit 1h\n")
    box.config((box.root / "segue.toml").read_text().replace("wake_margin_s = 0\n", ""))
    box.plan("- [ ] T-1: a\n")
    parked = box.run("--no-wait").of("task_parked")[0]
    assert at(parked["wakes_at"]) - at(parked["resets_at"]) == timedelta(seconds=5)


def test_no_wait_ends_with_4_and_keeps_the_park(box: Box) -> None:
    """`--no-wait`: exit 4, `[~]`, listed as parked; status shows it; too early it stays so."""
    box.scripted("[T-1]\nappend log one\nlimit weekly_limit 1h\n[T-2]\nwrite two yes\n")
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n  - agent: shell\n  - run: echo yes > two\n")
    done = box.run("--no-wait")
    assert done.code == 4
    assert (done.finished["parked"], done.finished["exit"]) == (["T-1"], 4)
    assert box.marks() == {"T-1": "~", "T-2": "x"}
    plan = box.segue("status", "--json").json["plans"][0]
    assert plan["state"] == "parked"
    park = plan["parks"][0]
    assert {"task", "account", "kind", "wakes_at"} <= park.keys()
    assert (park["task"], park["kind"]) == ("T-1", "weekly_limit")
    assert at(park["wakes_at"]) == at(done.of("task_parked")[0]["wakes_at"])
    again = box.run("--no-wait")
    assert again.code == 4
    assert again.finished["parked"] == ["T-1"]
    assert box.marks()["T-1"] == "~"
    assert (box.root / "log").read_text() == "one\n", "the agent was not started too early"
    assert box.segue("resume", "--json").json["found"][0]["resumable"] is True


@pytest.mark.parametrize("death", ["kill", "power_cut"])
def test_a_park_survives_kill_9(box: Box, death: str) -> None:
    """Killed while parked: the next run keeps `[~]`, waits for the instant, and goes on once."""
    box.scripted(
        "append log one\nstep 1\nwait 400ms\nlimit session_limit 3s\nwait 400ms\nappend log two\n"
    )
    box.plan("- [ ] T-1: a\n  - steps:\n    - [ ] s\n    - [ ] t\n")
    going = box.start_run()
    before = conversation(box)
    parked = going.event("task_parked", "T-1")
    if death == "kill":
        going.kill()
    else:
        box.power_cut()
    assert "- [~] T-1" in box.text()
    again = box.start_run()
    again.event("started")
    resumed = again.event("task_resumed", "T-1")
    assert conversation(box) == before
    assert at(resumed["at"]) >= at(parked["wakes_at"])
    assert "    - [x] s\n    - [ ] t\n" in box.text(), "a park is no cut-off: steps stay"
    done = again.end()
    assert done.code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"
    assert box.left_behind() == {}


def test_a_park_whose_instant_passed_wakes_at_once(box: Box) -> None:
    """A run that starts after the instant goes on at once."""
    box.scripted("append log one\nlimit session_limit 1s\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    parked = box.run("--no-wait").of("task_parked")[0]
    until(lambda: datetime.now(UTC) > at(parked["wakes_at"]), "the instant")
    done = box.run("--no-wait")
    assert done.code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_a_limit_parks_the_account_not_the_others(box: Box) -> None:
    """While an account is parked nobody starts on it; an agent of another account does."""
    box.scripted("[T-1]\nlimit rate_limit 2s\nappend log one\n[T-2]\nappend log two\n")
    box.plan(f"- [ ] T-1: a\n- [ ] T-2: b\n- [ ] T-3: c\n  - agent: shell\n  - run: {box.note()}\n")
    done = box.run("--jobs", "1")
    assert done.code == 0
    wakes = at(done.of("task_parked", "T-1")[0]["wakes_at"])
    assert at(done.of("task_started", "T-2")[0]["at"]) >= wakes
    assert at(done.of("task_completed", "T-3")[0]["at"]) < wakes
    assert sorted((box.root / "log").read_text().split()) == ["one", "two"]


@pytest.mark.parametrize("kind", ["billing", "auth"])
def test_what_no_waiting_cures_is_put_to_a_person(box: Box, kind: str) -> None:
    """Billing and auth open a gate: exit 3, the task waits; the next run tries again."""
    box.scripted(f"append log one\nlimit {kind} 1s\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    done = box.run()
    assert done.code == 3
    assert done.of("gate_opened", "T-1")
    assert done.finished["waiting"] == ["T-1"]
    assert box.marks() == {"T-1": "~"}
    assert box.run().code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_the_leash_bounds_the_windows(box: Box) -> None:
    """`max_windows` used up: the task waits for a person, exit 3."""
    box.scripted(
        "limit session_limit 200ms\nlimit session_limit 200ms\nappend log end\n",
        "[leash]\nmax_windows = 1\n",
    )
    box.plan("- [ ] T-1: a\n")
    done = box.run()
    assert done.code == 3
    assert done.finished["waiting"] == ["T-1"]
    assert len(done.of("task_resumed")) == 1


def test_a_budget_that_is_used_up_opens_a_gate(box: Box) -> None:
    """What runs is not killed, nothing new starts, exit 3."""
    box.scripted("usage 1 1 30.0\nappend log $\n", "[leash]\nbudget_usd = 20.0\n")
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n")
    done = box.run("--jobs", "1")
    assert done.code == 3
    assert done.of("gate_opened")
    assert box.marks() == {"T-1": "x", "T-2": " "}


def test_ctrl_c_while_parked_keeps_the_park(box: Box) -> None:
    """Interrupted while parked: exit 130, still parked, goes on later in its conversation."""
    box.scripted("append log one\nlimit session_limit 2s\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    going = box.start_run()
    going.event("task_parked")
    going.process.terminate()
    assert going.end().code == 130
    assert box.marks() == {"T-1": "~"}
    assert box.segue("status", "--json").json["plans"][0]["parks"][0]["task"] == "T-1"
    assert box.run().code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"
