"""Agents that are alive, found without any memory of them: by what their environment says.

Claims and tables may be lost (`rm -rf .segue`, `git clean -fdx`, a damaged disk) while the agents
work on. Each was started with the facts of its run in its environment, which it cannot take back.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from segue.drivers import nursery, processes
from segue.drivers.processes import Process

RUN, PROJECT = "SEGUE_RUN", "SEGUE_PROJECT"
_RUN_ID = re.compile(r"\w[\w.-]{0,120}\Z")  # it becomes part of file names
_KEEPER = os.fsencode(nursery.__file__)


@dataclass(frozen=True, slots=True)
class LivingAgent:
    """The first process of a run. `keeper`: who holds it, if that lives as well."""

    process: Process
    facts: dict[str, str]  # SEGUE_… of its environment
    keeper: Process | None

    @property
    def run(self) -> str:
        return self.facts[RUN]

    def says(self, name: str) -> str:
        return self.facts.get(name, "")


def living_agents(project: str) -> list[LivingAgent]:
    """One for each run of this project that has a living process; not those that we run in."""
    return _roots(_find(PROJECT, project))


def keeper_of(run: str) -> Process | None:
    """The living keeper of a run whose claim is lost."""
    agents = [agent for agent in _roots(_find(RUN, run)) if agent.keeper is not None]
    return agents[0].keeper if agents else None


def _find(name: str, value: str) -> dict[int, dict[str, str]]:
    """The facts of every process that was started with this variable, but for our ancestors."""
    above = _ancestors(os.getpid())
    found = {}
    for pid in processes.find_by_environ(name, value):
        facts = processes.environ_of(pid, "SEGUE_")
        if pid not in above and facts.get(name) == value and _RUN_ID.match(facts.get(RUN, "")):
            found[pid] = facts
    return found


def _roots(found: dict[int, dict[str, str]]) -> list[LivingAgent]:
    """Of each run the topmost process: what it started has the same environment."""
    agents: dict[str, LivingAgent] = {}
    for pid, facts in found.items():
        stat = processes.read_stat(pid)
        if stat is None or not stat.is_alive:
            continue
        parent = found.get(stat.parent)
        if parent is not None and parent[RUN] == facts[RUN]:
            continue
        agent = LivingAgent((pid, stat.started), facts, _as_keeper(stat.parent))
        if facts[RUN] not in agents or agent.keeper is not None:
            agents[facts[RUN]] = agent
    return list(agents.values())


def _as_keeper(pid: int) -> Process | None:
    words = processes.command_line(pid)
    started = processes.start_time(pid) if _KEEPER in words else None
    return None if started is None else (pid, started)


def _ancestors(pid: int) -> set[int]:
    found = {pid}
    while (stat := processes.read_stat(pid)) is not None and stat.parent > 0:
        pid = stat.parent
        if pid in found:
            break
        found.add(pid)
    return found
