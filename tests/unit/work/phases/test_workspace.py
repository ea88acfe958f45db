"""Workspaces: nothing leads out of them, everything in them can be kept and put back."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.git import git
from segue.errors import Bug, UserError
from segue.work.phases import snapshots as snapshots_module
from segue.work.phases.workspace import Workspace, inside, open_inside

TASK = "task_0123456789ab"


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "data", TASK)
    made.make()
    return made


def fill(space: Workspace, **files: str) -> None:
    for name, text in files.items():
        put(space.path / name.replace("__", "/"), text)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def picture(folder: Path, *, with_git: bool = False) -> dict[str, str]:
    """All that is in a folder: contents, targets of links, whether it can be executed."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not with_git and ".git" in name.split("/"):
            continue
        if path.is_symlink():
            seen[name] = f"-> {path.readlink()}"
        elif path.is_dir():
            seen[name] = "folder"
        else:
            bits = "x" if path.stat().st_mode & stat.S_IXUSR else "-"
            seen[name] = f"{bits} {path.read_bytes()!r}"
    return seen


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def code(error: pytest.ExceptionInfo[UserError]) -> str:
    assert error.value.problem.hint
    return error.value.problem.code


# --- made, and gone ---------------------------------------------------------------------------


def test_a_workspace_is_its_owners_alone(space: Workspace) -> None:
    """It lies below the data folder; nobody else can look into it; making it again is nothing."""
    assert space.path == space.data / "workspaces" / TASK
    assert stat.S_IMODE(space.path.stat().st_mode) == 0o700
    fill(space, a="1")
    assert space.make() == space.path
    assert picture(space.path) == {"a": "- b'1'"}


@pytest.mark.parametrize("task", ["", "..", "a/b", "/etc", ".x", "a\n", "-x"])
def test_an_id_that_leads_elsewhere_is_a_bug(tmp_path: Path, task: str) -> None:
    """An id becomes a folder's name."""
    with pytest.raises(Bug):
        Workspace(tmp_path, task)


def test_a_link_in_the_place_of_a_workspace_is_refused(tmp_path: Path) -> None:
    """An agent's workspace is a folder, not a way to one."""
    space = Workspace(tmp_path, TASK)
    space.path.parent.mkdir()
    space.path.symlink_to(tmp_path)
    for act in (space.make, space.check, lambda: space.snapshot("x")):
        with pytest.raises(UserError) as told:
            act()
        assert code(told) == "workspace_gone"


def test_a_deleted_workspace_is_told_and_made_anew(space: Workspace) -> None:
    """Nothing pretends that an empty folder is the old one; the last snapshot brings it back."""
    fill(space, a="1")
    space.snapshot("one")
    fill(space, a="2", sub__b="3")
    last = space.snapshot("two")
    before = picture(space.path)
    shutil.rmtree(space.path)
    for act in (space.make, space.check, lambda: space.snapshot("x"), lambda: space.restore(last)):
        with pytest.raises(UserError, match="no longer exists") as told:
            act()
        assert code(told) == "workspace_gone"
        assert not space.path.exists()
    assert space.remake() == last
    assert picture(space.path) == before
    assert stat.S_IMODE(space.path.stat().st_mode) == 0o700
    assert names(space.path.parent) == [TASK]


def test_a_deleted_workspace_without_a_snapshot_is_empty_then(space: Workspace) -> None:
    """There is nothing to bring back, and the answer says so."""
    space.path.rmdir()
    with pytest.raises(UserError, match="no longer exists"):
        space.check()
    assert space.remake() is None
    assert picture(space.path) == {}


# --- paths ------------------------------------------------------------------------------------

ESCAPES = ["", ".", "/", "..", "../x", "a/../../x", "a/..", "/etc/passwd", "a\0b", "x" * 300]


@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_leads_out_is_refused(space: Workspace, path: str) -> None:
    """By `..`, from the root, by nothing at all, or by what no file system has."""
    (space.path / "a").mkdir()
    for act in (inside, open_inside):
        with pytest.raises(UserError) as told:
            act(space.path, path)
        assert code(told) == "outside_workspace"


@pytest.mark.parametrize("path", ["link", "out/secret", "sub/link", "loop", "in", "sub/up/secret"])
def test_a_link_is_never_followed(space: Workspace, path: str) -> None:
    """As the last name, as a folder on the way, in a circle, or to a file of the workspace."""
    outside = space.data / "outside"
    put(outside / "secret", "s")
    fill(space, sub__a="1")
    (space.path / "link").symlink_to(outside / "secret")
    (space.path / "out").symlink_to(outside)
    (space.path / "sub" / "link").symlink_to("../../../outside/secret")
    (space.path / "sub" / "up").symlink_to("../../../outside")
    (space.path / "loop").symlink_to("loop")
    (space.path / "in").symlink_to("sub/a")
    for act in (inside, open_inside):
        with pytest.raises(UserError) as told:
            act(space.path, path)
        assert code(told) == "outside_workspace"


