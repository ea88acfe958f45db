"""What an agent said last, for whoever looks while it works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.work.last_words import last_words
from segue.work.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.prepare()
    return made


def test_the_last_line_of_text(project: Project) -> None:
    """Also of very much; nothing where there is nothing."""
    log = project.logs / "r1.log"
    assert last_words(project, "r1", "shell") is None
    log.write_text("one\ntwo  \n\n")
    assert last_words(project, "r1", "shell") == "two"
    log.write_text("x\n" * 100_000 + "the end")
    assert last_words(project, "r1", "nobody") == "the end"


def test_the_last_words_of_a_structured_agent(project: Project) -> None:
    """Its words, not its JSON."""
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "I begin."}]}}
    (project.logs / "r1.log").write_text(json.dumps(said) + "\n")
    assert last_words(project, "r1", "claude") == "I begin."
