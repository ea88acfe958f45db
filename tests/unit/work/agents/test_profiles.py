"""How agents are started, and what they find in their environment."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from segue.core.plan import Task
from segue.dialects.script import Script
from segue.dialects.text import Text
from segue.engine.agent import Facts, Wanted
from segue.errors import UserError
from segue.work.agents import brands
from segue.work.agents import profiles as agents
from segue.work.agents.profiles import Profile, check_environment, passed_on, profile
from segue.work.settings.config import AgentSettings

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


def of_shell(**env: str) -> Profile:
    return profile(AgentSettings("a", "shell", env=env), Path("/"), SEGUES_OWN)


def found_in(agent: Profile) -> dict[str, str]:
    """All that the agent finds in its environment."""
    return agent.environment(FACTS, SEGUES_OWN, passed_on(SEGUES_OWN))


def argv(settings: AgentSettings, root: Path, environ: dict[str, str]) -> tuple[str, ...]:
    return profile(settings, root, environ).start(Wanted(TASK, "do it")).argv


def code_of(settings: AgentSettings, root: Path, environ: dict[str, str]) -> tuple[str, str, str]:
    with pytest.raises(UserError) as caught:
        profile(settings, root, environ)
    problem = caught.value.problem
    return problem.code, problem.message, problem.hint or ""


def test_an_agent_gets_only_what_it_needs_of_segues_environment() -> None:
    """Paths, language and proxies pass; keys, tokens and everything else does not."""
    assert found_in(of_shell()) == {
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


def test_an_agents_own_table_wins() -> None:
    """Its env wins over Segue's variables and over the facts of the run."""
    own = {"PATH": "/mine", "SEGUE_TASK": "mine", "NEW": "x", "EMPTY": ""}
    assert own.items() <= found_in(of_shell(**own)).items()


@pytest.mark.parametrize("written", ["$ANTHROPIC_API_KEY", "${ANTHROPIC_API_KEY}"])
def test_a_variable_of_segues_own_is_taken_by_its_name(written: str) -> None:
    """`$NAME` gives the agent that variable under the name of its choice."""
    agent = of_shell(KEY=written)
    check_environment(agent.settings, SEGUES_OWN)
    assert found_in(agent)["KEY"] == "secret-1"


@pytest.mark.parametrize("written", ["a$HOME", "$HOME/x", "costs $", "$", "$$HOME", "$(id)"])
def test_other_dollars_are_text(written: str) -> None:
    """Only a whole value that is a name is looked up; nothing is expanded within text."""
    assert found_in(of_shell(KEY=written))["KEY"] == written


def test_a_variable_that_is_not_set_is_told() -> None:
    """A name that Segue does not have is an error before anything starts."""
    settings = AgentSettings("mine", "shell", env={"KEY": "$NOT_SET"})
    agent = profile(settings, Path("/"), SEGUES_OWN)
    checks = (lambda: check_environment(settings, SEGUES_OWN), lambda: found_in(agent))
    for check in checks:
        with pytest.raises(UserError) as caught:
            check()
        problem = caught.value.problem
        assert problem.code == "bad_value"
        assert all(name in problem.message for name in ("mine", "KEY", "NOT_SET"))
        assert "NOT_SET" in (problem.hint or "")


def test_the_shell_agent_runs_the_tasks_own_command(tmp_path: Path) -> None:
    """The command goes to the shell as one argument; no prompt is read."""
    found = profile(AgentSettings("shell", "shell"), tmp_path, {})
    start = found.start(Wanted(TASK, "do it"))
    assert start.argv == ("/bin/sh", "-c", "make all")
    assert start.stdin is None
    assert found.needs_command
    assert found.brand is None
    assert isinstance(found.dialect("n"), Text)
    other = AgentSettings("shell", "shell", command=("bash", "-lc"))
    assert argv(other, tmp_path, {}) == ("bash", "-lc", "make all")


