"""Whether a folder may run what it asks for: a repository is trusted once.

A clone is other people's text. What its settings, its book and its plans would run, give to agents
or allow them is not used before a person has seen it (`segue trust`), nor after a pull changed it.
What was trusted is kept outside of the repository, by a hash of these parts alone: marks and prose
need no trust.

A file of the user's own (outside of a clone, not in it, or edited in it) is trusted as it is. What
changed while agents worked is not: they could have written it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from segue.core.plan import Task
from segue.drivers.git import Repository, read_bounded
from segue.drivers.lineage import run_of
from segue.errors import UserError
from segue.i18n import _
from segue.plans.tasklist import Document
from segue.store import files

VARIABLE, ALL = "SEGUE_TRUST", "all"
SETTINGS, BOOK = "segue.toml", "book.toml"
UNTRUSTED = "untrusted"
WAITS = 3  # the exit code: a person must decide
TEXT_BYTES_MAX = 4 * 1024 * 1024
SHOWN_CHARS_MAX = 200
_REMOTE = re.compile(r'^\s*\[\s*remote\s+"', re.MULTILINE)
SANDBOX_PARTS = ("sandbox", "network", "sandbox_read", "sandbox_write")
# Of an agent's table: what it starts, what it gets, what it may do.
AGENT_PARTS = (
    "kind", "command", "env", "permissions", "allow", "deny", "unlisted", "scenario", "model",
    *SANDBOX_PARTS,
)  # fmt: skip
BOOK_PARTS = ("writer", "judge", "judge_command")


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a file would run, give or allow."""

    file: str
    name: str
    text: str

    def to_json(self) -> dict[str, str]:
        return {"file": self.file, "name": self.name, "text": self.text}

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        cut = f"{text[:SHOWN_CHARS_MAX]}…" if len(text) > SHOWN_CHARS_MAX else text
        return f"{self.file}: {self.name} = {cut}"


class Untrusted(UserError):  # noqa: N818 - it says what the folder is
    """A person must look at what a folder would run."""

    exit_code = WAITS

    def __init__(self, root: Path, parts: Sequence[Part], *, by_agents: bool = False) -> None:
        self.root, self.parts = root, tuple(parts)
        files_ = ", ".join(dict.fromkeys(part.file for part in parts))
        text = _("this folder wants to run commands, and you have not trusted it yet: {files}")
        if by_agents:
            text = _("{files} changed while agents worked; review it before you trust it")
        super().__init__(
            UNTRUSTED,
            text.format(files=files_),
            file=str(root),
            hint=_("review what it would run, and trust it: segue trust"),
        )


# What there is to trust


def parts_of_settings(text: str, file: str = SETTINGS) -> list[Part]:
    """What a segue.toml would run, give or allow. One that cannot be read is refused elsewhere."""
    values = _toml(text)
    found = [
        Part(file, f"agents.{name}.{key}", _shown(table[key]))
        for name, table in _tables(values.get("agents"))
        for key in AGENT_PARTS
        if key in table
    ]
    for name, keys in (
        ("notify", ("channels", "webhook_secret")),
        ("reviews", ("notify", "webhook_secret")),
        ("recovery", ("resume_text",)),
        ("limits", ("patterns",)),
        ("checks", ("protect", "on_change", *SANDBOX_PARTS)),
        ("plans", ("accept_new_tasks",)),
    ):
        section = values.get(name)
        if isinstance(section, dict):
            found += [Part(file, f"{name}.{k}", _shown(section[k])) for k in keys if k in section]
    for kind, table in _tables(values.get("types")):
        for phase in table.get("phases") or []:
            if isinstance(phase, dict):
                name = f"types.{kind}.{phase.get('name', '?')}"
                found += [
                    Part(file, f"{name}.{key}", _shown(phase[key]))
                    for key in ("verify", "reviewer")
                    if key in phase
                ]
    for name, table in _tables(values.get("repositories")):
        found += [Part(file, f"repositories.{name}.setup", _shown(table["setup"]))] * (
            "setup" in table
        )
    return found


def parts_of_book(text: str, file: str = BOOK) -> list[Part]:
    values = _toml(text)
    return [Part(file, key, _shown(values[key])) for key in BOOK_PARTS if key in values]


def parts_of_tasks(tasks: Sequence[Task], file: str) -> list[Part]:
    """What the tasks of a plan would run, and by whom."""
    return [
        Part(file, f"{task.id}.{name}", text)
        for task in tasks
        for name, text in (("run", task.run), ("verify", task.verify), ("agent", task.agent))
        if text
    ]


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _tables(found: Any) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(found, dict):
        return []
    return [(name, table) for name, table in found.items() if isinstance(table, dict)]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def parts_of_file(path: Path, root: Path) -> list[Part]:
    """What one file would run, by its name: settings, a book, a plan."""
    data = read_bounded(path, TEXT_BYTES_MAX)
    return [] if data is None else _parts(path.name, data, _relative(path, root))


def _parts(name: str, data: bytes, file: str) -> list[Part]:
    if name == SETTINGS:
        return parts_of_settings(data.decode("utf-8", "replace"), file)
    if name == BOOK:
        return parts_of_book(data.decode("utf-8", "replace"), file)
    if name.lower().endswith(".md"):
        return parts_of_tasks(Document.parse(data, file=file).tasks, file)
    return []


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


# Who wrote it


def _theirs(root: Path, path: Path, parts: Sequence[Part]) -> bool:
    """Whether a file came with a clone as it is: git knows these very parts of it."""
    repository = Repository.containing(root)
    if repository is None or not is_clone(repository) or not path.is_relative_to(repository.top):
        return False
    name = path.relative_to(repository.top)
    shown = repository.refs().attempt("cat-file", "blob", f"HEAD:{name.as_posix()}")
    if shown.returncode:
        return False  # git does not know it: it is the user's own
    committed = _parts(path.name, shown.stdout.encode("utf-8", "surrogateescape"), parts[0].file)
    return fingerprint(committed) == fingerprint(parts)


