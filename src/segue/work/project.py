"""Where a plan belongs: its project folder, what Segue leaves in it (`.segue/`), and what it keeps
where no agent works (`state_folder.py`)."""

from __future__ import annotations

import errno
import logging
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from segue.dialects.lines import plain_text
from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.work import planted_memory, state_folder

logger = logging.getLogger("segue.work")

MEMORY = ".segue"
GITIGNORE = b"# What Segue leaves in this project: logs of runs. It can be deleted.\n*\n"


def _log(text: str) -> None:
    logger.warning("%s", plain_text(text))


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with plans, and `.segue/` in it."""

    root: Path
    elsewhere: Path | None = None  # its memory, if that is not in the folder

    @classmethod
    def containing(cls, path: Path) -> Project:
        """The nearest folder upwards with a segue.toml or .git; else the folder itself."""
        folder = path if path.is_dir() else path.parent
        for candidate in (folder, *folder.parents):
            if (candidate / "segue.toml").exists() or (candidate / ".git").exists():
                return cls(candidate)
        return cls(folder)

    @property
    def memory(self) -> Path:
        return self.elsewhere or self.root / MEMORY

    @classmethod
    def with_data(cls, root: Path, data: Path | None) -> Project:
        """`data`: the folder that a person named for the records, in place of both."""
        is_usual = data is None or data.resolve() == root.resolve() / MEMORY
        return cls(root, None if is_usual or data is None else data.resolve())

    @property
    def state(self) -> Path:
        """What no agent may reach. In the memory itself where a person named that (`--data`), and
        until what an earlier version left there can be moved."""
        if self.elsewhere is not None:
            return self.elsewhere
        place = state_folder.find(self.root, self.memory)
        is_used = not state_folder.is_unused(place)
        return place if is_used or not state_folder.has_old(self.memory, self.root) else self.memory

    @property
    def database(self) -> Path:
        return self.state / state_folder.DATABASE

    @property
    def logs(self) -> Path:
        return self.memory / "logs"

    @property
    def runs(self) -> Path:
        return self.memory / "runs"

    @property
    def evidence(self) -> Path:
        return self.state / "evidence"

    @property
    def locks(self) -> Path:
        return self.state / "locks"

    @property
    def keys(self) -> Path:
        """Of the server: its token, its keys, and where it listens."""
        return self.state / "server"

    @property
    def bell(self) -> Path:
        """The folder whose owners hear when rows were added for them."""
        return self.memory / "bell"

    @property
    def worktrees(self) -> Path:
        return self.memory / "worktrees"

    @property
    def server(self) -> Path:
        return self.memory / "server"

    @property
    def folders(self) -> tuple[Path, ...]:
        """What a run writes into."""
        return (self.logs, self.runs, self.evidence, self.bell)

    def check_folder(self) -> None:
        """Refuse what is not Segue's own; what came with a clone is never read."""
        if self.elsewhere is None:
            planted_memory.check(self.memory, self.memory / state_folder.DATABASE, self.root)
            planted_memory.check(self.state, self.database, self.root)
        if self.memory.exists() and not self.memory.is_dir():
            raise UserError(
                "memory_unusable",
                _("this is a file, but Segue needs a folder of this name for its records"),
                file=str(self.memory),
                hint=_(
                    "move it away: Segue continues from the marks in the plan, which say what"
                    " is done"
                ),
            )

    def relative(self, path: Path) -> str:
        """A path as people of this project call it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def prepare(self, tell: Callable[[str], None] = _log) -> None:
        """Create Segue's folders; a UserError where that fails. `tell`: what a person should hear
        of it, once."""
        self.check_folder()
        is_deleted = not self.memory.exists()
        try:
            self.make_memory()
            if self.elsewhere is None:
                self._bring_state(tell, is_deleted=is_deleted)
            self.make_folders()
        except OSError as error:
            raise self._in_words(error) from error

    def prepare_memory(self) -> None:
        """Make `.segue/` alone: an agent's own hooks see nothing of the state."""
        self.check_folder()
        try:
            self.make_memory()
        except OSError as error:
            raise files.in_words(error, self.memory) from error

    def _in_words(self, error: OSError) -> UserError:
        name = error.filename
        told = files.in_words(error, Path(name) if isinstance(name, str) else self.memory)
        if told.problem.code != "read_only" or Path(str(name)).is_relative_to(self.memory):
            return told
        return _no_state(Path(str(name)), error.strerror or str(error))

    def _bring_state(self, tell: Callable[[str], None], *, is_deleted: bool) -> None:
        """To where it belongs: from `.segue/`, or after the project's folder was moved."""
        before, place = self.state, state_folder.find(self.root, self.memory)
        if before == self.memory or (place / state_folder.UNFINISHED).exists():
            from segue.work import state_move  # noqa: PLC0415 - once for each project

            if state_move.bring(self.root, self.memory, place) and before == self.memory:
                text = _("Segue moved its records of this project from {old} to {new}")
                tell(text.format(old=self.relative(self.memory), new=place))
        elif place != state_folder.folder_of(self.root):
            from segue.work import state_move  # noqa: PLC0415

            now = state_move.follow(self.root, place)
            if now != place:
                text = _("The project was moved; Segue's records of it are in {new} now")
                tell(text.format(new=now))
        elif state_folder.is_unused(place):
            self._tell_of_others(tell)
        elif is_deleted and self.database.exists():
            text = _(
                "The folder .segue/ was deleted. Lost: the logs of earlier runs. Segue keeps its"
                " other records in {folder}"
            )
            tell(text.format(folder=place))

    def _tell_of_others(self, tell: Callable[[str], None]) -> None:
        """`.segue/` came from another folder: the records it names are not this one's."""
        target = state_folder.target_of(self.memory)
        if target is None:
            return
        text = _(
            "This folder was copied from {path}, so Segue starts it with new records. The old ones"
            " stay in {folder}"
        )
        told = state_folder.read_record(target)
        if told is not None and target.parent == files.state_base():
            tell(text.format(path=told.path, folder=target))

    def make_memory(self) -> None:
        """`.segue/`, with its own .gitignore."""
        _make_private(self.memory)
        if not (self.memory / ".gitignore").exists():
            files.replace(self.memory / ".gitignore", GITIGNORE, mode=0o644)

    def make_folders(self) -> None:
        """Those that are not there, and what says whose they are."""
        self.make_memory()
        state = self.state
        for folder in (state, *self.folders, self.locks):
            _make_private(folder)
        if state != self.memory:
            state_folder.write_record(state, self.root)
            with suppress(OSError):  # for people; Segue finds it without
                state_folder.write_pointer(self.memory, state)


