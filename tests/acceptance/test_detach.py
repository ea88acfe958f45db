"""Work in the background: it outlives the terminal, is followed, answered and ended from others."""

from __future__ import annotations

import json
import os
import shlex
import signal
from typing import Any

from kit.book import Book
from kit.box import Box
from kit.feature import FEATURE, Feature
from kit.waiting import until

ASKS = """\
- [ ] **T-1**: Choose
- [ ] **T-2**: Build
  - agent: shell
  - run: {note}
"""
ASKING = 'ask "Which database?" PostgreSQL SQLite\nsay done\n'


def owner(box: Box) -> int | None:
    plans = box.segue("status", "--json").json["plans"]
    found = plans[0]["holder"] if plans else None
    return None if found is None else int(found)


def gate(box: Box) -> dict[str, Any]:
    def waits() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = box.segue("inbox", "--json").json["items"]
        return items

    return until(waits, "a question in the inbox")[0]


def test_it_runs_on_while_nobody_looks_and_ends_with_its_exit_code(box: Box) -> None:
    """The command returns at once; attach shows everything from the start and ends as it ended."""
    box.plan(
        f"- [ ] **T-1**: Build\n  - run: {box.hold('go')}\n- [ ] **T-2**: Fail\n  - run: false\n  - retries: 0\n"
    )
    begun = box.segue("run", "--detach")
    assert begun.code == 0
    assert "segue attach PLAN.md" in begun.out
    attached = box.start("attach")
    until(lambda: "T-1" in attached.result.out, "what was said before")
    box.release("go")
    done = attached.end()
    assert done.code == 1
    assert "T-1 completed" in done.out
    assert "T-2 failed" in done.out
    assert box.marks() == {"T-1": "x", "T-2": "!"}


def test_an_error_is_shown_by_the_command_itself(box: Box) -> None:
    """As it would be in the foreground: in words, with the exit code of bad input."""
    box.plan("- [ ] **T-1**: Build\n  - blocked by: T-9\n")
    refused = box.segue("run", "--detach")
    assert refused.code == 2
    assert "T-9" in refused.err
    assert box.segue("attach").code == 2


def test_it_stays_while_a_question_waits_and_continues_with_the_answer(box: Box) -> None:
    """Nothing else is left to do, and nobody starts it again."""
    box.scripted(ASKING)
    box.plan(ASKS.format(note=box.note()))
    box.segue("run", "--detach")
    asked = gate(box)
    until(lambda: box.marks()["T-2"] == "x", "what depends on nothing")
    pid = owner(box)
    assert pid is not None
    assert box.segue("answer", asked["id"], "SQLite").code == 0
    assert box.segue("attach").code == 0
    assert box.marks() == {"T-1": "x", "T-2": "x"}


def test_a_retry_starts_it_again(box: Box) -> None:
    """A failed task ends the work; the act brings its owner back, in the background."""
    box.plan("- [ ] **T-1**: Build\n  - run: test -e fixed\n  - retries: 0\n")
    box.segue("run", "--detach")
    assert box.segue("attach").code == 1
    (box.root / "fixed").touch()
    assert box.segue("retry", "T-1").code == 0
    until(lambda: box.marks()["T-1"] == "x", "the second try")


def test_stop_ends_it_in_order(box: Box) -> None:
    """Its agents are gone, its mark stays, and neither an act nor a reboot brings it back."""
    box.plan(f"- [ ] **T-1**: Build\n  - run: {box.hold('go')}\n")
    box.segue("run", "--detach")
    until(box.agents, "its agent")
    assert box.segue("stop").code == 0
    assert box.agents() == {}
    assert owner(box) is None
    assert box.marks() == {"T-1": "~"}
    assert box.segue("start-detached").out == ""
    assert box.segue("stop").code == 2


def test_a_killed_owner_is_told_and_comes_back_after_a_reboot(box: Box) -> None:
    """The service's start line finishes what ran in the background."""
    box.plan(
        f"- [ ] **T-1**: Build\n  - run: {box.hold('go')}\n- [ ] **T-2**: More\n  - run: true\n  - blocked by: T-1\n"
    )
    box.segue("run", "--detach")
    until(box.agents, "its agent")
    attached = box.start("attach")
    until(lambda: "T-1" in attached.result.out, "the agent's start")
    pid = owner(box)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert attached.end().code == 1
    printed = box.segue("service", "install", "--print").out
    lines = [
        line.partition("=")[2] for line in printed.splitlines() if line.startswith("ExecStart=")
    ]
    words = next(shlex.split(line) for line in lines if "start-detached" in line)
    assert box.segue(*words[words.index("segue") + 1 :]).code == 0
    box.release("go")
    until(lambda: box.marks() == {"T-1": "x", "T-2": "x"}, "the rest")


def test_a_second_one_is_refused(box: Box) -> None:
    box.plan(f"- [ ] **T-1**: Build\n  - run: {box.hold('go')}\n")
    box.segue("run", "--detach")
    again = box.segue("run", "--detach")
    assert again.code == 2
    assert "segue attach" in again.err
    box.release("go")
    assert box.segue("attach").code == 0


def test_programs_get_events(box: Box) -> None:
    box.plan("- [ ] **T-1**: Build\n  - run: true\n")
    begun = json.loads(box.segue("run", "--detach", "--json").out)
    assert (begun["event"], begun["work"]) == ("detached", str(box.plan_path))
    events = box.segue("attach", "--json").events
    assert [event["event"] for event in events][-1] == "finished"


def test_a_book_runs_in_the_background(box: Box) -> None:
    book = Book(box)
    book.toml()
    begun = box.segue("write-all", "--detach", str(book.root))
    assert begun.code == 0, begun.said
    assert box.segue("attach", str(book.root)).code == 0


def test_a_feature_runs_in_the_background(box: Box) -> None:
    feature = Feature(box)
    assert box.segue("develop", FEATURE, "--detach").code == 0
    assert box.segue("attach").code == 0
    assert feature.state["phase"] == "DONE"
