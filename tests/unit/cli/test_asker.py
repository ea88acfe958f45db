"""Questions on a terminal: one after the other, each answered as it was meant."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterator

import pytest

from segue.cli.asker import PlainQuestions, Question, TerminalAsker, chosen

DATABASES = ("PostgreSQL", "SQLite", "3")


@pytest.mark.parametrize(
    ("typed", "options", "preset", "meant"),
    [
        ("SQLite", DATABASES, None, "SQLite"),
        ("sqlite", DATABASES, None, "SQLite"),
        ("1", DATABASES, None, "PostgreSQL"),
        ("2", DATABASES, None, "SQLite"),
        ("3", DATABASES, None, "3"),
        ("", DATABASES, "SQLite", "SQLite"),
        ("postgresql", DATABASES, "SQLite", "PostgreSQL"),
        ("", DATABASES, None, None),
        ("0", DATABASES, None, None),
        ("4", DATABASES, None, None),
        ("-1", DATABASES, None, None),
        ("Postgres", DATABASES, None, None),
        ("²", DATABASES, None, None),
        ("9" * 5000, DATABASES, None, None),
        ("a", ("A", "a"), None, "a"),
        ("A", ("A", "a"), None, "A"),
        ("1", ("2", "1"), None, "1"),
        ("any words", (), None, "any words"),
        ("any words", (), "preset", "any words"),
        ("", (), "preset", "preset"),
        ("", (), None, None),
    ],
)
def test_the_option_that_was_meant_is_chosen(
    typed: str, options: tuple[str, ...], preset: str | None, meant: str | None
) -> None:
    """Exact, then by case, then by its number; the default for nothing; never a guess."""
    assert chosen(typed, options, preset) == meant


class Terminal:
    """Standard input that the test types on."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def fileno(self) -> int:
        return self._read

    def type(self, data: bytes) -> None:
        os.write(self._write, data)

    def hang_up(self) -> None:
        if self._write >= 0:
            os.close(self._write)
            self._write = -1

    def close(self) -> None:
        self.hang_up()
        os.close(self._read)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal()
    monkeypatch.setattr(sys, "stdin", made)
    yield made
    made.close()


class Talk(PlainQuestions):
    """An asker, what happened around it, and the answers it passed on."""

    def __init__(self) -> None:
        super().__init__()
        self.happened: list[str] = []
        self.chosen: list[str | None] = []
        self.line_typed = ""
        self.answers: asyncio.Queue[str | None] = asyncio.Queue()
        self.asker = TerminalAsker(self)

    def question(self, question: Question | None) -> None:
        self.happened.append(question.text if question else "none")
        super().question(question)

    def typed(self, text: str) -> None:
        self.line_typed = text

    def settled(self, question: Question, answer: str | None) -> None:
        self.chosen.append(answer if answer is None else question.named(answer))
        super().settled(question, answer)

    def ask(
        self,
        text: str,
        options: tuple[str, ...] = (),
        preset: str | None = None,
        *,
        is_menu: bool = False,
        by_hand: str | None = None,
    ) -> None:
        answer = self.answers.put_nowait
        self.asker.ask(text, options, preset, answer, is_menu=is_menu, by_hand=by_hand)

    async def answer(self) -> str | None:
        return await self.answers.get()


def talk(go: Callable[[Talk], Coroutine[None, None, None]]) -> None:
    async def run() -> None:
        await asyncio.wait_for(go(Talk()), 60)

    asyncio.run(run())


