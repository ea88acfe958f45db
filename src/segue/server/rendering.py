"""JSON responses, and a cache of the pages that were rendered last."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping

from starlette.responses import Response

PAGE_CACHE_BYTES_MAX = 16_000_000


def dumps(content: object) -> bytes:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace")


def rendered(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(dumps(content), status, headers, media_type="application/json")


class PageCache:
    """Pages that were asked for, ready to send, until something is committed."""

    def __init__(self) -> None:
        self._pages: dict[Hashable, bytes] = {}
        self._bytes = 0

    def clear(self) -> None:
        self._pages.clear()
        self._bytes = 0

    def get(self, key: Hashable, make: Callable[[], object]) -> Response:
        page = self._pages.get(key)
        if page is None:
            page = dumps(make())
            if self._bytes + len(page) > PAGE_CACHE_BYTES_MAX:
                self.clear()
            self._pages[key] = page
            self._bytes += len(page)
        return Response(page, media_type="application/json")