def _no_state(place: Path, why: str) -> UserError:
    return UserError(
        "read_only",
        _("cannot write here, where Segue keeps its records: {why}").format(why=why),
        file=str(place),
        hint=_("make the folder writable, or choose another: export XDG_STATE_HOME=/a/folder"),
    )


def _make_private(folder: Path) -> None:
    files.make_private_folder(folder)
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:  # of an earlier version
        folder.chmod(0o700)


def project_of(environ: Mapping[str, str]) -> Project:
    """The run's own, or that of the folder in which the person's agent was started."""
    if environ.get("SEGUE_RUN") and environ.get("SEGUE_PROJECT"):
        place = environ.get("SEGUE_PLACE")
        memory = Path(place).parent.parent if place else None
        return Project.with_data(Path(environ["SEGUE_PROJECT"]), memory)
    return Project.containing(Path(environ.get("CLAUDE_PROJECT_DIR") or Path.cwd()).resolve())


def find_plan(given: Path) -> Path:
    """The real path of a plan that can be read and written; else what is wrong with it."""
    shown = str(given)
    if not given.exists():
        raise UserError(
            "plan_not_found",
            _("no such plan"),
            file=shown,
            hint=_("give the path of a Markdown file with tasks like `- [ ] **T-001**: …`"),
        )
    plan = given.resolve()
    if not plan.is_file():
        raise UserError(
            "plan_unreadable",
            _("a plan must be a file, and this is not one"),
            file=shown,
            hint=_("give the path of a Markdown file with tasks like `- [ ] **T-001**: …`"),
        )
    if not os.access(plan, os.R_OK):
        raise UserError(
            "plan_unreadable",
            _("cannot read the plan"),
            file=shown,
            hint=_("make it readable: chmod u+r"),
        )
    return plan


def check_writable(plan: Path, project: Project) -> None:
    """Before anything is begun: marks must be writable, and so must the memory."""
    project.check_folder()
    memory = project.memory if project.memory.exists() else project.root
    for place in (plan, plan.parent, memory):
        if not os.access(place, os.W_OK):
            raise UserError(
                "read_only",
                _("cannot write here, where Segue keeps its marks and records"),
                file=str(place),
                hint=_("make the folder writable"),
            )
    state = project.state
    while not os.path.exists(state):  # noqa: PTH110 - False where this user may not look
        state = state.parent
    if not os.access(state, os.W_OK):
        raise _no_state(state, os.strerror(errno.EACCES))
