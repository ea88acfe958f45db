"""When the disk, or whoever holds the database, does not let anything be kept: on the server.

That is nobody's fault who asked for something, and it passes: the server waits for it, and goes on.
"""

from __future__ import annotations

from segue.errors import UserError
from segue.store.sqlite import Store
from segue.work.plans.storage_outage import CODES, ERRNOS, can_write, is_trouble

__all__ = ["CODES", "ERRNOS", "can_write", "is_of_database", "is_trouble"]

PATIENT_S = 2.0  # everything else waits as long: the database is used on the loop
IMPATIENT_S = 0.05  # once somebody was waited for in vain


def is_of_database(error: BaseException, store: Store) -> bool:
    """Whether it concerns everybody, and not some file of one task."""
    return isinstance(error, UserError) and error.problem.file == str(store.path)
