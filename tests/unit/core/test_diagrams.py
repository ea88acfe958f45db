"""The diagrams in the documents are those of the tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "architecture.md"


def draw(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "diagrams.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_diagrams_are_up_to_date() -> None:
    """Whoever changes a table draws its diagram again."""
    result = draw("--check")
    assert result.returncode == 0, result.stderr


def test_a_stale_diagram_is_found_and_drawn_again(tmp_path: Path) -> None:
    """Checking changes nothing; drawing mends what stands between the markers alone."""
    fresh = DOCUMENT.read_text(encoding="utf-8")
    stale = fresh.replace("intended --> running: started", "intended --> running: begun")
    copy = tmp_path / "architecture.md"
    copy.write_text(stale, encoding="utf-8")
    assert draw("--check", "--document", str(copy)).returncode == 1
    assert copy.read_text(encoding="utf-8") == stale != fresh
    assert draw("--document", str(copy)).returncode == 0
    assert copy.read_text(encoding="utf-8") == fresh


def test_a_document_without_markers_is_left_alone(tmp_path: Path) -> None:
    """Without both markers there is no place to draw."""
    copy = tmp_path / "architecture.md"
    copy.write_text("# Architecture\n", encoding="utf-8")
    result = draw("--document", str(copy))
    assert result.returncode == 1
    assert "needs" in result.stderr
    assert copy.read_text(encoding="utf-8") == "# Architecture\n"
