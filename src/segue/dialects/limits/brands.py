"""Whose screen it is: by the name given, else by its marks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

NAMES = (
    "claude", "codex", "gemini", "qwen", "opencode", "copilot", "cursor", "aider", "kimi", "goose",
    "continue", "roo", "cline", "kilo", "amazon", "kiro", "autohand",
)  # fmt: skip
_MARKS = (
    ("✦", "gemini"),
    ("no sandbox", "gemini"),
    ("⏺", "claude"),
    ("⎿", "claude"),
    ("⏵⏵", "claude"),
    ("■", "codex"),
    ("›", "codex"),
    ("┃", "opencode"),
)


def brand_of(tool: str | None, rows: Sequence[str]) -> str:
    """The brand that a tool's name or a screen's marks tell; empty where neither does."""
    if tool:
        return _named(tool)
    text = "\n".join(rows[-40:])
    return next((brand for mark, brand in _MARKS if mark in text), "")


@lru_cache(maxsize=64)
def _named(tool: str) -> str:
    name = tool.lower()
    return next((brand for brand in NAMES if name.startswith(brand)), name.split("-")[0])
