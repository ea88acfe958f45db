"""A command owns a plan while it changes its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.engine.locks import lock_path
from segue.store.lock import holder
from segue.work.owned import owned
from segue.work.project import Project


def test_a_plan_is_locked_while_it_is_owned(tmp_path: Path) -> None:
    """Others see who holds it; afterwards nobody does, whatever went wrong meanwhile."""
    path = tmp_path / "PLAN.md"
    path.write_text("- [ ] T-1: a\n")
    lock = lock_path(Project(tmp_path), path)
    with pytest.raises(RuntimeError), owned(path, "tasklist") as ledger:
        assert ledger.tasks == {}
        assert holder(lock) is not None
        raise RuntimeError
    assert holder(lock) is None
