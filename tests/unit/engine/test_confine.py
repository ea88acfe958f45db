"""From a command line to the same in its sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.box import Box
from segue.drivers import git, sandbox
from segue.drivers.sandbox import Bubblewrap, Mount
from segue.engine.agent import Access
from segue.engine.confine import Confined, confine, state_folders
from segue.engine.run_files import RunFiles

AGENT = ("/bin/agent", "--flag")


@pytest.fixture(autouse=True)
def somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line is the same on a machine where bubblewrap cannot work."""
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: Bubblewrap("/usr/bin/bwrap"))


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def made(
    box: Box,
    access: Access | None,
    *,
    folder: Path | None = None,
    channel: dict[Path, Mount] | None = None,
) -> Confined:
    memory = box.root / ".segue"
    files = RunFiles(memory / "logs", memory / "evidence", memory / "runs")
    files.runs.mkdir(parents=True, exist_ok=True)
    environ = {"HOME": str(box.home)}
    return confine(
        AGENT, {**environ, "KEY": "x"}, access, folder=folder or box.root, files=files, run="r-1",
        environ=environ, channel=channel or {},
    )  # fmt: skip


def mounted(confined: Confined, path: Path) -> str | None:
    words = confined.argv
    return words[words.index(str(path)) - 1] if str(path) in words else None


def test_without_access_nothing_is_changed(box: Box) -> None:
    assert made(box, None) == Confined(AGENT, {"HOME": str(box.home), "KEY": "x"})


def test_the_agent_is_the_end_of_the_command_line(box: Box) -> None:
    confined = made(box, Access())
    assert confined.argv[-3:] == ("--", *AGENT)
    assert confined.env["KEY"] == "x"
    assert confined.layers == 2


def test_the_memory_of_segue_is_hidden_but_for_the_runs_own_files(box: Box) -> None:
    told = box.root / ".segue" / "runs" / "r-1.told"
    confined = made(box, Access(), channel={told: Mount.WRITE})
    assert mounted(confined, box.root / ".segue") == "--tmpfs"
    assert mounted(confined, told) == "--bind"
    assert told.stat().st_mode & 0o777 == 0o600


def test_the_state_of_a_program_is_made_before_its_first_run(box: Box) -> None:
    """Else it would keep its conversation in a home that is gone with it."""
    state = box.home / ".claude"
    confined = made(box, Access({state: Mount.WRITE}, folders=(state,)))
    assert state.is_dir()
    assert mounted(confined, state) == "--bind"


def test_only_a_worktree_of_segues_own_is_detached(box: Box) -> None:
    """A person's own worktree stays on its branch."""
    box.repository()
    theirs, ours = box.tmp / "theirs", box.root / ".segue" / "worktrees" / "T-1"
    for path in (theirs, ours):
        box.git("worktree", "add", "-q", "-b", path.name, str(path))
        made(box, Access(), folder=path)
    heads = box.root / ".git" / "worktrees"
    assert (heads / "theirs" / "HEAD").read_text() == "ref: refs/heads/theirs\n"
    assert not (heads / "T-1" / "HEAD").read_text().startswith("ref:")


def test_commits_get_the_persons_name_and_nothing_else_of_their_settings(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(box.home))
    (box.home / ".gitconfig").write_text(
        '[user]\nname = "A \\"B\\" C"\nemail = a@example.org\n[http]\nextraHeader = "token: x"\n'
    )
    git.identity.cache_clear()
    try:
        confined = made(box, Access())
    finally:
        git.identity.cache_clear()
    at = confined.argv.index(str(box.home / ".gitconfig"))
    assert confined.argv[at - 2] == "--ro-bind"
    text = Path(confined.argv[at - 1]).read_text()
    assert text == '[user]\n\tname = "A \\"B\\" C"\n\temail = "a@example.org"\n'


def test_the_folders_of_the_users_own_state_are_known(tmp_path: Path) -> None:
    usual = state_folders({"HOME": "/home/kim"})
    assert usual[:2] == (Path("/home/kim/.local/state/segue"), Path("/home/kim/.config/segue"))
    assert state_folders({"HOME": "/h", "XDG_STATE_HOME": "/s"})[0] == Path("/s/segue")
