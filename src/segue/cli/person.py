"""Who may decide: a person, and never the agent whose work it may be about."""

from __future__ import annotations

from collections.abc import Mapping

from segue.dialects.lines import plain_text
from segue.drivers.lineage import RUN, run_of
from segue.errors import UserError
from segue.i18n import _


def check(environ: Mapping[str, str]) -> None:
    """Refused to everything that descends from a run, also where it has hidden that."""
    run = run_of(environ)
    if run is None:
        return
    name = " ".join(plain_text(run[RUN]).split())
    raise UserError(
        "in_a_run",
        _("this is for a person to decide, and here an agent is at work: {run}").format(run=name),
        hint=_("look only (list, show, log, events), or ask: with [USER_QUESTION]"),
    )
