"""The programs that Segue knows by name: how each is started, resumed, allowed and heard.

A brand is one module here and one dialect; `BRANDS` is the only list of them. Everything is
pure: from the settings and the facts of one run to a command line, an input and variables.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from segue.dialects.events import Dialect, PermissionAsked
from segue.engine.agent import Start
from segue.work.settings.config import AgentSettings

BRANDS = ("claude", "codex", "gemini", "opencode")


@dataclass(frozen=True, slots=True)
class Call:
    """What one start of an agent is made from."""

    settings: AgentSettings
    command: tuple[str, ...]  # its program as it was found, and the user's own arguments
    prompt: str
    conversation: str | None = None  # to continue; None: a new one
    mcp: tuple[str, ...] = ()  # the command line of Segue's own tools; empty: without them
    mcp_env: Mapping[str, str] = field(default_factory=dict)
    is_fork: bool = False  # in a copy of the conversation: that one stays as it is


@dataclass(frozen=True, slots=True)
class Login:
    """What can be known without a call. `is_in`: None where it cannot be known."""

    is_in: bool | None
    how: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """Where a program keeps its conversations and its login. `guarded`: what in there decides
    which commands it runs, so that an agent in the sandbox does not write it."""

    folders: tuple[Path, ...]
    files: tuple[Path, ...] = ()
    guarded: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Brand:
    """One program. `takes` are the variables of Segue's own that it needs besides the usual."""

    name: str
    install: str
    takes: re.Pattern[str]
    dialect: Callable[[str], Dialect]
    start: Callable[[Call], Start]
    login: Callable[[Path, Mapping[str, str]], Login]
    state: Callable[[Path, Mapping[str, str]], State]
    can: tuple[str, ...]
    resumes: tuple[
        str, ...
    ] = ()  # the words of its command line behind which a conversation stands
    resolve: Callable[[str], str] = lambda program: program  # past a wrapper, to the real one
    allow: Callable[[PermissionAsked], bytes] | None = None  # answers a permission request
    deny: Callable[[PermissionAsked, str], bytes] | None = None
    has_tools: bool = True  # it can be given an MCP server
    can_fork: bool = False  # it can continue in a copy of a conversation, also from another folder
    counts_conversation: bool = False  # it tells what the whole conversation used, not the run
    compact: str | None = None  # what makes its conversation shorter


def named_conversation(brand: Brand, command: Sequence[str]) -> str | None:
    """The conversation that the user's own command continues, if it names one."""
    for word, following in zip_longest(command, command[1:]):
        option, _equals, value = word.partition("=")
        if option in brand.resumes:
            return value or following
    return None


def brand(name: str) -> Brand:
    """The brand of this name; imported when it is needed."""
    found: Brand = importlib.import_module(f"segue.work.agents.brands.{name}").BRAND
    return found
