"""Going on by phase, what is reported before, and what is never swept away."""

from __future__ import annotations

import re

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, cp

STATE = """\
phase: {phase}
{strategy}feature: "{feature}"
started_at: "2026-02-16T10:00:00"
updated_at: "2026-02-16T11:30:00"
"""
MARKS = """\
checkpoints:
  cp-1: { status: passed, iteration: 2 }
  cp-2: { status: in_progress, iteration: 1 }
  cp-3: { status: pending, iteration: 0 }
"""
SESSION = "이전 세션: 'real-time chat', Phase {}"
LINE = "Checkpoints: cp-1 passed, cp-2 in_progress (iter 1/3), cp-3 pending"
ANEW = "이전 완료. 새로 시작합니다."


@pytest.fixture
def feature(box: Box) -> Feature:
    """Three checkpoints; a state file is written by hand: nothing else is known of it."""
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2"), cp("cp-3", "cp-1"))
    return made


def found(feature: Feature, phase: str, marks: str = MARKS, name: str = FEATURE) -> bytes:
    """A state file in this phase, with its document."""
    has_marks = phase in ("IMPLEMENT", "MERGE", "DONE")
    strategy = "strategy: subagent\n" if has_marks else ""
    feature.design.parent.mkdir(parents=True, exist_ok=True)
    text = "# Design\n\n"
    if has_marks:
        text += "```yaml checkpoints\n" + (feature.out / "block").read_text() + "\n```\n"
        for part in ("cp-1", "cp-2", "cp-3"):
            if f"{part}: {{ status: passed" in marks:
                (feature.root / f"{part}.txt").write_text("made\n")
    if phase != "DESIGN":
        feature.design.write_text(text)
    head = STATE.format(phase=phase, strategy=strategy, feature=name)
    return feature.put(head + (marks if has_marks else ""))


ALL = MARKS.replace("in_progress, iteration: 1", "passed, iteration: 1").replace(
    "pending, iteration: 0", "passed, iteration: 3"
)


@pytest.mark.parametrize(
    ("phase", "who"),
    [
        ("DESIGN", ["DESIGN", "REVIEW", "cp-1", "cp-2", "cp-3", "MERGE"]),
        ("REVIEW", ["REVIEW", "cp-1", "cp-2", "cp-3", "MERGE"]),
        ("IMPLEMENT", ["cp-2", "cp-3", "MERGE"]),
        ("MERGE", ["MERGE"]),
    ],
)
def test_the_table(feature: Feature, phase: str, who: list[str]) -> None:
    """DESIGN, REVIEW, MERGE from their beginning; IMPLEMENT without what has passed."""
    found(feature, phase, ALL if phase == "MERGE" else MARKS)
    done = feature.go_on()
    assert done.code == 0, done.said
    assert sorted(feature.who) == sorted(who)
    assert feature.state["phase"] == "DONE"
    assert feature.state["started_at"] == "2026-02-16T10:00:00"
    if phase in ("IMPLEMENT", "MERGE"):
        assert feature.checkpoints["cp-1"] == ("passed", 2), "as it was"


@pytest.mark.parametrize("iteration", [1, 2, 3])
def test_the_one_in_progress_goes_on_at_its_iteration(feature: Feature, iteration: int) -> None:
    """It is neither counted up nor begun at one again."""
    found(feature, "IMPLEMENT", MARKS.replace("iteration: 1", f"iteration: {iteration}"))
    assert feature.go_on().code == 0
    (start,) = feature.starts("cp-2")
    assert start.iteration == str(iteration)
    assert feature.checkpoints["cp-2"] == ("passed", iteration)


def test_the_last_iteration_is_the_last_one(feature: Feature) -> None:
    """Resumed in its third one and failed: escalated, without three more."""
    found(feature, "IMPLEMENT", MARKS.replace("iteration: 1", "iteration: 3"))
    feature.play("cp-2", "pass")
    assert feature.go_on().code == 3
    assert [start.iteration for start in feature.starts("cp-2")] == ["3"]
    assert feature.checkpoints["cp-2"] == ("escalated", 3)


