"""`segue mcp`: agents ask, report and finish by tool call instead of by text."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import click

from segue.cli import console, output
from segue.errors import UserError
from segue.i18n import _

INSTALL = "pip install 'segue[mcp]'"


@click.command(
    "mcp",
    help=_("MCP server on standard input and output, for the agent that you use in a project."),
    epilog=output.example("claude mcp add segue -- segue mcp"),
)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="PATH",
    help=_("the project folder (default: this folder)"),
)
@output.common_options()
@click.pass_context
def command(ctx: click.Context, project: Path) -> int:
    if sys.stdin.isatty():
        text = _("This command is for agents; add it to yours: {command}")
        console.echo(text.format(command="claude mcp add segue -- segue mcp"), err=True)
    # To look for garbage among the SDK's classes while they are made takes longer than to
    # make them, and agents wait for this server to start.
    gc.disable()
    try:
        from segue.mcp.server import serve  # noqa: PLC0415 - the SDK is heavy, and optional
    except ImportError as error:
        raise _missing(error) from error
    gc.freeze()
    gc.enable()
    serve(project, ctx.obj["environ"])
    return 0


def _missing(error: ImportError) -> UserError:
    return UserError(
        "mcp_missing",
        _("the MCP server needs a library that is not installed: {why}").format(why=error),
        hint=_("install it: {command}").format(command=INSTALL),
    )
