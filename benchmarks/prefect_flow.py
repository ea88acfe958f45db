"""The other side of `against_prefect`: run by Prefect's own Python, prints its rates as JSON."""

# Prefect lives in an environment of its own, where the type checker does not look.
# mypy: disable-error-code="import-not-found, untyped-decorator"

from __future__ import annotations

import json
import sys
import time

from prefect import flow, task
from prefect.task_runners import ThreadPoolTaskRunner

ROUNDS = 2


@task
def nothing() -> None:
    return


@flow
def called(n: int) -> None:
    for _ in range(n):
        nothing()


@flow(task_runner=ThreadPoolTaskRunner(max_workers=2))
def submitted(n: int) -> None:
    futures = [nothing.submit() for _ in range(n)]
    for future in futures:
        future.result()


def main(n: int) -> None:
    called(1)  # starts the server
    rates: dict[str, list[float]] = {"called": [], "submitted": []}
    for _ in range(ROUNDS):
        for name, flow_of_n in (("called", called), ("submitted", submitted)):
            started = time.perf_counter()
            flow_of_n(n)
            rates[name].append(n / (time.perf_counter() - started))
    print(json.dumps(rates))


if __name__ == "__main__":
    main(int(sys.argv[1]))
