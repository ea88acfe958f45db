"""What Segue does with the content of a repository: commits, merges, checkouts.

Each is made of git's plumbing in a shadow (`drivers/git.py`), so nothing of the repository's
configuration is run; submodules are compared by their commit alone, for git would look into
them with the settings in there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from segue.drivers.git import HASH, Git, GitError, Repository, read_small

ADD = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
_IN_THE_WAY = re.compile(r"^error: .*?'(.*)'", re.MULTILINE)


class Conflict(GitError):  # noqa: N818 - what git calls it
    """A merge that could not be made; the files that stand in its way, if any."""

    def __init__(self, files: list[str], why: str) -> None:
        super().__init__(why)
        self.files = files


def is_ancestor(repository: Repository, commit: str, other: str) -> bool:
    with repository.shadow() as git:
        return git.holds("merge-base", "--is-ancestor", commit, other)


def changed(repository: Repository, head: str) -> list[str]:
    """Files that are not as the commit has them, tracked or not; paths below the top."""
    shown = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
             "--ignore-submodules=dirty")  # fmt: skip
    with repository.shadow(like=_existing(repository.index), head=head) as git:
        return [entry[3:] for entry in git.names(*shown)]


def is_ignored(repository: Repository, path: str) -> bool:
    """Of a path without magic: the one command that rejects the option for no magic."""
    with repository.shadow(like=_existing(repository.index)) as git:
        env = {**git.env, "GIT_LITERAL_PATHSPECS": "0"}
        return replace(git, env=env).holds("check-ignore", "-q", "--", path)


def commit_all(
    repository: Repository, message: str, *, kept: str | None = None, base: str | None = None
) -> None:
    """Commit what lies in the folder, where its HEAD stands. The file `kept` is taken from the
    commit that HEAD and `base` have in common, whatever the folder has."""
    head = repository.resolve("HEAD")
    merging = read_small(repository.git_dir / "MERGE_HEAD") or ""
    parents = [commit for commit in (head, *merging.split()) if commit and HASH.fullmatch(commit)]
    with repository.shadow(like=_existing(repository.index), head=head) as git:
        _stage_all(git, head)
        if kept is not None and base is not None and head is not None:
            _stage_from(git, git.attempt("merge-base", head, base).stdout.strip(), kept)
        tree = git("write-tree", "--missing-ok").strip()
        if len(parents) < 2 and head and tree == git("rev-parse", f"{head}^{{tree}}").strip():
            return
        made = _commit(git, tree, parents, message)
    repository.refs()("update-ref", "-m", "commit by Segue", "HEAD", made)


def commit_paths(repository: Repository, paths: Iterable[str], message: str) -> None:
    """Commit these files alone; what else is staged stays staged."""
    head = repository.resolve("HEAD")
    names = b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in paths)
    with repository.shadow(head=head) as git:
        if head is not None:
            git("read-tree", head)
        git(*ADD, stdin=names)
        tree = git("write-tree", "--missing-ok").strip()
        if head and tree == git("rev-parse", f"{head}^{{tree}}").strip():
            return
        made = _commit(git, tree, [head] if head else [], message)
    with repository.shadow(index=repository.index, head=head) as git:
        git(*ADD, stdin=names)
    repository.refs()("update-ref", "-m", "commit by Segue", "HEAD", made, head or "")


def merged(repository: Repository, head: str, other: str, message: str) -> str:
    """A commit that merges the second into the first; no file and no name is touched."""
    with repository.shadow() as git:
        asked = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", head, other)
        done = git.attempt(*asked)
        tree, *files = done.stdout.split("\0")
        if done.returncode or not HASH.fullmatch(tree):
            raise Conflict([file for file in files if file], done.stderr.strip())
        return _commit(git, tree, [head, other], message)


def check_out(repository: Repository, before: str, after: str) -> None:
    """Bring index and folder from one commit to the other; what differs from the first and
    stands in the way is named, and then nothing is changed. Done twice, it is the same."""
    with repository.shadow(index=repository.index, head=before) as git:
        git.attempt("update-index", "-q", "--refresh")
        step = ("read-tree", "-m", "-u", before, after)
        done = git.attempt(*step)
        if done.returncode:
            _stage_what_is_there(repository, git, before, after)
            done = git.attempt(*step)
        if done.returncode:
            raise Conflict(_IN_THE_WAY.findall(done.stderr), done.stderr.strip())


def fill(repository: Repository, commit: str) -> None:
    """All files of a commit, in a new worktree."""
    with repository.shadow(index=repository.index, head=commit) as git:
        git("read-tree", "-u", "--reset", commit)


def abort_merge(repository: Repository, head: str) -> None:
    """Undo a merge that was begun with git itself and did not end."""
    with repository.shadow(index=repository.index, head=head) as git:
        git("reset", "-q", "--merge", head)
    for name in ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE"):
        with suppress(FileNotFoundError):
            (repository.git_dir / name).unlink()


def _commit(git: Git, tree: str, parents: list[str], message: str) -> str:
    named = [word for parent in parents for word in ("-p", parent)]
    text = message.encode("utf-8", "replace")
    return git("commit-tree", tree, *named, "-F", "-", stdin=text).strip()


def _stage_all(git: Git, head: str | None) -> None:
    """As `git add -A`, without a look into submodules."""
    if head is not None and not (_has_index(git) and git.holds("ls-files", "-z")):
        git("read-tree", "--reset", head)
    shown = git.names("diff-files", "--name-status", "-z", "--no-renames", "--no-ext-diff",
                      "--ignore-submodules=dirty")  # fmt: skip
    gone = {name for status, name in zip(shown[::2], shown[1::2], strict=True) if status == "D"}
    there = set(shown[1::2]) - gone
    new = git.names("ls-files", "-z", "--others", "--exclude-standard")
    git("update-index", "-z", "--force-remove", "--stdin", stdin=_list(gone))
    git(*ADD, stdin=_list(there | {name.rstrip("/") for name in new}))


def _stage_from(git: Git, commit: str, name: str) -> None:
    """A file as a commit has it, or not at all."""
    if not HASH.fullmatch(commit):
        return  # a history of its own, which is never merged
    found = git("ls-tree", "-z", "--full-tree", commit, "--", name).strip("\0")
    if found:
        mode, _kind, blob = found.partition("\t")[0].split()
        entry = f"{mode},{blob},{name}"
        git("update-index", "--add", "--replace", "--cacheinfo", entry)
    else:
        git("update-index", "--force-remove", "--", name)


def _stage_what_is_there(repository: Repository, git: Git, before: str, after: str) -> None:
    """A checkout that was cut off left files that are right already: git takes them for
    changes of a person's, unless the index has them, too."""
    differing = git.names("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after)
    with repository.shadow(like=_existing(repository.index), head=before) as own:
        if not all(own.holds(*_adding(name)) for name in differing):
            return
        ours = set(own.names("diff-index", "--cached", "-z", "--name-only", after))
    git(*ADD, stdin=_list(set(differing) - ours))


def _adding(name: str) -> tuple[str, ...]:
    return ("update-index", "--add", "--remove", "--replace", "--", name)


def _existing(index: Path) -> Path | None:
    return index if index.exists() else None


def _has_index(git: Git) -> bool:
    return Path(git.env["GIT_INDEX_FILE"]).exists()


def _list(names: Iterable[str]) -> bytes:
    return b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in sorted(names))
