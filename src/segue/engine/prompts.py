"""The prompt of an agent: the task, what came before it, and how to report."""

from __future__ import annotations

from collections.abc import Sequence

from segue.core.plan import Task
from segue.i18n import _

RESTART, CONTINUE = "restart", "continue"  # purposes of runs whose task was cut off


def first(
    task: Task,
    *,
    produced: Sequence[tuple[str, str]],
    error: str | None,
    nonce: str,
    before: str = "",
    answer: str | None = None,
    has_tools: bool = False,
    purpose: str = "",
) -> str:
    """The prompt of a run that begins a task from its beginning.

    `produced`: what each blocker left behind, as (id and title, summary). `before`: the end of
    what was said in a conversation that is lost; `answer`: what a person said to it.
    """
    parts = [f"# {task.id}: {task.title}"]
    if task.body.strip():
        parts.append(task.body.strip("\n"))
    if task.steps:
        steps = "\n".join(f"{n}. {step.text}" for n, step in enumerate(task.steps, 1))
        parts.append(_("## Steps") + "\n" + steps)
    if told := interrupted(purpose):
        parts.append(_("## Interrupted") + "\n" + told)
    if produced:
        done = "\n\n".join(f"### {name}\n{summary.strip()}" for name, summary in produced)
        parts.append(_("## What was done before") + "\n" + done)
    if before:
        text = _("This task started in a conversation that is lost. Its last messages were:")
        parts.append(_("## Where it stopped") + f"\n{text}\n{before.strip()}")
    if answer:
        parts.append(_("## The answer to your question") + "\n" + answer.strip())
    if error:
        parts.append(_("## The last attempt failed") + "\n" + error.strip())
    if task.verify:
        text = _("When you have finished, Segue runs this check; it must exit with 0:")
        parts.append(f"{text}\n{task.verify}")
    parts.append(how_to_report(task, nonce, has_tools=has_tools))
    return "\n\n".join(parts) + "\n"


def how_to_report(task: Task, nonce: str, *, has_tools: bool) -> str:
    """By which tools, or which lines of text, an agent tells how far it is."""
    return _by_tool(task) if has_tools else _reporting(task, nonce)


def interrupted(purpose: str) -> str:
    """What an agent must know whose task was cut off; empty for any other run."""
    if purpose == RESTART:
        return _(
            "This task was interrupted before it was finished. The folder may contain "
            "unfinished edits. Do the task again from the beginning and reuse what is "
            "already there."
        )
    if purpose == CONTINUE:
        return _(
            "You were interrupted before you finished. The folder may contain "
            "unfinished edits: check what is there, then continue where you stopped."
        )
    return ""


def resumed(text: str, *, answer: str | None = None, purpose: str = "") -> str:
    """The prompt of a run that continues its conversation."""
    said = answer if answer is not None else text
    told = interrupted(purpose)
    return f"{told}\n\n{said}\n" if told else f"{said}\n"


def _reporting(task: Task, nonce: str) -> str:
    lines = [_("## How to report")]
    if task.steps:
        lines.append(_("When step N is done, print this line alone (N is its number):"))
        lines.append(f"=== STEP N DONE {nonce} ===")
    lines.append(_("If you cannot continue without an answer, print this and end:"))
    lines.append(f"[USER_QUESTION {nonce}]")
    lines.append("category: choice")
    lines.append("question: …")
    lines.append("options:")
    lines.append("  - …")
    lines.append("[/USER_QUESTION]")
    return "\n".join(lines)


def _by_tool(task: Task) -> str:
    lines = [_("## How to report")]
    if task.steps:
        lines.append(_("When step N is done, call the tool `report_step` with its number."))
        lines.append(_("Without that tool, print this line alone:") + " === STEP N DONE ===")
    lines.append(
        _("If you cannot continue without an answer, call the tool `ask_question` and end.")
    )
    return "\n".join(lines)


def permission(tool: str, what: str, *, is_given: bool) -> str:
    """The prompt that answers an agent's request for permission."""
    if is_given:
        text = _("You may now use {tool} ({what}). Continue.")
    else:
        text = _("You may not use {tool} ({what}). Continue without it.")
    return text.format(tool=tool, what=what)
