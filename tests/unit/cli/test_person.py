"""Who may decide: the person at this terminal, and never an agent at work."""

from __future__ import annotations

import click
import pytest

from kit.bench import Bench
from segue.cli import person
from segue.errors import UserError
from segue.store.sqlite import Store
from segue.work.project import Project


def checked(environ: dict[str, str]) -> None:
    """As a command that decides something does first."""
    with click.Context(click.Command("skip"), info_name="segue skip"):
        person.check(environ)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("environ", [{}, {"SEGUE_RUN": ""}, {"SEGUE_LANG": "ko"}])
def test_a_person_is_not_asked_for_anything(environ: dict[str, str]) -> None:
    checked(environ)


@pytest.mark.usefixtures("alone")
def test_an_agent_is_refused_and_told_to_ask() -> None:
    """Its run is named, without what would act on a terminal."""
    with pytest.raises(UserError) as caught:
        checked({"SEGUE_RUN": "T-1-\x1b[2Jab12"})
    problem = caught.value.problem
    assert problem.code == "in_a_run"
    assert "T-1-" in problem.message
    assert "\x1b" not in problem.message
    assert problem.hint == "ask a person instead: with [USER_QUESTION]"


def test_what_an_agent_tried_is_kept_in_the_journal(bench: Bench) -> None:
    """In the project of its run, with the command that it called."""
    bench.begin("- [ ] T-1: Build\n")
    with pytest.raises(UserError):
        checked({"SEGUE_RUN": bench.job, "SEGUE_PROJECT": str(bench.root)})
    store = Store.open(Project(bench.root).database)
    rows = store.all("SELECT data FROM journal WHERE entity = 'refusal'")
    store.close()
    assert ['"tried": "segue skip"' in row["data"] for row in rows] == [True]
