"""The sessions of a tmux server: which there are, who uses them, how the server is called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SESSIONS = (
    "#{session_id} #{session_activity} #{destroy-unattached} #{exit-unattached} #{version}"
    " #{pid}:#{start_time}"
)
_CLIENTS = "#{session_id} #{client_flags}"
SESSIONS_COMMAND = f"list-sessions -F 'S {_SESSIONS}' ; list-clients -F 'C {_CLIENTS}'"
SESSIONS_ARGV = (
    *("list-sessions", "-F", f"S {_SESSIONS}", ";"),
    *("list-clients", "-F", f"C {_CLIENTS}"),
)
_OFF = ("", "0", "off")
_LISTENS = {"control-mode", "ignore-size"}


@dataclass(frozen=True, slots=True)
class TmuxSession:
    """A session of the server. `is_for_users`: it ends when no client is attached to it."""

    id: str
    used_at: int
    is_for_users: bool
    version: str
    server: str  # which one: after another start the same ids mean other sessions and panes


def sessions_of(lines: Iterable[str]) -> tuple[list[TmuxSession], set[str]]:
    """The sessions, and the ids of those that a client uses that does not only listen."""
    sessions: list[TmuxSession] = []
    used: set[str] = set()
    for line in lines:
        match line.split(" "):
            case ["S", session_id, used_at, destroy, leave, version, server]:
                is_for_users = destroy not in _OFF or leave not in _OFF
                sessions.append(
                    TmuxSession(session_id, int(used_at or 0), is_for_users, version, server)
                )
            case ["C", session_id, flags] if not set(flags.split(",")) >= _LISTENS:
                used.add(session_id)
            case _:
                pass
    return sessions, used


def version_of(text: str) -> tuple[int, int]:
    """`3.3a`, `next-3.7`, `3.4-rc`: the numbers in it."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
