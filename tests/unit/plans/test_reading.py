"""Single lines and blocks of a task list."""

from __future__ import annotations

import pytest

from segue.core.plan import Resume, Task, TaskState
from segue.plans.grammar import column_of, dedent
from segue.plans.head import parse_head, slug
from segue.plans.tasklist import Document


def tasks(text: str) -> tuple[Task, ...]:
    return Document.parse(text.encode()).tasks


def only(text: str) -> Task:
    found = tasks(text)
    assert len(found) == 1, found
    return found[0]


def test_tabs_reach_to_the_next_multiple_of_four() -> None:
    """A tab counts as deep as it looks."""
    assert [column_of(white) for white in (b"", b"  ", b"\t", b"  \t", b"\t ")] == [0, 2, 4, 4, 5]
    assert dedent("\tx", 2) == "  x"
    assert dedent(" x", 4) == "x"
    assert dedent("      ", 4) == "  "


def test_tabs_nest() -> None:
    """Items and fields may be indented with tabs."""
    task = only("- [ ] T-1: a\n\t- verify: make\n\t- [x] step\n\n\t\ttext\n")
    assert task.verify == "make"
    assert [step.text for step in task.steps] == ["step"]
    assert task.body == "  - [x] step\n\n  \ttext"


@pytest.mark.parametrize(
    ("mark", "state"),
    [
        (" ", TaskState.PENDING),
        ("x", TaskState.COMPLETED),
        ("X", TaskState.COMPLETED),
        ("~", TaskState.IN_PROGRESS),
        ("!", TaskState.FAILED),
        ("-", TaskState.SKIPPED),
    ],
)
@pytest.mark.parametrize("marker", ["-", "*", "+", "1.", "42)"])
def test_every_marker_and_mark(marker: str, mark: str, state: TaskState) -> None:
    """All list markers and all marks of the grammar make a task."""
    assert only(f"{marker} [{mark}] T-1: a\n").state is state


@pytest.mark.parametrize(
    "line",
    ["- [y] T-1: a", "- [] T-1: a", "- [ ]T-1: a", "-[ ] T-1: a", "[ ] T-1: a", "- [  ] T-1: a",
     "1234567890. [ ] T-1: a", "    - [ ] T-1: a", "\t- [ ] T-1: a", "> - [ ] T-1: a"],
)  # fmt: skip
def test_what_is_no_task(line: str) -> None:
    """Whatever only looks like a mark is text."""
    assert tasks(line + "\n") == ()


