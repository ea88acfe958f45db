"""What Claude Code takes on its standard input: one JSON object per line."""

from __future__ import annotations

import json
from typing import Any

from segue.dialects.events import PermissionAsked


def user_message(text: str) -> bytes:
    """The next prompt."""
    return _line({"type": "user", "message": {"role": "user", "content": text}})


def allow(request: PermissionAsked) -> bytes:
    """Leave to use the tool, with the input that was asked about and no other."""
    return _answer(request, {"behavior": "allow", "updatedInput": dict(request.input)})


def deny(request: PermissionAsked, message: str) -> bytes:
    """Permission denied; the agent reads why and continues without it."""
    return _answer(request, {"behavior": "deny", "message": message})


def interrupt() -> bytes:
    """Stop the turn under way; its result comes, and the process waits for the next prompt."""
    request = {"subtype": "interrupt"}
    return _line({"type": "control_request", "request_id": "interrupt", "request": request})


def _answer(request: PermissionAsked, response: dict[str, Any]) -> bytes:
    told = {"subtype": "success", "request_id": request.request, "response": response}
    return _line({"type": "control_response", "response": told})


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told).encode() + b"\n"
