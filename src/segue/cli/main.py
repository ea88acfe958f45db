"""The command line: finds the command, speaks the language, turns errors into words.

A command's module is imported only when it is called: `segue --help` and `--version`
must answer at once.
"""

from __future__ import annotations

import gettext
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from segue import __version__, i18n
from segue.cli import console, output, streams
from segue.errors import UserError
from segue.i18n import N_, _

COMMANDS = {
    # name: what it does (looked up in the catalogue when it is shown)
    "run": N_("run a task list, or continue it"),
    "resume": N_("find interrupted work here and continue it"),
    "status": N_("where everything stands"),
    "attach": N_("follow work that runs in the background"),
    "stop": N_("stop running work and save its progress"),
    "report": N_("what happened: done, failed, waiting, limits, cost"),
    "logs": N_("what an agent said and did, readable and live"),
    "develop": N_("a feature from design to merge"),
    "write-all": N_("write a book, chapter by chapter, or continue it"),
    "write": N_("write one chapter of a book"),
    "plan": N_("dry run: waves, critical path, conflicts; touches nothing"),
    "watch": N_("watch agents in tmux or WezTerm panes, resume after limits"),
    "serve": N_("the server: tasks with phases and reviews, REST, events"),
    "park": N_("park a task or an account until a given time"),
    "wake": N_("wake parked work now"),
    "inbox": N_("everything that waits for you, and how to answer it"),
    "answer": N_("answer a question, in any kind of work"),
    "approve": N_("approve what waits for your approval"),
    "retry": N_("retry a failed task"),
    "skip": N_("skip a task and what depends on it"),
    "unskip": N_("reopen a skipped task"),
    "message": N_("send a message to the agent of a task"),
    "token": N_("named tokens for programs that use the server's API"),
    "audit": N_("verify the journal and its evidence, show who decided what"),
    "detect": N_("what stopped this screen, and until when"),
    "rehearse": N_("test an agent on a fake model: limits, logins, kills"),
    "hooks": N_("hooks for Claude Code: context after a compaction, limits"),
    "mcp": N_("tools for agents: ask, report, control plans (MCP server)"),
    "task": N_("tasks of the server: submit, show, approve, answer"),
    "service": N_("run the server as a systemd service"),
    "trust": N_("show what a cloned folder would run, and trust it"),
    "doctor": N_("what is installed, what is missing, what each agent can do"),
}
# They are listed by name alone: the help is one screen.
MORE = (
    "write", "skip", "unskip", "message", "park", "wake",
    "detect", "rehearse", "hooks", "mcp", "service",
)  # fmt: skip
BACKGROUND = "SEGUE_BACKGROUND"  # an owner without a terminal was started by another Segue
HIDDEN = ("hook", "start-detached")  # what programs call, not people


class Commands(click.Group):
    """Loads `segue.cli.NAME` for the command NAME, and nothing else."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and cmd_name not in HIDDEN:
            return None
        command: click.Command = import_module(f"segue.cli.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in (*COMMANDS, *HIDDEN) and not name.startswith("-"):
            raise output.unknown_command(name, tuple(COMMANDS))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(_("Commands")):
            shown = {name: _(text) for name, text in COMMANDS.items() if name not in MORE}
            formatter.write_dl(list(shown.items()))
        with formatter.section(_("More commands (see COMMAND --help)")):
            formatter.write_text(", ".join(MORE))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(_("Example")):
            formatter.write_text("segue run PLAN.md --jobs 4")


def make() -> click.Group:
    """The command tree, in the language in use."""
    return Commands(
        name="segue",
        help=_("Runs AI agents unattended and never loses its place."),
        params=[
            click.Option(["--lang"], type=click.Choice(i18n.LANGUAGES), help=_("output language")),
            click.Option(
                [console.PLAIN],
                is_flag=True,
                expose_value=False,
                help=_("plain ASCII lines: no live display, no colours"),
            ),
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_version,
                help=_("show the version and exit"),
            ),
        ],
        callback=lambda lang: _alone(),
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        console.echo(f"segue {__version__}")
        ctx.exit()


def _alone() -> None:
    """`segue` with no command looks at the folder and says what can be done here."""
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        import_module("segue.cli.here").show(ctx.obj["environ"])


def main(argv: Sequence[str] | None = None) -> None:
    streams.open_missing()
    if BACKGROUND in os.environ:
        import_module("segue.work.background").wait_for_own_place(os.environ)
    environ = dict(os.environ)  # what agents may get of it is taken from here, not from later
    args = console.set_up(sys.argv[1:] if argv is None else argv, environ)
    streams.write_anything(as_json="--json" in args)
    speak(i18n.choose(_option(args, "--lang"), environ))
    try:
        code = _called(args, environ)
        sys.stdout.flush()
    except OSError as error:
        code = 1
        if not streams.lost(error):
            code = output.error(_in_words(error), as_json="--json" in args)
    sys.exit(code or int(streams.has_lost()))


def _called(args: list[str], environ: dict[str, str]) -> int:
    """The exit code; errors are printed in words."""
    try:
        code: Any = make().main(
            args, prog_name="segue", standalone_mode=False, obj={"environ": environ}
        )
    except UserError as error:
        code = output.error(error, as_json="--json" in args)
    except click.UsageError as error:
        code = output.usage_error(error, as_json="--json" in args)
    except FileNotFoundError:
        if _has_folder():
            raise
        text = _("the current folder no longer exists")
        gone = UserError("folder_gone", text, hint=_("change to a folder that exists: cd FOLDER"))
        code = output.error(gone, as_json="--json" in args)
    except (click.Abort, KeyboardInterrupt):
        code = 130
    return code if isinstance(code, int) else 0


def _in_words(error: OSError) -> UserError:
    """An error of the system, for a file or a device that was not expected to fail."""
    return UserError(
        "system_error",
        _("the system reported an error: {why}").format(why=error.strerror or error),
        file=str(error.filename) if error.filename else None,
        hint=_("fix the cause, then start again: nothing that was recorded is lost"),
    )


def _has_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - pathlib is slow to import
    except FileNotFoundError:
        return False
    return True


def speak(language: i18n.Language) -> None:
    """Segue's own texts, and those of the libraries that look words up by themselves."""
    i18n.use(language)
    if language != "en":
        os.environ["LANGUAGE"] = language
        gettext.bindtextdomain(i18n.DOMAIN, str(i18n.LOCALE_DIR))
        gettext.textdomain(i18n.DOMAIN)


def _option(args: Sequence[str], name: str) -> str | None:
    """An option's value before the command line is parsed: its help is translated, too."""
    for at, arg in enumerate(args):
        if arg == name and at + 1 < len(args):
            return args[at + 1]
        if arg.startswith(f"{name}="):
            return arg.partition("=")[2]
    return None
