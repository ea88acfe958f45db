"""A feature in words: its phases as they come, and the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segue.cli.words import headline, local_time, usage_in_words
from segue.core.develop import Phase, Status
from segue.core.durations import format_duration
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.engine.question_texts import DESIGN
from segue.i18n import _
from segue.work.feature.gates import way_on
from segue.work.feature.steps import FeatureSteps

SIGNS = {
    Status.PENDING: "○",
    Status.IN_PROGRESS: "●",
    Status.PASSED: "✔",
    Status.ESCALATED: "✘",
}


def summary(source: Source[PlanRun], run: PlanRun, facts: Mapping[str, Any], took_s: float) -> str:
    assert isinstance(source, FeatureSteps)
    state = source.state
    took = format_duration(took_s)
    lines = ["", f"{_headline(facts)}  '{state.feature}'  {state.phase}  {took}"]
    titles = {one.id: one.description.splitlines()[0] for one in source.checkpoints}
    for id, one in state.checkpoints.items():
        lines.append(f"  {SIGNS[one.status]} {id} {titles.get(id, '')} ({one.iteration}/3)")
    for task in ("design", "review", "check", "merge"):
        row = run.ledger.tasks.get(task)
        if row is not None and row.state == "failed":
            why = (row.error or "").partition("\n")[0]
            lines.append(f"  ✘ {task}: {why}" if why else f"  ✘ {task}")
    for park in run.ledger.parks.values():
        text = _("{task} resumes at {time}")
        lines.append(
            "  ⏳ " + text.format(task=park.task, time=local_time(park.wakes_at.isoformat()))
        )
    for gate in run.ledger.gates.values():
        lines.append("  ❓ " + gate.text.replace("\n", "\n     "))
    used = facts["usage"]
    if used["input_tokens"] or used["output_tokens"]:
        lines.append("  ¤ " + usage_in_words(used))
    if facts["exit"] and state.phase is not Phase.DONE:  # else there is nothing to continue
        lines += ["", *_ways_on(source, run)]
    return "\n".join(lines)


def _ways_on(source: FeatureSteps, run: PlanRun) -> list[str]:
    """The command that makes progress, even where no person can be asked."""
    asked = {gate.category for gate in run.ledger.gates.values()}
    marks = source.state.checkpoints.items()
    escalated = [id for id, one in marks if one.status is Status.ESCALATED]
    command = way_on(
        waits_for_design=DESIGN in asked,
        has_escalated=any(id not in run.skipped_here for id in escalated),
        more=source.options.repeated,
    )
    again = f"segue develop --resume{source.options.repeated}"
    lines = (
        [_("To continue: {command}").format(command=command)]
        if command != again or not asked
        else []
    )
    if asked:
        lines.append(_("Answer from a terminal: {command}").format(command=again))
    return lines


def _headline(facts: Mapping[str, Any]) -> str:
    failed = _("✘ Some tasks failed.")
    return headline(facts["exit"], done=_("✔ The feature is done."), failed=failed)
