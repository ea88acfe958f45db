"""Ask another program once: start it, let it end within its time, take what it printed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from segue.drivers.panes import HostGoneError, PaneSilentError
from segue.i18n import _


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    code: int
    out: str
    err: str


async def run(
    argv: Sequence[str], env: Mapping[str, str], *, stdin: str = "", within_s: float = 5.0
) -> ProgramOutput:
    """HostGoneError: it is not installed. PaneSilentError: it did not end, and was killed."""
    name = PurePath(argv[0]).name
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (FileNotFoundError, PermissionError) as error:
        text = _("{program} is not installed").format(program=name)
        raise HostGoneError(text) from error
    try:
        async with asyncio.timeout(within_s):
            out, err = await process.communicate(stdin.encode())
    except TimeoutError as error:
        text = _("{program} does not respond").format(program=name)
        raise PaneSilentError(text) from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()
    assert process.returncode is not None
    return ProgramOutput(
        process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    )
