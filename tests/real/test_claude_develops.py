"""Claude Code, for real: a feature from design to merge, its checkpoints in one conversation."""

from __future__ import annotations

import json

from kit.stage import FULL, Stage, at

BLOCK = """\
```yaml checkpoints
- {id: cp-1, description: The first line, validate: grep -q one both.txt, files: [both.txt]}
- {id: cp-2, description: The second line, validate: grep -q two both.txt, files: [both.txt]}
```
"""
DESIGN = ("tool:mkdir -p docs/design && echo '# Chat' > docs/design/chat.md", "say:designed")
REVIEW = (f"tool:cat >> docs/design/chat.md <<'END'\n{BLOCK}END", "say:reviewed")
FIRST = ("tool:echo one >> both.txt", "say:the first is done")
SECOND = ("tool:echo two >> both.txt", "say:the second is done")
MERGE = ("say:merged",)
DONE = (
    "checkpoints:\n"
    "  cp-1: { status: passed, iteration: 1 }\n"
    "  cp-2: { status: passed, iteration: 1 }\n"
)


def conversations(stage: Stage, task: str) -> set[str]:
    """The ids that Claude itself gave to the conversations of a task's runs."""
    found = set()
    for log in (stage.root / ".segue" / "logs").glob(f"{task}-*.log"):
        for line in log.read_text("utf-8").splitlines():
            told = json.loads(line) if line.startswith("{") else {}
            if told.get("type") == "system" and told.get("subtype") == "init":
                found.add(told["session_id"])
    return found


def test_checkpoints_in_the_same_files_are_one_conversation(stage: Stage) -> None:
    """Design and review have one each; the second checkpoint goes on in that of the first."""
    stage.agent("claude", *DESIGN, *REVIEW, *FIRST, *SECOND, *MERGE, more=FULL)
    done = stage.segue("develop", "chat", "--json")
    assert (done.code, done.finished["strategy"]) == (0, "direct"), done.said
    assert stage.text("both.txt") == "one\ntwo\n"
    assert conversations(stage, "cp-1") == conversations(stage, "cp-2")
    ids = [conversations(stage, task) for task in ("design", "review", "cp-1", "merge")]
    assert len(set.union(*ids)) == len(ids) == sum(map(len, ids)), ids
    second = next(a for a in stage.asked() if a.prompt.startswith("# cp-2"))
    assert [text for text in second.prompts if text.startswith("# cp-1")], "it knows the first"
    assert not [text for text in second.prompts if text.startswith("# review")]
    assert stage.text(".develop-workflow/state.yaml").endswith(DONE)
    stage.nothing_left()


def test_a_limit_in_a_checkpoint_uses_up_no_iteration(stage: Stage) -> None:
    """It is waited for until its instant, and gone on with in the same conversation."""
    first = (FIRST[0], "429u5h:3", FIRST[1])
    stage.agent("claude", *DESIGN, *REVIEW, *first, *SECOND, *MERGE, more=FULL, oauth=True)
    done = stage.segue("develop", "chat", "--json")
    assert done.code == 0, done.said
    (parked,) = done.of("task_parked")
    (resumed,) = done.of("task_resumed")
    assert (parked["task"], resumed["task"]) == ("cp-1", "cp-1")
    assert at(resumed["at"]) >= at(parked["wakes_at"])
    assert done.of("task_retrying") == []
    assert stage.text("both.txt") == "one\ntwo\n", "nothing was done twice"
    assert len(conversations(stage, "cp-1") | conversations(stage, "cp-2")) == 1
    assert stage.text(".develop-workflow/state.yaml").endswith(DONE)
    stage.nothing_left()
