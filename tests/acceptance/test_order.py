"""Which task starts when: blockers, waves, slots, priorities, files."""

from __future__ import annotations

from kit.box import Box
from kit.waiting import until


def traced(box: Box, middle: str = "sleep 0.15") -> str:
    """A command that notes its beginning and its end."""
    return f"{box.note('trace', '+$SEGUE_TASK')}; {middle}; {box.note('trace', '-$SEGUE_TASK')}"


def widest(trace: list[str]) -> int:
    """How many ran side by side at most."""
    now = most = 0
    for entry in trace:
        now += 1 if entry[0] == "+" else -1
        most = max(most, now)
    return most


def test_a_task_starts_after_its_blockers(box: Box) -> None:
    """With slots to spare a task still waits for everything that blocks it."""
    run = f"\n  - run: {traced(box)}\n"
    box.plan(f"- [ ] T-3: c (deps: T-1, T-2){run}- [ ] T-1: a{run}- [ ] T-2: b (deps: T-1){run}")
    assert box.run("--jobs", "4").code == 0
    assert box.notes() == ["+T-1", "-T-1", "+T-2", "-T-2", "+T-3", "-T-3"]


def test_tasks_run_side_by_side_up_to_the_slots(box: Box) -> None:
    """Two slots are both used, and never three."""
    box.plan("".join(f"- [ ] T-{n}: x\n  - run: {traced(box, 'sleep 0.4')}\n" for n in range(1, 6)))
    assert box.run("--jobs", "2").code == 0
    assert widest(box.notes()) == 2
    assert len(box.notes()) == 10


def test_jobs_come_from_the_config_and_the_option_wins(box: Box) -> None:
    """`jobs` of segue.toml counts; `--jobs` on the command line is stronger."""
    box.config("jobs = 3\n")
    both = (
        f"{box.note('here', 'x')}; until [ $(wc -l < {box.out}/here) -ge 3 ]; do sleep 0.02; done"
    )
    box.plan("".join(f"- [ ] T-{n}: x\n  - timeout: 20s\n  - run: {both}\n" for n in (1, 2, 3)))
    assert box.run().code == 0, "three that wait for each other need three slots"
    box.plan("".join(f"- [ ] T-{n}: x\n  - run: {traced(box)}\n" for n in (1, 2, 3)))
    assert box.run("--jobs", "1").code == 0
    assert widest(box.notes()) == 1


def test_a_wave_waits_for_the_one_before(box: Box) -> None:
    """With wave headings nothing of wave 2 starts while one task of wave 1 runs."""
    box.plan(
        f"## Wave 1\n- [ ] T-1: a\n  - run: {traced(box)}\n- [ ] T-2: b\n  - run: {traced(box, box.hold('go'))}\n"
        f"## Wave 2\n- [ ] T-3: c\n  - run: {traced(box)}\n"
    )
    going = box.start_run("--jobs", "4")
    going.event("task_completed", "T-1")
    going.event("task_started", "T-2")
    box.release("go")
    assert going.end().code == 0
    trace = box.notes()
    assert trace.index("+T-3") > trace.index("-T-2")


def test_a_wave_with_a_failure_is_finished_too(box: Box) -> None:
    """Failed and skipped count as finished: the next wave starts."""
    box.plan(
        "## Wave 1\n- [ ] T-1: a\n  - retries: 0\n  - run: false\n"
        "- [ ] T-2: b (deps: T-1)\n  - run: true\n"
        f"## Wave 2\n- [ ] T-3: c\n  - run: {box.note()}\n"
    )
    assert box.run().code == 1
    assert box.marks() == {"T-1": "!", "T-2": "-", "T-3": "x"}


def test_blockers_hold_within_a_wave(box: Box) -> None:
    """Inside one wave dependencies still count."""
    run = f"\n  - run: {traced(box)}\n"
    box.plan(f"## Wave 1\n- [ ] T-1: a (deps: T-2){run}- [ ] T-2: b{run}")
    assert box.run("--jobs", "4").code == 0
    assert box.notes() == ["+T-2", "-T-2", "+T-1", "-T-1"]


