"""A report as Markdown, and as plain lines for a terminal: the same words, other marks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from segue.core.durations import format_duration
from segue.dialects.lines import plain_text
from segue.i18n import _, ngettext
from segue.work.report.commits import Commit
from segue.work.report.facts import Json, Report, Used, WorkReport

ERROR_CHARS_MAX = 300
COMMITS_SHOWN_MAX = 15


def headline(report: Report) -> str:
    """The night in one line."""
    parts = [_("{n} done").format(n=report.count("done"))]
    if failed := report.count("failed"):
        parts.append(_("{n} failed").format(n=failed))
    if waiting := report.count("waiting"):
        text = ngettext("{n} item waits for you", "{n} items wait for you", waiting)
        parts.append(text.format(n=waiting))
    if limits := report.count("limits"):
        text = ngettext("{n} limit", "{n} limits", limits).format(n=limits)
        lost = _("{time} lost").format(time=format_duration(report.lost_s))
        parts.append(f"{text} ({lost})")
    return " · ".join(parts)


def usage(used: Used) -> str:
    tokens = _("{read} tokens read, {written} written").format(
        read=f"{used.input_tokens:,}", written=f"{used.output_tokens:,}"
    )
    cost = _("no cost reported") if used.cost_usd is None else f"${used.cost_usd:,.2f}"
    return f"{tokens}, {cost}"


def markdown(report: Report) -> str:
    lines = [f"# {_('Report')}", "", f"{_span(report)}", "", f"**{headline(report)}**", ""]
    for work in report.works:
        lines += [f"## {_safe(work.path)} ({work.state})", ""]
        lines += [f"- {line}" for line in work_lines(work)]
        lines.append("")
    if report.used.input_tokens or report.used.cost_usd is not None:
        lines += [f"## {_('Usage')}", "", f"- {usage(report.used)}"]
        lines += [f"- {name}: {usage(used)}" for name, used in report.by_agent.items()]
        lines.append("")
    if report.commits:
        lines += [f"## {_('Commits, riskiest first')}", ""]
        lines += [f"- {line}" for line in _commits(report.commits)]
        lines.append("")
    return "\n".join(lines)


def terminal(report: Report) -> str:
    """The same without Markdown's own marks."""
    lines = [_span(report), headline(report)]
    if report.used.input_tokens or report.used.cost_usd is not None:
        lines.append("¤ " + usage(report.used))
    for work in report.works:
        lines += ["", f"{work.path}  {work.state}", *(f"  {line}" for line in work_lines(work))]
    if report.commits:
        lines += ["", _("Commits, riskiest first")]
        lines += [f"  {line}" for line in _commits(report.commits)]
    return "\n".join(lines)


def work_lines(work: WorkReport) -> Iterator[str]:
    """What waits comes first, then what failed, then what is done."""
    for gate in work.waiting:
        who = f"{gate['task']}: " if gate["task"] else ""
        yield f"❓ {who}{_line(gate['text'])} ({gate['id']})"
    for task in work.failed:
        yield f"✘ {_name(task)}: {_line(task['error'] or _('no reason given'))}"
    for task in work.done:
        yield f"✔ {_name(task)} ({_how(task)})"
    if work.skipped:
        names = ", ".join(task["task"] for task in work.skipped)
        yield "⊘ " + _("skipped: {tasks}").format(tasks=names)
    for limit in work.limits:
        yield f"⏳ {_limit(limit)}"
    for gate in work.answered:
        yield "✉ " + _("answered: {text} → {answer}").format(
            text=_line(gate["text"]), answer=_line(gate["answer"])
        )


def _name(task: Json) -> str:
    return f"{task['task']} {_safe(task['title'])}"


def _how(task: Json) -> str:
    parts = [format_duration(task["seconds"])]
    if task["attempts"] > 1:
        parts.append(_("attempt {n}").format(n=task["attempts"]))
    if task["evidence"] is not None:
        parts.append(_("verified: {command}").format(command=_line(task["evidence"]["command"])))
    else:
        parts.append(_("not verified"))
    return ", ".join(parts)


def _limit(limit: Json) -> str:
    took = format_duration(limit["seconds"])
    text = _("{task}: {kind} of {account}, waited {time}")
    if not limit["is_over"]:
        text = _("{task}: {kind} of {account}, waiting for {time} so far")
    return text.format(
        task=limit["task"] or "–", kind=limit["kind"], account=limit["account"], time=took
    )


def _commits(commits: list[Commit]) -> Iterator[str]:
    for commit in commits[:COMMITS_SHOWN_MAX]:
        files = ", ".join(
            file.path for file in sorted(commit.files, key=lambda file: -file.risk)[:3]
        )
        size = f"+{commit.additions} −{commit.deletions}"
        yield f"{commit.hash} {_line(commit.subject)} ({size}: {_safe(files)})"
    if (more := len(commits) - COMMITS_SHOWN_MAX) > 0:
        yield _("… and {n} more").format(n=more)


def _span(report: Report) -> str:
    return f"{local(report.since)} – {local(report.until)}"


def local(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def _line(text: object) -> str:
    """Other people's text as one line that only shows."""
    flat = " ".join(plain_text(str(text)).split())
    return f"{flat[:ERROR_CHARS_MAX]}…" if len(flat) > ERROR_CHARS_MAX else flat


def _safe(text: str) -> str:
    return " ".join(plain_text(text).split())
