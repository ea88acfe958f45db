"""Run all checks and tests: each part to its end, whatever failed before it.

python scripts/test.py    exit 1 if anything failed; all that failed is listed at the end

The last line adds up what pytest says at the end of each part, in pytest's own words.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = (sys.executable, "-m", "pytest", "--dist", "worksteal")
UNCOMPILED = "PYTHONDONTWRITEBYTECODE"  # each process would compile everything anew
Part = tuple[str, ...]

# Most tests wait more than they compute, so there are many more of them at once than processors.
# The real agent programs and the browser are large: fewer of them at once.
PARTS: tuple[Part, ...] = (
    ("make", "--no-print-directory", "check"),
    (*TESTS, "-n", "10", "tests", "--ignore=tests/real", "--ignore=tests/ui"),
    (*TESTS, "-n", "4", "tests/real", "tests/ui"),
)


class Report:
    """What all parts together have to say."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.counts: Counter[str] = Counter()

    def add(self, part: Part, code: int, results: Path) -> None:
        """How a part ended: the tests that failed in it, or all of it where none is named."""
        before = len(self.failed)
        if results.exists():
            for case in ET.parse(results).getroot().iter("testcase"):
                self._add_case(case)
        if code and len(self.failed) == before:
            self.failed.append(f"{' '.join(part)} (exit {code})")
            self.counts["failed"] += 1

    def _add_case(self, case: ET.Element) -> None:
        outcomes = {child.tag for child in case}
        for tag, word in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
            if tag in outcomes:
                self.counts[word] += 1
        if not outcomes & {"failure", "error", "skipped"}:
            self.counts["passed"] += 1
        if outcomes & {"failure", "error"}:
            self.failed.append(_name(case))

    def text(self, seconds: float) -> str:
        """Everything that failed, and pytest's last line for all parts."""
        words = [f"{n} {word}" for word in ORDER if (n := self.counts[word])]
        words += [f"{n} error{'s' * (n > 1)}"] if (n := self.counts["error"]) else []
        minutes, rest = divmod(int(seconds), 60)
        last = f"{', '.join(words)} in {seconds:.2f}s ({minutes // 60}:{minutes % 60:02}:{rest:02})"
        return "\n".join([*(f"FAILED {name}" for name in self.failed), last])


ORDER = ("failed", "passed", "skipped")


def _name(case: ET.Element) -> str:
    """The name by which pytest runs this test; a file that cannot be read has none yet."""
    file, name = case.get("file") or "", case.get("name") or ""
    module = file.removesuffix(".py").replace("/", ".")
    within = (case.get("classname") or "").removeprefix(module).split(".")[1:]
    return file if name == module else "::".join([file, *within, name])


def _env() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != UNCOMPILED}


def _ended(words: Part, cwd: Path) -> int:
    """Run a command; how it ended. Ctrl-C reaches the command, too: it has its last words."""
    with subprocess.Popen(words, cwd=cwd, env=_env()) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise


def run(parts: Sequence[Part], cwd: Path = ROOT) -> int:
    """Run all parts; how it ended."""
    report, begun = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(parts):
            results = Path(folder) / f"{number}.xml"
            options = ("-o", "junit_family=xunit1", f"--junitxml={results}")
            print("+", *part, flush=True)
            words = (*part, *options) if "pytest" in part else part
            report.add(part, _ended(words, cwd), results)
    print(report.text(time.monotonic() - begun), flush=True)
    return 1 if report.failed else 0


def compile_tests() -> subprocess.Popen[bytes]:
    """Read all tests once beside the checks, else every worker compiles them for itself."""
    words = (sys.executable, "-m", "pytest", "--collect-only", "tests")
    return subprocess.Popen(
        words, cwd=ROOT, env=_env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def main() -> int:
    with compile_tests() as compiling:
        try:
            return run(PARTS)
        finally:
            compiling.terminate()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
