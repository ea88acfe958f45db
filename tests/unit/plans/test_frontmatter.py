"""The block between `---` lines at the top of a plan."""

from __future__ import annotations

import pytest

from segue import i18n
from segue.plans.frontmatter import FrontMatter, read_front_matter


@pytest.fixture(autouse=True)
def _english() -> None:
    i18n.use("en")


def read(text: str) -> FrontMatter:
    return read_front_matter(text.encode().splitlines(keepends=True))


@pytest.mark.parametrize(
    "text",
    ["", "# Plan\n", "---\nagent: shell\n", "text\n---\nagent: shell\n---\n", " ---\na: b\n---\n"],
)
def test_a_plan_may_have_none(text: str) -> None:
    """A block without a beginning or an end is text."""
    found = read(text)
    assert (found.line_count, found.faults) == (0, [])
    assert found.defaults.agent is None


@pytest.mark.parametrize("end", ["---", "...", "---  "])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_its_borders(bom: str, end: str) -> None:
    """Both are counted; a byte order mark may stand before it, and YAML's own end behind it."""
    found = read(f"{bom}---\nagent: shell\n{end}\n- [ ] T-1: x\n")
    assert (found.line_count, found.defaults.agent) == (3, "shell")


@pytest.mark.parametrize(
    ("line", "agent"),
    [
        ("agent: shell", "shell"),
        ("agent: 'shell'", "shell"),
        ('agent: "sh\\"ell"', 'sh"ell'),
        ("agent: 'it''s'", "it's"),
        ("agent: shell  # mine", "shell"),
        ("agent: 'shell # it' # mine", "shell # it"),
        ("Agent：shell", "shell"),
    ],
)
def test_a_value_is_what_yaml_would_take(line: str, agent: str) -> None:
    """Without quotes and comments; a wide colon is one, too."""
    assert read(f"---\n{line}\n---\n").defaults.agent == agent


def test_in_a_command_a_hash_is_the_shell_s() -> None:
    """It is no comment there."""
    assert read("---\nverify: test # it\n---\n").defaults.verify == "test # it"


@pytest.mark.parametrize(
    "files", ["[a.py, b.py]", "\n- a.py\n- 'b.py'", "\n  - a.py\n  - b.py # x"]
)
def test_files_are_a_list_in_any_of_its_shapes(files: str) -> None:
    """In brackets, or one below the other."""
    assert read(f"---\nfiles: {files}\n---\n").defaults.files == ("a.py", "b.py")


def test_keys_of_others_are_theirs() -> None:
    """Other tools have a front matter, too."""
    assert read("---\ntitle: The plan\nlayout: page\n---\n").faults == []


def test_a_key_that_is_nearly_ours_is_told() -> None:
    """By the index of its line."""
    (fault,) = read("---\ntitle: x\nretrys: 3\n---\n").faults
    assert fault.at == 2


def test_a_bad_value_and_what_belongs_to_tasks_are_told() -> None:
    """Each by its line; what is good counts all the same."""
    found = read("---\nretries: many\nagent: shell\nblocked by: T-1\n---\n")
    assert [(fault.at, fault.code) for fault in found.faults] == [
        (1, "bad_field"), (3, "bad_field"),
    ]  # fmt: skip
    assert found.defaults.agent == "shell"
