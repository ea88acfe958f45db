"""`segue logs`: what an agent said and did."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell

SAID = (
    b'{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]},"session_id":"s"}\n'
)


def log(bench: Bench, task: str, *texts: bytes) -> None:
    run = next(run for run in bench.engine.begun if run.startswith(task))
    path = bench.root / ".segue" / "logs" / f"{run}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(SAID % text for text in texts))


def test_it_shows_what_was_said_and_how_it_ended(bench: Bench, segue: Shell) -> None:
    asked(bench)
    log(bench, "T-2", b"I try", b"it breaks")
    shown = segue("logs", "T-2")
    head, *rest = shown.out.splitlines()
    assert (shown.code, head.startswith("── claude · attempt 1")) == (0, True)
    assert [line for line in rest if line] == ["I try", "it breaks", "✘ exit code 1"]


def test_a_program_gets_items(bench: Bench, segue: Shell) -> None:
    asked(bench)
    log(bench, "T-2", b"I try")
    items = segue("logs", "T-2", "--json").json["items"]
    assert [(item["kind"], item["text"]) for item in items] == [
        ("text", "I try"),
        ("error", "exit code 1"),
    ]
    assert {"at", "tool", "input", "result"} <= items[0].keys()


def test_following_a_task_that_is_over_ends(bench: Bench, segue: Shell) -> None:
    asked(bench)
    log(bench, "T-2", b"I try")
    shown = segue("logs", "T-2", "-f", "--json")
    assert [event["kind"] for event in shown.events] == ["text", "error"]


def test_a_task_that_said_nothing_says_so(bench: Bench, segue: Shell) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.run.ledger.commit()
    assert segue("logs", "T-1").out == "The agent has not printed anything yet.\n"


@pytest.mark.parametrize("is_empty", [True, False])
def test_an_unknown_task_is_an_error_with_a_hint(
    bench: Bench, segue: Shell, is_empty: bool
) -> None:
    if not is_empty:
        asked(bench)
    error = segue.refused("logs", "T-9")
    assert (error["code"], "segue status" in error["hint"]) == ("unknown_task", True)


def test_raw_and_json_exclude_each_other(bench: Bench, segue: Shell) -> None:
    asked(bench)
    assert segue.refused("logs", "T-2", "--raw")["code"] == "usage"
