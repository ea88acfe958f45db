"""What a folder would run, and whether a person has trusted it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.git import git
from segue.drivers.git import Repository
from segue.work import trust
from segue.work.trust import Part, Record, Untrusted

SETTINGS = """\
agent = "x"
[agents.x]
kind = "command"
command = ["sh", "x.sh"]
env = { TOKEN = "$TOKEN" }
account = "work"
[notify]
channels = ["command:curl"]
quiet = "23:00-07:00"
[recovery]
resume_text = "go"
[[limits.patterns]]
pattern = "x"
[types.report]
[[types.report.phases]]
name = "draft"
verify = "make"
"""
PLAN = "- [ ] **T-1**: Build\n  - run: make\n  - verify: make test\n"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose settings and plan came with it."""
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    theirs.mkdir()
    git(theirs, "init", "-q", "-b", "main")
    commit(theirs, PLAN)
    git(tmp_path, "clone", "-q", str(theirs), str(mine))
    return mine


def commit(repository: Path, plan: str, settings: str = SETTINGS) -> None:
    (repository / "PLAN.md").write_text(plan)
    (repository / "segue.toml").write_text(settings)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "x")


def check(root: Path, environ: dict[str, str]) -> None:
    trust.check(root, [root / "segue.toml", root / "PLAN.md"], environ)


def accept(root: Path, environ: dict[str, str]) -> None:
    files = (root / "segue.toml", root / "PLAN.md")
    parts = [part for path in files for part in trust.parts_of_file(path, root)]
    trust.trust(root, parts, environ)


def test_what_settings_run_give_and_allow_is_found() -> None:
    """And nothing else: an account or the quiet hours run nothing."""
    assert [part.name for part in trust.parts_of_settings(SETTINGS)] == [
        "agents.x.kind", "agents.x.command", "agents.x.env", "notify.channels",
        "recovery.resume_text", "limits.patterns", "types.report.draft.verify",
    ]  # fmt: skip


def test_what_a_book_and_a_plan_run_is_found(tmp_path: Path) -> None:
    (tmp_path / "book.toml").write_text('title = "x"\njudge_command = ["judge"]\n')
    (tmp_path / "PLAN.md").write_text(PLAN)
    assert trust.parts_of_file(tmp_path / "book.toml", tmp_path) == [
        Part("book.toml", "judge_command", '["judge"]')
    ]
    assert trust.parts_of_file(tmp_path / "PLAN.md", tmp_path) == [
        Part("PLAN.md", "T-1.run", "make"),
        Part("PLAN.md", "T-1.verify", "make test"),
    ]


@pytest.mark.parametrize("text", ["not = [toml", 'agents = "x"', "agents.x = 1", "types.x = 1"])
def test_settings_that_cannot_be_read_run_nothing(text: str) -> None:
    assert trust.parts_of_settings(text) == []


def test_a_clone_is_not_trusted_until_a_person_says_so(
    clone: Path, environ: dict[str, str]
) -> None:
    with pytest.raises(Untrusted, match=r"segue\.toml, PLAN\.md") as caught:
        check(clone, environ)
    assert caught.value.exit_code == 3
    assert "segue trust" in (caught.value.problem.hint or "")
    accept(clone, environ)
    check(clone, environ)


def test_a_pull_that_changes_a_command_needs_trust_again(
    clone: Path, environ: dict[str, str]
) -> None:
    accept(clone, environ)
    commit(clone.parent / "theirs", PLAN.replace("make test", "true"))
    git(clone, "pull", "-q")
    with pytest.raises(Untrusted, match=r"PLAN\.md"):
        check(clone, environ)


def test_marks_and_prose_need_no_trust(clone: Path, environ: dict[str, str]) -> None:
    accept(clone, environ)
    commit(clone.parent / "theirs", "# Read this\n\n" + PLAN.replace("[ ]", "[x]"))
    git(clone, "pull", "-q")
    check(clone, environ)


def test_an_edit_of_ones_own_in_a_clone_is_trusted(clone: Path, environ: dict[str, str]) -> None:
    accept(clone, environ)
    (clone / "PLAN.md").write_text(PLAN + "- [ ] **T-2**: Mine\n  - run: make install\n")
    check(clone, environ)


