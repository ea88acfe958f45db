"""opencode, headless: `opencode run --format json`, the prompt on standard input."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from segue.dialects.opencode import Opencode
from segue.engine.agent import Start
from segue.i18n import N_
from segue.work.agents.brands import Brand, Call, Login, State

PERMISSION = {
    "accept-edits": {"edit": "allow"},
    "full": {"edit": "allow", "bash": "allow", "webfetch": "allow"},
}
TAKES = re.compile(r"OPENCODE_\w+|[A-Z]+_API_KEY|XDG_STATE_HOME|NODE_EXTRA_CA_CERTS")


def start(call: Call) -> Start:
    settings = call.settings
    argv = [*call.command, "run", "--format", "json"]
    if settings.model:
        argv += ["--model", settings.model]
    if call.conversation:
        argv += ["--session", call.conversation]
    env: dict[str, str] = {}
    if settings.permissions in PERMISSION:
        env["OPENCODE_PERMISSION"] = json.dumps(PERMISSION[settings.permissions])
    return Start(tuple(argv), call.prompt.encode(), env)


def login(home: Path, environ: Mapping[str, str]) -> Login:
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    path = data / "opencode" / "auth.json"
    if path.exists():
        return Login(True, str(path))
    key = next((name for name in sorted(environ) if re.fullmatch(r"[A-Z]+_API_KEY", name)), None)
    return Login(True, key) if key else Login(None)


def state(home: Path, environ: Mapping[str, str]) -> State:
    def below(variable: str, usual: str) -> Path:
        return Path(environ.get(variable) or home / usual) / "opencode"

    written = (
        below("XDG_DATA_HOME", ".local/share"),
        below("XDG_STATE_HOME", ".local/state"),
        below("XDG_CACHE_HOME", ".cache"),
    )
    return State(written, guarded=(below("XDG_CONFIG_HOME", ".config"),))


BRAND = Brand(
    name="opencode",
    install="npm install -g opencode-ai",
    takes=TAKES,
    dialect=Opencode,
    start=start,
    login=login,
    state=state,
    resumes=("--session", "-s"),
    can=(
        N_("recognizes limits by their wording"),
        N_("resumes its conversation"),
        N_("tokens and cost"),
    ),
    has_tools=False,
)
