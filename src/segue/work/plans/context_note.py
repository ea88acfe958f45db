"""The place of a run: what an agent that has lost its context reads to know where it is.

A short text, kept current in `.segue/runs/RUN.place` while the run lives; the hooks of Claude Code
put it back after a compaction. For agents without hooks it can be kept in a file of the folder that
they work in, too (`place` in the settings), in a section of its own (`plans/place.py`).

A place is a help, never a condition: where it cannot be written, the work goes on.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from segue.core.machines import RunState
from segue.core.plan import Step, Task, TaskState
from segue.engine import prompts
from segue.i18n import _
from segue.plans import place as section
from segue.store import files

if TYPE_CHECKING:
    from segue.work.plans.attempts import Attempt
    from segue.work.plans.plan_run import PlanRun

LINE_CHARS_MAX = 300
STEPS_MAX = 60
FILES_MAX = 20
SECTION_FILE_BYTES_MAX = 4 * 1024 * 1024
TRIES_MAX = 20
COMPACT = "compact"


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
    that stops is told of them. `following`: what is to be done next, where no step says it."""
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
    """What the plan has marked, and what was told since."""
    marked = {n for n, s in enumerate(task.steps, 1) if s.state is TaskState.COMPLETED}
    return marked | attempt.steps_done


def one_line(text: str) -> str:
    found = " ".join(text.split())
    return found if len(found) <= LINE_CHARS_MAX else found[: LINE_CHARS_MAX - 1] + "…"


def has_place(attempt: Attempt) -> bool:
    """A task's own command has no context to lose."""
    return attempt.profile.settings.kind != "shell"


def keep(run: PlanRun, attempt: Attempt) -> None:
    """A run begins, was taken up again, or has told something: its place is written."""
    if not has_place(attempt):
        return
    text = run.file.place(attempt)
    report = prompts.how_to_report(
        attempt.task, attempt.run.nonce, has_tools=attempt.profile.has_tools
    )
    whole = f"{text}\n{report}\n"
    if attempt.run.purpose == COMPACT:  # it is not to do anything else now
        whole = whole.replace("- [ ] ", "- ")
    with suppress(OSError):
        files.overwrite(run.job_factory.place_of(attempt.run), whole.encode())
    _show(run, attempt)


def ended(run: PlanRun, job: str) -> None:
    """An agent has ended: what others see of it goes before anything of its folder is merged."""
    attempt = run.jobs.get(job)
    if attempt is not None and job == attempt.run.id and has_place(attempt):
        _show(run, attempt, without=attempt)


def sentence(run: PlanRun, prompt: str) -> str:
    """A first prompt, with a word about the file in which the place is kept."""
    if run.options.place is None:
        return prompt
    text = _("If you lose your context, read {file}: it says where you are in this work.")
    return f"{prompt}\n{text.format(file=run.options.place)}\n"


def _show(run: PlanRun, about: Attempt, without: Attempt | None = None) -> None:
    """Bring the section in the folder of a run to what runs there."""
    if run.options.place is None:
        return
    factory = run.job_factory
    folder = factory.folder(about.task.id)
    here = [
        attempt
        for attempt in run.jobs.values()
        if attempt is not without
        and attempt.run.state in (RunState.INTENDED, RunState.RUNNING)
        and has_place(attempt)
        and factory.folder(attempt.task.id) == folder
    ]
    text = "\n".join(run.file.place(attempt) for attempt in here)
    name = factory.project.relative(run.file.path)
    try:
        is_written = _write_section(folder, run.options.place, name, text)
    except OSError:
        is_written = False
    if not is_written:
        told = _("could not write the context note to {file}")
        run.publish("notice", text=told.format(file=folder / run.options.place))


def _write_section(folder: Path, file: str, plan: str, text: str) -> bool:
    """Others may write in the file, too: their text stays. False: it is no file to write in."""
    path = folder / file
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        return False  # an agent has put a link there
    for _try in range(TRIES_MAX):
        data = None
        with suppress(FileNotFoundError):
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > SECTION_FILE_BYTES_MAX:
                return False
            data = path.read_bytes()
        new = section.put(data, plan, text)
        if new == data:
            return True
        if new is None:
            path.unlink(missing_ok=True)
            return True
        if data is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            files.replace(path, new)
            return True
        if files.exchange_if(path, new, data) is None:
            return True
    return False
