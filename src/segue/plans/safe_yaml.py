"""YAML that a person or an agent wrote: plain data, or why it cannot be read, and where."""

from __future__ import annotations

from typing import Any

from segue.i18n import _

CHARS_MAX = 1 << 20
DEPTH_MAX = 32


class UnreadableError(Exception):
    """Lines and columns are counted from 1; None where the library does not say."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.line = line
        self.column = column


def load(text: str) -> Any:
    """UnreadableError also for what only an attacker writes: aliases (a few hundred bytes of them
    stand for gigabytes), nesting beyond reason, and more text than a person writes."""
    from ruamel.yaml.error import MarkedYAMLError  # noqa: PLC0415 - only features need it
    from ruamel.yaml.reader import ReaderError  # noqa: PLC0415

    if len(text) > CHARS_MAX:
        raise UnreadableError(_("it is longer than {n} characters").format(n=CHARS_MAX))
    try:
        _check_events(text)
        return _yaml().load(text)
    except UnreadableError:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise UnreadableError(str(error.problem or error.context), line, column) from error
    except ReaderError as error:  # a character that no YAML has, such as a power cut leaves
        before = text[: error.position].split("\n")
        why = str(error).splitlines()[0]
        raise UnreadableError(why, len(before), len(before[-1]) + 1) from error
    except Exception as error:  # of odd input the library lets out whatever happens to it
        lines = str(error).splitlines()
        raise UnreadableError(lines[0] if lines else type(error).__name__) from error


def _check_events(text: str) -> None:
    """One event after the other, so that it ends at the first that is too much."""
    from ruamel.yaml import events  # noqa: PLC0415 - only features need it

    depth = 0
    for event in _yaml().parse(text):
        at = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, events.AliasEvent):
            raise UnreadableError(
                _("YAML aliases (*{name}) are not supported").format(name=event.anchor), *at
            )
        if isinstance(event, events.CollectionStartEvent):
            depth += 1
        elif isinstance(event, events.CollectionEndEvent):
            depth -= 1
        if depth > DEPTH_MAX:
            raise UnreadableError(_("it is nested more than {n} deep").format(n=DEPTH_MAX), *at)


def compose(text: str) -> Any:
    """The nodes of a text that can be loaded, with their places."""
    return _yaml().compose(text)


def _yaml() -> Any:
    from ruamel.yaml import YAML  # noqa: PLC0415 - only features need it

    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False  # it would print to the terminal
    return yaml
