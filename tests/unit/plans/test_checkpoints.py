"""The checkpoints in a design document: found, read, and refused in words that help to mend them."""

from __future__ import annotations

import textwrap
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from segue import i18n
from segue.core.develop import Checkpoint
from segue.plans.checkpoints import CHECKPOINTS_MAX, EXAMPLE, RESERVED, CheckpointsError, read

GOOD = "- {id: cp-1, description: The store, validate: make test}\n"


@pytest.fixture(autouse=True)
def english() -> None:
    i18n.use("en")


def document(block: str, fence: str = "```") -> str:
    body = textwrap.dedent(block)
    return f"# Design\n\nSome words.\n\n{fence}yaml checkpoints\n{body}{fence}\n"


def refused(text: str) -> CheckpointsError:
    with pytest.raises(CheckpointsError) as caught:
        read(text)
    return caught.value


# What is found


def test_every_field_is_read() -> None:
    """In the order of the document."""
    text = document("""\
        - id: store
          description: Messages are kept
          validate: pytest -q tests/test_store.py
          files: ["src/store.py", "tests/**"]
        - id: api
          description: They can be asked for
          validate: |
            make api
            ./check
          depends: [store]
        """)
    assert read(text) == [
        Checkpoint(
            "store",
            "Messages are kept",
            "pytest -q tests/test_store.py",
            files=("src/store.py", "tests/**"),
            line=6,
        ),
        Checkpoint("api", "They can be asked for", "make api\n./check", depends=("store",), line=6),
    ]


def test_the_example_is_a_good_one() -> None:
    """What an agent is shown when it has no block can be read."""
    (one,) = read(EXAMPLE)
    assert one.id == "cp-1"


def test_what_is_left_out_has_a_default() -> None:
    """No dependencies, no files, its id for a description."""
    (one,) = read(document("- {id: cp-1, validate: make}\n"))
    assert (one.description, one.depends, one.files) == ("cp-1", (), ())


def test_a_description_can_be_shown_anywhere() -> None:
    """What would move a terminal's cursor or colour it is taken out; the command stays as it is."""
    (one,) = read(document('- {id: cp-1, description: "a\\e[31mb", validate: "x\\ty"}\n'))
    assert one.description.isprintable()
    assert one.validate == "x\ty"


def test_a_single_name_stands_for_a_list() -> None:
    """`depends: a` is what people write."""
    one, other = read(document(GOOD + "- {id: b, validate: x, depends: cp-1, files: a.py}\n"))
    assert (other.depends, other.files) == (("cp-1",), ("a.py",))
    assert one.id == "cp-1"


@pytest.mark.parametrize("fence", ["```", "````", "~~~", "  ```"])
@pytest.mark.parametrize("info", ["yaml checkpoints", "YAML  Checkpoints", " yaml checkpoints "])
def test_fences_as_markdown_knows_them(fence: str, info: str) -> None:
    """Backticks or tildes, three or more, a little indented; the name in any case."""
    assert [one.id for one in read(f"{fence}{info}\n{GOOD}{fence}\n")] == ["cp-1"]


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_of_either_kind(end: str) -> None:
    """A document from Windows is one, too."""
    assert [one.id for one in read(document(GOOD).replace("\n", end))] == ["cp-1"]


def test_the_last_block_counts() -> None:
    """A reviewer who adds one below the old one means the new one."""
    second = GOOD.replace("cp-1", "newer")
    assert [one.id for one in read(document(GOOD) + document(second))] == ["newer"]


def test_a_block_within_a_longer_fence_is_an_example() -> None:
    """Four backticks around three: nobody means it."""
    shown = f"````markdown\n{document(GOOD)}````\n"
    assert "has no block" in str(refused(shown))
    assert [one.id for one in read(shown + document(GOOD.replace("cp-1", "real")))] == ["real"]


def test_a_block_that_is_not_closed_ends_with_the_document() -> None:
    """As Markdown has it."""
    assert [one.id for one in read("```yaml checkpoints\n" + GOOD)] == ["cp-1"]


@pytest.mark.parametrize("info", ["yaml", "checkpoints", "yml checkpoints", "yaml checkpoints x"])
def test_other_blocks_are_others(info: str) -> None:
    """Only the exact name counts, and the message shows it."""
    error = refused(f"```{info}\n{GOOD}```\n")
    assert "```yaml checkpoints" in str(error)
    assert error.line is None


