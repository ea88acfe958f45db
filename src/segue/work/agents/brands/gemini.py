"""Gemini CLI, headless: stream-json out, the prompt on standard input.

By itself it starts a second process and leaves signals to it; here it is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from segue.dialects.gemini import Gemini
from segue.engine.agent import Start
from segue.i18n import N_
from segue.work.agents.brands import Brand, Call, Login, State

APPROVAL = {"accept-edits": "auto_edit", "full": "yolo"}
TAKES = re.compile(r"GEMINI_\w+|GOOGLE_\w+|NODE_EXTRA_CA_CERTS")


def start(call: Call) -> Start:
    settings = call.settings
    argv = [*call.command, "--output-format", "stream-json"]
    if settings.model:
        argv += ["--model", settings.model]
    if settings.permissions in APPROVAL:
        argv += ["--approval-mode", APPROVAL[settings.permissions]]
    if settings.allow:
        argv += ["--allowed-tools", ",".join(settings.allow)]
    if call.conversation:
        argv += ["--resume", call.conversation]
    # It does not work headless in a folder that it was not told to trust.
    env = {"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return Start(tuple(argv), call.prompt.encode(), env)


def login(home: Path, environ: Mapping[str, str]) -> Login:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"):
        if environ.get(name):
            return Login(True, name)
    path = home / ".gemini" / "oauth_creds.json"
    return Login(True, str(path)) if path.exists() else Login(None)


def state(home: Path, environ: Mapping[str, str]) -> State:
    folder = Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini"
    guarded = ("extensions", "commands", "policies")
    return State((folder,), guarded=tuple(folder / name for name in guarded))


BRAND = Brand(
    name="gemini",
    install="npm install -g @google/gemini-cli",
    takes=TAKES,
    dialect=Gemini,
    start=start,
    login=login,
    state=state,
    resumes=("--resume", "-r"),
    can=(N_("recognizes limits by their wording"), N_("resumes its conversation"), N_("tokens")),
    has_tools=False,
)
