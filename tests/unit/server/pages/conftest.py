"""The pages alone: no door before them, commands in memory behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from jinja2 import Environment

from kit.front import Client, FakeCommands
from segue.server import problems
from segue.server.commands import NewTask
from segue.server.pages import pages
from segue.server.pages import site as site_module
from segue.server.pages.assets import Assets
from segue.server.pages.site import Site


@pytest.fixture(scope="session")
def templates() -> Environment:
    return site_module._environment(Assets())


@pytest.fixture(autouse=True)
def compiled_once(templates: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    """To compile all templates for each test takes longer than the tests."""
    monkeypatch.setattr(site_module, "_environment", lambda _assets: templates)


@pytest.fixture
def task(commands: FakeCommands) -> str:
    made: str = commands.create_task(NewTask("A title", "words"))["id"]
    return made


@pytest.fixture
def visitor(commands: FakeCommands) -> Iterator[Client]:
    """A browser of somebody who is let in."""
    app = FastAPI()
    pages(commands)(app)
    problems.install(app)
    with asyncio.Runner() as runner:
        client = Client(runner, app, {"Accept": "text/html"})
        yield client
        client.close()


@pytest.fixture
def site(commands: FakeCommands) -> Site:
    return Site(commands, Assets())
