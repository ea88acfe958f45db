"""What agents asked people for comes by the environment, under these names."""

from __future__ import annotations

import re

from segue.core.variables import decides_what_runs
from segue.dialects.blocks import is_variable


def variable(name: str) -> str:
    """The environment variable for something that is asked for by this name."""
    if is_variable(name) and not decides_what_runs(name):
        return name
    made = re.sub(r"\W+", "_", name.upper(), flags=re.ASCII).strip("_") or "VALUE"
    is_taken = made[0].isdigit() or made.startswith("SEGUE") or decides_what_runs(made)
    return f"PROVIDED_{made}" if is_taken else made
