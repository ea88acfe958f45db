"""Where the context notes of runs are kept (`context_note.py` has their words).

A note is a help, never a condition: where it cannot be written, the work continues.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

from segue.core.machines import RunState
from segue.engine import prompts
from segue.engine.limits import COMPACT
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.i18n import _
from segue.plans import place as section
from segue.store import files

SECTION_FILE_BYTES_MAX = 4 * 1024 * 1024
TRIES_MAX = 20


def keep(run: PlanRun, attempt: Attempt) -> None:
    """A run begins, was taken up again, or has reported something: write its place."""
    if not attempt.has_place:
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
    if attempt is not None and job == attempt.run.id and attempt.has_place:
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
        and attempt.has_place
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
