"""JSON on the wire, and the cache of pages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.server import rendering
from segue.server.rendering import PageCache, dumps, rendered


def test_text_goes_out_as_it_is_and_halves_of_characters_are_replaced() -> None:
    """What an agent printed may hold anything; the answer is valid UTF-8 all the same."""
    assert dumps({"a": ["한", "\ud800", 1]}) == '{"a":["한","?",1]}'.encode()


def test_what_json_does_not_know_is_written_as_text() -> None:
    at = datetime(2026, 11, 16, tzinfo=UTC)
    found = json.loads(dumps({"at": at, "path": Path("a/b")}))
    assert found == {"at": "2026-11-16 00:00:00+00:00", "path": "a/b"}


def test_a_response_has_its_status_headers_and_kind() -> None:
    made = rendered({"id": 1}, 201, {"Location": "/api/tasks/1"})
    assert (made.status_code, made.body) == (201, b'{"id":1}')
    assert made.headers["location"] == "/api/tasks/1"
    assert made.headers["content-type"] == "application/json"


class Maker:
    """Counts how often a page was made."""

    def __init__(self, content: object) -> None:
        self.content, self.made = content, 0

    def __call__(self) -> object:
        self.made += 1
        return self.content


def test_a_page_is_made_once_until_something_is_committed() -> None:
    page_cache, make = PageCache(), Maker({"total": 0})
    first, second = page_cache.get("tasks", make), page_cache.get("tasks", make)
    assert (bytes(first.body), bytes(second.body), make.made) == (b'{"total":0}', first.body, 1)
    make.content = {"total": 1}
    page_cache.clear()
    assert (page_cache.get("tasks", make).body, make.made) == (b'{"total":1}', 2)


def test_pages_are_told_apart_by_their_key() -> None:
    page_cache = PageCache()
    assert page_cache.get(("tasks", 1), Maker(1)).body == b"1"
    assert page_cache.get(("tasks", 2), Maker(2)).body == b"2"


def test_a_full_page_cache_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded; a page that is larger than the cache is answered all the same."""
    monkeypatch.setattr(rendering, "PAGE_CACHE_BYTES_MAX", 10)
    page_cache, small, other = PageCache(), Maker("1234"), Maker("5678")
    for _turn in range(2):
        page_cache.get("small", small)
    page_cache.get("other", other)
    assert page_cache.get("small", small).body == b'"1234"'
    assert small.made == 2
    assert len(page_cache.get("large", Maker("x" * 100)).body) == 102


def test_a_page_that_cannot_be_made_is_not_kept() -> None:
    page_cache = PageCache()

    def fail() -> object:
        raise LookupError("no such task")

    with pytest.raises(LookupError):
        page_cache.get("a", fail)
    assert page_cache.get("a", Maker(1)).body == b"1"
