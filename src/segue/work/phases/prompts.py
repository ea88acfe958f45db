"""Prompts for an agent of the server: a phase, and what people said meanwhile.

To continue a conversation takes only what is new: the answer, the feedback. How to report was
said at its beginning, with the same nonce.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from segue.i18n import _
from segue.store.rows import PhaseTaskRow
from segue.work.agents.profiles import Profile
from segue.work.phases.protocol import how_to_report


def phase(task: PhaseTaskRow, nonce: str | None, *, has_tools: bool, before: str = "") -> str:
    """A phase from its beginning; of a task without phases, all of it."""
    parts = [f"# {task.title}", task.description.strip()]
    now = task.now_at
    if now is not None:
        head = _("## Phase {n} of {total}: {name}")
        parts.append(head.format(n=task.phase, total=len(task.phases), name=now.name))
        if now.steps:
            parts.append("\n".join(f"{n}. {_(step)}" for n, step in enumerate(now.steps, 1)))
        if now.deliverables:
            files = "\n".join(f"- {path}" for path in now.deliverables)
            text = _("Write these files (paths relative to this folder), without placeholders:")
            parts.append(f"{text}\n{files}")
        if now.verify:
            text = _("When you have finished, Segue runs this check; it must exit with 0:")
            parts.append(f"{text}\n{now.verify}")
    if before:
        text = _("This work started in a conversation that is lost. Its last messages were:")
        parts.append(f"{text}\n{before.strip()}")
    parts.append(how_to_report(task.phase if task.phases else None, nonce, has_tools))
    return "\n\n".join(part for part in parts if part) + "\n"


def rewound(task: PhaseTaskRow, nonce: str | None, *, has_tools: bool) -> str:
    """A phase again, from a checkpoint."""
    text = _("The files were reset to an earlier state. Continue from there.")
    return f"{text}\n\n{phase(task, nonce, has_tools=has_tools)}"


def changes(feedback: str, comments: Sequence[Mapping[str, object]]) -> str:
    """What a reviewer wants changed, with the places."""
    places = [f"- {c['file']}:{c.get('line') or 1}: {c['text']}" for c in comments]
    return "\n".join([feedback.strip(), *places]) + "\n"


def rework(reasons: Sequence[str], phase: int | None) -> str:
    text = _("Phase {n} was checked and is not complete yet:").format(n=phase)
    again = _("Fix this, then report again that the phase is complete.")
    return "\n".join([text, *(f"- {reason}" for reason in reasons), again]) + "\n"


def reminder(why: str, phase: int | None, nonce: str | None, *, has_tools: bool) -> str:
    text = _("You ended without a report ({why}). Continue, and report when it is done.")
    return f"{text.format(why=why)}\n\n{how_to_report(phase, nonce, has_tools)}\n"


def provided(name: str, variable: str) -> str:
    text = _("{name} is now set in the environment variable {variable}. Continue.")
    return text.format(name=name, variable=variable) + "\n"


def rejected(name: str, reason: str) -> str:
    text = _("{name} will not be provided ({reason}). Continue without it.")
    return text.format(name=name, reason=reason or "–") + "\n"


def judge(task: PhaseTaskRow, deliverables: Sequence[str]) -> str:
    """For a reviewer that did not write the work."""
    now = task.now_at
    assert now is not None
    files = "\n".join(f"- {path}" for path in deliverables)
    text = _(
        "Review the work of another agent. You did not write it; do not change any "
        "file.\nThe task: {title}\n{description}\n\nThe phase: {name}. Its "
        "deliverables:\n{files}\n\nRead them. Do they meet the goal of the phase, "
        'completely and without placeholders?\nEnd with one line of JSON: {{"verdict": '
        '"pass" or "fail", "reasons": ["…"]}}'
    )
    return (
        text.format(title=task.title, description=task.description, name=now.name, files=files)
        + "\n"
    )


def shown_nonce(profile: Profile, nonce: str) -> str | None:
    """Agents with structured output need none: their own words are known as such."""
    return None if profile.brand else nonce
