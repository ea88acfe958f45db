"""`segue serve`: limits park a task and it goes on by itself; pause, resume, cancel stop the tree."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kit.processes import all_gone, all_running, all_stopped, state_of
from kit.serve import GOOD, TREE, House
from kit.waiting import stays, until

BUSY = "case $n in 1) {first} ;; *) {good} ;; esac\n"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def error(message: str, kind: str = "recoverable", recovery: str = "pause_and_retry") -> str:
    return f"block ERROR <<END\ntype: {kind}\nmessage: {message}\nrecovery: {recovery}\nEND\n"


def test_a_reported_limit_pauses_and_goes_on_by_itself(house: House) -> None:
    """`[ERROR]` with pause_and_retry: paused, checkpoint, and at its time the same conversation."""
    first = error("429, try again in 3 seconds")
    house.hand("a", 'date +%s.%N >> "$out/at"\n' + BUSY.format(first=first, good=GOOD))
    server = house.serve()
    task = server.new()
    paused = server.agent_is(task, "paused")
    assert paused["blockedBy"] is None or "limit" in str(paused["blockedBy"])
    assert server.task(task)["status"] == "in_progress"
    until(lambda: server.items(f"/tasks/{task}/checkpoints"), "its checkpoint")
    assert task in str(server.get("/limits").ok()), "the park is shown"
    server.reaches(task, "review")
    assert house.starts(task) == 2
    began, again = (float(at) for at in house.lines(task, "at"))
    assert again - began >= 3, "not before its time"
    assert again - began < 60, "and not long after it"
    one, two = (line.split() for line in house.lines(task, "started"))
    assert (two[0], two[1]) == ("1", one[1])
    assert server.path(task, "agent")[1:4] == ["running", "paused", "running"]


def test_a_command_that_ends_with_a_banner_is_parked(house: House) -> None:
    """A non-zero end below a real banner: parked until the banner's time, then resumed once."""
    banner = "Error: rate limit exceeded, please try again in 4 seconds"
    house.hand(
        "a", 'date +%s.%N >> "$out/at"\n' + BUSY.format(first=f'echo "{banner}"; exit 1', good=GOOD)
    )
    server = house.serve()
    task = server.new()
    agent = server.agent_is(task, "paused")
    assert agent["status"] == "paused"
    server.reaches(task, "review")
    assert house.starts(task) == 2
    began, again = (float(at) for at in house.lines(task, "at"))
    assert 4 <= again - began < 60


def test_a_session_limit_banner_with_a_clock_time(house: House) -> None:
    """`You've hit your 5-hour limit · resets …`: parked with its kind and instant, shown in the API."""
    reset = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(minutes=90)
    words = f"You've hit your 5-hour limit · resets {reset.strftime('%-I:%M%p').lower()} (UTC)"
    house.hand("a", f'echo "{words}"\nexit 1\n')
    server = house.serve(env={"TZ": "UTC"})
    task = server.new()
    server.agent_is(task, "paused")
    limits = server.get("/limits").ok()
    assert "session_limit" in str(limits) and task in str(limits)
    assert reset.strftime("%Y-%m-%dT%H:%M") in str(limits), limits
    assert house.starts(task) == 1
    server.do(task, "cancel")
    server.reaches(task, "failed")
    assert task not in str(server.get("/limits").ok()["parks"]), "a cancelled task is not woken"


