"""An agent that obeys a stranger: what it tries, with the sandbox and without it.

Each attack is a shell script. What it finds it writes to `found` in its workspace, so that a test
can see the attack work without the sandbox, and fail in it.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kit.box import Box
from kit.command import Result
from segue.drivers.sandbox import bubblewrap

WITHOUT, WITHIN = "none", "bwrap"
FOUND = "found"


_USED = bubblewrap()
needs_sandbox = pytest.mark.skipif(
    not _USED.works, reason=f"bubblewrap does not work here: {_USED.why_not}"
)
both_ways = pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param(WITHOUT, id="without"),
        pytest.param(WITHIN, id="within", marks=needs_sandbox),
    ],
)


class Stranger:
    """A project with one agent of kind `command`, and a user with something to lose."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.script = box.root / "stranger.sh"
        self.key = box.home / ".ssh" / "id_ed25519"
        self.key.parent.mkdir()
        self.key.write_text("the private key\n")

    def tries(
        self, script: str, sandbox: str, *args: str, settings: str = "", checks: str = "",
        verify: str = "", plan: str = "",
    ) -> str:  # fmt: skip
        """Run one task whose agent does this; what it found."""
        self.script.write_text(f"#!/bin/sh\nexec 2>&1\n{script}\n")
        self.script.chmod(0o755)
        self.box.config(
            f'agent = "stranger"\n[agents.stranger]\nkind = "command"\ncommand = ["./stranger.sh"]\n'
            f'sandbox = "{sandbox}"\n{settings}\n[checks]\n{checks}\n'
        )
        task = "- [ ] **T-1**: Do it.\n" + (f"  - verify: {verify}\n" if verify else "")
        self.box.plan(plan or task)
        self.result = self.run(*args)
        return self.found

    def run(self, *args: str) -> Result:
        return self.box.run(*args, env={"SEGUE_SANDBOX": ""})

    @property
    def found(self) -> str:
        path = self.box.root / FOUND
        return path.read_text("utf-8", "replace") if path.is_file() else ""

    def log(self) -> str:
        """What the agent printed."""
        logs = sorted(self.memory("logs").glob("*.log"))
        return "".join(path.read_text("utf-8", "replace") for path in logs)

    def database(self) -> Path:
        """Where it is, wherever Segue keeps its memory."""
        (found,) = self.box.tmp.rglob("segue.db")
        return found

    def memory(self, *names: str) -> Path:
        return Path(self.box.root, ".segue", *names)


def copy(path: Path | str) -> str:
    """Shell: what can be read of a path goes to `found`."""
    return f"cat {shlex.quote(str(path))} >> {FOUND}"
