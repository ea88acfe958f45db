"""`--isolate worktree`: each task in its own git worktree, merged by Segue."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.waiting import until


def repository(box: Box, plan: str) -> None:
    box.plan(plan)
    box.repository()


def test_work_is_committed_and_merged(box: Box) -> None:
    """Each task works outside the checkout; what it did not commit is committed, and all is merged."""
    repository(
        box,
        f"- [ ] T-1: a\n  - run: echo a > a.txt; pwd >> {box.out}/pwd\n"
        f"- [ ] T-2: b\n  - run: echo b > b.txt; git add b.txt; git commit -qm own; pwd >> {box.out}/pwd\n"
        f"- [ ] T-3: c (deps: T-1, T-2)\n  - run: cat a.txt b.txt > c.txt\n",
    )
    done = box.run("--isolate", "worktree", "--jobs", "2")
    assert done.code == 0, done.out
    assert (box.root / "c.txt").read_text() == "a\nb\n", "a dependant sees what its blockers made"
    folders = box.notes("pwd")
    assert len(set(folders)) == 2
    assert str(box.root) not in folders
    assert box.git("branch", "--show-current").strip() == "main"
    tracked = box.git("ls-files").split()
    assert {"a.txt", "b.txt", "c.txt"} <= set(tracked)
    assert not any(name.startswith(".segue") for name in tracked)
    assert len(box.git("worktree", "list").splitlines()) == 1, "worktrees of merged tasks are gone"
    assert set(box.marks().values()) == {"x"}
    assert box.git("fsck", "--no-dangling") == ""


def test_the_marks_are_in_the_plan_of_the_checkout(box: Box) -> None:
    """The plan that the person has open gets the marks; a merge does not undo them."""
    repository(
        box,
        "- [ ] T-1: a\n  - run: echo a > a.txt; grep -c . PLAN.md\n- [ ] T-2: b\n  - run: echo b > b.txt\n",
    )
    assert box.run("--isolate", "worktree", "--jobs", "2").code == 0
    assert box.marks() == {"T-1": "x", "T-2": "x"}


def test_a_conflict_fails_the_task_and_keeps_its_branch(box: Box) -> None:
    """Two tasks change the same line: the second fails with the file named, its work is kept."""
    both = "until [ $(ls {out}/up | wc -l) = 2 ]; do sleep 0.02; done"
    wait = f"mkdir -p {box.out}/up; touch {box.out}/up/$SEGUE_TASK; " + both.format(out=box.out)
    repository(
        box,
        f"---\nretries: 0\n---\n- [ ] T-1: a\n  - run: {wait}; echo left > base.txt\n"
        f"- [ ] T-2: b\n  - run: {wait}; echo right > base.txt\n",
    )
    done = box.run("--isolate", "worktree", "--jobs", "2")
    assert done.code == 1
    assert sorted(box.marks().values()) == ["!", "x"]
    loser = next(task for task, mark in box.marks().items() if mark == "!")
    text = {"T-1": "left\n", "T-2": "right\n"}
    winner = "T-2" if loser == "T-1" else "T-1"
    assert (box.root / "base.txt").read_text() == text[winner]
    assert "base.txt" in done.of("task_failed", loser)[0]["error"]
    assert "base.txt" in next(line for line in box.text().splitlines() if "previous error" in line)
    branches = [name.strip("*+ ") for name in box.git("branch", "-a").splitlines()]
    kept = [name for name in branches if loser in name]
    assert kept, branches
    assert box.git("show", f"{kept[0]}:base.txt") == text[loser].strip()
    assert "<<<<<<<" not in box.git("diff", "HEAD")
    assert not (box.root / ".git/MERGE_HEAD").exists()


def test_an_agent_that_leaves_its_branch_does_not_take_the_work_along(box: Box) -> None:
    """Committed on a branch of the agent's own or on none, or not committed there: a dependant
    finds all of it."""
    commit = "git add -A; git commit -qm z"
    repository(
        box,
        f"- [ ] T-1: a\n  - run: git checkout -q -b other; echo a > a.txt; {commit}\n"
        f"- [ ] T-2: b\n  - run: git checkout -q --detach; echo b > b.txt; {commit}\n"
        "- [ ] T-3: c\n  - run: git checkout -q -b feat; echo c > c.txt\n"
        "- [ ] T-4: d (deps: T-1, T-2, T-3)\n  - run: cat a.txt b.txt c.txt > d.txt\n",
    )
    done = box.run("--isolate", "worktree", "--jobs", "2")
    assert done.code == 0, done.out
    assert (box.root / "d.txt").read_text() == "a\nb\nc\n"


def test_work_in_two_places_fails_the_task_and_is_kept(box: Box) -> None:
    """The agent committed on its branch and apart from it: the task fails, and says where both are."""
    repository(
        box,
        "- [ ] T-1: a\n  - retries: 0\n"
        "  - run: echo a > a.txt; git add -A; git commit -qm a; git checkout -q HEAD~1; echo b > b.txt\n",
    )
    done = box.run("--isolate", "worktree")
    assert done.code == 1
    assert box.marks() == {"T-1": "!"}
    branches = [name.strip("*+ ") for name in box.git("branch").splitlines()]
    named = [name for name in branches if name in done.of("task_failed")[0]["error"]]
    kept = {box.git("diff", "--name-only", f"main...{name}").strip() for name in named}
    assert kept == {"a.txt", "b.txt"}


def test_without_git_it_is_refused_in_words(box: Box) -> None:
    """No git on the PATH: exit 2 with a hint, on standard output as JSON."""
    path = box.plan("- [ ] T-1: a\n  - run: true\n")
    done = box.run("--isolate", "worktree", env={"PATH": str(box.tmp / "nothing")})
    assert done.code == 2
    assert done.json["error"]["code"] == "no_git"
    assert path.read_text() == "- [ ] T-1: a\n  - run: true\n"


def test_a_failed_task_leaves_the_checkout_alone(box: Box) -> None:
    """What a failed task wrote is not merged."""
    repository(box, "- [ ] T-1: a\n  - retries: 0\n  - run: echo junk > base.txt; false\n")
    assert box.run("--isolate", "worktree").code == 1
    assert (box.root / "base.txt").read_text() == "one\ntwo\nthree\n"


def test_verify_runs_in_the_worktree(box: Box) -> None:
    """The check sees the task's own work before it is merged."""
    repository(
        box,
        f"- [ ] T-1: a\n  - retries: 0\n  - run: echo a > a.txt\n  - verify: test -e a.txt && ! test -e {box.root}/a.txt\n",
    )
    assert box.run("--isolate", "worktree").code == 0
    assert (box.root / "a.txt").exists()


