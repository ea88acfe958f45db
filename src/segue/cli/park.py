"""`segue park NAME`: park a task or an account until a given time."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import click

from segue.cli import act_words, console, output, person
from segue.cli.words import local_time
from segue.core.durations import parse_duration
from segue.core.leash import next_instant
from segue.engine.acts import Verb
from segue.engine.clock import SystemClock
from segue.engine.terminal_user import at_terminal
from segue.errors import UserError
from segue.i18n import _
from segue.work import add_act
from segue.work.project import Project
from segue.work.settings import config


@click.command(
    "park",
    help=_(
        "Park a running task or an account until a given time. Segue ends the task's "
        "agent, keeps its conversation and resumes it then. While an account is "
        "parked, no task starts on it."
    ),
    epilog=output.example("segue park claude --until 08:00"),
)
@click.argument("name", metavar="TASK|ACCOUNT")
@click.option("--for", "length", metavar="2h", help=_("for this long"))
@click.option("--until", "clock", metavar="08:00", help=_("until this time of day"))
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("plan of the task"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    name: str,
    length: str | None,
    clock: str | None,
    plan: Path | None,
    as_json: bool,
) -> int:
    until = _until(length, clock)
    return give(ctx, Verb.PARK, name, until, plan, as_json=as_json)


def _until(length: str | None, clock: str | None) -> datetime:
    now = SystemClock().now()
    if (length is None) == (clock is None):
        raise UserError(
            "usage",
            _("pass --for or --until"),
            hint=_("segue park claude --for 2h"),
        )
    if clock is not None:
        tz = datetime.now().astimezone().tzinfo
        assert tz is not None
        try:
            return next_instant(clock, now, tz)
        except ValueError as error:
            raise UserError("usage", str(error), hint=_('write "08:00"')) from error
    seconds = parse_duration(length or "")
    if not seconds:
        raise UserError(
            "usage",
            _("`{text}` is not a duration").format(text=length),
            hint=_("write a number with its unit: 90s, 5m, 2h or 1h30m"),
        )
    return now + timedelta(seconds=seconds)


def give(
    ctx: click.Context,
    verb: Verb,
    name: str,
    until: datetime | None,
    plan: Path | None,
    *,
    as_json: bool,
) -> int:
    """Park or wake it, and say what came of it."""
    person.check(ctx.obj["environ"])
    project = Project.containing(plan.resolve() if plan else Path.cwd())
    settings = config.load(project.root, config.user_file(ctx.obj["environ"]))
    known = frozenset(agent.charged_to for agent in settings.agents.values())
    done = add_act.park_or_wake(
        add_act.Person(project, at_terminal(), SystemClock()),
        verb,
        name,
        until=until,
        known_accounts=known,
        plan=plan,
    )
    told = until.isoformat().replace("+00:00", "Z") if until else None
    if as_json:
        found = {done.what: done.name, "until": told, "by_run": done.by_run}
        output.print_json({**found, "waiting": done.is_waiting})
        return 0
    if told:
        text = _("{name} is parked until {time}").format(name=name, time=local_time(told))
    else:
        text = _("{name} will resume now").format(name=name)
    if done.what == "task" and (later := act_words.later(done)):
        text += " — " + later
    console.echo(text)
    return 0
