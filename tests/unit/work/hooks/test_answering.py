"""What is answered to Claude Code's hooks, by the payloads that were really seen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kit.hooks import DESIGN, NOW, SEEN, Yard, payload
from segue.core.machines import PlanState, Trigger
from segue.engine.clock import SystemClock
from segue.engine.ledger import Ledger
from segue.engine.locks import lock_path
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work.hooks import answering
from segue.work.hooks.notes import CONVERSATIONS_MAX, LOG_BYTES_MAX, Notes
from segue.work.project import Project

PLACE = "# Where you are\n\n- [x] 1. stones\n- [ ] 2. lamp\n- [ ] 3. paint\n\nNext: step 2\n"
START = payload("SessionStart")
COMPACT = {**START, "source": "compact"}
STOP = payload("Stop")


@pytest.fixture
def run(yard: Yard) -> dict[str, str]:
    """The environment of a run whose place is known."""
    yard.place.write_text(PLACE)
    return yard.run_env()


# Whatever comes


@pytest.mark.parametrize("given", SEEN, ids=lambda one: one["hook_event_name"])
def test_every_payload_that_was_seen_is_understood(yard: Yard, given: dict[str, Any]) -> None:
    """With nothing under way nothing is said, nothing is an error, and the firing is noted."""
    assert yard.fires(given) is None
    assert "Error" not in yard.log
    assert Notes(Project(yard.root)).last_fired(given["hook_event_name"]) == NOW


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"a":' * 5_000, b"\xff\xfe", b'"' + b"x" * 5_000_000]
)
@pytest.mark.parametrize("event", ["SessionStart", "Stop", "StopFailure", "PreCompact"])
def test_garbage_is_logged_and_not_answered(yard: Yard, event: str, data: bytes) -> None:
    """An agent never stumbles over its hook."""
    assert yard.fires(data, event=event) is None
    assert event in yard.log
    assert len(yard.log) < 1_000


@pytest.mark.parametrize("event", ["", "Other", "../../x"])
def test_an_unknown_event_is_nobody_s(yard: Yard, event: str) -> None:
    """Nothing is said and nothing is written."""
    before = sorted(yard.root.rglob("*"))
    assert yard.fires(b"{}", event=event) is None
    assert sorted(yard.root.rglob("*")) == before


def test_values_of_other_kinds_are_no_texts(yard: Yard, run: dict[str, str]) -> None:
    """What should be a text and is none counts as missing."""
    assert yard.fires({**START, "source": ["compact"]}, run) is None
    assert yard.fires({**STOP, "session_id": 7}, run) is None
    assert yard.fires({**STOP, "session_id": "../../etc"}, run) is None
    assert yard.fires({**STOP, "last_assistant_message": {"a": 1}}, run) is not None


def test_a_folder_that_cannot_be_written_is_silent(tmp_path: Path) -> None:
    """Not even the log can be: nothing is raised."""
    (tmp_path / "file").write_text("")
    env = {"CLAUDE_PROJECT_DIR": str(tmp_path / "file" / "below"), "HOME": str(tmp_path)}
    assert answering.answer("SessionStart", b"{", env, NOW) == ""


# Session start


@pytest.mark.parametrize("source", ["startup", "resume", "compact"])
def test_a_run_gets_its_place(yard: Yard, run: dict[str, str], source: str) -> None:
    """Whatever it starts from, the file that Segue keeps current is its context."""
    assert yard.context({**START, "source": source}, run) == PLACE
    assert "the place was told" in yard.log


def test_a_cleared_conversation_is_meant_to_be_empty(yard: Yard, run: dict[str, str]) -> None:
    """Other sources are not ours."""
    assert yard.fires({**START, "source": "clear"}, run) is None


def test_a_run_without_a_place_is_told_nothing(yard: Yard) -> None:
    """Neither the place of another run nor a person's feature."""
    yard.feature()
    env = yard.run_env()
    assert yard.fires(COMPACT, env) is None
    del env["SEGUE_PLACE"]
    assert yard.fires(COMPACT, env) is None


