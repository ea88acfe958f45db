"""`segue write-all` and `segue write N`: from a folder to a written book."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from segue.core import book as rules
from segue.core.book import BookState, Pause
from segue.dialects.text import Text
from segue.engine.acts import Verb
from segue.engine.agent import Start, Wanted
from segue.engine.plan.environment import Environment, RunPolicy
from segue.engine.plan.finish import (
    ALL_DONE,
    INTERRUPTED,
    PARKED,
    SOMETHING_FAILED,
    WAITS,
    Result,
    end,
)
from segue.engine.plan.plan_run import PlanRun
from segue.engine.question_texts import BREAKER
from segue.errors import UserError
from segue.i18n import _
from segue.plans.book_state import DamagedError, NewerError
from segue.store import files
from segue.store.rows import GateRow
from segue.work import runner
from segue.work.agents import profiles as agents
from segue.work.agents.profiles import Profile
from segue.work.book import evidence, settings
from segue.work.book.folder import BookFolder, in_seconds
from segue.work.book.settings import Book
from segue.work.book.steps import JUDGE_COMMAND, REPLAN, SKIP, STOP, TRIGGERED, BookSteps
from segue.work.project import Project, check_writable
from segue.work.roster import AgentRoster
from segue.work.settings import config
from segue.work.settings.config import AgentSettings, Config
from segue.work.settings.toml_file import line_of
from segue.work.storage_outage import outlast


class How(StrEnum):
    """What is to become of the work that is there."""

    GO_ON = "go_on"  # or begin, where there is none
    RESTART = "restart"  # from the first chapter
    CHAPTER = "chapter"  # one chapter, whatever became of it


@dataclass(frozen=True, slots=True)
class CommandOptions:
    folder: Path
    how: How = How.GO_ON
    chapter: int | None = None
    wait: bool = True
    on_tripped: str | None = None  # what a person chose for a tripped breaker
    asks_if_tripped: bool = False  # no person has said to continue anyway
    state: BookState | None = None  # to continue from, instead of a damaged one
    chapters: int | None = None  # how many the book has, whatever its files say


class BookRoster(AgentRoster):
    """The writer, the judge; a judge that is only a command is an agent, too."""

    def __init__(
        self, settings: Config, root: Path, environ: Mapping[str, str], judge: Profile | None
    ) -> None:
        super().__init__(settings, root, environ, None)
        self._judge = judge

    def profile(self, name: str) -> Profile:
        if name == JUDGE_COMMAND and self._judge is not None:
            return self._judge
        return super().profile(name)


def judge_profile(book: Book, folder: BookFolder, environ: Mapping[str, str]) -> Profile | None:
    """The judge's command, with the chapter's path as its last argument."""
    if not book.judge_command:
        return None
    program, *rest = book.judge_command
    found = agents.find_program(program, folder.root, environ.get("PATH"))
    if found is None:
        raise UserError(
            "agent_missing",
            _("the judge needs the program `{program}`, which is not installed").format(
                program=program
            ),
            file=str(folder.root / settings.FILE),
            line=line_of(book.text, "", "judge_command"),
            hint=_("install it, or fix `judge_command`"),
        )

    def start(wanted: Wanted) -> Start:
        target = dict(wanted.task.env)["SEGUE_TARGET"]
        return Start((found, *rest, target), b"")

    return Profile(AgentSettings(JUDGE_COMMAND, "command", book.judge_command), start, Text)


def book_of(folder: BookFolder, state: BookState | None, chapters: int | None = None) -> Book:
    """The book as `book.toml` has it; without one, as the state of another tool has it. `chapters`:
    how many it has, if a person has said so."""
    try:
        book = settings.load(folder.root)
    except UserError as error:
        total = chapters or (state.total_chapters if state and state.is_begun else 0)
        if error.problem.code != "no_book" or state is None or not total:
            raise
        return settings.from_state(state, folder.root, total)
    if chapters is None or chapters == len(book.chapters):
        return book
    return settings.with_chapters(book, folder.root, chapters)


def chapters_that_differ(options: CommandOptions) -> tuple[int, int] | None:
    """How many chapters `book.toml` and the state say, where the state knows more and no person has
    said which of them is right."""
    folder = BookFolder(options.folder.resolve())
    if options.chapters is not None or options.how is How.RESTART:
        return None
    state = options.state or known_state(folder)
    if state is None or not state.is_begun:
        return None
    here = len(book_of(folder, state).chapters)
    return (here, state.total_chapters) if state.total_chapters > here else None


def they_differ(here: int, there: int) -> str:
    text = _("book.toml has {n} chapters, but meta/ralph-state.json has {more}: which is right?")
    return text.format(n=here, more=there)


def open_book(
    folder: BookFolder, environ: Mapping[str, str], book: Book
) -> tuple[Project, BookSteps, BookRoster, Config]:
    """Read and check everything there is to check, touching nothing."""
    project = Project.containing(folder.root)
    known = config.load(project.root, config.user_file(environ))
    roster = BookRoster(known, project.root, environ, judge_profile(book, folder, environ))
    writer = book.writer or known.agent
    judge = JUDGE_COMMAND if book.judge_command else book.judge or writer
    for key, name in (("writer", writer), ("judge", judge)):
        _check_agent(roster, name, folder, line_of(book.text, "", key))
    return project, BookSteps(folder, book, writer, judge), roster, known


def _check_agent(roster: BookRoster, name: str, folder: BookFolder, line: int | None) -> None:
    file = str(folder.root / settings.FILE)
    try:
        profile = roster.profile(name)
    except UserError as error:
        problem = error.problem
        where = (problem.file or file, problem.line if problem.file else line)
        raise UserError(
            problem.code, problem.message, file=where[0], line=where[1], hint=problem.hint
        ) from error
    if profile.needs_command:
        raise UserError(
            "no_command",
            _("the shell agent can neither write nor judge a chapter"),
            file=file,
            line=line,
            hint=_('name a writer: writer = "claude", or an agent of kind "command"')
            if (folder.root / settings.FILE).exists()
            else _('name the agent of the project in segue.toml: agent = "claude"'),
        )


def check_place(folder: BookFolder, project: Project) -> None:
    """Before anything is begun: everything that will be written can be."""
    for place in (folder.chapters, folder.meta):
        if place.exists() and not place.is_dir():
            raise UserError(
                "not_a_folder",
                _("a book needs a folder at this path, but there is a file"),
                file=str(place),
                hint=_("move the file away"),
            )
        check_writable(place if place.exists() else folder.root, project)


def known_state(folder: BookFolder) -> BookState | None:
    """The existing state; UserError if it cannot be continued."""
    try:
        return folder.load()
    except NewerError as error:
        raise newer(folder, error) from error
    except DamagedError as error:
        raise UserError(
            "damaged_state",
            _("the state of the book is damaged: {why}").format(why=error),
            file=str(folder.state_file),
            hint=_("segue resume shows your options; Segue changed nothing"),
        ) from error


def newer(folder: BookFolder, error: NewerError) -> UserError:
    return UserError(
        "newer_state",
        _("it was written by a newer Segue (schema_version {version})").format(version=error),
        file=str(folder.state_file),
        hint=_("update Segue; it changed nothing"),
    )


async def write_book(options: CommandOptions, environment: Environment) -> Result:
    """Write all chapters that are left, or one of them."""
    continued = replace(options, how=How.GO_ON, on_tripped=None, asks_if_tripped=False, state=None)
    return await outlast(
        lambda is_again: _write_book(continued if is_again else options, environment), environment
    )


async def _write_book(options: CommandOptions, environment: Environment) -> Result:
    folder = BookFolder(options.folder.resolve())
    book = book_of(folder, options.state or _readable(folder), options.chapters)
    project, steps, roster, known = open_book(folder, environment.environ, book)
    _check_chapter(options, steps.book)
    check_place(folder, project)
    _check_state(options, folder)

    def begin(run: PlanRun) -> None:
        now = environment.clock.now()
        _keep_settings(folder, book, run)
        found = state_found(options, steps, run, now)
        if not _settle_breaker(run, steps, options, found):
            steps.begin(run, first_state(options, found, steps, run, now))

    policy = RunPolicy(
        runner.run_options(known, jobs=1, on_failed="skip", wait=options.wait),
        place=folder.root,
        finish=lambda run: finish(run, steps, options.chapter),
    )
    return await runner.run_work(steps, project, roster, known, environment, policy, begin)


def _check_state(options: CommandOptions, folder: BookFolder) -> None:
    """Refuse what cannot be continued before anything changes; damage allows a restart."""
    try:
        if options.state is None:
            known_state(folder)
    except UserError as error:
        if options.how is not How.RESTART or error.problem.code != "damaged_state":
            raise

    if differ := chapters_that_differ(options):
        hint = _("pass the correct number: --chapters N")
        raise UserError("chapters_differ", they_differ(*differ), hint=hint)


def _readable(folder: BookFolder) -> BookState | None:
    try:
        return folder.load()
    except (DamagedError, NewerError):
        return None


def _keep_settings(folder: BookFolder, book: Book, run: PlanRun) -> None:
    """What a person did not write, or has now said, stands in `book.toml` and is shown."""
    path = folder.root / settings.FILE
    if path.exists() and path.read_text("utf-8") == book.text:
        return
    try:
        files.replace(path, book.text.encode())
    except OSError as error:
        raise files.in_words(error, path) from error
    text = _("Segue wrote {path}:\n{text}").format(path=settings.FILE, text=book.text.rstrip())
    run.publish("notice", text=text)


def _check_chapter(options: CommandOptions, book: Book) -> None:
    if options.chapter is not None and not 1 <= options.chapter <= len(book.chapters):
        raise UserError(
            "no_chapter",
            _("there is no chapter {n}; the book has {total}").format(
                n=options.chapter, total=len(book.chapters)
            ),
            hint=_("chapters are counted from 1"),
        )


def state_found(
    options: CommandOptions, steps: BookSteps, run: PlanRun, now: datetime
) -> BookState | None:
    """The state to continue from, as far as it is proven; None where a book begins."""
    folder, memory = steps.folder, evidence.steps_known(run.ledger)
    if options.how is How.RESTART:
        _put_aside(folder, now)
        return None
    before = options.state or known_state(folder)
    if before is not None and not before.is_begun:
        return None
    state = fitted(before or new_state(steps.book, now), steps.book)
    # Where the tables know later steps, the state was set back: what it waits for is done again.
    is_set_back = state.step < memory
    remembers = before is None or (is_set_back and (before.is_ours or not before.last_checkpoint))
    found = evidence.look_with_memory(folder, state, run.ledger, remembers=remembers)
    for text in found.in_words():
        run.publish("notice", text=text)
    if before is None and not found.remembered:
        return None
    if is_set_back or not state.last_checkpoint:  # no number is used again
        step = max(state.step, memory + (0 if state.is_due else 1))
        return replace(found.state, step=step)
    return found.state


def _put_aside(folder: BookFolder, now: datetime) -> None:
    """The state of a book that begins again."""
    try:
        folder.load()
        folder.back_up(now)
    except DamagedError:
        folder.put_damaged_aside(now)


def first_state(
    options: CommandOptions, found: BookState | None, steps: BookSteps, run: PlanRun, now: datetime
) -> BookState:
    """Where writing starts: at the beginning, or where it stopped."""
    if found is None:
        state = replace(new_state(steps.book, now), step=evidence.steps_known(run.ledger))
    else:
        state = found
    state = replace(state, mode="write" if options.chapter else "write-all")
    if options.chapter is not None:
        state = rules.rewritten(replace(state, ralph_active=True), options.chapter)
        return rules.next_write(replace(state, can_resume=True, pause_reason=None))
    if found is None:
        state = replace(state, ralph_active=True, can_resume=True)
        return rules.next_write(rules.at_chapter(state, 1))
    if state.is_over and not state.failed_chapters:
        if state.completed_at is not None:
            raise UserError(
                "complete", complete(), hint=_("to write it again: segue write-all --restart")
            )
        return rules.at_the_end(state)
    if state.open_chapters and not _is_under_way(state, options, steps):
        state = replace(rules.at_chapter(state, state.open_chapters[0]), is_due=True)
    return rules.continued(state)


def _is_under_way(state: BookState, options: CommandOptions, steps: BookSteps) -> bool:
    """Whether the current chapter is the one that was being written when the state was left."""
    before = options.state or known_state(steps.folder)
    current = state.current_chapter
    is_open = current in state.open_chapters
    return is_open and before is not None and current not in before.completed_chapters


def complete() -> str:
    return _("The book is complete. Start a new one with: segue write-all")


def anew() -> str:
    """What a person types who wants what the sentences of the original speak of."""
    return _("To start over from chapter 1 and keep all texts: segue write-all --restart")


def new_state(book: Book, now: datetime) -> BookState:
    return fitted(BookState(book.title, len(book.chapters), started_at=in_seconds(now)), book)


def fitted(state: BookState, book: Book) -> BookState:
    """The state for the book as `book.toml` has it now; where that says nothing, it stays."""
    total = len(book.chapters)
    acts = book.acts or state.total_acts or 1
    return replace(
        state,
        project_id=state.project_id or book.title,
        total_chapters=total,
        total_acts=acts,
        current_act=rules.act_of(min(state.current_chapter, total), total, acts),
        quality_threshold=state.quality_threshold if book.threshold is None else book.threshold,
        max_iterations=book.max_iterations or state.max_iterations,
        completed_chapters=tuple(n for n in state.completed_chapters if n <= total),
        failed_chapters=tuple(n for n in state.failed_chapters if n <= total),
        by_hand=tuple(n for n in state.by_hand if n <= total),
    )


def _settle_breaker(
    run: PlanRun, steps: BookSteps, options: CommandOptions, found: BookState | None
) -> bool:
    """Whether it is decided what becomes of a tripped breaker: a choice is carried out as if it had
    been asked for now, without one it is asked. Continuing anyway is one more attempt."""
    gates = [gate for gate in run.ledger.gates.values() if gate.category == BREAKER]
    choice = options.on_tripped or (STOP if options.asks_if_tripped else None)
    if options.how is not How.GO_ON or found is None or not _is_tripped(found, run):
        choice = None
    else:
        choice = _chosen_before(run, gates) or choice
    if choice != STOP:
        for gate in gates:
            run.ledger.close_gate(gate, choice)
    if choice is None or found is None:
        return False
    state = found
    if rules.pause_of(state) is not Pause.BREAKER:
        state = rules.paused(state, Pause.BREAKER, TRIGGERED)
    steps.begin(run, replace(state, mode="write-all"))
    if choice == STOP:
        steps.ask_again(has_asked=bool(gates))
    steps.choose(choice)
    return True


def _chosen_before(run: PlanRun, gates: list[GateRow]) -> str | None:
    """What a person wanted of the breaker's question while the book was not running."""
    choice = None
    asked = {gate.id for gate in gates}
    for act in run.ledger.waiting_acts():
        if act.gate in asked:
            choice = str(act.data["answer"])
        elif act.verb in (Verb.RETRY, Verb.SKIP):
            choice = SKIP if act.verb == Verb.SKIP else REPLAN
        else:
            continue
        run.ledger.take_act(act)
    return choice


