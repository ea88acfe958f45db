"""Claude Code with Segue's hooks, for real: its place after a compaction, what is left, limits."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime

import pytest

from kit.agents_here import claude, clean_env
from kit.attack import needs_sandbox
from kit.stage import AGENT_S, FULL, Stage, at, until
from segue.testing.models.anthropic import Anthropic
from segue.testing.models.http import Request
from segue.testing.models.seen import Seen, texts_of

STEPS = (
    "- [ ] **T-7**: build the lighthouse\n"
    "  - [ ] lay the stones\n"
    "  - [ ] light the lamp\n"
    "  - files: tower/*.txt\n"
)
STATE = (
    "phase: IMPLEMENT\nstrategy: direct\nfeature: harbour lights\n"
    'started_at: "2026-02-16T10:00:00"\nupdated_at: "2026-02-16T11:30:00"\n'
    "checkpoints:\n  cp-1: { status: passed, iteration: 2 }\n"
    "  cp-2: { status: in_progress, iteration: 1 }\n"
)
WINDOW_S = 4000
CONTEXT = "SessionStart hook additional context: "
FEEDBACK = "Stop hook feedback"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that the model was told, request by request: the program's own notes, too, by which a
    hook's words come to it."""
    found: list[str] = []
    see = Anthropic.see

    def kept(self: Anthropic, request: Request) -> Seen:
        seen = see(self, request)
        if not seen.side:
            found.append(
                "\n".join(t for m in request.body["messages"] for t in texts_of(m["content"]))
            )
        return seen

    monkeypatch.setattr(Anthropic, "see", kept)
    return found


def after_compaction(told: list[str]) -> str:
    """What a hook said in the first request of the compacted conversation."""
    (first, *_more) = [text for text in told if "being continued from a previous" in text]
    return first.rpartition(CONTEXT)[2]


