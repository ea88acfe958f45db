"""`.develop-workflow/state.yaml`: read, written, and changed without touching what a person wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from segue import i18n
from segue.core.develop import Feature, Phase, Progress, Status, Strategy
from segue.plans.develop_state import BYTES_MAX, BrokenError, edit, parse, render

SPEC = """\
phase: IMPLEMENT              # DESIGN | REVIEW | IMPLEMENT | MERGE | DONE
strategy: subagent            # direct | subagent | agent-teams; set on entering IMPLEMENT
feature: "real-time chat"
started_at: "2026-02-16T10:00:00"
updated_at: "2026-02-16T11:30:00"
checkpoints:                  # set on entering REVIEW's end; order kept
  cp-1: { status: passed, iteration: 2 }
  cp-2: { status: in_progress, iteration: 1 }
  cp-3: { status: pending, iteration: 0 }
"""
HEAD = 'phase: IMPLEMENT\nfeature: x\nstarted_at: "a"\nupdated_at: "b"\n'


@pytest.fixture(autouse=True)
def english() -> None:
    i18n.use("en")


def plain(data: bytes) -> Any:
    return YAML(typ="safe", pure=True).load(data.decode())


def changed(text: str, **values: Any) -> str:
    """The text after these values of what it says were changed."""
    data = text.encode()
    return edit(data, replace(parse(data), updated_at="c", **values)).decode()


def broken(data: bytes | str) -> BrokenError:
    with pytest.raises(BrokenError) as caught:
        parse(data.encode() if isinstance(data, str) else data)
    return caught.value


# Reading


def test_the_file_of_the_spec() -> None:
    """Every value, and the checkpoints in their order."""
    feature = parse(SPEC.encode())
    assert feature == Feature(
        "real-time chat",
        Phase.IMPLEMENT,
        Strategy.SUBAGENT,
        "2026-02-16T10:00:00",
        "2026-02-16T11:30:00",
        {
            "cp-1": Progress(Status.PASSED, 2),
            "cp-2": Progress(Status.IN_PROGRESS, 1),
            "cp-3": Progress(Status.PENDING, 0),
        },
    )
    assert list(feature.checkpoints) == ["cp-1", "cp-2", "cp-3"]


def test_a_new_file_has_no_strategy_and_no_checkpoints() -> None:
    """They come with their phases."""
    text = render(Feature("chat", started_at="a", updated_at="b")).decode()
    assert text == 'phase: DESIGN\nfeature: "chat"\nstarted_at: "a"\nupdated_at: "b"\n'


@pytest.mark.parametrize(
    ("text", "word", "place"),
    [
        ("", "empty", (1, 1)),
        ("# only a comment\n", "empty", (1, 1)),
        ("- a\n", "not a mapping", (1, 1)),
        ("phase: [DESIGN\n", "expected", (2, 1)),
        ("\0" * 200, "#x0000", (1, 1)),
        ("phase: DESIGN\nfeature: 한\0\0\n", "#x0000", (2, 11)),
        ("feature: x\nphase: BUILD\n", '"BUILD"', (2, 8)),
        ("feature: x\n", "`phase` is missing", (1, 1)),
        ("phase: DESIGN\n", "`feature` is missing", (1, 1)),
        ("phase: DESIGN\nfeature: 7\n", "`feature` cannot be 7", (2, 10)),
        ("phase: DESIGN\nfeature: x\nstrategy: fast\n", '"fast"', (3, 11)),
        ("phase: DESIGN\nfeature: x\nphase: DONE\n", "duplicate", (3, 1)),
        (HEAD + "checkpoints: [a]\n", "`checkpoints`", (5, 14)),
        (HEAD + "checkpoints:\n  a: passed\n", "`a`", (6, 6)),
        (HEAD + "checkpoints:\n  a: { status: done }\n", '"done"', (6, 6)),
        (HEAD + "checkpoints:\n  a: { status: passed, iteration: 4 }\n", "0-3", (6, 6)),
        (HEAD + "checkpoints:\n  a: { status: passed, iteration: -1 }\n", "0-3", (6, 6)),
        (HEAD + "checkpoints:\n  a: { status: passed, iteration: true }\n", "0-3", (6, 6)),
    ],
)
def test_what_is_wrong_is_said_with_line_and_column(
    text: str, word: str, place: tuple[int, int]
) -> None:
    """So that a person finds it."""
    error = broken(text)
    assert word in str(error)
    assert (error.line, error.column) == place


def test_bytes_that_are_no_text_have_a_place_too() -> None:
    """Counted in characters up to the first bad byte."""
    error = broken("phase: 한\nfeature: ".encode() + b"\xff")
    assert (error.line, error.column) == (2, 10)


def test_a_file_without_end_is_not_read() -> None:
    """There is a limit to everything."""
    assert "too long" in str(broken(b"#" * (BYTES_MAX + 1)))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["phase: DESIGN\n", "feature: x\n", "checkpoints:\n", "  a: ", "{ status: passed }\n",
             "&a ", "*a ", "<<: ", "? ", ": ", "- ", "!!set ", "!!timestamp ", "!!float ", "2026-99-99",
             "{", "}", "'", '"', "|\n", "\t", "%YAML 9\n", "---\n", "...\n", "[a]: b\n", "\n", "\0"]
        ),
        max_size=10,
    ).map("".join)
    | st.text(max_size=60)
)  # fmt: skip
def test_any_text_is_a_state_or_broken(text: str) -> None:
    """In words, and never by a crash."""
    i18n.use("en")
    try:
        parse(text.encode("utf-8", "surrogatepass"))
    except BrokenError as error:
        assert str(error)


# Changing


def test_the_file_of_the_spec_keeps_its_comments_and_its_look() -> None:
    """A pass changes one word, and the time."""
    feature = parse(SPEC.encode())
    feature = feature.with_checkpoint("cp-2", Progress(Status.PASSED, 1))
    new = edit(SPEC.encode(), replace(feature, updated_at="2026-02-16T12:00:00")).decode()
    wanted = SPEC.replace("11:30:00", "12:00:00").replace("in_progress, it", "passed, it")
    assert new == wanted


def test_a_strategy_comes_behind_the_phase() -> None:
    """Where the file had none."""
    new = changed("# mine\n" + HEAD, strategy=Strategy.DIRECT)
    assert new == "# mine\n" + HEAD.replace("IMPLEMENT\n", "IMPLEMENT\nstrategy: direct\n").replace(
        '"b"', '"c"'
    )


@pytest.mark.parametrize("before", ["", "checkpoints:\n", "checkpoints: {}\n", "checkpoints: ~\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_checkpoints_come_where_there_are_none(before: str, end: str) -> None:
    """In the look of the spec, with the line ends of the file."""
    new = changed((HEAD + before).replace("\n", end), checkpoints={"a": Progress()})
    wanted = HEAD.replace('"b"', '"c"') + "checkpoints:\n  a: { status: pending, iteration: 0 }\n"
    assert new == wanted.replace("\n", end)


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        (
            "    a: { status: pending, iteration: 0 }  # first\n# end\n",
            "    a: { status: pending, iteration: 0 }  # first\n"
            "    b: { status: pending, iteration: 0 }\n# end\n",
        ),
        (
            "  a:\n    status: pending\n    iteration: 0\n\nmine: 1\n",
            "  a:\n    status: pending\n    iteration: 0\n"
            "  b: { status: pending, iteration: 0 }\n\nmine: 1\n",
        ),
        (
            "  a: { status: pending, iteration: 0 }",
            "  a: { status: pending, iteration: 0 }\n  b: { status: pending, iteration: 0 }",
        ),
    ],
)
def test_a_new_checkpoint_comes_behind_the_last(block: str, wanted: str) -> None:
    """With its indentation, before comments and keys that follow."""
    head = HEAD.replace('"b"', '"c"') + "checkpoints:\n"
    assert changed(head + block, checkpoints={"a": Progress(), "b": Progress()}) == head + wanted


def test_a_new_one_within_braces() -> None:
    """All checkpoints on one line stay on it."""
    head = HEAD.replace('"b"', '"c"')
    new = changed(
        head + "checkpoints: { a: { status: passed, iteration: 1 } }\n",
        checkpoints={"a": Progress(Status.PASSED, 1), "b": Progress()},
    )
    assert new == head + (
        "checkpoints: { a: { status: passed, iteration: 1 }"
        ", b: { status: pending, iteration: 0 } }\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "{phase: IMPLEMENT, feature: x, mine: 1, checkpoints: {a: {status: pending}}}\n",
        HEAD + "mine: 1\ncheckpoints:\n  a:\n    status: pending  # why\n",
        "---\n" + HEAD + "mine: 1\n...\n",
    ],
    ids=["braces", "no-iteration", "document-end"],
)
def test_what_has_no_place_of_its_own_is_written_again(text: str) -> None:
    """The values are right, and nobody's keys are lost."""
    wanted = {"a": Progress(Status.IN_PROGRESS, 2), "b": Progress()}
    new = changed(text, checkpoints=wanted).encode()
    assert parse(new) == replace(parse(text.encode()), updated_at="c", checkpoints=wanted)
    assert plain(new)["mine"] == 1
    assert ("# why" in text) == (b"# why" in new)


