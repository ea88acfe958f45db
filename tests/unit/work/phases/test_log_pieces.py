"""A task's log: the logs of its runs as if they were one."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.work.phases.reading import _read_on


@pytest.mark.parametrize(
    ("offset", "limit", "piece"),
    [(0, 100, b"onethree"), (2, 100, b"ethree"), (0, 4, b"onet"), (3, 100, b"three"), (8, 9, b"")],
)
def test_a_run_that_has_no_log_yet_is_passed_over(
    tmp_path: Path, offset: int, limit: int, piece: bytes
) -> None:
    """Also where there is something before it and behind it."""
    paths = [tmp_path / name for name in ("1", "2", "3")]
    paths[0].write_bytes(b"one")
    paths[2].write_bytes(b"three")
    assert _read_on(paths, offset, limit) == (piece, 8)
