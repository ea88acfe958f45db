"""One plan has one runner; a plan may be edited while it runs."""

from __future__ import annotations

import os
import threading
import time

from kit.box import Box
from kit.waiting import until

ACCEPTS = "[plans]\naccept_new_tasks = true\n"


def test_a_second_run_says_who_holds_the_plan(box: Box) -> None:
    """The second `segue run` on the same plan exits 2 and names the process that has it."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.note()}; {box.hold('go')}\n")
    (box.root / "link.md").symlink_to("PLAN.md")
    first = box.start_run()
    first.event("task_started", "T-1")
    for name in ("PLAN.md", "./PLAN.md", str(box.plan_path), "link.md"):
        second = box.segue("run", name, "--json")
        assert second.code == 2
        error = second.json["error"]
        assert str(first.pid) in error["message"] + error["hint"], error
    box.release("go")
    assert first.end().code == 0
    assert box.notes() == ["T-1"]
    assert box.run().code == 0, "the lock is gone with its holder"


def test_two_plans_run_at_once(box: Box) -> None:
    """Two plans of one project run side by side: each waits here for the other."""
    for one, other in (("A", "B"), ("B", "A")):
        wait = f"touch {box.out}/{one}; {box.hold(other)}"
        box.plan(f"- [ ] T-1: a\n  - timeout: 30s\n  - retries: 0\n  - run: {wait}\n", f"{one}.md")
    runs = [box.start("run", f"{name}.md", "--json") for name in "AB"]
    assert [run.end().code for run in runs] == [0, 0]
    assert len(box.segue("status", "--json").json["plans"]) == 2


def test_a_task_added_while_it_runs_is_taken_in(box: Box) -> None:
    """A task that is added during the run is run as well, where the settings accept that."""
    box.config(ACCEPTS)
    box.plan(f"- [ ] T-1: a\n  - run: {box.hold('go')}\n")
    going = box.start_run()
    going.event("task_started", "T-1")
    box.edit(
        "- [~] T-1: a\n", f"Words.\n\n- [ ] T-0: new\n  - run: {box.note()}\n- [~] T-1: a changed\n"
    )
    box.release("go")
    assert going.end().code == 0
    assert box.marks() == {"T-0": "x", "T-1": "x"}
    assert box.notes() == ["T-0"]
    assert "Words.\n\n- [x] T-0: new\n" in box.text()
    assert "a changed" in box.text()


def test_a_new_task_starts_in_a_free_slot_without_waiting(box: Box) -> None:
    """With a slot free, a new task starts while the old one still runs."""
    box.config(ACCEPTS)
    box.plan(f"- [ ] T-1: a\n  - run: {box.hold('go')}\n")
    going = box.start_run("--jobs", "2")
    going.event("task_started", "T-1")
    box.edit("- [~] T-1", f"- [ ] T-2: new\n  - run: touch {box.out}/go\n- [~] T-1")
    assert going.end().code == 0, "T-1 ends only when T-2 has run"


def test_a_task_ticked_by_hand_does_not_run(box: Box) -> None:
    """`[x]` and `[-]` set by a person during the run are respected; dependants follow."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.hold('go')}\n"
        f"- [ ] T-2: b (deps: T-1)\n  - run: {box.note()}\n"
        f"- [ ] T-3: c (deps: T-2)\n  - run: {box.note()}\n"
        f"- [ ] T-4: d (deps: T-1)\n  - run: {box.note()}\n"
    )
    going = box.start_run()
    going.event("task_started", "T-1")
    box.edit("- [ ] T-2", "- [x] T-2")
    box.edit("- [ ] T-4", "- [-] T-4")
    box.release("go")
    done = going.end()
    assert "T-2" not in box.notes()
    assert "T-3" in box.notes()
    assert box.marks()["T-2"] == "x"
    assert "T-2" in done.finished["completed"]


