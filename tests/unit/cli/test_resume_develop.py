"""`segue resume` for a feature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kit.shell import Shell

STATE = """\
phase: IMPLEMENT
strategy: direct
feature: "chat"
checkpoints:
  cp-1: { status: passed, iteration: 1 }
  cp-2: { status: in_progress, iteration: 2 }
"""
COMPLETE = STATE.replace("IMPLEMENT", "DONE").replace("in_progress", "passed")


@pytest.fixture
def state(alone: Path) -> Path:
    path = alone / ".develop-workflow" / "state.yaml"
    path.parent.mkdir()
    path.write_text(STATE)
    return path


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be developed."""
    found: list[Any] = []

    def go(options: Any, environ: dict[str, str], *, as_json: bool) -> int:
        found.append(options)
        return 4

    monkeypatch.setattr("segue.cli.develop.go", go)
    return found


def test_why_it_stopped_and_what_comes_next_is_said(segue: Shell, state: Path) -> None:
    said = segue("resume")
    assert said.code == 3
    lines = said.out.splitlines()
    assert lines[0] == f"[1] {state}"
    assert [line.partition(":")[0] for line in lines[1:3]] == ["    stopped", "    next"]
    assert lines[3:7] == [
        "  1. continue the work",
        "  2. from the start - removes the state (keeps a copy)",
        "  3. show the state",
        "  4. reset - removes the state (keeps a copy)",
    ]


@pytest.mark.parametrize(("choice", "is_fresh"), [("--continue", False), ("--restart", True)])
def test_the_feature_continues_or_begins_again_under_its_name(
    segue: Shell, state: Path, begun: list[Any], choice: str, is_fresh: bool
) -> None:
    """Where it stands is said first, to people alone."""
    said = segue("resume", choice)
    assert said.code == 4
    assert "Earlier work: 'chat', phase IMPLEMENT\n" in said.out
    assert [(one.feature, one.is_fresh) for one in begun] == [("chat", is_fresh)]
    assert "Earlier work" not in segue("resume", choice, "--json").out


def test_the_state_alone_is_shown(segue: Shell, state: Path, begun: list[Any]) -> None:
    """And no plan that stands beside it."""
    (state.parent.parent / "PLAN.md").write_text("- [~] T-1: a\n")
    said = segue("resume", str(state), "--status")
    assert (said.code, begun) == (0, [])
    assert said.out.splitlines()[0].startswith("⏸ .develop-workflow/state.yaml")
    assert "PLAN.md" not in said.out


def test_a_reset_says_where_the_old_state_is_kept(segue: Shell, state: Path) -> None:
    said = segue("resume", "--reset")
    text, _colon, kept = said.out.splitlines()[-1].partition(". The old state is kept in ")
    assert (said.code, text) == (0, "The feature starts over")
    assert Path(kept).read_text() == STATE
    assert not state.exists()


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_broken_state_is_written_again_if_a_person_wants_it(
    segue: Shell, state: Path, begun: list[Any], monkeypatch: pytest.MonkeyPatch, is_wanted: bool
) -> None:
    """Else it stays as it is; nothing else is offered."""
    state.write_text("phase: [\n")
    monkeypatch.setattr(
        "segue.cli.resume_develop.repair", lambda folder, now: state.write_text(STATE)
    )
    asked: list[str] = []

    def confirm(question: str, *, default: bool) -> bool:
        asked.append(question)
        return is_wanted

    monkeypatch.setattr("segue.cli.console.confirm", confirm)
    said = segue("resume", is_terminal=True)
    assert asked == ["Rebuild the state from Segue's journal?"]
    assert (said.code, len(begun)) == ((4, 1) if is_wanted else (3, 0))
    assert state.read_text() == (STATE if is_wanted else "phase: [\n")


def test_a_complete_feature_names_the_command_for_another(segue: Shell, state: Path) -> None:
    state.write_text(COMPLETE)
    said = segue("resume")
    assert (said.code, said.out) == (
        0,
        'The last feature is complete. Start another: segue develop "FEATURE"\n',
    )
    assert "The last feature" not in segue("resume", "--lang", "ko").out
