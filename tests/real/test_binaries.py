"""Each real program runs, headless, against the fake model; and how they are got."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit import agents_here
from kit.agents_here import clean_env, got, headless
from segue.testing import loopback
from segue.testing.models import FakeModels

WAIT_S = 120.0
ANSWER = "answer to prompt 1: hello there"
Event = dict[str, Any]


def claude_said(events: list[Event]) -> str:
    last = events[-1]
    assert (last["type"], last["is_error"]) == ("result", False)
    return str(last["result"])


def codex_said(events: list[Event]) -> str:
    assert events[-1]["type"] == "turn.completed"
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    return str(items[-1]["text"])


def gemini_said(events: list[Event]) -> str:
    assert (events[-1]["type"], events[-1]["status"]) == ("result", "success")
    return "".join(event["content"] for event in events if event.get("role") == "assistant")


def opencode_said(events: list[Event]) -> str:
    assert events[-1]["type"] == "step_finish"
    return "".join(event["part"]["text"] for event in events if event["type"] == "text")


def run(folder: Path, kind: str, env: dict[str, str]) -> tuple[int, list[Event], str]:
    """Let a program answer one prompt in a folder of its own; its code, its events, the rest."""
    work = folder / "work"
    work.mkdir()
    done = subprocess.run(
        headless(kind, "hello there"),
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, events, done.stderr


@pytest.mark.parametrize(
    ("kind", "said", "wire"),
    [
        ("claude", claude_said, "anthropic"),
        ("codex", codex_said, "responses"),
        ("gemini", gemini_said, "gemini"),
        ("opencode", opencode_said, "chat"),
    ],
)
def test_a_real_program_answers(
    tmp_path: Path, kind: str, said: Callable[[list[Event]], str], wire: str
) -> None:
    """It takes the fake model for its own, asks it once, and prints what the model said."""
    with FakeModels(tmp_path / "log.jsonl") as models:
        env = clean_env(tmp_path, models.lane("work"), kind)
        code, events, errors = run(tmp_path, kind, env)
        asked = models.requests("work")
    assert code == 0, errors
    assert said(events) == ANSWER
    assert [(each.wire, each.prompts) for each in asked] == [(wire, ["hello there"])]
    assert models.requests(side=True)[-1].lane == "work"


def test_a_subscriber_is_told_of_the_five_hour_limit(tmp_path: Path) -> None:
    """With a subscriber's token claude heeds the headers, and tells the reset to the second."""
    with FakeModels(clock=lambda: 1_900_000_000.0) as models:
        url = models.lane("work", "429u5h:4000")
        code, events, _errors = run(
            tmp_path, "claude", clean_env(tmp_path, url, "claude", oauth=True)
        )
    (told,) = [event for event in events if event["type"] == "rate_limit_event"]
    assert told["rate_limit_info"]["rateLimitType"] == "five_hour"
    assert told["rate_limit_info"]["resetsAt"] == 1_900_004_000
    assert (code, events[-1]["is_error"]) == (1, True)


def test_nothing_of_the_user_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the real environment only the path comes along; all else leads nowhere."""
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    for kind in agents_here.PROGRAMS:
        env = clean_env(tmp_path / kind, "http://127.0.0.1:1/s/ok", kind)
        assert "secret" not in env.values()
        assert Path(env["HOME"]).is_relative_to(tmp_path)
        assert env["HTTPS_PROXY"] == env["https_proxy"] == loopback.NOWHERE


WORKER = """
import sys, time
from pathlib import Path
from kit.agents_here import got

arrived, begun, me, workers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def get(to):
    (begun / me).touch()
    while len(list(arrived.iterdir())) < workers:
        time.sleep(0.01)
    (to / "program").write_text("whole")

(arrived / me).touch()
assert (got("thing-1", get) / "program").read_text() == "whole"
"""


def test_a_program_is_got_once(tmp_path: Path) -> None:
    """Workers that need it at the same time get it once, and all of them see it whole."""
    folders = [tmp_path / "arrived", tmp_path / "begun"]
    for folder in folders:
        folder.mkdir()
    here = str(Path(__file__).parents[1])
    env = {**os.environ, "SEGUE_TEST_CACHE": str(tmp_path / "cache"), "PYTHONPATH": here}
    command = [sys.executable, "-c", WORKER, *map(str, folders)]
    workers = [subprocess.Popen([*command, str(me), "4"], env=env) for me in range(4)]
    assert [worker.wait(WAIT_S) for worker in workers] == [0] * 4
    assert len(list(folders[1].iterdir())) == 1


def test_what_was_not_got_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed attempt is told, and the next one begins from nothing."""
    monkeypatch.setenv("SEGUE_TEST_CACHE", str(tmp_path))

    def break_off(to: Path) -> None:
        (to / "half").touch()
        raise RuntimeError("the line is dead")

    with pytest.raises(RuntimeError, match="the line is dead"):
        got("thing-1", break_off)
    assert [path.name for path in tmp_path.iterdir()] == ["thing-1.lock"]
    whole = got("thing-1", lambda to: (to / "program").touch())
    assert [path.name for path in whole.iterdir()] == ["program"]


def test_a_missing_npm_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without npm the test does not pass over in silence: it fails and says what to install."""
    monkeypatch.setenv("SEGUE_TEST_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"npm is not installed.*Node\.js"):
        agents_here.codex.__wrapped__()
