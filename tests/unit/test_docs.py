"""The documents say what the program does: every key, command and option has its place."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

from segue.cli import main
from segue.dialects.limits import extra
from segue.work.settings import config

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "README.ko.md"])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(`{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
KEYS = {
    "": tuple(
        f.name
        for f in fields(config.Config)
        if f.compare
        and f.name
        not in (
            "agents",
            "checks",
            "leash",
            "recovery",
            "limit_patterns",
            "notify",
            "plans",
            "reviews",
            "types",
        )
    ),
    "[agents.NAME]": tuple(config.AGENT_KEYS),
    "[checks]": tuple(config.SANDBOX_KEYS),
    "[plans]": tuple(config.PLAN_KEYS),
    "[leash]": tuple(config.LEASH_KEYS),
    "[recovery]": tuple(config.RECOVERY_KEYS),
    "[[limits.patterns]]": extra.KEYS,
    "[notify]": tuple(config.NOTIFY_KEYS),
    "[reviews]": tuple(config.REVIEW_KEYS),
    "[types.NAME]": config.TYPE_KEYS,
    "[[types.NAME.phases]]": tuple(config.PHASE_KEYS),
}


def options_of(name: str) -> list[str]:
    """All spellings of all options of a command."""
    group = main.make()
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return [
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    ]


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text below a heading of the second level, up to the next one."""
    _before, _heading, rest = text.partition(
        f"\n## `{heading}`\n" if heading else "\n## At the top"
    )
    return rest.partition("\n## ")[0]


@pytest.mark.parametrize(("table", "keys"), KEYS.items(), ids=str)
def test_every_setting_is_explained(table: str, keys: tuple[str, ...]) -> None:
    """configuration.md has a row for each key, in the part about its table, and no other rows."""
    rows = re.findall(r"^\| `(\w+)`", section(page("configuration"), table), re.MULTILINE)
    assert sorted(rows) == sorted(keys)


@pytest.mark.parametrize("section_name", ["leash", "recovery"])
def test_defaults_are_true(section_name: str) -> None:
    """The default that configuration.md gives for a key is the one that holds."""
    settings = getattr(config.built_in(), section_name)
    text = section(page("configuration"), f"[{section_name}]")
    for key, shown in re.findall(r"^\| `(\w+)`[^|]*\| ([^|]*) \|", text, re.MULTILINE):
        read, name, _wanted = {**config.LEASH_KEYS, **config.RECOVERY_KEYS}[key]
        value = getattr(settings, "resume_words" if name == "resume_text" else name)
        if isinstance(value, float | int) and re.fullmatch(r'`"\d+[smhd]"`', shown):
            assert read(shown.strip('`"')) == value, key  # a duration with its unit
            continue
        told = shown.strip("`\"'")
        assert value is None or told == (value if isinstance(value, str) else f"{value:g}"), key


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_has_a_page_with_its_options(name: str) -> None:
    """A command's page names the command and each of its options, and the exit codes."""
    text = page(name)
    assert f"segue {name}" in text
    assert "## Exit codes" in text
    missing = [option for option in options_of(name) if not re.search(rf"`{option}[ `]", text)]
    assert missing == []


@pytest.mark.parametrize("name", main.COMMANDS)
def test_pages_name_no_option_that_is_not_there(name: str) -> None:
    """The tables of a command's page have only options that the command knows."""
    told = set(re.findall(r"^\| `(--[\w-]+)", page(name), re.MULTILINE))
    assert told <= set(options_of(name))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    """Every link to a file of the repository leads to a file that is there."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    targets = [target for target in LINK.findall(text) if not re.match(r"[a-z]+:", target)]
    missing = [
        target
        for target in targets
        if target.partition("#")[0] and not (path.parent / target.partition("#")[0]).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_to_headings_lead_to_a_heading(path: Path) -> None:
    """A link with a # names a heading of the page that it leads to."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        name, _hash, anchor = target.partition("#")
        if not anchor or re.match(r"[a-z]+:", target):
            continue
        other = (path.parent / name) if name else path
        headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
        assert anchor in anchors, target


def test_the_readmes_have_the_same_shape() -> None:
    """The Korean README has as many headings, table rows and code blocks as the English one."""
    shapes = []
    for name in ("README.md", "README.ko.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        shapes.append(
            [len(re.findall(p, text, re.MULTILINE)) for p in (r"^##? ", r"^\| ", r"^```")]
        )
    assert shapes[0] == shapes[1]
