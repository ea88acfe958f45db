"""One run: what it is started with, what is heard of it, how its end is put into words."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest

from kit.bench import CLAUDE, Bench
from segue.dialects.events import Finished, Opened, Retrying, Said, StepDone, ToolUsed, Used
from segue.engine import said
from segue.engine.executors import Ended, Heard
from segue.engine.outcome import why
from segue.engine.plan.attempts import in_full
from segue.work.agents import profiles as agents

ONE = "- [ ] T-1: Build\n  - retries: 0\n"
SHELL = "- [ ] T-1: Build\n  - run: make\n  - agent: shell\n"


# --- the job ----------------------------------------------------------------------------------


def test_a_branded_agent_has_its_errors_apart(bench: Bench) -> None:
    """Between its lines of JSON they would break them; a command's text is read as one."""
    bench.begin(ONE)
    job = bench.engine.jobs[bench.job]
    assert job.err == job.log.with_name(f"{job.id}.err.log")
    assert job.is_interactive
    bench.begin(SHELL)
    assert bench.engine.jobs[bench.job].err is None
    assert not bench.engine.jobs[bench.job].is_interactive


def test_an_agent_with_tools_is_heard_through_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They write to a file of their run, which is followed; without them there is none."""
    bench.begin(ONE)
    assert bench.engine.jobs[bench.job].told is None
    monkeypatch.setattr(agents, "has_mcp", lambda: True)
    bench.settings(CLAUDE.replace("mcp = false\n", ""))
    bench.begin(ONE.replace("T-1", "T-2"))
    job = bench.engine.jobs[bench.job]
    assert job.told is not None
    assert job.told.path == bench.root / ".segue" / "runs" / f"{job.id}.told"
    assert "SEGUE_TOLD" not in job.env, "only its tools are told where"
    (config,) = [word for word in job.argv if "mcpServers" in word]
    assert str(job.told.path) in config
    assert job.id in config


def test_an_agent_on_a_terminal_of_its_own(bench: Bench) -> None:
    """`driver = "pty"`."""
    bench.settings(CLAUDE + '[agents.shell]\ndriver = "pty"\n')
    bench.begin(SHELL)
    assert bench.engine.jobs[bench.job].has_terminal


def test_a_job_that_is_taken_up_again_is_given_no_input(bench: Bench) -> None:
    """It has read its prompt already."""
    bench.begin(ONE)
    bench.starts()
    assert bench.run.job_factory.agent_job(bench.attempt, None).stdin is None


def test_the_brands_variables_do_not_win_over_the_agents_own(bench: Bench) -> None:
    """What the user wrote stands."""
    bench.settings(
        'agent = "g"\n[agents.g]\nkind = "gemini"\ncommand = ["./claude"]\n'
        'env = { GEMINI_CLI_NO_RELAUNCH = "mine" }\n'
    )
    bench.begin(ONE)
    assert bench.engine.jobs[bench.job].env["GEMINI_CLI_NO_RELAUNCH"] == "mine"


# --- what is heard while it works -------------------------------------------------------------


def test_words_and_deeds_are_shown_as_they_come(bench: Bench) -> None:
    """Both tell that it is at work; what a tool is used with is one line."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Said("reading"), ToolUsed("Bash", "pytest -q"), ToolUsed("Stop"))
    assert [said["text"] for said in bench.told("task_said")] == [
        "reading",
        "⚙ Bash pytest -q",
        "⚙ Stop",
    ]
    assert list(bench.attempt.lines) == ["reading"], "a summary is made of words"


def test_a_step_that_there_is_is_ticked_and_no_other(bench: Bench) -> None:
    """An agent can miscount."""
    bench.begin("- [ ] T-1: a\n  - steps:\n    - [ ] one\n    - [ ] two\n")
    bench.starts()
    bench.says(StepDone(3), StepDone(2), StepDone(2))
    text = (bench.root / "PLAN.md").read_text()
    assert "- [ ] one" in text
    assert "- [x] two" in text
    assert [done["step"] for done in bench.told("step_done")] == [2]


def test_tries_of_its_own_are_told(bench: Bench) -> None:
    """Somebody who watches sees why nothing happens."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Retrying(2, 10, 1.5, 529, "overloaded"))
    (told,) = bench.told("agent_retrying")
    assert (told["attempt"], told["attempts_max"], told["status"]) == (2, 10, 529)


def test_a_check_is_not_believed_to_be_the_agent(bench: Bench) -> None:
    """What a verify command prints is evidence, not a report."""
    bench.begin("- [ ] T-1: a\n  - verify: make check\n  - steps:\n    - [ ] one\n")
    bench.starts()
    bench.says(Opened("talk-1"), Finished(False))
    bench.ends(0)
    bench.happens(Heard(bench.job, StepDone(1)), Heard(bench.job, Used(1, 1, 99.0)))
    assert "- [ ] one" in (bench.root / "PLAN.md").read_text()
    bench.ends(1)
    assert bench.run.ledger.cost_usd == 0


# --- what it had told before its supervisor died ----------------------------------------------


def known_of(bench: Bench) -> said.Heard:
    run, files = bench.attempt.run, bench.run.job_factory.files
    return said.heard_before(files, run.id, run.nonce, bench.attempt.profile)


def test_of_a_run_without_a_log_nothing_is_known(bench: Bench) -> None:
    """It died before it said anything."""
    bench.begin(ONE)
    bench.starts()
    heard = known_of(bench)
    assert (heard.conversation, heard.used, heard.lines) == (None, None, [])


@pytest.mark.parametrize(
    "junk", [b"\xff\xfe\x00" * 1000, b"{" * 5000, b'{"type":"result"', b"\n" * 9]
)
def test_a_spoilt_log_is_read_as_far_as_it_goes(bench: Bench, junk: bytes) -> None:
    """Nothing falls, and what can be read is read."""
    bench.begin(ONE)
    bench.starts()
    log: Path = bench.run.job_factory.log(bench.attempt.run)
    log.write_bytes(b'{"type":"system","session_id":"talk-1"}\n' + junk)
    heard = known_of(bench)
    assert heard.conversation == "talk-1"


# --- its end in words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ended", "timeout_s", "words"),
    [
        (Ended("j", 3), None, "exit code 3"),
        (Ended("j", None, signal=9), None, "killed by signal 9"),
        (Ended("j", None, signal=15, timed_out=True), 300, "timed out after 5m"),
        (Ended("j", None, error="No such file"), None, "No such file"),
    ],
)
def test_why_a_process_ended_badly(ended: Ended, timeout_s: float | None, words: str) -> None:
    """The strongest reason, in a few words."""
    assert why(ended, timeout_s) == words


def test_an_error_is_shown_with_the_last_words_and_handed_on_with_many() -> None:
    """One line for the plan; the end of what was said for the next try, without old markers."""
    lines = deque(["one", "=== STEP 1 DONE abc ===", "[USER_QUESTION abc]", "two", "  "])
    assert in_full("exit code 3", lines).splitlines()[:3] == ["exit code 3", "one", "two"]
    assert "abc" not in in_full("exit code 3", lines)
