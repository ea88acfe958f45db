"""Plain text with markers: what counts, and what only looks as if it did."""

from __future__ import annotations

import pytest

from segue.dialects.events import (
    Asked,
    BlockUnclosed,
    DependencyAsked,
    ErrorReported,
    Event,
    Garbled,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
    Unfinished,
    Unsigned,
)
from segue.dialects.lines import LINE_BYTES_MAX
from segue.dialects.text import BLOCK_CHARS_MAX, FIELD_CHARS_MAX, Text

NONCE = "a1b2c3"
QUESTION = f"""[USER_QUESTION {NONCE}]
category: choice
question: Which database?
options:
  - PostgreSQL
  - SQLite
default: SQLite
[/USER_QUESTION]
"""
DEPENDENCY = f"""[DEPENDENCY_REQUEST {NONCE}]
type: api_key
name: STRIPE_KEY
description: for payments
required: true
[/DEPENDENCY_REQUEST]
"""
ERROR = f"""[ERROR {NONCE}]
type: recoverable
message: 429, try again in 5 minutes
recovery: pause_and_retry
[/ERROR]
"""
PHASE = f"=== PHASE 1 COMPLETE {NONCE} ===\n"
TASK = f"=== CUSTOM TASK COMPLETE {NONCE} ===\n"
EACH: dict[str, tuple[str, Event]] = {
    "question": (QUESTION, Asked("Which database?", ("PostgreSQL", "SQLite"), "SQLite", "choice")),
    "dependency": (DEPENDENCY, DependencyAsked("api_key", "STRIPE_KEY", "for payments")),
    "error": (
        ERROR,
        ErrorReported("recoverable", "429, try again in 5 minutes", "pause_and_retry"),
    ),
    "phase": (PHASE, PhaseDone(1)),
    "task": (TASK, TaskDone()),
    "json": (
        f'[USER_QUESTION_JSON {NONCE}]{{"question": "Which?", "options": ["a", "b"],'
        ' "required": false, "default": "a", "deadline": "2h"}[/USER_QUESTION_JSON]\n',
        Asked("Which?", ("a", "b"), "a", is_required=False, deadline_s=7200.0),
    ),
    "json over lines": (
        f'[DEPENDENCY_REQUEST_JSON {NONCE}]\n{{\n"type": "file",\n'
        '"name": "data/prices.csv"\n}\n[/DEPENDENCY_REQUEST_JSON]\n',
        DependencyAsked("file", "data/prices.csv"),
    ),
    "json error": (
        f'[ERROR_JSON {NONCE}] {{"type": "fatal",\n"message": "no disk"}}[/ERROR_JSON {NONCE}]\n',
        ErrorReported("fatal", "no disk", "checkpoint_and_fail"),
    ),
}
each = pytest.mark.parametrize(("said", "event"), EACH.values(), ids=EACH)


def heard(text: str | bytes, chunk: int | None = None, *, is_own: bool = False) -> list[Event]:
    data = text.encode() if isinstance(text, str) else text
    dialect = Text(NONCE, is_own=is_own)
    size = chunk or max(len(data), 1)
    chunks = [data[n : n + size] for n in range(0, len(data), size)]
    return [event for part in chunks for event in dialect.feed(part)] + list(dialect.close())


def told(text: str | bytes, chunk: int | None = None, *, is_own: bool = False) -> list[Event]:
    """What is more than text and counts."""
    events = heard(text, chunk, is_own=is_own)
    return [event for event in events if not isinstance(event, Said | Unsigned)]


def test_lines_are_said() -> None:
    """Every line with something in it is said, without its colours; blank ones are not."""
    assert heard("one\n\n   \n\x1b[32mtwo\x1b[0m\nthree") == [
        Said("one"),
        Said("two"),
        Said("three"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "=== STEP 2 DONE ===",
        f"=== STEP 2 DONE {NONCE} ===",
        "  === STEP 2 DONE ===  ",
        "===STEP 2 DONE===",
        "\x1b[1m=== STEP 2 DONE ===\x1b[0m\r",
    ],
)
def test_a_step_is_told_by_its_line(line: str) -> None:
    """The marker of a sub-step, with the run's nonce or none, alone on its line."""
    assert told(line + "\n") == [StepDone(2)]
    assert told(line) == [StepDone(2)], "the last line needs no end"


