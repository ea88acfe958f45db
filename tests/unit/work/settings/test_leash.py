"""The leash of the settings, at a clock and in a zone."""

from __future__ import annotations

from datetime import UTC, time, timedelta
from pathlib import Path

from kit.clock import HandClock
from segue.work.settings import config
from segue.work.settings.leash import leash


def test_the_words_of_the_settings_are_instants_of_the_next_day(tmp_path: Path) -> None:
    """`until` is its next occurrence, quiet hours are times of a day."""
    (tmp_path / "segue.toml").write_text(
        '[leash]\nmax_windows = 2\nuntil = "07:00"\nquiet_hours = "23:00-06:00"\n'
    )
    clock = HandClock()
    found = leash(config.load(tmp_path, None).leash, clock, UTC)
    assert found.max_windows == 2
    assert found.quiet == (time(23), time(6))
    assert found.until is not None
    assert timedelta() < found.until - clock.now() <= timedelta(days=1)
    assert found.until.hour == 7


def test_without_settings_nothing_is_held(tmp_path: Path) -> None:
    """Work begins at any time, for as many windows as it takes."""
    found = leash(config.load(tmp_path, None).leash, HandClock(), UTC)
    assert (found.max_windows, found.until, found.quiet) == (None, None, None)
