"""`segue start-detached`: what ran in the background is started again, and nothing else."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from kit.shell import Shell
from segue.work import background
from segue.work.background import Detached


def test_a_folder_without_work_starts_nothing(segue: Shell) -> None:
    assert (segue("start-detached").code, segue("start-detached").out) == (0, "")


def test_what_is_left_is_started_in_its_folder(
    bench: Bench, segue: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Detached] = []

    def start_again(project: object, one: Detached, environ: object) -> int:
        started.append(one)
        return 4711

    monkeypatch.setattr(background, "start_again", start_again)
    bench.begin("- [ ] T-1: Build\n")
    bench.run.ledger.note_options(background.options_of(("run", "PLAN.md")))
    bench.run.ledger.commit()
    assert segue("start-detached").out == "PLAN.md runs in the background (process 4711).\n"
    assert [one.argv for one in started] == [("run", "PLAN.md")]
    assert started[0].folder == bench.root


def test_one_whose_folder_is_gone_is_told(
    bench: Bench, segue: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "start_again", lambda project, one, environ: None)
    bench.begin("- [ ] T-1: Build\n")
    bench.run.ledger.note_options(background.options_of(("run", "PLAN.md")))
    bench.run.ledger.commit()
    said = segue("start-detached")
    assert (said.code, "PLAN.md" in said.err) == (1, True)
