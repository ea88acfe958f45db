"""The files of the pages: known at the start, and nothing else of the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from fastapi import FastAPI

from kit.front import Client
from segue.server.pages.assets import FOR_EVER, Assets, router

CSS = b"body { color: red }"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "static" / "deep.css").mkdir(parents=True)
    (tmp_path / "static" / "a.css").write_bytes(CSS)
    (tmp_path / "static" / "NOTICE.md").write_text("licence")
    (tmp_path / "secret.css").write_text("secret")
    return tmp_path / "static"


@pytest.fixture
def browser(folder: Path) -> Iterator[Client]:
    app = FastAPI()
    app.include_router(router(Assets(folder)))
    with asyncio.Runner() as runner:
        client = Client(runner, app, {})
        yield client
        client.close()


def test_a_file_has_its_kind_and_a_mark_of_its_content(browser: Client) -> None:
    answer = browser.get("/static/a.css")
    assert (answer.status_code, answer.content) == (200, CSS)
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["etag"] == f'"{sha256(CSS).hexdigest()[:12]}"'


def test_an_address_with_the_mark_may_be_kept_for_ever(browser: Client, folder: Path) -> None:
    """One with an old mark may not: the browser would keep the new content under it."""
    assert browser.get(Assets(folder).address("a.css")).headers["cache-control"] == FOR_EVER
    for query in ("", "?v=", "?v=0123456789ab"):
        assert browser.get(f"/static/a.css{query}").headers["cache-control"] == "no-cache"


def test_who_has_it_already_gets_nothing(browser: Client) -> None:
    mark = browser.get("/static/a.css").headers["etag"]
    again = browser.get("/static/a.css", headers={"If-None-Match": mark})
    assert (again.status_code, again.content) == (304, b"")
    assert browser.get("/static/a.css", headers={"If-None-Match": '"old"'}).status_code == 200


@pytest.mark.parametrize(
    "name", ["NOTICE.md", "deep.css", "none.css", "..%2fsecret.css", "%2e%2e/secret.css", "A.CSS"]
)
def test_nothing_else_can_be_reached(browser: Client, name: str) -> None:
    assert browser.get(f"/static/{name}").status_code == 404


def test_files_are_read_at_the_start(folder: Path) -> None:
    """A file that changes later does not change what is sent under its mark."""
    assets = Assets(folder)
    (folder / "a.css").write_bytes(b"other")
    found = assets.get("a.css")
    assert found is not None
    assert found.content == CSS
    assert Assets(folder).address("a.css") != assets.address("a.css")


def test_the_files_that_pages_name_are_there() -> None:
    assets = Assets()
    for name in ("segue.css", "htmx.min.js", "live.js", "keys.js", "icon.svg"):
        assert assets.address(name).startswith(f"/static/{name}?v=")
    with pytest.raises(KeyError):
        assets.address("none.css")