def test_the_script_agent_plays_its_scenario(tmp_path: Path) -> None:
    """The path is taken from the project's folder."""
    (tmp_path / "night.scenario").touch()
    settings = AgentSettings("script", "script", scenario="night.scenario")
    found = profile(settings, tmp_path, {})
    player = (sys.executable, "-P", "-m", "segue.testing.script", str(tmp_path / "night.scenario"))
    assert found.start(Wanted(TASK, "do it")).argv == player
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
    """The program is started by its full path, and gets its prompt on standard input."""
    path = program(tmp_path, kind)
    found = profile(AgentSettings(kind, kind), tmp_path, {"PATH": str(tmp_path)})
    start = found.start(Wanted(TASK, "do it"))
    assert start.argv[0] == str(path)
    assert b"do it" in (start.stdin or b"")
    assert found.brand is not None
    assert found.brand.name == kind
    assert not found.needs_command


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini", "opencode"])
def test_a_missing_known_agent_is_told_with_how_to_install_it(tmp_path: Path, kind: str) -> None:
    """The program's name and the command that installs it."""
    program(tmp_path, kind, 0o644)  # not executable: as good as missing
    code, message, hint = code_of(AgentSettings("x", kind), tmp_path, {"PATH": str(tmp_path)})
    assert code == "agent_missing"
    assert kind in message
    assert brands.brand(kind).install in hint


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
    assert argv(settings, tmp_path, {}) == (str(path), "--x")
    settings = AgentSettings("mine", "command", command=(str(path),))
    assert argv(settings, Path("/"), {}) == (str(path),)
    settings = AgentSettings("mine", "command", command=("./missing",))
    assert code_of(settings, tmp_path, {})[0] == "agent_missing"


@pytest.mark.parametrize("written", ["{folder}", "$AGENT_PATH"])
def test_a_program_is_looked_for_on_the_agents_own_path(tmp_path: Path, written: str) -> None:
    """An agent whose env sets PATH is found there, taken from Segue's own variables, too."""
    path = program(tmp_path, "my-agent")
    env = {"PATH": written.format(folder=tmp_path)}
    settings = AgentSettings("mine", "command", command=("my-agent",), env=env)
    environ = {"PATH": "/nowhere", "AGENT_PATH": str(tmp_path)}
    assert argv(settings, tmp_path, environ) == (str(path),)


@pytest.mark.parametrize("kind", brands.BRANDS)
def test_a_known_agent_by_another_command_keeps_its_options(tmp_path: Path, kind: str) -> None:
    """A wrapper in the place of the program gets the same options behind it."""
    program(tmp_path, kind)
    path = program(tmp_path, "wrap")
    environ = {"PATH": str(tmp_path)}
    bare = argv(AgentSettings(kind, kind), tmp_path, environ)
    wrapped = argv(AgentSettings(kind, kind, command=("wrap", kind)), tmp_path, environ)
    assert wrapped == (str(path), kind, *bare[1:])


def test_a_command_agent_gets_its_prompt_on_standard_input(tmp_path: Path) -> None:
    """One-shot: the prompt, then the end of its input."""
    program(tmp_path, "mine")
    settings = AgentSettings("mine", "command", command=("./mine",))
    start = profile(settings, tmp_path, {}).start(Wanted(TASK, "do it — 지금"))
    assert start.stdin == "do it — 지금".encode()
    assert not start.is_interactive


# --- what each brand gets of Segue's own environment ------------------------------------------

