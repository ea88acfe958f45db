"""How a run is shown: live on a terminal, plain lines in a pipe, JSON for programs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from segue.cli import console
from segue.cli.summary import summary
from segue.cli.words import in_words
from segue.engine.plan.questions import Asker
from segue.engine.run_log import line_of

if TYPE_CHECKING:
    from segue.cli.asker import PlainQuestions
    from segue.engine.plan.plan_run import PlanRun

NOT_FOR_PROGRAMS = frozenset({"task_said"})


class Reporter(Protocol):
    def emit(self, event: str, **facts: object) -> None: ...

    def show(self, run: PlanRun) -> None:
        """The run begins; it may be looked at from now on."""
        ...

    def asker(self) -> Asker | None: ...

    def pause(self) -> None:
        """The program is about to be suspended (Ctrl-Z): the terminal is the shell's."""
        ...

    def go_on(self) -> None:
        """The program was continued, in the foreground or not."""
        ...

    def close(self) -> None: ...


def choose_reporter(*, as_json: bool) -> Reporter:
    if as_json:
        return JsonReporter()
    if console.is_live():
        from segue.cli.live import LiveReporter  # noqa: PLC0415 - rich is heavy, a pipe needs none

        return LiveReporter()
    return LineReporter()


def log(event: str, facts: Mapping[str, object]) -> None:
    """A warning is a log line, too: it goes to standard error whatever reads the output."""
    text = line_of(event, facts)
    if text is not None:
        console.echo(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] {text}", err=True)


class JsonReporter:
    """One JSON object per line, as things happen."""

    def emit(self, event: str, **facts: object) -> None:
        if event in NOT_FOR_PROGRAMS:
            return
        if not facts.get("is_log"):
            log(event, facts)
        at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        console.echo_json({"event": event, "at": at, **facts})

    def show(self, run: PlanRun) -> None:
        pass

    def asker(self) -> Asker | None:
        return None  # a program is not asked

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        pass


class LineReporter:
    """Plain lines with the time, and a summary at the end."""

    def __init__(self) -> None:
        self._run: PlanRun | None = None
        self._since_s = time.monotonic()
        self._questions: PlainQuestions | None = None

    def emit(self, event: str, **facts: object) -> None:
        if event == "finished" and self._run is not None:
            self._say(summary(self._run, facts, time.monotonic() - self._since_s))
            return
        if event == "gate_opened" and self._questions is not None:
            return  # it is asked here and now
        log(event, facts)
        words = in_words(event, facts)
        if words is not None and not facts.get("is_log"):
            self._say(f"{time.strftime('%H:%M:%S')} {words}")

    def _say(self, line: str) -> None:
        if self._questions is None:
            console.echo(line)
        else:
            self._questions.line(line)

    def show(self, run: PlanRun) -> None:
        self._run = run

    def asker(self) -> Asker | None:
        from segue.cli.asker import PlainQuestions, TerminalAsker  # noqa: PLC0415 - few are asked

        self._questions = PlainQuestions()
        return TerminalAsker(self._questions)

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        pass
