"""The tasks of a feature's phase, as the loop runs them."""

from __future__ import annotations

from segue.core.develop import ITERATIONS_MAX, Checkpoint, Phase, Progress, Status, Strategy
from segue.core.plan import Resume, Task, TaskState
from segue.engine.launch import CHECK_ENV
from segue.engine.plan.attempts import ATTEMPT
from segue.i18n import _
from segue.work.feature import prompts, validations
from segue.work.feature.feature_work import FeatureWork
from segue.work.feature.validations import CHECK

DESIGN, REVIEW, MERGE = "design", "review", "merge"
BY_COMMAND = "command"  # the name of what is no agent: a command of the plan itself
TRIES = 2  # more than the first, of a design and of a merge
REVIEW_TRIES = 3  # how often the checkpoints go back to the reviewer
EVERY_FILE = ("**",)  # so that no other one runs beside it
TEAMS = (("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1"),)
STATES = {
    Status.PENDING: TaskState.PENDING,
    Status.IN_PROGRESS: TaskState.IN_PROGRESS,
    Status.PASSED: TaskState.COMPLETED,
    Status.ESCALATED: TaskState.FAILED,
}


def of_phase(steps: FeatureWork) -> tuple[Task, ...]:
    match steps.state.phase:
        case Phase.DESIGN:
            return (_phase_task(steps, DESIGN, steps.state.feature, TRIES),)
        case Phase.REVIEW:
            return (_phase_task(steps, REVIEW, _("Review of the design"), REVIEW_TRIES),)
        case Phase.IMPLEMENT:
            return checkpoint_tasks(steps)
        case Phase.MERGE:
            return (_check_task(steps), _merge_task(steps))
        case _:
            return ()


def _env(steps: FeatureWork, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return (("SEGUE_PHASE", str(steps.state.phase)), ("SEGUE_TARGET", str(steps.design)), *more)


def _fill(steps: FeatureWork, name: str, **values: str) -> str:
    common = {"feature": steps.state.feature, "target": str(steps.design), **values}
    return prompts.fill(name, steps.folder.root, steps.options.user_folder, common)


def _phase_task(steps: FeatureWork, id: str, title: str, retries: int) -> Task:
    return Task(
        id,
        title,
        state=steps.state_of(id),
        agent=steps.options.agent,
        body=_fill(steps, id),
        retries=retries,
        resume=Resume.CONVERSATION,
        env=_env(steps),
    )


def checkpoint_tasks(steps: FeatureWork) -> tuple[Task, ...]:
    return tuple(_checkpoint_task(steps, one, n) for n, one in enumerate(steps.checkpoints))


def _checkpoint_task(steps: FeatureWork, one: Checkpoint, order: int) -> Task:
    by_hand = one.id in steps.by_hand
    progress = steps.state.checkpoints[one.id]
    files = "\n".join(f"- {file}" for file in one.files)
    row = steps.run.ledger.tasks.get(one.id)
    used = row.retries_used if row else max(0, progress.iteration - 1)
    is_team = steps.state.strategy is Strategy.AGENT_TEAMS
    is_alone = is_team or steps.state.strategy is Strategy.DIRECT
    return Task(
        one.id,
        one.description.splitlines()[0],
        state=_shown(steps, one.id, progress),
        order=order,
        blocked_by=tuple(id for id in one.depends if not steps.is_passed_over(id)),
        files=EVERY_FILE if is_alone else one.files or EVERY_FILE,
        agent=BY_COMMAND if by_hand else steps.options.agent,
        run=":" if by_hand else None,
        verify=one.validate,
        retries=0 if by_hand else ITERATIONS_MAX - 1,
        retries_used=0 if by_hand else used,
        body=_fill(
            steps,
            "implement",
            checkpoint=one.id,
            description=one.description,
            validate=one.validate,
            iteration=ATTEMPT,
            iterations=str(ITERATIONS_MAX),
            files=_("Change only these files:") + f"\n\n{files}\n" if files else "",
        ),
        env=_env(
            steps,
            ("SEGUE_CHECKPOINT", one.id),
            ("SEGUE_ITERATION", ATTEMPT),
            *(TEAMS if is_team else ()),
        ),
    )


def _shown(steps: FeatureWork, id: str, progress: Progress) -> TaskState:
    """The mark in the file. What was passed over has none of its own there, and what begins
    again keeps its old one until it does."""
    row = steps.run.ledger.tasks.get(id)
    if row is not None and progress.status is not Status.PASSED:
        if row.state is TaskState.SKIPPED and progress.status is not Status.IN_PROGRESS:
            return TaskState.SKIPPED
        if row.state is TaskState.PENDING:
            return TaskState.PENDING
    return STATES[progress.status]


def _check_task(steps: FeatureWork) -> Task:
    return Task(
        CHECK,
        _("All validations together"),
        state=steps.state_of(CHECK),
        agent=BY_COMMAND,
        run=validations.script(steps.wanted),
        retries=0,
        env=_env(steps, *CHECK_ENV.items()),
    )


def _merge_task(steps: FeatureWork) -> Task:
    by_command = steps.options.merge_command
    return Task(
        MERGE,
        _("Merge"),
        state=steps.state_of(MERGE),
        order=1,
        blocked_by=(CHECK,),
        agent=BY_COMMAND if by_command else steps.options.agent,
        run=by_command,
        verify=None if by_command else validations.script(steps.wanted),
        retries=TRIES,
        body=_fill(
            steps,
            "merge",
            validations="\n".join(f"- {one.id}: `{one.validate}`" for one in steps.wanted),
            outcome=_("They all passed."),
        ),
        resume=Resume.CONVERSATION,
        env=_env(steps),
    )
