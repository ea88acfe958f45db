"""Commits in a report: the riskiest first, and nothing of the repository's settings is run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from kit.git import git
from segue.work.report.commits import FileChange, commits_since

LONG_AGO = datetime.now(UTC) - timedelta(days=1)


def commit(repository: Path, subject: str, **files: str) -> None:
    for name, text in files.items():
        path = repository / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", subject)


def test_the_riskiest_comes_first(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "docs", README="a\n")
    commit(tmp_path, "settings", Makefile="all:\n")
    commit(tmp_path, "more docs", README="a\nb\n")
    found = commits_since(tmp_path, LONG_AGO)
    assert [one.subject for one in found] == ["settings", "more docs", "docs"], "then the newest"
    assert (found[0].additions, found[0].deletions) == (1, 0)


def test_tests_that_get_fewer_lines_are_risky() -> None:
    assert FileChange("tests/test_a.py", 0, 5).risk > FileChange("tests/test_a.py", 5, 0).risk


def test_before_the_time_there_are_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "docs", README="a\n")
    assert commits_since(tmp_path, datetime.now(UTC) + timedelta(hours=1)) == []


def test_without_a_repository_or_a_commit_there_are_none(tmp_path: Path) -> None:
    assert commits_since(tmp_path, LONG_AGO) == []
    git(tmp_path, "init", "-q")
    assert commits_since(tmp_path, LONG_AGO) == []


def test_the_repositorys_own_programs_are_not_run(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "docs", README="a\n")
    config = tmp_path / ".git" / "config"
    config.write_text(
        config.read_text()
        + f'[diff "x"]\n\ttextconv = touch {tmp_path}/ran\n[log]\n\tshowSignature = true\n'
        f"[gpg]\n\tprogram = touch {tmp_path}/ran\n"
    )
    (tmp_path / ".git" / "info" / "attributes").write_text("* diff=x\n")
    assert len(commits_since(tmp_path, LONG_AGO)) == 1
    assert not (tmp_path / "ran").exists()
