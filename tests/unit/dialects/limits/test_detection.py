"""Which state a screen is in, and that nothing can make the detector fail."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.dialects.limits import Detection, detect, extra_patterns, read_limit, told_limit
from segue.errors import UserError

NOW = datetime(2026, 3, 16, 13, 19, tzinfo=UTC)
RULE = "─" * 60
INPUT = f"\n\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts"


def seen(text: str, tool: str | None = "claude") -> Detection:
    return detect(text, tool=tool, now=NOW, tz=UTC)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (f"⏺ Done.{INPUT}", "idle"),
        (f"⏺ Done.\n\n✻ Mulling… (84s · ↑ 3.4k tokens · esc to interrupt){INPUT}", "busy"),
        ("✦ Done.\n\n⠏ Weighing (esc to cancel, 17s)\n\n> ", "busy"),
        ("Just some text", "unknown"),
        (
            "You've hit your usage limit. Try again in 2 hours.\n\nGoing on with the small model.\n"
            "Wrote src/limits.py\nTraceback (most recent call last):\nValueError: boom",
            "unknown",
        ),
        ("", "unknown"),
        ("Bash command\n  rm -r build\nDo you want to proceed?\n❯ 1. Yes\n  2. No", "asks"),
        ("Continue? [y/N]", "asks"),
        (f"⏺ You've hit your limit · resets 6pm{INPUT}", "paused"),
        ("What do you want to do?\n\n❯ 1. Stop and wait for limit to reset\n  2. Upgrade", "paused_menu"),
        (
            f"⏺ Usage limit reached · continuing automatically at 6pm · esc to cancel{INPUT}",
            "paused_self_resuming",
        ),
        (f"> go\n  ⎿  API Error (Request timed out.) · Retrying in 5 seconds… (attempt 2/10){INPUT}", "self_retrying"),
        ("Free usage exceeded [retrying in 17h 42m attempt #1]", "paused_self_resuming"),
    ],
)  # fmt: skip
def test_states(text: str, state: str) -> None:
    """Each state as agents show it."""
    assert seen(text).state == state


def test_the_newest_message_counts() -> None:
    """Of two limits the later one is meant."""
    text = f"  ⎿  You've hit your limit · resets 2pm\n\n> go on\n\n  ⎿  You've hit your limit · resets 7pm{INPUT}"
    found = seen(text)
    assert found.resets_at == datetime(2026, 3, 16, 19, 0, tzinfo=UTC)


def test_two_messages_about_one_stop_add_up() -> None:
    """The one below says that it goes on by itself, the one above which limit, and in which zone."""
    text = (
        "❯ go\n  ⎿  You've hit your weekly limit · resets 6pm (Asia/Seoul)\n"
        f"● Usage limit reached · continuing automatically at 6pm · esc to cancel{INPUT}"
    )
    found = seen(text)
    assert (found.state, found.kind) == ("paused_self_resuming", "weekly_limit")
    assert found.resets_at == datetime(2026, 3, 17, 9, 0, tzinfo=UTC)


def test_answers_of_local_commands_do_not_lift_a_limit() -> None:
    """`/context` and the like show something below the message: nothing was worked on."""
    text = f"⏺ Context limit reached · /compact or /clear to continue\n\n❯ /config\n  ⎿  Dismissed{INPUT}"
    assert seen(text).kind == "context_limit"


def test_what_was_passed_over_is_told() -> None:
    """With the reason for each."""
    found = seen(f"⏺ Bash(ls)\n  ⎿  Rate limit exceeded{INPUT}")
    assert not found.paused
    assert [why for _text, why in found.aside] == ["status", "newer_tool"]


def test_warnings_are_no_limits() -> None:
    """Near it, some percent of it, soon: not at it."""
    for text in (
        "Approaching usage limit · resets at 8pm",
        "You've used 92% of your weekly limit · resets 8pm",
        "Context left until auto-compact: 2%",
        "You have less than 10% of your 5h limit left",
    ):
        assert not seen(text).paused
        assert not seen(f"⏺ Done.\n\n{RULE}\n❯ \n{RULE}\n  {text}").paused


def test_a_draft_is_seen_and_a_suggestion_is_none() -> None:
    """What a person typed stands in the input line; the program's own suggestion does not count."""
    assert seen(f"⏺ Done.\n\n{RULE}\n❯ half a thou\n{RULE}\n").draft == "half a thou"
    assert seen("• Done.\n\n› Ask Codex to do anything\n\n  gpt-5 · ~/x", "codex").draft == ""


def test_one_message_that_is_known_to_be_the_agents_own() -> None:
    """Kind, and an instant or a length; None where it is another error."""
    zone = UTC
    told = read_limit("You’ve hit your usage limit. … or try again at 7:27 PM.", "codex", NOW, zone)
    assert told == ("session_limit", datetime(2026, 3, 16, 19, 27, tzinfo=UTC), None)
    assert read_limit("Rate limit reached. Please try again in 2.5s.", "codex", NOW, zone) == (
        "rate_limit",
        None,
        2.5,
    )
    assert read_limit("file not found: a.txt", "codex", NOW, zone) is None


