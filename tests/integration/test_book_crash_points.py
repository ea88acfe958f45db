"""A book is being written, and Segue is killed with -9 at every moment at which it changes something."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kit.crash_checks import check_at_the_end
from kit.crashing import crashing
from segue.plans.book_state import schema

WORKERS = 8
STATE = Path("meta", "ralph-state.json")

BOOK = """\
title = "The long night"
chapters = 2
writer = "writer"
judge_command = ["/bin/sh", "judge.sh"]
"""
SETTINGS = """\
[agents.writer]
kind = "command"
command = ["/bin/sh", "writer.sh"]
"""
# Each write adds a line to the chapter and to the log; it is there whole or not at all.
WRITER = """\
cat > prompt
line="write $SEGUE_CHAPTER $SEGUE_TASK"
{ cat "$SEGUE_TARGET" 2>/dev/null; echo "$line"; } > .draft
mv .draft "$SEGUE_TARGET"
echo "$line" >> log
"""
# The first draft of chapter 1 is too short, its revision is not.
JUDGE = """\
lines=$(grep -c write "$1")
echo "judge $SEGUE_CHAPTER $SEGUE_TASK $lines" >> log
if [ "$SEGUE_CHAPTER" = 1 ] && [ "$lines" -lt 2 ]
then echo '{"score": 50, "reasons": ["too short"]}'
else echo '{"score": 90, "reasons": []}'
fi
"""
EVENTS = Counter(
    {
        "write 1 ch1.write.1": 1,
        "judge 1 ch1.judge.1 1": 1,
        "write 1 ch1.write.2": 1,
        "judge 1 ch1.judge.2 2": 1,
        "write 2 ch2.write.3": 1,
        "judge 2 ch2.judge.3 1": 1,
    }
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    fill(folder)
    return folder


def fill(folder: Path) -> None:
    for name, text in (
        ("book.toml", BOOK),
        ("segue.toml", SETTINGS),
        ("writer.sh", WRITER),
        ("judge.sh", JUDGE),
    ):
        (folder / name).write_text(text)


def segue(folder: Path, die_at: int) -> int:
    return crashing("book", folder, die_at, "write-all")


def check_after_death(folder: Path) -> None:
    """Whenever it died: a state that is there can be read, and fits its schema."""
    for path in [folder / STATE, *(folder / "meta" / "backups").glob("*.json")]:
        if path.exists():
            Draft202012Validator(schema()).validate(json.loads(path.read_bytes()))


def check(folder: Path) -> None:
    check_after_death(folder)
    assert Counter((folder / "log").read_text().splitlines()) == EVENTS
    state = json.loads((folder / STATE).read_bytes())
    assert state["completed_chapters"] == [1, 2]
    assert state["quality_scores"] == {"1": 90, "2": 90}
    assert state["completed_at"]
    assert state["segue"]["tries"] == {"1": 2, "2": 1}
    assert (state["iteration"], state["failed_chapters"]) == (3, [])
    breaker = state["circuit_breaker"]
    assert (breaker["failure_count"], breaker["failure_reasons"]) == (1, ["too short"])
    assert (folder / "meta/wisdom/judge.md").read_text().count("too short") == 1
    chapters = {path.name: path.read_text() for path in (folder / "chapters").iterdir()}
    assert chapters == {
        "chapter_1.md": "write 1 ch1.write.1\nwrite 1 ch1.write.2\n",
        "chapter_2.md": "write 2 ch2.write.3\n",
    }
    assert [path for path in folder.rglob(".*.segue-*") if ".segue" not in path.parts[:-1]] == []
    check_at_the_end(folder, tasks=6)


@pytest.mark.parametrize("worker", range(WORKERS))
def test_killed_at_any_moment_each_chapter_is_written_judged_and_accepted_once(
    worker: int, book: Path
) -> None:
    """The next start goes on; no write and no judgement is made, and none counted, twice."""
    assert segue(book, 0) == 0
    check(book)
    moments = int((book / "moments").read_text())
    assert moments > 70
    for die_at in range(1 + worker, moments + 1, WORKERS):
        shutil.rmtree(book)
        book.mkdir()
        fill(book)
        try:
            if segue(book, die_at) == -9:
                check_after_death(book)
                assert segue(book, 0) == 0
            check(book)
        except AssertionError as error:
            raise AssertionError(f"killed at moment {die_at} of {moments}") from error


def test_killed_again_and_again_the_book_still_gets_written(book: Path) -> None:
    """Every start is killed a little later than the one before; everything happens once."""
    for die_at in range(1, 200, 5):
        if segue(book, die_at) == 0:
            break
        check_after_death(book)
    check(book)
