"""One settings file: what it says, and in which line a problem stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.errors import UserError
from segue.work.settings.toml_file import Reader, line_of, read_toml

TEXT = """agent = "claude"

[agents.claude]
kind = "claude"
env = { ONE = "1" }
"""


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = two", 2), ("a = 1\nb = [", 2), ("[", 1), ("a = 1\na = 2\n", 2)]
)
def test_broken_toml_is_named_with_its_file_and_line(text: str, line: int) -> None:
    """The same words, whichever file it is; the end of the document is its last line."""
    with pytest.raises(UserError) as caught:
        read_toml(text, Path("some.toml"))
    problem = caught.value.problem
    assert (problem.code, problem.file, problem.line) == ("bad_toml", "some.toml", line)
    assert problem.hint


def test_what_it_says() -> None:
    """As plain values."""
    assert read_toml(TEXT, Path("some.toml"))["agents"]["claude"]["env"] == {"ONE": "1"}


@pytest.mark.parametrize(
    ("table", "key", "line"),
    [
        ("", "agent", 1),
        ("agents.claude", "kind", 4),
        ("agents.claude", None, 3),
        ("agents.claude.env", "ONE", 5),
        ("agents.claude", "nothing", None),
    ],
)
def test_where_a_key_stands(table: str, key: str | None, line: int | None) -> None:
    """Below its table's header, or in an inline table."""
    assert line_of(TEXT, table, key) == line


def test_each_problem_is_kept_with_its_line() -> None:
    """A key that is not known suggests the close one; a value that cannot be says what can."""
    values = {"agnet": "claude", "jobs": "many"}
    reader = Reader(Path("some.toml"), 'agnet = "claude"\njobs = "many"\n')
    reader.known(values, ("agent", "jobs"), "")
    assert reader.take(values, "", "jobs", lambda value: None, "1-99") is None
    assert reader.take(values, "", "agent", str, '"claude"') is None, "it is missing"
    assert [(one.code, one.line) for one in reader.problems] == [
        ("unknown_key", 1),
        ("bad_value", 2),
    ]
    assert "agent" in str(reader.problems[0].hint)
