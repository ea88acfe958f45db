"""`segue rehearse --real AGENT`: does it hold with the program that is installed here?"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from segue.cli import console, output
from segue.core.durations import format_duration
from segue.errors import UserError
from segue.i18n import _
from segue.work.agents import brands
from segue.work.agents import profiles as agents
from segue.work.project import Project
from segue.work.settings import config


@click.command(
    "rehearse",
    help=_(
        "Test an installed agent against Segue's fake model: a limit, a refused login "
        "and two kills. It needs no API key, costs nothing and touches none of your "
        "files."
    ),
    epilog=output.example("segue rehearse --real claude"),
)
@click.option(
    "--real",
    "agent",
    required=True,
    metavar="NAME",
    help=_("an agent from your settings: claude, codex, gemini, opencode"),
)
@click.option("--keep", is_flag=True, help=_("keep the folder with all logs"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, agent: str, keep: bool, as_json: bool) -> int:
    from segue.testing import rehearsal  # noqa: PLC0415 - a server and its formats

    environ = ctx.obj["environ"]
    project = Project.containing(Path.cwd())
    settings = config.choose_agent(
        config.load(project.root, config.user_file(environ)), agent, file=None, line=None
    )
    if settings.kind not in brands.BRANDS:
        raise UserError(
            "bad_value",
            _("agent `{name}` does not use a model").format(name=agent),
            hint=_("choose one of kind {kinds}").format(kinds=", ".join(brands.BRANDS)),
        )
    program = agents.program_of(settings, project.root, environ)
    folder = Path(tempfile.mkdtemp(prefix="segue-rehearsal-"))

    def show(played: rehearsal.Played) -> None:
        if not as_json:
            sign = "✘" if played.wrong else "✔"
            console.echo(f"  {sign} {played.text}  {format_duration(played.seconds)}")
            if played.wrong:
                console.echo(f"      {played.wrong}")

    if not as_json:
        console.echo(
            _("{program} on a fake model, in {folder}").format(program=program[0], folder=folder)
        )
    played = rehearsal.play(settings.kind, program, folder, environ, show)
    failed = [scene for scene in played if scene.wrong]
    if failed or keep:
        keep = True
    else:
        shutil.rmtree(folder)
    if as_json:
        output.print_json(
            {
                "agent": agent,
                "program": program[0],
                "folder": str(folder) if keep else None,
                "scenes": [
                    {
                        "name": scene.name,
                        "held": scene.wrong is None,
                        "wrong": scene.wrong,
                        "seconds": scene.seconds,
                    }
                    for scene in played
                ],
            }
        )
    elif failed:
        console.echo(_("Some checks failed; see the logs in {folder}").format(folder=folder))
    else:
        console.echo(_("All checks passed."))
    return 1 if failed else 0
