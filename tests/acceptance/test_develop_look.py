"""What other commands say about a feature, and the line in `.gitignore`."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, cp

LINE = ".develop-workflow/"


@pytest.fixture
def feature(box: Box) -> Feature:
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2", "cp-1"))
    return made


def interrupted(feature: Feature) -> None:
    """Stopped by a power cut in the first iteration of cp-2."""
    feature.play("cp-2.1", "hold('never')")
    feature.start()
    feature.begun("cp-2")
    feature.box.power_cut()


def test_status_while_it_runs(feature: Feature) -> None:
    """Kind, state and counts; the path is that of the state file."""
    feature.play("cp-2", "hold('go'); default()")
    going = feature.start()
    feature.begun("cp-2")
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("develop", "running")
    assert plan["path"] == str(feature.state_path)
    assert plan["counts"]["in_progress"] == 1 and plan["counts"]["completed"] == 1
    assert plan["gates"] == plan["parks"] == []
    feature.box.release("go")
    assert going.end().code == 0
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert (plan["state"], plan["counts"]["completed"]) == ("finished", 2)


def test_status_of_what_was_interrupted(feature: Feature) -> None:
    """Told as interrupted, in words as well, with how to go on."""
    interrupted(feature)
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("develop", "interrupted")
    done = feature.box.segue("status")
    assert done.code == 0
    assert FEATURE in done.out or "state.yaml" in done.out
    assert "segue develop --resume" in done.out or "segue resume" in done.out


def test_resume_finds_it(feature: Feature) -> None:
    """`segue resume --json`: kind, why, what continuing would do; nothing is done."""
    interrupted(feature)
    before = feature.state_path.read_bytes()
    (found,) = feature.box.segue("resume", "--json").json["found"]
    assert (found["kind"], found["resumable"]) == ("develop", True)
    assert found["why"] and "cp-2" in found["next"]
    assert feature.box.segue("resume").code == 3, "it asks, and there is no terminal"
    assert feature.box.segue("resume", "--status").code == 0
    assert feature.state_path.read_bytes() == before
    assert len(feature.who) == 4


def test_resume_continues_it(feature: Feature) -> None:
    """`segue resume --continue` is `segue develop --resume`."""
    interrupted(feature)
    done = feature.box.segue("resume", "--continue", "--json")
    assert done.code == 0, done.said
    assert feature.who == ["DESIGN", "REVIEW", "cp-1", "cp-2", "cp-2", "MERGE"]
    assert feature.state["phase"] == "DONE"
    (found,) = feature.box.segue("resume", "--json").json["found"]
    assert found["resumable"] is False


def test_resume_of_an_escalated_one(feature: Feature) -> None:
    """Without a terminal it waits for a person: exit 3."""
    feature.play("cp-1", "pass")
    assert feature.develop().code == 3
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert plan["state"] in ("waiting", "failed")
    assert feature.box.segue("resume", "--continue", wait_s=90).code == 3
    assert len(feature.starts("cp-1")) == 3


def test_segue_alone_names_it(feature: Feature) -> None:
    """`segue` shows what can be done here: going on with the feature."""
    interrupted(feature)
    done = feature.box.segue()
    assert done.code == 0
    assert "develop" in done.out


# --- .gitignore


def test_the_line_is_added_and_told(feature: Feature) -> None:
    """In a git repository, on a pipe: by itself, and it is said."""
    feature.box.repository()
    done = feature.box.segue("develop", FEATURE)
    assert done.code == 0, done.said
    assert ".gitignore" in done.said and LINE in done.said
    assert (feature.root / ".gitignore").read_text() == LINE + "\n"
    assert ".develop-workflow" not in feature.box.git("status", "--porcelain")
    assert ".develop-workflow" not in feature.box.git("ls-files")


def test_it_is_added_once(feature: Feature) -> None:
    """A second feature adds nothing and says nothing."""
    feature.box.repository()
    assert feature.develop().code == 0
    done = feature.box.segue("develop", "dark mode")
    assert done.code == 0, done.said
    assert ".gitignore" not in done.said
    assert (feature.root / ".gitignore").read_text().count("develop-workflow") == 1


@pytest.mark.parametrize(
    "text", [LINE + "\n", "/.develop-workflow/\n", ".develop-workflow\n", ".*\n"]
)
def test_what_is_ignored_already_is_left_alone(feature: Feature, text: str) -> None:
    """However it is ignored."""
    (feature.root / ".gitignore").write_text(text)
    feature.box.repository()
    assert feature.develop().code == 0
    assert (feature.root / ".gitignore").read_text() == text


@pytest.mark.parametrize("text", ["*.pyc", "*.pyc\n# mine\n", "*.pyc\r\n"])
def test_what_is_there_stays(feature: Feature, text: str) -> None:
    """Lines of a person are kept; a last line without an end does not swallow ours."""
    (feature.root / ".gitignore").write_bytes(text.encode())
    feature.box.repository()
    assert feature.develop().code == 0
    now = (feature.root / ".gitignore").read_bytes().decode()
    assert now.startswith(text)
    assert now.splitlines() == [*text.splitlines(), LINE]


def test_outside_of_a_repository_there_is_none(feature: Feature) -> None:
    """No repository, no `.gitignore`, and nothing is said about it."""
    done = feature.box.segue("develop", FEATURE)
    assert done.code == 0
    assert not (feature.root / ".gitignore").exists()
    assert ".gitignore" not in done.said
