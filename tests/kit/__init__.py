"""What the tests share: waiting, clocks, projects, servers, terminals, agents that play a part."""

from __future__ import annotations

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]


def python_module(name: str) -> tuple[list[str], dict[str, str]]:
    """The command that runs a module of this package as a program, and the environment for it."""
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return [sys.executable, "-m", name], {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
