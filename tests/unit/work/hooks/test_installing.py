"""Hooks in a project's settings: merged, found, removed; and how Segue is called from them."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kit.hooks import Yard
from segue.errors import UserError
from segue.store import files
from segue.work.hooks.installing import Settings, program_here
from segue.work.hooks.notes import Notes
from segue.work.project import Project

PROGRAM = "/opt/segue"
THEIRS = '{\n  "permissions": {"allow": ["Bash(ls:*)"]},\n  "hooks": {"Stop": []},\n  "x": 1\n}\n'


@pytest.fixture
def settings(yard: Yard) -> Settings:
    return Settings(yard.root)


def write(settings: Settings, text: str) -> None:
    settings.path.parent.mkdir(exist_ok=True)
    settings.path.write_bytes(text.encode())


def test_a_file_that_was_made_for_the_hooks_goes_with_them(settings: Settings) -> None:
    """And so does its folder; nothing is left of an installation."""
    assert settings.install(PROGRAM)
    assert json.loads(settings.path.read_text())["hooks"]["Stop"]
    assert settings.path.read_text().endswith("}\n")
    assert settings.remove()
    assert not settings.path.parent.exists()


def test_a_person_s_settings_come_back_to_the_byte(settings: Settings) -> None:
    """Layout, order, unknown keys, and a list that was empty before."""
    write(settings, THEIRS)
    assert settings.install(PROGRAM)
    assert settings.remove()
    assert settings.path.read_bytes() == THEIRS.encode()


def test_a_second_installation_changes_nothing(settings: Settings) -> None:
    """Neither the file nor what is known of how it was before."""
    write(settings, THEIRS)
    assert settings.install(PROGRAM)
    before = settings.path.stat()
    assert not settings.install(PROGRAM)
    assert settings.path.stat().st_mtime_ns == before.st_mtime_ns
    assert settings.install("/moved/segue"), "but a Segue that has moved is put right"
    assert settings.remove()
    assert not settings.remove()
    assert settings.path.read_bytes() == THEIRS.encode()


def test_a_folder_with_other_things_in_it_stays(settings: Settings) -> None:
    """Only what is empty is taken away."""
    assert settings.install(PROGRAM)
    (settings.path.parent / "settings.local.json").write_text("{}")
    assert settings.remove()
    assert [path.name for path in settings.path.parent.iterdir()] == ["settings.local.json"]


def test_what_a_person_added_meanwhile_stays(settings: Settings) -> None:
    """A file that was made for the hooks is theirs as soon as they wrote into it."""
    assert settings.install(PROGRAM)
    told = json.loads(settings.path.read_text())
    settings.path.write_text(json.dumps({"model": "opus", **told}))
    assert settings.remove()
    assert json.loads(settings.path.read_text()) == {"model": "opus"}


def test_a_link_and_a_mode_stay(settings: Settings, tmp_path: Path) -> None:
    """Settings that are kept elsewhere are changed there."""
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o600)
    settings.path.parent.mkdir()
    settings.path.symlink_to(real)
    assert settings.install(PROGRAM)
    assert settings.path.is_symlink()
    assert "segue" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_two_at_once_lose_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody saves between our reading and our writing: both changes are in the file."""
    write(settings, "{}")
    real = files.exchange_if
    theirs: list[bool] = []

    def meanwhile(path: Path, data: bytes, expected: bytes) -> bytes | None:
        if not theirs:
            theirs.append(True)
            path.write_text('{"model": "opus"}')
        return real(path, data, expected)

    monkeypatch.setattr(files, "exchange_if", meanwhile)
    assert settings.install(PROGRAM)
    told = json.loads(settings.path.read_text())
    assert told["model"] == "opus"
    assert "Stop" in told["hooks"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{\n  "a": 1,\n  "b": }\n', 3, "column 8"),
        ("", 1, "column 1"),
        ('{\n  // mine\n  "a": 1\n}', 2, "column 3"),
        ("[]", 1, "must be an object"),
        ('{\n"hooks": {\n"Stop": "x"}}', 3, "`hooks.Stop`"),
        ('{"hooks":\n []}', 2, "`hooks`"),
        ("\ufeff{}", 1, "column 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_not_touched(
    settings: Settings, text: str, line: int, said: str
) -> None:
    """It is refused with line and column, whatever is wanted of it."""
    write(settings, text)
    for act in (lambda: settings.install(PROGRAM), settings.remove, lambda: settings.look({})):
        with pytest.raises(UserError) as caught:
            act()
        assert caught.value.problem.line == line
        assert caught.value.problem.file == str(settings.path)
        assert said in caught.value.problem.message
    assert settings.path.read_bytes() == text.encode()


def test_what_is_no_text_is_refused(settings: Settings) -> None:
    """With its line, too."""
    write(settings, "")
    settings.path.write_bytes(b'{"a": 1,\n"b": "\xff"}')
    with pytest.raises(UserError) as caught:
        settings.install(PROGRAM)
    assert caught.value.problem.line == 2


def test_settings_that_are_a_folder_are_refused(settings: Settings) -> None:
    """In words."""
    settings.path.mkdir(parents=True)
    with pytest.raises(UserError):
        settings.install(PROGRAM)


def test_it_is_seen_what_is_there(settings: Settings, yard: Yard) -> None:
    """Which are installed, whether their program is, and when each fired."""
    before = settings.look({})
    assert [(one.command, one.is_found, one.last_fired) for one in before] == [
        (None, False, None)
    ] * 4
    program = yard.tmp / "a folder" / "segue"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    settings.install(shlex.quote(str(program)))
    assert [one.is_found for one in settings.look({"PATH": "/bin"})] == [False] * 4
    program.chmod(0o755)
    at = datetime(2026, 1, 2, tzinfo=UTC)
    Notes(Project(yard.root)).fired("Stop", at)
    found = {one.event: one for one in settings.look({"PATH": "/bin"})}
    assert all(one.is_found for one in found.values())
    assert (found["Stop"].last_fired, found["PreCompact"].last_fired) == (at, None)


def test_a_folder_below_the_project_has_its_own(yard: Yard) -> None:
    """Claude Code reads the settings of the folder it is started in; a book lies in one."""
    below = yard.root / "book"
    below.mkdir()
    for folder in (below, yard.root):
        assert Settings(folder).install(PROGRAM)
    assert Settings(below).remove()
    assert not (below / ".claude").exists()
    assert (yard.root / ".claude" / "settings.json").exists()
    assert not (below / ".segue").exists()


# How it is called


def script(folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / "segue"
    path.write_text('#!/bin/sh\necho called "$@"\n')
    path.chmod(0o755)
    return path


def test_a_segue_on_the_path_is_called_by_its_name(tmp_path: Path) -> None:
    """An update may put it elsewhere; also where the path has a link to it."""
    own = script(tmp_path / "bin")
    assert program_here({"PATH": str(own.parent)}, str(own)) == "segue"
    link = tmp_path / "local" / "segue"
    link.parent.mkdir()
    link.symlink_to(own)
    assert program_here({"PATH": str(link.parent)}, str(own)) == "segue"


def test_an_environment_that_is_switched_on_does_not_count(tmp_path: Path) -> None:
    """Claude Code may be started without it: the full path is."""
    own = script(tmp_path / "my venv" / "bin")
    environ = {"PATH": str(own.parent), "VIRTUAL_ENV": str(tmp_path / "my venv")}
    assert program_here(environ, str(own)) == shlex.quote(str(own))
    assert program_here({"PATH": "/bin"}, str(own)) == shlex.quote(str(own))


def test_another_segue_on_the_path_is_not_this_one(tmp_path: Path) -> None:
    """Then the name would call the wrong one."""
    own, other = script(tmp_path / "a"), script(tmp_path / "b")
    assert program_here({"PATH": str(other.parent)}, str(own)) == str(own)


def test_a_link_is_called_as_a_link(tmp_path: Path) -> None:
    """What it leads to may move with an update."""
    own = script(tmp_path / "versions" / "1")
    link = tmp_path / "bin" / "segue"
    link.parent.mkdir()
    link.symlink_to(own)
    assert program_here({"PATH": "/bin"}, str(link)) == str(link)


def test_a_module_is_called_by_its_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`python -m segue` finds the command beside its Python, or else calls it the same way."""
    own = script(tmp_path / "v" / "bin")
    monkeypatch.setattr("segue.work.hooks.installing.sys.executable", str(own.with_name("python")))
    assert program_here({"PATH": "/bin"}, "/x/segue/__main__.py") == str(own)
    own.unlink()
    said = program_here({"PATH": "/bin"}, "/x/segue/__main__.py")
    assert said == f"{own.with_name('python')} -P -m segue"


def test_a_shell_runs_what_is_installed(settings: Settings, tmp_path: Path) -> None:
    """Spaces and quotes in the path, and a program that is gone or fails: exit code 0, silent."""
    own = script(tmp_path / 'it\'s my "venv" $HOME' / "bin")
    settings.install(program_here({"PATH": "/bin"}, str(own)))
    for one in settings.look({"PATH": os.environ["PATH"]}):
        assert one.command is not None
        assert one.is_found
        done = subprocess.run(["/bin/sh", "-c", one.command], capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (0, f"called hook {one.event}\n".encode())
    own.write_text("#!/bin/sh\necho bad >&2\nexit 2\n")
    for _time in range(2):
        for one in settings.look({"PATH": os.environ["PATH"]}):
            assert one.command is not None
            done = subprocess.run(["/bin/sh", "-c", one.command], capture_output=True, check=False)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        own.unlink(missing_ok=True)
