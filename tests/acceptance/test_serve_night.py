"""`segue serve`: a whole night of one task, with all that can stop it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.serve import House
from kit.waiting import until

LONG = "This is a whole sentence of real work, written out in full and meant to be read. " * 6
NIGHT = f"""
write docs/plan.md {LONG}
phase 1
write docs/requirements.md {LONG}
ask "Which database?" PostgreSQL SQLite
phase 1
write docs/design.md {LONG}
depend api_key STRIPE_KEY for payments
env key.txt STRIPE_KEY
phase 2
write src/shop/app.py print("a whole shop")
write src/shop/pay.py print("a whole till")
limit rate_limit 3s
phase 3
write docs/test-report.md {LONG}
write tests/test_shop.py assert True
phase 4
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def test_a_night_of_create_app(house: House) -> None:
    """Rework, question, dependency, limit, two kill -9 and a power cut: completed once, with its ZIP."""
    house.actor("play", NIGHT)
    server = house.serve()
    task = server.new("play", "create_app", title="Shop", description="A small web shop.")
    server.agent_is(task, "waiting_question")
    server.kill()
    server = house.serve()
    server.answer(task, "SQLite").ok()
    server.approve(task).ok()
    server.agent_is(task, "waiting_dependency")
    house.power_cut()
    server = house.serve()
    server.provide(task, "sk_test_0123456789").ok()
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    server.approve(task).ok()
    server.agent_is(task, "paused")
    server.kill()
    server = house.serve()
    until(lambda: server.task(task)["currentPhase"] == 3, "phase 3")
    server.approve(task).ok()
    until(lambda: server.task(task)["currentPhase"] == 4, "phase 4")
    server.approve(task).ok()
    done = server.reaches(task, "completed")
    assert server.zip(task).keys() == {
        "docs/plan.md", "docs/requirements.md", "docs/design.md", "src/shop/app.py",
        "src/shop/pay.py", "docs/test-report.md", "tests/test_shop.py",
    }  # fmt: skip
    key = (Path(done["workspace"]) / "key.txt").read_text().splitlines()
    assert len(key) == 1 and "18" in key[0], "it was there, once"
    path = server.path(task)
    assert path[0] == "draft" and path.count("completed") == 1 and path.count("review") == 4
    reworks = [row for row in server.journal(task) if row["trigger"] == "rework"]
    assert len([row for row in reworks if row["entity"] == "task"]) == 1
    agent = server.path(task, "agent")
    for state in ("waiting_question", "waiting_dependency", "paused"):
        assert agent.count(state) == 1, state
    until(lambda: not house.agents(), "no process is left")
