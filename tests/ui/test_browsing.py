"""A browser that hangs fails no test: it is killed, and the next test gets another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Error, Playwright

from kit.page import Browsing
from kit.processes import signal_all, stop_all


@pytest.fixture
def hasty(playwright: Playwright) -> Iterator[Browsing]:
    """It gives a browser little time to close something."""
    made = Browsing(playwright, wait_s=0.5)
    yield made
    signal_all(made.pids())


def test_all_that_is_open_in_a_browser_that_hangs_is_closed(hasty: Browsing) -> None:
    """Two pages in two contexts: the browser is killed for the first, the second goes with it."""
    contexts = [hasty.browser().new_context() for _n in range(2)]
    for context in contexts:
        context.new_page()
    stop_all(hasty.pids)
    for context in contexts:
        hasty.close(context)
    again = hasty.browser().new_context()
    again.new_page()
    hasty.close(again)


def test_what_cannot_be_closed_in_a_living_browser_is_told(
    hasty: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the end of the browser is an excuse."""
    context = hasty.browser().new_context()

    def refuse() -> None:
        raise Error("no")

    monkeypatch.setattr(context, "close", refuse)
    with pytest.raises(Error, match="no"):
        hasty.close(context)
