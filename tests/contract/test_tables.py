"""The tables of the suite name tests and kinds that exist, and say why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contract.cells import NOT_APPLICABLE
from contract.known_differences import KNOWN, Rows
from contract.subjects import KINDS

HERE = Path(__file__).parent


def names() -> set[str]:
    """Every test of the contract that runs for the kinds of work."""
    texts = [path.read_text("utf-8") for path in HERE.glob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


@pytest.mark.parametrize("rows", [NOT_APPLICABLE, KNOWN], ids=["not_applicable", "known"])
def test_each_row_names_a_test_and_kinds_with_a_reason(rows: Rows) -> None:
    """A row whose test was renamed or removed would silently mean nothing."""
    assert rows.keys() <= names()
    for name, kinds in rows.items():
        assert kinds.keys() <= KINDS.keys(), name
        assert all(reason.strip() for reason in kinds.values()), name
