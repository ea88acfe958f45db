"""What the agents of a feature are told: in two languages, and replaceable by a person."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from segue import i18n
from segue.plans import checkpoints as document
from segue.work.feature import prompts
from segue.work.feature.prompts import NAMES, fill, template

OURS = files("segue.work.feature") / "templates"
LANGUAGES = ("en", "ko")
KNOWN = {
    "design": {"feature", "target"},
    "review": {"feature", "target"},
    "implement": {
        "feature",
        "target",
        "checkpoint",
        "description",
        "validate",
        "files",
        "iteration",
        "iterations",
    },
    "merge": {"feature", "target", "validations", "outcome"},
}


@pytest.fixture(autouse=True)
def english() -> None:
    i18n.use("en")


def ours(name: str, language: str) -> str:
    ending = "" if language == "en" else f".{language}"
    return (OURS / f"{name}{ending}.md").read_text("utf-8")


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\$(\w+)", text, re.ASCII))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_every_language_has_the_same_placeholders(name: str, language: i18n.Language) -> None:
    """All that is known is told, and nothing stays unfilled."""
    assert placeholders(ours(name, language)) == KNOWN[name]
    values = {key: f"<{key}>" for key in KNOWN[name]}
    i18n.use(language)
    text = fill(name, Path("/nowhere"), None, values)
    assert "$" not in text
    assert all(value in text for value in values.values())


@pytest.mark.parametrize("name", NAMES)
def test_the_language_in_use_is_the_agents(name: str) -> None:
    """A Korean user's agents are told in Korean."""
    i18n.use("ko")
    assert template(name, Path("/nowhere"), None) == ours(name, "ko")
    i18n.use("en")
    assert template(name, Path("/nowhere"), None) == ours(name, "en")


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_shape(name: str) -> None:
    """As many headings, numbered points and code blocks."""
    patterns = (r"^## ", r"^\d\. ", r"^ *- ", r"^```")
    shapes = [
        [len(re.findall(p, ours(name, language), re.MULTILINE)) for p in patterns]
        for language in LANGUAGES
    ]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_of_a_review_is_a_sound_block(language: str) -> None:
    """An agent that copies its form makes no mistake."""
    found = document.read(ours("review", language))
    assert [one.id for one in found] == ["cp-1", "cp-2"]
    assert found[1].depends == ("cp-1",)


def test_the_projects_own_template_wins(tmp_path: Path) -> None:
    """Over the user's, which wins over ours; each name by itself."""
    project, user = tmp_path / "project", tmp_path / "user"
    mine = project / "segue-prompts" / "develop" / "design.md"
    theirs = [user / "prompts" / "develop" / f"{name}.md" for name in ("design", "review")]
    for path, text in ((mine, "project: $feature"), *((path, "user: $feature") for path in theirs)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    values = {"feature": "chat", "target": "x"}
    assert fill("design", project, user, values) == "project: chat"
    assert fill("review", project, user, values) == "user: chat"
    assert fill("review", project, None, values) != "user: chat"
    assert template("merge", project, user) == ours("merge", "en")


def test_dollars_of_a_person_stay(tmp_path: Path) -> None:
    """Unknown names in a template, and dollars in what is filled in, are taken as they are."""
    mine = tmp_path / "segue-prompts" / "develop" / "design.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("$feature costs $5 of $HOME, $$target; ${feature}s")
    assert (
        fill("design", tmp_path, None, {"feature": "a $target", "target": "t"})
        == "a $target costs $5 of $HOME, $target; a $targets"
    )


def test_every_template_is_known() -> None:
    """No file lies there that nobody reads."""
    names = {path.name for path in OURS.iterdir()}
    assert names == {f"{name}{end}" for name in NAMES for end in (".md", ".ko.md")}
    with pytest.raises(KeyError):
        prompts.template("other", Path("/nowhere"), None)