def test_a_place_is_bounded(yard: Yard, run: dict[str, str]) -> None:
    """Claude Code takes only so much."""
    yard.place.write_text("x" * 200_000)
    assert len(yard.context(COMPACT, run)) == answering.CONTEXT_CHARS_MAX


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_feature_is_put_back(yard: Yard, source: str) -> None:
    """Feature, phase, checkpoint, iteration, and what to read again: state, design, its files."""
    yard.feature()
    design = yard.root / "docs" / "design" / "harbour-lights.md"
    design.parent.mkdir(parents=True)
    design.write_text(DESIGN)
    text = yard.context({**START, "source": source})
    assert "“harbour lights”, phase IMPLEMENT" in text
    assert "Checkpoints: cp-1 passed, cp-2 in_progress (iter 1/3)" in text
    assert "Next: cp-2, iteration 1/3" in text
    assert (
        "Read these files again first: .develop-workflow/state.yaml, docs/design/harbour-lights.md,"
        " lamps/*.py\n" in text
    )


def test_a_person_who_begins_is_told_in_two_lines(yard: Yard) -> None:
    """What is under way, and how to go on with it; no more than that."""
    yard.feature()
    lines = yard.context(START).splitlines()
    assert len(lines) == 2
    assert "harbour lights" in lines[0]
    assert "segue develop --resume" in lines[1]


@pytest.mark.parametrize("text", ["phase: DONE\nfeature: x\n", "", "phase: [", "phase: NO\n"])
def test_a_feature_that_is_done_or_broken_is_not_told(yard: Yard, text: str) -> None:
    """A guess would be worse than nothing."""
    yard.feature()
    (yard.root / ".develop-workflow" / "state.yaml").write_text(text)
    assert yard.fires(COMPACT) is None
    assert yard.fires(STOP) is None


def known_plan(yard: Yard, name: str, state: PlanState, cause: Trigger, marks: str) -> Path:
    """A plan that Segue has run, and how it left it."""
    path = yard.root / name
    path.write_text("".join(f"- [{m}] **T-{n}**: do\n" for n, m in enumerate(marks, 1)))
    Project(yard.root).prepare()
    store = Store.open(Project(yard.root).database)
    ledger = Ledger(store, SystemClock(), path, "tasklist")
    ledger.move_plan(PlanState.RUNNING, Trigger.START)
    if state is not PlanState.RUNNING:
        ledger.move_plan(state, cause)
    ledger.commit()
    store.close()
    return path


def test_plans_that_were_interrupted_are_told(yard: Yard) -> None:
    """Two lines for each, and that they are only told; finished ones are not."""
    known_plan(yard, "A.md", PlanState.INTERRUPTED, Trigger.INTERRUPT, "x~ ")
    known_plan(yard, "B.md", PlanState.FINISHED, Trigger.FINISH, "xx")
    text = yard.context(COMPACT)
    assert "A.md: interrupted, 1 of 3 done; in progress: T-2\n" in text
    assert "To continue: segue run A.md\n" in text
    assert "do what your task asks" in text
    assert "B.md" not in text
    assert len(yard.context(START).splitlines()) == 2


LIST = """\
- [x] **T-1**: The store
- [~] **T-2**: Login form
  - files: src/login/*.py
  - [x] the fields
  - [ ] the errors
- [ ] **T-3**: The guide
"""


@pytest.mark.parametrize("is_known", [True, False])
def test_the_place_in_a_task_list_is_put_back(yard: Yard, is_known: bool) -> None:
    """Task, steps, and what to read again; of PLAN.md also where Segue's memory is gone."""
    if is_known:
        known_plan(yard, "PLAN.md", PlanState.INTERRUPTED, Trigger.INTERRUPT, "")
    (yard.root / "PLAN.md").write_text(LIST)
    text = yard.context(COMPACT)
    assert "Next: T-2 Login form\n- [x] 1. the fields\n- [ ] 2. the errors\n" in text
    assert "Read these files again first: PLAN.md, line 2, src/login/*.py\n" in text
    assert "segue run PLAN.md\n" in text
    assert "T-3" not in text
    assert len(yard.context(START).splitlines()) == 2


