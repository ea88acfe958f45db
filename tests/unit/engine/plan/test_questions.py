"""What a person is asked, and what becomes of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from kit.bench import Bench
from segue import i18n
from segue.core.machines import Trigger
from segue.core.plan import Task, TaskState
from segue.dialects.events import LimitHit
from segue.engine.executors import Answered
from segue.engine.plan import beginning
from segue.engine.plan.questions import MEND, RETRY, SKIP, Questions, failed_question
from segue.plans.task_edit import TaskEdit
from segue.store.rows import GateRow

FAILED = Task("T-3", "Build", TaskState.FAILED, previous_error="npm test failed", retries_used=2)
GATE = GateRow("g1", "T-3", "run-1", "question", "Which?", ("a", "b"), "a")


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    i18n.use("en")


class Person:
    """Somebody at a terminal, who answers when told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...], str | None]] = []
        self._on_answer: list[Callable[[str | None], None]] = []
        self.withdrawn: int | None = None

    def ask(
        self,
        text: str,
        options: tuple[str, ...],
        preset: str | None,
        on_answer: Callable[[str | None], None],
        *,
        is_menu: bool = False,
        by_hand: str | None = None,
    ) -> None:
        assert is_menu == (options == (RETRY, SKIP, MEND))
        self.by_hand = by_hand
        self.asked.append((text, options, preset))
        self._on_answer.append(on_answer)

    def answer(self, n: int, text: str | None) -> None:
        self._on_answer[n](text)

    def withdraw(self, on_answer: Callable[[str | None], None]) -> None:
        if on_answer in self._on_answer:
            self.withdrawn = self._on_answer.index(on_answer)


class Run:
    """The parts of a run that questions touch; it notes what is done to it."""

    def __init__(self, state: TaskState = TaskState.FAILED) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.skipped_here: set[str] = set()
        self.graph = Graph({"T-3": FAILED})
        self.ledger = SimpleNamespace(
            tasks={"T-3": SimpleNamespace(state=state, error="full error\nmore")},
            gates={"g1": GATE},
        )
        self.unanswered: list[str] = []
        self.file = SimpleNamespace(task=self.graph.task)

    def move_task(self, task: str, to: TaskState, cause: Trigger, **sets: object) -> None:
        self.done.append(("move", task, to, cause, sets))

    def mark(self, task: str, state: TaskState) -> None:
        self.done.append(("mark", task, state))

    def publish(self, event: str, **_facts: object) -> None:
        self.done.append(("tell", event))

    def edit(self, task: str, edit: TaskEdit) -> None:
        self.done.append(("edit", task, edit))

    def reopen_skipped(self) -> None:
        self.done.append(("reopen",))

    def skip_dependants(self, roots: list[str]) -> None:
        self.done.append(("cascade", *roots))


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """What follows from an answer is only noted, where the run is not a real one."""
    if "bench" not in request.fixturenames:

        def note(run: Run, gate: GateRow, answer: str) -> None:
            run.done.append(("go_on", gate.id, answer))

        monkeypatch.setattr(beginning, "go_on_with", note)


class Graph(dict[str, Task]):
    def task(self, key: str) -> Task:
        return self[key]


async def shown() -> None:
    """Questions are shown by the loop, behind what is told at the same time."""
    await asyncio.sleep(0)


def test_with_nobody_there_nothing_is_asked() -> None:
    """Without an asker questions stay open elsewhere, and nothing waits for an answer."""
    told: list[Answered] = []
    questions = Questions(None, told.append)
    questions.ask_gate(GATE)
    assert questions.ask_failed(Run(), ["T-3"]) is False  # type: ignore[arg-type]
    assert not questions.is_asking
    assert not questions.is_asking


def test_a_gate_is_asked_and_its_answer_told_through_the_inbox() -> None:
    """The question comes with its task, options and default; the answer names the gate."""

    async def go() -> None:
        person, told = Person(), list[Answered]()
        questions = Questions(person, told.append)
        questions.ask_gate(GATE)
        await shown()
        assert person.asked == [("❓ T-3: Which?", ("a", "b"), "a")]
        assert questions.is_asking
        person.answer(0, "b")
        assert told == [Answered("g1", "b")]
        run = Run()
        questions.answered(run, told[0])  # type: ignore[arg-type]
        assert run.done == [("go_on", "g1", "b")]
        assert not questions.is_asking

    asyncio.run(go())


