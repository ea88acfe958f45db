"""Where a plan belongs: its project folder, and Segue's memory in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.work import planted_memory

MEMORY = ".segue"
GITIGNORE = b"# Segue's memory of this project; it can be deleted.\n*\n"


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

    @property
    def database(self) -> Path:
        return self.memory / "segue.db"

    @property
    def logs(self) -> Path:
        return self.memory / "logs"

    @property
    def runs(self) -> Path:
        return self.memory / "runs"

    @property
    def evidence(self) -> Path:
        return self.memory / "evidence"

    @property
    def locks(self) -> Path:
        return self.memory / "locks"

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
        if self.elsewhere is None:
            planted_memory.check(self.memory, self.database, self.root)
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

    def prepare(self) -> None:
        """Create Segue's records; a UserError where that fails."""
        self.check_folder()
        try:
            self.make_folders()
        except OSError as error:
            raise files.in_words(error, self.memory) from error

    def make_folders(self) -> None:
        """Those of the memory that are not there, and its own .gitignore."""
        for folder in (self.memory, *self.folders, self.locks):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if stat.S_IMODE(folder.stat().st_mode) != 0o700:  # of an earlier version
                folder.chmod(0o700)
        if not (self.memory / ".gitignore").exists():
            files.replace(self.memory / ".gitignore", GITIGNORE, mode=0o644)


def project_of(environ: Mapping[str, str]) -> Project:
    """The run's own, or that of the folder in which the person's agent was started."""
    if environ.get("SEGUE_RUN") and environ.get("SEGUE_PROJECT"):
        place = environ.get("SEGUE_PLACE")
        memory = Path(place).parent.parent if place else None
        return Project(Path(environ["SEGUE_PROJECT"]), memory)
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
