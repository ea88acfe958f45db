"""The one state file: its fields, when it is written, and what a person adds to it."""

from __future__ import annotations

from datetime import datetime

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, Writes, check_shape, cp
from kit.waiting import until


@pytest.fixture
def feature(box: Box) -> Feature:
    """Two checkpoints, one after the other."""
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2", "cp-1"))
    return made


def test_the_file_to_the_letter(feature: Feature) -> None:
    """Fields in the order of the specification, a checkpoint per line, and nothing else beside it."""
    assert feature.develop("--strategy", "subagent").code == 0
    lines = feature.state_path.read_text().splitlines()
    state = feature.state
    assert lines == [
        "phase: DONE",
        "strategy: subagent",
        'feature: "real-time chat"',
        f'started_at: "{state["started_at"]}"',
        f'updated_at: "{state["updated_at"]}"',
        "checkpoints:",
        "  cp-1: { status: passed, iteration: 1 }",
        "  cp-2: { status: passed, iteration: 1 }",
    ]
    assert [path.name for path in feature.state_path.parent.iterdir()] == ["state.yaml"]


def test_what_it_says_at_each_moment(feature: Feature) -> None:
    """Each agent finds the phase that it works in, and its checkpoint in progress."""
    feature.play("cp-1.1", "print('not yet')")
    feature.settle(
        cp("cp-1", validate=f"cp {feature.state_path} {feature.out}/validated; test -e cp-1.txt"),
        cp("cp-2", "cp-1"),
    )
    assert feature.develop().code == 0
    seen = [(start.who, start.known) for start in feature.starts()]
    for who, state in seen:
        check_shape(state)
        assert state["phase"] == (who if who.isupper() else "IMPLEMENT")
        assert state["feature"] == FEATURE
    marks = [
        {
            name: (c["status"], c["iteration"])
            for name, c in (state.get("checkpoints") or {}).items()
        }
        for _who, state in seen
    ]
    working, waiting = "in_progress", ("pending", 0)
    assert marks[2:] == [
        {"cp-1": (working, 1), "cp-2": waiting},
        {"cp-1": (working, 2), "cp-2": waiting},
        {"cp-1": ("passed", 2), "cp-2": (working, 1)},
        {"cp-1": ("passed", 2), "cp-2": ("passed", 1)},
    ]
    assert marks[0] == {}
    assert ["strategy" in state and bool(state["strategy"]) for _who, state in seen] == [
        False, False, True, True, True, True,
    ]  # fmt: skip
    validated = (feature.out / "validated").read_text()
    assert "cp-1: { status: passed, iteration: 2 }" in validated, "the last one is that of MERGE"


def test_the_times(feature: Feature) -> None:
    """`started_at` stays, `updated_at` moves on; both are instants."""
    assert feature.develop().code == 0
    states = [start.known for start in feature.starts()]
    assert len({state["started_at"] for state in states}) == 1
    times = [datetime.fromisoformat(state["updated_at"]) for state in states]
    assert times == sorted(times)
    assert times[0] >= datetime.fromisoformat(states[0]["started_at"])


# five phases; start and pass of each checkpoint; each failed iteration; an escalation
@pytest.mark.parametrize(
    ("plays", "code", "writes"),
    [
        ({}, 0, 5 + 2 + 2),
        ({"cp-1.1": "pass"}, 0, 5 + 3 + 2),
        ({"cp-1.1": "pass", "cp-1.2": "pass", "cp-2.1": "pass"}, 0, 5 + 4 + 3),
        ({"cp-2": "pass"}, 3, 3 + 2 + 4),
        ({"REVIEW.1": "pass"}, 0, 5 + 2 + 2),
    ],
    ids=["straight", "one failure", "three failures", "escalated", "a review sent back"],
)
def test_it_is_written_at_boundaries_only(
    feature: Feature, plays: dict[str, str], code: int, writes: int
) -> None:
    """As often as there are phase changes and iteration boundaries, not more and not less."""
    for who, play in plays.items():
        feature.play(who, play)
    watcher = Writes(feature)
    done = feature.develop()
    count = watcher.count()
    assert done.code == code, done.said
    assert count == writes, feature.state_path.read_text()


