"""What each mark means when a plan is taken up again."""

from __future__ import annotations

from kit.box import Box


def test_pending_runs_and_completed_does_not(box: Box) -> None:
    """`[ ]` runs; `[x]` and `[X]` are passed over, and a capital X stays as it was written."""
    box.plan(
        f"- [ ] **T-1**: a\n  - run: {box.note()}\n"
        f"- [x] **T-2**: b\n  - run: {box.note()}\n"
        f"- [X] **T-3**: c\n  - run: {box.note()}\n"
    )
    done = box.run()
    assert done.code == 0
    assert box.notes() == ["T-1"]
    assert box.marks() == {"T-1": "x", "T-2": "x", "T-3": "X"}
    assert sorted(done.finished["completed"]) == ["T-1", "T-2", "T-3"]


def test_in_progress_starts_again_with_its_steps_reset(box: Box) -> None:
    """A task found `[~]` begins again: the agent finds all its sub-steps at `[ ]`."""
    box.plan(
        "- [~] **T-3**: API 구현\n"
        "  - 작업:\n"
        "    - [x] 엔드포인트 정의\n"
        "    - [x] 핸들러 구현\n"
        "    - [ ] 에러 처리\n"
        f"  - run: cp PLAN.md {box.out}/seen\n"
    )
    assert box.run().code == 0
    seen = (box.out / "seen").read_text("utf-8")
    assert "- [~] **T-3**" in seen
    assert seen.count("    - [ ] ") == 3
    assert box.text().count("    - [x] ") == 3, "on success all sub-steps are ticked"


def test_every_task_in_progress_is_reset_before_anything_runs(box: Box) -> None:
    """The reset comes first: while an earlier task runs, a later `[~]` stands at `[ ]`."""
    box.plan(
        f"## Wave 1\n- [ ] **T-1**: a\n  - run: cp PLAN.md {box.out}/seen; {box.note()}\n"
        f"## Wave 2\n- [~] **T-2**: b\n  - steps:\n    - [x] half\n  - run: {box.note()}\n"
    )
    assert box.run().code == 0
    assert box.notes() == ["T-1", "T-2"], "the first unfinished wave comes first"
    seen = (box.out / "seen").read_text("utf-8")
    assert "- [ ] **T-2**" in seen
    assert "- [ ] half" in seen


def test_a_step_of_a_completed_task_is_left_alone(box: Box) -> None:
    """Only tasks in progress are reset; sub-steps of others keep their marks."""
    before = (
        "- [x] **T-1**: a\n  - steps:\n    - [x] s\n    - [ ] t\n- [ ] **T-2**: b\n  - run: true\n"
    )
    box.plan(before)
    assert box.run().code == 0
    assert box.text() == before.replace("- [ ] **T-2**", "- [x] **T-2**")


def test_skipped_runs_once_all_its_blockers_are_completed(box: Box) -> None:
    """`[-]` whose blockers are all completed becomes `[ ]` and runs."""
    box.plan(f"- [x] **T-1**: a\n- [-] **T-2**: b\n  - blocked by: T-1\n  - run: {box.note()}\n")
    assert box.run().code == 0
    assert box.notes() == ["T-2"]
    assert box.marks()["T-2"] == "x"


def test_skipped_stays_while_a_blocker_is_failed(box: Box) -> None:
    """`[-]` with a failed blocker stays `[-]` all the time, also through another skipped one."""
    box.plan(
        "- [!] **T-1**: a\n  - run: true\n"
        f"- [-] **T-2**: b\n  - blocked by: T-1\n  - run: {box.note()}\n"
        f"- [-] **T-3**: c\n  - blocked by: T-2\n  - run: {box.note()}\n"
        f"- [ ] **T-4**: d\n  - run: cp PLAN.md {box.out}/seen\n"
    )
    done = box.run("--on-failed", "ask")
    assert done.code == 3
    assert box.notes() == []
    assert box.marks() == {"T-1": "!", "T-2": "-", "T-3": "-", "T-4": "x"}
    assert done.tasks("task_skipped") == [], "nothing was skipped anew"
    assert (box.out / "seen").read_text().count("- [-] ") == 2


