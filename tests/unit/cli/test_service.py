"""`segue service` with a stand-in systemctl: what is written, what is asked of systemd, and when."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.client import leave_place, running
from segue import i18n
from segue.cli import main as cli
from segue.cli.service import Service, command

# Knows the calls that are meant, and fails loudly at any other.
STAND_IN = """\
#!{python}
import json, os, pathlib, sys
here = pathlib.Path({here!r})
name, args = os.path.basename(sys.argv[0]), sys.argv[1:]
with open(here / "calls", "a") as file:
    file.write(json.dumps([name, *args]) + "\\n")
state = here / "state"
told = json.loads(state.read_text()) if state.exists() else {{}}
if name == "loginctl":
    assert args[0] == "show-user" and args[2:] == ["--property=Linger"], args
    print("Linger=" + told.get("linger", "no"))
    sys.exit()
assert args.pop(0) == "--user", args
if told.get("broken") == args[0]:
    sys.exit("Failed to connect to bus")
match args:
    case ["show-environment"] | ["daemon-reload"]:
        pass
    case ["enable", unit] | ["restart", unit] | ["disable", "--now", unit]:
        assert (pathlib.Path(os.environ["HOME"]) / ".config/systemd/user" / unit).is_file(), unit
        if args[0] == "restart":
            told |= {{"ActiveState": "active", "SubState": "running", "MainPID": "4711"}}
        if args[0] == "enable":
            told["UnitFileState"] = "enabled"
        if args[0] == "disable":
            told = {{}}
        state.write_text(json.dumps(told))
    case ["show", unit, "--property=LoadState,ActiveState,SubState,UnitFileState,MainPID"]:
        print("LoadState=loaded\\nActiveState=" + told.get("ActiveState", "inactive"))
        print("SubState=" + told.get("SubState", "dead"))
        print("UnitFileState=" + told.get("UnitFileState", ""))
        print("MainPID=" + told.get("MainPID", "0"))
    case _:
        sys.exit(f"unexpected: {{args}}")
