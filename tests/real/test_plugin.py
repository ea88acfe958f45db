"""The plugin in the real Claude Code: found sound, installed from its folder, and heard."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from kit import agents_here
from kit.agents_here import clean_env, headless
from segue.testing.models import FakeModels

PLUGIN = Path(__file__).parents[2] / "integrations" / "claude-code"
NOBODY = "http://127.0.0.1:9"
WAIT_S = 120.0


def run(argv: list[str], folder: Path, env: dict[str, str]) -> str:
    """What the program prints; it must end well."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        argv,
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def claude(folder: Path, *arguments: str) -> str:
    """One command of the program that asks no model."""
    argv = [str(agents_here.claude()), *arguments]
    return run(argv, folder, clean_env(folder, NOBODY, "claude"))


@pytest.mark.parametrize("manifest", ["plugin.json", "marketplace.json"])
def test_claude_finds_nothing_wrong(tmp_path: Path, manifest: str) -> None:
    """The program's own check has no error and no warning about the plugin or its texts."""
    path = PLUGIN / ".claude-plugin" / manifest
    told = json.loads(claude(tmp_path, "plugin", "validate", "--strict", "--json", str(path)))
    assert told["success"] is True
    reports = [told["manifest"], *told["contents"]]
    assert [report["errors"] + report["warnings"] for report in reports] == [[]] * len(reports)


def test_it_is_installed_from_its_folder(tmp_path: Path) -> None:
    """As the README says: the folder is added as a marketplace, and the plugin comes from it."""
    claude(tmp_path, "plugin", "marketplace", "add", str(PLUGIN))
    claude(tmp_path, "plugin", "install", "segue@segue")
    (plugin,) = json.loads(claude(tmp_path, "plugin", "list", "--json"))
    assert (plugin["id"], plugin["enabled"]) == ("segue@segue", True)


def test_a_command_tells_the_model_what_to_run(tmp_path: Path) -> None:
    """`/segue:resume --status` becomes the text of the command, with the arguments in it."""
    with FakeModels() as models:
        env = clean_env(tmp_path, models.lane("work"), "claude")
        argv = [*headless("claude", "/segue:resume --status"), "--plugin-dir", str(PLUGIN)]
        events = [json.loads(line) for line in run(argv, tmp_path, env).splitlines()]
        (asked,) = models.requests("work")
    (begun,) = [event for event in events if event.get("subtype") == "init"]
    commands = {"segue:resume", "segue:write-all", "segue:develop"}
    assert commands <= set(begun["slash_commands"])
    assert "segue:segue" in begun["skills"]
    assert "Run `segue resume --status`" in asked.prompts[-1]