def _was_run(root: Path, database: Path) -> bool:
    """Whether Segue ran here before; a database that came with a clone proves nothing."""
    if not database.is_file() or database.is_symlink():
        return False
    repository = Repository.containing(root)
    if repository is None or not database.is_relative_to(repository.top):
        return True
    name = database.relative_to(repository.top).as_posix()
    return repository.refs().attempt("cat-file", "-e", f"HEAD:{name}").returncode != 0


def is_clone(repository: Repository) -> bool:
    """Whether a repository came from elsewhere: it names another one."""
    settings = read_bounded(repository.common / "config", TEXT_BYTES_MAX) or b""
    return _REMOTE.search(settings.decode("utf-8", "replace")) is not None


def fingerprint(parts: Sequence[Part]) -> str:
    known = sorted((part.name, part.text) for part in parts)
    return hashlib.sha256(json.dumps(known, ensure_ascii=False).encode()).hexdigest()


# What is remembered


@dataclass(slots=True)
class Record:
    """What was trusted in one folder, kept outside of it: by file, the hash of its parts."""

    path: Path | None  # none: the user has no home
    root: str
    trusted: dict[str, str] = field(default_factory=dict)
    by_agents: dict[str, str] = field(default_factory=dict)  # as it was after agents had worked
    # Of each plan whose run has not ended yet, or was killed: the settings when it began.
    at_work: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> Record:
        home = state_home(environ)
        if home is None:
            return cls(None, str(root))
        name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:24]
        path = home / "segue" / "trust" / f"{name}.json"
        try:
            known = json.loads(path.read_bytes())
            trusted = dict(known["trusted"])
            later = (dict(known.get(name, {})) for name in ("by_agents", "at_work"))
            return cls(path, str(root), trusted, *later)
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path, str(root))

    @property
    def is_new(self) -> bool:
        return not self.trusted and not self.by_agents

    def accept(self, parts: Sequence[Part]) -> None:
        for file, each in _by_file(parts):
            self.trusted[file] = fingerprint(each)
            self.by_agents.pop(file, None)

    def save(self) -> None:
        if self.path is None:
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = {
            "root": self.root,
            "trusted": self.trusted,
            "by_agents": self.by_agents,
            "at_work": self.at_work,
        }
        files.replace(self.path, json.dumps(known, indent=2).encode(), mode=0o600)


def state_home(environ: Mapping[str, str]) -> Path | None:
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"])
    return Path(environ["HOME"], ".local", "state") if environ.get("HOME") else None


def _by_file(parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    for file in dict.fromkeys(part.file for part in parts):
        yield file, [part for part in parts if part.file == file]


# Deciding


def check(
    root: Path, paths: Sequence[Path], environ: Mapping[str, str], database: Path | None = None
) -> None:
    """Before anything of a folder is used: Untrusted where a person must look first. What is the
    user's own is remembered as it is now. `database`: of a folder whose plans were run before
    there was anything to trust, and so are trusted."""
    parts = [part for path in paths for part in parts_of_file(path, root)]
    is_agent = run_of(environ) is not None
    if environ.get(VARIABLE) == ALL and not is_agent:
        return
    record = Record.of(root, environ)
    if record.is_new and database is not None and _was_run(root, database) and not is_agent:
        record.accept(parts)
    found = {_relative(path, root): path for path in paths}
    unknown: list[Part] = []
    written: list[Part] = []
    for file, each in _by_file(parts):
        now = fingerprint(each)
        has_changed = any(began.get(file, now) != now for began in record.at_work.values())
        if has_changed or record.by_agents.get(file) == now:
            written += each
        elif record.trusted.get(file) != now and _theirs(root, found[file], each):
            unknown += each
    if unknown or written:
        raise Untrusted(root, unknown or written, by_agents=not unknown)
    if parts and not is_agent:
        record.accept(parts)
        record.save()


def trust(root: Path, parts: Sequence[Part], environ: Mapping[str, str]) -> None:
    """A person has seen these parts and wants them used."""
    record = Record.of(root, environ)
    record.accept(parts)
    for began in record.at_work.values():
        for part in parts:
            began.pop(part.file, None)
    record.save()


def settings_now(root: Path) -> dict[str, str]:
    """The settings of a folder and of a book in it, by the hash of what they would run."""
    return {name: fingerprint(parts_of_file(root / name, root)) for name in (SETTINGS, BOOK)}


def note_start(
    root: Path, plan: str, before: Mapping[str, str], environ: Mapping[str, str]
) -> None:
    """Agents are about to work: the next start after a crash knows how the settings were."""
    record = Record.of(root, environ)
    record.at_work[plan] = dict(before)
    with suppress(OSError):  # the disk is full: the run itself says so
        record.save()


def note_end(
    root: Path, plan: str, before: Mapping[str, str], environ: Mapping[str, str], *, has_begun: bool
) -> None:
    """The run of a plan is over. `has_begun`: an agent has worked."""
    if has_begun:
        note_changes(root, before, environ)
    record = Record.of(root, environ)
    if record.at_work.pop(plan, None) is not None:
        with suppress(OSError):
            record.save()


def note_changes(root: Path, before: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """Agents have worked: settings that are not as they were `before` may be theirs."""
    changed = {name: now for name, now in settings_now(root).items() if now != before[name]}
    if changed:
        record = Record.of(root, environ)
        record.by_agents |= changed
        with suppress(OSError):  # the disk is full: the run itself says so
            record.save()