"""


class Systemd:
    def __init__(self, here: Path) -> None:
        self.here = here

    def calls(self) -> list[list[str]]:
        file = self.here / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def tell(self, **state: str) -> None:
        (self.here / "state").write_text(json.dumps(state))


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Systemd]:
    """A home and a PATH of its own, with a systemctl that writes down how it is called."""
    here, project = tmp_path / "systemd", tmp_path / "My shop"
    (here / "bin").mkdir(parents=True)
    project.mkdir()
    (project / "segue.toml").touch()
    for name in ("systemctl", "loginctl"):
        program = here / "bin" / name
        program.write_text(STAND_IN.format(python=sys.executable, here=str(here)))
        program.chmod(0o755)
    for name in (
        "SEGUE_LANG",
        "LC_ALL",
        "LC_MESSAGES",
        "LANGUAGE",
        "XDG_CONFIG_HOME",
        "SEGUE_TOKEN",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("USER", "kim")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(here / "bin"))
    monkeypatch.chdir(project)
    yield Systemd(here)
    i18n.use("en")


class Shell:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            cli.main(["service", *args])
        assert isinstance(caught.value.code, int)
        out, err = self._capsys.readouterr()
        return caught.value.code, out, err


@pytest.fixture
def segue(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def units(tmp_path: Path) -> list[Path]:
    """The unit of the server, then that of the work in the background."""
    found = (tmp_path / "home" / ".config" / "systemd" / "user").glob("*")
    return sorted(found, key=lambda path: path.name.startswith("segue-works-"))


def test_install_writes_a_unit_and_starts_it_now_and_at_every_boot(
    systemd: Systemd, segue: Shell, tmp_path: Path
) -> None:
    """Systemd is asked first, then the unit is written, then it is told, in this order."""
    code, out, err = segue("install", "--port", "9000", "--slots", "5", "--insecure")
    assert (code, err) == (0, "")
    path, works = units(tmp_path)
    assert path.name.startswith("segue-my-shop-")
    assert [call for call in systemd.calls() if "show" not in call] == [
        ["systemctl", "--user", "show-environment"],
        ["systemctl", "--user", "daemon-reload"],
        ["systemctl", "--user", "enable", path.name],
        ["systemctl", "--user", "restart", path.name],
        ["systemctl", "--user", "enable", works.name],
        ["systemctl", "--user", "restart", works.name],
        ["loginctl", "show-user", "kim", "--property=Linger"],
    ]
    lines = path.read_text().splitlines()
    assert f"WorkingDirectory={tmp_path}/My shop" in lines
    options = '"--port=9000" "--slots=5" "--insecure"'
    assert f'ExecStart="{sys.executable}" "-P" "-m" "segue" "serve" {options}' in lines
    assert f'Environment="PATH={os.environ["PATH"]}"' in lines
    environment = next(line for line in lines if line.startswith("EnvironmentFile="))
    assert "/.config/segue/segue-my-shop-" in environment, "the user's own settings"
    assert "My shop" not in environment, "an agent could write there"
    assert {"NoNewPrivileges=yes", "ProtectSystem=full", "UMask=0077"} <= {*lines}
    assert "KillMode=process" in lines, "agents outlive the server"
    assert "Restart=on-failure" in lines
    assert "RestartPreventExitStatus=2" in lines
    assert "WantedBy=default.target" in lines
    assert "loginctl enable-linger" in out
    assert path.name in out
    assert "RemainAfterExit=yes" in works.read_text(), "what it started stays"


def test_who_lingers_already_is_not_told_to(systemd: Systemd, segue: Shell, tmp_path: Path) -> None:
    """The hint is for those who need it; JSON has it either way."""
    systemd.tell(linger="yes")
    _code, out, _err = segue("install")
    assert "enable-linger" not in out
    systemd.tell(linger="no", ActiveState="active")
    code, out, _err = segue("install", "--json")
    assert code == 0
    path, _works = units(tmp_path)
    assert json.loads(out) == {"unit": path.name, "path": str(path), "lingers": False}


def test_print_shows_the_unit_and_changes_nothing(
    systemd: Systemd, segue: Shell, tmp_path: Path
) -> None:
    """Also where there is no systemd."""
    for name in ("systemctl", "loginctl"):
        (systemd.here / "bin" / name).unlink()
    code, out, _err = segue("install", "--print", "--data", "elsewhere")
    assert code == 0
    assert out.startswith("[Unit]\n")
    assert f'ExecStart="{sys.executable}" "-P" "-m" "segue" "start-detached"\n' in out
    assert f'"--data={tmp_path}/My shop/elsewhere"' in out
    assert out.count("UMask=0077") == 2
    assert units(tmp_path) == []


@pytest.mark.parametrize("args", [("install",), ("status",), ("install", "--json")])
@pytest.mark.parametrize("is_there", [False, True])
def test_without_systemd_a_clear_message(
    systemd: Systemd, segue: Shell, tmp_path: Path, args: tuple[str, ...], is_there: bool
) -> None:
    """Not installed, or no bus for this user: exit 2, and nothing was written."""
    if is_there:
        systemd.tell(broken="show-environment")
    else:
        (systemd.here / "bin" / "systemctl").unlink()
    code, out, err = segue(*args)
    assert code == 2
    assert "cannot reach the systemd user manager" in out + err
    assert ("Failed to connect to bus" if is_there else "not installed") in out + err
    assert "segue serve" in out + err
    assert units(tmp_path) == []


def test_a_refusal_of_systemd_is_told(systemd: Systemd, segue: Shell) -> None:
    """In its own words, with where to look."""
    systemd.tell(broken="restart")
    code, _out, err = segue("install")
    assert code == 2
    assert "Failed to connect to bus" in err
    assert "journalctl --user -u segue-my-shop-" in err


def test_a_server_that_was_started_by_hand_is_told(
    systemd: Systemd, segue: Shell, tmp_path: Path
) -> None:
    """The service could not start beside it; when it is the service's own, it is restarted."""
    with running() as server:
        leave_place(Path.cwd(), server.url)
        code, _out, err = segue("install")
        assert code == 2
        assert server.url in err
        assert units(tmp_path) == []
        systemd.tell(ActiveState="active")
        assert segue("install")[0] == 0


