"""A feature goes through its five phases, from a sentence to done."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, check_shape, cp


@pytest.fixture
def feature(box: Box) -> Feature:
    """Three checkpoints, the last of which needs the first."""
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2"), cp("cp-3", "cp-1"))
    return made


def test_the_phases_in_order(feature: Feature) -> None:
    """Design, review, the checkpoints, the merge; then it is done, exit 0."""
    done = feature.develop()
    assert done.code == 0, done.said
    who = feature.who
    assert (who[:2], sorted(who[2:-1]), who[-1]) == (
        ["DESIGN", "REVIEW"], ["cp-1", "cp-2", "cp-3"], "MERGE",
    )  # fmt: skip
    assert who.index("cp-3") > who.index("cp-1"), "a dependant comes after what it needs"
    assert [start.phase for start in feature.starts()] == [
        "DESIGN",
        "REVIEW",
        *["IMPLEMENT"] * 3,
        "MERGE",
    ]
    check_shape(feature.state)
    assert feature.state["phase"] == "DONE"
    assert feature.state["feature"] == FEATURE
    assert feature.checkpoints == dict.fromkeys(("cp-1", "cp-2", "cp-3"), ("passed", 1))
    assert list(feature.checkpoints) == ["cp-1", "cp-2", "cp-3"]
    assert feature.box.left_behind() == {}


def test_what_an_agent_finds_in_its_environment(feature: Feature) -> None:
    """Phase and design document always; checkpoint and iteration where there are some."""
    feature.play("cp-2.1", "print('not yet')")
    assert feature.develop().code == 0
    assert {start.target for start in feature.starts()} == {str(feature.design)}
    for start in feature.starts():
        is_loop = start.phase == "IMPLEMENT"
        assert (start.checkpoint is not None, start.iteration is not None) == (is_loop, is_loop)
    assert [start.iteration for start in feature.starts("cp-2")] == ["1", "2"]
    assert [start.iteration for start in feature.starts("cp-1")] == ["1"]
    assert len({start.run for start in feature.starts()}) == 7


def test_what_an_agent_is_told(feature: Feature) -> None:
    """The request, where the document is, what the checkpoint is and how it is validated."""
    feature.settle(cp("cp-1", description="The store keeps messages"), cp("cp-2"))
    assert feature.develop().code == 0
    for start in feature.starts():
        assert FEATURE in start.prompt
        assert str(feature.design) in start.prompt
    (review,) = feature.starts("REVIEW")
    assert "```yaml checkpoints" in review.prompt
    (first,) = feature.starts("cp-1")
    assert "The store keeps messages" in first.prompt
    assert "test -e 'cp-1.txt'" in first.prompt


def test_which_iteration_it_is_stands_in_the_prompt_too(feature: Feature) -> None:
    """An agent that reads its prompt and one that reads its environment know the same."""
    feature.play("cp-2.1", "print('not yet')")
    assert feature.develop().code == 0
    prompts = [start.prompt for start in feature.starts("cp-2")]
    assert ["iteration 1 of 3" in prompt for prompt in prompts] == [True, False]
    assert ["iteration 2 of 3" in prompt for prompt in prompts] == [False, True]


def test_the_events(feature: Feature) -> None:
    """JSON lines with `event` and `at`; tasks by their checkpoints; the last one sums up."""
    done = feature.develop()
    assert all(event["event"] and event["at"] for event in done.events)
    completed = done.tasks("task_completed")
    assert {"cp-1", "cp-2", "cp-3"} <= set(completed)
    assert done.of("task_started", "cp-3")[0]["at"] >= done.of("task_completed", "cp-1")[0]["at"]
    last = done.finished
    assert (sorted(last["completed"]), last["exit"]) == (["cp-1", "cp-2", "cp-3"], 0)
    assert (last["failed"], last["skipped"], last["parked"], last["waiting"]) == ([], [], [], [])


def test_words_instead_of_json(feature: Feature) -> None:
    """Plain lines in a pipe: each phase and each checkpoint is named; no escape codes."""
    done = feature.box.segue("develop", FEATURE)
    assert done.code == 0, done.said
    for word in ("DESIGN", "REVIEW", "IMPLEMENT", "MERGE", "DONE", "cp-1", "cp-2", "cp-3"):
        assert word in done.said
    assert "\x1b" not in done.said


def test_the_second_run_is_a_second_conversation(feature: Feature) -> None:
    """The review does not continue the conversation that wrote the design."""
    assert feature.develop().code == 0
    (design,), (review,) = feature.starts("DESIGN"), feature.starts("REVIEW")
    assert design.conversation != review.conversation


def test_a_design_that_was_not_written_is_no_design(feature: Feature) -> None:
    """The agent says that it is done, but there is no document: not believed, not gone on with."""
    feature.play("DESIGN", "print('The design is written.')")
    done = feature.develop()
    assert done.code in (1, 3), done.said
    assert "REVIEW" not in feature.who
    assert feature.state["phase"] == "DESIGN"
    assert "real-time-chat.md" in done.said


def test_an_agent_that_fails_in_design(feature: Feature) -> None:
    """Its failure is told, the place is kept, and the next command goes on from there."""
    feature.play("DESIGN", "print('out of ideas'); sys.exit(7)")
    done = feature.develop()
    assert done.code in (1, 3), done.said
    assert "out of ideas" in done.said or "7" in done.said
    assert feature.state["phase"] == "DESIGN"
    feature.unplay("DESIGN")
    assert feature.go_on().code == 0
    assert feature.state["phase"] == "DONE"


def test_the_folder_around_is_the_project(feature: Feature) -> None:
    """Started in a folder below, the state and the documents are still the project's."""
    feature.box.repository()
    below = feature.root / "src/deep"
    below.mkdir(parents=True)
    done = feature.develop(cwd=below)
    assert done.code == 0, done.said
    assert feature.state["phase"] == "DONE"
    assert feature.design.exists()
    assert list(below.iterdir()) == []


