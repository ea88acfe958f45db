"""`segue rehearse --real`: what users can try themselves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kit.agents_here import PROGRAMS

SEGUE = Path(sys.executable).with_name("segue")


def rehearse(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    return subprocess.run(
        [SEGUE, "rehearse", *args], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("kind", ["claude", "codex"])
def test_everything_holds_with_the_real_program(tmp_path: Path, kind: str) -> None:
    """Five scenes, each looked at; nothing is left behind, and nothing of the user's is touched."""
    command = json.dumps([str(PROGRAMS[kind]())])
    (tmp_path / "segue.toml").write_text(f"[agents.{kind}]\ncommand = {command}\n")
    done = rehearse(tmp_path, "--real", kind, "--json")
    told = json.loads(done.stdout)
    assert [(scene["name"], scene["wrong"]) for scene in told["scenes"]] == [
        (name, None) for name in ("three_tasks", "segue_killed", "agent_killed", "limit", "login")
    ]
    assert done.returncode == 0
    assert told["folder"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["segue.toml"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--real", "shell"), "model"),
        (("--real", "nobody"), "nobody"),
        (("--real", "claude"), "npm install"),
        ((), "--real"),
    ],
)
def test_who_cannot_be_rehearsed_is_told(tmp_path: Path, args: tuple[str, ...], words: str) -> None:
    """No such agent, none with a model, none installed: exit 2 with what to do."""
    done = rehearse(tmp_path, *args)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_program_that_holds_nothing_is_told(tmp_path: Path) -> None:
    """A stand-in that only fails: each scene says what did not hold, and the folder is kept."""
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho nonsense\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "segue.toml").write_text('[agents.claude]\ncommand = ["./broken"]\n')
    done = rehearse(tmp_path, "--real", "claude", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert all(scene["wrong"] for scene in told["scenes"])
    assert Path(told["folder"]).is_dir()
