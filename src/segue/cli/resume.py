"""`segue resume`: find interrupted work of any kind, and continue it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from segue.cli import console, output, person, resume_words
from segue.cli.choosing import choose
from segue.cli.resume_kinds import RESUME_KINDS, ResumeKind
from segue.engine.kind import Found
from segue.engine.locks import check_held
from segue.engine.terminal_user import at_terminal
from segue.errors import UserError
from segue.i18n import _
from segue.store.actors import acting
from segue.store.rows import PANES, SERVER
from segue.work.folders import is_book
from segue.work.overview import part_of
from segue.work.resume import find, nothing_here

C = TypeVar("C", bound=Callable[..., Any])
WAITS = 3  # the exit code: a person must choose
CHOICES = ("continue", "restart", "status", "reset")


def _choice(name: str, does: str) -> Callable[[C], C]:
    """An option that says what to do; all that were given are seen, not only the last."""
    return click.option(f"--{name}", "chosen", multiple=True, flag_value=name, help=does)


@click.command(
    "resume",
    help=_(
        "Find interrupted work under PATH and offer ways to continue. Plain words work "
        "too: segue resume where was I"
    ),
    epilog=output.example("segue resume --continue"),
)
@click.argument("words", nargs=-1, metavar="[PATH] [WORDS]…")
@_choice("continue", _("continue where it stopped"))
@_choice("restart", _("restart the work in progress"))
@_choice("status", _("show the state and exit"))
@_choice("reset", _("start over (a backup is kept)"))
@_choice("rebuild", _("rebuild the lost state of a book from its chapters, then continue"))
@output.chapters_option()
@click.option(
    "--explain",
    is_flag=True,
    help=_("show why it stopped here, what Segue will redo, and what is lost"),
)
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    chosen: tuple[str, ...],
    chapters: int | None,
    explain: bool,
    as_json: bool,
) -> int:
    ctx.obj["chapters"] = chapters
    choice = _one(chosen)
    path, said = resume_words.split(words)
    is_to_ask = said == resume_words.ASK and choice in (None, "restart", "reset")
    said = None if is_to_ask else said
    if choice is not None and said is not None and said != choice:
        raise UserError(
            "usage",
            _("your words mean {said}, but the option is --{flag}").format(said=said, flag=choice),
            hint=_("choose one of them"),
        )
    choice = choice or said
    if choice == "reset":
        person.check(ctx.obj["environ"])
    if choice == "reset" and explain:
        raise _contradictory("explain", "reset")
    found = find(path)
    if as_json and choice in (None, "status"):
        output.print_json({"found": [_json(one, choice) for one in found]})
        return WAITS if is_to_ask and _of_interest(found, choice) else 0
    return _offer(_of_interest(found, choice), found, path, choice, ctx, explain, as_json)


def _one(chosen: tuple[str, ...]) -> str | None:
    """The one thing that is to be done."""
    if len(set(chosen)) > 1:
        raise _contradictory(*dict.fromkeys(chosen))
    return chosen[0] if chosen else None


def _contradictory(*flags: str) -> UserError:
    text = _("{flags} contradict each other").format(flags=", ".join(f"--{flag}" for flag in flags))
    return UserError("usage", text, hint=_("choose one of them"))


def _json(one: Found, choice: str | None) -> dict[str, object]:
    return {**one.to_json(), "state": one.state} if choice == "status" else one.to_json()


def _of_interest(found: list[Found], choice: str | None) -> list[Found]:
    """What can be continued; what is damaged and only a person can decide about. Continuing
    a broken plan prints what is wrong with it."""
    is_to_go_on = choice in ("continue", "restart")
    of_interest = [
        one
        for one in found
        if one.resumable or _is_damaged(one) or (is_to_go_on and _is_broken(one))
    ]
    if not of_interest and choice in ("status", "reset", "rebuild"):
        return [one for one in found if one.state["holder"] is None or choice == "status"]
    return of_interest


def _is_damaged(one: Found) -> bool:
    return one.kind != "tasklist" and bool(one.state["problem"])


def _is_broken(one: Found) -> bool:
    """A task list that was begun and cannot be read now."""
    is_over = one.state["state"] == "finished" or one.state["holder"] is not None
    return one.kind == "tasklist" and bool(one.state["problem"]) and not is_over


def _offer(
    offered: list[Found],
    found: list[Found],
    path: Path,
    choice: str | None,
    ctx: click.Context,
    explain: bool,
    as_json: bool,
) -> int:
    if not offered:
        return _tell_nothing(found, path, choice, as_json=as_json)
    if not as_json and choice != "status":
        for number, one in enumerate(offered, 1):
            console.echo(describe(one, number, len(offered), explain=explain))
    if explain and choice is None:
        return 0
    if choice is None:
        if not sys.stdin.isatty():
            if len(offered) == 1 and not _is_damaged(offered[0]):
                _show_choices(offered[0])
            if not all(_is_damaged(one) for one in offered):  # else it was said what can be done
                console.echo(_("Choose: --continue, --restart, --status or --reset"))
            return WAITS
        offered, choice = _choose(offered)
        if choice is None:
            return WAITS
    if choice == "reset":
        return _reset(offered, as_json=as_json)
    if len(offered) == 1:
        return _do(offered[0], choice, ctx, as_json=as_json)
    return max(_do_one(one, choice, ctx, as_json=as_json) for one in offered)


def _do(one: Found, choice: str, ctx: click.Context, *, as_json: bool) -> int:
    environ, chapters = ctx.obj["environ"], ctx.obj["chapters"]
    return _kind(one).do(one, choice, environ, as_json=as_json, chapters=chapters)


def _do_one(one: Found, choice: str, ctx: click.Context, *, as_json: bool) -> int:
    """One of several: its error is printed, and the others continue."""
    try:
        return _do(one, choice, ctx, as_json=as_json)
    except UserError as error:
        return output.error(error, as_json=as_json)


def _tell_nothing(found: list[Found], path: Path, choice: str | None, *, as_json: bool) -> int:
    if choice not in (None, "status"):
        _check_held(found)
    if as_json:
        output.print_json({"found": [one.to_json() for one in found]})
    else:
        console.echo(nothing(found, path))
    return 0


def _check_held(found: list[Found]) -> None:
    """Refuse, as `segue run` does, while another process runs it."""
    for one in found:
        if one.kind not in (SERVER, PANES):
            check_held(one.holder, str(one.path))


def _reset(offered: list[Found], *, as_json: bool) -> int:
    person.check(click.get_current_context().obj["environ"])
    """Each says where the old state is kept; a program gets one object, of several a list."""
    told = []
    for one in offered:
        with acting(at_terminal()):
            facts, words = _kind(one).reset(one)
        told.append(facts)
        if not as_json:
            console.echo(words)
    if as_json:
        output.print_json(told[0] if len(told) == 1 else {"reset": told})
    return 0


def _kind(one: Found) -> ResumeKind:
    return RESUME_KINDS[one.kind]()


def nothing(found: list[Found], path: Path) -> str:
    """Why there is nothing to do here."""
    for one in found:
        if one.state["holder"] is not None or one.state["problem"]:
            return f"{one.path}: {one.why}"
    if found:
        return _kind(found[0]).nothing(found[0])
    part = part_of(path.resolve())
    folder = part[0] if part else path
    if is_book(folder):
        from segue.work.book.resuming import nothing_begun, nothing_to_resume  # noqa: PLC0415

        is_reset = (folder / "meta" / "ralph-state.json").exists()
        return nothing_to_resume() if is_reset else nothing_begun()
    return nothing_here()


def describe(one: Found, number: int, total: int, *, explain: bool) -> str:
    lines = []
    if total > 1 or one.kind != "book":  # the box of a book says what it is
        lines.append(f"[{number}] {one.path}")
    lines.append(_kind(one).describe(one))
    if explain:
        more = [
            "    " + _("stopped: {why}").format(why=one.why),
            "    " + _("next: {next}").format(next=one.next),
            "    " + _("redone: {what}").format(what=one.redone),
            "    " + _("lost: {what}").format(what=one.lost),
            "    " + _("cost: {what}").format(what=one.cost),
        ]
        shown = "\n".join(lines)
        lines += [line for line in more if line not in shown]
    return "\n".join(lines)


def _choose(offered: list[Found]) -> tuple[list[Found], str | None]:
    if len(offered) > 1:
        offered = [offered[choose(_("Which one?"), len(offered)) - 1]]
    module = _kind(offered[0])
    if _is_damaged(offered[0]):
        return offered, module.way_back(offered[0])
    _show_choices(offered[0])
    return offered, CHOICES[choose(module.question(), len(CHOICES)) - 1]


def _show_choices(one: Found) -> None:
    for number, (name, does) in enumerate(_kind(one).choices(one), 1):
        console.echo(f"  {number}. {name} - {does}" if does else f"  {number}. {name}")
