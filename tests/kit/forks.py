"""Programs of this kit that start as forks: many starts of a program that imports much.

    forked("kit.crashing", ["plan", "3", "run", "PLAN.md"], cwd, env)

A helper imports the program and all that it may need, once, and forks for each start. The fork is a
process of its own that runs the program's `run(words)`, and can be killed like any other.

    python -m kit.forks MODULE   (the helper: a line of JSON for each start, and for each end)
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import segue
from kit import python_module

TIMEOUT_S = 120
ELSEWHERE = ("segue.mcp", "segue.server", "segue.testing")  # what these programs do not run


def forked(
    module: str, words: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Start the program, and wait for its end."""
    with TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        code = _helper(module).start([*words], cwd, env, out, err)
        said = (path.read_text("utf-8") for path in (out, err))
        return subprocess.CompletedProcess([module, *words], code, *said)


@cache
def _helper(module: str) -> Helper:
    return Helper(module)


class Helper:
    """The process that forks."""

    def __init__(self, module: str) -> None:
        command, env = python_module("kit.forks")
        self._process = subprocess.Popen(
            [*command, module], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        atexit.register(self.close)

    def start(
        self, words: list[str], cwd: Path, env: Mapping[str, str], out: Path, err: Path
    ) -> int:
        """How the program ended, as `subprocess` says it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {
            "words": words,
            "cwd": str(cwd),
            "env": dict(env),
            "out": str(out),
            "err": str(err),
        }
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], TIMEOUT_S)[0]:
            _helper.cache_clear()  # this one waits for its fork, the next start needs another
            self._process.kill()
            raise AssertionError(f"{words} did not end")
        return int(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """It ends with its input."""
        with self._process:
            pass


def _serve(module: str) -> None:
    """Fork for each order; a fork returns from here with its own words."""
    program = importlib.import_module(module)
    for found in pkgutil.walk_packages(segue.__path__, "segue."):
        if not found.name.startswith(ELSEWHERE) and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    for line in sys.stdin:
        order = json.loads(line)
        if (pid := os.fork()) == 0:
            _become(order)
            program.run(order["words"])
            return
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(order: dict[str, object]) -> None:
    """A process that was started as `order` says."""
    files = ((os.devnull, 0, os.O_RDONLY), (order["out"], 1, None), (order["err"], 2, None))
    for path, number, flags in files:
        mode = os.O_WRONLY | os.O_CREAT if flags is None else flags
        file = os.open(str(path), mode)
        os.dup2(file, number)
        os.close(file)
    os.chdir(str(order["cwd"]))
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[call-overload]


if __name__ == "__main__":
    _serve(sys.argv[1])