@pytest.mark.parametrize(
    "line",
    [
        "=== STEP 2 DONE 0ther ===",
        "=== STEP two DONE ===",
        "=== STEP 2 ===",
        "=== STEP 12345 DONE ===",
        "now === STEP 2 DONE ===",
        "=== STEP 2 DONE === now",
        "> === STEP 2 DONE ===",
        "# === STEP 2 DONE ===",
        "`=== STEP 2 DONE ===`",
        f"=== STEP 2 DONE {NONCE} {NONCE} ===",
        f"=== STEP 2 DONE {NONCE.upper()} ===",
    ],
)
def test_what_only_looks_like_a_step_is_text(line: str) -> None:
    """A wrong nonce, or a marker that shares its line, is said and does nothing."""
    assert heard(line + "\n") == [Said(line)]


def test_a_question_is_asked() -> None:
    """A block with the run's nonce asks, with its options, its default and its category."""
    assert told(QUESTION) == [
        Asked("Which database?", ("PostgreSQL", "SQLite"), "SQLite", "choice"),
    ]


def test_a_question_may_be_short_and_may_be_long() -> None:
    """Only the question itself is needed; its lines may be several."""
    text = f"[USER_QUESTION {NONCE}]\nquestion: Go on?\n  Really?\n[/USER_QUESTION]"
    assert told(text) == [Asked("Go on?\nReally?", (), None, "clarification")]


@pytest.mark.parametrize(
    "forged",
    [
        QUESTION.replace(f" {NONCE}", ""),
        QUESTION.replace(NONCE, "ffffff"),
        QUESTION.replace(NONCE, NONCE + "0"),
        QUESTION.replace("[USER", "see [USER"),
        "```\n" + QUESTION + "```\n",
        "~~~ text\n" + QUESTION + "~~~\n",
        "````\n```\n" + QUESTION + "```\n````\n",
    ],
    ids=["none", "other", "longer", "in a line", "fence", "tildes", "fence in a fence"],
)
def test_a_forged_question_is_text(forged: str) -> None:
    """Without the run's nonce, inside a line or inside a fence nothing is asked."""
    assert told(forged) == []
    assert told(forged + QUESTION) == told(QUESTION), "a real one behind it is asked"


def test_steps_in_fences_are_text() -> None:
    """A marker that is quoted in a fence does not count; behind the fence it does."""
    quoted = "```sh\n=== STEP 1 DONE ===\n~~~\n=== STEP 2 DONE ===\n```\n=== STEP 3 DONE ===\n"
    assert told(quoted) == [StepDone(3)]


def test_code_within_a_line_opens_no_fence() -> None:
    """Three back-ticks around a word are no fence: markers behind that line count."""
    assert told("```pytest``` passes\n=== STEP 1 DONE ===\n") == [StepDone(1)]


@pytest.mark.parametrize("chunk", [None, 1000, LINE_BYTES_MAX])
@pytest.mark.parametrize("marker", ["=== STEP 1 DONE ===", QUESTION.splitlines()[0]])
def test_the_tail_of_an_over_long_line_is_no_marker(marker: str, chunk: int | None) -> None:
    """A line that was cut at the bound cannot bring a marker in its last piece."""
    for filling in (LINE_BYTES_MAX, 2 * LINE_BYTES_MAX, LINE_BYTES_MAX - 1):
        text = " " * filling + marker + "\nquestion: x\n[/USER_QUESTION]\n"
        assert told("x" + text, chunk) == []


@pytest.mark.parametrize("chunk", [None, 1000, 7])
def test_the_tail_of_an_over_long_line_closes_no_question(chunk: int | None) -> None:
    """Within a block, too, a marker counts only on a line of its own."""
    text = f"[USER_QUESTION {NONCE}]\nquestion: Go on?\n" + "x" * LINE_BYTES_MAX
    events = told(text + "[/USER_QUESTION]\ncategory: business\n[/USER_QUESTION]\n", chunk)
    assert [e.category for e in events if isinstance(e, Asked)] in ([], ["business"])
    assert len(events) == 1


