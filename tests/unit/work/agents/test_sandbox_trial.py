"""What the sandbox of an agent really keeps, found out by trying."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.attack import needs_sandbox
from segue.work.agents.sandbox_trial import Trial, trial
from segue.work.project import Project
from segue.work.settings.config import AgentSettings

ALL = ("secrets", "writes", "processes", "network")


def tried(tmp: Path, **more: object) -> Trial:
    for name in ("home", "project"):
        (tmp / name).mkdir(exist_ok=True)
    settings = AgentSettings("mine", "command", ("/bin/true",), **more)  # type: ignore[arg-type]
    environ = {"HOME": str(tmp / "home"), "PATH": "/usr/bin:/bin"}
    found = trial(settings, Project(tmp / "project"), environ)
    left = [path for path in tmp.rglob("*doctor*") if path.is_file()]
    assert left == [], "a trial leaves nothing"
    return found


def test_without_the_sandbox_nothing_holds(tmp_path: Path) -> None:
    found = tried(tmp_path, sandbox="none", network="none")
    assert (found.is_active, found.mode) == (False, "none")
    assert found.holds == dict.fromkeys(ALL, False)


@needs_sandbox
@pytest.mark.parametrize("network", ["none", ("a.example",), ("localhost",)])
def test_in_the_sandbox_everything_holds(tmp_path: Path, network: str | tuple[str, ...]) -> None:
    """Also where this machine is named: then it is reached through the proxy alone."""
    found = tried(tmp_path, sandbox="bwrap", network=network)
    assert found.is_active
    assert found.holds == dict.fromkeys(ALL, True)


@needs_sandbox
def test_a_full_network_is_no_promise(tmp_path: Path) -> None:
    assert tried(tmp_path).holds == {**dict.fromkeys(ALL, True), "network": None}


def test_a_promise_that_cannot_be_kept_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from segue.drivers import sandbox
    from segue.drivers.sandbox import Bubblewrap

    monkeypatch.setattr(sandbox, "bubblewrap", lambda: Bubblewrap(why_not="no namespaces here"))
    found = tried(tmp_path, sandbox="bwrap")
    assert not found.is_active
    assert "no namespaces here" in found.why
    assert found.to_json()["active"] is False
