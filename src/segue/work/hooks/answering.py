"""What Segue answers to a hook of Claude Code: from the event and its payload to a text to print.

An agent waits for its hooks, and must never stumble over one: whatever goes wrong is written to
`.segue/logs/hooks.log`, and nothing is answered. The payload is not believed: it is bounded, its
names are checked, and no path in it is followed but that of the agent's own transcript.

A run of Segue's is known by its environment, a person's own agent by its absence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.i18n import _
from segue.work.hooks.call import Call
from segue.work.hooks.notes import Notes
from segue.work.project import project_of

PAYLOAD_BYTES_MAX = 4 * 1024 * 1024  # a stop brings the agent's last message
PLACE_BYTES_MAX = 64 * 1024
CONTEXT_CHARS_MAX = 9_000  # Claude Code takes ten thousand
TOLD_BYTES_MAX = 1024 * 1024
HELD_MAX = 2  # how often one conversation is kept from stopping
LEFT_MAX = 10  # how many things that are left are named

_OPEN = re.compile(r"^- \[ \] (.+)$", re.MULTILINE)
_STEP = re.compile(r"===\s*STEP\s+(\d{1,4})\s+DONE\b.*===", re.IGNORECASE)
_ASKS = re.compile(r"\[(?:USER_QUESTION|DEPENDENCY_REQUEST|ERROR)(?:_JSON)?\b")


def answer(event: str, data: bytes, environ: Mapping[str, str], now: datetime) -> str:
    """What is printed; nothing, most of the time."""
    notes = None
    try:
        if event not in _ANSWERS:
            return ""
        project = project_of(environ)
        notes = Notes(project)
        payload = _payload(data)
        call = Call(event, payload, environ, project, notes, now)
        notes.fired(event, now)
        return _ANSWERS[event](call)
    except Exception as error:  # noqa: BLE001 - an agent must not stumble over its hook
        if notes is not None:
            notes.log(f"{event}: {type(error).__name__}: {error}", now)
        return ""


def _payload(data: bytes) -> Mapping[str, Any]:
    if len(data) > PAYLOAD_BYTES_MAX:
        raise ValueError("the payload is too long")
    given = json.loads(data)
    if not isinstance(given, dict):
        raise ValueError("the payload is no object")
    return given


def _session_start(call: Call) -> str:
    """The place goes back into the context."""
    source = call.text("source")
    if source not in ("startup", "resume", "compact"):
        return ""
    if call.run:
        place = _place(call)
    else:
        from segue.work.hooks import here  # noqa: PLC0415 - nothing of it for a run

        place = here.place(call.project, is_short=source == "startup")
    if not place.strip():
        return ""
    call.log(f"{source}: the place was told")
    told = {"hookEventName": call.event, "additionalContext": place[:CONTEXT_CHARS_MAX]}
    return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)


def _place(call: Call) -> str:
    if call.place_file is None:
        return ""
    return _read(call.place_file, PLACE_BYTES_MAX)


def _pre_compact(call: Call) -> str:
    """The process that runs the plan keeps the context note current: only this is recorded."""
    call.log("the context is compacted")
    return ""


def _stop(call: Call) -> str:
    """Remind an agent that stops early of what is left, a few times at most."""
    conversation = call.conversation
    if call.payload.get("stop_hook_active") is not False or conversation is None:
        return ""
    if call.notes.times_held(conversation) >= HELD_MAX:
        return ""
    reason = _left_of_run(call) if call.run else _left_here(call)
    if not reason:
        return ""
    call.notes.count_held(conversation)
    call.log("told what is left")
    return json.dumps({"decision": "block", "reason": reason}, ensure_ascii=False)


def _left_of_run(call: Call) -> str:
    said = call.text("last_assistant_message")
    if _ASKS.search(said):
        return ""  # it waits for a person
    told = _told(call)
    if told is None:
        return ""
    done = told | {int(n) for n in _STEP.findall(said)}
    left = [
        item
        for item in _OPEN.findall(_place(call))
        if not (number := re.match(r"(\d+)\. ", item)) or int(number[1]) not in done
    ]
    if not left:
        return ""
    text = _(
        "Your reports do not cover the whole task. Still open:\n{left}\nContinue. "
        "Report what is already done. If you cannot continue without a person, ask, "
        "then stop."
    )
    return text.format(left="\n".join(f"- {item}" for item in left[:LEFT_MAX]))


def _told(call: Call) -> set[int] | None:
    """The steps that were reported by tool call; None: it has ended its work, or asked, by one."""
    from segue.dialects import tool_channel  # noqa: PLC0415 - few calls need them
    from segue.dialects.events import StepDone  # noqa: PLC0415

    if call.place_file is None:
        return set()
    dialect = tool_channel.ToolChannel(call.environ.get("SEGUE_NONCE", ""))
    data = _read(call.place_file.with_suffix(".told"), TOLD_BYTES_MAX).encode()
    done: set[int] = set()
    for event in [*dialect.feed(data), *dialect.close()]:
        match event:
            case StepDone(n):
                done.add(n)
            case _ if type(event).__name__ in _ENDS:
                return None
    return done


_ENDS = frozenset({"Asked", "DependencyAsked", "ErrorReported", "PhaseDone", "TaskDone"})


def _left_here(call: Call) -> str:
    from segue.work.hooks import here  # noqa: PLC0415

    return here.left_to_do(call.project)


def _stop_failure(call: Call) -> str:
    """A limit of a person's own agent parks the account; of a run Segue hears by itself."""
    if not call.run:
        from segue.work.hooks import parking  # noqa: PLC0415 - many patterns, seldom needed

        call.log(parking.park_account(call))
    return ""


def _read(path: Path, bytes_max: int) -> str:
    try:
        with path.open("rb") as file:
            return file.read(bytes_max).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


_ANSWERS: dict[str, Callable[[Call], str]] = {
    "SessionStart": _session_start,
    "PreCompact": _pre_compact,
    "Stop": _stop,
    "StopFailure": _stop_failure,
}