def test_between_two_tasks_the_next_one_is_told(yard: Yard) -> None:
    """Nothing was in progress when it stopped."""
    known_plan(yard, "A.md", PlanState.INTERRUPTED, Trigger.INTERRUPT, "")
    (yard.root / "A.md").write_text(LIST.replace("[~]", "[x]"))
    assert "Next: T-3 The guide\n" in yard.context(COMPACT)


def test_a_plan_that_has_not_begun_is_not_under_way(yard: Yard) -> None:
    """Nor is one that nobody can read."""
    (yard.root / "PLAN.md").write_text("- [ ] **T-1**: do\n")
    assert yard.fires(COMPACT) is None
    (yard.root / "PLAN.md").write_bytes(b"\xff\xfe- [~]")
    assert yard.fires(COMPACT) is None


def test_a_task_list_beside_a_feature_is_told_as_well(yard: Yard) -> None:
    """The feature first."""
    yard.feature()
    known_plan(yard, "A.md", PlanState.INTERRUPTED, Trigger.INTERRUPT, "~")
    text = yard.context(COMPACT)
    assert text.index("harbour lights") < text.index("A.md: interrupted")


def test_a_plan_at_which_segue_works_is_told_as_such(yard: Yard) -> None:
    """Nobody is told to go on with what goes on."""
    path = known_plan(yard, "A.md", PlanState.RUNNING, Trigger.START, "~")
    lock = lock_path(Project(yard.root), path)
    lock.parent.mkdir(exist_ok=True)
    held = Lock(lock)
    assert held.take(since="now", command="segue run") is None
    try:
        text = yard.context(COMPACT)
    finally:
        held.release()
    assert f"Segue is running it (process {os.getpid()})" in text
    assert "segue run" not in text


# Before a compaction


def test_a_compaction_is_noted(yard: Yard, run: dict[str, str]) -> None:
    """Nothing is said; the instant is known."""
    assert yard.fires(payload("PreCompact"), run) is None
    assert "PreCompact T-1-4f2a: the context is compacted" in yard.log


# Stop


def reason(said: dict[str, Any] | None) -> str:
    assert said is not None
    assert said["decision"] == "block"
    return str(said["reason"])


def test_a_run_that_stops_is_told_what_is_left(yard: Yard, run: dict[str, str]) -> None:
    """The steps that it has not told of, by their numbers."""
    text = reason(yard.fires(STOP, run))
    assert "- 2. lamp\n- 3. paint\n" in text
    assert "stones" not in text


def test_what_was_told_a_moment_ago_counts(yard: Yard, run: dict[str, str]) -> None:
    """By tool call, or in the very last words: Segue may not have written it down yet."""
    yard.tells("report_step", n=2)
    yard.tells("report_step", nonce="other", n=3)
    assert reason(yard.fires(STOP, run)).count("\n- ") == 1
    said = f"{STOP['last_assistant_message']}\n=== STEP 3 DONE c0ffee ===\n"
    assert yard.fires({**STOP, "last_assistant_message": said}, run) is None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ask_question", {"question": "Which?"}),
        ("request_dependency", {"type": "file", "name": "x", "description": "y"}),
        ("complete_task", {"summary": "done"}),
        ("report_error", {"message": "no disk", "type": "fatal"}),
    ],
)
def test_a_run_that_has_asked_or_ended_may_stop(
    yard: Yard, run: dict[str, str], tool: str, arguments: dict[str, Any]
) -> None:
    """It waits for a person, or says that it is done."""
    yard.tells(tool, **arguments)
    assert yard.fires(STOP, run) is None


