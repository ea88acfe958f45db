"""The last thing a run says: what is done, what is not, and what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from segue.cli.words import headline, limit_name, local_time, usage_in_words
from segue.core.durations import format_duration
from segue.i18n import _, ngettext

if TYPE_CHECKING:
    from segue.engine.plan.plan_run import PlanRun

BAR_CELLS = 24
ERROR_CHARS_MAX = 160


def summary(run: PlanRun, facts: Mapping[str, Any], took_s: float) -> str:
    if run.file.kind == "book":
        from segue.cli.book_words import summary_of  # noqa: PLC0415 - few write books

        return summary_of(run.file, facts, took_s)
    if run.file.kind == "develop":
        from segue.cli import develop_words  # noqa: PLC0415 - few develop features

        return develop_words.summary(run.file, run, facts, took_s)
    total = len(run.graph)
    done = len(facts["completed"])
    took = format_duration(took_s)
    lines = ["", f"{_headline(facts)}  {bar(done, total)}  {done}/{total}  {took}"]
    retried = sum(1 for row in run.ledger.tasks.values() if row.retries_used)
    if retried:
        text = ngettext("{n} task needed a retry", "{n} tasks needed a retry", retried)
        lines.append("  ↻ " + text.format(n=retried))
    if run.ledger.windows:
        n = run.ledger.windows
        text = ngettext("waited for {n} limit", "waited for {n} limits", n)
        lines.append("  ⏳ " + text.format(n=n))
    lines += [f"  {line}" for line in _usage(facts)]
    lines += _unfinished(run, facts)
    hint = _next(run, facts)
    if hint:
        lines += ["", hint]
    return "\n".join(lines)


def _headline(facts: Mapping[str, Any]) -> str:
    failed = _("✘ Some tasks failed.")
    return headline(facts["exit"], done=_("✔ All done."), failed=failed)


def bar(done: int, total: int, cells: int = BAR_CELLS) -> str:
    filled = cells * done // total if total else 0
    return "━" * filled + "┄" * (cells - filled)


def _usage(facts: Mapping[str, Any]) -> list[str]:
    used = facts["usage"]
    if not used["input_tokens"] and not used["output_tokens"]:
        return []
    return ["¤ " + usage_in_words(used)]


def _unfinished(run: PlanRun, facts: Mapping[str, Any]) -> list[str]:
    lines = []
    for task in facts["failed"]:
        error = (run.ledger.tasks[task].error or "").splitlines()
        why = ": ".join(
            part.strip() for part in (error[:1] + error[-1:] if len(error) > 1 else error)
        )
        line = f"  ✘ {task} {run.graph.task(task).title}"
        lines.append(f"{line}: {why[:ERROR_CHARS_MAX]}" if why else line)
    if facts["skipped"]:
        lines.append("  ⊘ " + _("skipped: {tasks}").format(tasks=", ".join(facts["skipped"])))
        lines.append("    " + _("to undo it: segue unskip TASK"))
    for park in run.ledger.parks.values():
        text = _("{task} resumes at {time}")
        time = local_time(park.wakes_at.isoformat())
        lines.append("  ⏳ " + text.format(task=park.task, time=time))
    for held in run.deferred.values():
        kind = limit_name(held.kind)
        if held.wakes_at is None:
            lines.append(f"  ⏳ {held.task}: {kind}")
        else:
            text, time = _("{task} resumes at {time}"), local_time(held.wakes_at)
            lines.append(f"  ⏳ {text.format(task=held.task, time=time)} ({kind})")
    for gate in run.ledger.gates.values():
        who = f"{gate.task}: " if gate.task else ""
        lines.append(f"  ❓ {who}{gate.text}")
    return lines


def _next(run: PlanRun, facts: Mapping[str, Any]) -> str | None:
    plan = shlex.quote(run.file.shown)
    to_be_asked = [task for task in facts["failed"] if task in facts["waiting"]]
    if to_be_asked:
        text = _(
            "{tasks} failed and need a decision, but there is no terminal to ask on. "
            "Decide with: segue run {plan} --on-failed {how}"
        )
        return text.format(tasks=", ".join(to_be_asked), plan=plan, how="retry|skip|stop")
    if facts["failed"]:
        logs = run.job_factory.project.relative(run.job_factory.project.logs)
        return _("See their output in {logs}. To try again: segue run {plan}").format(
            logs=logs, plan=plan
        )
    if run.ledger.gates:
        return _("Answer from a terminal: {command}").format(command=f"segue run {plan}")
    if facts["exit"] in (1, 3, 4, 130):
        return _("To continue: segue run {plan}").format(plan=plan)
    return None