SECRETS = {
    "claude": (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        "DISABLE_TELEMETRY",
    ),
    "codex": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    "opencode": ("OPENCODE_CONFIG",),
}
NOBODYS = {
    "AWS_SECRET_ACCESS_KEY": "x",
    "GITHUB_TOKEN": "x",
    "SEGUE_TOKEN": "x",
    "MY_ANTHROPIC_API_KEY": "x",
    "LD_PRELOAD": "x",
    "PYTHONPATH": "x",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SSE_PORT": "1234",
    "CODEX_SANDBOX": "seatbelt",
    "CODEX_SANDBOX_NETWORK_DISABLED": "1",
}
ALL = {**NOBODYS, **{name: f"{kind}'s" for kind, names in SECRETS.items() for name in names}}
SHARED_BY_DESIGN = {"opencode": {name for name in ALL if re.fullmatch("[A-Z]+_API_KEY", name)}}


@pytest.mark.parametrize("kind", brands.BRANDS)
def test_a_brand_gets_its_own_secrets_and_no_others(tmp_path: Path, kind: str) -> None:
    """Each program finds what it logs in with; what belongs to another one stays with Segue.

    opencode speaks to the models of many houses, so it gets their keys, and nothing else of them.
    """
    program(tmp_path, kind)
    environ = {**ALL, "PATH": str(tmp_path)}
    agent = profile(AgentSettings(kind, kind), tmp_path, environ)
    found = agent.environment(FACTS, environ, passed_on(environ))
    own = set(SECRETS[kind]) | SHARED_BY_DESIGN.get(kind, set())
    assert {name for name in found if name in ALL} == own


@pytest.mark.parametrize("kind", ["shell", "command"])
def test_an_agent_without_a_brand_gets_no_ones_secrets(tmp_path: Path, kind: str) -> None:
    """A program of one's own asks for what it needs in its `env` table."""
    program(tmp_path, "mine")
    settings = AgentSettings("mine", kind, command=("./mine",))
    agent = profile(settings, tmp_path, ALL)
    assert not set(agent.environment(FACTS, ALL, passed_on(ALL))) & set(ALL)


def test_an_agents_own_table_wins_over_what_its_brand_takes(tmp_path: Path) -> None:
    """A key of its own replaces Segue's."""
    program(tmp_path, "claude")
    environ = {"PATH": str(tmp_path), "ANTHROPIC_API_KEY": "segue's"}
    settings = AgentSettings("claude", "claude", env={"ANTHROPIC_API_KEY": "its own"})
    agent = profile(settings, tmp_path, environ)
    assert agent.environment(FACTS, environ, {})["ANTHROPIC_API_KEY"] == "its own"


# --- Segue's own tools ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "mcp", "is_installed", "has_tools"),
    [
        ("claude", True, True, True),
        ("claude", False, True, False),
        ("claude", True, False, False),
        ("gemini", True, True, False),
        ("shell", True, True, False),
    ],
)
def test_tools_are_for_a_brand_that_takes_them_where_they_are_wanted_and_installed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    mcp: bool,
    is_installed: bool,
    has_tools: bool,
) -> None:
    """An agent without them reports by text instead."""
    program(tmp_path, kind)
    monkeypatch.setattr(agents, "has_mcp", lambda: is_installed)
    agent = profile(AgentSettings(kind, kind, mcp=mcp), tmp_path, {"PATH": str(tmp_path)})
    assert agent.has_tools is has_tools


def test_tools_get_the_facts_of_the_run_and_are_left_out_without_them(tmp_path: Path) -> None:
    """The server of the tools knows for whom it speaks; without that it is not started."""
    program(tmp_path, "claude")
    agent = profile(AgentSettings("claude", "claude"), tmp_path, {"PATH": str(tmp_path)})
    with_tools = agent.start(Wanted(TASK, "do it", None, {"SEGUE_RUN": "run-1"}))
    server = json.loads(with_tools.argv[with_tools.argv.index("--mcp-config") + 1])
    assert server["mcpServers"]["segue"] == {
        "command": sys.executable,
        "args": ["-P", "-m", "segue", "mcp"],  # whatever lies in the folder it is started in
        "env": {"SEGUE_RUN": "run-1"},
    }
    assert "--mcp-config" not in agent.start(Wanted(TASK, "do it")).argv
