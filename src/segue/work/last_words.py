"""What an agent said last, from the end of its log: for those who look while it works."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from segue.dialects.events import Event, Said, ToolUsed
from segue.engine.run_files import RunFiles
from segue.engine.standing import Known
from segue.errors import UserError
from segue.work.project import Project

TAIL_BYTES = 16 * 1024


def known(project: Project) -> Known:
    """What the memory of a project knows, with the last words of its agents."""
    return Known.of(project, partial(last_words, project))


def last_words(project: Project, run: str, agent: str) -> str | None:
    """One line; None where nothing was said yet, or cannot be read."""
    try:
        text = RunFiles.of(project).tail(run, TAIL_BYTES)
    except OSError:
        return None
    for event in reversed(list(_heard(project, agent, text.encode()))):
        match event:
            case Said(text) if text.strip():
                return text.strip().splitlines()[-1]
            case ToolUsed(tool, what):
                return f"⚙ {tool} {what}".rstrip()
    return None


def _heard(project: Project, agent: str, data: bytes) -> Iterable[Event]:
    """In the dialect of the agent, as the settings have it now."""
    from segue.dialects.text import Text  # noqa: PLC0415 - only while something runs
    from segue.work.agents import brands  # noqa: PLC0415 - the same
    from segue.work.settings import config  # noqa: PLC0415

    try:
        known = config.load(project.root, config.user_file(os.environ)).agents.get(agent)
    except UserError:
        known = None
    is_brand = known is not None and known.kind in brands.BRANDS
    dialect = brands.brand(known.kind).dialect("") if known and is_brand else Text("")
    yield from dialect.feed(data)
    yield from dialect.close()