def own_claude(
    stage: Stage, *args: str, plays: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    """A claude that a person starts in the project, not Segue."""
    url = stage.models.lane("own", *plays)
    env = clean_env(stage.tmp, url, "claude", oauth=True, retries=0)
    argv = [str(claude()), "-p", "--output-format", "stream-json", "--verbose", *args]
    return subprocess.run(
        argv,
        cwd=stage.root,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=AGENT_S,
        check=False,
    )


def conversation_of(done: subprocess.CompletedProcess[str]) -> str:
    return str(json.loads(done.stdout.splitlines()[-1])["session_id"])


def log_of(stage: Stage) -> str:
    path = stage.root / ".segue" / "logs" / "hooks.log"
    return path.read_text("utf-8") if path.exists() else ""


def test_a_run_gets_its_place_back_after_a_compaction(stage: Stage, told: list[str]) -> None:
    """The request after a compaction has the task, its open steps and how to report them."""
    stage.agent("claude", "tool:echo stone", "long", "ok", more=FULL)
    stage.plan(STEPS)
    assert stage.segue("hooks", "install").code == 0
    done = stage.run()
    assert done.code == 0, done.said
    place = after_compaction(told)
    assert "**T-7** of PLAN.md, attempt 1 of 3" in place
    assert "- [ ] 1. lay the stones" in place
    assert "- [ ] 2. light the lamp" in place
    assert "tower/*.txt" in place
    assert "=== STEP N DONE" in place
    assert "SessionStart" in log_of(stage)
    assert "compact: the place was told" in log_of(stage)
    fired = {
        h["event"]: h["last_fired"] for h in stage.segue("hooks", "status", "--json").json["hooks"]
    }
    assert fired["PreCompact"] is not None
    assert list((stage.root / ".segue" / "runs").glob("*.place")) == [], "it goes with its run"


@needs_sandbox
def test_a_run_in_the_sandbox_gets_its_place_back(stage: Stage, told: list[str]) -> None:
    """The hook finds the place of its run, which is all that it sees of Segue's memory."""
    stage.agent("claude", "tool:echo stone", "long", "ok", more=FULL + '\nsandbox = "bwrap"')
    stage.plan(STEPS)
    assert stage.segue("hooks", "install").code == 0
    done = stage.run()
    assert done.code == 0, done.said
    place = after_compaction(told)
    assert "**T-7** of PLAN.md, attempt 1 of 3" in place
    assert "- [ ] 2. light the lamp" in place


def test_a_run_that_stops_early_is_told_what_is_left(stage: Stage, told: list[str]) -> None:
    """At the end of its turn with open steps it is told of them, and once for each prompt."""
    stage.agent("claude", "ok", more=FULL)
    stage.plan(STEPS)
    assert stage.segue("hooks", "install").code == 0
    done = stage.run()
    assert done.code == 0, done.said
    first, second = told
    assert FEEDBACK not in first
    assert "1. lay the stones" in second.rpartition(FEEDBACK)[2]
    assert "2. light the lamp" in second.rpartition(FEEDBACK)[2]


def test_a_run_whose_steps_are_told_stops_in_peace(stage: Stage, told: list[str]) -> None:
    """Steps that were reported are not asked for again, not even those of the last words."""
    stage.agent("claude", "tool:until [ -e go ]; do sleep 0.1; done", more=FULL)
    stage.plan(STEPS)
    assert stage.segue("hooks", "install").code == 0
    going = stage.start_run()
    stage.asked(1)
    nonce = stage.environ_of(stage.agent_pid())["SEGUE_NONCE"]
    stage.plays(f"say:=== STEP 1 DONE {nonce} ===\n=== STEP 2 DONE {nonce} ===")
    stage.release_tool()
    done = going.end()
    assert done.code == 0, done.said
    assert len(told) == 2
    assert not any(FEEDBACK in text for text in told)


def test_a_person_s_own_agent_gets_the_feature_back(stage: Stage, told: list[str]) -> None:
    """After a compaction the state of `segue develop` is in the context: phase, checkpoint, try."""
    (stage.root / "segue.toml").write_text("")
    folder = stage.root / ".develop-workflow"
    folder.mkdir()
    (folder / "state.yaml").write_text(STATE)
    assert stage.segue("hooks", "install").code == 0
    began = own_claude(stage, "first", plays=("ok",))
    assert began.returncode == 0, began.stderr
    assert "harbour lights" in told[0].rpartition(CONTEXT)[2]
    assert "A checkpoint is still in progress: cp-2, iteration 1/3" in told[1]

    resumed = own_claude(
        stage, "--resume", conversation_of(began), "second", plays=("long", "ok", "ok", "ok")
    )
    assert resumed.returncode == 0, resumed.stderr
    place = after_compaction(told)
    assert "Checkpoints: cp-1 passed, cp-2 in_progress (iter 1/3)" in place
    assert ".develop-workflow/state.yaml" in place


@pytest.mark.parametrize(
    ("mode", "kind"), [("429u5h", "session_limit"), ("429u7d", "weekly_limit")]
)
def test_a_limit_of_a_person_s_own_agent_parks_the_account(
    stage: Stage, mode: str, kind: str
) -> None:
    """StopFailure tells Segue: the account is parked until the second that the service named."""
    stage.config(
        'agent = "claude"\n[agents.claude]\naccount = "work"\n[recovery]\nwake_margin_s = 7\n'
    )
    assert stage.segue("hooks", "install").code == 0
    done = own_claude(stage, "hello", plays=(f"{mode}:{WINDOW_S}",))
    assert done.returncode == 1
    (asked,) = stage.asked(lane="own")
    until(lambda: "is parked until" in log_of(stage), "the word about the limit", AGENT_S)
    (row,) = stage.rows("SELECT * FROM accounts")
    assert (row["id"], row["state"], row["kind"]) == ("work", "parked", kind)
    over_s = at(row["parked_until"]) - 7
    assert over_s in (int(asked.at) + WINDOW_S, int(asked.at) + WINDOW_S + 1)
    told = stage.segue("status").out
    shown = datetime.fromtimestamp(at(row["parked_until"]), UTC)
    assert "account work: parked until" in told
    assert f"{shown:%H:%M}" in told


def test_a_segue_that_is_gone_is_not_noticed(stage: Stage) -> None:
    """Hooks whose program is not there any more neither fail nor hold anything back."""
    assert stage.segue("hooks", "install").code == 0
    path = stage.root / ".claude" / "settings.json"
    text = path.read_text()
    program = re.search(r'"command": "(\S*segue) hook', text)
    assert program is not None
    path.write_text(text.replace(program[1], "/nowhere/segue"))
    done = own_claude(stage, "--include-hook-events", "hello", plays=("ok",))
    assert done.returncode == 0
    events = [json.loads(line) for line in done.stdout.splitlines()]
    ended = [e for e in events if e.get("subtype") == "hook_response"]
    assert ended
    assert {(e["exit_code"], e["stderr"], e["outcome"]) for e in ended} == {(0, "", "success")}
    assert stage.segue("hooks", "status").code == 1
