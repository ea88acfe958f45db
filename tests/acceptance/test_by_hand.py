"""`segue park` and `segue wake`, an agent that takes over, and a full context."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kit.box import Box
from kit.waiting import until

TALKER = """#!/usr/bin/env python3
import json, os, sys
from pathlib import Path
line = sys.stdin.readline()
said = json.loads(line)["message"]["content"]
resume = sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else None
out = Path(os.environ["OUT"])
number = len(list(out.glob("prompt-*")))
(out / f"prompt-{number}").write_text(json.dumps({"text": said, "resume": resume}))
reply = os.environ["REPLIES"].split(",")[number]
talk = resume or f"00000000-0000-4000-8000-00000000000{number}"
def tell(**event):
    print(json.dumps({**event, "session_id": talk}), flush=True)
tell(type="system", subtype="init", tools=[])
if reply == "long":
    tell(type="result", subtype="success", is_error=True, terminal_reason="prompt_too_long",
         result="Prompt is too long")
else:
    tell(type="assistant", message={"id": "m", "content": [{"type": "text", "text": "at work"}]})
    tell(type="result", subtype="success", is_error=reply == "error", result=reply)
"""


def talker(box: Box, replies: str) -> None:
    """A program that speaks like Claude Code and replies as it is told, one word a start."""
    program = box.root / "talker"
    program.write_text(TALKER)
    program.chmod(0o755)
    env = ", ".join(
        f"{k} = {json.dumps(v)}" for k, v in {"OUT": str(box.out), "REPLIES": replies}.items()
    )
    box.config(
        'agent = "claude"\n[agents.claude]\ncommand = ["./talker"]\nmcp = false\n'
        f'env = {{ {env} }}\n[recovery]\ncontext_limit_wait = 0\nresume_text = "go on"\n'
    )


def prompts(box: Box) -> list[dict[str, str | None]]:
    return [json.loads(path.read_text()) for path in sorted(Path(box.out).glob("prompt-*"))]


def test_a_parked_task_is_woken_by_hand(box: Box) -> None:
    """Its limit would last for an hour; a person knows better, and it goes on at once."""
    box.scripted("append log one\nlimit session_limit 1h\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    going = box.start_run()
    going.event("task_parked", "T-1")
    told = box.segue("wake", "T-1", "--json")
    assert (told.code, told.json["by_run"]) == (0, True)
    assert going.end().code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_it_is_woken_also_where_nobody_runs_the_plan(box: Box) -> None:
    """The next run goes on with it at once."""
    box.scripted("append log one\nlimit weekly_limit 1h\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    assert box.run("--no-wait").code == 4
    assert box.segue("wake", "T-1").code == 0
    assert box.run("--no-wait").code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_a_running_task_is_parked_by_hand(box: Box) -> None:
    """Its agent ends with its tree, it keeps its mark and conversation, and goes on by itself."""
    box.scripted("append log one\nwait 1h\n[T-1 1]\nappend log again\nwait 1h\n")
    box.plan("- [ ] T-1: a\n")
    going = box.start_run()
    going.event("task_started", "T-1")
    before = datetime.now(UTC)
    assert box.segue("park", "T-1", "--for", "1h").code == 0
    parked = going.event("task_parked", "T-1")
    wakes_at = datetime.fromisoformat(parked["wakes_at"])
    assert parked["kind"] == "manual"
    assert timedelta(minutes=59) < wakes_at - before < timedelta(minutes=61)
    assert box.marks() == {"T-1": "~"}
    assert not box.agents()
    assert box.segue("wake", "T-1").code == 0
    going.event("task_resumed", "T-1")


def test_an_account_is_parked_and_woken_by_hand(box: Box) -> None:
    """Nothing of it starts; then it does, without a new start of Segue."""
    box.config('agent = "shell"\n')
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.hold('go')}\n- [ ] T-2: b\n  - run: true\n  - blocked by: T-1\n"
    )
    going = box.start_run()
    going.event("task_started", "T-1")
    assert box.segue("park", "shell", "--for", "1h").code == 0
    box.release("go")
    going.event("task_completed", "T-1")
    status = box.segue("status", "--json").json["accounts"]
    assert [(one["account"], one["state"]) for one in status] == [("shell", "parked")]
    assert not going.result.of("task_started", "T-2")
    assert box.segue("wake", "shell").code == 0
    assert going.end().code == 0


def test_to_wake_an_account_wakes_what_is_parked_of_it(box: Box) -> None:
    """One goes first, the others follow; nothing waits for the instant that the limit named."""
    box.scripted("append log one\nlimit session_limit 1h\nsay on\nappend log two\n")
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n")
    going = box.start_run("--jobs", "2")
    going.event("task_parked", "T-1")
    going.event("task_parked", "T-2")
    told = box.segue("wake", "actor", "--json")
    assert (told.code, told.json["account"], told.json["by_run"]) == (0, "actor", True)
    going.event("task_resumed", "T-1")
    going.event("task_resumed", "T-2")
    assert going.end().code == 0


def test_an_account_is_woken_also_where_nobody_runs_its_plans(box: Box) -> None:
    """The next run goes on with what was parked."""
    box.scripted("append log one\nlimit weekly_limit 1h\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    assert box.run("--no-wait").code == 4
    told = box.segue("wake", "actor", "--json")
    assert (told.code, told.json["by_run"]) == (0, False)
    assert box.run("--no-wait").code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_an_account_does_not_wake_what_a_person_parked(box: Box) -> None:
    """That task waits for its own instant, not for a limit."""
    box.scripted("wait 1h\n")
    box.plan("- [ ] T-1: a\n")
    going = box.start_run("--no-wait")
    going.event("task_started", "T-1")
    assert box.segue("park", "T-1", "--for", "1h").code == 0
    assert going.end().code == 4
    assert box.segue("wake", "actor").code == 0
    assert box.run("--no-wait").code == 4


@pytest.mark.parametrize("more", [(), ("--plan", "PLAN.md")])
def test_an_account_of_the_settings_can_be_parked_before_any_run(
    box: Box, more: tuple[str, ...]
) -> None:
    """Nothing of it starts then; `--plan` does not keep an account from being found."""
    box.config('agent = "work"\n[agents.work]\nkind = "shell"\naccount = "purse"\n')
    box.plan("- [ ] T-1: a\n  - run: true\n")
    assert box.segue("wake", "purse", "--json").json["account"] == "purse"
    assert not (box.root / ".segue").exists()
    told = box.segue("park", "purse", "--for", "1h", *more, "--json")
    assert (told.code, told.json["account"]) == (0, "purse")
    assert box.run("--no-wait").code == 4
    assert box.segue("wake", "purse").code == 0
    assert box.segue("status", "--json").json["plans"][0]["parks"] == []
    assert box.run("--no-wait").code == 0


@pytest.mark.parametrize(
    "args",
    [
        ("park", "T-9", "--for", "1h"),
        ("park", "T-1"),
        ("park", "T-1", "--for", "soon"),
        ("park", "T-1", "--until", "25:00"),
        ("park", "T-1", "--for", "1h", "--until", "08:00"),
        ("park", "T-1", "--for", "1h"),
        ("wake", "T-1"),
    ],
)
def test_an_order_that_cannot_be_is_told(box: Box, args: tuple[str, ...]) -> None:
    """Unknown names, no instant, two instants, nothing that runs: exit 2 with what to do."""
    box.config('agent = "shell"\n')
    box.plan("- [ ] T-1: a\n  - run: true\n")
    assert box.run().code == 0
    done = box.segue(*args)
    assert done.code == 2
    assert "→" in done.err


def test_another_agent_takes_over(box: Box) -> None:
    """Parked for longer than `fallback_after`: the other one does it, with what is known of it;
    tasks that begin meanwhile go to it, too."""
    box.scripted(
        "say half of it\nlimit session_limit 1h\n",
        '[agents.actor2]\nkind = "command"\ncommand = ["./other"]\n',
    )
    text = (box.root / "segue.toml").read_text()
    box.config(
        text.replace(
            'kind = "script"', 'kind = "script"\nfallback = "actor2"\nfallback_after = "30m"', 1
        )
    )
    other = box.root / "other"
    other.write_text(f'#!/bin/sh\ncat > "{box.out}/$SEGUE_TASK"\n')
    other.chmod(0o755)
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n  - blocked by: T-1\n")
    done = box.run()
    assert done.code == 0
    assert done.tasks("task_handed_over") == ["T-1"]
    assert not done.of("task_parked")
    assert "half of it" in (box.out / "T-1").read_text()
    assert [e["agent"] for e in done.of("task_started")] == ["actor", "actor2"]


def test_a_short_park_is_waited_for(box: Box) -> None:
    """`fallback_after` is compared with how long the park will last."""
    box.scripted(
        "limit session_limit 1s\nsay on\n",
        '[agents.actor2]\nkind = "command"\ncommand = ["/bin/false"]\n',
    )
    text = (box.root / "segue.toml").read_text()
    box.config(
        text.replace(
            'kind = "script"', 'kind = "script"\nfallback = "actor2"\nfallback_after = "30m"', 1
        )
    )
    box.plan("- [ ] T-1: a\n")
    done = box.run()
    assert done.code == 0
    assert done.tasks("task_parked") == ["T-1"]


def test_a_full_context_is_made_smaller_first(box: Box) -> None:
    """Its own compaction in the same conversation, then on; no retry is used, no window counted."""
    talker(box, "long,ok,ok")
    box.plan("- [ ] T-1: a\n  - retries: 0\n")
    done = box.run()
    assert done.code == 0
    first, compaction, after = prompts(box)
    assert first["resume"] is None
    assert str(compaction["text"]).strip() == "/compact"
    assert str(after["text"]).strip() == "go on"
    assert compaction["resume"] == after["resume"] is not None


def test_a_context_that_stays_full_is_begun_afresh(box: Box) -> None:
    """Compaction changed nothing: a new conversation with a summary, and only then a failure."""
    talker(box, "long,ok,long,ok")
    box.plan("- [ ] T-1: the task's title\n")
    assert box.run().code == 0
    afresh = prompts(box)[3]
    assert afresh["resume"] is None
    assert "the task's title" in str(afresh["text"])


@pytest.mark.parametrize("replies", ["long,error,long", "long,ok,long,long"])
def test_a_context_that_is_full_with_a_summary_alone_fails(box: Box, replies: str) -> None:
    """It is told as what it is; nothing goes round in circles."""
    talker(box, replies)
    box.plan("- [ ] T-1: a\n  - retries: 2\n")
    done = box.run()
    assert done.code == 1
    assert "context" in done.of("task_failed", "T-1")[0]["error"]
    assert len(prompts(box)) == len(replies.split(","))


def test_unskip_is_taken_in_by_the_run(box: Box) -> None:
    """What a person skipped is done after all, and what waited for it as well, in the same run."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.hold('go')}\n- [-] T-2: b\n  - run: {box.note()}\n"
        f"- [-] T-3: c (deps: T-2)\n  - run: {box.note()}\n"
    )
    going = box.start_run("--jobs", "3")
    going.event("task_started", "T-1")
    said = box.segue("unskip", "T-2")
    assert said.code == 0, said.said
    until(lambda: box.notes() == ["T-2", "T-3"], "both done")
    box.release("go")
    assert going.end().code == 0
    assert box.marks() == {"T-1": "x", "T-2": "x", "T-3": "x"}
