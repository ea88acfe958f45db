"""What was asked of the server: one line of JSON for each request, without tokens and bodies.

What went wrong inside is a line too, and is also printed on standard error.
"""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from segue.dialects.lines import plain_text

LOG_BYTES_MAX = 10_000_000
LOGS_KEPT = 5

logger = logging.getLogger("segue.server.log")
inside = logging.getLogger("segue")
shown: logging.Handler = logging.lastResort or logging.StreamHandler()  # standard error


class Lines(logging.Formatter):
    """A request's line is JSON already; others are made so."""

    def format(self, record: logging.LogRecord) -> str:
        if record.name == logger.name:
            return record.getMessage()
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "said": record.getMessage(),
        }
        if task := getattr(record, "task", None):
            line["task"] = task
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Harmless(logging.Formatter):
    """What stands on a terminal only shows: other people's text may be in it."""

    def format(self, record: logging.LogRecord) -> str:
        return plain_text(super().format(record))


shown.setFormatter(Harmless())


class Rotating(RotatingFileHandler):
    """One look at its size for each line: it may grow by one line beyond the bound."""

    def shouldRollover(self, record: logging.LogRecord) -> int:  # noqa: N802 - its own name
        if self.stream is None:
            self.stream = self._open()
        return int(os.fstat(self.stream.fileno()).st_size >= self.maxBytes)


def to_file(path: Path) -> logging.Handler:
    """Write the lines to a file that does not grow for ever; close the handler at the end."""
    handler = Rotating(
        path, maxBytes=LOG_BYTES_MAX, backupCount=LOGS_KEPT, encoding="utf-8", delay=True
    )
    handler.setFormatter(Lines())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    inside.addHandler(handler)
    if shown not in inside.handlers:
        inside.addHandler(shown)
    return handler


def stop(handler: logging.Handler) -> None:
    logger.removeHandler(handler)
    inside.removeHandler(handler)
    inside.removeHandler(shown)
    handler.close()


def request_done(
    *,
    method: str,
    route: str,
    status: int,
    duration_s: float,
    request: str,
    client: str,
    parameters: dict[str, Any],
) -> None:
    """The path is that of the route, with names in the place of values; the query is left out."""
    if not logger.isEnabledFor(logging.INFO):
        return
    line: dict[str, object] = {
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "request": request,
        "method": method,
        "path": route,
        "status": status,
        "ms": round(duration_s * 1000, 2),
        "client": client,
    }
    id = parameters.get("id")
    if isinstance(id, str):
        kind = "task" if route.startswith(("/api/tasks/", "/tasks/")) else "id"
        line[kind] = id[:100]
    logger.info(json.dumps(line, ensure_ascii=False))
