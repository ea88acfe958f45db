"""`segue resume` in a book: the box, the four choices, and a way back from a damaged state."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from segue.cli import book_words, console, output
from segue.cli.book_events import reasons
from segue.core.book import BookState
from segue.engine.kind import Found
from segue.engine.plan.finish import WAITS
from segue.i18n import _
from segue.work.book import resuming
from segue.work.book.resuming import Look, look
from segue.work.book.standing import in_figures
from segue.work.book.writing import CommandOptions, How, anew, complete

CHOICES = ("continue", "restart", "status", "reset")


def describe(one: Found) -> str:
    """The box; of a damaged state, what is left."""
    seen = look(one.path)
    state = seen.state
    if state is None:
        return damaged(seen)
    if state.completed_at:
        return f"{complete()}\n{anew()}"
    half = seen.folder.half_chapters(state)
    return book_words.interrupted(state, len(seen.folder.wisdom_files()), half)


def nothing(one: Found) -> str:
    """Why there is nothing to do."""
    seen = look(one.path)
    if seen.damage is not None:
        return damaged(seen)
    if seen.state is None:
        return resuming.nothing_begun()
    if not seen.state.completed_at:
        return resuming.nothing_to_resume()
    lost = [resuming.lost_chapters(seen.lost)] if seen.lost else []
    return "\n".join([complete(), anew(), *lost])


def damaged(seen: Look) -> str:
    text = _("the state of the book is damaged: {why}").format(why=seen.damage)
    lines = [f"{seen.folder.state_file}: {text}"]
    if seen.backup is not None:
        lines.append(
            _("The newest backup is usable: {path}").format(path=seen.backup)
            + "\n  segue resume --continue"
        )
    else:
        lines += [resuming.no_way_back(), anew()]
        if seen.chapters:
            text = _("Or rebuild the state from the {n} existing chapters: segue resume --rebuild")
            lines.append(text.format(n=seen.chapters))
    return "\n".join(lines)


def restored(seen: Look, *, as_json: bool) -> BookState:
    """The state of the newest backup, with a message; the damaged file is kept."""
    backup, state, kept = resuming.restore(seen.folder, datetime.now(UTC))
    text = _(
        "The state was damaged; Segue restored the backup {backup}. The damaged "
        "file is kept: {kept}"
    )
    console.echo(text.format(backup=backup.name, kept=kept.name), err=as_json)
    return state


def choices(one: Found) -> list[tuple[str, str]]:
    """What can be chosen, and what it does."""
    seen = look(one.path)
    state = seen.state
    n = target(seen) if state else 1
    return [
        (_("continue writing"), _("from where it stopped (chapter {n})").format(n=n)),
        (_("restart the current chapter"), _("write only chapter {n} again").format(n=n)),
        (_("show the state only"), _("show full progress and exit")),
        (_("reset the state"), _("clears it (after a backup)")),
    ]


def way_back(one: Found) -> str | None:
    """What a person chooses for a damaged state; None: nothing now."""
    seen = look(one.path)
    if seen.backup is not None:
        return (
            "continue" if console.confirm(_("Use the backup and continue?"), default=True) else None
        )
    if seen.chapters:
        text = _("Count the existing chapters and continue?")
        return "rebuild" if console.confirm(text, default=True) else None
    return None


def question() -> str:
    return _("How should it continue?")


def target(seen: Look) -> int:
    """The chapter that a restart takes: a half one, else the current one."""
    assert seen.state is not None
    half = seen.folder.half_chapters(seen.state)
    current = seen.state.current_chapter
    return half[0] if half and current not in half else current


def reset(one: Found) -> tuple[dict[str, object], str]:
    """For programs, and in words."""
    folder = look(one.path).folder
    kept = resuming.reset(folder)
    return {"reset": str(folder.root), "backup": str(kept or "")}, resuming.was_reset()


def do(
    one: Found,
    choice: str,
    environ: dict[str, str],
    *,
    as_json: bool,
    chapters: int | None = None,
) -> int:
    # only continuing needs the engine
    from segue.cli.write_all import go, nothing_written  # noqa: PLC0415

    seen = look(one.path)
    options = CommandOptions(seen.folder.root, chapters=chapters)
    match choice:
        case "status":
            return _show(seen, as_json=as_json)
        case "rebuild":
            now = datetime.now(UTC)
            state = resuming.rebuild(seen.folder, now, chapters)
            if seen.damage is not None:
                seen.folder.put_damaged_aside(now)
            return go(replace(options, state=state), environ, as_json=as_json)
        case _:
            pass
    if seen.damage is not None:
        if seen.backup is None:
            if as_json:  # else it was said what is left
                return nothing_written(WAITS, damaged(seen), seen, as_json=True)
            return WAITS
        seen = replace(seen, state=restored(seen, as_json=as_json), damage=None)
        options = replace(options, state=seen.state)
    if choice == "restart":
        options = replace(options, how=How.CHAPTER, chapter=target(seen))
        return go(options, environ, as_json=as_json)
    if not as_json:
        _tell_causes(seen)
    return go(options, environ, as_json=as_json)


def _tell_causes(seen: Look) -> None:
    """What stopped it before, and what was learnt: the writer gets the wisdom, too."""
    state = seen.state
    assert state is not None
    if state.circuit_breaker.triggered:
        console.echo(_("It stopped earlier because of:"))
        for reason in reasons(state.circuit_breaker.failure_reasons[-5:]):
            console.echo(f"  - {reason}")


def _show(seen: Look, *, as_json: bool) -> int:
    state = seen.state
    if state is None:
        console.echo(damaged(seen) if seen.damage else resuming.nothing_begun())
        return WAITS if seen.damage else 0
    if as_json:
        output.print_json(in_figures(state))
    else:
        console.echo(book_words.in_full(state))
    return 0