@pytest.mark.parametrize(
    "above",
    [
        "Working on it",
        "line one\nline two",
        "Reading src/app.py",
        "work\n5-hour limit reached\n> 계속",
    ],
)
@pytest.mark.parametrize("below", ["", "\n> "])
def test_a_message_right_below_a_short_line(above: str, below: str) -> None:
    """A row that had room for the next word was not wrapped: the message is a line of its own."""
    found = seen(f"{above}\n5-hour limit reached ∙ resets 3pm{below}", None)
    assert (found.paused, found.kind) == (True, "session_limit")
    assert found.resets_at == datetime(2026, 3, 16, 15, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("above", "message"),
    [
        ("Hello, I'm Claude. How can I help?", "Claude AI usage limit reached|1795000000"),
        ("Hello, I'm Claude. How can I help?", "Weekly limit reached ∙ resets Mon 9am"),
        ("Good morning, Kim.", "usage limit reached"),
        ("안녕하세요! 무엇을 도와드릴까요?", "429 Too Many Requests"),
        ("hello from the agent", "limit reached, resets 3pm"),
        ("Welcome to Claude Code!", "Quota exceeded. Resets in 5h"),
    ],
)
def test_a_greeting_right_above_a_message_does_not_hide_it(above: str, message: str) -> None:
    """In a short output the last line is read by itself, however long the one above it is."""
    alone, found = seen(message, None), seen(f"{above}\n{message}\n", None)
    assert found.paused
    assert (found.kind, found.resets_at) == (alone.kind, alone.resets_at)


@pytest.mark.parametrize(
    ("below", "is_paused"),
    [
        ("⏺ I have fixed the parser.\n  ⎿  You've hit your limit · resets 3pm", True),
        ("⏺ Bash(cat banner.txt)\n  ⎿  You've hit your limit · resets 3pm", False),
        ("~/code $ claude -p hello\nYou've hit your session limit · resets 3pm\n~/code $ ", True),
        ("┌────┬────┐\n│ You've hit your weekly limit │ wait │\n└────┴────┘", False),
    ],
)
def test_whose_words_they_are(below: str, is_paused: bool) -> None:
    """Nothing hangs from a sentence; what a command of the agent printed is its own; a table lists."""
    assert seen(f"⏺ Done.\n\n{below}").paused is is_paused


def test_a_question_of_the_agent_about_limits_is_none() -> None:
    """Its heading has a box, and other words can be typed."""
    menu = (
        " ☐ Rate limit\nWhat should happen when a client hits the limit?\n❯ 1. Reject with 429\n"
        "  2. Queue until the limit resets\n  3. Type something.\nEnter to select · Esc to cancel"
    )
    assert seen(menu).state == "asks"


def test_what_will_not_go_on_by_itself() -> None:
    """It says so: somebody has to wake it."""
    text = "Usage limit reached · resets in 86h\nthis task will not resume on its own"
    assert seen(text).state == "paused"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rate limit, retry after 3 seconds", ("rate_limit", None, 3.0)),
        ("weekly cap; on again Tuesday 9am", ("weekly_limit", None, None)),
        ("the database is locked, try again in 2 minutes", ("unknown", None, 120.0)),
        ("the payment service answered with an error 429", ("rate_limit", None, None)),
        ("no credit card on file", ("unknown", None, None)),
    ],
)
def test_an_agent_says_itself_that_it_has_to_wait(text: str, told: tuple[object, ...]) -> None:
    """Whatever else it says: the time counts, and the kind where waiting for it helps."""
    assert told_limit(text, "mine", NOW, UTC) == told


def test_patterns_of_a_users_own() -> None:
    """They count like those that are built in, for the agent that they name."""
    extra = extra_patterns(
        [{"pattern": "(?i)no more juice", "kind": "daily_quota", "agent": "squeezer"}]
    )
    text = "No more juice until 6pm"
    found = detect(text, tool="squeezer", now=NOW, tz=UTC, extra=extra)
    assert (found.kind, found.rule) == ("daily_quota", "extra-1")
    assert found.resets_at == datetime(2026, 3, 16, 18, 0, tzinfo=UTC)
    assert not detect(text, tool="other", now=NOW, tz=UTC, extra=extra).paused
    assert not detect(text, tool="squeezer", now=NOW, tz=UTC).paused


def test_patterns_that_cannot_be_are_all_told() -> None:
    """A bad expression, kind or key is named; none is ignored."""
    with pytest.raises(UserError) as raised:
        extra_patterns(
            [
                {"pattern": "(", "kind": "rate_limit"},
                {"pattern": "x", "kind": "nonsense"},
                {"kind": "rate_limit", "patern": "x"},
            ]
        )
    told = " ".join(problem.message for problem in raised.value.problems)
    assert "`(`" in told
    assert "nonsense" in told
    assert "patern" in told


