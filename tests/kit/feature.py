"""A feature in a temporary folder, its agent (a small program that does its part), its state file."""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from kit.box import Box
from kit.command import Going, Result
from kit.waiting import until

FEATURE = "real-time chat"
Checkpoint = dict[str, Any]
STATES = ("pending", "in_progress", "passed", "escalated")

# Every start is one line of out/log; a file out/plays/WHO or out/plays/WHO.N (its N-th start) is
# what it does instead of its part. WHO is the checkpoint, or else the phase.
ACTOR = r"""
import json, os, sys, time
from pathlib import Path
OUT, env = Path(sys.argv[1]), os.environ
prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
phase, target = env["SEGUE_PHASE"], Path(env["SEGUE_TARGET"])
checkpoint, iteration = env.get("SEGUE_CHECKPOINT"), env.get("SEGUE_ITERATION")
who = checkpoint or phase
root = Path(env["SEGUE_PROJECT"])
state = root / ".develop-workflow/state.yaml"

def log(what, **facts):
    line = json.dumps({"what": what, "who": who, "pid": os.getpid(), "ns": time.monotonic_ns(), **facts})
    fd = os.open(OUT / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, line.encode() + b"\n")
    os.close(fd)

def hold(name):
    while not (OUT / name).exists():
        time.sleep(0.01)

def make(name, text="made\n"):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)

def block(text):
    head = target.read_text().partition("```yaml checkpoints")[0]
    target.write_text(head + "```yaml checkpoints\n" + text + "\n```\n")

def limit(seconds):
    print(f"Claude AI usage limit reached|{int(time.time()) + seconds}")
    log("end")
    sys.exit(1)

def default():
    if phase == "DESIGN":
        make(target, "# Design\n\nAs simple as can be.\n\n")
    elif phase == "REVIEW":
        block((OUT / "block").read_text())
    elif phase == "IMPLEMENT":
        make(json.loads((OUT / "makes").read_text())[checkpoint])

past = (OUT / "log").read_text() if (OUT / "log").exists() else ""
past = past.rpartition("\n")[0].splitlines()  # another actor may just be writing the last line
nth = 1 + sum((e["what"], e["who"]) == ("start", who) for e in map(json.loads, past))
log("start", phase=phase, target=str(target), checkpoint=checkpoint, iteration=iteration, cwd=os.getcwd(),
    conversation=env["SEGUE_CONVERSATION"], attempt=env["SEGUE_ATTEMPT"], run=env["SEGUE_RUN"],
    resume=env.get("SEGUE_RESUME", ""), prompt=prompt, state=state.read_text() if state.exists() else "")
name = who.replace("/", "_")
plays = [p for p in (OUT / "plays" / f"{name}.{nth}", OUT / "plays" / name) if p.exists()]
if plays:
    exec(plays[0].read_text())
else:
    default()
    print("did", who)
log("end")
"""


def parsed(text: str) -> dict[str, Any]:
    """A state file as plain data."""
    return dict(YAML(typ="safe", pure=True).load(text))


@dataclass(frozen=True)
class Start:
    """One start of the agent: what it was told, where, and how the state file was then."""

    who: str
    pid: int
    phase: str
    target: str
    checkpoint: str | None
    iteration: str | None
    cwd: str
    conversation: str
    attempt: str
    run: str
    resume: str
    prompt: str
    state: str
    ns: int
    what: str = "start"

    @property
    def known(self) -> dict[str, Any]:
        """The state file as it was."""
        return parsed(self.state)


def cp(
    name: str, *depends: str, files: list[str] | None = None, validate: str = "",
    description: str = "", **more: Any,
) -> Checkpoint:  # fmt: skip
    """A checkpoint; by default it makes NAME.txt, and that is what is validated."""
    files = files if files is not None else [f"{name}.txt"]
    made: Checkpoint = {"id": name, "description": description or f"Make {name}"}
    made["validate"] = validate or f"test -e '{files[0]}'"
    return {**made, "depends": list(depends), "files": files, **more}


