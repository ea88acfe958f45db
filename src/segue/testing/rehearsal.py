"""`segue rehearse --real AGENT`: the program that is installed here, on a fake model.

Each scene is a project of its own in a temporary folder and a real `segue run` in it, which
may be killed. What must hold afterwards is checked by looking: at the plan, the events, the
requests that reached the model, the processes that are left.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from segue.drivers import processes
from segue.i18n import N_, _
from segue.testing.loopback import clean_env
from segue.testing.models import FakeModels

RUN_S = 180.0
ENDING_S = 20.0


class Wrong(Exception):  # noqa: N818 - the word says it
    """Something that must hold does not."""


@dataclass(slots=True)
class Stage:
    """One scene's project, and what can be done in it."""

    kind: str
    command: tuple[str, ...]
    folder: Path
    models: FakeModels
    environ: Mapping[str, str]
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def lane(self) -> str:
        return self.folder.name

    def set(self, plan: str, *modes: str, retries: int | None = None) -> None:
        url = self.models.lane(self.lane, *modes)
        project = self.folder / "project"
        project.mkdir(parents=True)
        is_subscriber = self.kind == "claude"
        env = clean_env(
            self.folder, url, self.kind, self.environ, oauth=is_subscriber, retries=retries
        )
        lines = [
            f'agent = "{self.kind}"',
            f"[agents.{self.kind}]",
            f"command = {json.dumps(list(self.command))}",
            'permissions = "full"',
            f"[agents.{self.kind}.env]",
            *(f"{name} = {json.dumps(value)}" for name, value in env.items() if name != "PATH"),
        ]
        (project / "segue.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (project / "PLAN.md").write_text(plan, encoding="utf-8")

    def start(self, *options: str) -> subprocess.Popen[str]:
        own = {**self.environ, "XDG_STATE_HOME": str(self.folder / "state"), "SEGUE_LANG": "en"}
        return subprocess.Popen(
            [sys.executable, "-m", "segue", "run", "PLAN.md", "--json", *options],
            cwd=self.folder / "project",
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *options: str) -> int:
        """A whole run; its exit code. Its output is in `events`."""
        running = self.start(*options)
        try:
            told = running.communicate(timeout=RUN_S)[0]
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
            running.communicate()
            raise Wrong(_("it did not finish")) from None
        for line in told.splitlines():
            try:
                self.events.append(json.loads(line))
            except ValueError:
                raise Wrong(line) from None
        return running.returncode

    def of(self, event: str) -> list[dict[str, Any]]:
        return [told for told in self.events if told["event"] == event]

    def until(self, is_so: Callable[[], object], running: subprocess.Popen[str]) -> None:
        """Wait for it while the run continues."""
        deadline = time.monotonic() + RUN_S
        while not is_so():
            if running.poll() is not None or time.monotonic() > deadline:
                running.kill()
                running.communicate()
                raise Wrong(_("the awaited event never happened"))
            time.sleep(0.02)

    def left(self) -> list[int]:
        """Processes of this project that are still there."""
        return processes.find_by_environ("SEGUE_PROJECT", str(self.folder / "project"))

    def must(self, is_so: object, what: str) -> None:
        if not is_so:
            raise Wrong(what)

    def must_be_done(self, code: int, *tasks: str) -> None:
        plan = (self.folder / "project" / "PLAN.md").read_text(encoding="utf-8")
        self.must(code == 0, _("exit code {code}").format(code=code) + self._last_error())
        for task in tasks:
            times = sum(told["task"] == task for told in self.of("task_completed"))
            self.must(times == 1, _("{task} was completed {n} times").format(task=task, n=times))
            self.must(f"[x] **{task}**" in plan, _("{task} has no mark").format(task=task))

    def _last_error(self) -> str:
        told = [event.get("error") for event in self.events if event.get("error")]
        return f": {told[-1]}" if told else ""

    def end(self) -> None:
        """Nothing may be left; what is, is ended."""
        deadline = time.monotonic() + ENDING_S
        while left := self.left():
            if time.monotonic() > deadline:
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                raise Wrong(_("some processes still run: {pids}").format(pids=left))
            time.sleep(0.02)


def three_tasks(stage: Stage) -> None:
    stage.set(
        "- [ ] **T-1**: one\n  DO: echo 1 >> one.txt\n  - verify: test -s one.txt\n"
        "- [ ] **T-2**: two\n  DO: echo 2 >> two.txt\n  - blocked by: T-1\n"
        "  - verify: test -s two.txt\n"
        "- [ ] **T-3**: three\n  DO: cat one.txt two.txt > three.txt\n  - blocked by: T-2\n"
        "  - verify: grep -q 2 three.txt\n",
        "plan",
    )
    stage.must_be_done(stage.run(), "T-1", "T-2", "T-3")
    usage = stage.of("finished")[-1]["usage"]
    stage.must(usage["output_tokens"] > 0, _("no tokens reported"))


def segue_killed(stage: Stage) -> None:
    stage.set("- [ ] **T-1**: speak slowly\n", "slow:3")
    running = stage.start()
    stage.until(lambda: stage.models.requests(stage.lane), running)
    running.kill()
    running.communicate()
    stage.must_be_done(stage.run(), "T-1")
    asked = len(stage.models.requests(stage.lane))
    stage.must(asked == 1, _("the model received {n} requests").format(n=asked))


def agent_killed(stage: Stage) -> None:
    stage.set(
        "---\nresume: conversation\n---\n- [ ] **T-1**: use a tool\n",
        "tool:echo $PPID > tool.txt; tail -f /dev/null",
        "say:done",
    )
    running = stage.start()
    tool = stage.folder / "project" / "tool.txt"
    stage.until(lambda: tool.exists() and tool.read_text().strip(), running)
    stage.until(lambda: _kill_agent(stage), running)
    told = running.communicate(timeout=RUN_S)[0]
    stage.events = [json.loads(line) for line in told.splitlines()]
    stage.must_be_done(running.returncode, "T-1")
    last = stage.models.requests(stage.lane)[-1]
    text = json.dumps(last.messages)
    stage.must("use a tool" in text, _("the conversation was not continued"))


def _kill_agent(stage: Stage) -> bool:
    """Kill the agent's own process: the one of its tree whose parent is none of them."""
    left = set(stage.left())
    for pid in left:
        stat = processes.read_stat(pid)
        name = Path(f"/proc/{pid}/cmdline").read_bytes()
        is_root = stat is not None and stat.parent not in left
        if is_root and Path(stage.command[0]).name.encode() in name:
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def limit_hit(stage: Stage) -> None:
    stage.set("- [ ] **T-1**: hit the limit\n", LIMIT_MODE[stage.kind], retries=0)
    before = time.time()
    code = stage.run("--no-wait")
    stage.must(code == 4, _("exit code {code}").format(code=code) + stage._last_error())
    parked = stage.of("task_parked")
    stage.must(parked, _("nothing was parked"))
    if stage.kind == "claude":
        from datetime import datetime  # noqa: PLC0415 - for this alone

        at = datetime.fromisoformat(parked[0]["resets_at"]).timestamp()
        stage.must(
            before + 3599 <= at <= time.time() + 3601,
            _("it resumes at {time}").format(time=parked[0]["resets_at"]),
        )


def not_logged_in(stage: Stage) -> None:
    stage.set("- [ ] **T-1**: ask\n", "401", retries=0)
    code = stage.run()
    stage.must(code == 3, _("exit code {code}").format(code=code) + stage._last_error())
    stage.must(stage.of("gate_opened"), _("it asked no person"))


LIMIT_MODE = {
    "claude": "429u5h:3600",
    "codex": "429u5h:3600",
    "gemini": "429quota",
    "opencode": "429",
}
SCENES: dict[str, tuple[str, Callable[[Stage], None]]] = {
    "three_tasks": (N_("three tasks with their checks run to the end"), three_tasks),
    "segue_killed": (
        N_("Segue is killed while the agent works and resumes it"),
        segue_killed,
    ),
    "agent_killed": (N_("the agent is killed during a tool call and resumes"), agent_killed),
    "limit": (N_("a limit parks the task"), limit_hit),
    "login": (N_("a refused login asks a person"), not_logged_in),
}


@dataclass(frozen=True, slots=True)
class Played:
    """How a scene went; `wrong` says what did not hold."""

    name: str
    text: str
    seconds: float
    wrong: str | None


def play(
    kind: str,
    command: tuple[str, ...],
    folder: Path,
    environ: Mapping[str, str],
    on_played: Callable[[Played], None],
) -> list[Played]:
    """All scenes, one after the other."""
    played = []
    with FakeModels(folder / "requests.jsonl") as models:
        for name, (text, scene) in SCENES.items():
            stage = Stage(kind, command, folder / name, models, environ)
            began = time.monotonic()
            wrong = None
            try:
                scene(stage)
            except Wrong as error:
                wrong = str(error)
            try:
                stage.end()
            except Wrong as error:
                wrong = wrong or str(error)
            played.append(Played(name, _(text), round(time.monotonic() - began, 3), wrong))
            on_played(played[-1])
    return played
