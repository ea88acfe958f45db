"""`segue serve` dies in every state and starts again: it goes on by itself, exactly once."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.processes import all_gone, all_stopped
from kit.serve import GOOD, NEEDS, QUESTION, TREE, TWO, House
from kit.server import Server
from kit.waiting import stays, until

LIMIT = 'echo "Error: rate limit exceeded, please try again in 4 seconds"; exit 1'


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


Death = Callable[[House, Server], Server]


def killed(house: House, server: Server) -> Server:
    """The server alone dies; what it started lives on."""
    server.kill()
    return house.serve()


def power_cut(house: House, server: Server) -> Server:
    """Everything dies at once, as at a reboot."""
    house.power_cut()
    return house.serve()


def ended(house: House, server: Server) -> Server:
    """SIGTERM: an end in order."""
    assert server.stop() == 0
    return house.serve()


deaths = pytest.mark.parametrize("death", [killed, power_cut, ended])


def finish(house: House, server: Server, task: str, starts: int) -> None:
    """Approve what is reviewed; completed, with so many starts in all, and nothing left."""
    server.approve(task).ok()
    server.reaches(task, "completed")
    assert house.starts(task) == starts
    assert server.path(task).count("completed") == 1
    until(lambda: not house.agents(), "no process is left")


@deaths
def test_in_a_review(house: House, death: Death) -> None:
    """The review is still there, is decided once, and the work is not done again."""
    house.hand("a", TWO)
    server = house.serve()
    task = server.new(kind="two")
    review = server.review(task)
    server = death(house, server)
    assert server.review(task) == review
    assert server.agent(task)["status"] == "waiting_review"
    server.post(f"/reviews/{review}/approve").ok()
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    finish(house, server, task, 2)


@deaths
def test_in_a_question(house: House, death: Death) -> None:
    """The question is still open under its id; its answer arrives once."""
    house.hand("a", f"case $n in 1) {QUESTION} ;; *) {GOOD} ;; esac\n")
    server = house.serve()
    task = server.new()
    gate = server.waiting("questions", task)["id"]
    server = death(house, server)
    assert server.waiting("questions", task)["id"] == gate
    stays(lambda: house.starts(task) == 1, "it waits")
    server.answer(task, "PostgreSQL").ok()
    finish(house, server, task, 2)
    assert "PostgreSQL" in house.heard(task, 2)


@deaths
def test_in_a_dependency(house: House, death: Death) -> None:
    """The request is still open; what is provided is in the environment of the one new start."""
    house.hand("a", f'note "${{STRIPE_KEY:-none}}"\ncase $n in 1) {NEEDS} ;; *) {GOOD} ;; esac\n')
    server = house.serve()
    task = server.new()
    gate = server.waiting("dependencies", task)["id"]
    server = death(house, server)
    assert server.waiting("dependencies", task)["id"] == gate
    server.provide(task, "the-key").ok()
    finish(house, server, task, 2)
    assert house.lines(task, "notes") == ["none", "the-key"]


@deaths
def test_in_a_pause_by_hand(house: House, death: Death) -> None:
    """A task paused by a person stays paused over a restart; resumed, it goes on."""
    house.hand("a", "hold go\nnote worked\n" + GOOD)
    server = house.serve()
    task = server.new()
    until(lambda: house.starts(task) == 1, "its start")
    server.do(task, "pause")
    server.agent_is(task, "paused")
    server = death(house, server)
    house.release("go")
    assert server.agent(task)["status"] == "paused"
    stays(lambda: house.lines(task, "notes") == [], "it stays paused")
    server.do(task, "resume")
    server.approve(task).ok()
    server.reaches(task, "completed")
    assert house.lines(task, "notes") == ["worked"]


@deaths
def test_in_a_limits_wait(house: House, death: Death) -> None:
    """It wakes by itself at its instant, once, in its conversation."""
    house.hand("a", f'date +%s.%N >> "$out/at"\ncase $n in 1) {LIMIT} ;; *) {GOOD} ;; esac\n')
    server = house.serve()
    task = server.new()
    server.agent_is(task, "paused")
    server = death(house, server)
    finish(house, server, task, 2)
    first, second = (float(at) for at in house.lines(task, "at"))
    assert second - first >= 4
    one, two = (line.split() for line in house.lines(task, "started"))
    assert (two[0], two[1]) == ("1", one[1])


def test_past_a_limits_end(house: House) -> None:
    """The instant passed while nobody was there: it wakes at once, not an hour later."""
    house.hand("a", f"case $n in 1) {LIMIT} ;; *) {GOOD} ;; esac\n")
    server = house.serve()
    task = server.new()
    server.agent_is(task, "paused")
    server.kill()
    time.sleep(4.2)  # it is this time that passes
    server = house.serve()
    finish(house, server, task, 2)


@deaths
def test_while_pending(house: House, death: Death) -> None:
    """The queue is kept with its order; each starts once."""
    house.hand("a", f"echo $SEGUE_TASK >> {house.out}/order\nhold go\n" + GOOD)
    server = house.serve("--slots", "1")
    first = server.new()
    until(lambda: house.starts(first) == 1, "its start")
    low, high = server.new(priority=1), server.new(priority=5)
    if death is killed:
        server.kill()
        server = house.serve("--slots", "1")
    else:
        server = death(house, server)
    assert server.task(low)["status"] in ("pending", "in_progress")
    house.release("go")
    for task in (first, low, high):
        server.reaches(task, "review")
    assert house.starts(low) == 1 and house.starts(high) == 1
    if death is killed:
        assert house.notes("order") == [first, high, low]


def test_while_running_the_agent_is_adopted(house: House) -> None:
    """kill -9 of the server alone: the agent works on, its output is read, it is not started again."""
    house.hand("a", "echo before\nhold go\necho behind\n" + GOOD)
    server = house.serve()
    task = server.new()
    until(lambda: "before" in server.log(task), "its first words")
    for _round in range(2):
        server.kill()
        server = house.serve()
        server.agent_is(task, "running")
        assert house.starts(task) == 1
    house.release("go")
    finish(house, server, task, 1)
    log = server.log(task)
    assert log.count("before") == 1 and log.count("behind") == 1


def test_what_ended_meanwhile_is_taken_in(house: House) -> None:
    """The agent completes its phase while no server runs: the review is there at the next start."""
    house.hand("a", "hold go\n" + GOOD)
    server = house.serve()
    task = server.new()
    until(lambda: house.starts(task) == 1, "its start")
    server.kill()
    house.release("go")
    until(lambda: not house.agents(), "it ended alone")
    server = house.serve()
    finish(house, server, task, 1)


def test_a_question_asked_meanwhile_is_taken_in(house: House) -> None:
    """Asked while no server runs: open at the next start; answered once."""
    house.hand("a", f"case $n in 1) hold go; {QUESTION} ;; *) {GOOD} ;; esac\n")
    server = house.serve()
    task = server.new()
    until(lambda: house.starts(task) == 1, "its start")
    server.kill()
    house.release("go")
    until(lambda: not house.agents(), "it ended alone")
    server = house.serve()
    server.answer(task, "SQLite").ok()
    finish(house, server, task, 2)


@pytest.mark.parametrize("death", [power_cut, ended])
def test_a_running_agent_goes_on_after_a_reboot(house: House, death: Death) -> None:
    """Its process is gone: its conversation is resumed by itself, once."""
    house.hand("a", f"case $n in 1) touch {house.out}/up; hold never ;; *) {GOOD} ;; esac\n")
    server = house.serve()
    task = server.new()
    until((house.out / "up").exists, "its start")
    server = death(house, server)
    if death is ended and house.starts(task) == 1 and server.agent(task)["status"] == "running":
        house.release("never")  # it was left for the next start, and lives
        until(lambda: house.starts(task) == 2, "the reminder")
    server.reaches(task, "review")
    finish(house, server, task, 2)
    started = [line.split() for line in house.lines(task, "started")]
    assert started[1][0] == "1" and started[0][1] == started[1][1]
    if death is power_cut:
        told = house.heard(task, 2)
        assert "interrupted" in told and "may contain unfinished edits" in told, told


@deaths
def test_while_verifying(house: House, death: Death) -> None:
    """A verification that was cut off is made again or adopted; the work itself is not."""
    house.kind("checked", ["one.md"],
               more=f'verify = "touch {house.out}/verifying; until [ -e {house.out}/go ]; do sleep 0.02; done"')  # fmt: skip
    house.hand("a", GOOD)
    server = house.serve()
    task = server.new(kind="checked")
    until((house.out / "verifying").exists, "the verification")
    server = death(house, server)
    house.release("go")
    finish(house, server, task, 1)


@pytest.mark.parametrize("death", [killed, power_cut])
def test_while_a_reviewer_judges(house: House, death: Death) -> None:
    """The separate run is adopted or made again; the work is not done again."""
    house.kind("judged", ["one.md"], more='reviewer = "judge"')
    house.hand("a", f"echo x >> {house.out}/worked\n" + GOOD)
    house.hand("judge", f'touch {house.out}/judging; hold go; echo "VERDICT: PASS"\n')
    server = house.serve()
    task = server.new(kind="judged")
    until((house.out / "judging").exists, "the reviewer")
    server = death(house, server)
    house.release("go")
    server.approve(task).ok()
    server.reaches(task, "completed")
    assert house.notes("worked") == ["x"]
    until(lambda: not house.agents(), "no process is left")


def test_a_live_agent_is_found_again_where_it_was_stopped(house: House) -> None:
    """Stopped at its question, the server dies: it is still the same process that gets the answer."""
    house.live(
        "a", f"{TREE}case $n in 1) {QUESTION} listen; {GOOD} listen ;; *) {GOOD} listen ;; esac\n"
    )
    server = house.serve()
    task = server.new()
    server.waiting("questions", task)
    pids = house.tree(task)
    until(lambda: all_stopped(pids), "all are stopped")
    server.kill()
    stays(lambda: all_stopped(pids), "they stay stopped without a server")
    server = house.serve()
    server.answer(task, "SQLite").ok()
    server.reaches(task, "review")
    heard = house.heard(task)
    assert heard.count('"question_answer"') <= 1 and heard.count("SQLite") >= 1
    server.approve(task).ok()
    server.reaches(task, "completed")
    until(lambda: all_gone(pids) and not house.agents(), "no child survives")
    assert house.starts(task) in (1, 2)


def test_an_answer_and_then_death_at_once(house: House) -> None:
    """Killed right behind the 200: the answer was taken, is delivered once, and cannot be given again."""
    house.hand("a", f"case $n in 1) {QUESTION} ;; *) {GOOD} ;; esac\n")
    server = house.serve()
    task = server.new()
    gate = server.waiting("questions", task)["id"]
    server.post(f"/questions/{gate}/answer", {"answer": "SQLite"}).ok()
    server.kill()
    server = house.serve()
    server.post(f"/questions/{gate}/answer", {"answer": "PostgreSQL"}).problem(409)
    server.reaches(task, "review")
    told = [house.heard(task, number) for number in range(2, house.starts(task) + 1)]
    assert all("PostgreSQL" not in text.split("How to report")[0] for text in told)
    assert "SQLite" in told[0]
    finish(house, server, task, 2)


@pytest.mark.parametrize("act", ["approve", "create", "cancel"])
def test_what_was_answered_with_success_is_kept(house: House, act: str) -> None:
    """kill -9 right behind the answer: what the client was told is true after the restart."""
    house.hand("a", TWO if act == "approve" else "hold never\n")
    server = house.serve()
    task = server.new(kind="two")
    if act == "approve":
        server.approve(task).ok()
    elif act == "cancel":
        server.agent_is(task, "running")
        server.do(task, "cancel")
    server.kill()
    server = house.serve()
    if act == "approve":
        until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
        server.approve(task).ok()
        server.reaches(task, "completed")
        assert house.starts(task) == 2
    elif act == "cancel":
        server.reaches(task, "failed")
        until(lambda: not house.agents(), "its agent is gone")
    else:
        server.agent_is(task, "running")
        until(lambda: house.starts(task) == 1, "started once")
        stays(lambda: house.starts(task) == 1, "once")


def test_sigterm_ends_in_order(house: House) -> None:
    """Exit 0, promptly, also with an open event stream and a task at work."""
    house.hand("a", "hold go\n" + GOOD)
    server = house.serve()
    task = server.new()
    server.agent_is(task, "running")
    with server.stream():
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 40
    assert "Traceback" not in server.going.result.said
    house.release("go")
    server = house.serve()
    server.reaches(task, "review")


def test_a_second_server_is_refused(house: House) -> None:
    """One folder, one server: the second ends with 2 and says why; the first works on."""
    house.hand("a", GOOD)
    server = house.serve()
    second = house.segue("serve", "--port", "0", "--json")
    assert second.code == 2
    assert second.json["error"]["message"], second.out
    plain = house.segue("serve", "--port", "0")
    assert plain.code == 2 and "serve" in plain.said.lower() and not plain.out.startswith("{")
    task = server.new()
    server.reaches(task, "review")


def test_a_workspace_deleted_under_it(house: House) -> None:
    """While it is in review its folder is deleted: approval, changes and restart say so in words."""
    house.hand("a", TWO)
    server = house.serve()
    task = server.new(kind="two")
    review = server.review(task)
    shutil.rmtree(server.task(task)["workspace"])
    answer = server.post(f"/reviews/{review}/approve")
    assert answer.status in (200, 409), answer
    if answer.status == 200:
        now = until(lambda: (t := server.task(task))["status"] in ("failed", "review", "completed")
                    and t["updatedAt"] and t, "it is told")  # fmt: skip
        assert now["status"] != "failed" or now["error"]
    assert server.raw("GET", "/health").status == 200
    other = server.new()
    server.reaches(other, "review")


def test_a_workspace_deleted_while_the_agent_works(house: House) -> None:
    """The agent's phase cannot be there: it fails in words, and the server lives."""
    house.hand("a", "case $n in 1) hold go ;; esac\nphase 1\n")
    server = house.serve()
    task = server.new()
    until(lambda: house.starts(task) == 1, "its start")
    shutil.rmtree(server.task(task)["workspace"])
    house.release("go")
    failed = server.reaches(task, "failed")
    assert failed["error"] and "Traceback" not in failed["error"]
    assert server.raw("GET", "/health").status == 200


