"""`segue` called within the test's own process: nothing is started, and what it printed is read."""

from __future__ import annotations

import io
import sys

import pytest

from kit.command import Result
from segue.cli.main import main


class Shell:
    """Calls commands in the folder of the test."""

    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capsys, self._patch = capsys, patch

    def __call__(self, *args: str, said: str = "", is_terminal: bool = False) -> Result:
        """`said` is what comes on standard input."""
        self._patch.setattr(sys, "stdin", Typed(said) if is_terminal else io.StringIO(said))
        with pytest.raises(SystemExit) as caught:
            main(list(args))
        assert isinstance(caught.value.code, int)
        out, err = self._capsys.readouterr()
        return Result(caught.value.code, out, err)

    def refused(self, *args: str, said: str = "") -> dict[str, str]:
        """The error that a program reads; exit code 2, and nothing else is printed."""
        result = self(*args, "--json", said=said)
        assert (result.code, result.err) == (2, "")
        error: dict[str, str] = result.json["error"]
        return error


class Typed(io.StringIO):
    """Standard input that passes for a terminal."""

    def isatty(self) -> bool:
        return True
