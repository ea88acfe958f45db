"""The commits since a time, the riskiest first: what to look at before everything else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.drivers.git import GitError, Repository
from segue.errors import UserError

COMMITS_MAX = 200
FILES_SHOWN_MAX = 8
MARK = "\x1e"
# What decides whether other work is right, or what runs where: a change of it counts much.
SENSITIVE = re.compile(
    r"(^|/)(\.github|\.gitlab-ci|\.circleci|Dockerfile|Makefile|package(-lock)?\.json"
    r"|pyproject\.toml|requirements[^/]*\.txt|.*\.lock|migrations?|auth|security|secrets?|\.env"
    r"|segue\.toml)",
    re.IGNORECASE,
)
TESTS = re.compile(r"(^|/)(tests?|spec|__tests__)(/|_|\.)|(_test|\.test|\.spec)\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileChange:
    path: str
    additions: int
    deletions: int

    @property
    def risk(self) -> int:
        """Lines changed, more for what is sensitive and for tests that get fewer lines."""
        risk = min(self.additions + self.deletions, 500)
        if SENSITIVE.search(self.path):
            risk += 300
        if TESTS.search(self.path) and self.deletions > self.additions:
            risk += 300
        return risk


@dataclass(frozen=True, slots=True)
class Commit:
    hash: str
    at: str
    author: str
    subject: str
    files: tuple[FileChange, ...]

    @property
    def risk(self) -> int:
        return sum(file.risk for file in self.files)

    @property
    def additions(self) -> int:
        return sum(file.additions for file in self.files)

    @property
    def deletions(self) -> int:
        return sum(file.deletions for file in self.files)

    def to_json(self) -> dict[str, Any]:
        riskiest = sorted(self.files, key=lambda file: -file.risk)
        return {
            "hash": self.hash,
            "at": self.at,
            "author": self.author,
            "subject": self.subject,
            "additions": self.additions,
            "deletions": self.deletions,
            "risk": self.risk,
            "files": [
                {"path": f.path, "additions": f.additions, "deletions": f.deletions}
                for f in riskiest[:FILES_SHOWN_MAX]
            ],
        }


def commits_since(root: Path, since: datetime) -> list[Commit]:
    """Of the repository around a folder; none where there is none, or git cannot be asked."""
    repository = Repository.containing(root)
    head = repository.resolve("HEAD") if repository is not None else None
    if repository is None or head is None:
        return []
    words = (
        "log", "--no-merges", "--numstat", "--no-ext-diff", "--no-textconv", "--no-renames",
        f"--since={since.isoformat()}", f"--max-count={COMMITS_MAX}",
        f"--format={MARK}%H%x09%cI%x09%an%x09%s", head,
    )  # fmt: skip
    try:
        with repository.shadow(head=head) as git:
            text = git.attempt(*words).stdout
    except (GitError, UserError, OSError):
        return []
    found = [commit for part in text.split(MARK)[1:] if (commit := _read(part)) is not None]
    return sorted(found, key=lambda commit: -commit.risk)


def _read(text: str) -> Commit | None:
    head, *lines = text.splitlines()
    fields = head.split("\t", 3)
    if len(fields) != 4:
        return None
    files = [change for line in lines if (change := _file(line)) is not None]
    return Commit(fields[0][:12], fields[1], fields[2], fields[3], tuple(files))


def _file(line: str) -> FileChange | None:
    added, _tab, rest = line.partition("\t")
    deleted, tab, path = rest.partition("\t")
    if not tab:
        return None
    count = [int(n) if n.isdigit() else 0 for n in (added, deleted)]  # "-": not text
    return FileChange(path, *count)
