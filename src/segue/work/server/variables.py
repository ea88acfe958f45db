"""What agents asked people for comes by the environment, under these names."""

from __future__ import annotations

import re

from segue.dialects.blocks import is_variable
from segue.work.server.records import Records

REFUSED = (
    "SELECT name, preset FROM server_gates WHERE task = ? AND kind = 'dependency'"
    " AND state = 'rejected' AND preset IS NOT NULL ORDER BY created_at, rowid"
)


def variable(name: str) -> str:
    """The environment variable for something that is asked for by this name."""
    if is_variable(name):
        return name
    made = re.sub(r"\W+", "_", name.upper(), flags=re.ASCII).strip("_") or "VALUE"
    return f"PROVIDED_{made}" if made[0].isdigit() or made.startswith("SEGUE") else made


def defaults(records: Records, task: str) -> dict[str, str]:
    """What an agent named as good enough, of all that people refused it."""
    rows = records.store.all(REFUSED, task)
    return {variable(row["name"]): row["preset"] for row in rows}