PIECES = st.sampled_from(
    [
        "You've hit your", "limit", "resets", "3pm", "(UTC)", "\n", "\n\n", "⏺ ", "  ⎿  ", "> ", "❯ ",
        "│", "╭──╮", "╰──╯", "─" * 30, "1. ", "\x1b[31m", "\x1b[5;9H", "\x1b[12G", "429", '{"error":',
        "Oct 31", "|1767243600", "in 99999999 hours", "retrying", "%", "·", "한도", "초과", "\r", "\t",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=40).map(" ".join)))
def test_nothing_makes_it_fail(text: str) -> None:
    """Any text gets an answer; an instant is aware and in UTC; a wait is never negative."""
    found = seen(text, None)
    assert found.resets_at is None or found.resets_at.utcoffset() == UTC.utcoffset(None)
    assert found.wait_s is None or found.wait_s >= 0


@pytest.mark.parametrize(
    "piece",
    [
        "You've hit your ",
        "limit reached ",
        '{"error": ',
        "a" * 50 + " ",
        "⏺ ",
        "resets in ",
        "│ x │\n",
    ],
)
def test_long_texts_take_linear_time(piece: str) -> None:
    """No text, however it repeats, makes the expressions go astray."""
    started = time.process_time()
    seen(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 2


def test_a_row_of_a_table_is_no_frame() -> None:
    """Bars within it, not only at its sides: somebody writes about errors."""
    row = "| Authentication Error | Verify API keys are set correctly |"
    assert not seen(f"It is done.\n\n{row}\n\n> ", "opencode").paused
    assert seen(
        "It is done.\n\n| Authentication error. Please run /login |\n\n> ", "opencode"
    ).paused


def test_what_tries_again_below_the_prompt_is_left_alone() -> None:
    """The prompt that was asked last looks like an input line; what is below it counts."""
    text = "It is done.\n\n> go on\n\nToo many requests [retrying in 8s attempt #3]"
    assert seen(text, "opencode").state == "self_retrying"


@pytest.mark.parametrize("prompt", ["( O)> ", "[kiro] > ", " 3% !> ", "> "])
def test_an_input_line_may_begin_with_something_else(prompt: str) -> None:
    """What stands above an empty input line is the newest thing, however that line begins."""
    found = seen(f"{prompt}go on\n\nToo many requests, please wait.\n\n{prompt}", None)
    assert (found.state, found.kind, found.draft) == ("paused", "rate_limit", "")


def test_a_shell_below_a_message_is_no_input_line() -> None:
    """The agent has ended: what would be sent there would be run as a command."""
    for prompt in ("me@box:~/x$ ", "$ ", "➜  x git:(main) ✗ "):
        assert seen(f"You've hit your session limit · resets 6pm\n\n{prompt}", None).draft is None


def test_what_an_agent_prints_without_its_screen_is_its_own() -> None:
    """Below the command that ran the agent its words count; below another one they do not."""
    said = "You've hit your session limit · resets 6pm"
    assert seen(f'$ claude -p "go on"\n{said}', None).paused
    assert not seen(f"$ tail agent.log\n{said}", None).paused


# How sure, and why not

PLAIN = "\n\n".join(f"$ make step-{n}\nstep {n} is done" for n in range(8))


def test_a_program_that_speaks_is_believed() -> None:
    """Under the program's own mark, in its log, as an exception: certain."""
    for text in (
        "> go\n  ⎿  You've hit your session limit · resets 7pm",
        f"{PLAIN}\n\n2026-03-16 14:20:00 ERROR agent: usage limit reached, resets at 18:10",
        f"{PLAIN}\n\nopenai.RateLimitError: Error code: 429 - rate limit reached",
    ):
        found = detect(text, tool=None, now=NOW, tz=UTC)
        assert (found.paused, found.confidence) == (True, "certain"), text


def test_words_that_the_agent_may_have_said_are_only_probable() -> None:
    """On a screen without marks nothing tells who speaks in a paragraph."""
    text = f"{PLAIN}\n\nUsage limit reached. Resets at 18:10.\n\n> "
    found = detect(text, tool=None, now=NOW, tz=UTC)
    assert (found.paused, found.confidence) == (True, "probable")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("⏺ The parser is done.", "no_words"),
        ("⏺ Rate limit reached: I wait for the reset.", "first_person"),
        ("⏺ Rate limit exceeded is what the test expects now.", "report"),
        ("⏺ 한도에 도달하면 큐가 멈춥니다.", "condition"),
        ("⏺ You've used 92% of your weekly limit", "warning"),
    ],
)
def test_it_is_said_why_there_is_no_limit(text: str, missing: str) -> None:
    """What was missing that the newest words would be a message."""
    found = detect(text, tool="claude", now=NOW, tz=UTC, is_explained=True)
    assert (found.paused, found.missing) == (False, missing)
    assert found.speaker == "speech"
