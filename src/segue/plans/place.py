"""The section of a Markdown file in which agents find their place. Bytes in, bytes out.

Between two comments, and nothing outside of them is touched: a section that is taken out again
leaves the bytes that were there before it. Each plan has a part of its own in it, so that two of
them can be run at once.
"""

from __future__ import annotations

import re

OPEN, CLOSE = "<!-- segue:place -->", "<!-- /segue:place -->"
_PART = re.compile(r"^<!-- plan: (.*) -->\n", re.MULTILINE)


def put(data: bytes | None, plan: str, text: str) -> bytes | None:
    """The file with the part of this plan; an empty text takes it out. None: there is no file."""
    whole = None if data is None else data.decode("utf-8", "surrogateescape")
    before, inside, behind = _split(whole or "")
    parts = _parts(inside or "")
    parts.pop(_plain(plan), None)
    if text.strip():
        parts[_plain(plan)] = _plain(text).strip("\n") + "\n"
    elif inside is None:
        return data
    new = _joined(whole, before, inside, behind, parts)
    return None if new is None else new.encode("utf-8", "surrogateescape")


def _split(text: str) -> tuple[str, str | None, str]:
    """What is before the section, in it (None: there is none) and behind it."""
    end = text.find(CLOSE)
    start = text.rfind(OPEN, 0, max(end, 0))
    if start < 0:
        return text, None, ""
    return text[:start], text[start + len(OPEN) : end], text[end + len(CLOSE) :]


def _parts(inside: str) -> dict[str, str]:
    pieces = _PART.split(inside)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _joined(
    whole: str | None, before: str, inside: str | None, behind: str, parts: dict[str, str]
) -> str | None:
    if not parts:
        return _without(before, behind)
    told = "".join(f"<!-- plan: {plan} -->\n{text}" for plan, text in parts.items())
    section = f"{OPEN}\n{told}{CLOSE}"
    if inside is not None:
        return before + section + behind
    if whole is None or (whole and whole.endswith("\n")):
        return f"{whole or ''}{section}\n"
    # Its last line has no end: neither has the section, by which that is known again.
    return f"{whole}\n{section}" if whole else section


def _without(before: str, behind: str) -> str | None:
    if behind.startswith("\n"):
        rest = before + behind[1:]
        return rest or None  # there was no file before us
    return before.removesuffix("\n") + behind if not behind else before + behind


def _plain(text: str) -> str:
    """No comment of a title's own can end the section, or begin another part."""
    return text.replace("<!--", "<! --").replace("-->", "-- >")
