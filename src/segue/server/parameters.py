"""What routes take besides bodies: ids, pages, keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query

Page = Annotated[int, Query(ge=1, le=1_000_000)]
PageSize = Annotated[int, Query(alias="pageSize", ge=1, le=200)]
Text = Annotated[str | None, Query(max_length=300)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="The same key with the same request returns the same response for 24 hours.",
    ),
]
SeenId = Annotated[
    int | None,
    Header(alias="Last-Event-ID", ge=0, le=2**53, description="Continue after this event."),
]
SeenQuery = Annotated[
    int | None, Query(alias="lastEventId", ge=0, le=2**53, description="The same, in the address.")
]
Offset = Annotated[int | None, Query(ge=0, le=2**53)]
Limit = Annotated[int | None, Query(ge=1, le=2**53)]