@pytest.mark.parametrize(("run", "by_hand"), [(None, "edit"), ("run-1", None)])
def test_what_a_person_mends_is_waited_for(run: str | None, by_hand: str | None) -> None:
    """In the work's own questions; an agent may mean anything by that word."""

    async def go() -> None:
        person = Person()
        gate = replace(GATE, run=run, options=("retry", "edit", "skip", "stop"))
        Questions(person, lambda answered: None).ask_gate(gate)
        await shown()
        assert person.by_hand == by_hand

    asyncio.run(go())


def test_an_answer_to_a_gate_that_was_closed_meanwhile_does_nothing() -> None:
    """A person who ticked the task in the file needs no agent to go on."""

    async def go() -> None:
        questions = Questions(Person(), lambda answered: None)
        questions.ask_gate(GATE)
        await shown()
        run = Run()
        run.ledger.gates.clear()
        questions.answered(run, Answered("g1", "b"))  # type: ignore[arg-type]
        assert run.done == []
        assert not questions.is_asking

    asyncio.run(go())


def ask_and_answer(answer: str, state: TaskState = TaskState.FAILED) -> Run:
    run = Run()

    async def go() -> None:
        person, told = Person(), list[Answered]()
        questions = Questions(person, told.append)
        assert questions.ask_failed(run, ["T-3"]) is True  # type: ignore[arg-type]
        await shown()
        assert questions.is_asking
        assert person.asked[0][1:] == ((RETRY, SKIP, MEND), None)
        person.answer(0, answer)
        assert told == [Answered("failed:T-3", answer)]
        run.ledger.tasks["T-3"].state = state
        questions.answered(run, told[0])  # type: ignore[arg-type]
        assert not questions.is_asking

    asyncio.run(go())
    return run


@pytest.mark.parametrize("answer", [RETRY, MEND])
def test_retrying_resets_the_count_and_reopens_what_it_held(answer: str) -> None:
    """Retry, and mend and retry: pending again with no retry used, its steps cleared."""
    done = ask_and_answer(answer).done
    assert ("move", "T-3", TaskState.PENDING, Trigger.RETRY, {"retries_used": 0}) in done
    assert ("mark", "T-3", TaskState.PENDING) in done
    assert ("edit", "T-3", TaskEdit(all_steps=False, retries=(None, FAILED.retries))) in done
    assert ("tell", "task_retried") in done
    assert done[-1] == ("reopen",)


def test_skipping_passes_over_what_depends_on_it_too() -> None:
    """Skip: skipped, told, and with it all that waits for it."""
    run = ask_and_answer(SKIP)
    done = run.done
    assert run.skipped_here == {"T-3"}, "it is not judged again in this run"
    assert ("move", "T-3", TaskState.SKIPPED, Trigger.SKIP, {}) in done
    assert ("mark", "T-3", TaskState.SKIPPED) in done
    assert done[-1] == ("cascade", "T-3")


def test_an_answer_about_a_task_that_a_person_settled_meanwhile_does_nothing() -> None:
    """The mark in the file came first."""
    assert ask_and_answer(SKIP, TaskState.COMPLETED).done == []


def test_no_failed_tasks_is_no_question() -> None:
    """Nothing to ask about, nothing asked."""
    questions = Questions(Person(), lambda answered: None)
    assert questions.ask_failed(Run(), []) is False  # type: ignore[arg-type]


def test_the_question_about_a_failed_task_says_what_happened() -> None:
    """Id, title, the error's first line, the count, and the three choices."""
    text = failed_question(FAILED, "full error\nmore")
    assert "T-3: Build" in text
    assert "npm test failed" in text
    assert "2/2" in text
    assert all(f"[{n}]" in text for n in (RETRY, SKIP, MEND))
    bare = Task("T-3", "Build", TaskState.FAILED)
    assert "full error" in failed_question(bare, "full error\nmore")
    assert "more" not in failed_question(bare, "full error\nmore")


@pytest.mark.parametrize("error", [None, "", "\n", "\n\nlate"])
def test_a_failed_task_without_an_error_can_be_asked_about(error: str | None) -> None:
    """An empty error is no crash."""
    bare = Task("T-3", "Build", TaskState.FAILED)
    assert "T-3: Build" in failed_question(bare, error)


