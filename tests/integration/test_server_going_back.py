"""Back to a checkpoint, with real processes: what is kept on disk, forks, rewinds, deaths in them."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.app import House, Open, play
from kit.git import git
from kit.memory import Backup
from segue import i18n
from segue.store import checkpoints
from segue.store.sqlite import Store
from segue.work.phases import forks, repository
from segue.work.phases.jobs import forked_from
from segue.work.phases.refused import Refused
from segue.work.phases.workspace import Workspace

AGENT = """#!/bin/sh
echo start >> {out}/starts
n=$(wc -l < {out}/starts)
cat > {out}/heard.$n
ls -A > {out}/found.$n
cat docs/draft.md >> {out}/found.$n 2>/dev/null
mkdir -p docs
phase() {{ echo "=== PHASE $1 COMPLETE $SEGUE_NONCE ==="; }}
ask() {{ printf '[USER_QUESTION %s]\\nquestion: %s\\n[/USER_QUESTION]\\n' "$SEGUE_NONCE" "$1"; }}
{body}
"""
TWO_TRIES = """
case $n in
1) echo "the first try" > docs/draft.md; phase 1 ;;
*) echo "try $n" > docs/draft.md; echo later > later.txt; phase 1 ;;
esac
"""


class Home(House):
    """A house with one agent, a shell script that notes what it found at each start."""

    def __init__(self, folder: Path, body: str) -> None:
        folder.mkdir()
        super().__init__(folder)
        self.out = folder.with_name("out")
        self.out.mkdir(exist_ok=True)
        path = folder / "agent.sh"
        path.write_text(AGENT.format(out=self.out, body=body), encoding="utf-8")
        path.chmod(0o755)
        self.add('[agents.player]\nkind = "command"\ncommand = ["./agent.sh"]\n')

    def starts(self) -> int:
        path = self.out / "starts"
        return len(path.read_text().split()) if path.exists() else 0

    def found(self, start: int) -> str:
        return (self.out / f"found.{start}").read_text()

    def heard(self, start: int) -> str:
        return (self.out / f"heard.{start}").read_text()


@pytest.fixture(autouse=True)
def _english() -> None:
    i18n.use("en")


async def kept(server: Open, id: str, kind: str) -> dict[str, Any]:
    """The newest checkpoint of a kind, when it is written."""

    def look() -> dict[str, Any] | None:
        items = server.commands.checkpoints(id)["items"]
        return next((item for item in items if item["kind"] == kind), None)

    found: dict[str, Any] = await server.until(look)
    return found


# --- what is kept on disk ---------------------------------------------------------------------

QUESTIONS = """
head -c 300000 /dev/urandom > big.bin
if [ "$n" -le 16 ]; then ask "question $n?"; else echo "all of it" > docs/draft.md; phase 1; fi
"""


def test_snapshots_of_dropped_checkpoints_leave_the_disk(tmp_path: Path) -> None:
    """After many waits the repository holds what the checkpoints that are left need, and no more;
    each of them can still be restored."""
    home = Home(tmp_path / "home", QUESTIONS)

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            for _n in range(16):
                question = await server.pending(id, "question")
                await server.app.supervisor.saving.settle()
                server.commands.answer(question["id"], "yes")
            await server.pending(id, "review")
            await server.app.supervisor.saving.settle()
            here = Workspace(server.app.data, id)
            commits = {str(content["commit"]) for content in contents(server, id)}
            assert 10 <= len(commits) <= 11
            refs = here.snapshots._git("for-each-ref", "--format=%(objectname)").decode().split()
            assert set(refs) == commits
            sizes = [p.stat().st_size for p in here.snapshots.folder.rglob("*") if p.is_file()]
            assert sum(sizes) < (len(commits) + 1) * 310_000
            for commit in commits:
                here.snapshots.put(tmp_path / commit, commit)
                assert (tmp_path / commit / "big.bin").stat().st_size == 300_000

    play(scene)


def contents(server: Open, id: str) -> list[Any]:
    """What the checkpoints of a task keep."""
    store = server.app.supervisor.records.store
    rows = store.all("SELECT path, sha256 FROM checkpoints WHERE task = ?", id)
    read = [checkpoints.read(server.app.data / row["path"], row["sha256"]) for row in rows]
    assert not any(isinstance(content, checkpoints.Broken) for content in read)
    return read


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "data", "task_0123456789ab")
    made.make()
    return made


def test_files_that_changed_since_the_last_snapshot_are_set_back(space: Workspace) -> None:
    """What nobody kept is written over, also where the last snapshot had another content."""
    for text in ("first", "second"):
        (space.path / "a").write_text(text)
        commit = space.snapshot(text)
        if text == "first":
            first = commit
    (space.path / "a").write_text("changed since")
    space.restore(first)
    assert (space.path / "a").read_text() == "first"


def test_large_files_of_dropped_snapshots_go_too(space: Workspace) -> None:
    """Git packs them at once; they are told from those that are needed all the same."""
    commits = []
    for n in range(3):
        (space.path / "large").write_bytes(random.Random(n).randbytes(9 * 2**20))
        commits.append(space.snapshot(str(n)))
    packs = list((space.snapshots.folder / "objects" / "pack").glob("*.pack"))
    assert packs, "this tests nothing otherwise"
    space.snapshots.forget_all_but({commits[2]})
    size = sum(p.stat().st_size for p in space.snapshots.folder.rglob("*") if p.is_file())
    assert size < 2 * 9 * 2**20
    (space.path / "large").unlink()
    space.restore(commits[2])
    assert (space.path / "large").read_bytes() == random.Random(2).randbytes(9 * 2**20)


def test_what_a_death_left_of_a_snapshot_goes_at_the_next_time(space: Workspace) -> None:
    """Killed before each step of forgetting: what is needed is there, and the rest goes then."""
    (space.path / "kept").write_text("kept")
    needed = space.snapshot("needed")
    deaths = 0
    while True:
        for n in range(2):
            (space.path / "big").write_bytes(random.Random(deaths * 2 + n).randbytes(200_000))
            space.snapshot("not needed")
        was_killed = die_in(lambda: space.snapshots.forget_all_but({needed}), deaths)
        space.snapshots.check(needed)
        (space.path / "big").unlink()
        space.restore(space.snapshot("goes on as before"))
        if not was_killed:
            break
        deaths += 1
    assert deaths >= 2
    space.snapshots.forget_all_but({needed})
    size = sum(p.stat().st_size for p in space.snapshots.folder.rglob("*") if p.is_file())
    assert size < 200_000


def test_an_unreadable_checkpoint_keeps_all_snapshots(tmp_path: Path) -> None:
    """What it needs is not known then, so nothing goes."""
    home = Home(tmp_path / "home", "echo $n > number; ask again?\n")

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            saving = server.app.supervisor.saving
            for n in range(2):
                question = await server.pending(id, "question")
                await saving.settle()
                if n == 0:
                    (first,) = contents(server, id)
                    row = server.commands.checkpoints(id)["items"][0]
                    path = next((server.app.data / "checkpoints" / id).iterdir())
                    path.write_text("broken")
                server.commands.answer(question["id"], "yes")
            await server.pending(id, "question")
            await saving.settle()
            assert row["id"] in [item["id"] for item in server.commands.checkpoints(id)["items"]]
            Workspace(server.app.data, id).snapshots.check(first["commit"])

    play(scene)


# --- forks ------------------------------------------------------------------------------------

REPOSITORY = """
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git log --format=%s >> {out}/found.$n 2>/dev/null
[ -d .git ] || git init -q
echo "try $n" > docs/draft.md
git add -A; git commit -q -m "try $n"
echo "not committed" > loose.txt
if [ $n = 1 ]; then ask "Which sea?"; else phase 1; fi
"""


def test_a_fork_of_a_repository_is_one_with_its_history(tmp_path: Path) -> None:
    """The agent of the fork finds the commits up to the checkpoint, and the files besides."""
    home = Home(tmp_path / "home", REPOSITORY.format(out=tmp_path / "out"))

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            question = await server.pending(id, "question")
            checkpoint = await kept(server, id, "question")
            server.commands.answer(question["id"], "The North Sea")
            await server.pending(id, "review")
            forked = server.commands.fork(id, checkpoint["id"])
            await server.pending(forked["id"], "review")
            folder = Path(server.commands.task(forked["id"])["workspace"])
            assert git(folder, "log", "--format=%s").splitlines() == ["try 3", "try 1"]
            found = home.found(3).splitlines()
            assert found[-1] == "try 1"
            assert {".git", "loose.txt"} <= set(found)
            source = Path(server.commands.task(id)["workspace"])
            assert git(source, "log", "--format=%s").splitlines() == ["try 2", "try 1"]
            assert not server.commands.gates("question", task=forked["id"])["items"]

    play(scene)


def test_a_checkpoint_names_the_commit_of_the_workspace(tmp_path: Path) -> None:
    """Where the workspace is a repository, where it stood is kept with it."""
    home = Home(tmp_path / "home", REPOSITORY.format(out=tmp_path / "out"))

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            await server.pending(id, "question")
            await kept(server, id, "question")
            (content,) = contents(server, id)
            folder = Path(server.commands.task(id)["workspace"])
            assert content["head"]["commit"] == git(folder, "rev-parse", "HEAD")
            assert content["head"]["branch"] == git(folder, "symbolic-ref", "HEAD")

    play(scene)


def test_an_agent_without_a_copy_is_told_what_was_done(tmp_path: Path) -> None:
    """What was asked and answered, what was said in reviews, which phases are done: up to the
    checkpoint, not what came after it."""
    body = """
