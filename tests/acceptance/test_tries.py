"""When a task counts as done: verify, evidence, retries, time limits."""

from __future__ import annotations

import pytest

from kit.box import Box


def evidence(box: Box) -> str:
    return "".join(
        path.read_text("utf-8", "replace") for path in box.evidence.rglob("*") if path.is_file()
    )


def test_claimed_is_not_verified(box: Box) -> None:
    """An agent that ends well with a check that fails has failed: three runs, then `[!]`."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.note()}\n  - verify: `echo red-light; {box.note('v', 'v')}; exit 7`\n"
    )
    done = box.run()
    assert done.code == 1
    assert box.notes() == ["T-1"] * 3, "two retries after the first run"
    assert box.notes("v") == ["v"] * 3
    assert box.marks() == {"T-1": "!"}
    assert "  <!-- retries: 2/2 -->\n" in box.text()
    assert "red-light" in evidence(box), "the output of the check is kept"
    assert done.finished["failed"] == ["T-1"]


def test_the_check_of_a_success_is_kept_as_evidence(box: Box) -> None:
    """What verify printed stays in `.segue/evidence`, and it ran in the project's folder."""
    box.plan(
        "- [ ] T-1: a\n  - run: echo made > made.txt\n  - verify: `cat made.txt; pwd; echo err >&2`\n"
    )
    assert box.run().code == 0
    kept = evidence(box)
    assert "made" in kept
    assert str(box.root) in kept
    assert "err" in kept


def test_verify_runs_only_when_the_agent_ended_well(box: Box) -> None:
    """An agent that fails is not checked."""
    box.plan(f"- [ ] T-1: a\n  - retries: 0\n  - run: false\n  - verify: {box.note('v', 'v')}\n")
    assert box.run().code == 1
    assert box.notes("v") == []


def test_a_retry_that_succeeds(box: Box) -> None:
    """The second try is told its number, its run is another, and the task ends `[x]`."""
    box.plan(
        f"- [ ] T-1: a\n  - run: cp PLAN.md {box.out}/seen; {box.note('tries', '$SEGUE_ATTEMPT')};"
        f" {box.note('runs', '$SEGUE_RUN')}; test $SEGUE_ATTEMPT = 2\n"
    )
    done = box.run()
    assert done.code == 0
    assert box.notes("tries") == ["1", "2"]
    assert len(set(box.notes("runs"))) == 2
    seen = (box.out / "seen").read_text()
    assert "- [~] T-1" in seen
    assert "  <!-- previous error: exit code 1 -->\n" in seen
    assert "  <!-- retries: 1/2 -->\n" in seen
    assert box.marks() == {"T-1": "x"}
    assert done.tasks("task_completed") == ["T-1"]
    assert done.tasks("task_failed") == [], "a try that is followed by another is no failed task"


def test_comments_in_korean(box: Box) -> None:
    """With --lang ko the comments are the Korean ones of the original."""
    box.scripted("fail npm test 실패\n")
    box.plan("- [ ] **T-003**: API 구현\n")
    assert box.run("--lang", "ko").code == 1
    error = next(line for line in box.text().splitlines() if "이전 에러" in line)
    assert error.startswith("  <!-- 이전 에러: ")
    assert error.endswith("npm test 실패 -->")
    assert "  <!-- 재시도: 2/2 -->\n" in box.text()


def test_comments_are_replaced_not_piled_up(box: Box) -> None:
    """Three tries leave one error comment and one count."""
    box.plan("- [ ] T-1: a\n  - run: echo no$SEGUE_ATTEMPT >&2; exit $SEGUE_ATTEMPT\n")
    assert box.run().code == 1
    assert box.text().count("<!--") == 2


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_comments_of_the_other_language_are_read_and_replaced(box: Box, lang: str) -> None:
    """A count in either language counts, and one comment of each kind stays."""
    box.plan(
        "- [!] **T-1**: a\n  - run: false\n  <!-- 이전 에러: npm test 실패 -->\n  <!-- 재시도: 2/2 -->\n"
        "- [!] **T-2**: b\n  - run: false\n  <!-- previous error: it broke -->\n  <!-- retries: 2/2 -->\n"
    )
    assert box.run("--on-failed", "retry", "--lang", lang).code == 1
    assert box.text().count("<!--") == 4
    assert "npm test" not in box.text()


def test_retries_zero_means_one_run(box: Box) -> None:
    """`retries: 0`: one run, then `[!]`."""
    box.plan(f"- [ ] T-1: a\n  - retries: 0\n  - run: {box.note()}; false\n")
    assert box.run().code == 1
    assert box.notes() == ["T-1"]