def test_wide_white_space_behind_a_mark() -> None:
    """A no-break or an ideographic space ends a mark, as it looks."""
    wide = "- [ ]\N{NO-BREAK SPACE}T-1: a\n- [ ]\N{IDEOGRAPHIC SPACE}T-2: b\n"
    assert [task.id for task in tasks(wide)] == ["T-1", "T-2"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read(end: str) -> None:
    """Line ends of all systems give the same tasks."""
    text = "---\nagent: a\n---\n- [ ] T-1: a\n  - verify: make\n  ```sh\n  x\n  ```\n  - [ ] s\n"
    assert tasks(text.replace("\n", end)) == tasks(text)


def test_a_byte_order_mark_is_no_text() -> None:
    """A first line with a byte order mark is read like any other."""
    assert only("\ufeff- [ ] T-1: a\n").title == "a"
    assert only("\ufeff---\nagent: x\n---\n- [ ] T-1: a\n").agent == "x"


def test_a_rule_or_heading_closes_the_list() -> None:
    """What is indented behind a rule or a heading is no longer the task's."""
    for line in ("---", "* * *", "# Title"):
        assert only(f"- [ ] T-1: a\n{line}\n    verify: make\n").verify is None


def test_words_behind_a_blank_line_close_the_list() -> None:
    """Words at the margin behind a blank line end the task; right below it they do not."""
    assert only("- [ ] T-1: a\n\nwords\n  verify: make\n").verify is None
    lazy = only("- [ ] T-1: a\nwords\n  verify: make\n  more\n")
    assert (lazy.verify, lazy.body) == ("make", "more")


def test_an_unclosed_fence_takes_the_rest() -> None:
    """A fence at the margin that is never closed hides what follows."""
    assert [task.id for task in tasks("- [ ] T-1: a\n\n```\n- [ ] T-2: b\n")] == ["T-1"]


def test_a_fence_is_closed_by_its_own_kind() -> None:
    """Shorter or other fences do not close one; neither does one with words."""
    text = "````\n```\n~~~~\n````x\n- [ ] T-2: b\n`````\n- [ ] T-1: a\n"
    assert only(text).id == "T-1"


def test_derived_ids() -> None:
    """An id comes from the words of the title, is short, and is nobody else's."""
    assert slug("Build the API, now!") == "build-the-api-now"
    assert slug("API 구현: 첫 단계") == "api-구현-첫-단계"
    long = slug("word " * 20)
    assert len(long) <= 39
    assert long != slug("word " * 21)
    assert slug("!!!").startswith("task-")
    ids = [
        task.id for task in tasks("- [ ] 작업 1\n- [ ] 작업-1: x\n- [ ] a\n- [ ] a\n- [ ] a 2\n")
    ]
    assert len(set(ids)) == 5
    assert ids[2:] == ["a", "a-2", "a-2-2"]


def test_front_matter_quotes() -> None:
    """Quotes around a default are YAML's; quotes inside it are the command's."""
    head = '---\nverify: "say \\"hi\\""\nrun: "a b" "c d"\nagent: \'it\'\'s\' # note\n---\n'
    task = only(head + "- [ ] T-1: a\n")
    assert (task.verify, task.run, task.agent) == ('say "hi"', '"a b" "c d"', "it's")


def test_a_hostile_line_is_read_at_once() -> None:
    """No line makes the reading explode: brackets, commas and back-ticks without end."""
    many = 2_000
    for text in (
        "T001 (" + "a," * many,
        "T-1: " + "(run: " * many,
        "T-1: (depends on " + "a1" * many,
        "T-1: " + "[" * many + "](",
        "T001 " + "[P] " * many,
        "`" * many + "a`" * many,
        "a-" * many,
    ):
        assert parse_head(text).title
        assert tasks(f"- [ ] T-1: a\n  - files: {text}\n  - blocked by: {text}\n  - run: {text}\n")


@pytest.mark.parametrize(
    ("plan", "resumes"),
    [
        ("- [ ] T-1: a\n", False),
        ("- [ ] T-1: a\n  - resume: conversation\n", True),
        ("- [ ] T-1: a\n  - 재개: 대화\n", True),
        ("- [ ] T-1: a\n  - resume: restart\n", False),
        ("---\nresume: conversation\n---\n- [ ] T-1: a\n", True),
        ("---\n재개: 대화\n---\n- [ ] T-1: a\n", True),
        ("---\nresume: conversation\n---\n- [ ] T-1: a\n  - resume: restart\n", False),
        ("---\nresume: restart\n---\n- [ ] T-1: a\n  - 재개: 대화\n", True),
    ],
)
def test_a_cut_off_task_goes_on_in_its_conversation_where_the_plan_says_so(
    plan: str, resumes: bool
) -> None:
    """A task's own word wins over that of the front matter; without any it begins again."""
    assert (only(plan).resume is Resume.CONVERSATION) is resumes


@pytest.mark.parametrize("word", ["resume", "재개"])
def test_a_misspelt_resume_is_told_with_its_line(word: str) -> None:
    """Nothing is guessed, and the plan is not run."""
    document = Document.parse(f"- [ ] T-1: a\n  - {word}: converstaion\n".encode())
    (problem,) = document.problems
    assert (problem.line, "converstaion" in problem.message) == (2, True)


@pytest.mark.parametrize("line", ["resume: see https://example.org/cv.pdf", "재개: 회의는 두 시에"])
def test_a_sentence_that_begins_like_a_field_stays_text(line: str) -> None:
    """A task about somebody's resume keeps every word of its body."""
    task = only(f"- [ ] T-1: a\n  - {line}\n")
    assert task.resume is Resume.RESTART
    assert line in task.body


@pytest.mark.parametrize(
    ("text", "waves"),
    [
        ("Wave 1\n------\n- [ ] T-1: a\n\nWave 2\n======\n- [ ] T-2: b\n", [1, 2]),
        ("웨이브 1\r\n===\r\n- [ ] T-1: a\r\n\r\n웨이브 2\r\n-\r\n- [ ] T-2: b\r\n", [1, 2]),
        ("   Wave 1  \n  ---\n- [ ] T-1: a\n\nWave 2\nof 2\n- - -\n---\n- [ ] T-2: b\n", [1, 1]),
        ("Wave 1\n\n---\n- [ ] T-1: a\n\nWave 2\n\n- [ ] T-2: b\n", [None, None]),
        ("of\nWave 1\n---\n- [ ] T-1: a\n\nso\nWave 2\n---\n- [ ] T-2: b\n", [None, None]),
        ("- [ ] T-1: a\n  Wave 1\n  ---\n- [ ] T-2: b\n", [None, None]),
        ("- [ ] T-1: a\nWave 1\n---\n- [ ] T-2: b\n", [None, None]),
        ("    Wave 1\n---\n- [ ] T-1: a\n- [ ] T-2: b\n", [None, None]),
        ("```\nWave 1\n---\n```\n- [ ] T-1: a\n- [ ] T-2: b\n", [None, None]),
        ("Wave 1\n- [ ] T-1: a\n- [ ] T-2: b\n", [None, None]),
    ],
)
def test_a_heading_may_be_underlined(text: str, waves: list[int | None]) -> None:
    """Right below a paragraph outside of every list; a rule or an item is none."""
    assert [task.wave for task in tasks(text)] == waves


def test_a_field_with_one_value_is_given_once() -> None:
    """Which of two was meant nobody knows; lists may grow over several lines."""
    document = Document.parse(
        b"- [ ] T-1: a\n  - verify: x\n  - blocked by: T-2\n  - blocked by: T-3\n  - verify: y\n"
    )
    (problem,) = document.problems
    assert (problem.code, problem.line) == ("bad_field", 5)
    assert "line 2" in problem.message
    assert document.tasks[0].blocked_by == ("T-2", "T-3")