def test_a_folder_of_ones_own_is_trusted(tmp_path: Path, environ: dict[str, str]) -> None:
    """Without git, in a repository that was begun here, and a file that git does not know."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    check(tmp_path, environ)
    git(tmp_path, "init", "-q")
    commit(tmp_path, PLAN)
    check(tmp_path, environ)


def test_a_plan_beside_a_clones_own_is_trusted(clone: Path, environ: dict[str, str]) -> None:
    (clone / "MINE.md").write_text(PLAN)
    trust.check(clone, [clone / "MINE.md"], environ)


def test_settings_that_changed_while_agents_worked_need_trust(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "segue.toml").write_text(SETTINGS)
    check(root, environ)
    before = trust.settings_now(root)
    (root / "segue.toml").write_text(SETTINGS.replace("x.sh", "evil.sh"))
    trust.note_changes(root, before, environ)
    with pytest.raises(Untrusted, match="changed while agents worked"):
        check(root, environ)
    (root / "segue.toml").write_text(SETTINGS)
    check(root, environ)


def test_settings_that_nobody_looked_at_before_are_not_blamed_on_agents(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """A plan beside a book ran: the book's own settings are as they were."""
    (tmp_path / "book.toml").write_text('writer = "x"\n')
    trust.note_changes(tmp_path, trust.settings_now(tmp_path), environ)
    trust.check(tmp_path, [tmp_path / "book.toml"], environ)


def test_all_folders_can_be_trusted_for_one_process(clone: Path, environ: dict[str, str]) -> None:
    check(clone, {**environ, "SEGUE_TRUST": "all"})
    with pytest.raises(Untrusted):
        check(clone, {**environ, "SEGUE_TRUST": "some"})


def test_an_agent_cannot_trust_for_its_person(clone: Path, environ: dict[str, str]) -> None:
    with pytest.raises(Untrusted):
        check(clone, {**environ, "SEGUE_TRUST": "all", "SEGUE_RUN": "T-1-1"})


def test_where_segue_ran_before_is_trusted(clone: Path, environ: dict[str, str]) -> None:
    """By its database; one that came with the clone proves nothing."""
    database = clone / ".segue" / "segue.db"
    database.parent.mkdir()
    database.touch()
    trust.check(clone, [clone / "PLAN.md"], environ, database)


def test_a_database_that_came_along_proves_nothing(clone: Path, environ: dict[str, str]) -> None:
    theirs = clone.parent / "theirs"
    (theirs / ".segue").mkdir()
    (theirs / ".segue" / "segue.db").touch()
    commit(theirs, PLAN)
    git(clone, "pull", "-q")
    with pytest.raises(Untrusted):
        trust.check(clone, [clone / "PLAN.md"], environ, clone / ".segue" / "segue.db")


def test_what_is_remembered_is_private(clone: Path, environ: dict[str, str]) -> None:
    accept(clone, environ)
    path = Record.of(clone, environ).path
    assert path is not None
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_damaged_record_trusts_nothing(clone: Path, environ: dict[str, str]) -> None:
    accept(clone, environ)
    path = Record.of(clone, environ).path
    assert path is not None
    path.write_text("[]")
    with pytest.raises(Untrusted):
        check(clone, environ)


def test_without_a_home_nothing_is_remembered(clone: Path) -> None:
    accept(clone, {})
    with pytest.raises(Untrusted):
        check(clone, {})


def test_a_repository_without_a_remote_is_no_clone(clone: Path) -> None:
    for path, expected in ((clone, True), (clone.parent / "theirs", False)):
        repository = Repository.containing(path)
        assert repository is not None
        assert trust.is_clone(repository) is expected


def test_long_commands_are_shown_short() -> None:
    assert str(Part("a", "b", "x\n" * 500)).endswith("x …")


def test_what_opens_the_sandbox_must_be_trusted() -> None:
    """A clone that asks for no sandbox, or for folders in it, is shown before it is obeyed."""
    text = (
        '[agents.claude]\nsandbox = "none"\nsandbox_read = ["~/.ssh"]\n'
        '[checks]\nnetwork = "full"\nsandbox_write = ["/srv"]\n'
    )
    names = [part.name for part in trust.parts_of_settings(text)]
    assert names == [
        "agents.claude.sandbox",
        "agents.claude.sandbox_read",
        "checks.network",
        "checks.sandbox_write",
    ]


def test_a_run_that_was_killed_leaves_how_the_settings_were(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """What is not as it was needs trust; what is, and a run that ended, needs none."""
    settings = tmp_path / trust.SETTINGS
    settings.write_text('[agents.a]\nkind = "shell"\npermissions = "default"\n')
    trust.check(tmp_path, [settings], environ)
    before = trust.settings_now(tmp_path)
    trust.note_start(tmp_path, "PLAN.md", before, environ)
    trust.check(tmp_path, [settings], environ)
    trust.note_start(tmp_path, "PLAN.md", before, environ)
    settings.write_text('[agents.a]\nkind = "shell"\npermissions = "full"\n')
    with pytest.raises(Untrusted, match="changed while agents worked"):
        trust.check(tmp_path, [settings], environ)
    trust.trust(tmp_path, trust.parts_of_file(settings, tmp_path), environ)
    trust.check(tmp_path, [settings], environ)
    settings.write_text('[agents.a]\nkind = "shell"\n')
    trust.note_end(tmp_path, "PLAN.md", trust.settings_now(tmp_path), environ, has_begun=True)
    trust.check(tmp_path, [settings], environ)
