"""How results and errors leave the program."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

import click

from segue import i18n
from segue.cli import console
from segue.errors import Problem, UserError
from segue.i18n import _

PROBLEMS_SHOWN_MAX = 20

C = TypeVar("C", bound=Callable[..., Any])


class BoundedInt(click.IntRange):
    """A whole number within bounds, called so in the language in use."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        self.name = _("integer")
        return super().convert(value, param, ctx)


def common_options() -> Callable[[C], C]:
    """What every command takes, before its name and after it; it was read before anything else."""
    language = click.option(
        "--lang",
        type=click.Choice(i18n.LANGUAGES),
        expose_value=False,
        help=_("output language"),
    )
    plain = click.option(
        console.PLAIN,
        is_flag=True,
        expose_value=False,
        help=_("plain ASCII lines: no live display, no colours"),
    )
    return lambda command: language(plain(command))


def json_option() -> Callable[[C], C]:
    return click.option("--json", "as_json", is_flag=True, help=_("print JSON and nothing else"))


def chapters_option() -> Callable[[C], C]:
    return click.option(
        "--chapters",
        type=BoundedInt(1),
        metavar="N",
        help=_("the correct number of chapters, if the book's files disagree"),
    )


def print_json(value: object) -> None:
    console.echo_json(value, indent=2)


def print_line(value: object) -> None:
    """One of many, for programs."""
    console.echo_json(value)


def error(error: UserError, *, as_json: bool) -> int:
    """Tell a person, or a program, what to fix; the exit code. That of bad input is 2."""
    if as_json:
        told: dict[str, object] = {"error": error.problem.to_json()}
        if len(error.problems) > 1:
            told["errors"] = [problem.to_json() for problem in error.problems]
        console.echo_json(told)
        return error.exit_code
    for problem in error.problems[:PROBLEMS_SHOWN_MAX]:
        _problem(problem)
    left = len(error.problems) - PROBLEMS_SHOWN_MAX
    if left > 0:
        console.echo(_("… and {n} more").format(n=left), err=True)
    return error.exit_code


def _problem(problem: Problem) -> None:
    where = f"{problem.where}: " if problem.where else ""
    label = console.Styled(_("error:"), "red", bold=True)
    console.echo(label, f" {where}{problem.message}", err=True)
    for line in (problem.hint or "").splitlines():
        console.echo(console.Styled("  → ", "cyan"), line, err=True)


def usage_error(error_: click.UsageError, *, as_json: bool) -> int:
    command = error_.ctx.command_path if error_.ctx else "segue"
    hint = _("see {command} --help").format(command=command)
    return error(UserError("usage", error_.format_message(), hint=hint), as_json=as_json)


def unknown_command(name: str, known: tuple[str, ...]) -> UserError:
    close = get_close_matches(name, known, 1)
    if name.endswith(".md"):
        hint = _("to run a plan: segue run {name}").format(name=shlex.quote(name))
    elif close:
        hint = _("did you mean `{name}`?").format(name=f"segue {close[0]}")
    else:
        hint = _("known: {names}").format(names=", ".join(known))
    return UserError("usage", _("unknown command `{name}`").format(name=name), hint=hint)


def example(text: str) -> str:
    """The last lines of a command's help: an example that works."""
    return "\b\n" + _("Example:") + "\n  " + text.replace("\n", "\n  ")
