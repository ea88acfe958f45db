"""What all tests have in common: none of them touches what is the user's own."""

from __future__ import annotations

import itertools
import signal

import pytest
from hypothesis import HealthCheck, settings

# Generated examples are the same in every run, and a busy machine may take its time for them.
settings.register_profile(
    "anywhere", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("anywhere")

_NUMBERS = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait longest begin first: none of them is left when all others are through."""
    items.sort(key=lambda item: item.get_closest_marker("moments") is None)


# Tests may be started in the background, which ignores Ctrl-C, or with nohup; the commands that they
# start and stop with these signals must not inherit that.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def nothing_of_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Settings and held conversations of a test are its own: tests run side by side."""
    own = tmp_path_factory.getbasetemp() / f"own-{next(_NUMBERS)}"
    monkeypatch.setenv("XDG_STATE_HOME", str(own / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own / "config"))
    # Agents of tests leave proof beside their project: those that are about the sandbox say so.
    monkeypatch.setenv("SEGUE_SANDBOX", "none")
