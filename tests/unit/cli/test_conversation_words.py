"""A conversation on a terminal."""

from __future__ import annotations

from segue.cli.console import Styled
from segue.cli.conversation_words import Words
from segue.dialects.conversation import Item
from segue.work.conversation import Entry


def shown(words: Words, *items: Item, role: str = "work") -> list[str]:
    entries = [Entry(item, "run", 1, "claude", role) for item in items]
    lines = [line for entry in entries for line in words.lines(entry)]
    return ["".join(p.text if isinstance(p, Styled) else p for p in line) for line in lines]


def test_a_call_stands_once_and_its_result_below_it() -> None:
    words = Words()
    call = Item(1, "tool", "make", tool="Bash", input="make")
    assert shown(words, call)[1:] == ["⚙ Bash make"]
    ended = Item(1, "tool", "make", tool="Bash", input="make", result="a\nb")
    assert shown(words, ended) == ["  │ a", "  │ b"]


def test_long_results_are_folded_unless_all_is_wanted() -> None:
    result = "\n".join(map(str, range(9)))
    item = Item(1, "tool", "x", tool="Bash", result=result)
    assert shown(Words(), item)[-1] == "  │ … 4 more lines (--full)"
    assert shown(Words(full=True), item)[-1] == "  │ 8"


def test_todos_have_their_marks() -> None:
    assert shown(Words(), Item(1, "todos", "[x] one\n[~] two\n[ ] three"))[1:] == [
        "  ✔ one", "  ▶ two", "  ○ three",
    ]  # fmt: skip


def test_a_person_speaks_without_a_head_of_a_run() -> None:
    assert shown(Words(), Item(0, "message", "use SQLite"), role="person") == ["👤 use SQLite"]


def test_a_run_has_one_head() -> None:
    lines = shown(Words(), Item(1, "text", "a"), Item(2, "text", "b"))
    assert sum(line.startswith("──") for line in lines) == 1
