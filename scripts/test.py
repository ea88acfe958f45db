"""Run all checks and tests, the parts side by side: each to its end, whatever failed in another.

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
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parent.parent
UNCOMPILED = "PYTHONDONTWRITEBYTECODE"  # each process would compile everything anew
LOOK_S = 0.1
Part = tuple[str, ...]


def _tests(workers: int, *folders: str) -> Part:
    words = (sys.executable, "-m", "pytest", "--dist", "worksteal", "-n", str(workers))
    return (*words, *(f"tests/{folder}" for folder in folders))


# All at once. Tests that start processes wait more than they compute, so there are more of them
# than processors; the real agent programs and the browser are large, so there are fewer of them.
PARTS: tuple[Part, ...] = (
    ("make", "--no-print-directory", "check"),
    _tests(3, "unit", "golden", "properties"),
    _tests(8, "acceptance", "attacks", "contract", "integration"),
    _tests(3, "real", "ui"),
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


class Running:
    """A part that has begun. What it prints waits in a file until its turn comes."""

    def __init__(self, part: Part, cwd: Path, folder: Path) -> None:
        self.part, self.results = part, folder / "results.xml"
        options = ("-o", "junit_family=xunit1", f"--junitxml={self.results}")
        words = (*part, *options) if "pytest" in part else part
        folder.mkdir()
        with (folder / "output").open("wb") as output:
            self._process = subprocess.Popen(
                words, cwd=cwd, env=_env(), stdout=output, stderr=output
            )
        self._output = (folder / "output").open("rb")

    def show(self) -> int:
        """Print all that it says until it ends; how it ended."""
        print("+", *self.part, flush=True)
        while True:
            code = self._process.poll()
            self._print()
            if code is not None:
                return code
            time.sleep(LOOK_S)

    def _print(self) -> None:
        sys.stdout.buffer.write(self._output.read())
        sys.stdout.buffer.flush()

    def close(self) -> None:
        """Ctrl-C reaches the part, too: it has its last words before it ends."""
        self._process.wait()
        self._print()
        self._output.close()


def run(
    parts: Sequence[Part], cwd: Path = ROOT, after_first: Callable[[], None] = lambda: None
) -> int:
    """Run all parts at once, and show one after the other; how it ended. `after_first` is done
    before the second part begins."""
    report, begun = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        running = []
        for number, part in enumerate(parts):
            running.append(one := Running(part, cwd, Path(folder) / str(number)))
            stack.callback(one.close)
            if number == 0:
                after_first()
        for one in running:
            report.add(one.part, one.show(), one.results)
    print(report.text(time.monotonic() - begun), flush=True)
    return 1 if report.failed else 0


def compile_tests() -> None:
    """Read all tests once, else every worker compiles them for itself."""
    words = (sys.executable, "-m", "pytest", "--collect-only", "tests")
    subprocess.run(words, cwd=ROOT, env=_env(), capture_output=True, check=False)


def main() -> int:
    return run(PARTS, after_first=compile_tests)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
