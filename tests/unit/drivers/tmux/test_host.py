"""The panes of a tmux server that is not there; with a real one: tests/integration/test_tmux.py."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from segue.drivers.panes import HostGone
from segue.drivers.tmux.host import TmuxPanes, default_socket


def test_tmux_is_not_installed(tmp_path: Path) -> None:
    """That is a host that is gone, with words."""

    async def main() -> None:
        program = str(tmp_path / "tmux")
        async with TmuxPanes(tmp_path / "s", program=program, environ=os.environ) as panes:
            event = await anext(panes.events())
            assert isinstance(event, HostGone)
            assert "not installed" in event.reason

    asyncio.run(main())


def test_the_server_that_is_meant_by_default() -> None:
    """The one around us; else the user's own, in the folder that tmux would use."""
    uid = os.getuid()
    assert default_socket({"TMUX": "/run/x/sock,123,0"}) == Path("/run/x/sock")
    assert default_socket({"TMUX_TMPDIR": "/run/y"}) == Path(f"/run/y/tmux-{uid}/default")
    assert default_socket({}) == Path(f"/tmp/tmux-{uid}/default")