@pytest.mark.parametrize("id", ["true", "null", "1", "1.5", "on", "cp.1", "한글", "a b", '"', "~"])
def test_odd_names_come_back_as_they_were(id: str) -> None:
    """A name that YAML takes for something else is put into quotes."""
    feature = Feature("x", Phase.IMPLEMENT, Strategy.DIRECT, "a", "b", {id: Progress()})
    assert parse(render(feature)) == feature
    new = feature.with_checkpoint(id, Progress(Status.PASSED, 3))
    assert parse(edit(render(feature), new)) == new


# Any file that a person could write

COMMENTS = st.sampled_from(["", "  # a word", "    # status: passed", " # phase: DONE", " # 한글"])
BETWEEN = st.sampled_from(["", "\n", "# phase: DONE\n", "\n# cp-1: { status: passed }\n\n"])
WITHIN = st.sampled_from(["", "    # iteration: 3\n", "\n"])
QUOTES = st.sampled_from(["{}", "'{}'", '"{}"'])
TRAPS = st.sampled_from(["iteration: 3", "status: passed", "}", "{", "phase: DONE", "- x", "#no"])
PROGRESS = st.builds(Progress, st.sampled_from(Status), st.integers(0, 3))
IDS = st.sampled_from(["cp-1", "cp-2", "status", "iteration", "phase", "cp.3", "한글", "true"])


