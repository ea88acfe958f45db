"""A task list that waits for a person: one task has asked something, another one has failed."""

from __future__ import annotations

from datetime import UTC, datetime

from kit.bench import Bench
from segue.dialects.events import Asked, LimitHit

TWO = "- [ ] T-1: Build\n  - retries: 0\n- [ ] T-2: Test\n  - retries: 0\n"


def asked(bench: Bench, *options: str) -> str:
    """T-1 asks which database, T-2 fails; the gate's id."""
    bench.begin(TWO)
    first, second = bench.engine.begun
    bench.starts(first)
    bench.starts(second)
    bench.says(Asked("Which database?", options or ("PostgreSQL", "SQLite")), job=first)
    bench.ends(143, job=first, is_ours=True)
    bench.ends(1, job=second)
    bench.run.ledger.commit()
    (gate,) = bench.run.ledger.gates
    return gate


def parked(bench: Bench, wait_s: float = 3600.0) -> None:
    """T-1 is parked at a limit of the account `claude`, from now: commands know the real time."""
    bench.clock.at = datetime.now(UTC)
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.says(LimitHit("session_limit", wait_s=wait_s))
    bench.ends(1)
    bench.run.ledger.commit()
