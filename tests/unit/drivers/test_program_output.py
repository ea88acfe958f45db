"""Another program is asked once."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from kit.processes import environs
from kit.waiting import until
from segue import i18n
from segue.drivers.panes import HostGoneError, PaneSilentError
from segue.drivers.program_output import ProgramOutput, run


@pytest.fixture
def env() -> dict[str, str]:
    i18n.use("en")
    return {"PATH": os.environ["PATH"]}


def sh(script: str, env: dict[str, str], **more: object) -> ProgramOutput:
    return asyncio.run(run(["/bin/sh", "-c", script], env, **more))  # type: ignore[arg-type]


def test_its_answer_is_all_that_it_printed(env: dict[str, str]) -> None:
    """With its exit code; what it was given stands on its input."""
    assert sh("cat; echo bad >&2; exit 3", env, stdin="한\n") == ProgramOutput(3, "한\n", "bad\n")


def test_what_is_not_utf8_is_shown_all_the_same(env: dict[str, str]) -> None:
    """As a sign that something was there."""
    assert sh("printf '\\377'", env).out == "\ufffd"


def test_it_has_this_environment_and_no_other(env: dict[str, str]) -> None:
    """Nothing of ours goes along."""
    assert "HOME=" not in sh("env", env).out
    assert "KEY=1\n" in sh("env", {**env, "KEY": "1"}).out


@pytest.mark.parametrize("mode", [None, 0o644])
def test_a_program_that_is_not_there_is_told_by_its_name(
    tmp_path: Path, env: dict[str, str], mode: int | None
) -> None:
    """Missing, or not to be started."""
    program = tmp_path / "wezterm"
    if mode is not None:
        program.write_text("#!/bin/sh\n")
        program.chmod(mode)
    with pytest.raises(HostGoneError, match=r"^wezterm is not installed$"):
        asyncio.run(run([str(program)], env))


def test_a_program_that_does_not_end_is_killed(env: dict[str, str]) -> None:
    """Its silence is told, and nothing of it lives on."""
    mine = {**env, "SEGUE_TEST": f"once-{os.getpid()}"}
    with pytest.raises(PaneSilentError, match=r"^sh does not respond$"):
        sh("exec sleep 1000", mine, within_s=0.2)
    until(lambda: not [e for e in environs().values() if e.get("SEGUE_TEST") == mine["SEGUE_TEST"]])
