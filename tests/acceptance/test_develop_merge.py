"""The end of a feature: all validations on the whole, the merge, and a person's approval before."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.feature import Feature, cp


@pytest.fixture
def feature(box: Box) -> Feature:
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2", "cp-1"))
    return made


def clashing(feature: Feature) -> None:
    """cp-1 is good alone; with cp-2 beside it, it needs a mend."""
    check = "test -e cp-1.txt && { test ! -e cp-2.txt || test -e mend.txt || { echo THEY-CLASH; false; }; }"
    feature.settle(cp("cp-1", validate=check), cp("cp-2", "cp-1"))


def test_all_validations_run_again(feature: Feature) -> None:
    """Each at its checkpoint, and each on the whole in the project's folder."""
    feature.settle(
        *(cp(f"cp-{n}", validate=f"echo cp-{n} >> {feature.out}/v; pwd >> {feature.out}/pwd; test -e cp-{n}.txt")
          for n in (1, 2))
    )  # fmt: skip
    feature.box.repository()
    feature.play("MERGE", f"make('{feature.out}/before', (OUT / 'v').read_text())")
    assert feature.develop().code == 0
    before = feature.box.notes("before")
    assert before.count("cp-1") >= 2 and before.count("cp-2") >= 2, "before the merge"
    assert set(feature.box.notes("pwd")[2:]) == {str(feature.root)}


def test_what_another_one_broke_goes_back_before_the_merge(feature: Feature) -> None:
    """Each passed alone; cp-1 is done again with its next iteration, and nothing is merged before."""
    clashing(feature)
    feature.box.repository()
    feature.play("cp-1.2", "make('mend.txt')")
    done = feature.develop()
    assert done.code == 0, done.said
    assert feature.who[-4:] == ["cp-1", "cp-2", "cp-1", "MERGE"]
    again = feature.starts("cp-1")[1]
    assert (again.phase, again.iteration) == ("IMPLEMENT", "2")
    assert "THEY-CLASH" in again.prompt
    assert again.known["phase"] == "IMPLEMENT"
    assert (feature.root / "mend.txt").exists(), "merged from its worktree"
    assert feature.state["phase"] == "DONE"
    assert feature.checkpoints == {"cp-1": ("passed", 2), "cp-2": ("passed", 1)}


def test_what_is_not_mended_escalates(feature: Feature) -> None:
    """It passes alone and never beside cp-2: a person is asked after the third; nothing was merged."""
    whole = feature.out / "whole"
    feature.settle(
        cp("cp-2", validate=f'test -n "$SEGUE_CHECKPOINT" || touch {whole}'),
        cp("cp-1", validate=f"test ! -e {whole} || {{ rm {whole}; echo THEY-CLASH; false; }}"),
    )
    done = feature.develop("--jobs", "1")
    assert done.code == 3, done.said
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "2", "3"]
    assert feature.checkpoints["cp-1"] == ("escalated", 3)
    assert "THEY-CLASH" in done.said
    assert "MERGE" not in feature.who


def test_a_merge_that_breaks_something_is_seen(feature: Feature) -> None:
    """All was well before it: validated after it as well, and it is told what it broke."""
    feature.play("MERGE.1", "Path('cp-1.txt').unlink()")
    feature.play("MERGE.2", "make('cp-1.txt')")
    done = feature.develop()
    assert done.code == 0, done.said
    assert "cp-1" in feature.starts("MERGE")[1].prompt
    assert (feature.root / "cp-1.txt").exists()


def test_a_merge_command_instead_of_the_agent(feature: Feature) -> None:
    """`--merge-command`: run by Segue in the project's folder, once."""
    done = feature.develop("--merge-command", f"pwd >> {feature.out}/merged")
    assert done.code == 0, done.said
    assert feature.box.notes("merged") == [str(feature.root)]
    assert feature.starts("MERGE") == []
    assert feature.state["phase"] == "DONE"


def test_a_merge_command_that_fails(feature: Feature) -> None:
    """Not done; told with its output; the next command may give a better one."""
    done = feature.develop("--merge-command", "echo NO-REMOTE; exit 4")
    assert done.code in (1, 3), done.said
    assert "NO-REMOTE" in done.said
    assert feature.state["phase"] == "MERGE"
    again = feature.go_on("--merge-command", f"echo yes >> {feature.out}/merged")
    assert again.code == 0, again.said
    assert feature.box.notes("merged") == ["yes"]


def test_no_merge_command_on_what_does_not_fit(feature: Feature) -> None:
    """A validation fails on the whole: nothing is merged by a command that would not look."""
    clashing(feature)
    done = feature.develop("--merge-command", f"echo yes >> {feature.out}/merged")
    assert done.code == 3, done.said
    assert feature.box.notes("merged") == []
    assert feature.state["phase"] == "IMPLEMENT"
    assert feature.checkpoints["cp-1"] == ("escalated", 3)


# --- a person approves the design


def test_the_design_waits_for_a_person(feature: Feature) -> None:
    """`--gates`: exit 3 after the design; shown by `status`; nothing is reviewed."""
    done = feature.develop("--gates")
    assert done.code == 3, done.said
    assert feature.who == ["DESIGN"]
    assert feature.state["phase"] == "DESIGN"
    assert "real-time-chat.md" in done.of("gate_opened")[0]["text"]
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("develop", "waiting")
    assert {"id", "kind", "task", "text"} <= plan["gates"][0].keys()
    again = feature.go_on()
    assert again.code == 3, again.said
    assert feature.who == ["DESIGN"], "a design that waits is not written again"


def test_approved_it_goes_on(feature: Feature) -> None:
    """`--approve`: with what the person changed in the document, and no second design."""
    assert feature.develop("--gates").code == 3
    feature.design.write_text("# Design\n\nBy Kim: keep it small.\n\n")
    done = feature.develop("--approve", feature=None)
    if done.code == 3:
        done = feature.go_on()
    assert done.code == 0, done.said
    assert feature.who == ["DESIGN", "REVIEW", "cp-1", "cp-2", "MERGE"]
    assert "By Kim: keep it small." in feature.design.read_text()


def test_an_approval_counts_once(feature: Feature) -> None:
    """Nothing waits: exit 2 in words, and nothing is begun."""
    done = feature.develop("--approve", feature=None)
    assert done.code == 2, done.said
    assert not feature.state_path.exists()
    assert feature.who == []


def test_a_gate_survives_death_and_loss(feature: Feature) -> None:
    """`.segue/` is gone: it is not taken for approved."""
    assert feature.develop("--gates").code == 3
    feature.box.forget()
    done = feature.go_on("--gates")
    assert done.code == 3, done.said
    assert "REVIEW" not in feature.who