def test_what_is_inside_can_be_read(space: Workspace) -> None:
    """By its path from the workspace, however that is written."""
    fill(space, sub__a="1")
    for path in ("sub/a", "./sub//a", "sub/./a"):
        assert inside(space.path, path) == space.path / "sub" / "a"
        with os.fdopen(open_inside(space.path, path)) as file:
            assert file.read() == "1"
    assert inside(space.path, "not/there") == space.path / "not" / "there"
    with pytest.raises(FileNotFoundError):
        open_inside(space.path, "not/there")


def test_only_plain_files_are_opened(space: Workspace) -> None:
    """A folder, a pipe without a writer, a file used as a folder: refused at once."""
    fill(space, sub__a="1")
    os.mkfifo(space.path / "pipe")
    for path in ("sub", "pipe", "sub/a/b"):
        with pytest.raises(UserError):
            open_inside(space.path, path)


def test_no_descriptor_is_left_open(space: Workspace) -> None:
    """Whether it was opened, refused or not there."""
    fill(space, a__b__c="1")
    (space.path / "a" / "link").symlink_to("/etc")
    before = len(names(Path("/proc/self/fd")))
    os.close(open_inside(space.path, "a/b/c"))
    for path in ("a/link/passwd", "a/b", "a/none", "none/c"):
        with pytest.raises((UserError, FileNotFoundError)):
            open_inside(space.path, path)
    assert len(names(Path("/proc/self/fd"))) == before


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(space: Workspace) -> None:
    """Somebody swaps a folder and a link all the time: the file outside is never read."""
    outside = space.data / "outside"
    put(outside / "f", "outside")
    fill(space, sub__f="inside")
    (space.path / "link").symlink_to(outside)
    is_over = threading.Event()

    def swap() -> None:
        one, two, three = (space.path / name for name in ("sub", "link", "third"))
        while not is_over.is_set():
            one.rename(three)
            two.rename(one)
            one.rename(two)
            three.rename(one)

    swapping = threading.Thread(target=swap)
    swapping.start()
    read, refused = set(), 0
    try:
        for _ in range(20_000):
            try:
                with os.fdopen(open_inside(space.path, "sub/f")) as file:
                    read.add(file.read())
            except (UserError, FileNotFoundError):
                refused += 1
            if refused > 20 and read:
                break
    finally:
        is_over.set()
        swapping.join()
    assert read == {"inside"}
    assert refused


# --- snapshots --------------------------------------------------------------------------------


def test_a_snapshot_restores_everything(space: Workspace) -> None:
    """Contents, links, what can be executed, empty folders, odd names; and nothing else is left."""
    fill(space, a="1", sub__b="two", sub__deep__c="3")
    (space.path / "run.sh").write_text("#!/bin/sh\n")
    (space.path / "run.sh").chmod(0o755)
    (space.path / "link").symlink_to("sub/b")
    (space.path / "dangling").symlink_to("/nowhere")
    (space.path / "empty" / "deeper").mkdir(parents=True)
    for name in ("한글 이름", "new\nline", os.fsdecode(b"\xff"), "-n", "'q\"", "a\\b", "git~1"):
        (space.path / name).write_text(name, errors="surrogateescape")
    before = picture(space.path)
    commit = space.snapshot("all")
    fill(space, a="changed", new="x", sub__new__d="y")
    (space.path / "sub" / "b").unlink()
    (space.path / "run.sh").chmod(0o644)
    (space.path / "link").unlink()
    (space.path / "link").write_text("a file now")
    (space.path / "empty" / "deeper").rmdir()
    shutil.rmtree(space.path / "sub" / "deep")
    (space.path / "new empty").mkdir()
    os.mkfifo(space.path / "pipe")
    (space.path / "new link").symlink_to("sub")
    space.restore(commit)
    assert picture(space.path) == before