# What is refused


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ("", "must be a non-empty list"),
        ("[]\n", "must be a non-empty list"),
        ("id: cp-1\n", "must be a non-empty list"),
        ("- cp-1\n", "entry 1 is not a mapping"),
        ("- {validate: x}\n", "entry 1 has no `id`"),
        (GOOD + "- {id: 7, validate: x}\n", "entry 2 has no `id`"),
        ("- {id: '../x', validate: x}\n", "entry 1 has no `id`"),
        ("- {id: 'a b', validate: x}\n", "entry 1 has no `id`"),
        ("- {id: cp-1}\n", "cp-1 has no `validate`"),
        ("- {id: cp-1, validate: '  '}\n", "cp-1 has no `validate`"),
        ("- {id: cp-1, validate: [x]}\n", "cp-1 has no `validate`"),
        ("- {id: cp-1, validate: x, files: {a: b}}\n", "`files` of cp-1"),
        ("- {id: cp-1, validate: x, depends: [1]}\n", "`depends` of cp-1"),
        (GOOD + GOOD, "cp-1 appears twice"),
        ("- {id: a, validate: x, depends: [b]}\n", "a depends on b, which does not exist"),
        ("- {id: a, validate: x, depends: [a]}\n", "depend on each other: a"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(block: str, word: str) -> None:
    """By name or number of the entry, and the line of the block."""
    error = refused(document(block))
    assert word in str(error)
    assert error.line == 6


def test_a_circle_names_its_members() -> None:
    """What is free of it is not to blame."""
    text = document("""\
        - {id: free, validate: x}
        - {id: a, validate: x, depends: [c]}
        - {id: b, validate: x, depends: [a]}
        - {id: c, validate: x, depends: [b]}
        """)
    assert str(refused(text)) == "they depend on each other: a, b, c"


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_names_of_other_steps_are_refused(name: str) -> None:
    """A checkpoint called `merge` would be mixed up with the merge."""
    assert name in str(refused(document(f"- {{id: {name}, validate: x}}\n")))


def test_yaml_that_cannot_be_read_has_the_line_of_the_document() -> None:
    """Not that of the block."""
    error = refused(document("- id: cp-1\n  validate: make\n  files: [a\n- id: cp-2\n"))
    assert error.line == 9


def test_too_many_are_refused() -> None:
    """There is a limit to everything."""
    block = "".join(f"- {{id: c{n}, validate: x}}\n" for n in range(CHECKPOINTS_MAX + 1))
    assert str(CHECKPOINTS_MAX) in str(refused(document(block)))


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                ["- ", "id: a", "\n", "  ", "validate: x", "{", "}", "[", "&a ", "*a", "? ", ": ",
                 "!!python/name:os ", "!!binary ", "<<: ", "2026-99-99", "|", "'", '"', "\t", "---"]
            ),
            max_size=12,
        ).map("".join),
    )
)  # fmt: skip
def test_whatever_an_agent_writes_is_read_or_refused(block: str) -> None:
    """In words, and never by a crash."""
    i18n.use("en")
    try:
        read(f"```yaml checkpoints\n{block}\n```\n")
    except CheckpointsError as error:
        assert str(error)


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9.-]{0,20}", fullmatch=True).filter(
    lambda name: name not in RESERVED
)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1).filter(
    str.strip
)
SHOWN = WORDS.filter(str.isprintable)


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, SHOWN, WORDS), min_size=1, max_size=6, unique_by=lambda x: x[0]))
def test_what_yaml_can_say_is_read_as_it_was_meant(rows: list[tuple[str, str, str]]) -> None:
    """Any printable description, any command; each depends on those before it."""
    wanted = [
        Checkpoint(id, text.strip(), command.strip(), tuple(r[0] for r in rows[:n]), line=2)
        for n, (id, text, command) in enumerate(rows)
    ]
    out = StringIO()
    YAML().dump(
        [
            {"id": c.id, "description": c.description, "validate": c.validate,
             "depends": list(c.depends)}
            for c in wanted
        ],
        out,
    )  # fmt: skip
    assert read(f"~~~~~yaml checkpoints\n{out.getvalue()}~~~~~\n") == wanted
