"""Where a feature's files are, and how its state is put aside."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.core.develop import Feature
from segue.errors import UserError
from segue.plans.develop_state import BrokenError, render
from segue.work.feature.folder import FeatureFolder, slug

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("feature", "name"),
    [
        ("Real-time chat", "real-time-chat"),
        ("실시간 채팅 기능", "실시간-채팅-기능"),
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c:d", "a-b-c-d"),
        ("  spaces  ", "spaces"),
        ("!!!", "feature"),
        ("x" * 200, "x" * 60),
        ("CAFE\u0301", "café"),
    ],
)
def test_a_features_words_become_a_files_name(feature: str, name: str) -> None:
    """In any script, lower case, without anything that a path could mean."""
    assert slug(feature) == name


@given(st.text())
def test_a_name_is_always_one_file_below_docs_design(feature: str) -> None:
    """Whatever the request says; short enough for any file system."""
    name = slug(feature)
    assert name
    assert "/" not in name and "\0" not in name and name not in (".", "..")
    assert len(f"{name}.md".encode("utf-8", "surrogatepass")) <= 255
    folder = FeatureFolder(Path("/p"))
    assert folder.design(feature).parent == Path("/p/docs/design")


def test_no_file_is_no_state(folder: FeatureFolder) -> None:
    """That is how a new feature is known."""
    assert folder.load() is None


def test_what_is_saved_is_loaded(folder: FeatureFolder) -> None:
    """The folder is made, and has this one file only."""
    feature = Feature("chat", started_at="a", updated_at="b")
    folder.save(render(feature))
    assert folder.load() == (render(feature), feature)
    assert [path.name for path in folder.state_file.parent.iterdir()] == ["state.yaml"]


def test_an_empty_file_is_broken(folder: FeatureFolder) -> None:
    """And not none."""
    folder.save(b"")
    with pytest.raises(BrokenError):
        folder.load()


def test_a_state_that_is_put_aside_is_kept(folder: FeatureFolder) -> None:
    """Every time under a name of its own, byte for byte, broken or not."""
    backups = folder.root / "backups"
    assert folder.put_aside(backups, NOW) is None
    for number, text in enumerate((b"\xff broken", b"second")):
        folder.save(text)
        kept = folder.put_aside(backups, NOW.replace(microsecond=number))
        assert kept is not None and kept.read_bytes() == text
        assert not folder.state_file.exists()
    assert len(list(backups.iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_told_in_words(folder: FeatureFolder) -> None:
    """With the file's name; no traceback."""
    (folder.root / ".develop-workflow").write_text("a file in the way")
    with pytest.raises(UserError) as caught:
        folder.save(b"x")
    assert caught.value.problem.file == str(folder.state_file)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, ".develop-workflow/\n"),
        ("a\n", "a\n.develop-workflow/\n"),
        ("a", "a\n.develop-workflow/\n"),
        ("a\r\nb", "a\r\nb\n.develop-workflow/\n"),
    ],
)
def test_one_line_more_in_gitignore(folder: FeatureFolder, before: str | None, after: str) -> None:
    """What is there stays."""
    path = folder.root / ".gitignore"
    if before is not None:
        path.write_bytes(before.encode())
    folder.ignore()
    assert path.read_bytes() == after.encode()


@pytest.mark.parametrize("line", [".develop-workflow/", ".develop-workflow", "*.yaml", "/.dev*"])
def test_what_git_ignores_is_known(folder: FeatureFolder, line: str) -> None:
    """By whatever line: else the same one would be added at every start."""
    subprocess.run(["git", "init", "-q", str(folder.root)], check=True)
    assert not folder.is_ignored()
    (folder.root / ".gitignore").write_text(f"{line}\n")
    assert folder.is_ignored()