def test_what_was_a_file_can_be_a_folder_now(space: Workspace) -> None:
    """And the other way round, and links in the place of either."""
    fill(space, a="file", b__x="1", c__x="1", d="file")
    one = space.snapshot("one")
    first = picture(space.path)
    outside = space.data / "outside"
    put(outside / "x", "do not touch")
    for name in ("a", "d"):
        (space.path / name).unlink()
    for name in ("b", "c"):
        shutil.rmtree(space.path / name)
    fill(space, a__x="2", b="2")
    (space.path / "c").symlink_to(outside)
    (space.path / "d").symlink_to(outside)
    two = space.snapshot("two")
    second = picture(space.path)
    space.restore(one)
    assert picture(space.path) == first
    space.restore(two)
    assert picture(space.path) == second
    space.restore(one)
    assert picture(outside) == {"x": "- b'do not touch'"}


def test_nothing_is_ignored_and_nothing_is_converted(space: Workspace) -> None:
    """What the folder's own ignore and attribute files say does not count: bytes stay bytes."""
    fill(space, **{".gitignore": "*\n", "secret.log": "x", "node_modules__m.js": "y"})
    attributes = "* text=auto eol=crlf ident filter=lfs working-tree-encoding=UTF-16\n"
    fill(space, **{".gitattributes": attributes})
    (space.path / "crlf.txt").write_bytes(b"a\r\nb\nc\r\n$Id$\n")
    before = picture(space.path)
    commit = space.snapshot("all")
    shutil.rmtree(space.path)
    space.remake(commit)
    assert picture(space.path) == before


def test_repositories_of_the_agent_are_kept_but_not_touched(space: Workspace) -> None:
    """Files of a repository inside of the workspace are in the snapshot; its history and state
    are the agent's own, before and after."""
    git(space.path, "init", "-q", "-b", "main")
    fill(space, a="1", inner__b="2")
    git(space.path / "inner", "init", "-q", "-b", "main")
    git(space.path / "inner", "add", ".")
    git(space.path / "inner", "commit", "-qm", "inner")
    git(space.path, "add", "a")
    fill(space, a="not committed", inner__c="3")
    before = picture(space.path)
    commit = space.snapshot("all")
    assert git(space.path, "status", "--porcelain", "-uall").splitlines() == ["AM a", "?? inner/"]
    (space.path / "a").unlink()
    fill(space, inner__b="changed", inner__d="4")
    git(space.path / "inner", "add", ".")
    git(space.path / "inner", "commit", "-qm", "more")
    repositories = {n: v for n, v in picture(space.path, with_git=True).items() if ".git" in n}
    space.restore(commit)
    assert picture(space.path) == before
    after = {n: v for n, v in picture(space.path, with_git=True).items() if ".git" in n}
    assert after == repositories
    assert git(space.path / "inner", "log", "--format=%s").split() == ["more", "inner"]


def test_a_repository_in_the_place_of_a_file_is_moved_aside(space: Workspace) -> None:
    """The file comes back, and the repository is not lost either."""
    fill(space, a="file")
    commit = space.snapshot("one")
    (space.path / "a").unlink()
    (space.path / "a").mkdir()
    git(space.path / "a", "init", "-q")
    space.restore(commit)
    assert (space.path / "a").read_text() == "file"
    assert (space.path / "a-kept-1" / ".git").is_dir()


