"""Ctrl-C and SIGTERM: the agents end with their whole trees, the place is kept."""

from __future__ import annotations

import signal

import pytest

from kit.box import Box
from kit.terminal import Terminal
from kit.waiting import until

TREE = "(setsid sh -c 'sleep 300' > /dev/null 2>&1 &); sh -c 'sleep 301; true' & sleep 302"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_agents_and_keeps_the_place(box: Box, number: signal.Signals) -> None:
    """Exit 130, marks `[~]`, no process of any agent left; the next run starts them again."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.note()}\n"
        f"- [ ] T-2: b\n  - run: {box.note()}; test -e go || {{ {TREE}; }}\n"
        f"- [ ] T-3: c\n  - run: {box.note()}; test -e go || {{ {TREE}; }}\n"
    )
    going = box.start_run("--jobs", "3")
    going.event("task_completed", "T-1")
    until(lambda: len(box.agents()) >= 8, "both trees up")
    going.send(number)
    done = going.end()
    assert done.code == 130
    assert box.left_behind() == {}
    assert box.marks() == {"T-1": "x", "T-2": "~", "T-3": "~"}
    assert done.finished["exit"] == 130
    (box.root / "go").touch()
    assert box.run("--jobs", "3").code == 0
    assert sorted(box.notes()) == ["T-1", "T-2", "T-2", "T-3", "T-3"]


def test_an_interrupt_uses_up_no_retry(box: Box) -> None:
    """An interrupted task has all its tries afterwards, and no error comment."""
    box.plan(f"- [ ] T-1: a\n  - retries: 0\n  - run: {box.hold('go')}\n")
    going = box.start_run()
    going.event("task_started", "T-1")
    going.send(signal.SIGINT)
    assert going.end().code == 130
    assert "<!--" not in box.text()
    box.release("go")
    assert box.run().code == 0


def test_an_agent_that_ignores_signals_is_ended_all_the_same(box: Box) -> None:
    """Deaf agents are killed after a moment."""
    box.plan(
        f"- [ ] T-1: a\n  - run: trap '' INT TERM HUP; {box.note()}; while true; do sleep 0.1; done\n"
    )
    going = box.start_run()
    until(box.notes, "the agent up")
    going.send(signal.SIGINT)
    assert going.end().code == 130
    assert box.left_behind() == {}
    assert box.marks() == {"T-1": "~"}


def test_a_second_ctrl_c_ends_at_once(box: Box) -> None:
    """On a terminal the second Ctrl-C does not wait for deaf agents, and leaves none behind."""
    box.plan(
        f"- [ ] T-1: a\n  - run: trap '' INT TERM HUP; {box.note()}; while true; do sleep 0.1; done\n"
    )
    terminal = Terminal(box, "run", "PLAN.md")
    until(box.notes, "the agent up")
    terminal.type("\x03")
    terminal.expect("Stopping")  # two that come together are one signal
    terminal.type("\x03")
    assert terminal.end().code == 130
    until(lambda: not box.left_behind(), "everything gone")
    assert box.marks() == {"T-1": "~"}


def test_ctrl_c_on_a_terminal(box: Box) -> None:
    """Ctrl-C at the keyboard: exit 130, the agent gone, a word about how to go on."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.note()}; sleep 300\n")
    terminal = Terminal(box, "run", "PLAN.md")
    until(box.notes, "the agent up")
    terminal.type("\x03")
    done = terminal.end()
    assert done.code == 130
    assert "segue run PLAN.md" in done.out
    assert box.left_behind() == {}
    assert box.marks() == {"T-1": "~"}


def test_an_interrupt_while_a_check_runs(box: Box) -> None:
    """The check is ended too, and the task is not called failed."""
    box.plan(
        f"- [ ] T-1: a\n  - run: true\n  - verify: {box.note('v', 'v')}; test -e go || sleep 300\n"
    )
    going = box.start_run()
    until(lambda: box.notes("v"), "the check up")
    going.send(signal.SIGTERM)
    assert going.end().code == 130
    assert box.left_behind() == {}
    assert box.marks() == {"T-1": "~"}
    (box.root / "go").touch()
    assert box.run().code == 0


def test_an_interrupt_between_tries_keeps_the_count(box: Box) -> None:
    """A failed try before the interrupt is not forgotten in the plan's comment."""
    box.plan(
        f"- [ ] T-1: a\n  - retries: 1\n  - run: {box.note('t', '$SEGUE_ATTEMPT')};"
        f" test $SEGUE_ATTEMPT = 2 && {box.hold('go')}; false\n"
    )
    going = box.start_run()
    until(lambda: box.notes("t") == ["1", "2"], "the second try")
    going.send(signal.SIGINT)
    assert going.end().code == 130
    assert "<!-- retries: 1/1 -->" in box.text()
    assert "<!-- previous error: exit code 1 -->" in box.text()


def test_a_hangup_of_the_terminal_is_an_interrupt(box: Box) -> None:
    """A closed terminal (SIGHUP) leaves no agent running unseen and keeps the place."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.note()}; sleep 300\n")
    going = box.start_run()
    until(box.notes, "the agent up")
    going.send(signal.SIGHUP)
    going.end()
    assert box.marks() == {"T-1": "~"}
    done = box.start_run()
    until(lambda: len(box.agents()) > 0, "an agent")
    done.send(signal.SIGINT)
    assert done.end().code == 130
    assert box.left_behind() == {}