def test_noise_does_not_stop_the_server(house: House) -> None:
    """A line of 10 MB, binary noise and zero bytes: logged, bounded, the marker behind it counts."""
    house.hand("a", """
head -c 10000000 /dev/zero | tr '\\0' 'x'; echo
head -c 300000 /dev/urandom; echo
printf '\\000\\377\\376\\033[2J\\033]0;title\\007\\n'
echo '~~~'; echo '~~~'
""" + GOOD)  # fmt: skip
    server = house.serve()
    task = server.new()
    server.reaches(task, "review")
    assert house.starts(task) == 1
    log = server.get(f"/tasks/{task}/log")
    assert log.status in (200, 206)
    assert len(server.get(f"/tasks/{task}").body) < 20_000


def test_many_deaths_in_one_life(house: House) -> None:
    """Killed at seven moments of a two-phase task: completed once, each part done once."""
    house.hand("a", f"""sleep 0.3
case $n in 1) note one; {QUESTION} ;; 2) note two; write one.md "The first part, whole."; phase 1 ;;
*) note three; write two.md "The second part, whole."; phase 2 ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new(kind="two")
    for pause_s in (0.05, 0.4, 0.2):
        time.sleep(pause_s)
        server.kill()
        server = house.serve()
    server.answer(task, "SQLite").ok()
    for pause_s in (0.02, 0.3):
        time.sleep(pause_s)
        server.kill()
        server = house.serve()
    server.approve(task).ok()
    for pause_s in (0.02, 0.3):
        time.sleep(pause_s)
        server.kill()
        server = house.serve()
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    finish(house, server, task, 3)
    assert house.lines(task, "notes") == ["one", "two", "three"]
