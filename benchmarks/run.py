"""Measure Segue against what people would use instead.

python benchmarks/run.py            everything; prints a table, writes docs/benchmarks.md
python benchmarks/run.py NAME…      some of it; prints a table only

Exit code 1: a target was missed, or a figure could not be taken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import against_prefect
import audit
import detect
import hook
import machine
import makespan
import move
import noise
import panes
import parks
import parse
import rest
import sandbox
import serve
import sizes
import startup
import tasks
from measure import CACHE, ROOT, Figure, Unmeasured
from page import page, table

BENCHMARKS: dict[str, ModuleType] = {
    "tasks": tasks,
    "sizes": sizes,
    "prefect": against_prefect,
    "makespan": makespan,
    "parse": parse,
    "move": move,
    "audit": audit,
    "startup": startup,
    "hook": hook,
    "sandbox": sandbox,
    "detect": detect,
    "parks": parks,
    "panes": panes,
    "serve": serve,
    "rest": rest,
    "noise": noise,
}
DOCUMENT = ROOT / "docs" / "benchmarks.md"


def measured(name: str, folder: Path) -> list[Figure] | str:
    """The figures of one benchmark, or why there are none."""
    print(f"{name} …", file=sys.stderr, flush=True)
    try:
        figures: list[Figure] = BENCHMARKS[name].measure(folder)
    except Unmeasured as error:
        print(f"{name}: {error}", file=sys.stderr)
        return str(error)
    for figure in figures:
        for detail in figure.details:
            print(f"  {detail}", file=sys.stderr)
    return figures


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Segue against what people would use instead")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args(arguments).names
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]}; there are: {', '.join(BENCHMARKS)}")
    CACHE.mkdir(exist_ok=True)
    load_before = machine.load()
    # Beside the repository's own files: a temporary folder in memory would flatter the disk.
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="bench-") as folder:
        results = {name: measured(name, Path(folder)) for name in names or BENCHMARKS}
        facts = machine.facts(Path(folder))
    facts.append(("load before and after", f"{load_before:.1f}, {machine.load():.1f}"))
    print(table(results), end="")
    if not names:
        words = {name: module.__doc__ or "" for name, module in BENCHMARKS.items()}
        date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        DOCUMENT.write_text(page(results, words, facts, date))
    missed = [r for r in results.values() if isinstance(r, str) or not all(map(_reached, r))]
    return 1 if missed else 0


def _reached(figure: Figure) -> bool:
    return figure.is_reached


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