case $n in
1) ask "Which sea?" ;;
2) echo "about the sea" > docs/draft.md; phase 1 ;;
3) echo "about the sea, longer" > docs/draft.md; phase 1 ;;
4) ask "How long?" ;;
*) echo done > docs/final.md; phase 2 ;;
esac
"""
    home = Home(tmp_path / "home", body)

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            first = await server.pending(id, "question")
            server.commands.answer(first["id"], "The North Sea")
            review = await server.pending(id, "review")
            server.commands.request_changes(review["id"], "Make it longer.")
            review = await server.pending(id, "review")
            server.commands.approve(review["id"])
            second = await server.pending(id, "question")
            before = await server.until(
                lambda: [c for c in server.commands.checkpoints(id)["items"] if c["phase"] == 2]
            )
            server.commands.answer(second["id"], "Ten pages")
            await server.pending(id, "review")
            forked = server.commands.fork(id, before[-1]["id"])["id"]
            await server.pending(forked, "review")
            told = home.heard(home.starts())
            assert "Which sea?" in told and "The North Sea" in told
            assert "Make it longer." in told
            assert "phase 1, draft: completed" in told
            assert "Ten pages" not in told
            assert server.commands.task(forked)["currentPhase"] == 2
            assert "## Phase 2 of 2" in told

    play(scene)


def test_a_fork_gets_what_was_provided_until_then(tmp_path: Path) -> None:
    """The environment of the checkpoint is that of the fork, still sealed in the tables."""
    body = """
