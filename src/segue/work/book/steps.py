"""A book as a plan of steps: a draft, its judgement, a revision, … one at a time.

The state file says which chapter and which try; the tables say how the step of that number came
out. A step that is settled in the tables and not yet in the state is applied once: applying it
moves the state to the next number, in one replaced file. So whatever dies, no text is written or
accepted twice. What the tables remember counts only while the text is there as it was judged
(`evidence.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from segue.core import book as rules
from segue.core.book import BookState, Pause, Verdict
from segue.core.plan import Resume, Task, TaskState
from segue.engine.acts import CannotError
from segue.engine.plan import context_note
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.engine.question_texts import BREAKER, text_of
from segue.i18n import _
from segue.plans import book_state
from segue.store import files
from segue.store.changes import stamp
from segue.work.book import evidence, judging, prompts, wisdom
from segue.work.book.folder import BookFolder, in_seconds
from segue.work.book.settings import FILE, Book

if TYPE_CHECKING:
    from segue.store.rows import GateRow

SETTLED = (TaskState.COMPLETED, TaskState.FAILED)
JUDGE_COMMAND = "judge_command"  # the name of an agent that is only a command
JUDGE_RETRIES = 2
OUTPUT_BYTES_MAX = 256 * 1024
TRIGGERED = "triggered"  # by another tool: by which rule is not known
EDIT, REPLAN, SKIP, STOP = "edit", "replan", "skip", "stop"
CHOICES = (EDIT, REPLAN, SKIP, STOP)


class BookSteps(Source[PlanRun]):
    kind = "book"

    def __init__(self, folder: BookFolder, book: Book, writer: str, judge: str) -> None:
        super().__init__(folder.root, str(folder.root))
        self.folder = folder
        self.book = book
        self._writer = writer
        self._judge = judge
        self._run: PlanRun | None = None
        self.state = BookState("", len(book.chapters))
        self._saved: BookState | None = None
        self._has_moved = False
        self._is_beginning = False
        self._marks: dict[str, TaskState] = {}
        self._to_judge: dict[str, str | None] = {}  # by step: the text as its judge began with it

    @property
    def trusted_files(self) -> tuple[Path, ...]:
        return (self.folder.root / FILE,)

    @property
    def run(self) -> PlanRun:
        assert self._run is not None, "a book's steps belong to a run"
        return self._run

    def begin(self, run: PlanRun, state: BookState) -> None:
        """From this state on; what the tables know of its step already is applied first."""
        self._run, self.state = run, state
        self.folder.remove_leftovers()
        self._is_beginning = True
        self._save()
        if rules.pause_of(state) is Pause.ITERATIONS:
            self._tell_change(state)
        if self._needs_text() and self.folder.text(state.current_chapter) is None:
            self._do_again(is_there=False)
        while self._is_settled(self._step_id()):
            self._apply(self._step_id())
            self._save()
        self._is_beginning = self._has_moved = False

    def _needs_text(self) -> bool:
        """Whether the next step judges a text, or revises one that no agent is about already."""
        if not self.state.ralph_active or self._is_judging():
            return self.state.ralph_active
        ledger = self.run.ledger
        about = {run.task for run in ledger.runs.values()}
        about |= {park.task for park in ledger.parks.values()}
        about |= {gate.task for gate in ledger.gates.values() if gate.task}
        return self.state.retry_count > 0 and self._id("write") not in about

    def _do_again(self, *, is_there: bool) -> None:
        """What the tables remember of this step is not there any more."""
        text = _("chapter {n} changed after the judge scored it; the judge scores it again")
        if not is_there:
            text = _("the text of chapter {n} is missing; the agent writes it again")
        self.run.publish("notice", text=text.format(n=self.state.current_chapter))
        self.state = rules.without_evidence(self.state, is_there=is_there)
        self._save()

    # The step that is to be done now

    def tasks(self) -> tuple[Task, ...]:
        return (self._step(),) if self.state.ralph_active else ()

    def _is_judging(self) -> bool:
        return self.state.is_written or self._row_state(self._id("write")) is TaskState.COMPLETED

    def _id(self, what: str) -> str:
        return f"ch{self.state.current_chapter}.{what}.{self.state.step}"

    def _step_id(self) -> str:
        return self._id("judge" if self._is_judging() else "write")

    def _row_state(self, id: str) -> TaskState | None:
        row = self.run.ledger.tasks.get(id)
        return row.state if row else None

    def _is_settled(self, id: str) -> bool:
        return self.state.ralph_active and self._row_state(id) in SETTLED

    def _step(self) -> Task:
        state, number = self.state, self.state.current_chapter
        name = prompts.name_of(self.book, number)
        common = Task(
            id=self._step_id(),
            title=name,
            state=self._row_state(self._step_id()) or TaskState.PENDING,
            order=state.step,
            retries=0,
            env=(
                ("SEGUE_TARGET", str(self.folder.chapter(number))),
                ("SEGUE_CHAPTER", str(number)),
            ),
            resume=Resume.CONVERSATION,
        )
        if self._is_judging():
            return replace(
                common,
                title=_("{chapter}, judging").format(chapter=name),
                agent=self._judge,
                body=prompts.judgement(self.book, self.folder, state),
                retries=JUDGE_RETRIES,
                timeout_s=self.book.judge_timeout_s,
                resume=Resume.RESTART,
            )
        if state.retry_count == 0:
            body = prompts.draft(self.book, self.folder, state, self._summaries())
            return replace(common, agent=self._writer, body=body)
        return replace(
            common,
            title=_("{chapter}, revision {n}").format(chapter=name, n=state.retry_count),
            agent=self._writer,
            body=prompts.revision(self.book, self.folder, state, self._reasons()),
        )

    def _summaries(self) -> dict[int, str]:
        """What the writers said of their chapters; the newest word of each counts."""
        found: dict[int, tuple[int, str]] = {}
        for key, row in self.run.ledger.tasks.items():
            chapter, _dot, step = key.removeprefix("ch").partition(".write.")
            if chapter.isdigit() and step.isdigit() and row.summary:
                before = found.get(int(chapter), (0, ""))
                found[int(chapter)] = max(before, (int(step), row.summary))
        return {chapter: text for chapter, (_step, text) in found.items()}

    def _reasons(self) -> tuple[str, ...]:
        """Of the last judgement of this chapter, where the tables have it."""
        number = self.state.current_chapter
        for step in range(self.state.step - 1, 0, -1):
            row = self.run.ledger.tasks.get(f"ch{number}.judge.{step}")
            if row is not None and row.state is TaskState.COMPLETED and row.summary:
                return judging.load(row.summary).reasons
            if row is None and f"ch{number}.write.{step}" not in self.run.ledger.tasks:
                break
        return ()

    def prepare(self, attempt: Attempt) -> None:
        """A draft begins with no file, a revision with a copy of what it revises."""
        state, number = self.state, self.state.current_chapter
        self.folder.chapters.mkdir(parents=True, exist_ok=True)
        if attempt.task.id == self._id("judge"):
            self._to_judge = {attempt.task.id: self.folder.text(number)}
        if attempt.task.id != self._id("write"):
            return
        if state.retry_count:
            self.folder.keep_draft(number, state.retry_count)
            return
        kept = self.folder.keep_beside(number, self.run.clock.now())
        if kept is not None:
            text = _("chapter {n} already existed; its text is kept in {path}")
            self.run.publish("notice", text=text.format(n=number, path=kept))

    def object_to(self, attempt: Attempt) -> str | None:
        if ".judge." in attempt.task.id:
            return self._judged(attempt)
        path = self.folder.chapter_files().get(self.state.current_chapter)
        try:
            if path is None or not path.read_bytes().strip():
                path = self.folder.chapter(self.state.current_chapter)
                return _("the agent ended without an error but did not write {path}").format(
                    path=path.relative_to(self.folder.root)
                )
            with path.open("rb") as file:  # completed chapters must outlive a power cut
                os.fsync(file.fileno())
            files.sync_folder(path.parent)
        except OSError as error:
            return str(error)
        return None

    def _judged(self, attempt: Attempt) -> str | None:
        text = "\n".join(attempt.lines)
        if not attempt.profile.is_structured:
            text = self.run.job_factory.files.tail(attempt.run.id, OUTPUT_BYTES_MAX)
        verdict = judging.read(text)
        if isinstance(verdict, str):
            return verdict
        judged = self.folder.text(self.state.current_chapter)
        if judged is None or self._to_judge.get(attempt.task.id, judged) != judged:
            return _("the text of the chapter changed while the judge scored it")
        attempt.summary = judging.dump(replace(verdict, text=judged))
        return None

    # What came of it

    def mark(self, task: str, state: TaskState) -> None:
        self._marks[task] = state

    def write(self, taken_in: Callable[[], None]) -> bool:
        marks, self._marks = self._marks, {}
        for task, mark in marks.items():
            if mark in SETTLED and task == self._pending_id(task):
                self._apply(task)
                self._has_moved = True
        self._note_waits()
        self._save()
        return True

    def _pending_id(self, task: str) -> str:
        """The id of the step that the state waits for, of the same sort as the given one."""
        return self._id("judge" if ".judge." in task else "write")

    def has_moved_on(self) -> bool:
        has_moved, self._has_moved = self._has_moved, False
        return has_moved

    def _apply(self, task: str) -> None:
        """A settled step leads to the next state."""
        row = self.run.ledger.tasks[task]
        error = (row.error or _("unknown")).splitlines()[0]
        before = self.state
        if ".write." in task:
            if row.state is TaskState.COMPLETED:
                return  # it is judged next
            self.state = rules.write_failed(before, error)
        elif row.state is TaskState.COMPLETED:
            verdict = judging.load(row.summary or "{}")
            text = self.folder.text(before.current_chapter)
            if text is None or verdict.text not in ("", text):  # an older Segue kept no hash
                self._do_again(is_there=text is not None)
                return
            if verdict.score < before.quality_threshold:
                wisdom.from_judge(self.folder, before.current_chapter, verdict)
            self.state = rules.judged(before, replace(verdict, text=text))
            self._tell_verdict(before.current_chapter, verdict)
        else:
            self.state = rules.judge_failed(before, error)
        self._prove_the_end()
        self._tell_change(before)

    def _prove_the_end(self) -> None:
        """Nothing is called written whose text is not there as it was accepted, now."""
        if not self.state.is_over:
            return
        found = evidence.look_with_memory(self.folder, self.state, self.run.ledger)
        for text in found.in_words():
            self.run.publish("notice", text=text)
        self.state = found.state
        if self.state.open_chapters:
            self.state = rules.reopened(self.state)

    def _tell_verdict(self, chapter: int, verdict: Verdict) -> None:
        self.run.publish(
            "chapter_judged",
            chapter=chapter,
            score=verdict.score,
            threshold=self.state.quality_threshold,
            reasons=list(verdict.reasons),
        )

    def _tell_change(self, before: BookState) -> None:
        state, chapter = self.state, before.current_chapter
        if chapter in state.completed_chapters and chapter not in before.completed_chapters:
            self.run.publish(
                "chapter_completed",
                chapter=chapter,
                score=state.quality_scores.get(chapter),
                completed=len(state.completed_chapters),
                total=state.total_chapters,
            )
        if chapter in state.failed_chapters and chapter not in before.failed_chapters:
            self.run.publish("chapter_failed", chapter=chapter, error=state.last_error)
        match rules.pause_of(state):
            case Pause.BREAKER:
                self._open_breaker()
            case Pause.ITERATIONS:
                self.run.publish("book_paused", why=state.pause_reason, most=state.max_iterations)
            case Pause.JUDGE:
                self.run.publish("book_paused", why=state.pause_reason, most=None)
            case _:
                pass

    def ask_again(self, *, has_asked: bool) -> None:
        """It is tripped since an earlier run: the reasons once more; the gate is opened with all
        the others, and made where none is known."""
        self._tell_breaker()
        if not has_asked:
            self._ask_about_breaker()

    def _open_breaker(self) -> None:
        """A person decides; the gate stays open over restarts of Segue."""
        self._tell_breaker()
        gate = self._ask_about_breaker()
        if not self._is_beginning:  # else it is asked with all the others that are open
            self.run.open_gate(gate)

    def _tell_breaker(self) -> None:
        state, breaker = self.state, self.state.circuit_breaker
        self.run.publish(
            "breaker_tripped",
            chapter=state.current_chapter,
            cause=(state.pause_reason or "").partition(": ")[2],
            failures=breaker.failure_count,
            reasons=self._reasons_told(),
        )

    def _reasons_told(self) -> list[str]:
        if self.state.current_chapter in self.state.by_hand:
            return [self.state.last_error or ""]
        return list(self.state.circuit_breaker.failure_reasons[-5:])

    def _ask_about_breaker(self) -> GateRow:
        state = self.state
        why = state.last_error or "; ".join(state.circuit_breaker.failure_reasons[-1:]) or "?"
        about: dict[str, object] = {"chapter": state.current_chapter, "cause": why}
        if state.current_chapter in state.by_hand:
            about["by_hand"] = True
        text = text_of(BREAKER, about)
        return self.run.ledger.add_question(None, text, BREAKER, CHOICES, STOP, about)

    def answered(self, run: PlanRun, gate: GateRow, answer: str) -> bool:
        if gate.category != BREAKER:
            text = f"{gate.text.splitlines()[0]} → {answer}"
            wisdom.from_author(self.folder, self.state.current_chapter, text)
            return False
        if answer in (EDIT, REPLAN, SKIP):  # else the gate stays open
            run.ledger.close_gate(gate, answer)
            self.choose(answer)
        return True

    def decide(self, run: PlanRun, task: str, verb: str, take: Callable[[], None]) -> bool:
        """Only what the breaker has stopped can be retried (written afresh) or skipped."""
        is_stopped = rules.pause_of(self.state) is Pause.BREAKER
        if not is_stopped or not task.startswith(f"ch{self.state.current_chapter}."):
            text = _("{task} is not waiting for a decision").format(task=task)
            raise CannotError(text)
        take()
        choice = SKIP if verb == SKIP else REPLAN
        for gate in [one for one in run.ledger.gates.values() if one.category == BREAKER]:
            run.questions.withdraw(gate.id)
            run.ledger.close_gate(gate, choice)
        self.choose(choice)
        return True

    def choose(self, choice: str) -> None:
        """What a person wants of a chapter that the breaker has stopped."""
        state = self.state
        chapter = state.current_chapter
        if choice == EDIT:
            self.state = rules.edited(state)
        elif choice == REPLAN:
            self.state = rules.replanned(state)
        elif choice == SKIP:
            self._put_placeholder(chapter)
            self.state = rules.skipped(state)
            self.run.publish("chapter_skipped", chapter=chapter)
        else:
            return
        decision = _("{choice}, after: {why}").format(choice=choice, why=state.last_error)
        wisdom.from_author(self.folder, chapter, decision)
        self._tell_change(state)
        self._save()
        self._has_moved = True

    def _put_placeholder(self, chapter: int) -> None:
        """What was written is kept beside; the placeholder says that the chapter is missing."""
        self.folder.chapters.mkdir(parents=True, exist_ok=True)
        self.folder.keep_beside(chapter, self.run.clock.now())
        name = prompts.name_of(self.book, chapter)
        text = _("This chapter was skipped: {why}").format(why=self.state.last_error)
        path = self.folder.chapter(chapter)
        try:
            files.replace(path, f"# {name}\n\n> {text}\n".encode())
        except OSError as error:
            raise files.in_words(error, path) from error

    # The file

    def _note_waits(self) -> None:
        """A limit or a question stands in the state as long as it is waited for."""
        if not self.state.ralph_active:
            return
        reason = None
        if parks := list(self.run.ledger.parks.values()):
            reason = f"{Pause.LIMIT}: {parks[0].kind}, {stamp(parks[0].wakes_at)}"
        elif gates := [gate for gate in self.run.ledger.gates.values() if gate.run]:
            reason = f"{Pause.QUESTION}: {gates[0].text.splitlines()[0]}"
        self.state = replace(self.state, pause_reason=reason)

    def _save(self) -> None:
        """Only where something changed: a checkpoint."""
        if self.state == self._saved:
            return
        now = self.run.clock.now()
        at = in_seconds(now)
        state = self._with_fields_of_others()
        is_done = state.is_over and not state.failed_chapters
        completed_at = (state.completed_at or at) if is_done else None
        state = replace(state, last_checkpoint=at, last_updated=at, completed_at=completed_at)
        self.folder.save(book_state.render(state), now)
        self.state = self._saved = state

    def _with_fields_of_others(self) -> BookState:
        """They may have been written since the state was read."""
        theirs = self.folder.fields_of_others()
        if theirs is None:
            return self.state
        breaker = replace(self.state.circuit_breaker, more=theirs[1])
        return replace(self.state, more=theirs[0], circuit_breaker=breaker)

    def stop(self) -> None:
        """Segue ends before the book does: the place is kept."""
        if self.state.ralph_active:
            reason = self.state.pause_reason or str(Pause.INTERRUPTED)
            self.state = replace(self.state, ralph_active=False, pause_reason=reason)
            self._save()

    def place(self, attempt: Attempt) -> str:
        root, chapter = self.folder.root, self.folder.chapter(self.state.current_chapter)
        reread = [str(chapter.relative_to(root)), FILE]
        if self.folder.wisdom.exists():
            reread.append(str(self.folder.wisdom.relative_to(root)))
        if ".judge." in attempt.task.id:
            following = _("judge the chapter")
        elif self.state.retry_count:
            following = _("revise the chapter: the judge's objections are in your task")
        else:
            following = _("finish writing the chapter")
        return context_note.described(attempt, self.book.title, reread=reread, following=following)

    def progress(self, run: PlanRun) -> tuple[int, int]:
        return len(self.state.completed_chapters), self.state.total_chapters
