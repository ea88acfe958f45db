"""Each task in a worktree of its own, on a real repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.git import git
from segue.engine import worktree
from segue.engine.worktree import Conflict, Worktrees
from segue.errors import AgentError, UserError

PLAN = "- [ ] **T-1**: one\n"


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """git as it comes, whoever runs the tests: no identity, no hooks, no signing."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    yield


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / ".gitignore").write_text("*.tmp\n")
    (root / "PLAN.md").write_text(PLAN)
    (root / "app.txt").write_text("first\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    (root / ".segue").mkdir()
    (root / ".segue" / ".gitignore").write_text("*\n")
    return root


def of(root: Path, plan: str = "PLAN.md") -> Worktrees:
    return Worktrees(root, root / ".segue" / "worktrees", root / plan)


@pytest.fixture
def trees(repo: Path) -> Worktrees:
    return of(repo)


def finish(trees: Worktrees, task: str) -> None:
    trees.commit(task, f"{task}: done")
    trees.take_back(task)
    trees.merge(task, f"{task}: done")


def branches(root: Path) -> list[str]:
    return git(root, "branch", "--format", "%(refname:short)").split()


def worktrees(root: Path) -> int:
    return git(root, "worktree", "list").count("\n") + 1


def test_work_is_apart_until_it_is_merged(trees: Worktrees, repo: Path) -> None:
    """What the agent left, committed or not, new, changed or deleted, comes with the merge; the
    worktree and its branch are gone after it."""
    folder = trees.make("T-1")
    assert git(folder, "branch", "--show-current") == trees.branch("T-1")
    (folder / "app.txt").unlink()
    (folder / "sub").mkdir()
    (folder / "sub" / "committed.txt").write_text("by the agent\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "by the agent")
    (folder / "left.txt").write_text("left lying\n")
    (folder / "junk.tmp").write_text("ignored\n")
    assert not (repo / "left.txt").exists()
    finish(trees, "T-1")
    assert (repo / "left.txt").read_text() == "left lying\n"
    assert (repo / "sub" / "committed.txt").exists()
    assert not (repo / "app.txt").exists()
    assert not (repo / "junk.tmp").exists()
    assert not folder.exists()
    assert (branches(repo), worktrees(repo)) == (["main"], 1)
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "log", "-1", "--format=%s") == "T-1: done"


def test_merging_twice_changes_nothing(trees: Worktrees, repo: Path) -> None:
    """A merge that was done, and then told to be done again, is done once."""
    (trees.make("T-1") / "new.txt").write_text("x\n")
    finish(trees, "T-1")
    trees.merge("T-1", "again")
    assert git(repo, "log", "-1", "--format=%s") == "T-1: done"


def test_a_merge_whose_end_was_cut_off_is_finished(trees: Worktrees, repo: Path) -> None:
    """Killed after the merge and before the branch was removed: the rest is done, once."""
    (trees.make("T-1") / "new.txt").write_text("x\n")
    trees.commit("T-1", "T-1: done")
    git(repo, "merge", "-q", "--no-ff", "-m", "T-1: done", trees.branch("T-1"))
    head = git(repo, "rev-parse", "HEAD")
    trees.merge("T-1", "T-1: done")
    assert git(repo, "rev-parse", "HEAD") == head
    assert (branches(repo), worktrees(repo)) == (["main"], 1)


def test_a_merge_that_was_cut_off_in_the_middle_is_made_anew(trees: Worktrees, repo: Path) -> None:
    """A merge of the task's own branch that did not end is undone and made."""
    (trees.make("T-1") / "new.txt").write_text("x\n")
    trees.commit("T-1", "T-1: done")
    git(repo, "merge", "-q", "--no-ff", "--no-commit", trees.branch("T-1"))
    assert (repo / ".git" / "MERGE_HEAD").exists()
    trees.merge("T-1", "T-1: done")
    assert not (repo / ".git" / "MERGE_HEAD").exists()
    assert (repo / "new.txt").read_text() == "x\n"
    assert git(repo, "log", "-1", "--format=%s") == "T-1: done"


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("way", [["-b", "other"], ["--detach"]])
def test_work_is_merged_wherever_the_agent_went_with_it(
    trees: Worktrees, repo: Path, way: list[str], is_committed: bool
) -> None:
    """An agent that left its branch, for another or for none: what its worktree holds is merged."""
    folder = trees.make("T-1")
    (folder / "first.txt").write_text("on the task's own branch\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "checkout", "-q", *way)
    (folder / "new.txt").write_text("x\n")
    if is_committed:
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "elsewhere")
    finish(trees, "T-1")
    assert (repo / "new.txt").exists()
    assert (repo / "first.txt").exists()
    assert git(repo, "status", "--porcelain") == ""
    assert trees.branch("T-1") not in branches(repo)


def test_a_branch_that_the_agent_renamed_is_merged(trees: Worktrees, repo: Path) -> None:
    """The branch is gone under its name; the work is not."""
    folder = trees.make("T-1")
    git(folder, "branch", "-m", "feature")
    (folder / "new.txt").write_text("x\n")
    finish(trees, "T-1")
    assert (repo / "new.txt").exists()


def test_an_agent_that_only_looked_at_another_commit_loses_nothing(
    trees: Worktrees, repo: Path
) -> None:
    """It committed, then checked out an older commit: what it committed is merged."""
    folder = trees.make("T-1")
    (folder / "new.txt").write_text("x\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "done")
    git(folder, "checkout", "-q", "HEAD~1")
    finish(trees, "T-1")
    assert (repo / "new.txt").exists()


@pytest.mark.parametrize("way", [["-b", "other", "HEAD~1"], ["HEAD~1"], ["--orphan", "other"]])
def test_work_in_two_places_is_not_merged_and_not_lost(
    trees: Worktrees, repo: Path, way: list[str]
) -> None:
    """Committed on its branch, then apart from it: neither alone is the work. Both are kept, also
    when the task starts again."""
    folder = trees.make("T-1")
    (folder / "one.txt").write_text("1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "checkout", "-q", *way)
    (folder / "two.txt").write_text("2\n")
    trees.commit("T-1", "T-1: done")
    with pytest.raises(Conflict) as caught:
        trees.take_back("T-1")
    assert any(branch in str(caught.value) for branch in branches(repo))
    trees.make("T-1")
    found = {
        name for b in branches(repo) for name in git(repo, "ls-tree", "--name-only", b).split()
    }
    assert {"one.txt", "two.txt"} <= found
    assert not (repo / "two.txt").exists()


def test_work_on_no_branch_that_was_cut_off_is_kept(trees: Worktrees, repo: Path) -> None:
    """Set aside from a worktree on no branch, the commits have a branch that names them."""
    folder = trees.make("T-1")
    git(folder, "checkout", "-q", "--detach")
    (folder / "half.txt").write_text("half\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "half")
    trees.set_aside("T-1")
    kept = [branch for branch in branches(repo) if branch != "main"]
    assert [git(repo, "show", f"{branch}:half.txt") for branch in kept] == ["half"]


def test_a_lock_of_another_git_command_is_told_as_such(
    trees: Worktrees, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is half merged beside another git command; after it, the merge is made."""
    monkeypatch.setattr(worktree, "LOCK_S", 0.1)
    (trees.make("T-1") / "new.txt").write_text("x\n")
    trees.commit("T-1", "T-1: done")
    lock = repo / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(Conflict, match=r"index\.lock") as caught:
        trees.merge("T-1", "T-1: done")
    assert caught.value.files == []
    assert not (repo / ".git" / "MERGE_HEAD").exists()
    lock.unlink()
    trees.merge("T-1", "T-1: done")
    assert (repo / "new.txt").exists()


def test_two_tasks_are_merged_in_order(trees: Worktrees, repo: Path) -> None:
    """Both tasks' work is there, although each began without the other's."""
    for task in ("T-1", "T-2"):
        (trees.make(task) / f"{task}.txt").write_text(task)
    finish(trees, "T-2")
    finish(trees, "T-1")
    assert {p.name for p in repo.glob("T-*.txt")} == {"T-1.txt", "T-2.txt"}
    subjects = git(repo, "log", "--first-parent", "--format=%s").splitlines()
    assert subjects == ["T-1: done", "T-2: done", "start"]


def test_a_conflict_names_its_files_and_keeps_the_branch(trees: Worktrees, repo: Path) -> None:
    """Two tasks changed the same line: the second is told which files, the project is as it
    was, and its work stays on its branch."""
    for task in ("T-1", "T-2"):
        folder = trees.make(task)
        (folder / "app.txt").write_text(f"{task}\n")
        (folder / "한글 파일.txt").write_text(f"{task}\n")
        (folder / f"{task}.txt").write_text("own\n")
    finish(trees, "T-1")
    head = git(repo, "rev-parse", "HEAD")
    trees.commit("T-2", "T-2: done")
    with pytest.raises(Conflict) as caught:
        trees.merge("T-2", "T-2: done")
    assert sorted(caught.value.files) == ["app.txt", "한글 파일.txt"]
    assert git(repo, "rev-parse", "HEAD") == head
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "show", f"{trees.branch('T-2')}:app.txt") == "T-2"
    trees.close("T-2")
    assert trees.branch("T-2") in branches(repo)


@pytest.mark.parametrize("name", ["app.txt", "notes.txt"])
def test_what_a_person_has_not_committed_is_not_overwritten(
    trees: Worktrees, repo: Path, name: str
) -> None:
    """A file that a person is changing, or made, stands in the way: it is named, and stays."""
    (trees.make("T-1") / name).write_text("T-1\n")
    trees.commit("T-1", "T-1: done")
    (repo / name).write_text("a person's\n")
    with pytest.raises(Conflict) as caught:
        trees.merge("T-1", "T-1: done")
    assert caught.value.files == [name]
    assert (repo / name).read_text() == "a person's\n"
    assert trees.branch("T-1") in branches(repo)


def test_a_persons_own_merge_under_way_is_not_touched(trees: Worktrees, repo: Path) -> None:
    """While a person resolves a conflict, a task's merge is refused and theirs stays."""
    (trees.make("T-1") / "new.txt").write_text("x\n")
    trees.commit("T-1", "T-1: done")
    git(repo, "switch", "-q", "-c", "theirs")
    (repo / "app.txt").write_text("theirs\n")
    git(repo, "commit", "-qam", "theirs")
    git(repo, "switch", "-q", "main")
    (repo / "app.txt").write_text("main's\n")
    git(repo, "commit", "-qam", "main's")
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, "merge", "theirs")
    (repo / "app.txt").write_text("half resolved\n")
    with pytest.raises(Conflict):
        trees.merge("T-1", "T-1: done")
    assert (repo / "app.txt").read_text() == "half resolved\n"
    assert git(repo, "rev-parse", "MERGE_HEAD") == git(repo, "rev-parse", "theirs")
    assert trees.branch("T-1") in branches(repo)


def test_work_that_was_cut_off_stays_on_a_branch(trees: Worktrees, repo: Path) -> None:
    """Set aside once and again, each unfinished work keeps a branch of its own."""
    for n in (1, 2):
        (trees.make("T-1") / "half.txt").write_text(f"{n}\n")
        trees.set_aside("T-1")
    assert worktrees(repo) == 1
    kept = [branch for branch in branches(repo) if branch != "main"]
    assert len(kept) == 2
    assert {git(repo, "show", f"{branch}:half.txt") for branch in kept} == {"1", "2"}
    assert trees.branch("T-1") not in kept


def test_making_a_worktree_anew_keeps_what_was_there(trees: Worktrees, repo: Path) -> None:
    """A task that starts from its beginning gets a clean worktree; the old work is kept."""
    (trees.make("T-1") / "half.txt").write_text("old\n")
    folder = trees.make("T-1")
    assert not (folder / "half.txt").exists()
    kept = [b for b in branches(repo) if b not in ("main", trees.branch("T-1"))]
    assert [git(repo, "show", f"{branch}:half.txt") for branch in kept] == ["old"]


def test_a_worktree_without_work_leaves_no_branch(trees: Worktrees, repo: Path) -> None:
    """There is nothing to keep of a task that did nothing, set aside or merged."""
    trees.make("T-1")
    trees.set_aside("T-1")
    trees.set_aside("T-1")
    trees.make("T-1")
    finish(trees, "T-1")
    assert (branches(repo), worktrees(repo)) == (["main"], 1)


def test_a_conflicts_branch_is_kept_when_the_task_starts_again(
    trees: Worktrees, repo: Path
) -> None:
    """After a conflict the worktree is closed; the next try does not lose its branch."""
    (trees.make("T-1") / "half.txt").write_text("old\n")
    trees.commit("T-1", "T-1: done")
    trees.close("T-1")
    trees.make("T-1")
    kept = [b for b in branches(repo) if b not in ("main", trees.branch("T-1"))]
    assert [git(repo, "show", f"{branch}:half.txt") for branch in kept] == ["old"]


def test_a_worktree_begins_from_what_was_merged_before(trees: Worktrees) -> None:
    """A dependant sees its blocker's work."""
    (trees.make("T-1") / "new.txt").write_text("x\n")
    finish(trees, "T-1")
    assert (trees.make("T-2") / "new.txt").exists()


@pytest.mark.parametrize("how", ["left lying", "committed", "deleted"])
def test_the_plan_is_segues_alone(trees: Worktrees, repo: Path, how: str) -> None:
    """Whatever an agent does to the plan in its worktree, the project's plan with the marks in
    it stays, and the rest of its work is merged."""
    folder = trees.make("T-1")
    (repo / "PLAN.md").write_text(PLAN.replace("[ ]", "[~]"))
    (folder / "new.txt").write_text("x\n")
    if how == "deleted":
        (folder / "PLAN.md").unlink()
    else:
        (folder / "PLAN.md").write_text(PLAN.replace("[ ]", "[x]") + "- [ ] **T-9**: mine\n")
    if how == "committed":
        git(folder, "commit", "-qam", "ticked it myself")
    finish(trees, "T-1")
    assert (repo / "PLAN.md").read_text() == PLAN.replace("[ ]", "[~]")
    assert git(repo, "show", "HEAD:PLAN.md") == PLAN.strip()
    assert (repo / "new.txt").exists()


def test_a_plan_that_git_does_not_know_is_segues_alone_too(repo: Path) -> None:
    """A plan that was never added is not merged from a worktree where an agent wrote one."""
    (repo / "NIGHT.md").write_text(PLAN)
    trees = of(repo, "NIGHT.md")
    folder = trees.make("T-1")
    (folder / "NIGHT.md").write_text("by the agent\n")
    (folder / "new.txt").write_text("x\n")
    finish(trees, "T-1")
    assert (repo / "NIGHT.md").read_text() == PLAN
    assert (repo / "new.txt").exists()


def test_the_plan_of_a_project_within_a_repository_is_segues_alone_too(repo: Path) -> None:
    """Where the project is a folder of a larger repository, its plan is kept out as well."""
    part = repo / "part"
    part.mkdir()
    (part / "PLAN.md").write_text(PLAN)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "part")
    (part / ".segue").mkdir()
    (part / ".segue" / ".gitignore").write_text("*\n")
    trees = of(part)
    folder = trees.make("T-1")
    found = next(folder.rglob("part/PLAN.md"), folder / "PLAN.md")
    found.write_text("by the agent\n")
    finish(trees, "T-1")
    assert (part / "PLAN.md").read_text() == PLAN
    assert git(repo, "show", "HEAD:part/PLAN.md") == PLAN.strip()


def test_plans_of_one_project_do_not_share_worktrees(repo: Path) -> None:
    """Two plans may run at once, and both may have a T-1."""
    one, two, three = of(repo), of(repo, "OTHER.md"), of(repo, "docs/PLAN.md")
    assert len({trees.path("T-1") for trees in (one, two, three)}) == 3
    assert len({trees.branch("T-1") for trees in (one, two, three)}) == 3


def test_a_second_plan_leaves_the_first_ones_work_alone(repo: Path) -> None:
    """While one plan's T-1 is worked on, another plan's T-1 begins: both are merged."""
    (repo / "OTHER.md").write_text(PLAN)
    one, two = of(repo), of(repo, "OTHER.md")
    first = one.make("T-1")
    (first / "one.txt").write_text("1\n")
    (two.make("T-1") / "two.txt").write_text("2\n")
    assert (first / "one.txt").exists(), "the first plan's worktree is still there"
    finish(one, "T-1")
    finish(two, "T-1")
    assert (repo / "one.txt").exists()
    assert (repo / "two.txt").exists()


@pytest.mark.parametrize("plan", ["PLAN.md", "NIGHT.md"])
def test_what_is_left_of_a_half_made_worktree_harms_nobody(repo: Path, plan: str) -> None:
    """A folder that is no worktree (its making was cut off) is replaced; what a person has
    staged in the project is not committed by Segue."""
    trees = of(repo, plan)
    trees.path("T-1").mkdir(parents=True)
    (trees.path("T-1") / "junk").write_text("x")
    (repo / "app.txt").write_text("staged by a person\n")
    git(repo, "add", "app.txt")
    try:
        trees.make("T-1")
    finally:
        assert git(repo, "log", "-1", "--format=%s") == "start"
        assert git(repo, "diff", "--cached", "--name-only") == "app.txt"
    assert git(trees.path("T-1"), "branch", "--show-current") == trees.branch("T-1")


def test_a_merge_that_died_while_it_removed_the_worktree_is_not_the_agents_fault(
    trees: Worktrees, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of the removal: nothing looks changed, and the next merge cleans up."""
    (trees.make("T-1") / "new.txt").write_text("new\n")

    def die(path: Path) -> None:
        if path.exists():
            (path / ".git").unlink(missing_ok=True)
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(worktree, "remove_tree", die)
        with pytest.raises(KeyboardInterrupt):
            finish(trees, "T-1")
    assert not trees.is_changed("T-1")
    assert (repo / "new.txt").exists()
    trees.merge("T-1", "T-1: done")
    assert branches(repo) == ["main"]
    assert worktrees(repo) == 1
    assert list(trees.path("T-1").parent.iterdir()) == []


def test_an_agent_that_removed_its_worktree_is_told_of(trees: Worktrees, repo: Path) -> None:
    """A folder that the agent deleted loses its uncommitted work, and nothing else: the task
    can be made again."""
    folder = trees.make("T-1")
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    assert trees.make("T-1").is_dir()
    assert worktrees(repo) == 2


@pytest.mark.parametrize("task", ["T-1", "TSK-01-02", "T039", "한글-작업", "write_the_docs"])
def test_any_task_id_has_a_branch_and_a_folder(trees: Worktrees, repo: Path, task: str) -> None:
    """Whatever a task is called, git takes its branch, and its folder is within ours."""
    folder = trees.make(task)
    assert folder.is_relative_to(repo / ".segue" / "worktrees")
    (folder / "new.txt").write_text("x\n")
    finish(trees, task)
    assert (repo / "new.txt").exists()


@pytest.mark.parametrize("plan", ["계획.md", "my plan (2).md", "v1..v2.md", "deps.lock.md", "@.md"])
def test_any_plans_name_gives_a_branch(repo: Path, plan: str) -> None:
    """Whatever the plan's file is called, git takes the branches of its tasks."""
    trees = of(repo, plan)
    (trees.make("T-1") / "new.txt").write_text("x\n")
    finish(trees, "T-1")
    assert (repo / "new.txt").exists()


def test_a_commit_hook_of_the_repository_does_not_stop_the_work(
    trees: Worktrees, repo: Path
) -> None:
    """Segue commits what was left although a hook refuses commits."""
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (trees.make("T-1") / "new.txt").write_text("x\n")
    finish(trees, "T-1")
    assert (repo / "new.txt").exists()


@pytest.mark.parametrize("state", ["nothing", "empty", "detached"])
def test_what_a_worktree_needs_is_checked_first(tmp_path: Path, repo: Path, state: str) -> None:
    """A folder without a repository, one without a commit, and one on no branch are told."""
    root = repo if state == "detached" else tmp_path / "other"
    root.mkdir(exist_ok=True)
    if state == "empty":
        git(root, "init", "-q")
    if state == "detached":
        git(root, "checkout", "-q", "--detach")
    with pytest.raises(UserError) as caught:
        of(root).check()
    assert caught.value.problem.code == "no_repository"
    assert caught.value.problem.hint
    assert caught.value.problem.file == str(root)
    if state == "detached":
        git(root, "switch", "-q", "main")
        of(root).check()


def test_what_git_refuses_is_an_agents_error(trees: Worktrees, repo: Path) -> None:
    """A repository that breaks under way fails the task in git's words, not as a bug."""
    (repo / ".git" / "HEAD").write_text("garbage\n")
    with pytest.raises(AgentError, match="git"):
        trees.make("T-1")


def test_without_git_it_is_told_in_words(
    trees: Worktrees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No git on the PATH: what is missing, and how to get it."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="git") as caught:
        trees.check()
    assert caught.value.problem.code == "no_git"
    assert caught.value.problem.hint