def test_a_changed_command_is_used_once_a_person_accepts_it(box: Box) -> None:
    """A task that has not started runs as was accepted when it starts."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.hold('go')}\n- [ ] T-2: b (deps: T-1)\n  - run: false\n")
    going = box.start_run()
    going.event("task_started", "T-1")
    box.edit("run: false", f"run: {box.note()}")
    assert box.segue("approve", going.event("gate_opened", "T-2")["gate"]).code == 0
    box.release("go")
    assert going.end().code == 0
    assert box.notes() == ["T-2"]


def test_a_plan_broken_by_an_edit_and_mended(box: Box) -> None:
    """While the plan is broken what runs goes on, nothing new starts, the error is shown with its line."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.hold('go')}; {box.note()}\n"
        f"- [ ] T-2: b (deps: T-1)\n  - run: {box.note()}\n"
    )
    going = box.start("run", "PLAN.md")
    until(lambda: box.marks()["T-1"] == "~", "T-1 in progress")
    box.edit("(deps: T-1)", "(deps: T-11)")
    until(lambda: "PLAN.md:3" in going.result.said, "the error with its line")
    box.release("go")
    until(lambda: box.notes() == ["T-1"], "the end of T-1")
    time.sleep(0.5)  # nothing new may start: there is no condition to wait for
    assert going.process.poll() is None, "it waits for the cure"
    assert box.notes() == ["T-1"]
    box.edit("(deps: T-11)", "(deps: T-1)")
    assert going.end().code == 0
    assert box.marks() == {"T-1": "x", "T-2": "x"}
    assert box.notes() == ["T-1", "T-2"]


def test_a_deleted_plan_that_comes_back(box: Box) -> None:
    """A plan that is gone for a moment (an editor, a checkout) does not end the run."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.hold('go')}; {box.note()}\n- [ ] T-2: b (deps: T-1)\n  - run: {box.note()}\n"
    )
    going = box.start_run()
    going.event("task_started", "T-1")
    until(lambda: box.marks()["T-1"] == "~", "T-1 in progress")
    kept = box.plan_path.read_bytes()
    box.plan_path.unlink()
    box.release("go")
    until(lambda: box.notes() == ["T-1"], "the end of T-1")
    box.plan_path.write_bytes(kept)
    done = going.end()
    assert done.code == 0, done.said
    assert box.marks() == {"T-1": "x", "T-2": "x"}
    assert box.notes() == ["T-1", "T-2"]


def test_a_storm_of_edits_loses_nothing(box: Box) -> None:
    """Lines that a person adds while tasks finish all stand in the plan at the end."""
    box.plan(
        "".join(f"- [ ] T-{n}: x\n  - run: {box.note()}\n" for n in range(1, 16)) + "\nNotes\n"
    )
    stop = threading.Event()
    written: list[str] = []

    def storm() -> None:
        while not stop.is_set():
            line = f"note {len(written)} written by hand\n"
            with box.plan_path.open("ab", buffering=0) as file:
                file.write(line.encode())
                if not os.path.samestat(os.fstat(file.fileno()), box.plan_path.stat()):
                    continue  # replaced in the very moment of writing: written again
            written.append(line)
            stop.wait(0.025)

    going = box.start_run("--jobs", "3")
    writer = threading.Thread(target=storm)
    writer.start()
    try:
        done = going.end()
    finally:
        stop.set()
        writer.join()
    assert done.code == 0, done.said
    lost = [line for line in written if line not in box.text()]
    assert lost == [], f"{len(lost)} of {len(written)} lost"
    assert sorted(box.notes(), key=lambda t: int(t[2:])) == [f"T-{n}" for n in range(1, 16)]
    assert set(box.marks().values()) == {"x"}


def test_a_storm_of_saves_loses_nothing(box: Box) -> None:
    """An editor that replaces the file again and again loses no line to Segue's own writes."""
    box.plan("Top\n\n" + "".join(f"- [ ] T-{n}: x\n  - run: sleep 0.05\n" for n in range(1, 11)))
    going = box.start_run("--jobs", "2")
    written = 0
    while going.process.poll() is None:
        before = box.plan_path.read_bytes()
        fresh = box.root / ".PLAN.md.swp"
        fresh.write_bytes(before.replace(b"Top\n", b"Top\nline %d here\n" % written))
        if box.plan_path.read_bytes() == before:  # a careful editor looks before it saves
            fresh.replace(box.plan_path)
            written += 1
        time.sleep(0.02)
    assert going.end().code == 0
    missing = [n for n in range(written) if f"line {n} here\n" not in box.text()]
    assert missing == [], f"{missing} of {written}"
