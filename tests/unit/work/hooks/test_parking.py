"""A limit of a person's own agent: whose account is parked, and until when."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.hooks import NOW, Yard, payload
from segue.store.sqlite import Store
from segue.work.project import Project

FAILED = payload("StopFailure")
TALK = FAILED["session_id"]
RESET = NOW + timedelta(hours=3, seconds=17)
SAID = f"You've hit your 5-hour limit · resets {RESET:%-I:%M%p} (UTC)".replace("PM", "pm")


def accounts(yard: Yard) -> dict[str, tuple[str, datetime]]:
    """Who is parked: the kind, and until when."""
    store = Store.open_readonly(Project(yard.root).database)
    if store is None:
        return {}
    try:
        rows = store.all("SELECT * FROM accounts WHERE state = 'parked'")
        return {
            row["id"]: (row["kind"], datetime.fromisoformat(row["parked_until"])) for row in rows
        }
    finally:
        store.close()


def entry(at: datetime, resets_at: datetime, text: str = SAID) -> dict[str, Any]:
    """A stop, as Claude Code writes it down."""
    return {
        "type": "assistant",
        "isSidechain": False,
        "isApiErrorMessage": True,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "error": "rate_limit",
        "apiError": "usage_limit_reached",
        "apiErrorParams": {
            "rate_limit_info": {
                "status": "rejected",
                "resetsAt": int(resets_at.timestamp()),
                "rateLimitType": "five_hour",
                "overageStatus": "rejected",
                "isUsingOverage": False,
            }
        },
        "message": {"model": "<synthetic>", "content": [{"type": "text", "text": text}]},
    }


def transcript(yard: Yard, *entries: dict[str, Any], name: str = TALK) -> Path:
    path = yard.home / ".claude" / "projects" / "-work" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in entries))
    return path


def fails(yard: Yard, path: Path | str = "/nowhere.jsonl", **more: Any) -> None:
    given = {**FAILED, "last_assistant_message": SAID, "transcript_path": str(path), **more}
    assert yard.fires(given) is None


def test_the_transcript_tells_the_second(yard: Yard) -> None:
    """What was written down is exact; the margin of the settings is added."""
    fails(yard, transcript(yard, entry(NOW, RESET)))
    assert accounts(yard) == {"claude": ("session_limit", RESET + timedelta(seconds=5))}
    assert "account claude is parked until 2026-11-16T15:00:22" in yard.log


def test_words_alone_tell_the_minute(yard: Yard) -> None:
    """Without a transcript the time on the screen counts, to the end of its minute."""
    fails(yard)
    until = RESET.replace(second=0) + timedelta(minutes=1, seconds=5)
    assert accounts(yard) == {"claude": ("session_limit", until)}


def test_the_transcript_counts_where_the_words_have_no_time(yard: Yard) -> None:
    """An error text without a time is no reason to guess."""
    path = transcript(yard, entry(NOW, RESET, "You've hit your 5-hour limit"))
    fails(yard, path, last_assistant_message="You've hit your 5-hour limit")
    assert accounts(yard)["claude"][1] == RESET + timedelta(seconds=5)


def test_an_old_stop_in_the_transcript_does_not_count(yard: Yard) -> None:
    """It is not what has just happened; nor is one behind which work was done."""
    old = transcript(yard, entry(NOW - timedelta(hours=1), NOW + timedelta(days=1)))
    fails(yard, old)
    until = RESET.replace(second=0) + timedelta(minutes=1, seconds=5)
    assert accounts(yard) == {"claude": ("session_limit", until)}


@pytest.mark.parametrize("where", ["outside", "link", "other", "relative"])
def test_no_other_file_is_read(yard: Yard, where: str) -> None:
    """Only the transcript of this conversation, in the agent's own folder."""
    good = transcript(yard, entry(NOW, RESET + timedelta(hours=9)))
    outside = yard.tmp / f"{TALK}.jsonl"
    good.rename(outside)
    path: Path | str = outside
    if where == "link":
        good.symlink_to(outside)
        path = good
    elif where == "other":
        path = transcript(yard, entry(NOW, RESET + timedelta(hours=9)), name="another")
    elif where == "relative":
        path = f"../{TALK}.jsonl"
    fails(yard, path)
    assert accounts(yard)["claude"][1] < RESET + timedelta(hours=1), "by the words alone"


def test_it_is_the_account_of_the_project_s_claude(yard: Yard) -> None:
    """The default agent's, if that is a claude; else that of the agent called so."""
    toml = yard.root / "segue.toml"
    toml.write_text(
        'agent = "night"\n[agents.claude]\naccount = "day"\n'
        '[agents.night]\nkind = "claude"\naccount = "work"\n'
    )
    fails(yard)
    assert list(accounts(yard)) == ["work"]
    toml.write_text('agent = "codex"\n[agents.claude]\naccount = "day"\n')
    fails(yard)
    assert list(accounts(yard)) == ["work", "day"]


def test_settings_that_cannot_be_read_do_not_matter(yard: Yard) -> None:
    """The account is called claude then; why is in the log."""
    (yard.root / "segue.toml").write_text("agent = [\n")
    fails(yard)
    assert list(accounts(yard)) == ["claude"]
    assert "the settings cannot be read" in yard.log


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("authentication_failed", "Invalid API key · Fix external API key"),
        ("billing_error", "Credit balance is too low"),
        ("invalid_request", "Prompt is too long"),
        ("unknown", "Something else went wrong"),
        ("rate_limit", "You've hit your weekly limit · resets Nov 30, 6:28pm (UTC)"),
    ],
)
def test_what_does_not_pass_by_itself_parks_nothing(yard: Yard, error: str, text: str) -> None:
    """No login, no credit, a full context, another error, a time too far away to believe."""
    fails(yard, error=error, last_assistant_message=text)
    assert accounts(yard) == {}
    assert "StopFailure" in yard.log


def test_a_limit_without_a_time_is_waited_out_for_a_while(yard: Yard) -> None:
    """As Segue's own runs do, by the settings."""
    (yard.root / "segue.toml").write_text("[recovery]\ndefault_wait_time = 90\n")
    fails(yard, error="overloaded", last_assistant_message="API Error: Overloaded")
    assert accounts(yard) == {"claude": ("overloaded", NOW + timedelta(seconds=90))}


def test_a_longer_park_stays(yard: Yard) -> None:
    """A weekly limit is not cut short by a five-hour one."""
    week = "You've hit your weekly limit · resets Nov 19, 6:28pm (UTC)"
    fails(yard, last_assistant_message=week)
    fails(yard)
    assert accounts(yard)["claude"][1] == datetime(2026, 11, 19, 18, 29, 5, tzinfo=UTC)


def test_a_run_of_segue_s_parks_nothing_here(yard: Yard) -> None:
    """Its supervisor hears of the limit by itself."""
    given = {**FAILED, "last_assistant_message": SAID}
    assert yard.fires(given, yard.run_env()) is None
    assert accounts(yard) == {}
