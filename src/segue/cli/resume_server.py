"""`segue resume` for the tasks of the server: the server continues them when it runs."""

from __future__ import annotations

from contextlib import chdir

from segue.cli import console
from segue.cli.resume_kinds import describe, way_back
from segue.cli.status import in_words
from segue.engine.kind import Found
from segue.errors import UserError
from segue.i18n import _
from segue.work.overview import look

__all__ = ["choices", "describe", "do", "nothing", "question", "reset", "way_back"]

COMMAND = "serve"


def nothing(one: Found) -> str:
    return f"{one.path}: {one.why}"


def choices(one: Found) -> list[tuple[str, str]]:
    return [
        (_("continue the work"), f"segue {COMMAND}"),
        (_("start over"), _("for each task: segue task retry ID")),
        (_("show the state"), ""),
        (_("reset"), _("for each task: segue task cancel ID")),
    ]


def question() -> str:
    return _("How should it continue?")


def reset(one: Found) -> tuple[dict[str, object], str]:
    """Nothing is done to all of them at once."""
    raise each_by_itself()


def do(
    one: Found, choice: str, environ: dict[str, str], *, as_json: bool, chapters: int | None = None
) -> int:
    if choice not in ("continue", "status"):
        raise each_by_itself()
    return go_on_with(one, choice, COMMAND, environ, as_json=as_json)


def go_on_with(
    one: Found, choice: str, command: str, environ: dict[str, str], *, as_json: bool
) -> int:
    """Show how it stands; or run another command in the place of this one, in its project."""
    from segue.cli.main import make  # noqa: PLC0415 - the whole tree of commands

    root = one.path.parent
    if choice == "status":
        console.echo(in_words([s for s in look(root) if s.kind == one.kind]))
        return 0
    args = [command, "--json"] if as_json else [command]
    with chdir(root):
        code = make().main(args, prog_name="segue", standalone_mode=False, obj={"environ": environ})
    return code if isinstance(code, int) else 0


def each_by_itself() -> UserError:
    return UserError(
        "usage",
        _("do this for each task separately"),
        hint="segue task retry ID · segue task cancel ID",
    )
