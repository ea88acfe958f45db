"""What Segue checks of a phase's deliverables itself, before anybody else looks at them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from segue.core.phases import Phase
from segue.errors import UserError
from segue.i18n import _
from segue.work.phases.matching import fits
from segue.work.phases.workspace import open_inside

TEXT_BYTES_MAX = 4 * 2**20
REASONS_MAX = 20
DEADLINE_S = 30
SHOWN_CHARS = 80
LINE_CHARS_MAX = 2000  # to look through a longer one could take any time
DOCUMENTS = frozenset({"", ".md", ".markdown", ".txt", ".rst", ".adoc", ".html", ".htm", ".tex"})

# A TODO in capitals is left to be done, unless it names what the work is about (a TODO list); in
# small letters it is a word, unless it stands alone, in brackets, or has a colon.
_SUBJECTS = r"(?:apps?|lists?|items?|tasks?|manager|api|service|mvc)\b|앱|리스트|목록|항목|서비스"
_LATER = "written|added|filled in|completed|determined|decided"
_PLACEHOLDER = re.compile(
    "|".join(
        (
            rf"\bTODO\b(?! ?[-_]? ?(?i:{_SUBJECTS}))",
            r"(?i:^[\s#>*|+_.()\[\]\d-]*(?:todo|tba|wip)[\s*_.!|…:)\]]*$)",
            r"(?i:\btodo(?:\([^)]{0,80}\))?:)",
            r"(?i:\b(?:tbd|fixme)\b)",
            r"(?i:[\[<({] ?(?:todo|tba|placeholder)\b[^\])>}]{0,80}[\])>}])",
            r"(?i:\blorem ipsum\b)",
            r"(?i:(?:…|\.\.\.) ?to be written)",
            rf"(?i:\b(?:to|will) be (?:{_LATER}) ?(?:later|here|soon|…|[.)\]*_]*$))",
            r"(?i:[\[<] ?(?:insert|your|add|write|fill in)\b[^\]>]{0,60}\bhere ?[\]>])",
            r"(?:추후|나중에) ?(?:작성|추가|보완|기입)",
            r"(?:작성|추가|기입) ?예정",
            r"여기에 ?(?:작성|입력)",
        )
    )
)
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")


def shortcomings(
    phase: Phase,
    sizes: Mapping[str, int],
    workspace: Path,
    clock: Callable[[], float] = time.monotonic,
) -> list[str]:
    """Everything that is wanting, in words for the agent and for people; `sizes` by path."""
    until = clock() + DEADLINE_S
    texts: dict[str, str | None] = {}
    for path, size in sizes.items():
        if clock() > until:
            return [_took_too_long()]
        texts[path] = _text(workspace, path, size)
    reasons = []
    for pattern in phase.deliverables:
        paths = [path for path in sizes if fits(pattern, path)]
        if not paths:
            reasons.append(_("{path} does not exist").format(path=pattern))
        elif not any(sizes[path] for path in paths):
            reasons.append(_("{path} is empty").format(path=pattern))
        else:
            reasons += _too_short(pattern, [texts[path] for path in paths], phase.min_chars)
    for path, text in texts.items():
        if clock() > until:
            return [*reasons[: REASONS_MAX - 1], _took_too_long()]
        if text is not None and PurePosixPath(path).suffix.lower() in DOCUMENTS:
            reasons += [
                _("{path}, line {line}: contains a placeholder: {text}").format(
                    path=path, line=line, text=shown
                )
                for line, shown in placeholders(text)
            ]
    return reasons[:REASONS_MAX]


def _took_too_long() -> str:
    text = _(
        "Segue could not check the deliverables within {n} seconds; deliver fewer or smaller files"
    )
    return text.format(n=DEADLINE_S)


def _too_short(pattern: str, texts: list[str | None], chars_min: int) -> list[str]:
    """Of several files that one glob names all count together; what is not text is not counted."""
    if None in texts:
        return []
    length = sum(len(text.strip()) for text in texts if text is not None)
    if length >= max(1, chars_min):
        return []
    if not length:
        return [_("{path} is empty").format(path=pattern)]
    text = _("{path} is too short: {n} characters, at least {least} are required")
    return [text.format(path=pattern, n=length, least=chars_min)]


def placeholders(text: str) -> list[tuple[int, str]]:
    """Lines that were left to be written, by number; code in a document is not looked at."""
    found = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip(" `~"))):
            fence = "" if fence else mark[1]
        elif not fence and _PLACEHOLDER.search(_as_looked_at(line[:LINE_CHARS_MAX])):
            found.append((number, line.strip()[:SHOWN_CHARS]))
            if len(found) == REASONS_MAX:
                break
    return found


def _as_looked_at(line: str) -> str:
    """Without code, and with one blank for each run of them: then every pattern above takes time
    in proportion to the line."""
    parts, at = [], 0
    runs = list(_TICKS.finditer(line))
    last = {len(run[0]): n for n, run in enumerate(runs)}  # where an opening one may still end
    n = 0
    while n < len(runs):
        size = len(runs[n][0])
        if last[size] == n:
            n += 1
            continue
        end = next(m for m in range(n + 1, len(runs)) if len(runs[m][0]) == size)
        parts += [line[at : runs[n].start()], "`…`"]
        at, n = runs[end].end(), end + 1
    return " ".join(("".join(parts) + line[at:]).split())


def _text(workspace: Path, path: str, size: int) -> str | None:
    """A file's text; None where it is none, or too large to be read for this."""
    if size > TEXT_BYTES_MAX:
        return None
    try:
        with os.fdopen(open_inside(workspace, path), "rb") as file:
            data = file.read(TEXT_BYTES_MAX + 1)
        return None if b"\0" in data else data.decode("utf-8-sig")
    except (OSError, UserError, UnicodeDecodeError):
        return None