@pytest.mark.parametrize(
    "word", ["USER_QUESTION", "USER_QUESTION_JSON", "DEPENDENCY_REQUEST", "ERROR"]
)
def test_a_question_in_words_may_stop(yard: Yard, run: dict[str, str], word: str) -> None:
    """Those without tools ask by text."""
    said = f"[{word} c0ffee]\nquestion: which?\n[/{word}]"
    assert yard.fires({**STOP, "last_assistant_message": said}, run) is None


def test_nobody_is_held_twice_in_a_row(yard: Yard, run: dict[str, str]) -> None:
    """A stop behind one that was held is let through; so is one that does not say."""
    assert yard.fires({**STOP, "stop_hook_active": True}, run) is None
    bare = {key: value for key, value in STOP.items() if key != "stop_hook_active"}
    assert yard.fires(bare, run) is None


def test_a_conversation_is_held_twice_at_most(yard: Yard, run: dict[str, str]) -> None:
    """Then it may stop, whatever is left; another conversation begins to count anew."""
    held = [yard.fires(STOP, run) is not None for _time in range(4)]
    assert held == [True, True, False, False]
    assert yard.fires({**STOP, "session_id": "another"}, run) is not None


def test_a_run_without_steps_may_stop(yard: Yard, run: dict[str, str]) -> None:
    """A judge, a review, a task without steps: their places have no open boxes."""
    yard.place.write_text("# Where you are\nNext: judge the chapter\n")
    assert yard.fires(STOP, run) is None


def test_a_person_s_agent_is_told_of_its_checkpoint(yard: Yard) -> None:
    """In the middle of the loop, and only there."""
    yard.feature()
    assert "cp-2, iteration 1/3" in reason(yard.fires(STOP))
    for phase, status in (("REVIEW", "in_progress"), ("IMPLEMENT", "passed")):
        yard.feature(phase, status)
        assert yard.fires({**STOP, "session_id": f"{phase}-{status}"}) is None


def test_a_checkpoint_that_segue_works_on_is_not_the_person_s(yard: Yard) -> None:
    """Whoever talks to another agent meanwhile is left in peace."""
    yard.feature()
    state = yard.root / ".develop-workflow" / "state.yaml"
    Project(yard.root).prepare()
    held = Lock(lock_path(Project(yard.root), state))
    assert held.take(since="now", command="segue develop") is None
    try:
        assert yard.fires(STOP) is None
        assert f"process {os.getpid()}" in yard.context(COMPACT)
    finally:
        held.release()


# What is remembered


def test_the_log_is_bounded(yard: Yard) -> None:
    """A log that grew too long is put aside, once; lines are short."""
    notes = Notes(Project(yard.root))
    for _number in range(LOG_BYTES_MAX // 500 * 3):
        notes.log("x\n" * 5_000, NOW)
    logs = sorted((yard.root / ".segue" / "logs").iterdir())
    assert [path.name for path in logs] == ["hooks.log", "hooks.log.1"]
    assert all(path.stat().st_size <= LOG_BYTES_MAX + 1_000 for path in logs)


def test_conversations_are_forgotten_in_the_end(yard: Yard) -> None:
    """Their counts do not pile up."""
    notes = Notes(Project(yard.root))
    for number in range(CONVERSATIONS_MAX + 5):
        notes.count_held(f"c{number}")
    kept = list((yard.root / ".segue" / "hooks").glob("held-*"))
    assert len(kept) == CONVERSATIONS_MAX
    assert notes.times_held(f"c{CONVERSATIONS_MAX + 4}") == 1


def test_the_memory_is_made_where_it_was_deleted(yard: Yard) -> None:
    """With its own .gitignore."""
    (yard.root / ".segue" / "runs").rmdir()
    (yard.root / ".segue").rmdir()
    assert yard.fires(payload("PreCompact")) is None
    assert (yard.root / ".segue" / ".gitignore").exists()