def test_a_scenario_plays_it(box: Box) -> None:
    """The `script` agent: no program of one's own, and the same end."""
    box.scripted(
        "[design]\nwrite docs/design/real-time-chat.md # Design\n"
        "[review]\nappend docs/design/real-time-chat.md ```yaml checkpoints\n"
        'append docs/design/real-time-chat.md "- {id: cp-1, description: a, validate: test -e one, files: [one]}"\n'
        'append docs/design/real-time-chat.md "- {id: cp-2, description: b, validate: test -e two, files: [two]}"\n'
        "append docs/design/real-time-chat.md ```\n"
        "[cp-1]\nwrite one 1\n[cp-2 1]\nsay not yet\n[cp-2 2]\nwrite two 2\n[merge]\nappend log merged\n"
    )
    done = box.segue("develop", FEATURE, "--json")
    assert done.code == 0, done.said
    text = (box.root / ".develop-workflow/state.yaml").read_text()
    assert "phase: DONE" in text
    assert "cp-1: { status: passed, iteration: 1 }" in text
    assert "cp-2: { status: passed, iteration: 2 }" in text
    assert (box.root / "log").read_text() == "merged\n"


def test_another_agent_by_its_name(feature: Feature) -> None:
    """`--agent` says who works; the default one is not started."""
    more = feature.root / "segue.toml"
    text = more.read_text()
    more.write_text(
        text.replace('agent = "mine"', 'agent = "nobody"', 1)
        + '\n[agents.nobody]\nkind = "command"\ncommand = ["false"]\n'
    )
    assert feature.develop("--agent", "mine").code == 0
    assert feature.state["phase"] == "DONE"


def test_the_agent_asks(feature: Feature) -> None:
    """A question of the design waits for a person: exit 3, the place is kept, nothing is decided."""
    feature.play(
        "DESIGN.1",
        "n = env['SEGUE_NONCE']\nprint(f'[USER_QUESTION {n}]\\ncategory: choice\\nquestion: Which database?\\n"
        "options:\\n  - PostgreSQL\\n  - SQLite\\n[/USER_QUESTION]')",
    )
    done = feature.develop()
    assert done.code == 3, done.said
    assert "Which database?" in done.of("gate_opened")[0]["text"]
    assert feature.state["phase"] == "DESIGN"
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("develop", "waiting")
    assert "Which database?" in plan["gates"][0]["text"]


@pytest.mark.parametrize(
    "args", [[], ["", "--json"], ["   "], ["--strategy", "magic", "x"], ["--jobs", "0", "x"]]
)
def test_bad_usage(feature: Feature, args: list[str]) -> None:
    """No feature, an empty one, an unknown strategy: exit 2 in words, nothing is begun."""
    done = feature.box.segue("develop", *args)
    assert done.code == 2, done.said
    assert done.said.strip()
    assert not feature.state_path.parent.exists()
    assert feature.who == []