@pytest.mark.parametrize("phase", ["DESIGN", "REVIEW", "IMPLEMENT", "MERGE"])
def test_what_is_reported_before(feature: Feature, phase: str) -> None:
    """The two lines to the letter, in Korean; then it goes on."""
    found(feature, phase)
    done = feature.box.segue("develop", "--resume", "--lang", "ko")
    lines = [line.strip() for line in done.said.splitlines()]
    assert SESSION.format(phase) in lines, done.said
    assert (LINE in lines) == (phase in ("IMPLEMENT", "MERGE")), done.said
    assert not any(line.startswith("Checkpoints:") for line in lines if line != LINE)


def test_the_report_names_the_escalated(feature: Feature) -> None:
    """Every state has its word; only the one in progress its iteration."""
    found(
        feature, "IMPLEMENT", MARKS.replace("in_progress, iteration: 1", "escalated, iteration: 3")
    )
    done = feature.box.segue("develop", "--resume", "--lang", "ko")
    assert "Checkpoints: cp-1 passed, cp-2 escalated, cp-3 pending" in done.said
    assert done.code == 3


def test_the_report_in_english(feature: Feature) -> None:
    """No Korean letter, the same facts."""
    found(feature, "IMPLEMENT")
    done = feature.box.segue("develop", FEATURE, "--lang", "en")
    assert done.code == 3
    assert not any("가" <= letter <= "힣" for letter in done.said)
    assert FEATURE in done.said and "IMPLEMENT" in done.said and LINE in done.said


@pytest.mark.parametrize("words", [(), (FEATURE,), ("dark mode",)])
@pytest.mark.parametrize("phase", ["DESIGN", "IMPLEMENT"])
def test_without_an_answer_nothing_is_touched(
    feature: Feature, phase: str, words: tuple[str, ...]
) -> None:
    """No terminal, no flag: exit 3, the report, how to answer; the file and the project as they were."""
    before = found(feature, phase)
    files = sorted(path.name for path in feature.root.iterdir() if path.name != ".segue")
    done = feature.box.segue("develop", *words, "--lang", "ko")
    assert done.code == 3, done.said
    assert SESSION.format(phase) in done.said
    assert "--resume" in done.said and "--fresh" in done.said
    assert feature.state_path.read_bytes() == before
    assert feature.who == []
    assert sorted(path.name for path in feature.root.iterdir() if path.name != ".segue") == files


def test_without_an_answer_in_json(feature: Feature) -> None:
    """`--json`: nothing but JSON on standard output, and it says that a person is needed."""
    before = found(feature, "IMPLEMENT")
    done = feature.develop()
    assert done.code == 3
    assert all(line.startswith("{") for line in done.out.splitlines()), done.out
    assert "--resume" in done.said
    assert feature.state_path.read_bytes() == before


def test_another_feature_with_resume(feature: Feature) -> None:
    """What is there is not given to another request: refused in words, nothing is swept away."""
    before = found(feature, "IMPLEMENT")
    done = feature.develop("--resume", feature="dark mode")
    assert done.code in (2, 3), done.said
    assert FEATURE in done.said
    assert feature.state_path.read_bytes() == before
    assert feature.who == []


def test_the_same_feature_with_resume(feature: Feature) -> None:
    """The request may be said again."""
    found(feature, "MERGE", ALL)
    assert feature.develop("--resume").code == 0
    assert feature.who == ["MERGE"]


def test_fresh_begins_at_the_beginning(feature: Feature) -> None:
    """`--fresh`: the file is removed, another one begins; the design is written again."""
    found(feature, "IMPLEMENT")
    done = feature.develop("--fresh")
    assert done.code == 0, done.said
    assert feature.who[:2] == ["DESIGN", "REVIEW"]
    assert feature.state["started_at"] != "2026-02-16T10:00:00"
    assert feature.checkpoints["cp-1"] == ("passed", 1)


def test_fresh_with_another_feature(feature: Feature) -> None:
    """Explicitly from the start: the new request, with a document of its own; the old one stays."""
    found(feature, "IMPLEMENT")
    old = feature.design.read_bytes()
    done = feature.develop("--fresh", feature="dark mode")
    assert done.code == 0, done.said
    assert feature.state["feature"] == "dark mode"
    assert feature.starts("DESIGN")[0].target == str(feature.root / "docs/design/dark-mode.md")
    assert feature.design.read_bytes() == old


@pytest.mark.parametrize("args", [("--resume", "--fresh"), ("--fresh",)])
def test_flags_that_say_nothing(feature: Feature, args: tuple[str, ...]) -> None:
    """Both at once, or a new one without a request: exit 2 and nothing is touched."""
    before = found(feature, "IMPLEMENT")
    done = feature.develop(*args, feature=None if args == ("--fresh",) else FEATURE)
    assert done.code == 2 or (args == ("--fresh",) and feature.state["feature"] == FEATURE), (
        done.said
    )
    if done.code == 2:
        assert feature.state_path.read_bytes() == before
        assert feature.who == []


