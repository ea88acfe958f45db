"""`segue resume` for watched panes."""

from __future__ import annotations

from segue.cli.resume_server import describe, go_on_with, nothing, question, reset
from segue.i18n import _
from segue.work.resume import Found

__all__ = ["choices", "describe", "do", "nothing", "question", "reset"]


def choices(one: Found) -> list[tuple[str, str]]:
    return [
        (_("go on"), "segue watch"),
        (_("wake them now"), _("each with the key w in segue watch")),
        (_("show the state"), ""),
        (_("reset"), _("leave them alone: segue watch shows how")),
    ]


def do(one: Found, choice: str, environ: dict[str, str], *, as_json: bool) -> int:
    return go_on_with(one, choice, "watch", environ)