@dataclass
class Value:
    """A value that changes: as a person wrote it, and what stands there afterwards."""

    before: str
    after: str


def value(quotes: str, old: str, new: str) -> Value:
    return Value(quotes.format(old), quotes.format(old) if old == new else new)


@st.composite
def checkpoint(draw: Any, id: str, old: Progress, new: Progress) -> list[str | Value]:
    """One checkpoint in any look."""
    name = f'"{id}"' if id == "true" or draw(st.booleans()) else id
    status = value(draw(QUOTES), str(old.status), str(new.status))
    iteration = value("{}", str(old.iteration), str(new.iteration))
    own = [f'note: "{draw(TRAPS)}"'] if draw(st.booleans()) else []
    fields: list[list[str | Value]] = [["status: ", status], ["iteration: ", iteration]]
    fields = draw(st.permutations([*fields, *([text] for text in own)]))
    if draw(st.booleans()):
        comma = draw(st.sampled_from([", ", " ,", ",\n      ", ",   "]))
        parts: list[str | Value] = [f"  {name}:{draw(st.sampled_from([' ', '   ']))}{{ "]
        for number, field in enumerate(fields):
            parts += [comma if number else "", *field]
        return [*parts, " }", draw(COMMENTS), "\n"]
    parts = [f"  {name}:{draw(COMMENTS)}\n"]
    for field in fields:
        parts += [draw(WITHIN), "    ", *field, draw(COMMENTS), "\n"]
    return parts


@st.composite
def files(draw: Any) -> tuple[bytes, Feature, bytes]:
    """A file, what it is to say, and the file that then is wanted, byte for byte."""
    ids = draw(st.lists(IDS, unique=True, max_size=4))
    old, new = ({id: draw(PROGRESS) for id in ids} for _ in range(2))
    phases = [draw(st.sampled_from(Phase)) for _ in range(2)]
    strategies = [draw(st.sampled_from(Strategy)) for _ in range(2)]
    entries: list[list[str | Value]] = [
        ["phase: ", value(draw(QUOTES), *map(str, phases))],
        ["strategy:   ", value(draw(QUOTES), *map(str, strategies))],
        ["feature: ", draw(st.sampled_from(["'a: b'", '"phase: DONE"', ">\n  phase: DONE\n  x"]))],
        ["updated_at: ", Value(draw(QUOTES).format("2026-01-01T10:00:00"), '"2026-02-02T00:00:00"')],
        ["mine: ", draw(st.sampled_from(["[1, 2]", "{ status: x }", "|\n  cp-1: { status: no }"]))],
    ]  # fmt: skip
    if draw(st.booleans()):
        entries.append(["started_at: ", draw(QUOTES).format("yesterday")])
    if ids:
        block: list[str | Value] = ["checkpoints:", draw(COMMENTS), "\n"]
        for id in ids:
            block += [draw(WITHIN), *draw(checkpoint(id, old[id], new[id]))]
        entries.append(block)
    parts: list[str | Value] = [draw(st.sampled_from(["", "\ufeff"]))]
    for entry in draw(st.permutations(entries)):
        is_scalar = not isinstance(entry[-1], str) or "\n" not in entry[-1]
        tail = [draw(COMMENTS) if is_scalar else "", "\n"] if entry[-1] != "\n" else []
        parts += [draw(BETWEEN), *entry, *tail]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    before, after = (
        "".join(p if isinstance(p, str) else getattr(p, which) for p in parts)
        .replace("\n", end).encode() for which in ("before", "after")
    )  # fmt: skip
    feature = replace(
        parse(before),
        phase=phases[1],
        strategy=strategies[1],
        updated_at="2026-02-02T00:00:00",
        checkpoints=new,
    )
    return before, feature, after


@settings(max_examples=200, deadline=None)
@given(files())
def test_only_the_values_change_byte_for_byte(case: tuple[bytes, Feature, bytes]) -> None:
    """Comments, blanks, quotes, line ends and a person's own keys stay, however they look."""
    before, feature, after = case
    assert edit(before, feature) == after
    assert parse(after) == feature


@settings(max_examples=100, deadline=None)
@given(files())
def test_the_same_again_changes_nothing(case: tuple[bytes, Feature, bytes]) -> None:
    """An edit that says what the file says already."""
    _before, feature, after = case
    assert edit(after, feature) == after
