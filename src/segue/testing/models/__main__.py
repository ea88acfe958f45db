"""The fake model in a process of its own: `python -m segue.testing.models`."""

from __future__ import annotations

import argparse
import asyncio
import signal
from pathlib import Path

from segue.testing.models import modes
from segue.testing.models.server import FakeModels


async def serve(models: FakeModels) -> None:
    """Serve until SIGTERM or SIGINT."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with models:
        print(models.address, flush=True)  # noqa: T201 - who started it waits for this line
        await ended.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m segue.testing.models",
        description="A fake model on loopback. Its first line is its address.",
        epilog=modes.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes one that is free")
    parser.add_argument("--log", type=Path, help="a file that gets a JSON line for each request")
    given = parser.parse_args()
    asyncio.run(serve(FakeModels(given.log, port=given.port)))


if __name__ == "__main__":
    main()
