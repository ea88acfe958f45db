"""A person at a terminal decides: about escalations, about earlier work, about `.gitignore`."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, cp
from kit.terminal import Terminal

ASKED = "failed after"


@pytest.fixture
def feature(box: Box) -> Feature:
    """cp-1 fails; cp-2 is independent."""
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2"))
    made.play("cp-1", "print('no')")
    return made


def asked(feature: Feature, *args: str) -> Terminal:
    terminal = Terminal(feature.box, "develop", *(args or (FEATURE,)), "--lang", "en")
    terminal.expect(ASKED, wait_s=90)
    for word in ("retry", "edit", "skip", "stop"):
        terminal.expect(word)
    return terminal


def test_retry_from_one(feature: Feature) -> None:
    """Asked when all else is done; `retry` begins at iteration 1."""
    terminal = asked(feature)
    assert feature.checkpoints == {"cp-1": ("escalated", 3), "cp-2": ("passed", 1)}
    feature.unplay("cp-1")
    terminal.type("retry\r")
    assert terminal.end().code == 0
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "2", "3", "1"]
    assert feature.checkpoints["cp-1"] == ("passed", 1)
    assert feature.state["phase"] == "DONE"


@pytest.mark.parametrize("is_git", [False, True])
def test_edit_by_hand(feature: Feature, is_git: bool) -> None:
    """A person says `edit`, mends it in the project and says when it is done: validated, passed, no
    agent is started."""
    if is_git:
        (feature.root / ".gitignore").write_text(".develop-workflow/\n")
        feature.box.repository()
    terminal = asked(feature)
    terminal.type("edit\r")
    terminal.expect("then press Enter")
    (feature.root / "cp-1.txt").write_text("by hand\n")
    terminal.type("\r")
    done = terminal.end()
    assert done.code == 0, done.out
    assert len(feature.starts("cp-1")) == 3
    assert feature.checkpoints["cp-1"] == ("passed", 3)
    assert (feature.root / "cp-1.txt").read_text() == "by hand\n"


def test_skip(feature: Feature) -> None:
    """The others are merged without it; exit 1."""
    terminal = asked(feature)
    terminal.type("skip\r")
    assert terminal.end().code == 1
    assert feature.state["phase"] == "DONE"
    assert feature.checkpoints["cp-1"] == ("escalated", 3)


def test_stop_and_be_asked_again(feature: Feature) -> None:
    """`stop` keeps everything; resumed, the same question is asked, and an answer still counts."""
    terminal = asked(feature)
    terminal.type("stop\r")
    assert terminal.end().code in (1, 3)
    assert feature.state["phase"] == "IMPLEMENT"
    assert len(feature.starts("cp-1")) == 3
    feature.unplay("cp-1")
    again = asked(feature, "--resume")
    again.type("retry\r")
    assert again.end().code == 0
    assert feature.starts("cp-1")[3].iteration == "1"


def test_ctrl_c_at_the_question(feature: Feature) -> None:
    """Nothing is decided: 130, still escalated."""
    terminal = asked(feature)
    terminal.type("\x03")
    assert terminal.end().code in (3, 130)
    assert feature.checkpoints["cp-1"] == ("escalated", 3)
    assert feature.box.left_behind() == {}


def test_the_question_is_shown_once(feature: Feature) -> None:
    """The cursor stands at the prompt; nothing is printed behind it."""
    terminal = asked(feature)
    terminal.type("stop\r")
    shown = terminal.end().out
    question = shown[: shown.rindex("stop\n")] if "stop\n" in shown else shown
    assert question.count(ASKED) in (1, 2), "once as a question, perhaps once in the summary"


def test_a_wrong_word_is_asked_again(feature: Feature) -> None:
    """Nonsense decides nothing."""
    terminal = asked(feature)
    terminal.expect("> ")
    shown = terminal.text.count("> ")
    terminal.type("bake a cake\r")
    terminal.expect("> ", shown + 1)
    assert feature.checkpoints["cp-1"] == ("escalated", 3)
    assert len(feature.starts("cp-1")) == 3
    terminal.type("stop\r")
    terminal.end()


# --- earlier work


@pytest.fixture
def earlier(feature: Feature) -> Feature:
    """Interrupted in cp-1."""
    feature.play("cp-1.1", "hold('never')")
    feature.unplay("cp-1")
    feature.start("--jobs", "1")
    feature.begun("cp-1")
    feature.box.power_cut()
    return feature


def test_going_on_is_asked(earlier: Feature) -> None:
    """The report to the letter, then the question; 1 goes on."""
    terminal = Terminal(earlier.box, "develop", "--lang", "ko")
    terminal.expect(f"이전 세션: '{FEATURE}', Phase IMPLEMENT")
    terminal.expect("Checkpoints: cp-1 in_progress (iter 1/3), cp-2 pending")
    terminal.expect("이어서 진행")
    terminal.expect("처음부터")
    terminal.type("1\r")
    assert terminal.end().code == 0
    assert [start.iteration for start in earlier.starts("cp-1")] == ["1", "1"]
    assert len(earlier.starts("DESIGN")) == 1


def test_from_the_start_is_asked(earlier: Feature) -> None:
    """2 removes the file and begins anew, with the same request."""
    terminal = Terminal(earlier.box, "develop", FEATURE, "--lang", "ko")
    terminal.expect("처음부터")
    terminal.type("2\r")
    assert terminal.end().code == 0
    assert len(earlier.starts("DESIGN")) == 2


@pytest.mark.parametrize("keys", ["\x03", "\x04", "9\r\x03"])
def test_no_answer_changes_nothing(earlier: Feature, keys: str) -> None:
    """Ctrl-C, end of input, a wrong number: the file is as it was."""
    before = earlier.state_path.read_bytes()
    terminal = Terminal(earlier.box, "develop", "dark mode", "--lang", "ko")
    terminal.expect("처음부터")
    terminal.type(keys)
    assert terminal.end().code in (3, 130)
    assert earlier.state_path.read_bytes() == before
    assert len(earlier.who) == 3


def test_another_request_names_both(earlier: Feature) -> None:
    """Asked, not swept away: what is there is reported first."""
    terminal = Terminal(earlier.box, "develop", "dark mode", "--lang", "ko")
    text = terminal.expect("처음부터")
    assert f"이전 세션: '{FEATURE}'" in text
    terminal.type("2\r")
    assert terminal.end().code == 0
    assert earlier.state["feature"] == "dark mode"


# --- .gitignore, gates


@pytest.mark.parametrize("key", ["y", "n"])
def test_the_line_is_asked_about(feature: Feature, key: str) -> None:
    """On a terminal it is asked first; "no" leaves the file alone, and the work goes on."""
    feature.box.repository()
    feature.unplay("cp-1")
    terminal = Terminal(feature.box, "develop", FEATURE, "--lang", "en")
    terminal.expect(".gitignore")
    assert not (feature.root / ".gitignore").exists()
    terminal.type(f"{key}\r")
    assert terminal.end().code == 0
    assert (feature.root / ".gitignore").exists() == (key == "y")
    assert ".develop-workflow/state.yaml" not in feature.box.git("ls-files").split()


def test_the_design_is_approved_at_the_terminal(feature: Feature) -> None:
    """`--gates`: the document is named and asked about; what to change goes to the agent; then on."""
    feature.unplay("cp-1")
    terminal = Terminal(feature.box, "develop", FEATURE, "--gates", "--lang", "en")
    terminal.expect("real-time-chat.md", wait_s=90)
    terminal.expect("[approve]> ")
    assert feature.who == ["DESIGN"]
    terminal.type("keep it much smaller\r")
    feature.begun("DESIGN", 2)
    terminal.expect("[approve]> ", 2)
    assert "keep it much smaller" in feature.starts("DESIGN")[1].prompt
    terminal.type("approve\r")
    assert terminal.end().code == 0
    assert feature.who[:3] == ["DESIGN", "DESIGN", "REVIEW"]
