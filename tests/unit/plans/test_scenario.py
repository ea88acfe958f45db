"""Scenarios: what the lines mean, and what is wrong with them."""

from __future__ import annotations

import pytest

from segue.errors import Problem, UserError
from segue.plans.scenario import ARGUMENTS, parse

EXAMPLE = """# a night
say for everybody
[T-003]
say Reading the plan
wait 0.5s

write src/app.txt some text
append log.txt one more line
step 1
usage 1200 80 0.02
limit session_limit 2s
ask "Which database?" PostgreSQL "SQLite 3" default=PostgreSQL
[T-003 2]
fail the tests are red
[T-004]
crash
[T-005]
hang
[* 3]
say third time
"""


def verbs(task: str, attempt: int = 1) -> list[str]:
    return [act.verb for act in parse(EXAMPLE, "night.scenario").acts(task, attempt)]


def problems(text: str) -> list[Problem]:
    with pytest.raises(UserError) as caught:
        parse(text, "night.scenario")
    return caught.value.problems


def test_a_task_plays_its_own_part() -> None:
    """The lines under its heading, in order, each with its words and its place."""
    acts = parse(EXAMPLE, "night.scenario").acts("T-003", 1)
    assert [act.verb for act in acts] == [
        "say",
        "wait",
        "write",
        "append",
        "step",
        "usage",
        "limit",
        "ask",
    ]
    assert acts[0].rest == "Reading the plan"
    assert acts[2].words == ("src/app.txt", "some", "text")
    assert acts[7].words == ("Which database?", "PostgreSQL", "SQLite 3", "default=PostgreSQL")
    assert [act.line for act in acts] == [4, 5, 7, 8, 9, 10, 11, 12]


def test_an_attempt_may_have_a_part_of_its_own() -> None:
    """The second attempt fails; others play the general part of the task."""
    assert verbs("T-003", 2) == ["fail"]
    assert verbs("T-003", 3) == verbs("T-003", 1)


def test_other_tasks_play_what_stands_before_the_first_heading() -> None:
    """Lines for everybody are for the tasks without a part, and their attempts likewise."""
    assert verbs("T-099") == ["say"]
    found = parse(EXAMPLE, "night.scenario").acts("T-099", 3)
    assert [act.rest for act in found] == ["third time"]
    assert verbs("T-004") == ["crash"]


def test_an_empty_scenario_does_nothing() -> None:
    """No lines, no acts, no error; an empty part is a part."""
    assert parse("# nothing\n\n", "x").acts("T-1", 1) == ()
    assert parse("say x\n[T-1]\n", "x").acts("T-1", 1) == ()


def test_a_star_is_a_heading_for_everybody() -> None:
    """`[*]` is the same as no heading."""
    scenario = parse("[T-1]\nsay one\n[*]\nsay all\n", "x")
    assert [act.rest for act in scenario.acts("T-2", 1)] == ["all"]


def test_words_with_a_lone_quote_are_words() -> None:
    """A quote that does not end is part of the text."""
    acts = parse("say it's fine\n", "x").acts("T-1", 1)
    assert acts[0].rest == "it's fine"


@pytest.mark.parametrize(
    "line",
    [
        "sya hello",
        "wait",
        "wait soon",
        "wait 5",
        "wait 1s 2s",
        "write",
        "append",
        "step",
        "step 1 2",
        "step one",
        "usage 1",
        "usage 1 2 3 4",
        "usage many few",
        "usage 1 2 cheap",
        "limit",
        "limit session_limit",
        "limit session_limit soon",
        "ask",
        "crash now",
        "hang on",
    ],
)
def test_a_wrong_line_is_told_with_its_place(line: str) -> None:
    """An unknown verb, a missing word or a bad number names the file and the line."""
    found = problems(f"say fine\n\n{line}\n")
    assert [(p.code, p.file, p.line) for p in found] == [("bad_scenario", "night.scenario", 3)]
    assert found[0].hint


def test_a_misspelt_verb_gets_what_was_meant() -> None:
    """The nearest verb, or all of them."""
    assert problems("apend x y\n")[0].hint == "did you mean `append`?"
    assert all(verb in (problems("zzz\n")[0].hint or "") for verb in ARGUMENTS)


def test_every_wrong_line_is_told_at_once() -> None:
    """One reading finds everything."""
    assert [p.line for p in problems("sya x\nsay x\nwait\n[T-1]\ncrash now\n")] == [1, 3, 5]
