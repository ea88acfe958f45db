"""`segue resume` for a task list."""

from __future__ import annotations

from segue.cli import console
from segue.cli.resume_kinds import describe, way_back
from segue.cli.status import in_words
from segue.engine.kind import Found
from segue.errors import UserError
from segue.i18n import _
from segue.work.overview import look
from segue.work.resume import nothing_here
from segue.work.tasklist.reset import reset_plan

__all__ = ["choices", "describe", "do", "nothing", "question", "reset", "way_back"]


def nothing(one: Found) -> str:
    return nothing_here()


def choices(one: Found) -> list[tuple[str, str]]:
    return [
        (_("continue the work"), ""),
        (_("restart the tasks in progress"), ""),
        (_("show the state"), ""),
        (_("reset"), ""),
    ]


def question() -> str:
    return _("What should Segue do?")


def reset(one: Found) -> tuple[dict[str, object], str]:
    """For programs, and in words."""
    backup = reset_plan(one.path)
    told = {"kind": one.kind, "path": str(one.path), "reset": True, "backup": str(backup)}
    return told, _("The plan starts over. The old one is kept in {path}").format(path=backup)


def do(
    one: Found, choice: str, environ: dict[str, str], *, as_json: bool, chapters: int | None = None
) -> int:
    from segue.cli.run import go  # noqa: PLC0415 - only continuing needs the engine
    from segue.work.tasklist.running import CommandOptions  # noqa: PLC0415

    match choice:
        case "status":
            console.echo(in_words(look(one.path)))
            return 0
        case "rebuild":
            raise UserError("usage", _("a task list cannot be rebuilt: its marks are its state"))
        case _:
            options = CommandOptions(one.path, restart=choice == "restart")
            return go(options, environ, as_json=as_json)
