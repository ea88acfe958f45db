"""`segue hook EVENT`: an agent waits for the answer, and must never stumble over it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.hooks import Yard, payload
from segue.cli import hook

Fire = Callable[..., int]
dup2 = os.dup2


@pytest.fixture
def yard(alone: Path, tmp_path: Path) -> Yard:
    """A project whose agent of a run has a place to be told of."""
    folder = tmp_path / "yard"
    folder.mkdir()
    made = Yard(folder)
    made.place.write_text("You are at T-1.\n")
    return made


@pytest.fixture
def fire(yard: Yard, tmp_path: Path) -> Iterator[Fire]:
    """Calls the hook with a payload on standard input; the exit code."""
    own = os.dup(0)

    def call(*words: str, data: bytes = b"") -> int:
        (tmp_path / "payload").write_bytes(data)
        given = os.open(tmp_path / "payload", os.O_RDONLY)
        dup2(given, 0)
        os.close(given)
        code: int = hook.command.main(
            list(words), standalone_mode=False, obj={"environ": yard.run_env()}
        )
        return code

    yield call
    os.dup2(own, 0)
    os.close(own)


COMPACTED = json.dumps(payload("SessionStart", source="compact")).encode()


def test_after_a_compaction_the_place_is_answered(
    fire: Fire, capfd: pytest.CaptureFixture[str]
) -> None:
    """As one line of JSON, which Claude Code puts into the context."""
    assert fire("SessionStart", data=COMPACTED) == 0
    (line,) = capfd.readouterr().out.splitlines()
    assert json.loads(line)["hookSpecificOutput"] == {
        "hookEventName": "SessionStart",
        "additionalContext": "You are at T-1.\n",
    }


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ((), b""),
        (("Unknown",), COMPACTED),
        (("SessionStart",), b"\xff{"),
        (("SessionStart",), b"[]"),
        (("SessionStart", "--from-a-later-version", "x"), b""),
        (("--help",), COMPACTED),
    ],
)
def test_whatever_comes_the_exit_code_is_0_and_nothing_is_said(
    fire: Fire, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], data: bytes
) -> None:
    """Exit code 2 would hold the agent back."""
    assert fire(*words, data=data) == 0
    assert tuple(capfd.readouterr()) == ("", "")


def test_a_payload_without_an_end_is_not_read_to_its_end(
    fire: Fire, yard: Yard, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hook, "BYTES_MAX", len(COMPACTED) - 1)
    assert fire("SessionStart", data=COMPACTED) == 0
    assert capfd.readouterr().out == ""
    assert "JSONDecodeError" in yard.log


def test_an_output_that_takes_nothing_is_no_error(
    fire: Fire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or an agent that is gone: there is nobody left to tell."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert fire("SessionStart", data=COMPACTED) == 0


def test_an_input_that_cannot_be_read_is_no_payload(
    fire: Fire, yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_stream: int, _size: int) -> bytes:
        raise IsADirectoryError(21, "Is a directory")

    monkeypatch.setattr(os, "read", fails)
    assert fire("SessionStart", data=COMPACTED) == 0
    assert "JSONDecodeError" in yard.log


def test_a_limit_is_seen_to_by_a_process_that_nobody_waits_for(
    fire: Fire, yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code without a terminal ends with the limit, and its hooks with it."""
    data = json.dumps(payload("StopFailure")).encode()
    monkeypatch.setattr(os, "fork", lambda: 4711)
    assert fire("StopFailure", data=data) == 0
    assert yard.log == ""
    alone: list[object] = []
    monkeypatch.setattr(os, "fork", lambda: 0)
    monkeypatch.setattr(os, "setsid", lambda: alone.append("session"))
    monkeypatch.setattr("signal.alarm", alone.append)
    monkeypatch.setattr(os, "dup2", lambda nowhere, stream: alone.append((nowhere, stream)))
    assert fire("StopFailure", data=data) == 0
    nowhere = alone[2][0]  # type: ignore[index]
    assert alone == ["session", hook.BACKGROUND_S_MAX, *((nowhere, n) for n in (0, 1, 2))]
    assert os.path.samestat(os.fstat(nowhere), Path(os.devnull).stat())
    os.close(nowhere)
