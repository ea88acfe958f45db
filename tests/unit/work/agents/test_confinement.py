"""Whether an agent runs in the sandbox, and what it may touch there."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.drivers import sandbox
from segue.drivers.sandbox import Bubblewrap, Mount
from segue.errors import UserError
from segue.work.agents import brands, confinement
from segue.work.settings.config import AgentSettings, CheckSettings, built_in, parse

WORKS, BROKEN = Bubblewrap("/usr/bin/bwrap"), Bubblewrap(why_not="no namespaces here")
PLACES = {"": ("segue.toml", 1), "sandbox": ("segue.toml", 3), "network": ("segue.toml", 4)}
HOME = {"HOME": "/home/kim"}


@pytest.fixture(autouse=True)
def works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: WORKS)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: BROKEN)


def agent(**more: object) -> AgentSettings:
    return AgentSettings("mine", "command", ("agent",), places=PLACES, **more)  # type: ignore[arg-type]


def is_on(settings: AgentSettings, environ: dict[str, str] = HOME, root: str = "/p") -> bool:
    return confinement.access(settings, None, Path(root), environ, {}) is not None


def test_the_table_decides_then_the_variable_then_auto() -> None:
    said = {**HOME, "SEGUE_SANDBOX": "none"}
    assert is_on(agent())
    assert not is_on(agent(), said)
    assert is_on(agent(sandbox="bwrap"), said)
    assert not is_on(agent(sandbox="none"))


def test_the_variable_of_a_run_says_nothing() -> None:
    """An agent that starts Segue with it does not get out of the sandbox by it."""
    assert is_on(agent(), {**HOME, "SEGUE_SANDBOX": "none", "SEGUE_RUN": "T-1-1"})


def test_a_variable_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(UserError, match="SEGUE_SANDBOX"):
        is_on(agent(), {**HOME, "SEGUE_SANDBOX": "maybe"})


@pytest.mark.usefixtures("broken")
def test_auto_goes_without_a_sandbox_that_does_not_work() -> None:
    assert not is_on(agent())


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"sandbox": "bwrap"}, 3),
        ({"network": "none"}, 4),
        ({"network": ("a.example",)}, 4),
    ],
)
def test_what_cannot_be_kept_fails_closed(more: dict[str, object], line: int) -> None:
    """`bwrap`, and a network that is not full, are promises."""
    with pytest.raises(UserError, match="no namespaces here") as caught:
        is_on(agent(**more))
    (problem,) = caught.value.problems
    assert (problem.code, problem.file, problem.line) == ("no_sandbox", "segue.toml", line)


def test_the_home_as_project_has_no_sandbox() -> None:
    assert not is_on(agent(), root="/home/kim")
    with pytest.raises(UserError, match="home folder"):
        is_on(agent(sandbox="bwrap"), root="/home/kim")


def test_checks_run_as_their_agent_where_their_table_is_silent() -> None:
    def checks(settings: AgentSettings) -> object:
        found = confinement.check_access(settings, Path("/p"), HOME, {})
        return found and found.network

    assert checks(agent(network="full")) == "none"
    assert checks(agent(sandbox="none")) is None
    assert checks(agent(sandbox="none", checks=CheckSettings("bwrap", "full"))) == "full"
    assert checks(agent(checks=CheckSettings("none"))) is None


@pytest.mark.usefixtures("broken")
def test_checks_without_a_sandbox_need_no_network_rule() -> None:
    """Only one that was written is a promise."""
    assert confinement.check_access(agent(), Path("/p"), HOME, {}) is None
    written = CheckSettings(places={"network": ("segue.toml", 9)})
    with pytest.raises(UserError):
        confinement.check_access(agent(checks=written), Path("/p"), HOME, {})


def test_paths_of_the_settings_and_of_the_command_are_visible(tmp_path: Path) -> None:
    (tmp_path / "agent.py").touch()
    settings = agent(readable=("~/.m2",), writable=("/srv/cache",))
    settings = AgentSettings(
        "mine", "command", ("python3", "agent.py"), readable=settings.readable,
        writable=settings.writable,
    )  # fmt: skip
    found = confinement.access(settings, None, tmp_path, HOME, {})
    assert found is not None
    assert found.mounts == {
        Path("/home/kim/.m2"): Mount.READ,
        Path("/srv/cache"): Mount.WRITE,
        tmp_path / "agent.py": Mount.READ,
    }


@pytest.mark.parametrize(
    ("kind", "own", "written"),
    [
        ("claude", {}, ("/home/kim/.claude", "/home/kim/.claude.json")),
        ("claude", {"CLAUDE_CONFIG_DIR": "/c"}, ("/c",)),
        ("codex", {}, ("/home/kim/.codex",)),
        ("codex", {"CODEX_HOME": "/c"}, ("/c",)),
        ("gemini", {}, ("/home/kim/.gemini",)),
        (
            "opencode",
            {"XDG_CACHE_HOME": "/c"},
            ("/home/kim/.local/share/opencode", "/home/kim/.local/state/opencode", "/c/opencode"),
        ),
    ],
)
def test_each_brand_writes_its_own_state(
    kind: str, own: dict[str, str], written: tuple[str, ...]
) -> None:
    settings = built_in().agents[kind]
    found = confinement.access(settings, brands.brand(kind), Path("/p"), HOME, own)
    assert found is not None
    writes = [str(path) for path, how in found.mounts.items() if how is Mount.WRITE]
    assert writes == list(written)
    assert all(str(path) in written for path in found.folders)
    assert any(how is Mount.READ for how in found.mounts.values())


def test_the_settings_of_checks_reach_every_agent() -> None:
    text = '[checks]\nnetwork = ["localhost"]\n[agents.mine]\nkind = "command"\ncommand = ["x"]\n'
    config = parse(text, Path("segue.toml"), built_in())
    assert {one.checks.network for one in config.agents.values()} == {("localhost",)}
