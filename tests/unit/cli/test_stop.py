"""`segue stop`: who is ended, and who is not there."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from kit.shell import Shell
from segue.cli import stop


def test_without_any_work_it_says_so(segue: Shell) -> None:
    error = segue.refused("stop")
    assert (error["code"], "segue status" in error["hint"]) == ("no_work", True)


def test_it_waits_until_the_process_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    stop._end(process.pid)
    assert process.wait() == -signal.SIGTERM


def test_one_that_is_gone_already_is_no_error() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    stop._end(process.pid)


@pytest.mark.usefixtures("alone")
def test_an_agent_may_not_stop_anything(segue: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_RUN", "T-1-1")
    assert segue("stop").code != 0
