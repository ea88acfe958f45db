"""Who may decide: a person, and never the agent whose work it may be about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import click

from segue.drivers.lineage import RUN, run_of
from segue.errors import UserError
from segue.i18n import _


def check(environ: Mapping[str, str]) -> None:
    """Refused to everything that descends from a run, also where it has hidden that."""
    run = run_of(environ)
    if run is None:
        return
    from segue.engine.refusals import shown  # noqa: PLC0415 - a person does not need it
    from segue.work import refusals  # noqa: PLC0415

    refusals.note(run, "cli", click.get_current_context().command_path, datetime.now(UTC))
    raise UserError(
        "in_a_run",
        _("only a person may decide this, but the command runs inside an agent: {run}").format(
            run=shown(run[RUN])
        ),
        hint=_("ask a person instead: with [USER_QUESTION]"),
    )
