"""Who may decide: a person, and never the agent whose work it may be about."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

import click

from segue.drivers.lineage import RUN, run_of
from segue.engine.acts import Actor
from segue.errors import UserError
from segue.i18n import _


def actor() -> Actor:
    """The person at this terminal, for the journal."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        name = str(os.getuid())
    for stream in (0, 1, 2):
        with suppress(OSError):
            return Actor(f"{name} ({os.ttyname(stream).removeprefix('/dev/')})", "terminal")
    return Actor(name, "terminal")


def check(environ: Mapping[str, str]) -> None:
    """Refused to everything that descends from a run, also where it has hidden that."""
    run = run_of(environ)
    if run is None:
        return
    from segue.work import refusals  # noqa: PLC0415 - a person does not need it

    refusals.note(run, "cli", click.get_current_context().command_path, datetime.now(UTC))
    raise UserError(
        "in_a_run",
        _("this is for a person to decide, and here an agent is at work: {run}").format(
            run=refusals.shown(run[RUN])
        ),
        hint=_("ask a person instead: with [USER_QUESTION]"),
    )
