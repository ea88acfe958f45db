"""Fixtures of the page's tests: a server for each test, one browser for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Playwright, expect, sync_playwright

from kit.page import TOKEN, WAIT_S, Browsing, Server, Watcher

expect.set_options(timeout=WAIT_S * 1000)

# What the agents of these tests do, by name.
AGENTS = {
    "quick": "say Done\ndone\n",
    "writer": (
        "write docs/draft.md # A draft\nappend docs/draft.md One line.\nphase 1\n"
        "append docs/draft.md Another line.\nphase 1\n"
        "write docs/final.md # The end\nphase 2\n"
    ),
    "short": "write docs/draft.md # A draft\nphase 1\nwrite docs/final.md # The end\nphase 2\n",
    "asker": 'ask "Which database?" PostgreSQL SQLite Both\nsay thanks\ndone\n',
    "needy": "depend api_key STRIPE_KEY for the payments\nenv got.txt STRIPE_KEY\ndone\n",
    "limited": "say begun\nlimit session_limit 2h\ndone\n",
    "busy": "say begun\nwait 300s\ndone\n",
    "failing": "error fatal checkpoint_and_fail it cannot be done\n",
}
TYPES = """
[types.report]
[[types.report.phases]]
name = "draft"
deliverables = ["docs/draft.md"]
[[types.report.phases]]
name = "final"
deliverables = ["docs/final.md"]
"""
Open = Callable[..., Page]


@pytest.fixture
def agents() -> dict[str, str]:
    """More scenarios, for those who need them."""
    return {}


@pytest.fixture
def server(tmp_path: Path, agents: dict[str, str]) -> Iterator[Server]:
    made = Server(tmp_path, {**AGENTS, **agents}, TYPES)
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def browsing(playwright: Playwright) -> Iterator[Browsing]:
    found = Browsing(playwright)
    yield found
    found.end()


@pytest.fixture
def open_page(server: Server, browsing: Browsing) -> Iterator[Open]:
    """A page for somebody who is logged in; in the end nothing has gone wrong in any of them."""
    watchers: list[Watcher] = []
    contexts = []

    def make(*, is_in: bool = True, **options: Any) -> Page:
        context = browsing.browser().new_context(
            base_url=server.url, **{"locale": "en-GB", "timezone_id": "UTC", **options}
        )
        contexts.append(context)
        context.set_default_timeout(WAIT_S * 1000)
        page = context.new_page()
        watchers.append(Watcher(page, server.url))
        if is_in:
            page.goto(f"/login?token={TOKEN}")
        return page

    yield make
    for context in contexts:
        browsing.close(context)
    assert [fault for watcher in watchers for fault in watcher.faults] == []
    assert [place for watcher in watchers for place in watcher.elsewhere] == []


@pytest.fixture
def page(open_page: Open) -> Page:
    return open_page()
