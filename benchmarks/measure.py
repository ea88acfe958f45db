"""What every benchmark is made of: figures with a target, rounds that alternate, programs run.

The two sides of a ratio are measured in turn within the same run, so that both meet the
same machine in the same mood; the best round of each counts where a program can only be
slowed down by its surroundings, the median where the figure is a difference of two times.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"
SEGUE = Path(sys.executable).with_name("segue")
PROGRAM_S_MAX = 600.0
TOLD_CHARS = 2_000  # of what a failed program said


class Unmeasured(Exception):  # noqa: N818 - what became of the figure
    """A figure could not be taken; the words say why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, what it should be, and the raw numbers behind it."""

    name: str
    value: float
    target: float
    at_least: bool  # else at most
    unit: str = "×"
    details: tuple[str, ...] = ()

    @property
    def is_reached(self) -> bool:
        return self.value >= self.target if self.at_least else self.value <= self.target

    @property
    def target_text(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.target:g} {self.unit}"

    @property
    def value_text(self) -> str:
        digits = 0 if self.unit == "ms" else 2 if self.value >= 1 else 3
        return f"{self.value:.{digits}f} {self.unit}"


def in_turn(rounds: int, *sides: Callable[[], float]) -> list[list[float]]:
    """Each side's results, taken round by round: a, b, a, b, …"""
    results: list[list[float]] = [[] for _ in sides]
    for _round in range(rounds):
        for side, found in zip(sides, results, strict=True):
            found.append(side())
    return results


def wall_s(work: Callable[[], object]) -> float:
    """How long it takes by the clock on the wall."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cpu_s(work: Callable[[], object]) -> float:
    """How long this process computes: what others do on the machine counts for less."""
    started = time.process_time()
    work()
    return time.process_time() - started


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a measured program gets: no settings of the person who measures."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", **(more or {})}


def run(
    argv: Sequence[str | Path], cwd: Path, more_environ: Mapping[str, str] | None = None
) -> str:
    """Run a program to its good end; what it printed."""
    name = Path(argv[0]).name
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            env=environment(cwd, more_environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROGRAM_S_MAX,
            check=False,
        )
    except FileNotFoundError as error:
        raise Unmeasured(f"{name} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise Unmeasured(f"{name} did not end within {PROGRAM_S_MAX:g} s") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout)[-TOLD_CHARS:].strip()
        raise Unmeasured(f"{name} ended with exit code {done.returncode}: {said}")
    return done.stdout


def listed(numbers: Sequence[float], form: str = "{:.0f}") -> str:
    """All rounds, so that the spread can be seen."""
    return ", ".join(form.format(number) for number in numbers)
