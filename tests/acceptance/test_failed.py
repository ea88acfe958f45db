"""Tasks that failed before: the question, `--on-failed`, and the limit of retries."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.terminal import Terminal
from kit.waiting import until

QUESTION_KO = """⚠️ 실패한 태스크 발견:

T-003: API 구현
  - 에러: npm test 실패
  - 시도: 2/2회

선택:
[1] 재시도 - 다시 실행 (시도 횟수 리셋)
[2] 스킵 - 건너뛰기 (의존 태스크도 스킵)
[3] 수정 후 재시도 - 직접 수정 후 계속
"""


def failed_plan(box: Box, run: str = "true") -> None:
    """T-003 failed before, T-006 hangs on it, T-007 is free."""
    box.plan(
        f"- [!] **T-003**: API 구현\n  - run: cp PLAN.md {box.out}/seen; {box.note()}; {run}\n"
        "  <!-- 이전 에러: npm test 실패 -->\n  <!-- 재시도: 2/2 -->\n"
        f"- [-] **T-006**: after\n  - blocked by: T-003\n  - run: {box.note()}\n"
        f"- [ ] **T-007**: free\n  - run: {box.note()}\n"
    )


def test_retry_resets_the_count_and_keeps_the_error(box: Box) -> None:
    """`--on-failed retry`: it runs again with the old error as a comment, and what hung on it follows."""
    failed_plan(box)
    done = box.run("--on-failed", "retry", "--jobs", "1")
    assert done.code == 0
    assert box.marks() == {"T-003": "x", "T-006": "x", "T-007": "x"}
    seen = (box.out / "seen").read_text("utf-8")
    assert "npm test 실패 -->" in seen
    assert "2/2" not in seen
    assert box.notes().count("T-003") == 1


def test_retry_gives_all_tries_again(box: Box) -> None:
    """After the reset there are three runs once more, then `[!]` and exit 1."""
    failed_plan(box, "false")
    assert box.run("--on-failed", "retry").code == 1
    assert box.notes().count("T-003") == 3
    assert box.marks() == {"T-003": "!", "T-006": "-", "T-007": "x"}


def test_skip_passes_over_it_and_its_dependants(box: Box) -> None:
    """`--on-failed skip`: `[-]` for it and for what depends on it; the rest runs; exit 1."""
    failed_plan(box)
    done = box.run("--on-failed", "skip")
    assert done.code == 1
    assert box.notes() == ["T-007"]
    assert box.marks() == {"T-003": "-", "T-006": "-", "T-007": "x"}
    assert done.finished["skipped"] == ["T-003", "T-006"]


def test_stop_starts_nothing(box: Box) -> None:
    """`--on-failed stop`: a failed task ends the run before anything starts."""
    failed_plan(box)
    before = box.plan_path.read_bytes()
    done = box.run("--on-failed", "stop")
    assert done.code == 1
    assert box.notes() == []
    assert box.plan_path.read_bytes() == before


def test_stop_starts_nothing_new_after_a_failure(box: Box) -> None:
    """`--on-failed stop`: when a task fails in this run, no other is started."""
    box.plan(
        "- [ ] T-1: a\n  - retries: 0\n  - run: false\n"
        f"- [ ] T-2: b\n  - run: {box.note()}\n- [ ] T-3: c\n  - run: {box.note()}\n"
    )
    assert box.run("--on-failed", "stop", "--jobs", "1").code == 1
    assert box.notes() == []


def test_ask_without_a_terminal_exits_3_after_the_rest_has_run(box: Box) -> None:
    """With nobody to ask the exit code is 3, and everything else that can run has run."""
    failed_plan(box)
    done = box.run("--on-failed", "ask")
    assert done.code == 3
    assert box.notes() == ["T-007"]
    assert box.marks() == {"T-003": "!", "T-006": "-", "T-007": "x"}
    assert done.finished["exit"] == 3
    assert done.finished["failed"] == done.finished["waiting"] == ["T-003"]


def test_what_can_be_chosen_is_told_in_a_pipe(box: Box) -> None:
    """Nobody can be asked there; the option that answers is named, with its values."""
    failed_plan(box)
    done = box.segue("run", "PLAN.md")
    assert done.code == 3
    assert "Decide with: segue run PLAN.md --on-failed retry|skip|stop" in done.out


def test_failed_in_this_run_on_a_pipe_is_exit_1(box: Box) -> None:
    """A failure of this very run is not asked about on a pipe."""
    box.plan("- [ ] T-1: a\n  - retries: 0\n  - run: false\n")
    assert box.run("--on-failed", "ask").code == 1


@pytest.mark.parametrize(("choice", "code"), [("retry", 0), ("skip", 1), ("stop", 1)])
def test_a_decision_on_the_command_line_asks_nothing_on_a_terminal(
    box: Box, choice: str, code: int
) -> None:
    """`--on-failed` retry, skip and stop do not ask, on a terminal either."""
    failed_plan(box)
    done = Terminal(box, "run", "PLAN.md", "--on-failed", choice).end()
    assert done.code == code
    assert "[1]" not in done.out


def test_the_question_in_korean_to_the_letter(box: Box) -> None:
    """On a terminal the question is the original's; 1 retries, and what hung on it follows."""
    failed_plan(box)
    terminal = Terminal(box, "run", "PLAN.md", "--lang", "ko")
    shown = terminal.expect("[3] 수정 후 재시도 - 직접 수정 후 계속\n")
    lines = "\n".join(line.rstrip() for line in shown.splitlines()) + "\n"
    assert QUESTION_KO in lines
    assert "T-003" not in box.notes()
    terminal.type("1\n")
    assert terminal.end().code == 0
    assert box.marks() == {"T-003": "x", "T-006": "x", "T-007": "x"}
    assert box.notes().count("T-003") == 1


