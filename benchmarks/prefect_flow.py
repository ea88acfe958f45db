"""The other side of `against_prefect`: run by Prefect's own Python, one flow and its end.

Prints, as JSON, the rates without start-up: until the flow returns, and until its server has
written all task runs down.
"""

# Prefect lives in an environment of its own, where the type checker does not look.
# mypy: disable-error-code="import-not-found, untyped-decorator"

from __future__ import annotations

import json
import sys
import time

from prefect import flow, task
from prefect.client.orchestration import get_client
from prefect.task_runners import ThreadPoolTaskRunner

RECORDED_S_MAX = 300.0
LOOK_S = 0.1


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


def main(how: str, n: int, recorded: bool) -> None:
    started = time.perf_counter()
    {"called": called, "submitted": submitted}[how](n)
    rates = {"until the flow returns": n / (time.perf_counter() - started)}
    if recorded:
        wait_until_recorded(n)
        rates["until recorded"] = n / (time.perf_counter() - started)
    print(json.dumps(rates))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), "recorded" in sys.argv[3:])
