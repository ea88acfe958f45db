"""`segue doctor`: what is here, who is logged in, and never a secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.attack import needs_sandbox
from segue.cli.main import main
from segue.work.agents import brands

SECRET = "sk-do-not-show-me"


class Machine:
    """A home, a project and a folder with programs."""

    def __init__(self, tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.project, self.bin = tmp / "home", tmp / "project", tmp / "bin"
        for folder in (self.home, self.project, self.bin):
            folder.mkdir()
        self._patch = monkeypatch
        for name in ("SEGUE_LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE", "XDG_CONFIG_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        self.env(HOME=str(self.home), PATH=str(self.bin), LANG="C.UTF-8")
        monkeypatch.chdir(self.project)

    def env(self, **variables: str) -> None:
        for name, value in variables.items():
            self._patch.setenv(name, value)

    def program(self, name: str, script: str = "echo 1.2.3", folder: Path | None = None) -> Path:
        path = (folder or self.bin) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def settings(self, text: str) -> None:
        (self.project / "segue.toml").write_text(text)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def told(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(("doctor", *args))
    assert caught.value.code == 0
    return capsys.readouterr().out


def agent(capsys: pytest.CaptureFixture[str], name: str) -> dict[str, Any]:
    """What is told of one agent."""
    found: list[dict[str, Any]] = json.loads(told(capsys, "--json"))["agents"]
    return next(one for one in found if one["name"] == name)


def test_every_agent_of_the_settings_is_told_of(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Built-in ones, brands that are missing, and those of one's own."""
    machine.program("mine")
    machine.settings('[agents.mine]\nkind = "command"\ncommand = ["mine"]\n')
    found = {one["name"]: one for one in json.loads(told(capsys, "--json"))["agents"]}
    assert set(found) >= {"shell", "script", *brands.BRANDS, "mine"}
    assert found["mine"]["found"] == str(machine.bin / "mine")
    for name in brands.BRANDS:
        assert found[name]["found"] is None
        assert found[name]["version"] is None
        assert found[name]["logged_in"] is None, "of one that is not here nothing is claimed"
        assert found[name]["install"] == brands.brand(name).install