def test_more_retries_are_counted_in_the_comment(box: Box) -> None:
    """The limit in the comment is the task's own."""
    box.plan(f"- [ ] T-1: a\n  - retries: 3\n  - run: {box.note()}; false\n")
    assert box.run().code == 1
    assert box.notes() == ["T-1"] * 4
    assert "<!-- retries: 3/3 -->" in box.text()


def test_a_crash_is_a_failure_that_is_tried_again(box: Box) -> None:
    """An agent that dies by a signal is started again."""
    box.scripted("[T-1 1]\ncrash\n[T-1 2]\nwrite made.txt yes\n")
    box.plan("- [ ] T-1: a\n")
    assert box.run().code == 0
    assert (box.root / "made.txt").read_text() == "yes\n"


def test_a_timeout_ends_the_whole_tree_of_the_agent(box: Box) -> None:
    """A task that takes too long is ended with everything it started, and has failed."""
    box.plan(
        "- [ ] T-1: a\n  - timeout: 1s\n  - retries: 0\n"
        "  - run: trap '' TERM INT HUP; (setsid sleep 300 &); sleep 301 & sleep 302\n"
    )
    done = box.run(wait_s=90)
    assert done.code == 1
    assert box.marks() == {"T-1": "!"}
    assert box.agents() == {}
    error = next(line for line in box.text().splitlines() if "previous error" in line)
    assert "1s" in error or "time" in error.lower()


def test_a_timeout_of_the_check_counts_too(box: Box) -> None:
    """A check that never ends does not hold the plan for ever."""
    box.plan(
        "- [ ] T-1: a\n  - timeout: 1s\n  - retries: 0\n  - run: true\n  - verify: sleep 300\n"
    )
    done = box.run(wait_s=90)
    assert done.code == 1
    assert box.left_behind() == {}


def test_what_an_agent_leaves_running_is_ended_with_it(box: Box) -> None:
    """A child that outlives its agent does not outlive the run."""
    box.plan("- [ ] T-1: a\n  - run: (setsid sleep 300 > /dev/null 2>&1 &); true\n")
    assert box.run().code == 0
    assert box.left_behind() == {}


def test_a_failure_skips_all_that_depends_on_it(box: Box) -> None:
    """Directly or not, dependants become `[-]`; what does not depend on it runs."""
    box.plan(
        "- [ ] T-1: a\n  - retries: 0\n  - run: false\n"
        "- [ ] T-2: b (deps: T-1)\n  - run: true\n"
        "- [ ] T-3: c (deps: T-2, T-4)\n  - run: true\n"
        "- [ ] T-4: d\n  - run: true\n"
    )
    done = box.run()
    assert done.code == 1
    assert box.marks() == {"T-1": "!", "T-2": "-", "T-3": "-", "T-4": "x"}
    assert sorted(done.tasks("task_skipped")) == ["T-2", "T-3"]
    end = done.finished
    assert (end["completed"], end["failed"], end["skipped"]) == (["T-4"], ["T-1"], ["T-2", "T-3"])
    assert (end["parked"], end["waiting"], end["exit"]) == ([], [], 1)


def test_steps_are_ticked_as_they_are_reported(box: Box) -> None:
    """`=== STEP N DONE ===` ticks a sub-step while the task still runs."""
    box.plan(
        "- [ ] T-1: a\n  - steps:\n    - [ ] one\n    - [ ] two\n"
        f"  - run: echo '=== STEP 2 DONE ==='; until grep -q '^ *- .x. two' PLAN.md; do sleep 0.02; done;"
        f" cp PLAN.md {box.out}/seen\n  - timeout: 20s\n"
    )
    assert box.run().code == 0
    seen = (box.out / "seen").read_text()
    assert "    - [ ] one\n    - [x] two\n" in seen
    assert "    - [x] one\n    - [x] two\n" in box.text()


def test_steps_of_a_failed_try_are_reset_for_the_next(box: Box) -> None:
    """A new try begins with all its sub-steps open."""
    box.plan(
        "- [ ] T-1: a\n  - steps:\n    - [ ] one\n    - [ ] two\n"
        f"  - run: cp PLAN.md {box.out}/seen$SEGUE_ATTEMPT; echo '=== STEP 1 DONE ==='; test $SEGUE_ATTEMPT = 2\n"
    )
    assert box.run().code == 0
    assert "- [ ] one" in (box.out / "seen2").read_text()
