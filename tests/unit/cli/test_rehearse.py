"""`segue rehearse`: which scenes held, and where to look at those that did not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kit.shell import Shell
from segue.testing.rehearsal import Played

HELD = Played("limit", "a limit is waited for", 1.5, None)
WRONG = Played("login", "a refused login asks a person", 61.0, "it asked no person")
Scenes = Callable[..., list[Path]]


@pytest.fixture
def scenes(monkeypatch: pytest.MonkeyPatch, alone: Path) -> Scenes:
    """Says how the scenes go; the folders in which they were played."""
    (alone / "segue.toml").write_text(
        '[agents.claude]\nkind = "claude"\ncommand = ["./claude"]\n'
        '[agents.mine]\nkind = "command"\ncommand = ["./mine"]\n'
    )
    for name in ("claude", "mine"):
        (alone / name).write_text("#!/bin/sh\n")
        (alone / name).chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(alone))
    monkeypatch.setattr("tempfile.tempdir", str(alone))
    folders: list[Path] = []

    def go(*played: Played) -> list[Path]:
        def play(
            kind: str,
            program: object,
            folder: Path,
            environ: object,
            show: Callable[[Played], None],
        ) -> list[Played]:
            assert kind == "claude"
            folders.append(folder)
            for one in played:
                show(one)
            return list(played)

        monkeypatch.setattr("segue.testing.rehearsal.play", play)
        return folders

    return go


def test_what_held_is_shown_with_its_time_and_leaves_nothing(segue: Shell, scenes: Scenes) -> None:
    folders = scenes(HELD)
    said = segue("rehearse", "--real", "claude")
    assert said.code == 0
    first, *rest = said.out.splitlines()
    assert first.endswith(f"/claude on a fake model, in {folders[0]}")
    assert rest == ["  ✔ a limit is waited for  1.5s", "All checks passed."]
    assert not folders[0].exists()


def test_what_did_not_hold_is_named_and_its_folder_is_kept(segue: Shell, scenes: Scenes) -> None:
    folders = scenes(HELD, WRONG)
    said = segue("rehearse", "--real", "claude")
    assert said.code == 1
    assert said.out.splitlines()[-3:] == [
        "  ✘ a refused login asks a person  1m 1s",
        "      it asked no person",
        f"Some checks failed; see the logs in {folders[0]}",
    ]
    assert folders[0].is_dir()


@pytest.mark.parametrize("keep", [True, False])
def test_a_program_reads_each_scene(segue: Shell, scenes: Scenes, keep: bool) -> None:
    """And the folder, where it was asked to be kept."""
    folders = scenes(HELD)
    told = segue("rehearse", "--real", "claude", "--json", *["--keep"] * keep).json
    assert told["agent"] == "claude"
    assert told["program"].endswith("/claude")
    assert told["folder"] == (str(folders[0]) if keep else None)
    assert told["scenes"] == [{"name": "limit", "held": True, "wrong": None, "seconds": 1.5}]
    assert folders[0].exists() == keep


def test_an_agent_without_a_model_cannot_be_rehearsed(segue: Shell, scenes: Scenes) -> None:
    """The hint names the kinds that can; nothing is played."""
    folders = scenes(HELD)
    error = segue.refused("rehearse", "--real", "mine")
    assert (error["code"], folders) == ("bad_value", [])
    assert "claude, codex, gemini, opencode" in error["hint"]


def test_an_unknown_agent_and_none_are_refused(segue: Shell, scenes: Scenes) -> None:
    scenes(HELD)
    assert "nobody" in segue.refused("rehearse", "--real", "nobody")["message"]
    assert segue.refused("rehearse")["code"] == "usage"