class Feature:
    """A project with one feature in it, and the command that develops it."""

    def __init__(self, box: Box) -> None:
        self.box, self.root, self.out = box, box.root, box.out
        (box.out / "plays").mkdir()
        actor = box.tmp / "actor.py"
        actor.write_text(ACTOR)
        command = json.dumps([sys.executable, "-I", "-S", str(actor), str(box.out)])
        box.config(
            f'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = {command}\n'
            "[recovery]\nwake_margin_s = 0.2\n"
        )
        self.settle(cp("cp-1"))

    # --- what the agent will do

    def settle(self, *checkpoints: Checkpoint) -> None:
        """What the review will settle."""
        lines = "\n".join("- " + json.dumps(item, ensure_ascii=False) for item in checkpoints)
        (self.out / "block").write_text(lines, "utf-8")
        makes = {item["id"]: (item["files"] or [f"{item['id']}.txt"])[0] for item in checkpoints}
        (self.out / "makes").write_text(json.dumps(makes))

    def play(self, who: str, code: str) -> None:
        """Let this start (WHO, or WHO.N) do this instead of its part."""
        (self.out / "plays" / who.replace("/", "_")).write_text(code)

    def unplay(self, who: str) -> None:
        (self.out / "plays" / who).unlink()

    # --- the command

    def develop(self, *args: str, feature: str | None = FEATURE, **rest: Any) -> Result:
        """`segue develop FEATURE --json`."""
        words = [feature] if feature is not None else []
        return self.box.segue("develop", *words, "--json", *args, **rest)

    def go_on(self, *args: str, **rest: Any) -> Result:
        """`segue develop --resume --json`."""
        return self.develop("--resume", *args, feature=None, **rest)

    def start(self, *args: str, feature: str | None = FEATURE) -> Going:
        words = [feature] if feature is not None else []
        return self.box.start("develop", *words, "--json", *args)

    def begun(self, who: str, times: int = 1) -> Start:
        """Wait until the agent was started so often for this; the last such start."""
        return until(lambda: self.starts(who)[times - 1 :], f"start {times} of {who}")[-1]

    # --- what was left

    @property
    def state_path(self) -> Path:
        return self.root / ".develop-workflow/state.yaml"

    @property
    def state(self) -> dict[str, Any]:
        return parsed(self.state_path.read_text("utf-8"))

    @property
    def checkpoints(self) -> dict[str, tuple[str, int]]:
        """status and iteration of each, in their order."""
        found = self.state.get("checkpoints") or {}
        return {name: (c["status"], c["iteration"]) for name, c in found.items()}

    @property
    def design(self) -> Path:
        return self.root / "docs/design/real-time-chat.md"

    def put(self, text: str) -> bytes:
        """Write the state file by hand; its bytes."""
        self.state_path.parent.mkdir(exist_ok=True)
        self.state_path.write_text(text, "utf-8")
        return self.state_path.read_bytes()

    def logged(self, what: str) -> list[dict[str, Any]]:
        path = self.out / "log"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [entry for entry in map(json.loads, lines) if entry["what"] == what]

    def starts(self, who: str | None = None) -> list[Start]:
        found = [Start(**entry) for entry in self.logged("start")]
        return [start for start in found if who in (None, start.who)]

    @property
    def who(self) -> list[str]:
        """Who was started, in order."""
        return [start.who for start in self.starts()]


def check_shape(state: dict[str, Any]) -> None:
    """The fields, and nothing else."""
    known = {"phase", "strategy", "feature", "started_at", "updated_at", "checkpoints"}
    assert state.keys() <= known, state
    assert {"phase", "feature", "started_at", "updated_at"} <= state.keys(), state
    assert state["phase"] in ("DESIGN", "REVIEW", "IMPLEMENT", "MERGE", "DONE")
    for name in ("started_at", "updated_at"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*", state[name]), state
    for entry in (state.get("checkpoints") or {}).values():
        assert entry.keys() == {"status", "iteration"}
        assert entry["status"] in STATES and entry["iteration"] in range(4)


class Writes:
    """Counts how often the state file is replaced or written, as the kernel sees it."""

    CLOSE_WRITE, MOVED_TO = 0x8, 0x80

    def __init__(self, feature: Feature) -> None:
        folder = feature.state_path.parent
        folder.mkdir(exist_ok=True)
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(os.O_CLOEXEC)
        mask = self.CLOSE_WRITE | self.MOVED_TO
        assert libc.inotify_add_watch(self._fd, str(folder).encode(), mask) > 0
        self._end = folder / "the-watcher-ends"
        self._names: list[str] = []
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while self._end.name not in self._names:
            data = os.read(self._fd, 65536)
            while data:
                size = int.from_bytes(data[12:16], sys.byteorder)
                self._names.append(data[16 : 16 + size].rstrip(b"\0").decode())
                data = data[16 + size :]

    def count(self) -> int:
        """Stop watching; how often it was written."""
        self._end.touch()
        self._thread.join()
        os.close(self._fd)
        self._end.unlink()
        return self._names.count("state.yaml")
