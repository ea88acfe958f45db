"""`segue hooks install`, `status` and `remove`: our part of a project's `.claude/settings.json`.

The file is a person's, and perhaps a team's: it is changed in its text, compared before it is
replaced, and never touched where it cannot be read. What was made only for our hooks is noted in
`.segue/hooks/`, so that it can be taken away again.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path

from segue.dialects import claude_hooks
from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.work.hooks.notes import Notes
from segue.work.project import Project

SETTINGS = Path(".claude", "settings.json")
BYTES_MAX = 4 * 1024 * 1024
TRIES_MAX = 20
EMPTY = "{}\n"


@dataclass(frozen=True, slots=True)
class Created:
    """What an installation had to make. `empty`: containers that stood empty before."""

    file: bool = False
    folder: bool = False
    empty: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Installed:
    """One event. `is_found`: whether the program of its command is there."""

    event: str
    matcher: str
    command: str | None
    is_found: bool
    last_fired: datetime | None


class Settings:
    """The settings of Claude Code in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.path = self._folder / SETTINGS
        self._project = Project.containing(self._folder)
        self._notes = Notes(self._project)

    # Changing

    def install(self, program: str) -> bool:
        """True: something has changed."""
        made = Created(file=not self.path.exists(), folder=not self.path.parent.exists())
        for _try in range(TRIES_MAX):
            before = self._read()
            with _told(before or EMPTY, self.path):
                is_first = before is None or not claude_hooks.installed(before)
                merged = claude_hooks.merged(before or EMPTY, program)
            if merged.text == before:
                return False
            if self._write(merged.text, before):
                if is_first:
                    empty = {} if before is None else merged.empty
                    self._remember(replace(made, empty=empty))
                return True
        raise self._busy()

    def remove(self) -> bool:
        """True: something has changed."""
        made = self._made()
        for _try in range(TRIES_MAX):
            before = self._read()
            with _told(before or EMPTY, self.path):
                if before is None or not claude_hooks.installed(before):
                    return False
                after = claude_hooks.without(before, made.empty)
            if made.file and json.loads(after) == {}:
                self.path.unlink()
            elif not self._write(after, before):
                continue
            if made.folder:
                with suppress(OSError):  # another process has put something there
                    self.path.parent.rmdir()
            self._memory.unlink(missing_ok=True)
            return True
        raise self._busy()

    def _write(self, text: str, before: str | None) -> bool:
        """False: another process has changed the file in the meantime."""
        try:
            if before is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                files.replace(self.path, text.encode())
                return True
            real = self.path.resolve()  # a link stays one
            return files.exchange_if(real, text.encode(), before.encode()) is None
        except OSError as error:
            raise files.in_words(error, self.path) from error

    # Looking

    def look(self, environ: Mapping[str, str]) -> list[Installed]:
        text = self._read()
        with _told(text or EMPTY, self.path):
            there = claude_hooks.installed(text or EMPTY)
        return [
            Installed(
                event,
                matcher,
                there.get(event),
                event in there and is_found(there[event], environ),
                self._notes.last_fired(event),
            )
            for event, matcher in claude_hooks.EVENTS.items()
        ]

    def _read(self) -> str | None:
        """The text; None where there is no file. UserError for what is no valid JSON."""
        try:
            facts = self.path.stat()
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > BYTES_MAX:
                raise self._bad(_("this is not a settings file"), None)
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._bad(error.strerror or str(error), None) from error
        try:
            text = data.decode("utf-8")
            json.loads(text)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self._bad(_("this is not UTF-8 text"), line) from error
        except json.JSONDecodeError as error:
            why = _("this is not valid JSON: {why} (column {column})")
            why = why.format(why=error.msg, column=error.colno)
            raise self._bad(why, error.lineno) from error
        except RecursionError as error:
            raise self._bad(_("this is not a settings file"), None) from error
        return text

    # What was made

    @property
    def _memory(self) -> Path:
        inside = self._folder.relative_to(self._project.root)
        name = "-".join(["installed", *inside.parts])
        return self._project.memory / "hooks" / f"{name}.json"

    def _remember(self, made: Created) -> None:
        self._project.prepare_memory()
        try:
            self._memory.parent.mkdir(exist_ok=True)
            files.replace(self._memory, json.dumps(asdict(made)).encode())
        except OSError as error:
            raise files.in_words(error, self._memory) from error

    def _made(self) -> Created:
        try:
            told = json.loads(self._memory.read_bytes())
        except (OSError, ValueError):
            return Created()  # Segue's memory was deleted
        match told:
            case {"file": bool(file), "folder": bool(folder), "empty": dict(empty)}:
                return Created(file, folder, {str(k): str(v) for k, v in empty.items()})
        return Created()

    def _bad(self, why: str, line: int | None) -> UserError:
        return bad_settings(why, self.path, line)

    def _busy(self) -> UserError:
        text = _("another program keeps writing to this file")
        return UserError("settings_busy", text, file=str(self.path), hint=_("try again"))


def bad_settings(why: str, path: Path, line: int | None) -> UserError:
    hint = _("fix it; Segue changed nothing")
    return UserError("bad_settings", why, file=str(path), line=line, hint=hint)


@contextmanager
def _told(text: str, path: Path) -> Iterator[None]:
    """Valid JSON that is not what Claude Code reads, an error with its line."""
    try:
        yield
    except claude_hooks.BadSettings as error:
        if str(error):
            why = _("`{name}` is not in the format that Claude Code reads").format(name=error)
        else:
            why = _("the settings must be an object, {example}").format(example="{ … }")
        raise bad_settings(why, path, text.count("\n", 0, error.at) + 1) from error


def program_here(environ: Mapping[str, str], argv0: str) -> str:
    """How this Segue is called from anywhere, quoted for a shell.

    By its name, where a shell finds this very program by it; an environment that is only switched
    on for now does not count. Otherwise by its full path: not that of the link's target, which an
    update may move.
    """
    own = Path(argv0).absolute() if Path(argv0).name == "segue" else None
    own = own or Path(sys.executable).with_name("segue")
    if not (own.is_file() and os.access(own, os.X_OK)):
        return shlex.join([sys.executable, "-P", "-m", "segue"])
    switched_on = environ.get("VIRTUAL_ENV")
    lasting = [
        folder
        for folder in environ.get("PATH", "").split(os.pathsep)
        if folder and not (switched_on and Path(folder).is_relative_to(switched_on))
    ]
    found = shutil.which("segue", path=os.pathsep.join(lasting))
    if found is not None and Path(found).resolve() == own.resolve():
        return "segue"
    return shlex.quote(str(own))


def is_found(command: str, environ: Mapping[str, str]) -> bool:
    """Whether the program of a hook's command is there."""
    program = claude_hooks.program_of(command)
    return shutil.which(program, path=environ.get("PATH")) is not None
