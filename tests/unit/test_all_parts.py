"""`make test`: every part is run to its end, and what failed is listed once more."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("all_parts", ROOT / "scripts" / "test.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def part(folder: Path, text: str) -> tuple[str, ...]:
    """A part whose tests are these."""
    folder.mkdir()
    (folder / "test_it.py").write_text(text)
    return (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder.name)


GOOD = "def test_good():\n    pass\n"
BAD = (
    "import pytest\n@pytest.mark.parametrize('n', [1, 'a.b'])\ndef test_bad(n):\n    assert False\n"
)
CLASS = "class TestIt:\n    def test_bad(self):\n        assert False\n"
NO_TEST = "raise ValueError\n"


def test_a_part_that_fails_stops_no_other(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """All that failed is listed at the end, by the name that pytest takes; the sum comes last."""
    parts = [
        (sys.executable, "-c", "raise SystemExit(3)"),
        part(tmp_path / "one", BAD + GOOD),
        part(tmp_path / "two", NO_TEST),
        part(tmp_path / "three", GOOD + CLASS),
    ]
    assert script.run(parts, tmp_path) == 1
    lines = capfd.readouterr().out.splitlines()
    assert lines[-6:-1] == [
        f"FAILED {sys.executable} -c raise SystemExit(3) (exit 3)",
        "FAILED one/test_it.py::test_bad[1]",
        "FAILED one/test_it.py::test_bad[a.b]",
        "FAILED two/test_it.py",
        "FAILED three/test_it.py::TestIt::test_bad",
    ]
    assert lines[-1].startswith("4 failed, 2 passed, 1 error in ")


def test_all_parts_that_pass_are_added_up(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The exit says that all is well."""
    parts = [part(tmp_path / "one", GOOD), part(tmp_path / "two", GOOD)]
    assert script.run(parts, tmp_path) == 0
    assert capfd.readouterr().out.splitlines()[-1].startswith("2 passed in ")


def test_the_parts_run_side_by_side_and_are_shown_one_after_the_other(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first waits for what the second makes; yet each is printed in one piece, in order."""
    wait = "import pathlib, time\nwhile not pathlib.Path('made').exists(): time.sleep(0.01)\n"
    parts = [
        (sys.executable, "-c", f"{wait}print('first')"),
        (sys.executable, "-c", "print('second'); open('made', 'w')"),
    ]
    assert script.run(parts, tmp_path) == 0
    out = capfd.readouterr().out
    words = [line for line in out.splitlines() if line in ("first", "second")]
    assert words == ["first", "second"]


def test_what_comes_before_the_second_part_is_done_beside_the_first(
    script: ModuleType, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    need = (sys.executable, "-c", "assert open('made').read() == 'it'")
    done = (sys.executable, "-c", "pass")
    assert script.run([done, need], tmp_path, after_first=lambda: made.write_text("it")) == 0


def test_each_folder_of_tests_belongs_to_one_part(script: ModuleType) -> None:
    """A test that no part names would never be run."""
    folders = {path.relative_to(ROOT).parts[1] for path in (ROOT / "tests").rglob("test_*.py")}
    named = [word for part in script.PARTS for word in part if word.startswith("tests/")]
    assert sorted(named) == sorted(f"tests/{folder}" for folder in folders)
