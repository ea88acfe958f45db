"""Text that others wrote, made harmless: escapes, hidden characters, raw HTML, endless length.

Whatever a template shows passes `shown`; only what is made here comes as markup.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from segue.dialects.lines import plain, plain_text

MARKDOWN_CHARS_MAX = 60_000
LINES_MAX = 3_000
LINE_CHARS_MAX = 2_000
OUTPUT_BYTES_MAX = 48_000
OUTPUT_LINES_MAX = 400
LINKS = ("http://", "https://", "mailto:")
_MARK_OF_LETTERS = {0x061C: None}  # changes the order of what stands beside it
_CHANGES = {"+": "added", "-": "removed", "@": "place"}
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


class Line(NamedTuple):
    kind: str
    text: str


def shown(value: object) -> object:
    """For every value that a template shows; markup is made by us alone."""
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return plain_text(value).translate(_MARK_OF_LETTERS)


def clipped(text: str, most: int = LINE_CHARS_MAX) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def source(text: str) -> tuple[list[str], int]:
    """The lines of a file, and how many are left out."""
    lines = plain_text(text).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [clipped(line) for line in lines[:LINES_MAX]], max(0, len(lines) - LINES_MAX)


def diff(text: str) -> list[Line]:
    """A unified diff, each line with what it is. A hunk says how many lines it has: a removed line
    that begins with two dashes looks like the head of a file."""
    found: list[Line] = []
    old = new = 0  # lines of the hunk that are still to come
    for line in plain_text(text).split("\n")[:LINES_MAX]:
        kind = _CHANGES.get(line[:1], "same")
        if hunk := _HUNK.match(line):
            old, new = (int(count or 1) for count in hunk.groups())
        elif old <= 0 and new <= 0:
            kind = "file" if line.startswith(("+++", "---")) else kind
        elif not line.startswith("\\"):  # "no newline at end of file"
            old -= kind != "added"
            new -= kind != "removed"
        found.append(Line(kind, clipped(line)))
    return found


def output(log: bytes, *, is_cut: bool) -> list[str]:
    """The end of what an agent printed."""
    lines = log.split(b"\n")
    if is_cut:
        lines = lines[1:] or lines  # the first is a piece; one endless line has no other
    if lines and not lines[-1]:
        lines.pop()
    return [clipped(plain(line)) for line in lines[-OUTPUT_LINES_MAX:]]


def is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))


@lru_cache(maxsize=64)
def markdown(text: str) -> Markup | None:
    """As a page: no raw HTML, no pictures, links only to where they say; None if it is too long."""
    if len(text) > MARKDOWN_CHARS_MAX:
        return None
    return Markup(_MARKDOWN.render(plain_text(text)))  # noqa: S704 - escaped by the renderer


def _make() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    made.validateLink = _is_link  # type: ignore[method-assign]
    made.add_render_rule("link_open", _open_link)
    for name in ("heading_open", "heading_close"):
        made.add_render_rule(name, _heading)
    return made


def _is_link(url: str) -> bool:
    return url.lower().startswith(LINKS)


def _open_link(
    renderer: RendererHTML, tokens: list[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    return renderer.renderToken(tokens, at, options, env)


def _heading(
    renderer: RendererHTML, tokens: list[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """Below the headings of our own page."""
    tokens[at].tag = f"h{min(6, int(tokens[at].tag[1:]) + 3)}"
    return renderer.renderToken(tokens, at, options, env)


_MARKDOWN = _make()