@pytest.mark.parametrize("size", [FIELD_CHARS_MAX * 3, 2 * LINE_BYTES_MAX])
def test_a_field_is_bounded(size: int) -> None:
    """A question of one huge line is cut at the bound of a field, or reported."""
    events = told(f"[USER_QUESTION {NONCE}]\nquestion: {'q' * size}\n[/USER_QUESTION]\n", 4096)
    assert len(events) == 1
    match events[0]:
        case Asked(question):
            assert len(question) <= FIELD_CHARS_MAX
        case other:
            assert isinstance(other, Garbled)


def test_a_field_of_many_lines_is_bounded() -> None:
    """The lines of one question together are no longer than a field may be."""
    body = "".join(f"line {n} {'q' * 90}\n" for n in range(500))
    events = told(f"[USER_QUESTION {NONCE}]\nquestion: first\n{body}[/USER_QUESTION]\n")
    assert len(events) == 1
    match events[0]:
        case Asked(question):
            assert len(question) <= FIELD_CHARS_MAX
        case other:
            assert isinstance(other, Garbled)


def test_a_block_over_the_bound_is_reported_and_let_go() -> None:
    """A block that does not end is reported with its size, is not kept, and text goes on."""
    dialect = Text(NONCE)
    list(dialect.feed(f"[USER_QUESTION {NONCE}]\nquestion: x\n".encode()))
    events: list[Event] = []
    for _n in range(300):
        events += dialect.feed(b"y" * 999 + b"\n")
        assert sum(map(len, dialect._block.lines if dialect._block else [])) <= BLOCK_CHARS_MAX
    garbled = [event for event in events if isinstance(event, Garbled)]
    assert len(garbled) == 1
    assert garbled[0].size > BLOCK_CHARS_MAX
    assert events[-1] == Said("y" * 999)


def test_a_block_that_is_not_closed_is_reported() -> None:
    """An agent that ends within a question has asked nothing, and that is told."""
    body = "question: Go on?\n"
    assert told(f"[USER_QUESTION {NONCE}]\n{body}") == [BlockUnclosed("USER_QUESTION", len(body))]


@each
def test_the_next_marker_closes_a_block_that_was_not_closed(said: str, event: Event) -> None:
    """Another opening or completion reports the block; what it asks is not mixed with it."""
    body = "question: A?\noptions:\n- only of the first\n"
    first = f"[USER_QUESTION {NONCE}]\n{body}"
    assert told(first + said) == [BlockUnclosed("USER_QUESTION", len(body)), event]


def test_a_block_that_asks_nothing_is_reported() -> None:
    """A block without a question is garbled, never an empty question."""
    block = "category: choice\noptions:\n- a\n"
    events = told(f"[USER_QUESTION {NONCE}]\n{block}[/USER_QUESTION]\n")
    assert events == [Garbled(len(block))]


@each
def test_each_marker_is_heard(said: str, event: Event) -> None:
    """What a person must do, what is done, what went wrong: each with the run's nonce."""
    for chunk in (None, 1, 7):
        assert told(said, chunk) == [event]
    assert told("before\n" + said + "after\n") == [event]


@each
def test_the_agents_own_words_need_no_nonce(said: str, event: Event) -> None:
    """In structured output plain markers count, and those with the nonce; a wrong one does not."""
    assert told(said.replace(f" {NONCE}", ""), is_own=True) == [event]
    assert told(said, is_own=True) == [event]
    assert told(said.replace(NONCE, "0ther"), is_own=True) == []


@each
@pytest.mark.parametrize("is_own", [False, True])
def test_what_is_quoted_is_text(said: str, event: Event, is_own: bool) -> None:
    """In a fence, in a quotation, in a sentence nothing counts; behind it, it does."""
    plain = said.replace(f" {NONCE}", "") if is_own else said
    quotes = [
        f"```\n{plain}```\n",
        f"   ~~~~ text\n{plain}~~~~\n",
        "".join(f"> {line}\n" for line in plain.splitlines()),
        "".join(f"- {line}\n" for line in plain.splitlines()),
        "".join(f"`{line}`\n" for line in plain.splitlines()),
        "".join(f"say {line}\n" for line in plain.splitlines()),
    ]
    for quote in quotes:
        assert told(quote, is_own=is_own) == []
        assert told(quote + plain, is_own=is_own) == [event]


