"""What tests of the hooks share: a project, the payloads that were really seen, an answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from segue.dialects import tool_channel
from segue.work.hooks.answering import answer

GOLDEN = Path(__file__).parents[1] / "golden" / "claude_hooks" / "payloads.jsonl"
SEEN: list[dict[str, Any]] = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
RUN, NONCE = "T-1-4f2a", "c0ffee"
STATE = (
    "phase: {phase}\nstrategy: direct\nfeature: harbour lights\n"
    "checkpoints:\n  cp-1: {{ status: passed, iteration: 2 }}\n"
    "  cp-2: {{ status: {status}, iteration: 1 }}\n"
)
DESIGN = (
    "# Harbour\n\n```yaml checkpoints\n"
    "- id: cp-1\n  description: poles\n  validate: 'true'\n  files: [poles.py]\n"
    "- id: cp-2\n  description: lamps\n  validate: 'true'\n  files: [lamps/*.py]\n```\n"
)


def payload(event: str, **more: Any) -> dict[str, Any]:
    """The first that was seen of this event, with some values changed."""
    found = next(one for one in SEEN if one["hook_event_name"] == event)
    return {**found, **more}


class Yard:
    """A project in which agents have hooks."""

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.root = tmp / "project"
        self.home = tmp / "home"
        self.home.mkdir()
        (self.root / ".segue" / "runs").mkdir(parents=True)
        (self.root / "segue.toml").write_text("")
        self.env = {"HOME": str(self.home), "CLAUDE_PROJECT_DIR": str(self.root), "TZ": "UTC"}

    def run_env(self) -> dict[str, str]:
        """The environment of a run that Segue started."""
        return {
            **self.env,
            "SEGUE_RUN": RUN,
            "SEGUE_PROJECT": str(self.root),
            "SEGUE_PLACE": str(self.place),
            "SEGUE_NONCE": NONCE,
        }

    @property
    def place(self) -> Path:
        return self.root / ".segue" / "runs" / f"{RUN}.place"

    @property
    def log(self) -> str:
        path = self.root / ".segue" / "logs" / "hooks.log"
        return path.read_text("utf-8") if path.exists() else ""

    def tells(self, tool: str, nonce: str = NONCE, **arguments: Any) -> None:
        """The agent of the run calls one of Segue's tools."""
        with self.place.with_suffix(".told").open("ab") as file:
            file.write(tool_channel.line(tool, arguments, nonce=nonce, at="now"))

    def feature(self, phase: str = "IMPLEMENT", status: str = "in_progress") -> None:
        folder = self.root / ".develop-workflow"
        folder.mkdir(exist_ok=True)
        (folder / "state.yaml").write_text(STATE.format(phase=phase, status=status))

    def fires(
        self, given: dict[str, Any] | bytes, env: dict[str, str] | None = None, event: str = ""
    ) -> dict[str, Any] | None:
        """A hook fires; what is answered."""
        data = given if isinstance(given, bytes) else json.dumps(given).encode()
        name = event or ("" if isinstance(given, bytes) else given["hook_event_name"])
        said = answer(name, data, self.env if env is None else env, NOW)
        return json.loads(said) if said else None

    def context(self, given: dict[str, Any], env: dict[str, str] | None = None) -> str:
        """What a session start puts into the context."""
        said = self.fires(given, env)
        if said is None:
            return ""
        assert list(said) == ["hookSpecificOutput"]
        assert said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
        return str(said["hookSpecificOutput"]["additionalContext"])
