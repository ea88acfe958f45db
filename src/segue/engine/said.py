"""What earlier runs said, from their logs: for a conversation that has to begin afresh, and for
those that depend on what was done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from segue.dialects.events import Event, Opened, Said, Used
from segue.engine.agent import Agent
from segue.engine.run_files import RunFiles
from segue.i18n import _
from segue.store.rows import RunRow

SUMMARY_CHARS_MAX = 4_000
CHAIN_MAX = 10  # runs that are looked through for what was said


@dataclass(slots=True)
class Heard:
    """What is known of a run from its log alone."""

    conversation: str | None = None
    used: Used | None = None
    lines: list[str] = field(default_factory=list)


def heard_before(files: RunFiles, run: str, nonce: str, agent: Agent) -> Heard:
    """What a run had reported before its owner died, or before another one took its place."""
    dialect = agent.dialect(nonce)
    events: list[Event] = []
    for data in files.both_ends(run):
        events += dialect.feed(data)
    events += dialect.close()
    heard = Heard()
    for event in events:
        match event:
            case Opened(conversation):
                heard.conversation = conversation
            case Used():
                heard.used = event
            case Said(text):
                heard.lines.append(text)
    return heard


def said_by_each(
    files: RunFiles, runs: Iterable[RunRow], named: Callable[[str], Agent | None]
) -> Iterator[list[str]]:
    """What each of some runs said. `named`: an agent by its name, where it can still be had."""
    for run in islice(runs, CHAIN_MAX):
        if (agent := named(run.agent)) is not None:
            yield heard_before(files, run.id, run.nonce, agent).lines


def what_is_known(said_by_each: Iterable[list[str]]) -> str:
    """The end of what was said in a conversation that is lost or full; never empty.
    `said_by_each`: the lines of each of its runs, the newest run first."""
    known: list[str] = []
    for lines in said_by_each:
        known[:0] = lines
        if sum(map(len, known)) > SUMMARY_CHARS_MAX:
            break
    return summarise(known) or _("(no details available)")


def summarise(lines: Collection[str]) -> str:
    """What a run produced, for those that depend on it: the end of what it said."""
    kept: list[str] = []
    size = 0
    for line in reversed(list(lines)):
        size += len(line) + 1
        if size > SUMMARY_CHARS_MAX:
            if not kept:
                kept.append(line[-SUMMARY_CHARS_MAX:])
            break
        kept.append(line)
    return "\n".join(reversed(kept)).strip()