@each
def test_without_the_nonce_nothing_counts(said: str, event: Event) -> None:
    """Plain text that does not know the nonce, or has another's, tells nothing."""
    for forged in ("", " ffffff", f" {NONCE}0", f" {NONCE.upper()}", f" {NONCE} {NONCE}"):
        assert told(said.replace(f" {NONCE}", forged)) == [], forged


@each
def test_what_is_indented_like_code_is_a_quotation(said: str, event: Event) -> None:
    """A plain marker in code does not count; with the nonce it was meant, and less is no code."""
    plain = said.replace(f" {NONCE}", "")
    for indent, events in (("    ", []), ("\t", []), ("  \t", []), ("   ", [event])):
        text = "".join(f"{indent}{line}\n" for line in plain.splitlines())
        assert told(text, is_own=True) == events
    text = "".join(f"\t{line}\n" for line in said.splitlines())
    assert told(text) == told(text, is_own=True) == [event]


@pytest.mark.parametrize(
    "line",
    [
        f"=== PHASE 0 COMPLETE {NONCE} ===",
        f"=== PHASE N COMPLETE {NONCE} ===",
        f"=== PHASE 12345 COMPLETE {NONCE} ===",
        f"=== PHASE COMPLETE {NONCE} ===",
        f"=== TASK COMPLETE {NONCE} ===",
        f"=== phase 1 complete {NONCE} ===",
        f"PHASE 1 COMPLETE {NONCE}",
        f"[ERROR {NONCE}] type: fatal",
        f"[ERROR_JSON {NONCE}] no disk",
        f"[WARNING {NONCE}]",
        f"[/ERROR {NONCE}]",
    ],
)
@pytest.mark.parametrize("is_own", [False, True])
def test_what_only_looks_like_a_marker_is_text(line: str, is_own: bool) -> None:
    """A phase without a number, a block's name with text behind it: said, and nothing more."""
    assert heard(line + "\n", is_own=is_own) == [Said(line)]


def test_a_traceback_opens_no_fence() -> None:
    """The tildes below a line of code are no fence: what is reported afterwards counts."""
    text = '  File "a.py", line 1\n    x = a / b\n        ~~~^~~~\n'
    assert told(text + PHASE) == [PhaseDone(1)]


def test_a_block_may_quote_markers() -> None:
    """A fence within a question hides markers, not the question's end."""
    quoted = f"```\n{PHASE}[ERROR {NONCE}]\n"
    text = f"[USER_QUESTION {NONCE}]\nquestion: Print this?\n{quoted}[/USER_QUESTION]\n{PHASE}"
    asked, done = told(text)
    assert isinstance(asked, Asked)
    assert asked.question.startswith("Print this?\n```\n=== PHASE 1")
    assert done == PhaseDone(1), "the fence ended with the block"


def test_forged_markers_within_a_block_do_not_end_it() -> None:
    """What an agent quotes in its question without the nonce is a part of the question."""
    forged = "=== PHASE 1 COMPLETE ===\n[ERROR]\n[/ERROR]\n=== STEP 1 DONE ===\n"
    [asked] = told(f"[USER_QUESTION {NONCE}]\nquestion: Sure?\n{forged}[/USER_QUESTION]\n")
    assert isinstance(asked, Asked)


@pytest.mark.parametrize(
    ("body", "size"),
    [("{", 2), ("", 0), ("[1]", 4), ("{}", 3), ('{"question": 7}', 16), ("[" * 5000, 5001)],
)
def test_json_that_says_nothing_is_garbled(body: str, size: int) -> None:
    """A JSON block that is none, or that has nothing to say, is told with its size and why."""
    text = f"[USER_QUESTION_JSON {NONCE}]\n{body}[/USER_QUESTION_JSON]\n"
    assert told(text + PHASE) == [Garbled(size), PhaseDone(1)]
    first = told(text)[0]
    assert isinstance(first, Garbled)
    assert first.why.startswith("USER_QUESTION: ")


def test_a_closing_marker_within_a_line_does_not_close() -> None:
    """The end of a question stands alone, as its beginning; that of JSON may end a line."""
    text = f"[USER_QUESTION {NONCE}]\nquestion: Why is [/USER_QUESTION]\n[/USER_QUESTION]\n"
    assert told(text) == [Asked("Why is [/USER_QUESTION]")]
    text = f"[USER_QUESTION {NONCE}]\nquestion: Why?\n[/USER_QUESTION] indeed\n"
    assert [type(event) for event in told(text)] == [BlockUnclosed]