def test_without_waves_there_are_no_barriers(box: Box) -> None:
    """A task starts the moment its last blocker completes, while unrelated ones still run."""
    box.plan(
        f"- [ ] T-1: a\n  - run: true\n- [ ] T-2: b\n  - run: {box.hold('go')}\n"
        f"- [ ] T-3: c (deps: T-1)\n  - run: true\n- [ ] T-4: d (deps: T-3)\n  - run: touch {box.out}/go\n"
    )
    assert box.run("--jobs", "2").code == 0, "T-2 ends only when T-4 has run"


def test_priorities_go_first_and_ties_keep_the_order_of_the_file(box: Box) -> None:
    """Critical, high, normal (the default), low; equals as they stand in the file."""
    wanted = {1: "low", 2: "normal", 3: "", 4: "high", 5: "critical", 6: "high"}
    box.plan(
        "".join(
            f"- [ ] T-{n}: x\n  - run: {box.note()}\n" + (f"  - priority: {p}\n" if p else "")
            for n, p in wanted.items()
        )
    )
    assert box.run("--jobs", "1").code == 0
    assert box.notes() == ["T-5", "T-4", "T-6", "T-2", "T-3", "T-1"]


def test_overlapping_files_never_run_side_by_side(box: Box) -> None:
    """Tasks on the same files take turns; one on other files runs beside them."""
    box.plan(
        f"- [ ] T-1: a\n  - files: src/**\n  - run: {traced(box, box.hold('go'))}\n"
        f"- [ ] T-2: b\n  - files: src/app/x.py\n  - run: {traced(box)}\n"
        f"- [ ] T-3: c\n  - files: docs/*\n  - run: {traced(box, 'touch ' + str(box.out) + '/go')}\n"
    )
    assert box.run("--jobs", "4").code == 0
    trace = box.notes()
    assert trace.index("+T-2") > trace.index("-T-1")
    assert trace.index("+T-3") < trace.index("-T-1")


def test_the_project_is_found_upwards_from_the_plan(box: Box) -> None:
    """Given from anywhere, the project is the nearest folder above the plan with a segue.toml."""
    box.config("jobs = 1\n")
    (box.root / "plans" / "deep").mkdir(parents=True)
    box.plan(f"- [ ] T-1: a\n  - run: pwd > {box.out}/pwd\n", "plans/deep/P.md")
    done = box.segue("run", str(box.root / "plans/deep/P.md"), "--json", cwd=box.home)
    assert done.code == 0
    assert (box.out / "pwd").read_text().strip() == str(box.root)
    assert (box.root / ".segue").is_dir()
    assert not (box.root / "plans/deep/.segue").exists()


def test_the_memory_keeps_itself_out_of_git(box: Box) -> None:
    """`.segue/` has a .gitignore of its own that covers all of it, and holds logs of each run."""
    box.plan("- [ ] T-1: a\n  - run: echo said by the agent\n")
    assert box.run().code == 0
    assert (box.root / ".segue/.gitignore").read_text().strip().splitlines()[-1] == "*"
    logs = list((box.root / ".segue/logs").iterdir())
    assert any("said by the agent" in log.read_text() for log in logs)
    assert (box.database).is_file()


def test_marks_are_written_as_tasks_go(box: Box) -> None:
    """The plan shows `[~]` while a task runs and `[x]` as soon as it is done."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.hold('one')}\n- [ ] T-2: b (deps: T-1)\n  - run: {box.hold('two')}\n"
    )
    going = box.start_run()
    until(lambda: box.marks() == {"T-1": "~", "T-2": " "}, "T-1 in progress")
    box.release("one")
    until(lambda: box.marks() == {"T-1": "x", "T-2": "~"}, "T-2 in progress")
    box.release("two")
    assert going.end().code == 0


def test_those_that_start_together_are_told_in_the_order_of_the_file(box: Box) -> None:
    """Their processes start side by side; what is told of them keeps the order."""
    box.plan("".join(f"- [ ] T-{n}: x\n  - run: true\n" for n in range(1, 7)))
    assert box.run("--jobs", "6").tasks("task_started") == [f"T-{n}" for n in range(1, 7)]
