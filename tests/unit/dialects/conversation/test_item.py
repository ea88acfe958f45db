"""What all readers of conversations share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.dialects.conversation import Item, reader_of
from segue.dialects.conversation.item import difference, given, shortened, time_of

GOLDEN = Path(__file__).parents[3] / "golden"
CASES = sorted(
    path for kind in ("claude", "codex", "gemini", "opencode") for path in GOLDEN.glob(f"{kind}/*/stdout")
)  # fmt: skip


@pytest.mark.parametrize("path", CASES, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_chunks_do_not_matter(path: Path) -> None:
    """The same items come out, however the captured output is cut; nothing raises."""
    data = path.read_bytes()
    whole, pieces = reader_of(path.parts[-3]), reader_of(path.parts[-3])
    expected = [*whole.feed(data), *whole.close()]
    size = max(7, len(data) // 500)
    found: list[Item] = []
    for at in range(0, len(data), size):
        found += pieces.feed(data[at : at + size])
    assert [*found, *pieces.close()] == expected


def test_there_are_cases() -> None:
    assert len(CASES) > 100


def test_an_unknown_kind_is_read_as_text() -> None:
    reader = reader_of("some-program")
    assert [*reader.feed(b'{"type": "result"}\n'), *reader.close()] == [
        Item(1, "text", '{"type": "result"}')
    ]


def test_times_of_all_programs_are_understood() -> None:
    at = datetime(2026, 11, 15, 18, 45, 19, tzinfo=UTC)
    assert time_of("2026-11-15T18:45:19Z") == at
    assert time_of(int(at.timestamp() * 1000)) == at
    for wrong in ("tomorrow", "2026-11-15T18:45:19", None, True, -1, "9" * 100):
        assert time_of(wrong) is None


def test_long_results_keep_both_ends() -> None:
    text = shortened("a" * 100 + "b" * 100, 20)
    assert text == "a" * 10 + "\n…\n" + "b" * 10


def test_what_acts_on_a_terminal_is_taken_out() -> None:
    assert shortened("\x1b[31mred\x1b[0m\x07", 100) == "red"


def test_one_parameter_is_shown_as_it_is() -> None:
    assert given({"command": "ls -l"}) == "ls -l"
    assert given({"a": 1, "b": "x"}) == '{"a": 1, "b": "x"}'
    assert given({}) == ""


def test_an_edit_is_a_unified_diff() -> None:
    assert difference("a.py", "x = 1\ny = 2", "x = 1\ny = 3").splitlines() == [
        "--- a/a.py", "+++ b/a.py", "@@ -1,2 +1,2 @@", " x = 1", "-y = 2", "+y = 3",
    ]  # fmt: skip
