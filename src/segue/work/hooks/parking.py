"""A limit that stopped a person's own agent: the account is parked for Segue's runs, too.

What the agent wrote into its transcript has the reset to the second; what it says on its screen
has the minute. The transcript is believed where it ends with this stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from segue.core.limits import family
from segue.dialects.claude_transcript import TranscriptStop, last_stop, stop_in
from segue.dialects.events import LimitHit
from segue.drivers.claude_files import tail_of
from segue.engine import limits
from segue.engine.accounts import Accounts
from segue.errors import UserError
from segue.store.changes import stamp
from segue.store.sqlite import Store
from segue.work.agents.zone import zone_here
from segue.work.settings import config

if TYPE_CHECKING:
    from segue.work.hooks.call import Call

TEXT_CHARS_MAX = 2_000
FRESH = timedelta(minutes=10)  # older stops are not what has just happened


@dataclass(frozen=True, slots=True)
class _At:
    """A stopped clock: all of this happens at one time."""

    at: datetime

    def now(self) -> datetime:
        return self.at


def park_account(call: Call) -> str:
    """Park the account that the project's claude is charged to; what was done, for the log."""
    now = call.now
    offset = now.astimezone().tzinfo
    assert offset is not None
    stop = stop_of(call, zone_here(call.environ, offset, now))
    if stop is None:
        return f"{call.text('error')[:100]}: no limit that passes"
    settings = _settings(call)
    limit = LimitHit(stop.kind, stop.resets_at, is_minute=stop.is_minute)
    policy = limits.Policy(settings.recovery.waits)
    park = limits.judge(limit, "claude", now, policy, limits.Before())
    if not isinstance(park, limits.Park) or not park.holds_account:
        return f"{stop.kind}: no limit to wait for"
    account, until = account_of(settings), park.wakes_at
    call.project.prepare()
    store = Store.open(call.project.database)
    try:
        Accounts(store, _At(now)).park(account, stop.kind, until)
    finally:
        store.close()
    return f"{stop.kind}: account {account} is parked until {stamp(until)}"


def stop_of(call: Call, tz: tzinfo) -> TranscriptStop | None:
    """What has stopped it, by its transcript or else by its words."""
    told = {
        "timestamp": call.now.isoformat(),
        "error": call.text("error")[:100],
        "message": {"content": call.text("last_assistant_message")[:TEXT_CHARS_MAX]},
    }
    said = stop_in(told, tz)
    path = transcript(call.text("transcript_path"), call.conversation, call.environ)
    written = last_stop(tail_of(path), tz) if path is not None else None
    if written is None or abs(call.now - written.at) > FRESH:
        return said
    is_same = said is None or family(said.kind) == family(written.kind)
    has_time = written.resets_at is not None or said is None or said.resets_at is None
    return written if is_same and has_time else said


def transcript(given: str, conversation: str | None, environ: Mapping[str, str]) -> Path | None:
    """The agent's own record of this conversation; no other file, wherever the payload points."""
    home = Path(environ.get("HOME") or "", ".claude")
    path, projects = Path(given), Path(environ.get("CLAUDE_CONFIG_DIR") or home, "projects")
    if conversation is None or path.name != f"{conversation}.jsonl" or not projects.is_absolute():
        return None
    is_inside = path.resolve().is_relative_to(projects.resolve())
    return path if is_inside and path.is_file() else None


def account_of(settings: config.Config) -> str:
    """The account of the project's claude: its default agent, if it is one."""
    claudes = [agent for agent in settings.agents.values() if agent.kind == "claude"]
    for agent in claudes:
        if agent.name == settings.agent:
            return agent.charged_to
    named = next((agent for agent in claudes if agent.name == "claude"), None)
    return (named or claudes[0]).charged_to


def _settings(call: Call) -> config.Config:
    try:
        return config.load(call.project.root, config.user_file(call.environ))
    except UserError as error:
        call.log(f"the settings cannot be read: {error}")
        return config.built_in()
