"""Who changes something, and how that is known: every row of the journal names both.

A change is made where it is known who wants it, and often committed later, together with others.
So each change takes the actor in whose name it is made (`acting`) along with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """`via`: how it is known: terminal, page, token, mcp, process (an agent), clock, file,
    engine."""

    name: str
    via: str


SEGUE = Actor("segue", "engine")  # what follows from the plan, a file, or a restart
TIMER = Actor("timer", "clock")
FILE = Actor("editor", "file")  # a person saved the plan; the file system does not say who


def agent(run: str) -> Actor:
    """The agent of a run: known by the process that Segue started for it."""
    return Actor(f"agent {run}", "process")


_current: ContextVar[Actor] = ContextVar("actor", default=SEGUE)


def current() -> Actor:
    return _current.get()


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Changes that are made meanwhile are this actor's."""
    token = _current.set(actor)
    try:
        yield
    finally:
        _current.reset(token)
