"""`segue approve`: yes, in the word that the question has for it."""

from __future__ import annotations

import json

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell
from segue.store.sqlite import Store
from segue.work.project import Project


@pytest.mark.parametrize(
    ("options", "answer"),
    [(("no", "Yes"), "Yes"), (("허용", "거부"), "허용"), (("PostgreSQL", "SQLite"), "PostgreSQL")],
)
def test_consent_is_the_option_that_says_yes_or_the_first(
    bench: Bench, segue: Shell, options: tuple[str, ...], answer: str
) -> None:
    gate = asked(bench, *options)
    told = segue("approve", gate, "--json").json
    assert (told["gate"], told["answer"]) == (gate, answer)


def test_nothing_is_approved_where_no_option_says_yes(bench: Bench, segue: Shell) -> None:
    """A refusal comes first: it is not taken for consent. The hint names the other command."""
    gate = asked(bench, "cancel", "abort")
    error = segue.refused("approve", gate)
    assert error["code"] == "no_consent"
    assert "cancel, abort" in error["message"]
    assert f"segue answer {gate} TEXT" in error["hint"]


def test_a_person_reads_that_it_is_approved_and_when_it_counts(bench: Bench, segue: Shell) -> None:
    gate = asked(bench)
    said = segue("approve", gate)
    assert said.code == 0
    assert said.out.startswith(f"{gate}: approved (“PostgreSQL”) — ")
    assert "segue run PLAN.md" in said.out


def test_a_comment_is_kept_with_the_act(bench: Bench, segue: Shell) -> None:
    gate = asked(bench)
    assert segue("approve", gate, "--comment", "only for tests").code == 0
    store = Store.open(Project(bench.root).database)
    row = store.one("SELECT data FROM acts WHERE gate = ?", gate)
    store.close()
    assert row is not None
    assert json.loads(row["data"])["comment"] == "only for tests"
