"""The place of a run: what an agent that has lost its context reads to know where it is.

A short text, kept current in `.segue/runs/RUN.place` while the run lives; the hooks of Claude Code
put it back after a compaction. For agents without hooks it can be kept in a file of the folder that
they work in, too (`place` in the settings), in a section of its own (`plans/place.py`).

A place is a help, never a condition: where it cannot be written, the work continues.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from segue.core.plan import Step, Task, TaskState
from segue.engine.plan.attempts import Attempt
from segue.i18n import _

LINE_CHARS_MAX = 300
STEPS_MAX = 60
FILES_MAX = 20


def described(
    attempt: Attempt,
    plan: str,
    *,
    reread: Sequence[str] = (),
    steps: Sequence[Step] = (),
    done: Collection[int] = (),
    following: str = "",
) -> str:
    """A place in the words that all plans share. Steps that are open are `- [ ]` lines: an agent
    that stops is reminded of them. `following`: what is to be done next, where no step says it."""
    task = attempt.task
    told = _("You work for Segue on {task} of {plan}, attempt {n} of {most}. You run unattended.")
    tries = task.retries + 1
    n = attempt.run.attempt
    lines = [
        _("# Where you are"),
        told.format(task=f"**{task.id}**", plan=plan, n=n, most=max(n, tries)),
        one_line(task.title),
    ]
    left = [n for n, _step in enumerate(steps, 1) if n not in done]
    if steps:
        lines += ["", *boxes(steps, done)]
        following = (
            _("step {n}").format(n=left[0])
            if left
            else _("all steps are done: end with exit code 0")
        )
    lines += ["", _("Next: {what}").format(what=following or _("continue this task"))]
    if named := list(dict.fromkeys([*reread, *task.files]))[:FILES_MAX]:
        lines.append(_("Read these files again first: {files}").format(files=", ".join(named)))
    if task.verify:
        text = _("At the end Segue checks your work with: {command}")
        lines.append(text.format(command=one_line(task.verify)))
    return "\n".join(lines) + "\n"


def boxes(steps: Sequence[Step], done: Collection[int]) -> list[str]:
    """The steps with their numbers. Of very many, those around the first that is open."""
    first = next((n for n, _step in enumerate(steps, 1) if n not in done), 1)
    start = max(0, min(first - 5, len(steps) - STEPS_MAX))
    shown = list(enumerate(steps, 1))[start : start + STEPS_MAX]
    lines = [f"- [{'x' if n in done else ' '}] {n}. {one_line(step.text)}" for n, step in shown]
    if len(shown) < len(steps):
        text = _("({n} steps in total)")
        lines.append(text.format(n=len(steps)))
    return lines


def steps_done(attempt: Attempt, task: Task) -> set[int]:
    """What the plan has marked, and what was reported since."""
    marked = {n for n, s in enumerate(task.steps, 1) if s.state is TaskState.COMPLETED}
    return marked | attempt.steps_done


def one_line(text: str) -> str:
    found = " ".join(text.split())
    return found if len(found) <= LINE_CHARS_MAX else found[: LINE_CHARS_MAX - 1] + "…"
