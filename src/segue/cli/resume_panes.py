"""`segue resume` for watched panes."""

from __future__ import annotations

from segue.cli.resume_kinds import describe, way_back
from segue.cli.resume_server import go_on_with, nothing, question
from segue.engine.kind import Found
from segue.errors import UserError
from segue.i18n import _

__all__ = ["choices", "describe", "do", "nothing", "question", "reset", "way_back"]


def choices(one: Found) -> list[tuple[str, str]]:
    return [
        (_("continue the work"), "segue watch"),
        (_("wake them now"), _("press w in segue watch for each one")),
        (_("show the state"), ""),
        (_("reset"), _("leave them alone: press p in segue watch")),
    ]


def reset(one: Found) -> tuple[dict[str, object], str]:
    """Nothing is done to all of them at once."""
    raise _each_by_itself()


def do(
    one: Found, choice: str, environ: dict[str, str], *, as_json: bool, chapters: int | None = None
) -> int:
    if choice not in ("continue", "status"):
        raise _each_by_itself()
    return go_on_with(one, choice, "watch", environ, as_json=as_json)


def _each_by_itself() -> UserError:
    return UserError(
        "usage",
        _("do this for each pane separately"),
        hint="segue wake PANE · segue watch",
    )
