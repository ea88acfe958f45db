"""`segue resume` for a feature."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from segue.cli import console
from segue.cli.resume_kinds import describe
from segue.cli.status import in_words
from segue.engine.kind import Found
from segue.i18n import _
from segue.work.feature.developing import CommandOptions, found, repair
from segue.work.feature.folder import FeatureFolder
from segue.work.overview import look
from segue.work.project import Project

__all__ = ["choices", "describe", "do", "nothing", "question", "reset", "way_back"]


def _folder(one: Found) -> FeatureFolder:
    return FeatureFolder(one.path.parent.parent)


def nothing(one: Found) -> str:
    return _('The last feature is complete. Start another: segue develop "FEATURE"')


def choices(one: Found) -> list[tuple[str, str]]:
    return [
        (_("continue the work"), ""),
        (_("from the start"), _("removes the state (keeps a copy)")),
        (_("show the state"), ""),
        (_("reset"), _("removes the state (keeps a copy)")),
    ]


def question() -> str:
    return _("How should it continue?")


def way_back(one: Found) -> str | None:
    text = _("Rebuild the state from Segue's journal?")
    return "rebuild" if console.confirm(text, default=True) else None


def reset(one: Found) -> tuple[dict[str, object], str]:
    """For programs, and in words."""
    folder = _folder(one)
    backups = Project.containing(folder.root).memory / "backups"
    kept = folder.put_aside(backups, datetime.now(UTC))
    told = {"kind": one.kind, "path": str(one.path), "reset": True, "backup": str(kept or "")}
    return told, _("The feature starts over. The old state is kept in {path}").format(path=kept)


def do(
    one: Found, choice: str, environ: dict[str, str], *, as_json: bool, chapters: int | None = None
) -> int:
    from segue.cli.develop import go, tell  # noqa: PLC0415 - only continuing needs the engine

    folder = _folder(one)
    match choice:
        case "status":
            console.echo(in_words([s for s in look(folder.root) if s.kind == "develop"]))
            return 0
        case "rebuild":
            repair(folder, datetime.now(UTC))
        case _:
            pass
    there = found(folder)
    assert there is not None
    options = CommandOptions(folder.root, there[1].feature)
    if not as_json:
        tell(there[1])
    return go(replace(options, is_fresh=choice == "restart"), environ, as_json=as_json)
