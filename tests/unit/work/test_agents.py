"""How agents are started, and what they find in their environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from segue.core.plan import Task
from segue.dialects.script import Script
from segue.dialects.text import Text
from segue.errors import UserError
from segue.work import agents
from segue.work.agents import Facts, check_environment, environment, passed_on, profile
from segue.work.config import AgentSettings

FACTS = Facts("T-1", "run-1", 2, "talk-1", "/project", "n0nce")
TASK = Task("T-1", "Build", run="make all")
SEGUES_OWN = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LC_ALL": "ko_KR.UTF-8",
    "LANG": "C",
    "TZ": "Asia/Seoul",
    "https_proxy": "http://proxy",
    "HTTPS_PROXY": "http://proxy",
    "ANTHROPIC_API_KEY": "secret-1",
    "AWS_SECRET_ACCESS_KEY": "secret-2",
    "SEGUE_TOKEN": "secret-3",
    "SEGUE_KEY": "secret-4",
    "SEGUE_TASK": "of an outer run",
    "SEGUE_RESUME": "1",
    "PYTHONPATH": "/x",
    "LD_PRELOAD": "/x.so",
    "MY_PATH": "/y",
    "PATHS": "/z",
}


def program(folder: Path, name: str, mode: int = 0o755) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def code_of(settings: AgentSettings, root: Path, environ: dict[str, str]) -> tuple[str, str, str]:
    with pytest.raises(UserError) as caught:
        profile(settings, root, environ)
    problem = caught.value.problem
    return problem.code, problem.message, problem.hint or ""


def test_an_agent_gets_only_what_it_needs_of_segues_environment() -> None:
    """Paths, language and proxies pass; keys, tokens and everything else does not."""
    found = environment(AgentSettings("a", "shell"), FACTS, SEGUES_OWN, passed_on(SEGUES_OWN))
    assert found == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LC_ALL": "ko_KR.UTF-8",
        "LANG": "C",
        "TZ": "Asia/Seoul",
        "https_proxy": "http://proxy",
        "HTTPS_PROXY": "http://proxy",
        "SEGUE_TASK": "T-1",
        "SEGUE_RUN": "run-1",
        "SEGUE_ATTEMPT": "2",
        "SEGUE_CONVERSATION": "talk-1",
        "SEGUE_PROJECT": "/project",
        "SEGUE_NONCE": "n0nce",
    }


def test_a_resumed_run_is_told_so() -> None:
    """SEGUE_RESUME says that a conversation goes on, and only then."""
    resumed = Facts("T-1", "run-2", 2, "talk-1", "/project", "n0nce", is_resumed=True)
    assert resumed.environment()["SEGUE_RESUME"] == "1"
    assert "SEGUE_RESUME" not in FACTS.environment()


def test_an_agents_own_table_wins() -> None:
    """Its env wins over Segue's variables and over the facts of the run."""
    own = {"PATH": "/mine", "SEGUE_TASK": "mine", "NEW": "x", "EMPTY": ""}
    found = environment(
        AgentSettings("a", "shell", env=own), FACTS, SEGUES_OWN, passed_on(SEGUES_OWN)
    )
    assert own.items() <= found.items()


@pytest.mark.parametrize("written", ["$ANTHROPIC_API_KEY", "${ANTHROPIC_API_KEY}"])
def test_a_variable_of_segues_own_is_taken_by_its_name(written: str) -> None:
    """`$NAME` gives the agent that variable under the name of its choice."""
    settings = AgentSettings("a", "shell", env={"KEY": written})
    check_environment(settings, SEGUES_OWN)
    assert environment(settings, FACTS, SEGUES_OWN, passed_on(SEGUES_OWN))["KEY"] == "secret-1"


@pytest.mark.parametrize("written", ["a$HOME", "$HOME/x", "costs $", "$", "$$HOME", "$(id)"])
def test_other_dollars_are_text(written: str) -> None:
    """Only a whole value that is a name is looked up; nothing is expanded within text."""
    settings = AgentSettings("a", "shell", env={"KEY": written})
    assert environment(settings, FACTS, SEGUES_OWN, passed_on(SEGUES_OWN))["KEY"] == written


def test_a_variable_that_is_not_set_is_told() -> None:
    """A name that Segue does not have is an error before anything starts."""
    settings = AgentSettings("mine", "shell", env={"KEY": "$NOT_SET"})
    for check in (check_environment, lambda s, e: environment(s, FACTS, e, {})):
        with pytest.raises(UserError) as caught:
            check(settings, SEGUES_OWN)
        problem = caught.value.problem
        assert problem.code == "bad_value"
        assert all(name in problem.message for name in ("mine", "KEY", "NOT_SET"))
        assert "NOT_SET" in (problem.hint or "")


