"""Task lists: what holds for any file, any edit and any error text."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segue.core.plan import MARKS, TaskState
from segue.plans.check import check
from segue.plans.tasklist import Document

# A busy machine is no reason to fail.
ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

PIECES = [
    "- [ ] **T-1**: first",
    "- [~] T-2: second (blocked by: T-1)",
    "* [X] T-3 - third [deps: T-1, T-2]",
    "1. [!] 작업-4: 넷째",
    "- [-] no id here",
    "+ [ ] **T-1: again**",
    "- [ ]",
    "- [ ] T001 [P] text (src/a.py)",
    "- plain",
    "-",
    "- blocked by: T-1",
    "- blocked by:",
    "- T-2",
    "verify: `make`",
    "- retries: many",
    "- 작업:",
    "text",
    "## Wave 2",
    "# Other",
    "---",
    "***",
    "```",
    "```sh",
    "~~~~",
    "- ```",
    "<!-- note",
    "- <!-- note",
    "<!-- a whole note -->",
    "-->",
    "> - [ ] T-9: quoted",
    "<!-- previous error: it broke -->",
    "<!-- 이전 에러: 실패 -->",
    "<!-- retries: 1/2 -->",
    "<!-- 재시도: 3/2 (한도 초과) -->",
    "<<<<<<< HEAD",
    ">>>>>>> other",
    "",
    " ",
    "\x0c",
    "\N{NO-BREAK SPACE}",
]
INDENTS = ["", "", "", " ", "  ", "  ", "   ", "    ", "      ", "\t", "  \t"]
ENDS = ["\n", "\n", "\n", "\r\n", "\r"]

lines = st.builds(
    lambda indent, piece: indent + piece, st.sampled_from(INDENTS), st.sampled_from(PIECES)
)


@st.composite
def plans(draw: st.DrawFn) -> bytes:
    """A file made of what plans are made of, in any order, with any line ends."""
    ends = st.sampled_from(draw(st.sampled_from([["\n"], ["\r\n"], ENDS])))
    text = "".join(line + draw(ends) for line in draw(st.lists(lines, max_size=14)))
    last = draw(st.sampled_from(["", "- [ ] T-7: last", "  text", "  <!-- retries: 1/2 -->"]))
    bom = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return bom + (text + last).encode()


languages = st.sampled_from(["en", "ko"])
texts = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["--", ">", "-->", "--!>", "<!--", "\n", "\r", "- [ ] T-1: x", " ", "\x1b[1m"]
        ),
        max_size=8,
    ).map("".join),
)
edits = st.lists(
    st.one_of(
        st.tuples(st.just("mark"), st.sampled_from(MARKS)),
        st.tuples(st.just("step"), st.integers(0, 4), st.booleans()),
        st.tuples(st.just("all"), st.booleans()),
        st.tuples(st.just("error"), st.none() | texts, languages),
        st.tuples(st.just("retries"), st.none() | st.integers(0, 5), languages),
    ),
    max_size=8,
)


def apply(document: Document, task_id: str, edit: tuple[object, ...]) -> None:
    match edit:
        case ("mark", TaskState() as state):
            document.set_mark(task_id, state)
        case ("step", int() as n, bool() as done):
            document.set_step(task_id, n, done)
        case ("all", bool() as done):
            document.set_all_steps(task_id, done)
        case ("error", text, "en" | "ko" as language):
            document.set_error(task_id, None if text is None else str(text), language)
        case ("retries", used, "en" | "ko" as language):
            document.set_retries(task_id, used if isinstance(used, int) else None, 2, language)
        case _:
            raise AssertionError(edit)


REMARK = re.compile(rb"\s*<!-- (?:previous error|\xec\x9d\xb4\xec\xa0\x84 \xec\x97\x90\xeb\x9f\xac|"
                    rb"retries|\xec\x9e\xac\xec\x8b\x9c\xeb\x8f\x84):.*-->\s*")  # fmt: skip
MARK = re.compile(rb"^((?:\xef\xbb\xbf)?\s*(?:[-*+]|\d+[.)])\s+)\[[ xX~!-]\]")


def untouchable(data: bytes) -> list[bytes]:
    """The lines without marks and Segue's comments: what no edit may change."""
    kept = [
        MARK.sub(rb"\1[]", line)
        for line in data.splitlines(keepends=True)
        if not REMARK.fullmatch(line)
    ]
    while kept and not kept[-1].rstrip(b"\r\n"):
        kept.pop()
    return [*kept[:-1], kept[-1].rstrip(b"\r\n")] if kept else []


@given(st.one_of(st.binary(max_size=200), plans()))
@settings(ANY_SPEED, max_examples=400)
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    """A file that is read and written back has the same bytes, whatever they are."""
    document = Document.parse(data)
    assert document.render() == data
    assert all(problem.line and problem.message and problem.hint for problem in check(document))


@given(plans(), st.data())
@settings(ANY_SPEED, max_examples=500)
def test_edits_mean_the_same_when_read_again(data: bytes, choose: st.DataObject) -> None:
    """After any edits the document says what a fresh reading of its bytes says."""
    document = Document.parse(data)
    if not document.tasks:
        return
    ids = st.sampled_from([task.id for task in document.tasks])
    for edit in choose.draw(edits):
        apply(document, choose.draw(ids), edit)
        assert Document.parse(document.render()).tasks == document.tasks
    assert untouchable(document.render()) == untouchable(data)


@given(plans(), texts, languages, st.data())
@settings(ANY_SPEED, max_examples=500)
def test_no_error_text_can_change_the_plan(
    data: bytes, text: str, language: str, choose: st.DataObject
) -> None:
    """Whatever an error says, it fills one comment line, and the tasks stay as they are."""
    document = Document.parse(data)
    if not document.tasks:
        return
    before = document.tasks
    task = choose.draw(st.sampled_from(before))
    document.set_error(task.id, text, "ko" if language == "ko" else "en")
    assert document.render().count(b"<!--") <= data.count(b"<!--") + 1 + text.count("<!--")
    assert len(document.render().splitlines()) <= len(data.splitlines()) + 1
    after = Document.parse(document.render()).tasks
    assert [_bare(task) for task in after] == [_bare(task) for task in before]
    assert Document.parse(document.render()).task(task.id).previous_error


def _bare(task: object) -> object:
    return replace(task, previous_error=None, line=0, steps=())  # type: ignore[type-var]


@given(plans(), texts, st.integers(0, 5), st.data())
@settings(ANY_SPEED, max_examples=500)
def test_a_comment_that_is_taken_back_leaves_no_trace(
    data: bytes, text: str, used: int, choose: st.DataObject
) -> None:
    """Writing comments and removing them gives the old bytes back, also after a re-read."""
    document = Document.parse(data)
    fresh = [task for task in document.tasks if not has_remark(document, task.id)]
    if not fresh:
        return
    task_id = choose.draw(st.sampled_from(fresh)).id
    document.set_error(task_id, text, "en")
    document.set_retries(task_id, used, 2, "ko")
    if choose.draw(st.booleans()):
        document = Document.parse(document.render())
    document.set_error(task_id, None, "en")
    document.set_retries(task_id, None, 2, "en")
    assert document.render() == data


def has_remark(document: Document, task_id: str) -> bool:
    """Does the task have one of Segue's comments already?"""
    before = document.render()
    again = Document.parse(before)
    again.set_error(task_id, None, "en")
    again.set_retries(task_id, None, 2, "en")
    return again.render() != before