LIMITS = {
    "error": error("429, try again in 4 seconds"),
    "banner": 'echo "Error: rate limit exceeded, please try again in 4 seconds"; exit 1',
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_parks_the_whole_account(house: House, limit: str) -> None:
    """Others of the same account do not start into the limit; another account works on."""
    house.hand("a", BUSY.format(first=LIMITS[limit], good=GOOD), 'account = "x"')
    house.hand("b", f'date +%s.%N >> "$out/at"\n{GOOD}', 'account = "x"')
    house.hand("c", GOOD, 'account = "y"')
    server = house.serve()
    first = server.new("a")
    server.agent_is(first, "paused")
    limited = time.time()
    same, other = server.new("b"), server.new("c")
    server.reaches(other, "review")
    server.reaches(same, "review")
    server.reaches(first, "review")
    assert float(house.lines(same, "at")[0]) - limited > 1.5, "it waited for the reset"


def test_limits_use_up_no_retry(house: House) -> None:
    """Six limits in a row: still not failed, and each wake is one start."""
    house.hand("a", f"if [ $n -le 6 ]; then {error('429, try again in 1 second')} else {GOOD} fi\n")
    server = house.serve()
    task = server.new()
    server.reaches(task, "review")
    assert house.starts(task) == 7


def test_a_told_error_does_not_stop_the_agent(house: House) -> None:
    """`recovery: notify_user`: the agent goes on; what it told is in the log of its task."""
    house.hand("a", error("a small thing", "recoverable", "notify_user") + GOOD)
    server = house.serve()
    task = server.new()
    server.reaches(task, "review")
    assert house.starts(task) == 1


def test_a_crash_is_no_success(house: House) -> None:
    """A command that always ends with an error and no marker fails with its last words."""
    house.hand("a", 'echo "Segmentation fault in module seven" >&2\nexit 139\n')
    server = house.serve()
    task = server.new()
    failed = server.reaches(task, "failed")
    assert "module seven" in str(failed["error"]) or "139" in str(failed["error"])
    assert house.starts(task) <= 4


def test_a_program_that_is_not_there_fails_in_words(house: House) -> None:
    """No such program: failed, and the reason names it."""
    house.tables.append('[agents.ghost]\nkind = "command"\ncommand = ["./no-such-program"]\n')
    server = house.serve()
    task = server.new("ghost")
    failed = server.reaches(task, "failed")
    assert "no-such-program" in str(failed["error"])


# --- by hand


def test_pause_stops_the_whole_tree_and_resume_continues_it(house: House) -> None:
    """A live agent with a grandchild in a session of its own: state T in all; then all run again."""
    house.live("a", TREE + "note up\nhold go\n" + GOOD + "listen\n")
    server = house.serve()
    task = server.new()
    pids = house.tree(task)
    assert "pause" in server.task(task)["allowedActions"]
    server.do(task, "pause")
    assert server.agent_is(task, "paused")
    until(lambda: all_stopped(pids), "all are stopped")
    assert server.task(task)["status"] == "in_progress"
    assert "resume" in server.task(task)["allowedActions"]
    until(lambda: server.items(f"/tasks/{task}/checkpoints"), "a checkpoint")
    server.post(f"/tasks/{task}/pause").problem(409)
    server.do(task, "resume")
    server.agent_is(task, "running")
    until(lambda: all_running(pids), "all run again")
    server.post(f"/tasks/{task}/resume").problem(409)
    house.release("go")
    server.reaches(task, "review")
    assert house.starts(task) == 1
    server.approve(task).ok()
    server.reaches(task, "completed")
    until(lambda: all_gone(pids), "no child survives")


def test_a_one_shot_agent_is_paused_and_goes_on_where_it_was(house: House) -> None:
    """Paused in mid-work: it does not work on; resumed: its work is done once."""
    house.hand("a", TREE + "hold go\nnote worked\n" + GOOD)
    server = house.serve()
    task = server.new()
    pids = house.tree(task)
    server.do(task, "pause")
    server.agent_is(task, "paused")
    until(lambda: all_stopped(pids) or all_gone(pids), "it stands still")
    house.release("go")
    stays(lambda: house.lines(task, "notes") == [], "nothing is done in a pause")
    server.do(task, "resume")
    server.reaches(task, "review")
    assert house.lines(task, "notes") == ["worked"]


@pytest.mark.parametrize("paused", [False, True])
def test_cancel_ends_the_whole_tree(house: House, paused: bool) -> None:
    """SIGTERM to all, then SIGKILL; also to grandchildren that ignore it, also when they are stopped."""
    house.live("a", "trap '' TERM\n" + TREE + "hold never\n")
    server = house.serve()
    task = server.new()
    pids = house.tree(task)
    if paused:
        server.do(task, "pause")
        until(lambda: all_stopped(pids), "all are stopped")
    server.do(task, "cancel")
    server.reaches(task, "failed")
    until(lambda: all_gone(pids), "no child survives")
    until(lambda: not house.agents(), "nothing of it is left")


def test_the_tree_is_gone_when_a_one_shot_agent_leaves_children(house: House) -> None:
    """A command that ends with its marker and leaves a daemon behind: the daemon does not survive."""
    house.hand("a", TREE + GOOD)
    server = house.serve()
    task = server.new()
    pids = house.tree(task)
    server.reaches(task, "review")
    until(lambda: all(state_of(pid) in ("", "Z", "X", "T", "t") for pid in pids), "none works on")
    server.approve(task).ok()
    server.reaches(task, "completed")
    until(lambda: all_gone(pids), "no child survives")


def test_a_pause_by_hand_wins_over_a_limit(house: House) -> None:
    """Paused at a limit, then paused by a person (where allowed): it does not wake by itself."""
    house.hand("a", BUSY.format(first=error("429, try again in 2 seconds"), good=GOOD))
    server = house.serve()
    task = server.new()
    server.agent_is(task, "paused")
    answer = server.post(f"/tasks/{task}/pause")
    if answer.status == 409:
        server.reaches(task, "review")
        assert house.starts(task) == 2
    else:
        stays(lambda: house.starts(task) == 1, "it stays", 3.5)
        server.do(task, "resume")
        server.reaches(task, "review")


def test_resume_by_hand_ends_a_limits_wait(house: House) -> None:
    """A person who knows better resumes a task that waits for an hour: once, at once."""
    house.hand("a", BUSY.format(first=error("429, try again in 1 hour"), good=GOOD))
    server = house.serve()
    task = server.new()
    server.agent_is(task, "paused")
    assert "resume" in server.task(task)["allowedActions"]
    server.do(task, "resume")
    server.reaches(task, "review")
    assert house.starts(task) == 2
