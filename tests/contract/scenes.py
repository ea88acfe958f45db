"""What a scripted agent does at one start: a list of steps, the same words for every kind of work.

`player.py` plays them as a process; `subjects/panes.py` turns them into the views of a terminal
program. In a text, `{in 4}` is the time four seconds after it is printed, in seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

Step = list[object]
BANNER = "Claude AI usage limit reached|{in %s}"
VAGUE = "API Error: 429 Too Many Requests"
FULL = "Error: prompt is too long: 210203 tokens > 200000 maximum"
HOUR_S = 3600
DAY_S = 24 * HOUR_S


@dataclass(frozen=True)
class Question:
    """What an agent asks a person."""

    text: str = "Which database?"
    options: tuple[str, ...] = ("PostgreSQL", "SQLite")
    default: str = ""
    deadline: str = ""


def turn(*parts: Step | Iterable[Step]) -> list[Step]:
    """One start of the agent; it does its part unless its last step ends it."""
    steps: list[Step] = []
    for part in parts:
        steps += [part] if isinstance(part, list) else list(part)
    return steps


def say(text: str) -> Step:
    """One line of its own."""
    return ["say", text]


def work(seconds: float) -> Step:
    """Works visibly for so long."""
    return ["work", seconds]


def pause(seconds: float) -> Step:
    """Says nothing for so long."""
    return ["pause", seconds]


def hold(name: str) -> Step:
    """Works visibly until the test releases this name."""
    return ["hold", name]


def limit(in_s: float, *vague: str) -> Step:
    """Is refused with a reset so far ahead (vaguer words may follow), and ends."""
    return ["limit", BANNER % in_s, *vague]


def stop(*words: str) -> Step:
    """Is refused in these words, and ends."""
    return ["limit", *words]


def limited_in_passing(in_s: float) -> Step:
    """Is refused, but survives it."""
    return ["passing", BANNER % in_s]


def full() -> Step:
    """Its context is full, and it ends."""
    return ["full", FULL]


def ask(question: Question | None = None) -> Step:
    """Asks a person, and ends."""
    return ["ask", asdict(question or Question())]


def fail(text: str = "Segmentation fault in module seven") -> Step:
    """Ends badly with words that mean no limit."""
    return ["fail", text]


def failing(times: int) -> list[list[Step]]:
    """So many bad ends, each for a reason of its own."""
    words = ["module", "kernel", "parser", "socket", "compiler", "disk"]
    return [turn(fail(f"Segmentation fault in {words[n]} {n}")) for n in range(times)]


def hang() -> Step:
    """Says nothing more and never ends."""
    return ["hang"]