def _is_tripped(state: BookState, run: PlanRun) -> bool:
    """Whether the breaker holds the book. Where a person has continued it since, the tables know
    the step that the state waits for; another tool's state says nothing but `triggered`."""
    pause = rules.pause_of(state)
    if state.current_chapter not in state.open_chapters:
        return False
    if pause is Pause.BREAKER or not state.circuit_breaker.triggered or not state.is_begun:
        return pause is Pause.BREAKER
    steps = (f"ch{state.current_chapter}.{what}.{state.step}" for what in ("write", "judge"))
    return pause is None and not any(step in run.ledger.tasks for step in steps)


def finish(run: PlanRun, steps: BookSteps, chapter: int | None) -> Result:
    """Judge the whole, write it down, tell it."""
    steps.stop()
    state = steps.state
    code = _exit_code(run, state, chapter)
    parked = run.parked
    waiting = [gate.task or steps.shown for gate in run.ledger.gates.values()]
    failed_n = len(state.failed_chapters)
    end(run, code, completed=len(state.completed_chapters), failed=failed_n, parked=len(parked))
    if code in (ALL_DONE, SOMETHING_FAILED):
        run.engine.sweep()
    completed, failed = state.completed_chapters, state.failed_chapters
    run.emit(
        "finished",
        completed=list(completed),
        failed=list(failed),
        skipped=[],
        parked=parked,
        waiting=waiting,
        scores={str(n): score for n, score in sorted(state.quality_scores.items())},
        pause_reason=state.pause_reason,
        usage=run.ledger.usage(),
        exit=code,
    )
    texts = [[str(n) for n in numbers] for numbers in (completed, failed)]
    return Result(texts[0], texts[1], [], parked, waiting, code)


def _exit_code(run: PlanRun, state: BookState, chapter: int | None) -> int:
    if run.stopping:
        return INTERRUPTED
    pause = rules.pause_of(state)
    if run.ledger.gates or pause in rules.WAITS_FOR_PERSON:
        return WAITS
    if chapter is not None and chapter in state.completed_chapters:
        return ALL_DONE
    if run.parked:
        return PARKED
    if state.open_chapters and chapter is None:
        return WAITS  # a person decided not to continue
    return SOMETHING_FAILED if state.failed_chapters else ALL_DONE