def test_a_persons_uncommitted_work_is_not_lost(box: Box) -> None:
    """Uncommitted changes in the checkout survive a run with worktrees."""
    repository(box, "- [ ] T-1: a\n  - run: echo a > a.txt\n")
    (box.root / "base.txt").write_text("one\nMINE\nthree\n")
    (box.root / "untracked.txt").write_text("mine\n")
    done = box.run("--isolate", "worktree")
    assert done.code == 0, done.out
    assert (box.root / "base.txt").read_text() == "one\nMINE\nthree\n"
    assert (box.root / "untracked.txt").read_text() == "mine\n"
    assert (box.root / "a.txt").exists()
    assert "base.txt" in box.git("diff", "--name-only"), "still uncommitted"


def test_merges_of_side_by_side_tasks_all_arrive(box: Box) -> None:
    """Eight tasks at once on different files: all their work is in the checkout."""
    repository(box, "".join(f"- [ ] T-{n}: x\n  - run: echo {n} > f{n}.txt\n" for n in range(1, 9)))
    done = box.run("--isolate", "worktree", "--jobs", "4")
    assert done.code == 0, done.out
    assert [(box.root / f"f{n}.txt").read_text() for n in range(1, 9)] == [
        f"{n}\n" for n in range(1, 9)
    ]
    assert box.git("status", "--porcelain", "--", "f1.txt", "f8.txt") == ""


@pytest.mark.parametrize("commits", [False, True])
def test_without_a_repository_it_is_refused(box: Box, commits: bool) -> None:
    """No repository, or one without a commit: exit 2 with a hint, nothing written."""
    if commits:
        box.git("init", "-q")
    path = box.plan("- [ ] T-1: a\n  - run: true\n")
    done = box.run("--isolate", "worktree")
    assert done.code == 2
    assert done.json["error"]["hint"]
    assert path.read_text() == "- [ ] T-1: a\n  - run: true\n"


@pytest.mark.parametrize("options", [("--isolate", "worktree"), ()])
def test_killed_while_isolated_loses_no_work(box: Box, options: tuple[str, ...]) -> None:
    """kill -9 with a task in its worktree: the next run completes and merges it once, whether or
    not it isolates new tasks."""
    repository(box, f"- [ ] T-1: a\n  - run: {box.note()}; echo a > a.txt; {box.hold('go')}\n")
    going = box.start_run("--isolate", "worktree")
    going.event("task_started", "T-1")
    until(box.notes, "the agent up")
    going.kill()
    again = box.start_run(*options)
    again.event("started")
    box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    assert box.notes() == ["T-1"]
    assert (box.root / "a.txt").read_text() == "a\n"
    assert box.marks() == {"T-1": "x"}


def test_an_agent_that_changes_its_git_file_fails_its_own_task_only(box: Box) -> None:
    """`.git` of the worktree leads to a repository of the agent's with a monitor program: the
    program is not run by Segue, the task is `[!]` without another try, the others are done."""
    evil = (
        "git init -q evil; git -C evil config core.fsmonitor "
        f"'echo as Segue >> {box.out}/ran; false'; echo gitdir: $PWD/evil/.git > .git; echo x > x.txt"
    )
    repository(
        box,
        f"---\nretries: 2\n---\n- [ ] T-1: a\n  - run: {box.note()}; {evil}\n"
        "- [ ] T-2: b\n  - run: echo b > b.txt\n- [ ] T-3: c (deps: T-2)\n  - run: cat b.txt\n",
    )
    done = box.run("--isolate", "worktree")
    assert done.code == 1, done.out
    assert box.marks() == {"T-1": "!", "T-2": "x", "T-3": "x"}
    assert box.notes() == ["T-1"], "tried once"
    assert ".git" in done.of("task_failed", "T-1")[0]["error"]
    assert not (box.out / "ran").exists()
    assert not (box.root / "x.txt").exists()
