"""A state file that cannot be read is reported and kept; it can be written again."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, cp
from kit.waiting import until

GOOD = """\
phase: IMPLEMENT
strategy: subagent
feature: "real-time chat"
started_at: "2026-02-16T10:00:00"
updated_at: "2026-02-16T11:30:00"
checkpoints:
  cp-1: { status: passed, iteration: 2 }
  cp-2: { status: in_progress, iteration: 1 }
"""

BROKEN = {
    "empty": ("", 1),
    "only a comment": ("# nothing\n", None),
    "no YAML": (GOOD.replace("{ status: passed", "{ status: [passed"), None),
    "cut off": (GOOD[:-20], None),
    "tabs": (GOOD.replace("  cp-2", "\tcp-2"), 8),
    "wrong phase": (GOOD.replace("IMPLEMENT", "IMPLEMENTING"), 1),
    "no phase": (GOOD.replace("phase: IMPLEMENT\n", ""), None),
    "wrong status": (GOOD.replace("in_progress", "half_done"), 8),
    "iteration 7": (GOOD.replace("iteration: 2", "iteration: 7"), 7),
    "an iteration in words": (GOOD.replace("iteration: 2", "iteration: two"), 7),
    "wrong strategy": (GOOD.replace("subagent", "magic"), 2),
    "a list": ("- phase: IMPLEMENT\n- feature: x\n", 1),
    "checkpoints as a list": (GOOD.replace("  cp-", "- cp-"), None),
    "no feature": (GOOD.replace('feature: "real-time chat"\n', ""), None),
    "a key twice": ("phase: DONE\n" + GOOD, 2),
    "zeros": ("\0" * 200, 1),
    "bytes": ("\udcff\udcfe phase", None),
}


@pytest.fixture
def feature(box: Box) -> Feature:
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2"))
    return made


def broken(feature: Feature, kind: str) -> bytes:
    feature.state_path.parent.mkdir(exist_ok=True)
    feature.state_path.write_bytes(BROKEN[kind][0].encode("utf-8", "surrogateescape"))
    return feature.state_path.read_bytes()


@pytest.mark.parametrize("kind", BROKEN)
def test_it_is_never_taken_for_new(feature: Feature, kind: str) -> None:
    """Exit 2 with file, line and column, and what to do; the file is as it was, nobody is started."""
    before = broken(feature, kind)
    done = feature.box.segue("develop", FEATURE)
    assert done.code == 2, done.said
    place = re.search(r"state\.yaml:(\d+): .*column (\d+)", done.said)
    assert place, done.said
    assert BROKEN[kind][1] in (None, int(place[1])), done.said
    assert "--repair" in done.said
    error = feature.go_on().json["error"]
    assert {"code", "message", "file", "line", "hint"} <= error.keys()
    assert error["file"].endswith("state.yaml")
    assert error["line"] == int(place[1])
    assert feature.state_path.read_bytes() == before
    assert feature.who == []
    assert [path.name for path in feature.state_path.parent.iterdir()] == ["state.yaml"]


@pytest.mark.parametrize("kind", ["empty", "no YAML"])
def test_others_report_it_too(feature: Feature, kind: str) -> None:
    """`status` shows the problem and `resume` does not begin anew; the file stays."""
    before = broken(feature, kind)
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert plan["kind"] == "develop"
    assert "state.yaml" in plan["problem"]
    done = feature.box.segue("resume", "--continue")
    assert done.code == 2, done.said
    assert feature.state_path.read_bytes() == before
    assert feature.who == []


def stopped(feature: Feature) -> dict[str, Any]:
    """Stopped in the second iteration of cp-2; its state."""
    feature.settle(cp("cp-1"), cp("cp-2", "cp-1"))
    feature.play("cp-2.1", "pass")
    feature.play("cp-2.2", "hold('never')")
    feature.start()
    feature.begun("cp-2", 2)
    feature.box.power_cut()
    return feature.state


@pytest.mark.parametrize("kind", ["empty", "no YAML", "a list", "bytes", "iteration 7"])
def test_repair_from_the_journal(feature: Feature, kind: str) -> None:
    """`--repair` writes what was last known; the broken one is kept elsewhere; then it goes on."""
    feature.box.extra_env["TZ"] = "UTC"  # the file has the times of the wall clock
    known = stopped(feature)
    until(lambda: f"{datetime.now(UTC):%FT%T}" > known["updated_at"], "a later second")
    before = broken(feature, kind)
    done = feature.develop("--repair", feature=None)
    starts = len(feature.who)
    repaired = feature.state
    for name in ("phase", "strategy", "feature", "checkpoints"):
        assert repaired[name] == known[name], done.said
    assert repaired["started_at"] <= known["updated_at"], "when it began, not when it was repaired"
    assert [path.name for path in feature.state_path.parent.iterdir()] == ["state.yaml"]
    kept = [p for p in feature.root.rglob("*") if p.is_file() and p.read_bytes() == before]
    assert kept or not before, "the broken one is kept"
    assert starts == 5 and done.code in (0, 3), done.said
    assert feature.go_on().code == 0
    assert feature.starts("cp-2")[2].iteration == "2"


def test_repair_without_a_journal(feature: Feature) -> None:
    """Nothing is known any more: said in words, and nothing is invented."""
    stopped(feature)
    feature.box.forget()
    before = broken(feature, "no YAML")
    done = feature.develop("--repair", feature=None)
    assert done.code == 2, done.said
    assert feature.state_path.read_bytes() == before
    assert done.json["error"]["message"]


def test_repair_of_what_is_sound(feature: Feature) -> None:
    """A good file is not changed."""
    stopped(feature)
    before = feature.state_path.read_bytes()
    done = feature.develop("--repair", feature=None)
    assert done.code in (0, 2, 3), done.said
    assert feature.state_path.read_bytes() == before


def test_repair_of_nothing(feature: Feature) -> None:
    """No file at all: nothing to repair, nothing is made."""
    done = feature.develop("--repair", feature=None)
    assert done.code in (0, 2), done.said
    assert not feature.state_path.exists()
    assert feature.who == []


def test_broken_in_the_middle(feature: Feature) -> None:
    """Somebody breaks the file while it runs: told, and what they wrote is kept somewhere."""
    feature.play("cp-1", "hold('go'); default()")
    going = feature.start("--jobs", "1")
    feature.begun("cp-1")
    before = broken(feature, "no YAML")
    feature.box.release("go")
    done = going.end()
    assert done.code in (0, 2), done.said
    assert "state.yaml" in done.said and "Traceback" not in done.said
    assert "broken" in done.said and ":7" in done.said, "with its line"
    assert [p for p in feature.root.rglob("*") if p.is_file() and p.read_bytes() == before]
    if done.code == 2:
        feature.develop("--repair", feature=None)
        assert feature.go_on().code == 0
    assert len(feature.starts("cp-1")) == 1
    assert feature.state["phase"] == "DONE"


def test_a_folder_in_its_place(feature: Feature) -> None:
    """Told in words as well."""
    feature.state_path.mkdir(parents=True)
    done = feature.develop()
    assert done.code == 2, done.said
    assert "state.yaml" in done.said
    assert feature.who == []
