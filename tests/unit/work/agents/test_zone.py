"""The zone of this machine: by its name, so that its rules are known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from segue.work.agents import zone

WINTER = datetime(2026, 1, 15, 12, tzinfo=UTC)
EASTERN = timezone(timedelta(hours=-5))


@pytest.mark.parametrize("name", ["America/New_York", ":America/New_York"])
def test_the_variable_names_the_zone(name: str) -> None:
    """With its summer time, which an offset does not know."""
    found = zone.zone_here({"TZ": name}, EASTERN, WINTER)
    assert found == ZoneInfo("America/New_York")


@pytest.mark.parametrize("name", ["KST-9", "Mars/Olympus", "/etc/localtime", "../../etc/passwd"])
def test_what_names_no_zone_leaves_the_offset(name: str) -> None:
    """Rules in the variable itself, a path, nonsense: the clock knows better."""
    assert zone.zone_here({"TZ": name}, EASTERN, WINTER) is EASTERN


def test_a_zone_that_disagrees_with_the_clock_is_not_meant() -> None:
    """Somebody changed the link while we ran, or the variable is not the clock's."""
    assert zone.zone_here({"TZ": "Asia/Seoul"}, EASTERN, WINTER) is EASTERN


def test_the_link_names_the_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As most systems have it."""
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/America/New_York")
    monkeypatch.setattr(zone, "LOCALTIME", link)
    assert zone.zone_here({}, EASTERN, WINTER) == ZoneInfo("America/New_York")
    link.unlink()
    assert zone.zone_here({}, EASTERN, WINTER) is EASTERN