def test_a_program_that_is_here_is_told_with_its_version_and_what_it_can_do(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line that it says to `--version`."""
    path = machine.program("claude", 'echo; echo "$1 2.1.0 (Claude Code)"; echo more')
    found = agent(capsys, "claude")
    assert found["found"] == str(path)
    assert found["version"] == "--version 2.1.0 (Claude Code)"
    assert found["can"] == list(brands.brand("claude").can)


@pytest.mark.parametrize("script", ["exit 3", "kill -9 $$", "printf '\\377\\376\\n'"])
def test_a_program_that_cannot_tell_its_version_is_here_all_the_same(
    machine: Machine, capsys: pytest.CaptureFixture[str], script: str
) -> None:
    """Whatever it does when it is asked."""
    path = machine.program("codex", script)
    assert agent(capsys, "codex")["found"] == str(path)


def test_a_login_is_told_by_where_it_comes_from_and_never_by_its_value(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in words nor in JSON, from the environment or from the settings."""
    machine.program("claude")
    machine.program("gemini")
    machine.env(ANTHROPIC_API_KEY=SECRET)
    machine.settings(f'[agents.gemini]\nenv = {{ GEMINI_API_KEY = "{SECRET}" }}\n')
    found = agent(capsys, "claude")
    assert (found["logged_in"], found["login"]) == (True, "ANTHROPIC_API_KEY")
    assert agent(capsys, "gemini")["login"] == "GEMINI_API_KEY"
    for args in ((), ("--json",)):
        assert SECRET not in told(capsys, *args)
    assert "logged in by ANTHROPIC_API_KEY" in told(capsys)


def test_three_answers_about_a_login(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    """In, out, and not to be known without asking it."""
    for name in ("claude", "codex"):
        machine.program(name)
    (machine.home / ".claude").mkdir()
    (machine.home / ".claude" / ".credentials.json").write_text("{}")
    words = told(capsys)
    assert f"logged in by {machine.home}/.claude/.credentials.json" in words
    assert "not logged in" in words
    (machine.home / ".claude" / ".credentials.json").unlink()
    assert "login: unknown" in told(capsys)


def test_the_home_of_an_agents_own_table_is_looked_into(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent with a home of its own is logged in there, not in the user's."""
    machine.program("claude")
    other = tmp_path / "other"
    (other / ".claude").mkdir(parents=True)
    machine.settings(f'[agents.claude]\nenv = {{ HOME = "{other}" }}\n')
    assert agent(capsys, "claude")["logged_in"] is None
    (other / ".claude" / ".credentials.json").write_text("{}")
    assert agent(capsys, "claude")["logged_in"] is True


def test_a_key_that_is_taken_from_a_variable_that_is_not_set_is_no_login(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a run would refuse is not told to be fine."""
    machine.program("claude")
    machine.settings('[agents.claude]\nenv = { ANTHROPIC_API_KEY = "$WORK_KEY" }\n')
    assert agent(capsys, "claude")["logged_in"] is not True
    machine.env(WORK_KEY=SECRET)
    assert agent(capsys, "claude")["logged_in"] is True


def test_a_program_on_the_agents_own_path_is_found(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The doctor finds what a run would start."""
    path = machine.program("claude", folder=tmp_path / "tools")
    machine.settings(f'[agents.claude]\nenv = {{ PATH = "{tmp_path / "tools"}:/usr/bin:/bin" }}\n')
    assert agent(capsys, "claude")["found"] == str(path)


def test_codex_is_asked_for_its_version_past_its_script(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program that a run would start is the one that is asked."""
    package = tmp_path / "lib" / "@openai" / "codex"
    (package / "bin").mkdir(parents=True)
    script = machine.program("codex.js", "echo script", package / "bin")
    vendor = package / "vendor" / "x" / "codex"
    vendor.mkdir(parents=True)
    machine.program("codex", "echo native 0.1", vendor)
    (machine.bin / "codex").symlink_to(script)
    assert agent(capsys, "codex")["version"] == "native 0.1"


def test_a_missing_program_is_told_with_how_to_get_it(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """In words: the cross, and the command that installs it."""
    words = told(capsys)
    for name in brands.BRANDS:
        assert brands.brand(name).install in words
    assert "not found" in words


def test_the_hosts_of_panes_are_looked_for(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """`segue watch` needs one of them: with its version, or how to get it."""
    machine.program("tmux", 'test "$1" = -V && echo tmux 3.4')
    tools = {tool["name"]: tool for tool in json.loads(told(capsys, "--json"))["tools"]}
    assert tools["tmux"]["version"] == "tmux 3.4"
    assert tools["wezterm"]["found"] is None
    assert "wezterm" in tools["wezterm"]["install"]
    assert "segue watch" in told(capsys)


def test_broken_settings_are_told_and_the_rest_is_looked_at(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """With file, line and cure; who looks for a fault gets an answer, not an end."""
    machine.settings("jobs = 0\n")
    text = told(capsys)
    assert "segue.toml:1: `jobs` cannot be 0" in text
    assert "shell" in text
    [problem] = json.loads(told(capsys, "--json"))["problems"]
    assert (problem["code"], problem["line"]) == ("bad_value", 1)


def test_the_sandbox_of_each_agent_is_tried(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without one, `doctor` says what does not hold: it has just done it."""
    machine.settings('[agents.shell]\nsandbox = "none"\nnetwork = "none"\n')
    tried = agent(capsys, "shell")["sandbox"]
    assert tried == {
        "mode": "none",
        "active": False,
        "why": None,
        "network": "none",
        "holds": {"secrets": False, "writes": False, "processes": False, "network": False},
    }
    assert "✘ keys and Segue's state are readable" in told(capsys)


@needs_sandbox
def test_a_sandbox_that_works_is_told_with_what_it_keeps(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.settings('[agents.shell]\nsandbox = "bwrap"\nnetwork = ["a.example"]\n')
    tried = agent(capsys, "shell")["sandbox"]
    assert tried["active"] is True
    assert set(tried["holds"].values()) == {True}
    said = told(capsys)
    assert "sandbox: on (bwrap), network: a.example" in said
    assert "✔ only allowed hosts are reachable" in said