def test_a_question_is_shown_and_its_answer_passed_on(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """Options are numbered, the answer is the option itself, and then nothing is asked."""

    async def go(talk: Talk) -> None:
        talk.ask("Which?", ("PostgreSQL", "SQLite"), "SQLite")
        assert talk.happened == ["Which?"]
        terminal.type(b"postgresql\n")
        assert await talk.answer() == "PostgreSQL"
        assert talk.happened == ["Which?", "none"]
        assert talk.chosen == ["PostgreSQL"]

    talk(go)
    told = capsys.readouterr()
    assert told.out == "", "questions do not mix with results"
    for part in ("Which?", "[1] PostgreSQL", "[2] SQLite", "[SQLite]> "):
        assert part in told.err


def test_questions_wait_for_each_other(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second is shown when the first is answered; typing ahead and in pieces is fine."""

    async def go(talk: Talk) -> None:
        talk.ask("First?")
        talk.ask("Second?")
        assert "Second?" not in capsys.readouterr().err
        terminal.type("하나".encode()[:4])
        terminal.type("하나".encode()[4:] + b"\ntwo\n")
        assert [await talk.answer(), await talk.answer()] == ["하나", "two"]
        talk.ask("Third?")
        terminal.type(b"three\n")
        assert await talk.answer() == "three"
        assert talk.happened == ["First?", "Second?", "none", "Third?", "none"]

    talk(go)


def test_what_is_no_option_is_asked_again(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong answer gets what was probably meant, and nothing is passed on."""

    async def go(talk: Talk) -> None:
        talk.ask("Which?", ("PostgreSQL", "SQLite"))
        terminal.type(b"PostgresQL2\n\nSQLite\n")
        assert await talk.answer() == "SQLite"
        assert talk.answers.empty()

    talk(go)
    assert "did you mean `PostgreSQL`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "by_hand", "typed"),
    [
        (("1", "2", "3"), "3", b"3\n"),
        (("retry", "edit", "skip", "stop"), "edit", b"2\n"),
        (("retry", "edit", "skip", "stop"), "edit", b"edit\n"),
    ],
)
@pytest.mark.parametrize("done", [b"\n", b"yes, it is\n"])
def test_mending_by_hand_waits_for_the_person(
    terminal: Terminal,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    by_hand: str,
    typed: bytes,
    done: bytes,
) -> None:
    """What a person does himself is told when he says that it is done, by whatever he types."""

    async def go(talk: Talk) -> None:
        talk.ask("It failed.", options, by_hand=by_hand)
        terminal.type(typed)
        while "press Enter" not in (seen := capsys.readouterr().err):
            assert "choose" not in seen
            await asyncio.sleep(0)
        assert talk.answers.empty()
        terminal.type(done)
        assert await talk.answer() == by_hand

    talk(go)


def test_whoever_goes_while_mending_has_not_said_that_it_is_done(terminal: Terminal) -> None:
    """Nothing is taken for mended then."""

    async def go(talk: Talk) -> None:
        talk.ask("It failed.", ("retry", "edit"), by_hand="edit")
        terminal.type(b"edit\n")
        terminal.hang_up()
        assert await talk.answer() is None

    talk(go)


@pytest.mark.parametrize("answer", ["1", "2"])
def test_the_other_choices_are_passed_on_as_they_are(terminal: Terminal, answer: str) -> None:
    """Retry and skip need no more words."""

    async def go(talk: Talk) -> None:
        talk.ask("[1] retry [2] skip [3] mend", ("1", "2", "3"), is_menu=True, by_hand="3")
        terminal.type(answer.encode() + b"\n")
        assert await talk.answer() == answer

    talk(go)


def test_an_agents_numbers_are_answers_not_choices_of_a_menu(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent that asks how many (1, 3 or 5) gets the 3 that was typed, and the options are
    shown."""

    async def go(talk: Talk) -> None:
        talk.ask("❓ T-1: How many replicas?", ("1", "3", "5"))
        terminal.type(b"3\n\n")
        assert await talk.answer() == "3"

    talk(go)
    assert "5" in capsys.readouterr().err


def test_the_end_of_input_is_no_answer_and_no_busy_loop(terminal: Terminal) -> None:
    """When whoever was there is gone, that is told and input is watched no more."""

    async def go(talk: Talk) -> None:
        talk.ask("Anybody?", (), "preset")
        terminal.hang_up()
        loop = asyncio.get_running_loop()
        for _turn in range(10):
            await asyncio.sleep(0)
        assert loop.remove_reader(terminal.fileno()) is False, "it was removed already"
        assert talk.answers.get_nowait() is None
        talk.ask("Still nobody?", (), "preset")
        assert talk.answers.get_nowait() is None

    talk(go)


def test_an_endless_line_is_bounded(terminal: Terminal) -> None:
    """Input without a line end does not pile up."""

    async def go(talk: Talk) -> None:
        talk.ask("Anything?")
        for _n in range(40):
            terminal.type(b"x" * 8192)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert len(talk.line_typed) <= 64 * 1024
        terminal.type(b"\nlast\n")
        assert set(await talk.answer() or "") == {"x"}

    talk(go)


def test_a_question_that_is_withdrawn_makes_room_for_the_next(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether it is shown or still waits; what was half typed for it is for nothing."""

    async def go(talk: Talk) -> None:
        first, second = talk.answers.put_nowait, lambda answer: None
        talk.asker.ask("First?", (), None, first)
        talk.asker.ask("Second?", (), None, second)
        talk.ask("Third?")
        talk.asker.withdraw(second)
        talk.asker.withdraw(first)
        terminal.type(b"yes\n")
        assert await talk.answer() == "yes"
        assert talk.happened == ["First?", "Third?", "none"]
        assert talk.chosen == [None, "yes"]

    talk(go)
    told = capsys.readouterr().err
    assert ("First?" in told, "Second?" in told, "Third?" in told) == (True, False, True)


def test_the_last_question_withdrawn_leaves_none(terminal: Terminal) -> None:
    """Nothing is asked any more."""

    async def go(talk: Talk) -> None:
        answer = talk.answers.put_nowait
        talk.asker.ask("Only one?", (), None, answer)
        talk.asker.withdraw(answer)
        assert talk.happened == ["Only one?", "none"]

    talk(go)


def test_the_choice_of_a_menu_is_shown_with_its_words(terminal: Terminal) -> None:
    """Whoever reads it later does not have to know what 2 was."""

    async def go(talk: Talk) -> None:
        talk.ask("It failed.\n[1] retry\n[2] skip it", ("1", "2"), is_menu=True)
        terminal.type(b"2\n")
        assert await talk.answer() == "2"
        assert talk.chosen == ["[2] skip it"]

    talk(go)


def test_a_terminal_that_is_closed_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading from it fails: nobody is there, and nothing falls over."""

    async def go(talk: Talk) -> None:
        ours, theirs = os.openpty()
        with os.fdopen(theirs) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            talk.ask("Anybody?", (), "preset")
            os.close(ours)
            assert await talk.answer() is None

    talk(go)


def test_a_line_of_the_run_does_not_end_up_in_the_prompt(
    terminal: Terminal, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a plain terminal it gets a line of its own, and the prompt stands below it again."""

    async def go(talk: Talk) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        talk.line("before")
        talk.ask("Which?", ("a", "b"))
        talk.line("in between")
        terminal.type(b"a\n")
        assert await talk.answer() == "a"
        talk.line("after")

    talk(go)
    told = capfd.readouterr()
    assert told.out == "before\nin between\nafter\n"
    assert told.err.endswith("  [2] b\n> \n> ")