if [ -z "$KEY" ]; then
  printf '[DEPENDENCY_REQUEST %s]\\ntype: api_key\\nname: KEY\\n[/DEPENDENCY_REQUEST]\\n' "$SEGUE_NONCE"
else
  printf '%s' "$KEY" | wc -c > docs/draft.md; echo "long enough" >> docs/draft.md; phase 1
fi
"""
    home = Home(tmp_path / "home", body)

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            needed = await server.pending(id, "dependency")
            early = await kept(server, id, "dependency")
            server.commands.provide(needed["id"], "a-secret-of-mine")
            await server.pending(id, "review")
            late = await server.until(
                lambda: [
                    c for c in server.commands.checkpoints(id)["items"] if c["id"] != early["id"]
                ]
            )
            with_it = server.commands.fork(id, late[0]["id"])["id"]
            await server.pending(with_it, "review")
            without = server.commands.fork(id, early["id"])["id"]
            await server.pending(without, "dependency")
            store = server.app.supervisor.records.store
            sealed = store.one("SELECT value FROM secrets WHERE task = ?", with_it)
            assert sealed is not None and b"a-secret" not in sealed["value"]

    play(scene)


def test_a_fork_with_another_key_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be opened cannot be handed on; nothing of the fork is there then."""
    home = Home(tmp_path / "home", "ask well?\n")

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            await server.pending(id, "question")
            await kept(server, id, "question")
            saving = server.app.supervisor.saving

            def broken(sealed: bytes) -> str:
                return saving.secrets.open(b"f1.broken")

            monkeypatch.setattr(checkpoints, "environment_of", lambda content, _open: broken(b""))
            with pytest.raises(Refused) as refused:
                server.commands.fork(id)
            assert refused.value.status == 409
            assert server.commands.list_tasks()["total"] == 1

    play(scene)


CLAUDE = """#!/bin/sh
n=1; until mkdir {out}/own-$n 2>/dev/null; do n=$((n + 1)); done
id=own-$n
echo "$@" >> {out}/argv
read -r line; printf '%s\\n' "$line" >> {out}/prompts
mkdir -p docs; echo "a whole draft" > docs/draft.md
echo '{{"type":"system","subtype":"init","session_id":"'$id'"}}'
[ -e {out}/hold ] && {{ until [ ! -e {out}/hold ]; do sleep 0.05; done; }}
echo '{{"type":"assistant","message":{{"content":[{{"type":"text","text":"=== PHASE 1 COMPLETE ==="}}]}}}}'
echo '{{"type":"result","subtype":"success","is_error":false,"session_id":"'$id'","result":"ok"}}'
"""