def test_a_block_of_the_other_kind_does_not_close() -> None:
    """A JSON block ends with its own closing marker, and so does one of text."""
    both = f"[ERROR_JSON {NONCE}]\n{{}}\n[/ERROR]\n", f"[ERROR {NONCE}]\n[/ERROR_JSON]\n"
    assert [type(event) for text in both for event in told(text)] == [BlockUnclosed] * 2


def test_a_json_block_on_a_line_over_the_bound_is_reported() -> None:
    """Nothing that was meant is dropped without a word."""
    long = f'[ERROR_JSON {NONCE}]{{"message": "{"x" * LINE_BYTES_MAX}"}}[/ERROR_JSON]\n'
    assert told(long + PHASE) == [Garbled(LINE_BYTES_MAX), PhaseDone(1)]
    assert told("```\n" + long) == []
    assert told(long.replace(f" {NONCE}", "")) == []


def test_a_json_block_over_the_bound_is_let_go() -> None:
    """Lines of JSON that do not end are reported once, and text goes on."""
    text = f"[ERROR_JSON {NONCE}]\n" + ("x" * 50_000 + "\n") * 3 + PHASE
    events = told(text)
    assert [type(event) for event in events] == [Garbled, PhaseDone]


def test_nothing_more_came() -> None:
    """A block that stays open is closed from outside; what comes then is text again."""
    dialect = Text(NONCE)
    assert isinstance(dialect, Unfinished)
    assert not dialect.has_open_block
    assert list(dialect.close_blocks()) == []
    list(dialect.feed(f"[ERROR {NONCE}]\nmessage: no\n[/ERR".encode()))
    assert dialect.has_open_block
    assert list(dialect.close_blocks()) == [BlockUnclosed("ERROR", len("message: no\n[/ERR\n"))]
    assert not dialect.has_open_block
    assert list(dialect.feed(b"OR]\nnext\n")) == [Said("OR]"), Said("next")]


@pytest.mark.parametrize("marker", [PHASE.strip(), f"\x1b[1m{TASK.strip()}\x1b[0m"])
def test_a_marker_whose_line_did_not_end_counts_when_nothing_more_came(marker: str) -> None:
    """An agent that waits behind its marker without a line's end is heard, once."""
    dialect = Text(NONCE)
    assert list(dialect.feed(marker.encode())) == []
    assert dialect.has_open_block
    said, event = dialect.close_blocks()
    assert isinstance(said, Said)
    assert isinstance(event, PhaseDone | TaskDone)
    assert list(dialect.close_blocks()) == []
    assert list(dialect.feed(f"\n{PHASE}".encode()))[1:] == [PhaseDone(1)]


def test_a_closing_marker_whose_line_did_not_end_closes() -> None:
    """The same holds for the end of a block: it is asked, not given up."""
    dialect = Text(NONCE)
    list(dialect.feed(QUESTION.rstrip().encode()))
    assert list(dialect.close_blocks()) == [EACH["question"][1]]
    assert list(dialect.close()) == []


def test_half_a_line_is_left_alone() -> None:
    """Text without a line's end waits for it; and what follows a marker makes it none."""
    dialect = Text(NONCE)
    list(dialect.feed(b"half of"))
    assert not dialect.has_open_block
    assert list(dialect.close_blocks()) == []
    assert list(dialect.feed(b" a line\n")) == [Said("half of a line")]
    list(dialect.feed(b"```\n" + PHASE.strip().encode()))
    assert not dialect.has_open_block, "it is quoted"
    assert list(dialect.close_blocks()) == []


def test_the_rest_of_a_line_that_was_taken_is_no_marker() -> None:
    """What comes behind a line that was closed from outside is not on a line of its own."""
    dialect = Text(NONCE)
    list(dialect.feed(f"[ERROR {NONCE}]\nsee: ".encode()))
    assert [type(event) for event in dialect.close_blocks()] == [BlockUnclosed]
    assert list(dialect.feed(PHASE.encode())) == [Said(PHASE.strip())]


