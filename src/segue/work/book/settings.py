"""`book.toml`: what is to be written, by whom, and who judges it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.core.book import BookState
from segue.errors import UserError
from segue.i18n import _
from segue.work.settings import values as read
from segue.work.settings.toml_file import Reader, read_toml

FILE = "book.toml"
CHAPTERS_MAX = 10_000
ACTS_MAX = 1_000
ITERATIONS_MAX = 10**6
KEYS = (
    "title", "chapters", "chapter", "acts", "threshold", "writer", "judge", "judge_command",
    "max_iterations", "judge_timeout", "notes",
)  # fmt: skip
CHAPTER_KEYS = ("title", "outline")
NOTES = ("plot", "characters")
JUDGE_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str = ""
    outline: str = ""


@dataclass(frozen=True, slots=True)
class Book:
    """One book. `writer` and `judge` are None where the project's default agent is meant; a figure
    is None where the state says it, or the default is meant."""

    title: str
    chapters: tuple[Chapter, ...]
    acts: int | None = None
    threshold: float | None = None
    writer: str | None = None
    judge: str | None = None
    judge_command: tuple[str, ...] = ()
    max_iterations: int | None = None
    judge_timeout_s: float = JUDGE_TIMEOUT_S
    notes: tuple[str, ...] = NOTES
    text: str = ""  # of the file, to find its lines

    def chapter(self, number: int) -> Chapter:
        return self.chapters[number - 1]


def load(folder: Path) -> Book:
    """The book in this folder; UserError with the line of what is wrong."""
    path = folder / FILE
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise UserError(
            "no_book",
            _("no book in this folder"),
            file=str(path),
            hint=_('write one: title = "…", chapters = 12 (docs/book.md)'),
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            "book_unreadable",
            _("cannot read it: {why}").format(why=error),
            file=str(path),
            hint=_("make it readable; it must be UTF-8"),
        ) from error
    return parse(text, path)


def parse(text: str, path: Path) -> Book:
    values = read_toml(text, path)
    reader = Reader(path, text)
    reader.known(values, KEYS, "")
    chapters = _chapters(reader, values)
    book = Book(
        title=reader.take(values, "", "title", read.text, '"The long night"') or path.parent.name,
        chapters=chapters,
        acts=reader.take(values, "", "acts", read.whole(1, ACTS_MAX), "3"),
        threshold=reader.take(values, "", "threshold", read.number(0, 100), "0-100"),
        writer=reader.take(values, "", "writer", read.text, '"the name of an agent"'),
        judge=reader.take(values, "", "judge", read.text, '"the name of an agent"'),
        judge_command=_or(
            reader.take(values, "", "judge_command", read.texts, '["python3", "judge.py"]'), ()
        ),
        max_iterations=reader.take(
            values, "", "max_iterations", read.whole(1, ITERATIONS_MAX), "100"
        ),
        judge_timeout_s=reader.take(values, "", "judge_timeout", read.length, '"10m"')
        or JUDGE_TIMEOUT_S,
        notes=_or(reader.take(values, "", "notes", _notes, '["plot", "characters"]'), NOTES),
        text=text,
    )
    if book.judge and book.judge_command:
        message = _("a book can have `judge` or `judge_command`, but not both")
        reader.problem("bad_value", message, _("delete one of them"), "", "judge_command")
    if reader.problems:
        raise UserError.of(reader.problems)
    return book


# Written by Segue


def from_state(state: BookState, folder: Path, chapters: int | None = None) -> Book:
    """A book of another tool that has a state and no `book.toml`: what the state says is enough."""
    lines = [
        "# " + _("Segue created this file from meta/ralph-state.json. Edit it as you like."),
        f"title = {_quoted(state.project_id or folder.name)}",
        f"chapters = {chapters or state.total_chapters}",
    ]
    for key, value, most in (
        ("acts", state.total_acts, ACTS_MAX),
        ("threshold", state.quality_threshold, 100),
        ("max_iterations", state.max_iterations, ITERATIONS_MAX),
    ):
        if 1 <= value <= most:  # else the state keeps its value
            lines.append(f"{key} = {value:g}")
    return parse("\n".join(lines) + "\n", folder / FILE)


def with_chapters(book: Book, folder: Path, chapters: int) -> Book:
    """The same book with another number of chapters; nothing else in its file is touched."""
    said = re.compile(r"(?m)^([ \t]*chapters[ \t]*=[ \t]*)[0-9_]+")
    first = re.search(r"(?m)^[ \t]*\[", book.text)
    at = first.start() if first else len(book.text)
    head, tables = book.text[:at], book.text[at:]
    if said.search(head):
        head = said.sub(rf"\g<1>{chapters}", head, count=1)
    else:
        head = f"chapters = {chapters}\n{head}"
    return parse(head + tables, folder / FILE)


def _quoted(text: str) -> str:
    """A TOML string; what cannot stand in one is left out."""
    clean = text.encode("utf-8", "replace").decode().replace("\x7f", "")
    return json.dumps(clean, ensure_ascii=False)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _notes(value: Any) -> tuple[str, ...] | None:
    return () if value == [] else read.inside(value)


def _from_table(text: str, number: int) -> str:
    """The file, blank up to its n-th [[chapter]]: lines are looked for in that one."""
    lines = text.splitlines()
    headers = [at for at, line in enumerate(lines) if re.match(r"\s*\[\[\s*chapter\s*\]\]", line)]
    start = headers[number] if number < len(headers) else 0
    return "\n".join([*[""] * start, *lines[start:]])


def _chapters(reader: Reader, values: dict[str, Any]) -> tuple[Chapter, ...]:
    tables = values.get("chapter", [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        hint = '[[chapter]]\ntitle = "…"\noutline = "…"'
        reader.problem("bad_value", _("chapters must be tables: [[chapter]]"), hint, "", "chapter")
        tables = []
    chapters = []
    for number, table in enumerate(tables):
        of_table = Reader(Path(reader.path), _from_table(reader.text, number))
        of_table.known(table, CHAPTER_KEYS, "chapter")
        title = of_table.take(table, "chapter", "title", read.text, '"a title"')
        outline = of_table.take(table, "chapter", "outline", read.text, '"what happens"')
        chapters.append(Chapter(title or "", outline or ""))
        reader.problems += of_table.problems
    wanted = f"1-{CHAPTERS_MAX}"
    total = reader.take(values, "", "chapters", read.whole(1, CHAPTERS_MAX), wanted)
    if total is not None and len(chapters) > total:
        message = _("`chapters` is {total}, but there are {n} [[chapter]] tables").format(
            total=total, n=len(chapters)
        )
        reader.problem("bad_value", message, _("make them agree"), "", "chapters")
    if "chapters" not in values and not chapters:
        message = _("the book has no chapters")
        hint = _("write `chapters = 12`, or a [[chapter]] table for each")
        reader.problem("missing_value", message, hint, "", None)
    return (*chapters, *[Chapter()] * max(0, (total or 0) - len(chapters)))
