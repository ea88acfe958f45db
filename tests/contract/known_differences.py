"""Where a kind of work differs from the contract: test → kind → the difference.

Each row is a strict xfail, so a fix turns the test red until its row is removed. A row is written
only after the test was seen to fail for the reason that it states.
"""

from __future__ import annotations

Rows = dict[str, dict[str, str]]

KNOWN: Rows = {}