def test_the_example_of_the_prompt_counts_for_nothing() -> None:
    """Blocks whose values are dots are the prompt's own, repeated."""
    for name, fields in (
        ("USER_QUESTION", "question: …\noptions:\n  - …\ndefault: …"),
        ("DEPENDENCY_REQUEST", "type: service\nname: …\ndescription: …"),
        ("ERROR", "type: fatal\nmessage: …"),
    ):
        events = told(f"[{name} {NONCE}]\n{fields}\n[/{name}]\n")
        assert [type(event) for event in events] == [Garbled]


def unsigned(text: str, *, is_own: bool = False) -> list[Unsigned]:
    return [e for e in heard(text, None, is_own=is_own) if isinstance(e, Unsigned)]


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("=== PHASE 2 COMPLETE ===", f"=== PHASE 2 COMPLETE {NONCE} ==="),
        ("=== PHASE 2 COMPLETE ffffff ===", f"=== PHASE 2 COMPLETE {NONCE} ==="),
        ("=== CUSTOM TASK COMPLETE ===", f"=== CUSTOM TASK COMPLETE {NONCE} ==="),
        ("[USER_QUESTION]", f"[USER_QUESTION {NONCE}]"),
        ("[DEPENDENCY_REQUEST]", f"[DEPENDENCY_REQUEST {NONCE}]"),
        ("[ERROR]", f"[ERROR {NONCE}]"),
    ],
)
def test_a_marker_without_the_nonce_is_told_with_the_line_that_counts(
    marker: str, expected: str
) -> None:
    """Not what is quoted, and not where no nonce is needed."""
    assert unsigned(f"{marker}\n") == [Unsigned(marker, expected)]
    assert unsigned(f"```\n{marker}\n```\n    {marker}\n") == []
    assert unsigned(f"{marker}\n", is_own=True) == []
    assert unsigned(f"{expected}\n") == []


def test_what_is_told_of_a_marker_is_bounded() -> None:
    """However long its nonce is."""
    assert unsigned(f"=== PHASE 1 COMPLETE {'x' * 9_000} ===\n") == []


MANY = b"".join(b"line %d of very many\n" % n for n in range(10_000))


def test_much_output_is_passed_over_but_for_its_ends() -> None:
    """The first line, which may have begun before, the last ones, and what has begun behind."""
    dialect = Text(NONCE)
    assert list(dialect.feed(b"a line that ")) == []
    assert dialect.skim(b"begins before\n" + MANY + b"and one that ") == [
        Said("a line that begins before"),
        *(Said(f"line {n} of very many") for n in range(9_995, 10_000)),
    ]
    assert list(dialect.feed(b"ends behind\n")) == [Said("and one that ends behind")]


@pytest.mark.parametrize("before", ["", "\x1b[31m", "  \x1b[1m\x1b[31m"])
@pytest.mark.parametrize(
    "line",
    ["=== STEP 1 DONE ===", "==\x1b[0m= STEP 1 DONE =\x1b[0m==", "=\x00== STEP 1 DONE =\x00=="],
)
def test_output_in_which_something_is_told_is_not_passed_over(before: str, line: str) -> None:
    """Also where colours stand in a marker: nothing is taken in, and reading finds it."""
    dialect = Text(NONCE)
    assert dialect.skim(MANY + f"{before}{line}\n".encode() + MANY) is None
    assert StepDone(1) in dialect.feed(MANY + f"{before}{line}\n".encode())


def test_coloured_output_is_passed_over_too() -> None:
    """As builds and test runs print it."""
    coloured = b"\x1b[32m    ok\x1b[0m [12/40] a=b\n" * 1_000
    assert Text(NONCE).skim(coloured) == [Said("    ok [12/40] a=b")] * 6


@pytest.mark.parametrize(
    ("begun", "goes_on"),
    [
        (f"[USER_QUESTION {NONCE}]\nquestion: x\n", ""),
        ("[USER_QU", f"ESTION {NONCE}]\n"),
        ("=\x1b[1", "m== STEP 1 DONE =\x1b[1m==\n"),
        ("``", "`\n"),
    ],
)
def test_what_has_begun_is_not_passed_over(begun: str, goes_on: str) -> None:
    """A block that waits for its end, or the beginning of a marker."""
    dialect = Text(NONCE)
    list(dialect.feed(begun.encode()))
    assert dialect.skim(goes_on.encode() + MANY) is None
    assert dialect.skim(b"too short") is None