def test_claude_goes_on_in_a_copy_of_the_conversation(tmp_path: Path) -> None:
    """`--resume ID --fork-session` once; from then on its own, while the other keeps the old one."""
    home = Home(tmp_path / "home", "exit 1\n")
    program = tmp_path / "home" / "claude.sh"
    program.write_text(CLAUDE.format(out=home.out), encoding="utf-8")
    program.chmod(0o755)
    home.add('[agents.claude]\ncommand = ["./claude.sh"]\nmcp = false\n')

    def started() -> list[str]:
        path = home.out / "argv"
        return path.read_text().splitlines() if path.exists() else []

    async def scene() -> None:
        async with home.open() as server:
            id = server.new(agent="claude")
            await server.pending(id, "review")
            await server.app.supervisor.saving.settle()
            forked = server.commands.fork(id)["id"]
            review = await server.pending(forked, "review")
            assert "--resume" not in started()[0]
            assert started()[1].endswith("--resume own-1 --fork-session")
            server.commands.request_changes(review["id"], "More of it.")
            await server.until(lambda: len(started()) == 3)
            await server.pending(forked, "review")
            assert started()[2].endswith("--resume own-2")
            own = await server.pending(id, "review")
            server.commands.request_changes(own["id"], "More of it.")
            await server.until(lambda: len(started()) == 4)
            assert started()[3].endswith("--resume own-1")
            await server.pending(id, "review")

    play(scene)


def test_copies_are_made_while_the_other_is_at_work(tmp_path: Path) -> None:
    """A conversation that somebody is in is only read by forks: they need not wait for anyone."""
    home = Home(tmp_path / "home", "exit 1\n")
    program = tmp_path / "home" / "claude.sh"
    program.write_text(CLAUDE.format(out=home.out), encoding="utf-8")
    program.chmod(0o755)
    home.add('[agents.claude]\ncommand = ["./claude.sh"]\nmcp = false\n')

    async def scene() -> None:
        async with home.open() as server:
            id = server.new(agent="claude")
            review = await server.pending(id, "review")
            await server.app.supervisor.saving.settle()
            (home.out / "hold").touch()
            server.commands.request_changes(review["id"], "More of it.")
            await server.until(lambda: len((home.out / "argv").read_text().splitlines()) == 2)
            argv = home.out / "argv"
            both = [server.commands.fork(id)["id"] for _n in range(2)]
            await server.until(lambda: len(argv.read_text().splitlines()) == 4)
            (home.out / "hold").unlink()
            for forked in both:
                await server.pending(forked, "review")

    play(scene)


def test_a_copy_that_was_not_made_yet_is_made_again(tmp_path: Path) -> None:
    """A fork of a fork, or its restart before it has a conversation, copies the first one."""

    class Can:
        can_fork = True

    class Cannot:
        can_fork = False

    assert forks.of("abc", Can()) == "fork:abc"  # type: ignore[arg-type]
    assert forks.of("fork:abc", Can()) == "fork:abc"  # type: ignore[arg-type]
    assert forks.of("abc", Cannot()) is None  # type: ignore[arg-type]
    assert forks.of(None, Can()) is None  # type: ignore[arg-type]
    assert forked_from("fork:abc") == "abc"
    assert forked_from("abc") is None and forked_from(None) is None


# --- rewinds ----------------------------------------------------------------------------------


def die_in(act: Callable[[], object], step: int) -> bool:
    """Let it be done by another process that is killed before one of its steps; True: it was."""
    pid = os.fork()
    if not pid:
        _deadly(step)
        try:
            act()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def _deadly(step: int) -> None:
    """From now on this process is killed before its nth step."""
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
    Store.move = or_die(Store.move)  # type: ignore[method-assign]
    for name in ("unlink", "replace", "rename"):
        setattr(os, name, or_die(getattr(os, name)))