def test_the_korean_question_is_the_originals_to_the_letter() -> None:
    """In Korean the question about a failed task has the words it has always had."""
    i18n.use("ko")
    task = Task(
        "T-003", "API 구현", TaskState.FAILED, previous_error="npm test 실패", retries_used=2
    )
    assert failed_question(task, None) == (
        "⚠️ 실패한 태스크 발견:\n"
        "\n"
        "T-003: API 구현\n"
        "  - 에러: npm test 실패\n"
        "  - 시도: 2/2회\n"
        "\n"
        "선택:\n"
        "[1] 재시도 - 다시 실행 (시도 횟수 리셋)\n"
        "[2] 스킵 - 건너뛰기 (의존 태스크도 스킵)\n"
        "[3] 수정 후 재시도 - 직접 수정 후 계속"
    )


def test_a_question_that_was_answered_elsewhere_is_withdrawn() -> None:
    """By letter: nothing waits for the terminal any more, and what is typed there is for nothing."""

    async def go() -> None:
        person, told, run = Person(), list[Answered](), Run()
        questions = Questions(person, told.append)
        questions.ask_gate(GATE)
        await shown()
        before = questions.is_asking
        questions.withdraw("g1")
        assert (before, questions.is_asking) == (True, False)
        assert person.withdrawn == 0
        person.answer(0, "b")
        for answered in told:
            questions.answered(run, answered)  # type: ignore[arg-type]
        assert run.done == []
        questions.withdraw("g1")

    asyncio.run(go())


def test_one_question_withdrawn_leaves_the_others_open() -> None:
    """Each is about its own gate."""

    async def go() -> None:
        person, told, run = Person(), list[Answered](), Run()
        questions = Questions(person, told.append)
        questions.ask_gate(replace(GATE, id="g0"))
        questions.ask_gate(GATE)
        await shown()
        questions.withdraw("g0")
        assert questions.is_asking
        person.answer(1, "b")
        questions.answered(run, told[0])  # type: ignore[arg-type]
        assert run.done == [("go_on", "g1", "b")]

    asyncio.run(go())


def test_a_question_withdrawn_before_it_was_shown_is_never_shown() -> None:
    """What was told first comes first; by then it may be too late to ask."""

    async def go() -> None:
        person = Person()
        questions = Questions(person, list[Answered]().append)
        questions.ask_gate(GATE)
        questions.withdraw("g1")
        await shown()
        assert person.asked == []

    asyncio.run(go())


# --- what does not depend on a question goes on -------------------------------------------------

INDEPENDENT = (
    "- [{mark}] T-1: a\n  - retries: 0\n- [ ] T-2: b\n  - blocked by: T-1\n- [ ] T-6: free\n"
)


def at_work(bench: Bench) -> list[str]:
    return sorted(attempt.task.id for attempt in bench.run.jobs.values())


def test_a_question_at_the_start_holds_up_only_what_depends_on_it(bench: Bench) -> None:
    """An old `[!]` is asked about while T-6 runs; the answer lets T-1 and then T-2 run."""

    async def go() -> None:
        bench.start(INDEPENDENT.format(mark="!"))
        person = Person()
        bench.run.questions = Questions(person, bench.engine.notify)
        bench.recover()
        await asyncio.sleep(0)
        assert len(person.asked) == 1
        assert at_work(bench) == ["T-6"]
        assert bench.mark("T-2") == "-"
        person.answer(0, RETRY)
        bench.happens()
        assert at_work(bench) == ["T-1", "T-6"]
        assert bench.mark("T-2") == " "

    asyncio.run(go())


def test_a_new_failure_is_asked_about_when_nothing_else_can_run_now(bench: Bench) -> None:
    """Not while T-6 runs; but at once when it is parked, and that may be for hours."""

    async def go() -> None:
        bench.start(INDEPENDENT.format(mark=" "))
        person = Person()
        bench.run.questions = Questions(person, bench.engine.notify)
        bench.recover()
        first, second = bench.engine.begun
        for job in (first, second):
            bench.starts(job)
        bench.says(LimitHit("session_limit", bench.clock.now() + timedelta(hours=5)), job=second)
        bench.ends(1, job=first)
        assert not bench.driver.is_over()
        assert person.asked == []
        bench.ends(1, job=second)
        assert not bench.driver.is_over()
        await asyncio.sleep(0)
        assert len(person.asked) == 1
        assert "T-1" in person.asked[0][0]
        assert not bench.driver.is_over(), "it waits for the person and for the limit"

    asyncio.run(go())


def test_a_task_without_retries_has_no_count_of_them() -> None:
    """“0/0” would say nothing."""
    assert "tried" not in failed_question(Task("T-1", "a", retries=0), "exit code 1")
    assert "tried: 0/2" in failed_question(Task("T-1", "a", retries=2), "exit code 1")
