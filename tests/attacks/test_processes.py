"""An agent sees its own processes and no others, and stays one that can be paused and ended."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from pathlib import Path

from kit.attack import WITHIN, WITHOUT, Stranger, both_ways, needs_sandbox
from kit.command import SEGUE
from kit.processes import environs
from kit.waiting import until
from segue.drivers import processes


@both_ways
def test_other_processes_cannot_be_seen(stranger: Stranger, sandbox: str) -> None:
    """The environment of the process that started Segue may hold its keys."""
    script = f"""
cat /proc/{os.getpid()}/comm >> found
ls -d /proc/[0-9]* | wc -l >> found"""
    found = stranger.tries(script, sandbox).split()
    comm = Path(f"/proc/{os.getpid()}/comm").read_text().strip()
    assert (comm in found) is (sandbox == WITHOUT)
    if sandbox == WITHIN:
        assert int(found[-1]) < 10


@both_ways
def test_other_processes_cannot_be_ended(stranger: Stranger, sandbox: str) -> None:
    """An agent that kills its own parents cuts off its run; in the sandbox it has none."""
    script = "kill -9 $PPID; [ $PPID = 1 ] || sleep 60; echo alive > found"
    found = stranger.tries(script, sandbox)
    assert (found == "alive\n") is (sandbox == WITHIN)


@needs_sandbox
def test_a_detached_process_does_not_outlive_its_run(stranger: Stranger) -> None:
    """Whatever an agent leaves behind ends with its namespace."""
    stranger.tries("setsid sleep 1000 & echo started > found", WITHIN)
    assert stranger.found == "started\n"
    until(lambda: not stranger.box.agents(), "the end of all processes of the run")


@needs_sandbox
def test_a_sandboxed_agent_is_adopted_after_kill_9(stranger: Stranger) -> None:
    """Segue is killed; the agent works on in its sandbox, the next Segue follows it to its end,
    and it was started once."""
    box = stranger.box
    stranger.script.write_text(
        "#!/bin/sh\necho start >> found\nuntil [ -e go ]; do sleep 0.02; done\necho end >> found\n"
    )
    stranger.script.chmod(0o755)
    box.config(
        'agent = "stranger"\n[agents.stranger]\nkind = "command"\ncommand = ["./stranger.sh"]\n'
        'sandbox = "bwrap"\n'
    )
    box.plan("- [ ] **T-1**: Do it.\n")
    going = box.start_run()
    until(lambda: stranger.found == "start\n", "the agent's start")
    going.kill()
    assert box.agents()
    again = box.start_run()
    until(lambda: again.result.events, "a second Segue")
    (box.root / "go").touch()
    assert again.end().code == 0
    assert stranger.found == "start\nend\n"


@needs_sandbox
def test_a_sandboxed_agent_gets_its_grace_and_says_why_it_ended(stranger: Stranger) -> None:
    """A stop reaches the program inside, which puts its things in order, before all ends."""
    box = stranger.box
    stranger.script.write_text(
        "#!/bin/sh\ntrap 'sleep 0.3; echo in order >> found; exit 7' TERM\necho start >> found\n"
        "while :; do sleep 0.02; done\n"
    )
    stranger.script.chmod(0o755)
    box.config(
        'agent = "stranger"\n[agents.stranger]\nkind = "command"\ncommand = ["./stranger.sh"]\n'
        'sandbox = "bwrap"\n'
    )
    box.plan("- [ ] **T-1**: Do it.\n")
    going = box.start_run()
    until(lambda: stranger.found == "start\n", "the agent's start")
    going.send(signal.SIGINT)
    assert going.end().code == 130
    assert stranger.found == "start\nin order\n"
    assert not box.agents()


@needs_sandbox
def test_the_whole_tree_in_a_sandbox_stands_still(stranger: Stranger) -> None:
    """Stopping what is below a keeper stops every process of the namespace, and they continue."""
    box = stranger.box
    stranger.script.write_text(
        "#!/bin/sh\n(while :; do echo x >> ticks; sleep 0.01; done) &\n"
        "until [ -e go ]; do sleep 0.02; done\n"
    )
    stranger.script.chmod(0o755)
    box.config(
        'agent = "stranger"\n[agents.stranger]\nkind = "command"\ncommand = ["./stranger.sh"]\n'
        'sandbox = "bwrap"\n'
    )
    box.plan("- [ ] **T-1**: Do it.\n")
    going = box.start_run()
    ticks = box.root / "ticks"
    until(ticks.exists, "the agent's work")
    first = min(pid for pid in environs() if pid in box.agents())
    stat = processes.read_stat(first)
    assert stat is not None
    processes.stop_tree(stat.parent, root=False)
    states = [processes.read_stat(pid) for pid in box.agents()]
    assert {one.state for one in states if one is not None} <= {"T", "Z"}
    size = ticks.stat().st_size
    processes.continue_tree(stat.parent, root=False)
    until(lambda: ticks.stat().st_size > size, "the agent's work goes on")
    (box.root / "go").touch()
    assert going.end().code == 0


@needs_sandbox
def test_an_act_that_is_refused_in_the_sandbox_is_journalled(stranger: Stranger) -> None:
    """An agent in its sandbox cannot approve anything, whatever its environment says, and the
    person hears of it, once."""
    script = f"""
env -i PATH="$PATH" HOME="$HOME" {SEGUE} approve 1 >> found 2>&1
{SEGUE} skip T-1 >> found 2>&1
true"""
    stranger.tries(script, WITHIN)
    assert stranger.result.code == 0
    assert stranger.found.count("only a person may decide this") == 2
    with sqlite3.connect(stranger.database()) as tables:
        rows = tables.execute("SELECT data, actor FROM journal WHERE entity = 'refusal'").fetchall()
        notices = tables.execute("SELECT text FROM notices WHERE kind = 'refused'").fetchall()
    assert [json.loads(data)["tried"] for data, _actor in rows] == ["segue approve", "segue skip"]
    assert len(notices) == 1
