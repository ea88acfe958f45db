"""The plugin for Claude Code: its files are whole, and what they call is there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from segue import __version__
from segue.cli import main
from segue.cli.resume_words import ASK, chosen

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "integrations" / "claude-code"
COMMANDS = sorted((PLUGIN / "commands").glob("*.md"))
SKILL = PLUGIN / "skills" / "segue" / "SKILL.md"
PAGES = [*COMMANDS, SKILL, PLUGIN / "README.md"]
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
DESCRIPTION_CHARS_MAX = 1024  # of a skill; what is longer is cut off
SENTENCES_OF_THE_ORIGINAL = (
    "이어서 써줘", "resume", "계속 집필", "어디까지 했지", "/resume", "중단된 거 이어서", "다시 시작",
)  # fmt: skip


def name_of(path: Path) -> str:
    return path.relative_to(PLUGIN).as_posix()


def manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PLUGIN / ".claude-plugin" / name).read_text("utf-8"))
    return found


def front_matter(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8")
    assert text.startswith("---\n")
    head, end, body = text.removeprefix("---\n").partition("\n---\n")
    assert end, "the front matter has no end"
    assert body.strip(), "there is nothing behind the front matter"
    found = YAML(typ="safe").load(head)
    assert isinstance(found, dict)
    return found


def command_named(name: str) -> click.Command:
    group = main.make()
    command = group.get_command(click.Context(group), name)
    assert command is not None, f"no such command: {name}"
    return command


def calls(path: Path) -> list[list[str]]:
    """The words of every `segue …` in the text, without what the user adds."""
    spans = re.findall(r"`(segue[^`]*)`", " ".join(path.read_text("utf-8").split()))
    words = [shlex.split(span) for span in spans]
    return [[word for word in each[1:] if word != "$ARGUMENTS"] for each in words if each[1:]]


def triggers() -> list[str]:
    return re.findall(r'"([^"]+)"', front_matter(SKILL)["description"])


def test_the_manifest_says_who_it_is() -> None:
    """plugin.json has the name that commands get, the version of Segue, and what it is for."""
    told = manifest("plugin.json")
    assert NAME.fullmatch(told["name"])
    assert told["version"] == __version__
    assert told["description"]
    assert told["author"]["name"]
    assert told["license"] in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_folder_is_a_marketplace_of_its_own() -> None:
    """It can be added as it is: the one plugin that it lists is in this folder."""
    told = manifest("marketplace.json")
    assert NAME.fullmatch(told["name"])
    assert told["owner"]["name"]
    (plugin,) = told["plugins"]
    assert plugin["name"] == manifest("plugin.json")["name"]
    assert plugin["source"].startswith("./")
    assert (PLUGIN / plugin["source"]).resolve() == PLUGIN


def test_there_is_a_command_for_each_of_the_originals() -> None:
    """/resume, /write-all and /develop, each named as the command that it calls."""
    assert [path.stem for path in COMMANDS] == ["develop", "resume", "write-all"]


@pytest.mark.parametrize("path", COMMANDS, ids=name_of)
def test_a_command_calls_its_own_command(path: Path) -> None:
    """It says what it does, hands the arguments on, and may run nothing but Segue."""
    head = front_matter(path)
    assert head["description"]
    allowed = head["allowed-tools"].split(", ")
    assert f"Bash(segue {path.stem}:*)" in allowed
    assert all(re.fullmatch(r"Bash\(segue [a-z-]+:\*\)", tool) for tool in allowed)
    text = path.read_text("utf-8")
    assert "$ARGUMENTS" in text
    assert any(call[0] == path.stem for call in calls(path))


@pytest.mark.parametrize("path", COMMANDS, ids=name_of)
def test_hints_name_options_that_exist(path: Path) -> None:
    """What is offered behind a command is understood by it, with all of its values."""
    for option, values in re.findall(r"(--[\w-]+)(?: ([\w|-]+\|[\w|-]+))?", hint_of(path)):
        for value in values.split("|"):
            arguments = [option, value] if value else [option]
            command_named(path.stem).make_context(path.stem, arguments, resilient_parsing=False)


def hint_of(path: Path) -> str:
    return str(front_matter(path)["argument-hint"])


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_call_of_segue_is_understood(path: Path) -> None:
    """Each `segue …` in the text is a command that exists, with options and values it knows."""
    found = calls(path)
    assert found
    for name, *arguments in found:
        command_named(name).make_context(name, arguments)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_option_in_the_text_exists(path: Path) -> None:
    """An option that stands alone in the text is one of the commands that the text calls."""
    text = path.read_text("utf-8")
    names = {call[0] for call in calls(path)}
    known = {opt for name in names for param in command_named(name).params for opt in param.opts}
    told = {option for option in re.findall(r"`(--[\w-]+)`", text) if option != "--plugin-dir"}
    assert told <= known


def test_the_skill_fits() -> None:
    """Its name is that of its folder, and its description is short enough to be read whole."""
    head = front_matter(SKILL)
    assert head["name"] == SKILL.parent.name
    assert NAME.fullmatch(head["name"])
    assert len(head["description"]) <= DESCRIPTION_CHARS_MAX


def test_the_sentences_of_the_original_are_triggers() -> None:
    """All of them, to the letter, and English ones beside them."""
    assert set(SENTENCES_OF_THE_ORIGINAL) <= set(triggers())
    english = [each for each in triggers() if each.isascii() and " " in each]
    assert len(english) >= 3


@pytest.mark.parametrize("sentence", triggers())
def test_a_trigger_is_understood_and_harmless(sentence: str) -> None:
    """`segue resume WORDS` knows every trigger, and none of them rewrites or empties anything."""
    assert chosen(sentence) in ("continue", "status", ASK)


@pytest.mark.parametrize(
    ("sentence", "choice"),
    [
        ("이어서 써줘", "continue"),
        ("계속 집필", "continue"),
        ("중단된 거 이어서", "continue"),
        ("keep writing", "continue"),
        ("pick up where we left off", "continue"),
        ("어디까지 했지", "status"),
        ("where was I", "status"),
        ("how far is the book", "status"),
        ("start the chapter again", ASK),
        ("다시 시작", ASK),
        ("처음부터 다시", ASK),
        ("start over", ASK),
    ],
)
def test_a_trigger_does_what_it_says(sentence: str, choice: str) -> None:
    """What people say leads to what they mean."""
    assert sentence in triggers()
    assert chosen(sentence) == choice
