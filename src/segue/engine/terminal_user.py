"""The person at this process's terminal, for the journal."""

from __future__ import annotations

import getpass
import os
from contextlib import suppress

from segue.store.actors import Actor


def at_terminal() -> Actor:
    """Known by the system's user of this process, and by its terminal where it has one."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        name = str(os.getuid())
    for stream in (0, 1, 2):
        with suppress(OSError):
            return Actor(f"{name} ({os.ttyname(stream).removeprefix('/dev/')})", "terminal")
    return Actor(name, "terminal")
