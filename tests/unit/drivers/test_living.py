"""Agents that are found by their environment alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from segue.drivers import living


@contextmanager
def started(**facts: str) -> Iterator[int]:
    """A process with these variables, and a child that inherits them."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 60 & echo up; wait"],
        env={"PATH": os.environ["PATH"], **facts},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
    finally:
        os.killpg(process.pid, 9)
        process.communicate()


def test_a_run_is_found_once_by_its_first_process() -> None:
    """Its children have the same environment and are not further agents; nobody keeps this one."""
    with started(SEGUE_PROJECT="/nowhere/1", SEGUE_RUN="T-1-1-ab", SEGUE_TASK="T-1") as pid:
        (agent,) = living.living_agents("/nowhere/1")
        assert (agent.process[0], agent.run, agent.says("SEGUE_TASK")) == (pid, "T-1-1-ab", "T-1")
        assert agent.says("SEGUE_PLAN") == ""
        assert agent.keeper is None
        assert living.keeper_of("T-1-1-ab") is None
        assert living.living_agents("/nowhere") == []


def test_what_cannot_be_a_run_is_not_taken_for_one() -> None:
    """A run's name becomes part of file names: whatever else stands there is passed over."""
    for name in ("../../x", "", ".hidden", "a/b", "x" * 200):
        with started(SEGUE_PROJECT="/nowhere/2", SEGUE_RUN=name):
            assert living.living_agents("/nowhere/2") == []
