"""One settings file as it is read: its values checked, each problem with the line it stands in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from segue.errors import Problem, UserError
from segue.i18n import _

Place = tuple[str, int | None]  # a file, and the line in it


def read_toml(text: str, path: Path) -> dict[str, Any]:
    """What a file says. UserError: it is not TOML; the line is named."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        raise UserError(
            "bad_toml",
            _("this is not valid TOML: {why}").format(why=error),
            file=str(path),
            line=int(at[1]) if at else len(text.splitlines()) or 1,  # "at end of document"
            hint=_("fix the line; strings need quotes"),
        ) from error


class Reader:
    """Checks one file's values; every problem found is kept, with its line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = str(path)
        self.text = text
        self.problems: list[Problem] = []

    def place(self, table: str, key: str | None) -> Place:
        return self.path, line_of(self.text, table, key)

    def problem(self, code: str, message: str, hint: str, table: str, key: str | None) -> None:
        file, line = self.place(table, key)
        self.problems.append(Problem(code, message, file, line, hint))

    def known(self, values: Mapping[str, Any], names: tuple[str, ...], table: str) -> None:
        for key in values:
            if key not in names:
                where = f"[{table}] {key}" if table else key
                close = get_close_matches(key, names, 1)
                hint = (
                    _("did you mean `{name}`?").format(name=close[0])
                    if close
                    else _("known here: {names}").format(names=", ".join(names))
                )
                message = _("unknown setting `{key}`").format(key=where)
                self.problem("unknown_key", message, hint, table, key)

    def take(
        self,
        values: Mapping[str, Any],
        table: str,
        key: str,
        read: Callable[[Any], Any],
        wanted: str,
    ) -> Any:
        """One value; None where it is missing or wrong (and then the problem is kept)."""
        if key not in values:
            return None
        taken = read(values[key])
        if taken is None:
            message = _("`{key}` cannot be {value!r}").format(key=key, value=values[key])
            hint = _("write {wanted}").format(wanted=wanted)
            self.problem("bad_value", message, hint, table, key)
        return taken


def line_of(text: str, table: str, key: str | None) -> int | None:
    """Where a key or a table stands in a TOML file (tomllib keeps no positions).

    A key may stand below its table's header, with dots before it, or in an inline table.
    """
    path = [*filter(None, table.split(".")), *([key] if key else [])]
    current: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+([^\]=]+)\]+\s*(?:#.*)?$", line):
            current = _names(header[1])
            if current[: len(path)] == path:
                return number
        elif name := re.match(r"\s*([\w\"'.\s-]+?)\s*=(.*)", line):
            full = [*current, *_names(name[1])]
            if full == path:
                return number
            is_inline = full == path[: len(full)] and path[len(full) :]
            if is_inline and re.search(rf"\b{re.escape(path[-1])}\b", name[2]):
                return number
    return None


def line_of_pattern(text: str, number: int, key: str | None) -> int | None:
    """Where the n-th `[[limits.patterns]]`, or a key of it, stands."""
    count, header = -1, None
    for at, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[", line):
            count += re.match(r"\s*\[\[\s*limits\s*\.\s*patterns\s*\]\]", line) is not None
            if count == number and header is None:
                header = at
            elif count > number or header is not None:
                break
        elif header and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return at
    return header or line_of(text, "limits", "patterns")


def _names(dotted: str) -> list[str]:
    return [re.sub(r"[\"'\s]", "", part) for part in dotted.split(".")]