def test_skipped_waits_for_a_blocker_that_is_not_finished(box: Box) -> None:
    """`[-]` with an unfinished blocker becomes `[ ]`, waits for it and runs after it."""
    box.plan(
        f"- [ ] **T-1**: a\n  - run: cp PLAN.md {box.out}/seen; {box.note()}\n"
        f"- [-] **T-2**: b\n  - blocked by: T-1\n  - run: {box.note()}\n"
    )
    assert box.run().code == 0
    assert box.notes() == ["T-1", "T-2"]
    assert "- [ ] **T-2**" in (box.out / "seen").read_text("utf-8")


def test_skipped_by_a_person_stays(box: Box) -> None:
    """`[-]` without blockers was a person's word and is not touched."""
    box.plan(f"- [-] **T-1**: a\n  - run: {box.note()}\n- [ ] **T-2**: b\n  - run: {box.note()}\n")
    done = box.run()
    assert box.notes() == ["T-2"]
    assert box.marks() == {"T-1": "-", "T-2": "x"}
    assert done.finished["skipped"] == ["T-1"]
    assert done.code == 1, "something was skipped"


def test_what_a_person_skipped_holds_its_dependants_and_the_run_ends(box: Box) -> None:
    """A task behind one that a person skipped never starts; the run ends and says which holds it."""
    box.plan(f"- [-] **T-1**: a\n- [ ] **T-2**: b\n  - blocked by: T-1\n  - run: {box.note()}\n")
    done = box.segue("run", "PLAN.md", wait_s=90)
    assert done.code == 1
    assert box.notes() == []
    assert "T-1" in done.said
    assert "T-2" in done.said


def test_a_finished_wave_is_passed_over_and_a_half_finished_one_goes_on(box: Box) -> None:
    """Of a wave that is half done only the rest runs, then the next wave."""
    line = f"\n  - run: {box.note()}\n"
    box.plan(
        f"## Wave 1\n- [x] **T-1**: a{line}- [x] **T-2**: b{line}"
        f"## Wave 2\n- [x] **T-3**: c{line}- [ ] **T-4**: d{line}- [~] **T-5**: e{line}"
        f"## Wave 3\n- [ ] **T-6**: f{line}"
    )
    assert box.run("--jobs", "1").code == 0
    assert sorted(box.notes()[:2]) == ["T-4", "T-5"]
    assert box.notes()[2:] == ["T-6"]


def test_a_finished_plan_runs_nothing(box: Box) -> None:
    """All done: exit 0, nothing starts, not a byte changes."""
    path = box.plan(f"- [x] **T-1**: a\n  - run: {box.note()}\n")
    before = path.read_bytes()
    done = box.run()
    assert (done.code, done.finished["completed"]) == (0, ["T-1"])
    assert done.of("task_started") == []
    assert path.read_bytes() == before


def test_a_killed_mark_needs_no_memory(box: Box) -> None:
    """With `.segue/` deleted between two runs the plan alone says where to go on."""
    box.plan(
        f"- [ ] **T-1**: a\n  - run: {box.note()}\n"
        f"- [ ] **T-2**: b\n  - blocked by: T-1\n  - retries: 0\n  - run: {box.note()}; test -e ok\n"
    )
    assert box.run().code == 1
    for path in sorted((box.root / ".segue").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (box.root / ".segue").rmdir()
    (box.root / "ok").touch()
    assert box.run("--on-failed", "retry").code == 0
    assert box.notes() == ["T-1", "T-2", "T-2"]


def test_lost_memory_of_a_task_in_progress_is_told(box: Box) -> None:
    """A cold start with a `[~]` says in words that its place was lost and it begins again."""
    box.plan(f"- [~] **T-1**: a\n  - run: {box.note()}\n")
    done = box.segue("run", "PLAN.md")
    assert done.code == 0
    first = done.said.split("▶")[0]
    assert "T-1" in first, done.said
