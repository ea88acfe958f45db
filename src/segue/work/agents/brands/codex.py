"""Codex, headless: `codex exec --json`, the prompt on standard input.

The npm package puts a script before the real program; signals to the script do not reach
what it started, so the program itself is run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from segue.dialects.codex import Codex
from segue.engine.agent import Start
from segue.i18n import N_
from segue.work.agents.brands import Brand, Call, Login, State

HEADLESS = ("exec", "--json", "--skip-git-repo-check")
SANDBOX = {"accept-edits": "workspace-write", "full": "danger-full-access"}
NATIVE = ("codex-*/vendor/*/bin/codex", "codex/vendor/*/bin/codex", "codex/vendor/*/codex/codex")
TAKES = re.compile(r"OPENAI_\w+|CODEX_(?!SANDBOX)\w+|AZURE_OPENAI_\w+")


def start(call: Call) -> Start:
    settings = call.settings
    argv = [*call.command, *HEADLESS]
    if settings.model:
        argv += ["--model", settings.model]
    if settings.permissions in SANDBOX:
        argv += ["-c", f'sandbox_mode="{SANDBOX[settings.permissions]}"']
    if call.mcp:
        for name, value in (
            ("command", _toml(call.mcp[0])),
            ("args", "[" + ", ".join(map(_toml, call.mcp[1:])) + "]"),
            ("env", _toml_table(call.mcp_env)),
            ("default_tools_approval_mode", '"approve"'),  # else every call is refused
            ("required", "true"),  # else the first turn begins without it
            ("startup_timeout_sec", "60"),
        ):
            argv += ["-c", f"mcp_servers.segue.{name}={value}"]
    if call.conversation:
        argv += ["fork" if call.is_fork else "resume", call.conversation]
    return Start((*argv, "-"), call.prompt.encode())


def _toml_table(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name} = {_toml(value)}" for name, value in values.items()) + "}"


def _toml(text: str) -> str:
    """A string; JSON's are TOML's, but for characters that JSON writes as two."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def resolve(program: str) -> str:
    """The program behind the npm package's script; the path as it is if there is none."""
    real = Path(os.path.realpath(program))
    if real.name != "codex.js":
        return program
    package = real.parent.parent
    for folder in (package.parent, package / "node_modules" / "@openai"):
        for pattern in NATIVE:
            for found in sorted(folder.glob(pattern)):
                if os.access(found, os.X_OK):
                    return str(found)
    return program


def login(home: Path, environ: Mapping[str, str]) -> Login:
    if environ.get("CODEX_API_KEY"):
        return Login(True, "CODEX_API_KEY")
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    if (folder / "auth.json").exists():
        return Login(True, str(folder / "auth.json"))
    return Login(None if (folder / "config.toml").exists() else False)  # a provider of one's own


def state(home: Path, environ: Mapping[str, str]) -> State:
    folder = Path(environ.get("CODEX_HOME") or home / ".codex")
    guarded = ("config.toml", "AGENTS.md", "hooks.json", "prompts", "rules")
    return State((folder,), guarded=tuple(folder / name for name in guarded))


BRAND = Brand(
    name="codex",
    install="npm install -g @openai/codex",
    takes=TAKES,
    dialect=Codex,
    start=start,
    login=login,
    state=state,
    resumes=("resume",),
    can_fork=True,
    can=(
        N_("recognizes limits by their wording"),
        N_("resumes its conversation"),
        N_("its own sandbox"),
        N_("tokens"),
        N_("Segue's tools (MCP)"),
    ),
    resolve=resolve,
    counts_conversation=True,
)
