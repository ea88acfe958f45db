"""What a book's chapters and the memory of their judgements prove.

The state says which chapters are completed, the tables remember every step, and either may be
older than the other: a backup was restored, git has gone back or to another branch, `.segue/` or a
chapter was deleted or changed by hand. So nothing is completed by memory: a chapter counts while
its text is there as a judge accepted it, by its hash.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from segue.core import book as rules
from segue.core.book import BookState, Evidence
from segue.core.plan import TaskState
from segue.engine.ledger import Ledger
from segue.i18n import _
from segue.work.book import judging
from segue.work.book.folder import BookFolder


@dataclass(frozen=True, slots=True)
class Findings:
    """The state as far as it is proven, and what was found on the way."""

    state: BookState
    lost: tuple[int, ...] = ()  # completed, and without a text
    changed: tuple[int, ...] = ()  # completed, with another text
    remembered: tuple[int, ...] = ()  # not completed, and accepted all the same

    def in_words(self) -> list[str]:
        told = []
        for numbers, text in (
            (self.lost, _("the text of chapter {n} is missing; the agent writes it again")),
            (
                self.changed,
                _("chapter {n} changed after the judge accepted it; the judge scores it again"),
            ),
            (
                self.remembered,
                _("chapter {n} has not changed since the judge accepted it: completed"),
            ),
        ):
            told += [text.format(n=n) for n in numbers]
        return told


def look(folder: BookFolder, state: BookState) -> Findings:
    """By the files alone."""
    return _found(state, rules.proven(state, Evidence(folder.texts(_counted(state)))))


def look_with_memory(
    folder: BookFolder, state: BookState, ledger: Ledger, *, remembers: bool = False
) -> Findings:
    """By the files, and what the tables remember of judgements."""
    numbers = range(1, state.total_chapters + 1) if remembers else _counted(state)
    there = Evidence(folder.texts(numbers), _accepted(ledger, state.quality_threshold))
    return _found(state, rules.proven(state, there, remembers=remembers))


def _counted(state: BookState) -> Iterable[int]:
    return (*state.completed_chapters, *state.by_hand)


def _found(before: BookState, after: BookState) -> Findings:
    gone = [n for n in before.completed_chapters if n not in after.completed_chapters]
    return Findings(
        after,
        lost=tuple(n for n in gone if n not in after.by_hand),
        changed=tuple(n for n in gone if n in after.by_hand),
        remembered=tuple(n for n in after.completed_chapters if n not in before.completed_chapters),
    )


def _accepted(ledger: Ledger, threshold: float) -> dict[int, dict[str, float]]:
    """The texts of each chapter that were judged and accepted; of one that the tables know by no
    text nothing is said."""
    found: dict[int, dict[str, float]] = {}
    for key, row in ledger.tasks.items():
        chapter, _dot, step = key.removeprefix("ch").partition(".judge.")
        if not (chapter.isdigit() and step.isdigit()):
            continue
        if row.state is not TaskState.COMPLETED or not row.summary:
            continue
        verdict = judging.load(row.summary)
        if verdict.text:
            texts = found.setdefault(int(chapter), {})
            if verdict.score >= threshold:
                texts[verdict.text] = verdict.score
    return found


def steps_known(ledger: Ledger) -> int:
    """The highest number that a step ever had: none is used again."""
    ends = (key.rpartition(".")[2] for key in ledger.tasks)
    return max((int(end) for end in ends if end.isdigit()), default=0)
