"""What was learnt while writing: kept in `meta/wisdom/*.md`, given to later chapters."""

from __future__ import annotations

from segue.core.book import Verdict
from segue.i18n import _
from segue.store import files
from segue.work.book.folder import BookFolder

JUDGE, DECISIONS = "judge.md", "decisions.md"
TEXT_CHARS_MAX = 6_000
LINE_CHARS_MAX = 400


def from_judge(folder: BookFolder, chapter: int, verdict: Verdict) -> None:
    """Each reason of a rejection once; the chapter says where it was first met."""
    for reason in verdict.reasons:
        _add(folder, JUDGE, _("# What the judge objects to"), reason, chapter)


def from_author(folder: BookFolder, chapter: int, decision: str) -> None:
    _add(folder, DECISIONS, _("# What the author decided"), decision, chapter)


def _add(folder: BookFolder, name: str, heading: str, text: str, chapter: int) -> None:
    line = " ".join(text.split())[:LINE_CHARS_MAX]
    if not line:
        return
    path = folder.wisdom / name
    try:
        folder.wisdom.mkdir(parents=True, exist_ok=True)
        known = path.read_text("utf-8", "replace") if path.exists() else f"{heading}\n\n"
        if any(_said(old) == line.casefold() for old in known.splitlines()):
            return
        where = _("chapter {n}").format(n=chapter)
        files.replace(path, f"{known.rstrip()}\n- {line} ({where})\n".encode("utf-8", "replace"))
    except OSError as error:
        raise files.in_words(error, path) from error


def _said(line: str) -> str:
    """A line without its bullet and the chapter behind it."""
    return line.removeprefix("- ").rpartition(" (")[0].casefold()


def summary(folder: BookFolder) -> str:
    """All of it, as much as a prompt can take; the newest of what is long."""
    parts = []
    for path in folder.wisdom_files():
        text = path.read_text("utf-8", "replace").strip()
        if text:
            parts.append(text[-TEXT_CHARS_MAX:])
    return "\n\n".join(parts)[-TEXT_CHARS_MAX:]
