"""The prompts for the writer and the judge of a book."""

from __future__ import annotations

from pathlib import Path

from segue.core.book import BookState
from segue.i18n import _
from segue.work.book import wisdom
from segue.work.book.folder import BookFolder
from segue.work.book.settings import Book

PAST_CHAPTERS = 3
EXCERPT_CHARS = 600
NOTES_MAX = 200


def name_of(book: Book, number: int) -> str:
    title = book.chapter(number).title
    text = _("Chapter {n}: {title}") if title else _("Chapter {n}")
    return text.format(n=number, title=title)


def draft(book: Book, folder: BookFolder, state: BookState, summaries: dict[int, str]) -> str:
    """The first draft of a chapter: from the outline, what came before, and what was learnt."""
    number = state.current_chapter
    parts = [_place(book, state), *_outline(book, number), *_notes(book, folder)]
    parts += _past(book, folder, number, summaries)
    parts += _learnt(folder)
    parts += [
        _("## What to do"),
        _("Write the whole chapter, nothing but its text in Markdown, into this file:"),
        str(folder.chapter(number)),
        _("Touch no other chapter. When it is written, end with a summary of at most five")
        + " "
        + _("sentences: what happens, who knows what, what stays open."),
    ]
    return "\n\n".join(parts)


def revision(book: Book, folder: BookFolder, state: BookState, reasons: tuple[str, ...]) -> str:
    """A chapter that was judged and has to become better."""
    number = state.current_chapter
    said = _score(state)
    why = "\n".join(f"- {reason}" for reason in reasons) or f"- {state.last_error or said}"
    parts = [_place(book, state), *_outline(book, number), *_notes(book, folder)]
    parts += _learnt(folder)
    parts += [
        _("## Problems in the last draft"),
        f"{said}\n{why}".strip(),
        _("## What to do"),
        _("Revise the chapter in this file; keep what is good, fix what is named above:"),
        str(folder.chapter(number)),
        _("Touch no other chapter. When it is revised, end with a summary of at most five")
        + " "
        + _("sentences: what happens, who knows what, what stays open."),
    ]
    return "\n\n".join(parts)


def _score(state: BookState) -> str:
    """What the judge gave this chapter last; nothing where it was never judged."""
    if not state.scores:
        return ""
    text = _("The judge scored it {score} of 100; it needs {threshold}.")
    return text.format(score=f"{state.scores[-1]:g}", threshold=f"{state.quality_threshold:g}")


def judgement(book: Book, folder: BookFolder, state: BookState) -> str:
    """The judge's own task: never the writer's word, only the text."""
    number = state.current_chapter
    parts = [_place(book, state), *_outline(book, number)]
    parts += [
        _("## What to do"),
        _("You are the judge, not the writer. Read this file and change no file:"),
        str(folder.chapter(number)),
        _(
            "Judge it as an editor would. Does it follow the outline? Is it complete? "
            "Is it consistent with the previous chapters? Is it well written? A text "
            "worth paying for scores {threshold} of 100. Then print one JSON object "
            "and nothing after it. Put the most important reason first; give no "
            "reasons if there is nothing to fix:"
        ).format(threshold=f"{state.quality_threshold:g}"),
        '{"score": 0-100, "reasons": ["…"]}',
    ]
    return "\n\n".join(parts)


def _place(book: Book, state: BookState) -> str:
    text = _("“{title}”: chapter {n} of {total}, act {act} of {acts}.")
    return text.format(
        title=book.title,
        n=state.current_chapter,
        total=state.total_chapters,
        act=state.current_act,
        acts=state.total_acts,
    )


def _outline(book: Book, number: int) -> list[str]:
    chapter = book.chapter(number)
    if not chapter.title and not chapter.outline:
        return []
    return [_("## Outline"), "\n".join(filter(None, (chapter.title, chapter.outline.strip())))]


def _notes(book: Book, folder: BookFolder) -> list[str]:
    """The author's own notes, by name: the agent reads what it needs."""
    named = []
    for name in book.notes:
        place = folder.root / name
        if place.is_dir():
            named += [str(p.relative_to(folder.root)) for p in _files(place)]
        elif place.is_file():
            named.append(name)
    if not named:
        return []
    return [_("## The author's notes (read what you need)"), "\n".join(f"- {n}" for n in named)]


def _files(folder: Path) -> list[Path]:
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink())
    return [path for path, _number in zip(found, range(NOTES_MAX), strict=False)]


def _past(book: Book, folder: BookFolder, number: int, summaries: dict[int, str]) -> list[str]:
    """The last chapters in a few words each: what was said of them, else how they begin and end."""
    there = folder.chapter_files()
    parts = []
    for past in sorted(n for n in there if n < number)[-PAST_CHAPTERS:]:
        text = summaries.get(past) or excerpt(there[past])
        if text:
            parts.append(f"### {name_of(book, past)}\n{text}")
    return [_("## Previous chapters"), *parts] if parts else []


def excerpt(path: Path) -> str:
    """The beginning and the end of a chapter."""
    text = path.read_text("utf-8", "replace").strip()
    if len(text) <= 2 * EXCERPT_CHARS:
        return text
    return f"{text[:EXCERPT_CHARS].rstrip()} … {text[-EXCERPT_CHARS:].lstrip()}"


def _learnt(folder: BookFolder) -> list[str]:
    text = wisdom.summary(folder)
    return [_("## Lessons so far"), text] if text else []