def test_boundaries_side_by_side(feature: Feature) -> None:
    """Side by side, too, each boundary is written once."""
    feature.settle(*(cp(f"cp-{n}") for n in range(1, 5)))
    feature.play("cp-3.1", "pass")
    watcher = Writes(feature)
    done = feature.develop("--jobs", "4")
    assert (watcher.count(), done.code) == (5 + 4 * 2 + 1, 0)
    assert feature.checkpoints["cp-3"] == ("passed", 2)


def test_looking_writes_nothing(feature: Feature) -> None:
    """`status`, `resume --json` and a refused command leave the file as it is."""
    feature.play("cp-2", "hold('go')")
    going = feature.start()
    feature.begun("cp-2")
    watcher = Writes(feature)
    assert feature.box.segue("status", "--json").code == 0
    assert feature.box.segue("resume", "--json").code == 0
    assert feature.develop().code in (2, 3), "it runs already"
    assert watcher.count() == 0
    feature.box.release("go")
    assert going.end().code == 3, "cp-2 was never made"


ADDED = """\
# looked at by kim on Monday
ticket: SHOP-42
notes:
  # why
  - keep the old API
"""


def with_hints(text: str) -> str:
    """The state file with a person's comments and keys in all places."""
    text = ADDED + text.replace("phase: IMPLEMENT", "phase: IMPLEMENT   # nearly there")
    return text.replace("  cp-2:", "  # cp-2 is for Lee\n  cp-2:") + "reviewer: Lee # on Friday\n"


HINTS = [*ADDED.splitlines(), "  # cp-2 is for Lee", "reviewer: Lee # on Friday"]


def test_comments_and_keys_survive_a_resume(feature: Feature) -> None:
    """What a person added while nothing ran is there at the end."""
    feature.play("cp-2", "print('no'); sys.exit(1)")
    assert feature.develop().code == 3
    feature.put(with_hints(feature.state_path.read_text()))
    feature.unplay("cp-2")
    done = feature.go_on("--on-escalated", "retry")
    assert done.code == 0, done.said
    text = feature.state_path.read_text()
    for line in HINTS:
        assert line in text.splitlines(), text
    assert "# nearly there" in text
    assert feature.state["ticket"] == "SHOP-42"
    assert feature.state["phase"] == "DONE"


def test_comments_and_keys_survive_that_are_added_meanwhile(feature: Feature) -> None:
    """What a person added while it ran is there after the next boundary."""
    feature.play("cp-1", "hold('go'); default()")
    going = feature.start()
    feature.begun("cp-1")
    feature.put(with_hints(feature.state_path.read_text()))
    feature.box.release("go")
    assert going.end().code == 0
    text = feature.state_path.read_text()
    for line in HINTS:
        assert line in text.splitlines(), text
    assert feature.state["phase"] == "DONE"


def test_an_extra_field_of_a_checkpoint_survives(feature: Feature) -> None:
    """Also one inside of a checkpoint's own entry."""
    feature.play("cp-1", "hold('go'); default()")
    going = feature.start()
    feature.begun("cp-1")
    text = feature.state_path.read_text()
    feature.put(text.replace("iteration: 0 }", "iteration: 0, owner: lee }"))
    feature.box.release("go")
    assert going.end().code == 0
    assert feature.state["checkpoints"]["cp-2"]["owner"] == "lee"
    assert feature.checkpoints["cp-2"] == ("passed", 1)


def test_it_says_nothing_about_why(feature: Feature) -> None:
    """No feedback, no design text: what a validation said is nowhere in the file."""
    feature.settle(cp("cp-1", validate="echo S3CRET-FEEDBACK; false"))
    assert feature.develop().code == 3
    assert "S3CRET" not in feature.state_path.read_text()
    assert "simple" not in feature.state_path.read_text()
    assert len(feature.state_path.read_text().splitlines()) <= 8


def test_it_is_whole_at_every_moment(feature: Feature) -> None:
    """A reader that looks all the time never sees half a file."""
    going = feature.start()
    seen = set()

    def is_over() -> bool:
        if feature.state_path.exists():
            text = feature.state_path.read_text()
            check_shape(feature.state)
            assert text.endswith("\n")
            seen.add(text)
        return going.process.poll() is not None

    until(is_over, "its end")
    assert going.end().code == 0
    assert len(seen) >= 3