def test_settings_of_the_user_do_not_matter(
    space: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks, filters, signatures and variables of somebody's git are not used."""
    home = tmp_path / "home"
    put(home / "hooks" / "reference-transaction", "#!/bin/sh\nexit 1\n")
    (home / "hooks" / "reference-transaction").chmod(0o755)
    settings = f"[core]\nhooksPath = {home}/hooks\nautocrlf = true\nexcludesFile = {home}/ignore\n"
    put(home / ".gitconfig", settings + '[filter "x"]\nclean = false\nrequired = true\n')
    put(home / "ignore", "*\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    fill(space, **{"a": "1\r\n", ".gitattributes": "* filter=x\n"})
    commit = space.snapshot("one")
    fill(space, a="2")
    space.restore(commit)
    assert (space.path / "a").read_bytes() == b"1\r\n"
    assert not (tmp_path / "objects").exists()
    put(home / ".gitconfig", "[broken")
    space.snapshot("two")


def test_an_old_snapshot_and_a_new_one(space: Workspace) -> None:
    """Any of them can be gone back to, in any order."""
    commits, pictures = [], []
    for n in range(4):
        fill(space, **{"a": str(n), f"f{n}": "x"})
        (space.path / f"f{n - 1}").unlink(missing_ok=True)
        commits.append(space.snapshot(f"round {n}"))
        pictures.append(picture(space.path))
    for n in (0, 3, 1, 2, 0):
        space.restore(commits[n])
        assert picture(space.path) == pictures[n]
        assert space.snapshots.latest() == commits[n]


def test_an_empty_workspace_can_be_kept(space: Workspace) -> None:
    """Nothing is a state, too."""
    commit = space.snapshot("nothing yet")
    fill(space, a="1")
    space.restore(commit)
    assert picture(space.path) == {}


@pytest.mark.parametrize("commit", ["", "HEAD", "-x", "f" * 40, "refs/x", "1" * 39])
def test_a_snapshot_that_is_not_there_is_told(space: Workspace, commit: str) -> None:
    """And nothing is changed."""
    fill(space, a="1")
    for _ in range(2):
        for act in (
            lambda: space.restore(commit),
            lambda: space.fork(commit, "task_new"),
        ):
            with pytest.raises(UserError) as told:
                act()
            assert code(told) == "no_snapshot"
        assert picture(space.path) == {"a": "- b'1'"}
        assert not (space.data / "workspaces" / "task_new").exists()
        space.snapshot("now there is one, but another")


def test_a_fork_is_independent(space: Workspace) -> None:
    """It begins as the other was; then neither changes with the other, not even by its end."""
    fill(space, a="1", sub__b="2")
    (space.path / "empty").mkdir()
    commit = space.snapshot("one")
    before = picture(space.path)
    fill(space, a="later")
    space.snapshot("two")
    other = space.fork(commit, "task_new")
    assert picture(other.path) == before
    assert (space.path / "a").read_text() == "later"
    assert space.fork(commit, "task_new") == other
    fill(other, a="forked")
    own = other.snapshot("own")
    space.remove()
    assert not space.path.exists()
    assert not space.snapshots.folder.exists()
    other.restore(commit)
    assert picture(other.path) == before
    other.restore(own)
    assert (other.path / "a").read_text() == "forked"


def test_a_second_fork_does_not_undo_the_work_of_the_first(space: Workspace) -> None:
    """Asked again after a restart, it leaves what the agent did since."""
    fill(space, a="1")
    commit = space.snapshot("one")
    other = space.fork(commit, "task_new")
    fill(other, a="worked")
    space.fork(commit, "task_new")
    assert (other.path / "a").read_text() == "worked"


def test_snapshots_that_are_not_needed_go(space: Workspace) -> None:
    """What only they had takes no space; the others, and the last, can still be restored."""
    commits = []
    for n in range(4):
        (space.path / "big").write_bytes(random.Random(n).randbytes(200_000))
        commits.append(space.snapshot(str(n)))
    space.snapshots.forget_all_but({commits[1]})
    kept = sum(path.stat().st_size for path in space.snapshots.folder.rglob("*") if path.is_file())
    assert kept < 3 * 200_000
    for n in (1, 3):
        space.restore(commits[n])
        assert (space.path / "big").read_bytes() == random.Random(n).randbytes(200_000)
    with pytest.raises(UserError):
        space.restore(commits[0])
    fill(space, more="1")
    space.restore(space.snapshot("still works"))


# --- deaths -----------------------------------------------------------------------------------


def die_in(act: Callable[[], object], step: int) -> bool:
    """Let it be done by another process that is killed before one of its steps; True: it was."""
    pid = os.fork()
    if not pid:
        left = step

        def or_die(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **more: Any) -> Any:
                nonlocal left
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return real(*args, **more)

            return call

        subprocess.Popen = or_die(subprocess.Popen)  # type: ignore[assignment, misc]
        for name in ("unlink", "replace", "rename", "fsync", "mkdir", "link"):
            setattr(os, name, or_die(getattr(os, name)))
        try:
            act()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("what", ["restore", "remake", "snapshot", "fork"])
def test_death_at_any_step_leaves_the_old_or_the_new(space: Workspace, what: str) -> None:
    """Killed before each step: what is asked for again afterwards comes out as if at first."""
    fill(space, a="old", gone__x="1")
    commit = space.snapshot("old")
    old = picture(space.path)
    deaths = 0
    while True:
        fill(space, a="new", b="2", c="3")
        shutil.rmtree(space.path / "gone", ignore_errors=True)
        if what == "remake":
            shutil.rmtree(space.path)
        acts: dict[str, Callable[[], object]] = {
            "restore": lambda: space.restore(commit),
            "remake": lambda: space.remake(commit),
            "snapshot": lambda: space.snapshot("dying"),
            "fork": lambda: space.fork(commit, "task_new"),
        }
        was_killed = die_in(acts[what], deaths)
        match what:
            case "restore":
                is_begun = (space.snapshots.folder / "restoring").exists()
                space.make()
                if is_begun or not was_killed:
                    assert picture(space.path) == old
            case "remake":
                if space.path.exists():
                    assert picture(space.path) == old
                assert space.remake(commit) == commit
                assert picture(space.path) == old
            case "snapshot":
                now = picture(space.path)
                space.restore(space.snapshot("after"))
                assert picture(space.path) == now
            case "fork":
                other = Workspace(space.data, "task_new")
                if other.path.exists():
                    assert picture(other.path) == old
                assert picture(space.fork(commit, "task_new").path) == old
                other.remove()
        if not was_killed:
            break
        deaths += 1
    assert deaths > 4
    assert list(space.snapshots.folder.glob("index-*")) == []
    left = names(space.data / "workspaces") + names(space.data / "snapshots")
    assert left == [TASK, f"{TASK}.git"]


def test_a_restoration_that_was_cut_off_is_ended_first(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-restored folder is never kept as a snapshot, nor given to an agent."""
    fill(space, a="old")
    commit = space.snapshot("old")

    def die(*args: object) -> None:
        raise KeyboardInterrupt

    for act in (space.make, lambda: space.snapshot("next")):
        fill(space, a="new", b="1")
        with monkeypatch.context() as patch:
            patch.setattr(snapshots_module, "clear", die)
            with pytest.raises(KeyboardInterrupt):
                space.restore(commit)
        act()
        assert picture(space.path) == {"a": "- b'old'"}


def test_a_workspace_deleted_in_the_midst_of_a_restoration(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made anew as it was to become, and that is the end of the restoration."""
    fill(space, a="old")
    old = space.snapshot("old")
    fill(space, a="new")
    space.snapshot("new")

    def die(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(snapshots_module, "clear", die)
        with pytest.raises(KeyboardInterrupt):
            space.restore(old)
    shutil.rmtree(space.path)
    assert space.remake() == old
    assert picture(space.path) == {"a": "- b'old'"}
    fill(space, a="worked")
    space.make()
    assert picture(space.path) == {"a": "- b'worked'"}
    assert space.snapshots.latest() == old


def test_without_git_it_is_said_what_to_install(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words, with the cure."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError) as told:
        space.snapshot("x")
    assert code(told) == "git_missing"


def test_what_git_says_is_told(space: Workspace) -> None:
    """A repository that is damaged is no traceback."""
    fill(space, a="1")
    space.snapshot("one")
    shutil.rmtree(space.snapshots.folder / "objects")
    with pytest.raises(UserError) as told:
        space.snapshot("two")
    assert code(told) == "snapshot_failed"


def test_a_comparison_counts_lines_and_shows_them(space: Workspace) -> None:
    """Against nothing at first, then against a snapshot; the snapshots stay as they are."""
    fill(space, a="one\ntwo\n", b="x\n")
    found = space.snapshots.compare(space.path, None)
    assert [(one.path, one.additions, one.deletions) for one in found.changes] == [
        ("a", 2, 0),
        ("b", 1, 0),
    ]
    base = space.snapshot("one")
    (space.path / "b").unlink()
    fill(space, a="one\nthree\n")
    (space.path / "c").write_bytes(b"\0\1")
    (space.path / "out").symlink_to("/etc/passwd")
    found = space.snapshots.compare(space.path, base)
    assert [(one.path, one.additions, one.deletions) for one in found.changes] == [
        ("a", 1, 1),
        ("b", 0, 1),
        ("c", None, None),
        ("out", 1, 0),
    ]
    assert found.is_partial, "what is no text is not in the patch"
    assert b"-two\n+three\n" in found.patch
    assert b"root:" not in found.patch, "a link is its target's name"
    assert space.snapshots.latest() == base
    with pytest.raises(UserError):
        space.snapshots.compare(space.path, "0" * 40)


def test_a_comparison_shows_no_more_than_a_person_reads(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots_module, "PATCH_LINES_MAX", 3)
    fill(space, a="1\n2\n", b="1\n2\n")
    found = space.snapshots.compare(space.path, None)
    assert found.is_partial
    assert len(found.changes) == 2
    assert b"b/a" in found.patch
    assert b"b/b" not in found.patch


def test_a_comparison_runs_nothing_of_the_workspaces(space: Workspace) -> None:
    """Attributes that name a program for diffs have no effect."""
    git(space.path, "init", "-q")
    mark = space.path.parent / "ran"
    git(space.path, "config", "diff.evil.command", f"touch {mark} #")
    git(space.path, "config", "diff.evil.textconv", f"touch {mark} #")
    fill(space, **{".gitattributes": "* diff=evil\n", "a": "x\n"})
    found = space.snapshots.compare(space.path, None)
    assert b"+x" in found.patch
    assert not mark.exists()