def test_status_tells_whether_it_runs(systemd: Systemd, segue: Shell, tmp_path: Path) -> None:
    """Exit 0 only if it does."""
    code, out, _err = segue("status")
    assert code == 1
    assert "segue service install" in out
    code, out, _err = segue("status", "--json")
    assert (code, json.loads(out)["state"]) == (1, "not_installed")
    segue("install")
    path, _works = units(tmp_path)
    code, out, _err = segue("status")
    assert (code, out) == (0, f"{path.name}: active, process 4711\n")
    assert json.loads(segue("status", "--json")[1]) == {
        "unit": path.name,
        "path": str(path),
        "state": "active",
        "detail": "running",
        "enabled": True,
        "pid": 4711,
    }
    systemd.tell(ActiveState="failed", SubState="failed")
    code, out, _err = segue("status")
    assert code == 1
    assert "failed" in out
    assert "It does not start automatically" in out


def test_remove_ends_it_and_takes_the_unit_away(
    systemd: Systemd, segue: Shell, tmp_path: Path
) -> None:
    """Twice is no error."""
    segue("install")
    path, works = units(tmp_path)
    before = len(systemd.calls())
    code, out, _err = segue("remove")
    assert (code, out) == (0, f"Removed {path.name}.\n")
    assert systemd.calls()[before:] == [
        ["systemctl", "--user", "show-environment"],
        ["systemctl", "--user", "disable", "--now", path.name],
        ["systemctl", "--user", "disable", "--now", works.name],
        ["systemctl", "--user", "daemon-reload"],
    ]
    assert units(tmp_path) == []
    code, out, _err = segue("remove")
    assert code == 0
    assert "No service is installed" in out
    assert json.loads(segue("remove", "--json")[1])["removed"] is False


def test_each_folder_has_a_unit_of_its_own() -> None:
    """Also folders of the same name, and names that no unit could have."""
    names = [
        Service(Path(folder), {}).unit
        for folder in ("/a/shop", "/b/shop", "/b/가게", "/", "/x/" + "y" * 200, "/b/Shop %n")
    ]
    assert len(set(names)) == len(names)
    assert all(name.isascii() and len(name) < 80 and "%" not in name for name in names)


def test_odd_names_are_quoted_for_systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Percent signs, quotes, dollars and backslashes mean themselves; no name makes a new line."""
    monkeypatch.setattr(sys, "executable", '/opt/a "b"/py$x\\y%z')
    text = Service(Path("/srv/100%[x]"), {"PATH": '/a "b":%h:$c', "HOME": "/home/100%[x]"}).text(())
    assert '\nExecStart="/opt/a \\"b\\"/py$$x\\\\y%%z" "-P" "-m" "segue" "serve"\n' in text
    assert "\nWorkingDirectory=/srv/100%%[x]\n" in text
    assert '\nEnvironment="PATH=/a \\"b\\":%%h:$c"\n' in text
    assert "\nEnvironmentFile=-/home/100%%[[]x]/.config/segue/segue-100-x-" in text
    with pytest.raises(Exception, match="cannot be used in a systemd unit"):
        Service(Path("/srv/a\nExecStart=/bin/evil"), {}).text(())


def test_the_real_systemd_takes_the_unit(tmp_path: Path) -> None:
    """Where its checker is installed: no warning, no error."""
    checker = shutil.which("systemd-analyze")
    if checker is None:
        pytest.skip("systemd-analyze is not installed")
    service = Service(tmp_path, dict(os.environ))
    unit = tmp_path / service.unit
    unit.write_text(service.text(("--port=0",)))
    (tmp_path / "run").mkdir()
    environ: dict[str, Any] = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    done = subprocess.run(
        [checker, "verify", "--user", str(unit)],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if "Failed to initialize manager" in done.stderr:
        pytest.skip("systemd-analyze cannot work here")
    told = [line for line in done.stderr.splitlines() if unit.name in line]
    assert told == []
    assert done.returncode == 0
    unit.write_text(unit.read_text().replace("KillMode=process", "KillMode=nonsense"))
    done = subprocess.run(
        [checker, "verify", "--user", str(unit)],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "nonsense" in done.stderr, "the checker looks"


@pytest.mark.parametrize("verb", command.commands)
def test_every_verb_explains_itself(segue: Shell, systemd: Systemd, verb: str) -> None:
    """With an example; docs/service.md names its options."""
    code, out, _err = segue(verb, "--help")
    assert code == 0
    assert f"segue service {verb}" in out.split("Example", 1)[1]
    page = (Path(__file__).parents[3] / "docs" / "service.md").read_text(encoding="utf-8")
    assert f"`{verb}`" in page
    for parameter in command.commands[verb].params:
        assert f"`{parameter.opts[0]}" in page
