"""The clients of a tmux server; with a real one: tests/integration/test_tmux.py."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from segue.drivers.panes import HostGone
from segue.drivers.tmux.host import TmuxPanes


def test_an_old_tmux_is_told(tmp_path: Path) -> None:
    """One whose clients would hold up panes is not used."""
    program = tmp_path / "tmux"
    program.write_text("#!/bin/sh\necho 'S $0 1700000000 0 0 3.1c 77:1700000000'\n")
    program.chmod(0o755)

    async def main() -> None:
        async with TmuxPanes(tmp_path / "s", program=str(program), environ=os.environ) as panes:
            event = await anext(panes.events())
            assert isinstance(event, HostGone)
            assert "3.1c" in event.reason

    asyncio.run(main())
