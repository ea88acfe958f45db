"""The conversation of a task, over all its runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.bench import Bench
from kit.questions import asked
from segue.store.sqlite import Store
from segue.work.conversation import Conversation, Entry, raw
from segue.work.project import Project

SAID = (
    b'{"type":"assistant","message":{"content":[{"type":"text","text":"one"}]},"session_id":"s"}\n'
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


def conversation(bench: Bench, task: str = "T-1") -> Conversation:
    store = Store.open_readonly(Project(bench.root).database)
    assert store is not None
    row = store.one("SELECT id FROM tasks WHERE key = ?", task)
    assert row is not None
    memory = bench.root / ".segue"
    kinds = {"claude": "claude"}
    return Conversation(store, row["id"], memory / "logs", memory / "evidence", kinds)


def told(entries: Iterator[Entry]) -> list[tuple[str, str]]:
    return [(entry.item.kind, entry.item.text) for entry in entries]


def log(bench: Bench, run: str, data: bytes) -> None:
    path = bench.root / ".segue" / "logs" / f"{run}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)


def test_it_is_read_on_from_where_it_was(bench: Bench) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.run.ledger.commit()
    (run,) = bench.engine.begun
    found = conversation(bench)
    log(bench, run, SAID)
    assert told(found.read()) == [("text", "one")]
    assert told(found.read()) == []
    log(bench, run, SAID.replace(b"one", b"two"))
    assert told(found.read()) == [("text", "two")]
    assert not found.is_over


def test_an_item_without_a_time_is_as_old_as_its_run(bench: Bench) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.run.ledger.commit()
    log(bench, bench.engine.begun[0], SAID)
    (entry,) = conversation(bench).read()
    assert entry.item.at == bench.clock.at
    assert entry.to_json()["at"] == "2026-03-01T12:00:00.000000Z"


def test_a_failed_run_ends_with_its_error(bench: Bench) -> None:
    asked(bench)
    found = conversation(bench, "T-2")
    assert [kind for kind, _text in told(found.read())] == ["error"]
    assert told(found.read()) == []
    assert found.is_over


def test_raw_output_is_read_on_by_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"one")
    offsets: dict[str, int] = {}
    assert [*raw(tmp_path, ["a", "gone"], offsets)] == [b"one"]
    (tmp_path / "a.log").write_bytes(b"one\x1b[1m")
    assert [*raw(tmp_path, ["a"], offsets)] == [b"\x1b[1m"]
