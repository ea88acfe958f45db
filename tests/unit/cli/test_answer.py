"""`segue answer`: an option, or a person's own words; the first answer counts."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell


def test_an_option_in_other_capitals_is_that_option(bench: Bench, segue: Shell) -> None:
    """The gate's own spelling is kept, and the next start is named."""
    gate = asked(bench)
    said = segue("answer", gate, "sqlite")
    assert (said.code, said.err) == (0, "")
    assert said.out == (
        f"{gate}: answered with “SQLite” — the work is not running now; to apply this, run:"
        " segue run PLAN.md\n"
    )


def test_a_program_reads_what_was_answered_and_that_it_waits(bench: Bench, segue: Shell) -> None:
    gate = asked(bench)
    told = segue("answer", gate, "PostgreSQL", "--json").json
    assert (told["gate"], told["answer"]) == (gate, "PostgreSQL")
    assert (told["waiting"], told["by_run"], told["work"]["kind"]) == (True, False, "tasklist")


def test_a_text_close_to_an_option_is_refused_with_a_suggestion(bench: Bench, segue: Shell) -> None:
    """Nothing is answered; --own-words sends it as it is."""
    gate = asked(bench)
    said = segue("answer", gate, "SQLight")
    assert (said.code, said.out) == (2, "")
    assert "SQLite" in said.err
    assert segue("answer", gate, "SQLight", "--own-words", "--json").json["answer"] == "SQLight"


def test_words_close_to_no_option_are_a_persons_own(bench: Bench, segue: Shell) -> None:
    gate = asked(bench)
    told = segue("answer", gate, "neither of these two", "--json").json
    assert told["answer"] == "neither of these two"


def test_a_second_answer_is_refused_and_names_who_was_first(bench: Bench, segue: Shell) -> None:
    gate = asked(bench)
    assert segue("answer", gate, "SQLite").code == 0
    error = segue.refused("answer", gate, "PostgreSQL")
    assert error["code"] == "already_settled"
    assert "already answered: by " in error["message"]


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_answer_is_no_answer(bench: Bench, segue: Shell, text: str) -> None:
    assert segue.refused("answer", asked(bench), text)["code"] == "bad_answer"


def test_an_unknown_id_points_to_the_inbox(segue: Shell) -> None:
    """Also where nothing was ever run."""
    error = segue.refused("answer", "q_nowhere", "yes")
    assert error["code"] == "unknown_gate"
    assert "segue inbox" in error["hint"]