def test_the_question_in_english(box: Box) -> None:
    """In English it names the task, its error and its tries, and offers the same three."""
    failed_plan(box)
    terminal = Terminal(box, "run", "PLAN.md")
    shown = terminal.expect("[3]")
    for words in ("T-003: API 구현", "npm test 실패", "2/2", "[1]", "[2]"):
        assert words in shown
    terminal.type("2\n")
    done = terminal.end()
    assert done.code == 1
    assert box.notes() == ["T-007"]
    assert box.marks() == {"T-003": "-", "T-006": "-", "T-007": "x"}


def test_a_wrong_answer_is_asked_again(box: Box) -> None:
    """Anything but a choice changes nothing; the question stays."""
    failed_plan(box)
    terminal = Terminal(box, "run", "PLAN.md")
    terminal.expect("[3]")
    terminal.type("7\n")
    terminal.type("1\n")
    assert terminal.end().code == 0
    assert box.marks()["T-003"] == "x"


def test_mend_by_hand_and_retry(box: Box) -> None:
    """3 waits while the person mends the plan, then runs the task as it stands now."""
    failed_plan(box, "exit 9")
    terminal = Terminal(box, "run", "PLAN.md")
    terminal.expect("[3]")
    terminal.type("3\n")
    terminal.expect("PLAN.md")
    until(lambda: box.marks()["T-007"] == "x", "nobody else can have edited the plan")
    box.edit("exit 9", "true")
    terminal.type("\n")
    assert terminal.end().code == 0
    assert box.marks()["T-003"] == "x"
    assert box.notes().count("T-003") == 1


def test_a_failure_of_this_run_is_asked_about_at_the_end(box: Box) -> None:
    """On a terminal the question comes when nothing else can run; retry works then."""
    box.plan(
        f"- [ ] T-1: a\n  - retries: 0\n  - run: {box.note()}; test -e ok\n"
        f"- [ ] T-2: b\n  - run: sleep 0.3; {box.note()}\n"
        f"- [ ] T-3: c (deps: T-1)\n  - run: {box.note()}\n"
    )
    terminal = Terminal(box, "run", "PLAN.md", "--jobs", "2")
    terminal.expect("[3]")
    assert box.notes() == ["T-1", "T-2"]
    (box.root / "ok").touch()
    terminal.type("1\n")
    assert terminal.end().code == 0
    assert box.notes() == ["T-1", "T-2", "T-1", "T-3"]


