"""The scenario of a scripted agent: what it does, line by line.

    [T-003]                 the runs of this task   ([T-003 2]: its second attempt only)
    say Reading the plan
    wait 0.5s
    write src/app.txt some text
    append log.txt one more line
    step 1                  sub-step 1 is done
    usage 1200 80 0.02      input tokens, output tokens, dollars
    limit session_limit 2s  hits a limit that resets in two seconds; continues after it
    ask "Which database?" PostgreSQL SQLite
    depend api_key STRIPE_KEY for payments
    phase 1                 the phase is complete; continues when it is approved
    done                    a task without phases is complete
    error fatal notify_user the disk is full
    env keys.txt STRIPE_KEY writes whether the variable is there
    fail the tests are red  ends with exit code 1
    crash                   dies by SIGKILL
    hang                    never ends

`[*]`, or lines before the first heading, are for every task that has no part of its
own. Blank lines and lines that begin with # are nothing.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from difflib import get_close_matches

from segue.core.durations import parse_duration
from segue.errors import Problem, UserError
from segue.i18n import _

ARGUMENTS = {  # verb: fewest arguments, most (None: any number)
    "say": (0, None),
    "wait": (1, 1),
    "write": (1, None),
    "append": (1, None),
    "step": (1, 1),
    "usage": (2, 3),
    "limit": (2, 2),
    "ask": (1, None),
    "depend": (2, None),
    "phase": (0, 1),
    "done": (0, 0),
    "error": (2, None),
    "env": (2, 2),
    "fail": (0, None),
    "crash": (0, 0),
    "hang": (0, 0),
}


@dataclass(frozen=True, slots=True)
class Act:
    """One line of a scenario."""

    verb: str
    rest: str
    words: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Scenario:
    parts: dict[tuple[str, int | None], tuple[Act, ...]]

    def acts(self, task: str, attempt: int) -> tuple[Act, ...]:
        """What this attempt of this task does."""
        for key in ((task, attempt), (task, None), ("*", attempt), ("*", None)):
            if key in self.parts:
                return self.parts[key]
        return ()


def parse(text: str, file: str) -> Scenario:
    """Read a scenario; every wrong line in one error."""
    parts: dict[tuple[str, int | None], list[Act]] = {}
    key: tuple[str, int | None] = ("*", None)
    problems: list[Problem] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[(\S+)(?:\s+(\d+))?\]", line):
            key = (heading[1], int(heading[2]) if heading[2] else None)
            parts.setdefault(key, [])
            continue
        act = _act(line, number)
        wrong = _wrong(act, file)
        if wrong:
            problems.append(wrong)
        parts.setdefault(key, []).append(act)
    if problems:
        raise UserError.of(problems)
    return Scenario({key: tuple(acts) for key, acts in parts.items()})


def _act(line: str, number: int) -> Act:
    verb, _space, rest = line.partition(" ")
    try:
        words = tuple(shlex.split(rest))
    except ValueError:
        words = tuple(rest.split())
    return Act(verb, rest.strip(), words, number)


def _wrong(act: Act, file: str) -> Problem | None:
    if act.verb not in ARGUMENTS:
        close = get_close_matches(act.verb, ARGUMENTS, 1)
        hint = (
            _("did you mean `{name}`?").format(name=close[0])
            if close
            else _("known: {names}").format(names=", ".join(ARGUMENTS))
        )
        message = _("a scenario has no command `{verb}`").format(verb=act.verb)
        return Problem("bad_scenario", message, file, act.line, hint)
    fewest, most = ARGUMENTS[act.verb]
    if len(act.words) < fewest or (most is not None and len(act.words) > most):
        message = _("`{verb}` has the wrong number of arguments").format(verb=act.verb)
        return Problem("bad_scenario", message, file, act.line, _("see docs/script.md"))
    if not _are_numbers(act):
        message = _("`{verb}` needs numbers as its arguments").format(verb=act.verb)
        return Problem("bad_scenario", message, file, act.line, _("see docs/script.md"))
    durations = {"wait": 0, "limit": 1}
    if act.verb in durations and parse_duration(act.words[durations[act.verb]]) is None:
        message = _("this is not a duration")
        return Problem("bad_scenario", message, file, act.line, _("write 90s, 5m, 2h or 500ms"))
    return None


def _are_numbers(act: Act) -> bool:
    match act.verb:
        case "phase" if not act.words:
            return True
        case "step" | "phase":
            return act.words[0].isascii() and act.words[0].isdigit()
        case "usage":
            whole = all(word.isascii() and word.isdigit() for word in act.words[:2])
            cost = re.fullmatch(r"\d+(\.\d+)?", act.words[2]) if len(act.words) == 3 else True
            return whole and bool(cost)
        case _:
            return True