def test_a_rewind_is_whole_or_nothing_whatever_dies(tmp_path: Path) -> None:
    """Killed before each of its steps: either the review waits with the files as they were, or the
    task goes on, once, from the files of the checkpoint."""
    home = Home(tmp_path / "home", TWO_TRIES)
    about: dict[str, str] = {}

    async def two_tries() -> None:
        async with home.open() as server:
            about["id"] = id = server.new()
            review = await server.pending(id, "review")
            await server.app.supervisor.saving.settle()
            about["checkpoint"] = server.commands.checkpoints(id)["items"][0]["id"]
            server.commands.request_changes(review["id"], "Again.")
            await server.pending(id, "review")
            about["review"] = (await server.pending(id, "review"))["id"]

    async def rewind(step: int) -> None:
        async with home.open() as server:
            _deadly(step)
            server.commands.rewind(about["id"], about["checkpoint"])
            await server.until(lambda: server.app.supervisor.attempts)  # it begins
            os._exit(0)

    async def look() -> str:
        async with home.open() as server:
            review = await server.pending(about["id"], "review")
            folder = Path(server.commands.task(about["id"])["workspace"])
            causes = [e["trigger"] for e in server.commands.journal(about["id"])["items"]]
            if review["id"] == about["review"]:
                assert "rewind" not in causes
                assert (folder / "later.txt").exists()
                assert (folder / "docs/draft.md").read_text() == "try 2\n"
                assert home.starts() == 2
                return "nothing"
            assert causes.count("rewind") == 2, "the task and its agent, once"
            assert home.starts() == 3
            assert "the first try" in home.found(3)
            assert "later.txt" not in home.found(3)
            return "all"

    play(two_tries)
    before = Backup(tmp_path, home.folder, home.out)
    seen: list[str] = []
    was_killed = True
    while was_killed:
        before.restore()
        pid = os.fork()
        if not pid:
            try:
                asyncio.run(rewind(len(seen)))
            finally:
                os._exit(1)
        status = os.waitpid(pid, 0)[1]
        was_killed = os.WIFSIGNALED(status)
        assert was_killed or os.WEXITSTATUS(status) == 0
        seen.append("")

        async def after() -> None:
            seen[-1] = await look()

        play(after)
    assert seen[0] == "nothing" and seen[-1] == "all"
    assert seen == sorted(seen, reverse=True), "from one step on it is done"
    assert seen.count("all") > 5, "the files follow the commit"


def test_a_rewind_to_a_snapshot_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    """Refused in words; the review waits on."""
    home = Home(tmp_path / "home", TWO_TRIES)

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            review = await server.pending(id, "review")
            await server.app.supervisor.saving.settle()
            checkpoint = server.commands.checkpoints(id)["items"][0]["id"]
            shutil.rmtree(Workspace(server.app.data, id).snapshots.folder)
            with pytest.raises(Refused) as refused:
                server.commands.rewind(id, checkpoint)
            assert refused.value.status == 409
            assert (await server.pending(id, "review"))["id"] == review["id"]
            assert server.commands.task(id)["status"] == "review"

    play(scene)


def test_a_rewind_is_refused_while_a_question_waits(tmp_path: Path) -> None:
    """It is answered or cancelled first; the question stays."""
    home = Home(tmp_path / "home", "ask well?\n")

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            question = await server.pending(id, "question")
            checkpoint = await kept(server, id, "question")
            with pytest.raises(Refused) as refused:
                server.commands.rewind(id, checkpoint["id"])
            assert (refused.value.status, refused.value.code) == (409, "not_allowed")
            assert (await server.pending(id, "question"))["id"] == question["id"]

    play(scene)


def test_a_fork_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    """There is nothing yet that another could go on from."""
    home = Home(tmp_path / "home", "exec sleep 1000\n")

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            await server.status(id, "in_progress", "running")
            with pytest.raises(Refused, match="no checkpoint yet") as refused:
                server.commands.fork(id)
            assert refused.value.status == 409
            server.commands.cancel(id)

    play(scene)


def test_what_was_rewound_is_saved_every_ten_minutes_again(tmp_path: Path) -> None:
    """The timer of its checkpoints goes on with the task, also after it had failed."""
    home = Home(tmp_path / "home", "ask well?\n")

    async def scene() -> None:
        async with home.open() as server:
            id = server.new()
            await server.pending(id, "question")
            checkpoint = await kept(server, id, "question")
            server.commands.cancel(id)
            store = server.app.supervisor.records.store
            sql = "SELECT count(*) FROM timers WHERE task = ? AND kind = 'save'"
            assert store.all(sql, id)[0][0] == 0
            server.commands.rewind(id, checkpoint["id"])
            assert store.all(sql, id)[0][0] == 1
            await server.pending(id, "question")

    play(scene)


def test_a_head_is_read_back_as_it_was_kept() -> None:
    """Also from a checkpoint of a time when none was kept."""
    assert repository.Head.of(None) is None
    assert repository.Head.of({"commit": "c", "branch": None}) == repository.Head("c", None)
