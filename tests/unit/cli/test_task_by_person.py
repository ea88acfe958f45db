"""`segue task` in an agent's run: everything is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.client import Running, leave_place, running
from kit.front import TOKEN
from segue import i18n
from segue.cli import main as cli
from segue.cli.task import command as group

VERBS = {
    "list": [],
    "show": ["task_1"],
    "log": ["task_1"],
    "events": ["task_1"],
    "add": ["Shop"],
    "submit": ["task_1"],
    "approve": ["task_1"],
    "changes": ["task_1", "more of it"],
    "answer": ["task_1", "A"],
    "provide": ["task_1", "--value", "x"],
    "reject": ["task_1", "--reason", "no"],
    "pause": ["task_1"],
    "resume": ["task_1"],
    "cancel": ["task_1"],
    "retry": ["task_1"],
    "go-without": ["task_1"],
    "fail": ["task_1"],
    "fork": ["task_1"],
    "rewind": ["task_1", "cp_1"],
}


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("SEGUE_LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE", "SEGUE_TOKEN", "SEGUE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("SEGUE_RUN", "task_1-0a1b2c3d")
    monkeypatch.chdir(tmp_path)
    yield
    i18n.use("en")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running() as made:
        leave_place(tmp_path, made.url)
        yield made


def call(args: list[str]) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        cli.main(args)
    return int(ended.value.code or 0)


def test_every_verb_is_tried() -> None:
    """A new verb is named here."""
    assert VERBS.keys() == set(group.commands)


@pytest.mark.parametrize("verb", VERBS)
def test_an_agent_at_work_neither_decides_nor_looks(
    server: Running, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused in words with exit code 2, before the server is asked; also as JSON. Other tasks
    are not an agent's to see."""
    calls = server.commands.calls, len(server.commands.events)
    assert call(["task", verb, *VERBS[verb], "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "in_a_run"
    assert "task_1-0a1b2c3d" in error["message"] and error["hint"]
    assert (server.commands.calls, len(server.commands.events)) == calls


def test_no_run_is_no_agent(
    server: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the variable empty, as a person would set it, everything is allowed."""
    monkeypatch.setenv("SEGUE_RUN", "")
    assert call(["task", "add", "Shop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Shop"


@pytest.mark.parametrize(
    "args",
    [
        ["park", "claude", "--for", "2h"],
        ["wake", "claude"],
        ["unskip", "T-1"],
        ["develop", "--approve"],
    ],
)
def test_what_a_person_decides_elsewhere_is_refused_as_well(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """One rule for every command that decides something."""
    assert call([*args, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "in_a_run"


HIDDEN = {
    "without the variable": "env -u SEGUE_RUN {segue}; exit $?",
    "with an empty one": "SEGUE_RUN= {segue}; exit $?",
    "with no environment": "env -i PATH=$PATH SEGUE_TOKEN=$SEGUE_TOKEN LANG=C.UTF-8 {segue}; exit $?",
    "in another's name": "SEGUE_RUN=task_8-other {segue}; exit $?",
}


@pytest.mark.parametrize("way", HIDDEN)
def test_an_agent_that_hides_its_run_is_known_from_above(
    server: Running, tmp_path: Path, way: str
) -> None:
    """Whatever it makes of the variable, the programs above tell whose run it is."""
    inner = HIDDEN[way].format(segue=f"{sys.executable} -m segue task add Shop --json")
    env = {**os.environ, "SEGUE_RUN": "task_9-hidden", "SEGUE_TOKEN": TOKEN}
    done = subprocess.run(
        ["/bin/sh", "-c", inner], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "task_9-hidden" in json.loads(done.stdout)["error"]["message"]
    assert server.commands.tasks == {}
