"""What the acceptance tests share: a project folder, the real command, a terminal.

Agents are recognised by `SEGUE_PROJECT` in their environment, so that whatever a run
leaves behind can be found (and ended) without knowing how Segue starts it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kit.command import SEGUE, Going, Result, start_segue
from kit.git import git
from kit.processes import environs, signal_all, stop_all
from kit.waiting import until
from segue.work.state_folder import name_of

MARK = re.compile(r"^(?:[-*+]|\d+[.)]) \[(.)\] \**([A-Z]+-?\d[\d-]*)", re.MULTILINE)


class Box:
    """A project in a temporary folder. `out` is beside it: what agents leave as proof."""

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.root = tmp / "project"
        self.out = tmp / "out"
        self.home = tmp / "home"
        for folder in (self.root, self.out, self.home):
            folder.mkdir()
        self.extra_env: dict[str, str] = {}
        self.sandbox = "none"  # agents leave proof in `out`, unless a test is about the sandbox
        self.started: list[Going] = []

    # --- files

    def forget(self) -> None:
        """All that Segue remembers of the project is gone."""
        shutil.rmtree(self.root / ".segue")
        shutil.rmtree(self.state)

    @property
    def state(self) -> Path:
        """What Segue keeps where no agent works."""
        return self.home / ".local" / "state" / "segue" / name_of(self.root)

    @property
    def database(self) -> Path:
        return self.state / "segue.db"

    @property
    def evidence(self) -> Path:
        return self.state / "evidence"

    @property
    def plan_path(self) -> Path:
        return self.root / "PLAN.md"

    def plan(self, text: str | bytes, name: str = "PLAN.md") -> Path:
        path = self.root / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def text(self, name: str = "PLAN.md") -> str:
        return (self.root / name).read_bytes().decode("utf-8", "replace")

    def marks(self, name: str = "PLAN.md") -> dict[str, str]:
        """The mark of each task with an id at the top level."""
        return {task: mark for mark, task in MARK.findall(self.text(name))}

    def config(self, text: str) -> None:
        (self.root / "segue.toml").write_text(text, "utf-8")

    def scripted(self, scenario: str, more: str = "") -> None:
        """A project whose default agent plays this scenario; limits end when they say so."""
        (self.root / "play.scenario").write_text(scenario, "utf-8")
        self.config(
            'agent = "actor"\n[agents.actor]\nkind = "script"\nscenario = "play.scenario"\n'
            "[recovery]\nwake_margin_s = 0\n" + more
        )

    def edit(self, old: str, new: str, name: str = "PLAN.md") -> None:
        """What a person's editor does: replace the file by a changed one."""
        text = self.text(name)
        assert old in text, (old, text)
        fresh = self.root / f".{name}.swp"
        fresh.write_bytes(text.replace(old, new).encode())
        fresh.replace(self.root / name)

    def repository(self) -> None:
        """Make the project a clean git repository with one commit."""
        (self.home / ".gitconfig").write_text(
            "[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n"
        )
        self.git("init", "-q")
        (self.root / "base.txt").write_text("one\ntwo\nthree\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "begin")

    def git(self, *args: str) -> str:
        return git(self.root, *args, env=self.env())

    # --- proof that agents leave

    def note(self, name: str = "trace", what: str = "$SEGUE_TASK") -> str:
        """Shell: add one line to a file outside the project."""
        return f'echo "{what}" >> {self.out}/{name}'

    def hold(self, name: str) -> str:
        """Shell: wait until the test releases this name."""
        return f"until [ -e {self.out}/{name} ]; do sleep 0.05; done"

    def release(self, name: str) -> None:
        (self.out / name).touch()

    def notes(self, name: str = "trace") -> list[str]:
        path = self.out / name
        return path.read_text("utf-8").split() if path.exists() else []

    # --- the command

    def env(self, more: dict[str, str] | None = None) -> dict[str, str]:
        keep = {name: os.environ[name] for name in ("PATH",)}
        base = {"HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        base["SEGUE_SANDBOX"] = self.sandbox
        return {**keep, **base, **self.extra_env, **(more or {})}

    def confine(self) -> None:
        """Run agents and checks in the sandbox where it works. The built-in ones still reach
        `out`."""
        self.sandbox = "auto"
        settings = self.home / ".config" / "segue" / "config.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        tables = ("agents.shell", "agents.script", "checks")
        reach = f'sandbox_write = ["{self.out}"]'
        settings.write_text("".join(f"[{table}]\n{reach}\n" for table in tables), "utf-8")

    def segue(
        self, *args: str, env: dict[str, str] | None = None, cwd: Path | None = None,
        wait_s: float = 90, before: Sequence[str] = (),
    ) -> Result:  # fmt: skip
        done = subprocess.run(
            [*before, str(SEGUE), *args], cwd=cwd or self.root, env=self.env(env), timeout=wait_s,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in result.said, result.said
        return result

    def run(self, *args: str, **rest: Any) -> Result:
        """`segue run PLAN.md --json`."""
        return self.segue("run", "PLAN.md", "--json", *args, **rest)

    def start(self, *args: str, env: dict[str, str] | None = None) -> Going:
        """A command in the background."""
        output = self.tmp / str(len(self.started))
        going = start_segue(*args, cwd=self.root, env=self.env(env), output=output)
        self.started.append(going)
        return going

    def start_run(self, *args: str) -> Going:
        return self.start("run", "PLAN.md", "--json", *args)

    # --- processes

    def agents(self) -> dict[int, dict[str, str]]:
        """What lives with this project in its environment: pid → environment."""
        mine = str(self.root)
        return {
            pid: environ
            for pid, environ in environs().items()
            if environ.get("SEGUE_PROJECT") == mine
        }

    def left_behind(self) -> dict[int, str]:
        """Every process that came from here, by its HOME: agents, keepers, the command itself."""
        found = {}
        for pid, environ in environs().items():
            if environ.get("HOME") == str(self.home):
                with contextlib.suppress(OSError):
                    words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
                    found[pid] = words.decode("utf-8", "replace")
        return found

    def power_cut(self) -> None:
        """Everything of this project dies at the same instant: nobody sees another die."""
        signal_all(stop_all(self.left_behind))
        for going in self.started:
            if going.process.poll() is None:
                going.process.wait()
        until(lambda: not self.left_behind(), "all dead")

    def end_everything(self) -> None:
        for going in self.started:
            if going.process.poll() is None:
                going.kill()
        until(self._kill_left_behind, "the end of all processes")

    def _kill_left_behind(self) -> bool:
        """Whether nothing was there any more."""
        left = self.left_behind()
        signal_all(left)
        return not left
