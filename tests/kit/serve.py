"""What the tests of `segue serve` share: a project with agents, the real server, HTTP.

Agents are shell scripts that count their starts and keep what they heard under
`out/TASK/`, so that "once, not twice" can be counted from outside.
"""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from kit.box import Box
from kit.server import TOKEN, Server
from kit.waiting import until

PRELUDE = """#!/bin/sh
out={out}/$SEGUE_TASK
mkdir -p "$out"
echo "$$" >> "$out/starts"
n=$(wc -l < "$out/starts")
echo "${{SEGUE_RESUME:-0}} $SEGUE_CONVERSATION $SEGUE_ATTEMPT $SEGUE_RUN" >> "$out/started"
write() {{ file="$1"; mkdir -p "$(dirname "$file")"; shift; printf '%s\\n' "$*" > "$file"; }}
phase() {{ echo "=== PHASE $1 COMPLETE $SEGUE_NONCE ==="; }}
finish() {{ echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; }}
block() {{ echo "[$1 $SEGUE_NONCE]"; cat; echo "[/$1]"; }}
note() {{ echo "$*" >> "$out/notes"; }}
hold() {{ until [ -e {out}/"$1" ]; do sleep 0.05; done; }}
"""
ONE_SHOT = 'cat > "$out/heard.$n"\n'
LISTEN = """listen() { IFS= read -r heard || exit 0; printf '%s\\n' "$heard" >> "$out/heard"; }
listen
"""
# Its tool has a child in a session of its own, as those of real agents do.
TREE = """setsid sh -c 'echo $$ >> "$0/tree"; sleep 1000 & echo $! >> "$0/tree"; wait' "$out" &
until [ "$(wc -l < "$out/tree" 2>/dev/null || echo 0)" -ge $((2 * n)) ]; do sleep 0.02; done
echo $$ >> "$out/tree"
"""
QUESTION = """block USER_QUESTION <<-END
category: choice
question: Which database?
options:
  - PostgreSQL
  - SQLite
default: SQLite
END
"""
NEEDS = """block DEPENDENCY_REQUEST <<-END
type: api_key
name: STRIPE_KEY
description: for payments
required: true
END
"""


GOOD = 'write one.md "The whole of the first part, round $n."\nphase 1\n'
TWO = """case $n in
1) write one.md "The whole of the first part."; phase 1 ;;
*) write two.md "The whole of the second part."; phase 2 ;;
esac
"""


class House(Box):
    """A project for a server: agents, types, what they left."""

    def __init__(self, tmp: Path) -> None:
        super().__init__(tmp)
        self.tables: list[str] = []
        self.extra_env["SEGUE_TOKEN"] = TOKEN
        if "PYTHONPATH" in os.environ:  # another copy of the source is tested
            self.extra_env["PYTHONPATH"] = os.environ["PYTHONPATH"]
        self.kind("one", ["one.md"])
        self.kind("two", ["one.md"], ["two.md"])

    def kind(self, name: str, *phases: list[str], more: str = "", head: str = "") -> None:
        """A type of tasks in segue.toml: one list of deliverables for each phase."""
        text = f"[types.{name}]\n{head}\n"
        for number, files in enumerate(phases, 1):
            text += f'[[types.{name}.phases]]\nname = "p{number}"\n'
            text += f"deliverables = {json.dumps(files)}\n{more}\n"
        self.tables.append(text)

    def hand(self, name: str, body: str, more: str = "") -> None:
        """An agent that is a one-shot command; `$n` is the number of its start for this task."""
        self._script(name, PRELUDE.format(out=shlex.quote(str(self.out))) + ONE_SHOT + body, more)

    def live(self, name: str, body: str, more: str = "") -> None:
        """An agent whose stdin stays open; `listen` takes the next line."""
        text = PRELUDE.format(out=shlex.quote(str(self.out))) + LISTEN + body
        self._script(name, text, "interactive = true\n" + more)

    def actor(self, name: str, scenario: str) -> None:
        """An agent that plays a scenario."""
        (self.root / f"{name}.scenario").write_text(scenario, "utf-8")
        self.tables.append(f'[agents.{name}]\nkind = "script"\nscenario = "{name}.scenario"\n')

    def _script(self, name: str, text: str, more: str) -> None:
        path = self.root / f"{name}.sh"
        path.write_text(text, "utf-8")
        path.chmod(0o755)
        table = f'[agents.{name}]\nkind = "command"\ncommand = ["./{name}.sh"]\n{more}\n'
        self.tables.append(table)

    def serve(self, *args: str, top: str = "", env: dict[str, str] | None = None) -> Server:
        self.config(f'{top}\n[recovery]\nwake_margin_s = 0\ndefault_wait_time = 1\n'
                    + "\n".join(self.tables))  # fmt: skip
        return Server(self.start("serve", "--port", "0", "--json", *args, env=env))

    # --- what agents left

    def starts(self, task: str) -> int:
        """How often an agent was started for a task."""
        return len(self.lines(task, "starts"))

    def lines(self, task: str, name: str) -> list[str]:
        path = self.out / task / name
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def heard(self, task: str, number: int | None = None) -> str:
        """What an agent was told: at this start, or (with open stdin) in all."""
        path = self.out / task / ("heard" if number is None else f"heard.{number}")
        return path.read_text("utf-8") if path.exists() else ""

    def tree(self, task: str) -> list[int]:
        """The processes of an agent that has made its tree."""
        until(lambda: len(self.lines(task, "tree")) >= 3, "its tree")
        return [int(line) for line in self.lines(task, "tree")]

    def found(self, text: str) -> list[Path]:
        """Files of the project, other than what the agent itself wrote, with this text in them."""
        hits = []
        for path in self.root.rglob("*"):
            if path.is_file() and text.encode() in path.read_bytes():
                hits.append(path)
        return hits
