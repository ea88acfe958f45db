"""`segue hooks`, the hooks as real processes, and the place of agents that have none."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.box import Box
from kit.command import SEGUE
from kit.waiting import until
from segue.store.sqlite import Store

SEEN = Path(__file__).parents[1] / "golden" / "claude_hooks" / "payloads.jsonl"
PAYLOADS = {
    (told["hook_event_name"], told.get("source", "")): told
    for told in map(json.loads, SEEN.read_text("utf-8").splitlines())
}
STOP = PAYLOADS["Stop", ""]
COMPACT = PAYLOADS["SessionStart", "compact"]
FAILED = PAYLOADS["StopFailure", ""]
EVENTS = ["SessionStart", "PreCompact", "Stop", "StopFailure"]
AGENT = 'agent = "c"\n[agents.c]\nkind = "command"\ncommand = ["./agent.sh"]\n'
PLAN = "- [ ] **T-1**: build\n  - [ ] stones\n  - [ ] lamp\n- [ ] **T-2**: paint (deps: T-1)\n"


def hook(
    box: Box, event: str, data: bytes | dict[str, Any], **env: str
) -> subprocess.CompletedProcess[bytes]:
    """As Claude Code runs it: the payload on its input, its answer on its output."""
    given = data if isinstance(data, bytes) else json.dumps(data).encode()
    return subprocess.run(
        [SEGUE, "hook", event],
        input=given,
        cwd=box.root,
        env=box.env({"CLAUDE_PROJECT_DIR": str(box.root), **env}),
        capture_output=True,
        check=False,
        timeout=60,
    )


def agent(box: Box, text: str, more: str = "") -> None:
    """An agent that is a script; it reads its task first."""
    box.config(f"{more}{AGENT}")
    path = box.root / "agent.sh"
    path.write_text(f"#!/bin/sh\ncat > {box.out}/prompt-$SEGUE_TASK\n{text}\n")
    path.chmod(0o755)


def log_of(box: Box) -> str:
    path = box.root / ".segue" / "logs" / "hooks.log"
    return path.read_text("utf-8") if path.exists() else ""


def test_hooks_are_installed_seen_and_removed(box: Box) -> None:
    """As a person does it, from a folder below the project; and once more changes nothing."""
    box.config("")
    below = box.root / "src"
    below.mkdir()
    assert box.segue("hooks", "status").code == 1
    done = subprocess.run(
        [SEGUE, "hooks", "install"], cwd=below, env=box.env(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    path = box.root / ".claude" / "settings.json"
    before = path.read_bytes()
    assert "already installed" in box.segue("hooks", "install").out
    assert path.read_bytes() == before
    told = box.segue("hooks", "status", "--json")
    assert (told.code, told.json["installed"]) == (0, True)
    assert [one["event"] for one in told.json["hooks"]] == EVENTS
    assert {(one["installed"], one["found"], one["last_fired"]) for one in told.json["hooks"]} == {
        (True, True, None)
    }
    before_it = datetime.now(UTC)
    hook(box, "PreCompact", PAYLOADS["PreCompact", ""])
    after_it = datetime.now(UTC)
    fired = {
        o["event"]: o["last_fired"] for o in box.segue("hooks", "status", "--json").json["hooks"]
    }
    assert before_it <= datetime.fromisoformat(fired["PreCompact"]) <= after_it
    assert box.segue("hooks", "remove", "--json").json["removed"] is True
    assert not path.parent.exists()
    assert box.segue("hooks", "remove", "--json").json["removed"] is False


def test_a_settings_file_that_is_wrong_is_refused(box: Box) -> None:
    """Line and column, exit code 2, and not a byte of it is changed."""
    path = box.root / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "a": 1,\n}\n')
    done = box.segue("hooks", "install")
    assert done.code == 2
    assert "settings.json:3: this is not valid JSON" in done.err
    assert "column 1" in done.err
    told = box.segue("hooks", "install", "--json").json["error"]
    assert (told["code"], told["line"]) == ("bad_settings", 3)
    assert path.read_text() == '{\n  "a": 1,\n}\n'


def test_the_command_for_programs_is_not_shown_to_people(box: Box) -> None:
    """`segue --help` lists `hooks`, and not `hook`."""
    told = box.segue("--help").out
    words = told.replace(",", " ").split()
    assert "hooks" in words
    assert "hook" not in words


@pytest.mark.parametrize("event", [*EVENTS, "Other", "--help", ""])
@pytest.mark.parametrize("data", [b"", b"garbage", b'{"session_id": "x"}', b"{" * 100_000])
def test_a_hook_never_fails(box: Box, event: str, data: bytes) -> None:
    """Whatever comes: exit code 0, and not a word."""
    done = hook(box, event, data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_without_any_words_is_silent(box: Box) -> None:
    """Nor does it fail where there is nothing to read from."""
    done = subprocess.run(
        [SEGUE, "hook"],
        cwd=box.root,
        env=box.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_limit_is_taken_in_after_the_agent_has_gone(box: Box) -> None:
    """Claude Code ends with its limit, and ends its hooks: the account is parked all the same,
    though a hook that takes longer than the agent waits would be killed."""
    reset = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)
    said = f"You've hit your 5-hour limit · resets {reset:%-I:%M%p} (UTC)".lower()
    assert box.segue("hooks", "install").code == 0
    told = json.loads((box.root / ".claude" / "settings.json").read_text())
    command = told["hooks"]["StopFailure"][0]["hooks"][0]["command"]
    shell = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.PIPE,
        cwd=box.root,
        env=box.env({"CLAUDE_PROJECT_DIR": str(box.root)}),
        start_new_session=True,
    )
    box.state.mkdir(mode=0o700, parents=True)
    Store.open(box.database).close()
    busy = sqlite3.connect(box.database, isolation_level=None)
    busy.execute("BEGIN IMMEDIATE")  # it cannot be done as soon as that
    assert shell.stdin is not None
    shell.stdin.write(json.dumps({**FAILED, "last_assistant_message": said}).encode())
    shell.stdin.close()
    until(lambda: not Path(f"/proc/{shell.pid}").exists() or _ignores_term(shell.pid), "its trap")
    os.killpg(shell.pid, signal.SIGTERM)
    shell.wait(60)
    with suppress(ProcessLookupError):
        os.killpg(shell.pid, signal.SIGKILL)
    assert "is parked" not in log_of(box)
    busy.close()
    until(lambda: "is parked until" in log_of(box), "the park")
    (account,) = box.segue("status", "--json").json["accounts"]
    until_ = datetime.fromisoformat(account["parked_until"])
    assert account["state"] == "parked"
    assert until_ == reset + timedelta(minutes=1, seconds=5)
    assert "account claude: parked until" in box.segue("status").out


def _ignores_term(pid: int) -> bool:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigIgn:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def test_a_run_finds_its_place_and_its_hook_reads_it(box: Box) -> None:
    """The place is there before the agent is; a hook in its environment puts it back; with the
    run it goes."""
    call = f"{shlex.quote(str(SEGUE))} hook"
    told, stop = json.dumps(COMPACT), json.dumps(STOP)
    agent(
        box,
        f'cat "$SEGUE_PLACE" > {box.out}/place-$SEGUE_TASK\n'
        f"echo {shlex.quote(told)} | {call} SessionStart > {box.out}/told-$SEGUE_TASK\n"
        f"echo {shlex.quote(stop)} | {call} Stop > {box.out}/stop-$SEGUE_TASK\n",
    )
    box.plan(PLAN)
    done = box.run()
    assert done.code == 0, done.said
    place = (box.out / "place-T-1").read_text()
    assert "**T-1** of PLAN.md, attempt 1 of 3" in place
    assert "- [ ] 2. lamp" in place
    context = json.loads((box.out / "told-T-1").read_text())["hookSpecificOutput"]
    assert context["additionalContext"] == place
    assert "1. stones" in json.loads((box.out / "stop-T-1").read_text())["reason"]
    assert (box.out / "stop-T-2").read_text() == "", "it has no steps"
    assert list((box.root / ".segue" / "runs").glob("*.place")) == []


def test_a_place_outlives_segue_and_goes_with_its_run(box: Box) -> None:
    """Killed while its agent works: the place stays for the agent, and goes when that is taken in."""
    agent(box, f"until [ -e {box.out}/go ]; do sleep 0.05; done")
    box.plan("- [ ] **T-1**: build\n  - [ ] stones\n")
    going = box.start_run()
    going.event("task_started")
    (path,) = until(lambda: list((box.root / ".segue" / "runs").glob("*.place")), "the place")
    going.kill()
    assert "- [ ] 1. stones" in path.read_text()
    again = box.start_run()
    again.event("run_adopted")
    assert path.exists()
    (box.out / "go").touch()
    assert again.end().code == 0
    assert not path.exists()


def test_the_file_of_an_isolated_task_is_never_merged(box: Box) -> None:
    """It is in the task's own worktree, even if the agent commits it; a person's text in it stays."""
    agent(
        box,
        f"cat PLACE.md > {box.out}/shown-$SEGUE_TASK; echo work > $SEGUE_TASK.txt\n"
        "git add -A; git -c user.name=a -c user.email=a@b commit -qm own",
        more='place = "PLACE.md"\n',
    )
    (box.root / "PLACE.md").write_text("# Mine")
    box.plan(PLAN)
    box.repository()
    done = box.run("--isolate", "worktree")
    assert done.code == 0, done.said
    assert "**T-1**" in (box.out / "shown-T-1").read_text()
    assert "<!-- segue:place -->" in (box.out / "shown-T-1").read_text()
    assert "read PLACE.md" in (box.out / "prompt-T-1").read_text()
    assert (box.root / "T-1.txt").exists()
    assert (box.root / "PLACE.md").read_text() == "# Mine"
    assert box.git("show", "HEAD:PLACE.md") == "# Mine"
    assert box.git("status", "--porcelain", "PLACE.md") == ""


def test_a_file_that_was_not_there_is_not_there_after_a_merge(box: Box) -> None:
    """Nothing is left of it in the project."""
    agent(box, "cat PLACE.md > /dev/null; echo work > w.txt", more='place = "PLACE.md"\n')
    box.plan("- [ ] **T-1**: build\n")
    box.repository()
    done = box.run("--isolate", "worktree")
    assert done.code == 0, done.said
    assert (box.root / "w.txt").exists()
    assert not (box.root / "PLACE.md").exists()
    assert "PLACE.md" not in box.git("ls-files")


def test_the_hook_answers_soon(box: Box) -> None:
    """An agent waits for it: nothing heavy is imported on the way."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "segue", "hook", "Stop"],
        input=json.dumps(STOP).encode(),
        cwd=box.root,
        env=box.env({"CLAUDE_PROJECT_DIR": str(box.root)}),
        capture_output=True,
        check=True,
    )
    imported = {line.split("|")[-1].strip() for line in done.stderr.decode().splitlines()}
    assert "segue.work.hooks.answering" in imported
    heavy = {"asyncio", "rich", "sqlite3", "ruamel.yaml", "segue.dialects.limits", "subprocess"}
    assert imported & heavy == set()
