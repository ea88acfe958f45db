"""Claude Code, headless: stream-json both ways.

Its input stays open, so that it can ask for leave to use a tool and be answered
(`--permission-prompt-tool stdio`); at its result Segue ends the input, and it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from segue.dialects import claude as dialect
from segue.engine.agent import Start
from segue.i18n import N_
from segue.work.agents.brands import Brand, Call, Login, State

HEADLESS = (
    "-p",
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
)
# Not those by which one Claude Code knows that it was started by another.
TAKES = re.compile(
    r"ANTHROPIC_\w+|CLAUDE_(?!CODE_(?:ENTRYPOINT|SSE_PORT)$)\w+|DISABLE_\w+|NODE_EXTRA_CA_CERTS"
)
OWN_TOOLS = "mcp__segue"
# Rules about editing stay with Segue, which knows the protected paths of the project; the program
# asks it about each edit.
EDITING = re.compile(r"(?:Edit|Write|MultiEdit|NotebookEdit)\b|\w*\*")


def start(call: Call) -> Start:
    settings = call.settings
    argv = [*call.command, *HEADLESS]
    if settings.model:
        argv += ["--model", settings.model]
    if settings.permissions == "accept-edits":
        argv += ["--permission-mode", "acceptEdits"]
    allowed = [rule for rule in settings.allow if not EDITING.match(rule.strip())]
    allowed += [OWN_TOOLS] if call.mcp else []
    if allowed:
        argv += ["--allowedTools", ",".join(allowed)]
    if settings.deny:
        argv += ["--disallowedTools", ",".join(settings.deny)]
    if call.mcp:
        server = {"command": call.mcp[0], "args": list(call.mcp[1:]), "env": dict(call.mcp_env)}
        argv += ["--mcp-config", json.dumps({"mcpServers": {"segue": server}})]
    if call.conversation:
        argv += ["--resume", call.conversation]
        if call.is_fork:
            argv.append("--fork-session")
    return Start(tuple(argv), dialect.user_message(call.prompt), is_interactive=True)


def login(home: Path, environ: Mapping[str, str]) -> Login:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
        if environ.get(name):
            return Login(True, name)
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    if (folder / ".credentials.json").exists():
        return Login(True, str(folder / ".credentials.json"))
    return Login(None)  # it may be in the system's key ring


def state(home: Path, environ: Mapping[str, str]) -> State:
    own = environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(own or home / ".claude")
    guarded = ("settings.json", "settings.local.json", "agents", "commands", "hooks", "plugins")
    return State(
        (folder,),
        () if own else (home / ".claude.json",),
        tuple(folder / name for name in guarded),
    )


BRAND = Brand(
    name="claude",
    install="npm install -g @anthropic-ai/claude-code",
    takes=TAKES,
    dialect=dialect.Claude,
    start=start,
    login=login,
    state=state,
    resumes=("--resume", "-r"),
    can=(
        N_("reports limits with reset times"),
        N_("resumes its conversation"),
        N_("asks for permission"),
        N_("tokens and cost"),
        N_("Segue's tools (MCP)"),
    ),
    allow=dialect.allow,
    deny=dialect.deny,
    can_fork=True,
    compact="/compact",
)
