"""Everything that is wrong with a task list: its lines, and what they say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from segue.core.plan import Task
from segue.errors import Problem
from segue.i18n import _
from segue.plans.fields import shortened
from segue.plans.tasklist import Document

CYCLES_MAX = 20  # reported; mending these shows the next ones
CHAIN_TASKS_MAX = 20  # printed of one cycle
GUESSES_MAX = 20  # unknown blockers that get a "did you mean"
CANDIDATES_MAX = 5_000  # ids looked at for one guess


def check(document: Document) -> list[Problem]:
    """All problems of the plan, in the order of the file; empty if it can run."""
    tasks = document.tasks
    firsts: dict[str, Task] = {}
    for task in tasks:
        firsts.setdefault(task.id, task)
    problems = [
        *document.problems,
        *_no_tasks(document),
        *_duplicates(document, firsts),
        *_unknown_blockers(document, firsts),
        *_later_waves(document, firsts),
        *_cycles(document, firsts),
    ]
    return sorted(problems, key=lambda problem: problem.line or 0)


def _no_tasks(document: Document) -> Iterator[Problem]:
    if document.tasks:
        return
    line = 1
    hint = _("write one line for each task: - [ ] **T-001**: what to do")
    if document.unclosed_line is not None:
        line = document.unclosed_line
        hint = _("the fence or comment that starts in line {line} is never closed: close it")
    elif document.nameless_line is not None:
        line = document.nameless_line
        hint = _(
            "the task in line {line} is nested: give it an id (T-001), or move it to the top level"
        )
    message = _("no tasks: the plan has no line with a mark and a title")
    yield Problem("no_tasks", message, document.file, line, hint.format(line=line))


def _duplicates(document: Document, firsts: Mapping[str, Task]) -> Iterator[Problem]:
    for task in document.tasks:
        first = firsts[task.id]
        if first is not task:
            message = _("duplicate id {id}: the first one is in line {line}")
            yield Problem(
                "duplicate_id",
                message.format(id=task.id, line=first.line),
                document.file,
                task.line,
                _("give this task a different id"),
            )


def _unknown_blockers(document: Document, firsts: Mapping[str, Task]) -> Iterator[Problem]:
    guesses = 0
    for task in document.tasks:
        for blocker in task.blocked_by:
            if blocker in firsts:
                continue
            guesses += 1
            guess = _guess(blocker, firsts, task.id) if guesses <= GUESSES_MAX else None
            if guess is None:
                hint = _("write the id of a task of this plan, or delete it")
            else:
                hint = _("did you mean {id}?").format(id=guess)
            message = _("unknown blocker: {id} is blocked by {blocker}, which is not in the plan")
            yield Problem(
                "unknown_blocker",
                message.format(id=task.id, blocker=shortened(blocker)),
                document.file,
                document.blocker_line(task.order, blocker),
                hint,
            )


def _guess(word: str, firsts: Mapping[str, Task], own: str) -> str | None:
    """The id that was most likely meant; never the task's own, which would be a cycle."""
    alike: list[str] = []
    for known in firsts:
        if known == own:
            continue
        if known.casefold() == word.casefold():
            return known
        if abs(len(known) - len(word)) <= 2 and len(alike) < CANDIDATES_MAX:
            alike.append(known)
    return next(iter(get_close_matches(word, alike, n=1)), None)


def _later_waves(document: Document, firsts: Mapping[str, Task]) -> Iterator[Problem]:
    if not document.has_waves:
        return
    for task in document.tasks:
        for name in task.blocked_by:
            blocker = firsts.get(name)
            if blocker is None or (blocker.wave or 0) <= (task.wave or 0):
                continue
            message = _("{id} in wave {wave} is blocked by {blocker} in the later wave {later}")
            yield Problem(
                "later_wave_blocker",
                message.format(id=task.id, wave=task.wave, blocker=name, later=blocker.wave),
                document.file,
                document.blocker_line(task.order, name),
                _("a wave starts when the previous one has finished: move one of the two tasks"),
            )


def _cycles(document: Document, firsts: Mapping[str, Task]) -> Iterator[Problem]:
    for cycle in find_cycles(firsts):
        chain = [task.id for task in cycle]
        if len(chain) > CHAIN_TASKS_MAX:
            chain[CHAIN_TASKS_MAX // 2 : -CHAIN_TASKS_MAX // 2] = ["…"]
        message = _("dependency cycle: {chain}")
        yield Problem(
            "cycle",
            message.format(chain=" → ".join([*chain, chain[0]])),
            document.file,
            cycle[0].line,
            _("they wait for each other: delete one `blocked by` of the chain"),
        )


def find_cycles(tasks: Mapping[str, Task]) -> list[Sequence[Task]]:
    """Circles of tasks that wait for each other, each from its first task in the file.

    Depth first with a stack of our own: a chain may be longer than Python's recursion allows.
    A task is reported in one circle only.
    """
    cycles: list[Sequence[Task]] = []
    reported: set[str] = set()
    depth_of: dict[str, int] = {}  # on the path: its place; finished: -1
    for root in tasks.values():
        if root.id in depth_of:
            continue
        path = [root]
        ways = [iter(root.blocked_by)]
        depth_of[root.id] = 0
        while path:
            name = next(ways[-1], None)
            if name is None:
                depth_of[path.pop().id] = -1
                ways.pop()
                continue
            depth = depth_of.get(name)
            if depth is None and name in tasks:
                depth_of[name] = len(path)
                path.append(tasks[name])
                ways.append(iter(tasks[name].blocked_by))
            elif depth is not None and depth >= 0 and not {name, path[-1].id} & reported:
                cycle = path[depth:]
                reported.update(task.id for task in cycle)
                first = cycle.index(min(cycle, key=lambda task: task.order))
                cycles.append(cycle[first:] + cycle[:first])
                if len(cycles) == CYCLES_MAX:
                    return cycles
    return cycles