def test_resume_with_nothing_there(feature: Feature) -> None:
    """Without a request there is nothing to begin: exit 2; with one a new workflow begins."""
    done = feature.go_on()
    assert done.code == 2, done.said
    assert feature.who == []
    assert not feature.state_path.exists()
    assert feature.develop("--resume").code == 0


@pytest.mark.parametrize("words", [(FEATURE,), ("dark mode",), (FEATURE, "--resume")])
def test_done_begins_anew(feature: Feature, words: tuple[str, ...]) -> None:
    """The last one is complete: said to the letter, the file is replaced, no question."""
    found(feature, "DONE", ALL)
    done = feature.box.segue("develop", *words, "--lang", "ko")
    assert done.code == 0, done.said
    assert ANEW in [line.strip() for line in done.said.splitlines()]
    assert feature.who[0] == "DESIGN"
    assert feature.state["feature"] == words[0]
    assert feature.state["started_at"] != "2026-02-16T10:00:00"


@pytest.mark.parametrize("json", [True, False])
def test_done_and_resume_says_so(feature: Feature, json: bool) -> None:
    """As after a death just behind DONE: it is complete, exit 0; nothing runs, nothing is touched."""
    before = found(feature, "DONE", ALL)
    done = feature.go_on() if json else feature.box.segue("develop", "--resume", "--lang", "ko")
    assert done.code == 0, done.said
    if json:
        assert (done.json["event"], done.json["phase"], done.json["exit"]) == (
            "finished",
            "DONE",
            0,
        )
        assert done.json["completed"] == ["cp-1", "cp-2", "cp-3"]
    assert (feature.who, feature.state_path.read_bytes()) == ([], before)


def test_a_finished_feature_set_back_is_not_done(feature: Feature) -> None:
    """One checkpoint's work is removed and its mark set back: done again, and validated."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    assert feature.develop().code == 0
    (feature.root / "cp-2.txt").unlink()
    text = feature.state_path.read_text().replace("phase: DONE", "phase: IMPLEMENT")
    feature.put(re.sub(r"cp-2: .*", "cp-2: { status: pending, iteration: 0 }", text))
    done = feature.go_on()
    assert done.code == 0, done.said
    assert feature.who[-2:] == ["cp-2", "MERGE"]
    assert (feature.root / "cp-2.txt").exists()
    assert feature.state["phase"] == "DONE"


def test_done_in_english(feature: Feature) -> None:
    """Said without a Korean letter."""
    found(feature, "DONE", ALL)
    done = feature.box.segue("develop", FEATURE, "--lang", "en")
    assert done.code == 0
    assert not any("가" <= letter <= "힣" for letter in done.said)
    assert feature.who[0] == "DESIGN"


def test_segues_memory_may_be_deleted(feature: Feature) -> None:
    """`.segue/` is gone in the middle of a loop: the state file alone says where to go on."""
    feature.play("cp-2.1", "pass")
    feature.play("cp-2.2", "hold('never')")
    feature.start("--jobs", "1")
    feature.begun("cp-2", 2)
    feature.box.power_cut()
    before = feature.checkpoints
    feature.box.forget()
    done = feature.go_on("--jobs", "1")
    assert done.code == 0, done.said
    assert before["cp-2"] == ("in_progress", 2)
    assert feature.starts("cp-2")[2].iteration == "2"
    assert feature.checkpoints["cp-2"] == ("passed", 2)
    assert [len(feature.starts(who)) for who in ("DESIGN", "REVIEW", "cp-1")] == [1, 1, 1]


@pytest.mark.parametrize("what", ["document", "block"])
def test_a_document_that_is_gone(feature: Feature, what: str) -> None:
    """The checkpoints cannot be known any more: said in words, the state is kept."""
    before = found(feature, "IMPLEMENT")
    if what == "document":
        feature.design.unlink()
    else:
        feature.design.write_text("# Design\n")
    done = feature.go_on()
    assert done.code in (2, 3), done.said
    assert "real-time-chat.md" in done.said
    assert feature.state_path.read_bytes() == before
    assert "MERGE" not in feature.who
