"""May the agent use this tool? By the deny list, the allow list, what a person granted.

Rules are written as Claude Code writes them: `Bash`, `Bash(pytest:*)`, `Edit(src/**)`,
`mcp__server`. What no rule decides goes to a person, or is refused (`unlisted = "deny"`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from segue.dialects.events import PermissionAsked
from segue.engine.agent import Grant, Verdict
from segue.work.settings.config import RULE, AgentSettings

PATH_KEYS = ("file_path", "notebook_path", "path")
EDITS = ("Write", "MultiEdit", "NotebookEdit")  # what a rule about editing forbids, too
READERS = frozenset({"read", "notebookread", "glob", "grep", "ls", "list", "read_file"})
# The protected paths of every project: git, Segue and the agents' own settings, CI.
GUARDED_FOLDERS = frozenset({".git", ".segue", ".claude", ".circleci"})
GUARDED_BELOW = frozenset({(".github", "workflows"), (".github", "actions")})
GUARDED_FILES = frozenset(
    {"segue.toml", "book.toml", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml"}
    | {"bitbucket-pipelines.yml", "jenkinsfile"}
)
SHELL_SYNTAX = re.compile(r"[;&|`\n<>$()]")
COMMANDS = re.compile(r"[;&|`\n(){}]+")
WORDS = re.compile(r"[\s;&|`(){}<>!]+")
QUOTING = re.compile(r"\\\n|[\\'\"]")
_PLAIN_URL = re.compile(
    r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?#][!-\[\]-~]*)?\Z", re.IGNORECASE
)


def judge(
    asked: PermissionAsked,
    settings: AgentSettings,
    grants: Iterable[Grant],
    root: Path,
    protected: Collection[Path] = (),
) -> Verdict:
    """The first that applies: denied, allowed, granted, all is allowed, undecided. A protected
    path (`protected`: besides those of every project) is a person's to allow, each time."""
    if any(denies(rule, asked, root) for rule in settings.deny):
        return Verdict.DENY
    is_guarded = edits_protected(asked, root, protected)
    if not is_guarded and any(applies(rule, asked, root) for rule in settings.allow):
        return Verdict.ALLOW
    granted = (asked.input,) if is_guarded else (None, asked.input)
    if any(grant.tool == asked.tool and grant.input in granted for grant in grants):
        return Verdict.ALLOW
    if settings.permissions == "full":
        return Verdict.ALLOW
    return Verdict.DENY if settings.unlisted == "deny" else Verdict.ASK


def edits_protected(asked: PermissionAsked, root: Path, protected: Collection[Path]) -> bool:
    """Whether a tool would write where it is decided what runs, or what counts."""
    if asked.tool.casefold() in READERS:
        return False
    paths = (asked.input.get(key) for key in PATH_KEYS)
    return any(_is_protected(path, root, protected) for path in paths if isinstance(path, str))


def _is_protected(path: str, root: Path, protected: Collection[Path]) -> bool:
    try:
        real = root.resolve()
        absolute = (real / path).resolve()
        if absolute in (one.resolve() for one in protected):
            return True
    except (OSError, ValueError, RuntimeError):  # no path that a file could have
        return False
    below = absolute.relative_to(real) if absolute.is_relative_to(real) else absolute
    parts = [part.casefold() for part in below.parts]
    if not set(parts).isdisjoint(GUARDED_FOLDERS) or (parts and parts[-1] in GUARDED_FILES):
        return True
    return any(pair in GUARDED_BELOW for pair in pairwise(parts))


def applies(rule: str, asked: PermissionAsked, root: Path) -> bool:
    """Whether a rule allows this use of a tool. A rule that cannot be read allows nothing."""
    return _speaks_of(rule, asked, root, is_wide=False)


def denies(rule: str, asked: PermissionAsked, root: Path) -> bool:
    """Whether a rule forbids this use of a tool: read as widely as allowing is read narrowly."""
    return _speaks_of(rule, asked, root, is_wide=True)


def _speaks_of(rule: str, asked: PermissionAsked, root: Path, *, is_wide: bool) -> bool:
    found = RULE.fullmatch(rule.strip())
    if found is None:
        return False
    tool, what = found[1], found[2]
    if tool.endswith("*"):
        is_tool = asked.tool.startswith(tool[:-1])
    else:
        is_tool = asked.tool == tool or asked.tool.startswith(f"{tool}__")
    if is_wide and tool == "Edit":
        is_tool = is_tool or asked.tool in EDITS
    if not is_tool or what is None:
        return is_tool
    if what == "*":
        return True
    command, url = asked.input.get("command"), asked.input.get("url")
    if isinstance(url, str) and what.startswith("domain:"):
        return _is_domain(what.removeprefix("domain:"), url, is_wide=is_wide)
    if isinstance(command, str):
        what = what[:-2] + ":*" if what.endswith(" *") else what
        return _has_command(what, command) if is_wide else _is_command(what, command)
    for key in PATH_KEYS:
        path = asked.input.get(key)
        if isinstance(path, str):
            if is_wide:
                what = _widened(what)
            return _is_path(what, path, root)
    return False


def _is_domain(domain: str, url: str, *, is_wide: bool) -> bool:
    """Only of an address that every program reads alike: browsers take a backslash for a slash,
    and what stands before an @ for a name."""
    if not _PLAIN_URL.match(url):
        return is_wide  # a rule that forbids is not got around by it
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host == domain or host.endswith(f".{domain}")


def _widened(what: str) -> str:
    """A name without a folder is meant at any depth; a home folder is the user's."""
    if what.startswith("~/"):
        return "/" + str(Path(what).expanduser())
    return what if "/" in what else f"**/{what}"


def _is_command(what: str, command: str) -> bool:
    """`pytest:*` is pytest with any arguments, never with another command behind it."""
    if not what.endswith(":*"):
        return command == what
    prefix = what[:-2]
    if SHELL_SYNTAX.search(command):
        return False
    return command == prefix or command.startswith(prefix + " ")


def _has_command(what: str, command: str) -> bool:
    """Whether its words stand anywhere in a command, however that is quoted and joined."""
    bare = QUOTING.sub("", command)
    if not what.endswith(":*"):
        parts = [" ".join(part.split()) for part in COMMANDS.split(bare)]
        return command == what or " ".join(what.split()) in parts
    wanted = _words(QUOTING.sub("", what[:-2]))
    words = _words(bare)
    return any(
        wanted and words[at : at + len(wanted)] == wanted
        for at in range(len(words) - len(wanted) + 1)
    )


def _words(command: str) -> list[str]:
    """A program by whatever path is that program."""
    return [word.rsplit("/", 1)[-1] for word in WORDS.split(command) if word]


def _is_path(what: str, path: str, root: Path) -> bool:
    """Rules speak of paths from the project's folder; `//` begins one from the root."""
    try:
        real = root.resolve()
        absolute = (real / path).resolve()
    except (OSError, ValueError, RuntimeError):  # no path that a file could have
        return False
    if what.startswith("//"):
        return bool(re.fullmatch(_glob(what[1:]), absolute.as_posix()))
    if not absolute.is_relative_to(real):
        return False
    below = absolute.relative_to(real).as_posix()
    return bool(re.fullmatch(_glob(what.removeprefix("./").removeprefix("/")), below))


def _glob(pattern: str) -> str:
    """As a regular expression; the path that it is held against is always taken literally."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    found = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern)
    return "".join(parts.get(part) or re.escape(part) for part in found)