def test_the_shell_agent_runs_the_tasks_own_command(tmp_path: Path) -> None:
    """The command goes to the shell as one argument; no prompt is read."""
    found = profile(AgentSettings("shell", "shell"), tmp_path, {})
    assert found.argv(TASK) == ("/bin/sh", "-c", "make all")
    assert found.needs_command
    assert not found.takes_prompt
    assert isinstance(found.dialect("n"), Text)
    other = AgentSettings("shell", "shell", command=("bash", "-lc"))
    assert profile(other, tmp_path, {}).argv(TASK) == ("bash", "-lc", "make all")


def test_the_script_agent_plays_its_scenario(tmp_path: Path) -> None:
    """The path is taken from the project's folder."""
    (tmp_path / "night.scenario").touch()
    settings = AgentSettings("script", "script", scenario="night.scenario")
    found = profile(settings, tmp_path, {})
    player = (sys.executable, "-m", "segue.testing.script", str(tmp_path / "night.scenario"))
    assert found.argv(TASK) == player
    assert not found.needs_command
    assert isinstance(found.dialect("n"), Script)


@pytest.mark.parametrize("scenario", [None, "missing.scenario", "."])
def test_a_scenario_that_is_not_there_is_told(tmp_path: Path, scenario: str | None) -> None:
    """No scenario, a missing one or a folder is an error with what to write."""
    code, _message, hint = code_of(AgentSettings("s", "script", scenario=scenario), tmp_path, {})
    assert code == "bad_value"
    assert hint


def test_a_wrong_scenario_is_told_before_the_start(tmp_path: Path) -> None:
    """Its wrong line is named before anything runs."""
    (tmp_path / "night.scenario").write_text("say x\nsya y\n")
    with pytest.raises(UserError) as caught:
        profile(AgentSettings("s", "script", scenario="night.scenario"), tmp_path, {})
    problem = caught.value.problem
    assert (problem.code, problem.line) == ("bad_scenario", 2)
    assert problem.file == str(tmp_path / "night.scenario")


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini", "opencode"])
def test_a_known_agent_is_found_on_the_path(tmp_path: Path, kind: str) -> None:
    """The program is started by its full path, with the options it needs for plain text."""
    path = program(tmp_path, kind)
    found = profile(AgentSettings(kind, kind), tmp_path, {"PATH": str(tmp_path)})
    assert found.argv(TASK)[0] == str(path)
    assert found.takes_prompt
    assert not found.needs_command


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini", "opencode"])
def test_a_missing_known_agent_is_told_with_how_to_install_it(tmp_path: Path, kind: str) -> None:
    """The program's name and the command that installs it."""
    program(tmp_path, kind, 0o644)  # not executable: as good as missing
    code, message, hint = code_of(AgentSettings("x", kind), tmp_path, {"PATH": str(tmp_path)})
    assert code == "agent_missing"
    assert kind in message
    assert agents.INSTALL[kind] in hint


def test_a_missing_program_of_ones_own_is_told(tmp_path: Path) -> None:
    """There is no install command to offer; the settings are named."""
    settings = AgentSettings("mine", "command", command=("no-such-program", "x"))
    code, message, hint = code_of(settings, tmp_path, {"PATH": str(tmp_path)})
    assert code == "agent_missing"
    assert "no-such-program" in message
    assert "segue.toml" in hint


def test_a_program_with_a_path_is_taken_from_the_project(tmp_path: Path) -> None:
    """`./agent` is beside segue.toml, whatever the PATH says."""
    path = program(tmp_path, "agent")
    settings = AgentSettings("mine", "command", command=("./agent", "--x"))
    assert profile(settings, tmp_path, {}).argv(TASK) == (str(path), "--x")
    settings = AgentSettings("mine", "command", command=(str(path),))
    assert profile(settings, Path("/"), {}).argv(TASK) == (str(path),)
    settings = AgentSettings("mine", "command", command=("./missing",))
    assert code_of(settings, tmp_path, {})[0] == "agent_missing"


@pytest.mark.parametrize("written", ["{folder}", "$AGENT_PATH"])
def test_a_program_is_looked_for_on_the_agents_own_path(tmp_path: Path, written: str) -> None:
    """An agent whose env sets PATH is found there, taken from Segue's own variables, too."""
    path = program(tmp_path, "my-agent")
    env = {"PATH": written.format(folder=tmp_path)}
    settings = AgentSettings("mine", "command", command=("my-agent",), env=env)
    environ = {"PATH": "/nowhere", "AGENT_PATH": str(tmp_path)}
    assert profile(settings, tmp_path, environ).argv(TASK) == (str(path),)


def test_a_known_agent_by_another_command_keeps_its_options(tmp_path: Path) -> None:
    """A wrapper in the place of the program gets the same options behind it."""
    path = program(tmp_path, "wrap")
    settings = AgentSettings("claude", "claude", command=("wrap", "claude"))
    found = profile(settings, tmp_path, {"PATH": str(tmp_path)}).argv(TASK)
    assert found[:2] == (str(path), "claude")
    assert found[2:] == agents.TEXT_MODE["claude"][1:]
