"""The other side of `against_prefect`: run by Prefect's own Python, prints its rates as JSON."""

# Prefect lives in an environment of its own, where the type checker does not look.
# mypy: disable-error-code="import-not-found, untyped-decorator"

from __future__ import annotations

import json
import sys
import time

from prefect import flow, task
from prefect.client.orchestration import get_client
from prefect.task_runners import ThreadPoolTaskRunner

ROUNDS = 2
RECORDED_S_MAX = 120.0
LOOK_S = 0.05


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


def wait_until_recorded(total: int) -> None:
    """A flow returns before its server has written all of its task runs down."""
    completed = {"task_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}}
    until = time.monotonic() + RECORDED_S_MAX
    with get_client(sync_client=True) as client:
        while (count := client.request("POST", "/task_runs/count", json=completed).json()) < total:
            if time.monotonic() > until:
                raise TimeoutError(f"{count} of {total} task runs recorded")
            time.sleep(LOOK_S)


def main(n: int) -> None:
    called(1)  # starts the server
    total = 1
    wait_until_recorded(total)
    rates: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, flow_of_n in (("called", called), ("submitted", submitted)):
            started = time.perf_counter()
            flow_of_n(n)
            returned_s = time.perf_counter() - started
            total += n
            wait_until_recorded(total)  # else the next round would pay for this one
            recorded_s = time.perf_counter() - started
            rates.setdefault(f"{name}, until the flow returns", []).append(n / returned_s)
            rates.setdefault(f"{name}, until recorded", []).append(n / recorded_s)
    print(json.dumps(rates))


if __name__ == "__main__":
    main(int(sys.argv[1]))