def test_ctrl_c_at_the_question_keeps_the_place(box: Box) -> None:
    """Ctrl-C instead of an answer: exit 130 and the failed task stays `[!]`."""
    failed_plan(box)
    terminal = Terminal(box, "run", "PLAN.md")
    terminal.expect("[3]")
    terminal.type("\x03")
    assert terminal.end().code == 130
    assert box.marks()["T-003"] == "!"


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- 재시도: 3/2 (한도 초과) -->",
        "<!-- retries: 3/2 -->",
        "<!-- retries: 5/2 (past the limit) -->",
    ],
)
def test_past_the_limit_is_skipped_by_itself(box: Box, comment: str) -> None:
    """A count over the limit is not asked about: `[-]`, its dependants too, and the user is told."""
    box.plan(
        f"- [!] **T-1**: a\n  - run: {box.note()}\n  {comment}\n"
        f"- [ ] **T-2**: b (deps: T-1)\n  - run: {box.note()}\n- [ ] **T-3**: c\n  - run: {box.note()}\n"
    )
    done = box.segue("run", "PLAN.md", "--on-failed", "retry")
    assert done.code == 1
    assert box.notes() == ["T-3"]
    assert box.marks() == {"T-1": "-", "T-2": "-", "T-3": "x"}
    assert "by hand" in done.said, done.said


def test_past_the_limit_in_korean_says_so_in_the_comment(box: Box) -> None:
    """The comment past the limit is the original's."""
    box.plan(
        "- [!] **T-1**: a\n  - run: true\n  <!-- 재시도: 3/2 -->\n- [ ] T-2: b\n  - run: true\n"
    )
    done = box.segue("run", "PLAN.md", "--lang", "ko")
    assert done.code == 1
    assert "  <!-- 재시도: 3/2 (한도 초과) -->\n" in box.text()
    assert "수동" in done.said or "직접" in done.said


def test_past_the_limit_is_not_asked_about_on_a_terminal(box: Box) -> None:
    """Past the limit there is no question."""
    box.plan("- [!] **T-1**: a\n  - run: true\n  <!-- retries: 3/2 -->\n")
    done = Terminal(box, "run", "PLAN.md").end()
    assert done.code == 1
    assert "[1]" not in done.out


def test_when_only_skipped_tasks_are_left_the_knot_is_told(box: Box) -> None:
    """The run stops and says which failed task holds which."""
    box.plan(
        "- [ ] T-1: a\n  - retries: 0\n  - run: false\n"
        "- [ ] T-2: b (deps: T-1)\n  - run: true\n- [ ] T-3: c (deps: T-2)\n  - run: true\n"
    )
    done = box.segue("run", "PLAN.md")
    assert done.code == 1
    line = next(
        line for line in done.said.splitlines() if "T-2" in line and "T-3" in line and "T-1" in line
    )
    assert line.index("T-1") < line.index("T-2")


def test_an_error_of_a_failed_task_is_read_in_full_by_status(box: Box) -> None:
    """`segue status` names the failed task and its error."""
    failed_plan(box)
    said = box.segue("status").out
    assert "T-003" in said
    assert "npm test 실패" in said


def test_what_a_failed_task_holds_is_told_though_nobody_can_be_asked(box: Box) -> None:
    """Exit 3, and the dependency problem all the same; status waits for a person."""
    box.plan("- [!] T-1: a\n  - run: true\n- [-] T-2: b (blocked by: T-1)\n  - run: true\n")
    done = box.run()
    assert done.code == 3
    (problem,) = done.of("dependency_problem")
    assert (problem["task"], problem["holds"]) == ("T-1", ["T-2"])
    (plan,) = box.segue("status", "--json").json["plans"]
    assert (plan["state"], plan["failed"][0]["task"]) == ("waiting", "T-1")
    assert box.segue("resume", "--json").json["found"][0]["resumable"] is True
