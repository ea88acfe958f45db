"""The library for limits: what an output says, and how a stopped worker is brought back."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from segue import i18n
from segue.dialects.limits import recovery
from segue.limits import (
    Environment,
    PaneGone,
    RecoveryConfig,
    calculate_wait_seconds,
    detect_paused_type,
    extract_reset_time,
    handle_paused_worker,
)

SEOUL = ZoneInfo("Asia/Seoul")
START = datetime(2025, 12, 28, 14, 30, 15, tzinfo=SEOUL)
RULE = "─" * 60
WEEKLY = "You've hit your weekly limit · resets Dec 29, 10:30am"
BUSY = f"❯ 계속\n\n✻ Mulling… (3s · esc to interrupt)\n\n{RULE}\n❯ \n{RULE}\n"
DONE = f"❯ 계속\n\n⏺ It is done.\n\n{RULE}\n❯ \n{RULE}\n"


def stopped(message: str, draft: str = "") -> str:
    return f"⏺ Halfway.\n\n❯ go on\n  ⎿  {message}\n\n{RULE}\n❯ {draft}\n{RULE}\n"


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    i18n.use("en")
    recovery._told.clear()
    yield
    i18n.use("en")


@dataclass
class Pane:
    """A worker whose screen is a function of what was sent to it, and of the time."""

    screen: Callable[[Pane], str]
    id: int | str = 1
    state: str = "paused"
    retry_count: int = 0
    sent: list[str] = field(default_factory=list)
    now: datetime = START
    slept: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    is_gone: bool = False
    broken: int = 0  # how many sends fail

    async def read_screen(self) -> str:
        if self.is_gone:
            raise PaneGone
        return self.screen(self)

    async def send_text(self, text: str) -> None:
        if self.broken:
            self.broken -= 1
            raise OSError("no answer")
        self.sent.append(text)

    async def send_keys(self, *keys: str) -> None:
        self.sent.extend(f"<{key}>" for key in keys)

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def handle(self, **settings: Any) -> bool:
        environment = Environment(
            now=lambda: self.now.astimezone(UTC),
            sleep=self.sleep,
            log=self.lines.append,
            tz=SEOUL,
            chance=lambda: 0.0,
            tool="claude",
        )
        return asyncio.run(handle_paused_worker(self, RecoveryConfig(**settings), environment))

    @property
    def said(self) -> list[str]:
        """The log without its times."""
        return [line.partition("] ")[2] for line in self.lines]


def until_sent(message: str, then: str = BUSY) -> Callable[[Pane], str]:
    """Stopped until Enter was pressed after the resume text."""
    return lambda pane: then if pane.sent[-2:] == ["계속", "<Enter>"] else stopped(message)


# One worker brought back


def test_a_weekly_limit_is_waited_for_to_its_end_and_resumed_once() -> None:
    """To the end of the minute that it names, plus the margin; then the text, then Enter alone."""
    pane = Pane(until_sent(WEEKLY))
    assert pane.handle() is True
    assert pane.sent == ["계속", "<Enter>"]
    reset = datetime(2025, 12, 29, 10, 30, tzinfo=SEOUL)
    assert pane.slept == [(reset - START).total_seconds() + 60 + 5, 0.5, 3]
    assert (pane.state, pane.retry_count) == ("busy", 0)


def test_log_lines_in_korean() -> None:
    """To the letter, with the time of the log's own zone."""
    i18n.use("ko")
    pane = Pane(until_sent(WEEKLY))
    pane.handle()
    assert pane.lines == [
        "[2025-12-28 14:30:15] ⏳ Worker 1: Weekly limit, 12/29 10:30까지 대기 (72050초)",
        "[2025-12-29 10:31:05] ▶️ Worker 1: '계속' 전송",
        "[2025-12-29 10:31:08] ✅ Worker 1: 작업 재개됨",
    ]


def test_log_lines_in_english() -> None:
    """The same, in English."""
    pane = Pane(until_sent(WEEKLY))
    pane.handle()
    assert pane.said == [
        "⏳ Worker 1: Weekly limit, waiting until 12/29 10:30 (72050 s)",
        "▶️ Worker 1: '계속' sent",
        "✅ Worker 1: working again",
    ]


def test_failures_in_korean() -> None:
    """Each try in vain, and the end of it, to the letter."""
    i18n.use("ko")
    pane = Pane(lambda _pane: stopped("API Error: Rate limit reached"), id=2)
    assert pane.handle() is False
    assert [line for line in pane.said if line[0] in "⚠❌"] == [
        "⚠️ Worker 2: 재개 실패 (1/3)",
        "⚠️ Worker 2: 재개 실패 (2/3)",
        "⚠️ Worker 2: 재개 실패 (3/3)",
        "❌ Worker 2: 최대 재시도 초과, error 상태로 전환",
    ]


@pytest.mark.parametrize(("language", "line"), [
    ("ko", "[WARN] Reset 시간 파싱 실패, 기본 3600초 사용"),
    ("en", "[WARN] could not read the reset time; waiting 3600 s"),
])  # fmt: skip
def test_a_weekly_limit_without_a_time(language: i18n.Language, line: str) -> None:
    """An hour is waited, and that is told."""
    i18n.use(language)
    pane = Pane(until_sent("You've hit your weekly limit"))
    assert pane.handle() is True
    assert pane.slept[0] == 3600
    assert pane.said[0] == line


@pytest.mark.parametrize(("message", "first_s"), [
    ("API Error: Rate limit reached", 60),
    ("API Error: Rate limit reached. Please try again in 20s.", 25),
    ("API Error: Repeated 529 Overloaded errors", 60),
    ("API Error: Unable to connect to API (ECONNRESET)", 60),
])  # fmt: skip
def test_the_rate_family(message: str, first_s: float) -> None:
    """As long as it says and a margin, else a minute."""
    pane = Pane(until_sent(message))
    assert pane.handle() is True
    assert pane.slept[0] == first_s
    assert "Rate limit" in pane.said[0]


def test_waits_grow_where_no_time_is_given() -> None:
    """Twice as long each time."""
    pane = Pane(lambda _pane: stopped("API Error: Rate limit reached"))
    pane.handle()
    assert [slept for slept in pane.slept if slept > 10] == [60, 120, 240]


def test_a_full_context_gets_the_agents_own_remedy_first() -> None:
    """Five seconds, `/compact`, and the resume text when that is done."""

    def screen(pane: Pane) -> str:
        if pane.sent[-2:] == ["계속", "<Enter>"]:
            return BUSY
        if pane.sent == ["/compact", "<Enter>"] and len(pane.slept) < 5:
            return BUSY  # it compacts for a while
        return stopped("Context limit reached · /compact or /clear to continue")

    pane = Pane(screen)
    assert pane.handle() is True
    assert pane.slept[0] == 5
    assert pane.sent == ["/compact", "<Enter>", "계속", "<Enter>"]
    assert pane.said[0] == "⏳ Worker 1: Context limit, waiting 5 s"


@pytest.mark.parametrize(
    "message", ["Credit balance is too low", "Invalid API key · Please run /login"]
)
def test_money_and_logins_are_for_a_person(message: str) -> None:
    """Nothing is waited for and nothing sent."""
    pane = Pane(lambda _pane: stopped(message))
    assert pane.handle() is False
    assert (pane.state, pane.sent, pane.slept) == ("blocked", [], [])
    assert "needs a person" in pane.said[0]


MENU = ("Upgrade your plan", "Add funds until the limit resets", "Stop and wait for limit to reset")


def menu_at(cursor: int, *entries: str) -> str:
    rows = [f" {'❯' if n == cursor else ' '} {n + 1}. {text}" for n, text in enumerate(entries)]
    head = f"❯ go on\n  ⎿  {WEEKLY}\n\n What do you want to do?\n\n"
    return head + "\n".join(rows) + "\n\n Enter to confirm · Esc to cancel"


def test_a_menu_is_answered_by_the_text_of_its_entry() -> None:
    """The entry that waits, wherever it stands and wherever the cursor is; then the text."""

    def screen(pane: Pane) -> str:
        if "<Enter>" not in pane.sent:
            return menu_at(pane.sent.count("<Down>"), *MENU)
        return BUSY if pane.sent[-2:] == ["계속", "<Enter>"] else stopped(WEEKLY)

    pane = Pane(screen)
    assert pane.handle() is True
    assert pane.sent == ["<Down>", "<Down>", "<Enter>", "계속", "<Enter>"]


def test_a_menu_whose_cursor_does_not_move_is_not_confirmed() -> None:
    """Enter would buy something: the cursor stands on another entry than the one that waits."""
    pane = Pane(lambda _pane: menu_at(0, *MENU))
    assert pane.handle() is False
    assert "<Enter>" not in pane.sent


def test_a_question_that_comes_up_while_the_text_is_typed_is_not_answered() -> None:
    """As in `segue watch`, the screen is read again between text and Enter."""
    question = "Do you want to proceed?\n❯ 1. Yes\n  2. No"
    pane = Pane(lambda pane: question if pane.sent else stopped(WEEKLY))
    assert pane.handle() is False
    assert (pane.sent, pane.state) == (["계속"], "blocked")


def test_a_person_who_begins_to_type_meanwhile_is_not_disturbed() -> None:
    """Enter would send what they have written so far."""
    pane = Pane(lambda pane: stopped(WEEKLY, draft="계속 no wait" if pane.sent else ""))
    assert pane.handle() is False
    assert pane.sent == ["계속"]


def test_a_menu_without_an_entry_that_only_waits_is_for_a_person() -> None:
    """No key is pressed that could cost money."""
    menu = (
        f"❯ go on\n  ⎿  {WEEKLY}\n\n What do you want to do?\n\n ❯ 1. Upgrade your plan\n"
        "   2. Add funds to continue with extra usage\n\n Enter to confirm · Esc to cancel"
    )
    pane = Pane(lambda _pane: menu)
    assert pane.handle() is False
    assert (pane.state, pane.sent) == ("blocked", [])


def test_what_goes_on_by_itself_is_left_alone() -> None:
    """Or it would be done twice."""
    pane = Pane(lambda _p: stopped("Usage limit reached · continuing automatically at 6pm · esc"))
    assert pane.handle() is False
    assert (pane.sent, pane.slept) == ([], [])
    assert pane.said == ["⏳ Worker 1: Weekly limit, resumes by itself; left alone"]


def test_a_draft_is_neither_sent_nor_cleared() -> None:
    """A person is typing."""
    pane = Pane(lambda _pane: stopped(WEEKLY, draft="what about the"))
    assert pane.handle() is False
    assert pane.sent == []
    assert "someone is typing" in pane.said[-1]


def test_the_resume_text_that_stands_there_already_is_only_submitted() -> None:
    """Whoever sent it died before Enter."""
    pane = Pane(lambda pane: BUSY if pane.sent else stopped(WEEKLY, draft="계속"))
    assert pane.handle() is True
    assert pane.sent == ["<Enter>"]


def test_a_person_who_came_first_is_not_disturbed() -> None:
    """It works again when the time is over: nothing is sent."""
    pane = Pane(lambda pane: BUSY if pane.slept else stopped(WEEKLY))
    assert pane.handle() is True
    assert pane.sent == []


def test_another_limit_after_the_first_is_waited_for_as_well() -> None:
    """It is no failed try: its time is to come."""
    later = "You've hit your weekly limit · resets Jan 5, 10:30am"

    def screen(pane: Pane) -> str:
        sends = pane.sent.count("<Enter>")
        return (stopped(WEEKLY), stopped(later), BUSY)[sends]

    pane = Pane(screen)
    assert pane.handle() is True
    assert pane.now > datetime(2026, 1, 5, 10, 31, tzinfo=SEOUL)
    assert not [line for line in pane.said if line.startswith("⚠")]


def test_another_stop_of_the_same_kind_is_waited_for_anew() -> None:
    """Somebody went on and ran into the next limit: nothing is sent before that one is over."""
    first, later = (f"5-hour limit reached ∙ resets {hour}pm" for hour in (4, 9))
    nine = datetime(2025, 12, 28, 21, 0, tzinfo=SEOUL)

    def screen(pane: Pane) -> str:
        if pane.sent:
            return BUSY
        return stopped(first if pane.now.hour < 16 else later)

    pane = Pane(screen)
    assert pane.handle() is True
    assert sum(pane.slept[:2]) >= (nine - START).total_seconds()
    assert pane.sent == ["계속", "<Enter>"]


def test_the_same_words_a_day_later_are_the_same_stop() -> None:
    """The machine slept long past the instant: the time is not taken for tomorrow's."""
    message = "5-hour limit reached ∙ resets 4pm"

    def screen(pane: Pane) -> str:
        pane.now += timedelta(hours=8) * (len(pane.slept) == 1)
        return BUSY if pane.sent else stopped(message)

    pane = Pane(screen)
    assert pane.handle() is True
    assert [slept for slept in pane.slept if slept > 10][1:] == []


def test_a_reset_in_the_far_future_is_for_a_person() -> None:
    """Over eight days: misread, or nobody would want to wait for it unasked."""
    message = "You've hit your weekly limit · resets Jan 29 at 10:30am"
    pane = Pane(lambda _pane: stopped(message))
    assert pane.handle() is False
    assert (pane.state, pane.sent, pane.slept) == ("blocked", [], [])
    assert message in pane.said[0]


def test_a_stop_without_known_words_is_waited_for_half_a_minute() -> None:
    """Whoever calls says that it is stopped, and the screen does not contradict."""
    pane = Pane(lambda pane: BUSY if pane.sent else "Something strange happened\nStopped.")
    assert pane.handle() is True
    assert pane.slept == [30, 0.5, 3]
    assert pane.said[0] == "⏳ Worker 1: Unknown limit, waiting 30 s"
    assert pane.sent == ["계속", "<Enter>"]


@pytest.mark.parametrize(("message", "wait_s"), [
    ("for now it is the rate limit again", 60),
    ("somehow a weekly limit", 3600),
])  # fmt: skip
def test_plain_words_of_a_stopped_worker_say_how_long(message: str, wait_s: float) -> None:
    """As they do for `detect_paused_type`."""
    pane = Pane(lambda pane: BUSY if pane.sent else message)
    assert pane.handle() is True
    assert pane.slept[0] == wait_s


@pytest.mark.parametrize(("screen", "state"), [
    (BUSY, "busy"),
    ("Do you want to proceed?\n❯ 1. Yes\n  2. No", "blocked"),
    (DONE, "idle"),
    ("", "idle"),
])  # fmt: skip
def test_nothing_is_sent_where_the_screen_tells_otherwise(screen: str, state: str) -> None:
    """It works, asks, waits for words, or nothing at all can be seen."""
    pane = Pane(lambda _pane: screen)
    pane.handle()
    assert (pane.state, pane.sent, pane.slept) == (state, [], [])


def test_a_screen_that_moves_is_waited_for_on() -> None:
    """Nobody knows what it shows, but it is not the stop from before."""
    pane = Pane(lambda pane: f"something strange\n{len(pane.slept)} of 3" if len(pane.slept) < 3
                else BUSY)  # fmt: skip
    assert pane.handle() is True
    assert (pane.sent, pane.slept) == ([], [30, 30, 30])


@pytest.mark.parametrize("message", [
    WEEKLY,
    "API Error: Rate limit reached",
    "API Error: Rate limit reached. Please try again in 5 minutes.",
])  # fmt: skip
def test_at_most_three_sends(message: str) -> None:
    """Then the state is `error`, whatever the message says."""
    pane = Pane(lambda _pane: stopped(message))
    assert pane.handle() is False
    assert pane.sent == ["계속", "<Enter>"] * 3
    assert (pane.state, pane.retry_count) == ("error", 3)


def test_a_second_refusal_with_a_time_just_past_is_a_short_wait() -> None:
    """A minute, not a day."""
    pane = Pane(lambda _pane: stopped(WEEKLY))
    pane.handle()
    assert [slept for slept in pane.slept if slept > 10][1:] == [60, 60]


def test_what_is_done_at_once_counts_as_resumed() -> None:
    """After three seconds it is idle again, with an answer."""
    pane = Pane(until_sent(WEEKLY, then=DONE))
    assert pane.handle() is True
    assert pane.state == "idle"
    assert pane.said[-1] == "✅ Worker 1: working again"


def test_what_is_not_stopped_is_left_alone() -> None:
    """Nothing is sent to an idle agent."""
    pane = Pane(lambda _pane: DONE)
    assert pane.handle() is False
    assert (pane.state, pane.sent, pane.said) == ("idle", [], [])


@pytest.mark.parametrize(("language", "line"), [
    ("ko", "[ERROR] Pane 7 접근 실패"),
    ("en", "[ERROR] cannot reach pane 7"),
])  # fmt: skip
def test_a_pane_that_is_gone(language: i18n.Language, line: str) -> None:
    """The state is `dead`."""
    i18n.use(language)
    pane = Pane(lambda _pane: "", id=7, is_gone=True)
    assert pane.handle() is False
    assert pane.state == "dead"
    assert pane.said == [line]


def test_a_send_that_fails_is_one_of_the_tries() -> None:
    """The next one succeeds."""
    pane = Pane(until_sent("API Error: Rate limit reached"), broken=1)
    assert pane.handle() is True
    assert pane.sent == ["계속", "<Enter>"]
    assert pane.said[1:3] == [
        "[ERROR] could not send the text: no answer",
        "⚠️ Worker 1: could not be resumed (1/3)",
    ]


# Settings


def test_numbers_out_of_bounds_are_brought_back_and_that_is_told_once() -> None:
    """At the first worker that they concern, not again."""
    config = RecoveryConfig(default_wait_time=0, max_retries=99, resume_text="  ")
    assert (config.default_wait_time, config.max_retries, config.resume_text) == (1, 10, "계속")
    for times in (1, 0):
        pane = Pane(until_sent(WEEKLY))
        pane.handle(default_wait_time=0, max_retries=99)
        told = [line for line in pane.said if "is outside" in line]
        assert len(told) == 2 * times
    assert RecoveryConfig(default_wait_time=9999).default_wait_time == 3600
    assert RecoveryConfig(max_retries=0).max_retries == 1


def test_another_resume_text_is_sent() -> None:
    """As it is set."""
    pane = Pane(lambda pane: BUSY if pane.sent else stopped(WEEKLY))
    pane.handle(resume_text="go on")
    assert pane.sent == ["go on", "<Enter>"]


# What an output says


def test_reset_times_of_an_output() -> None:
    """In UTC; None where there is none."""

    def read(text: str) -> datetime | None:
        return asyncio.run(extract_reset_time(text, now=START, tz=SEOUL))

    expected = datetime(2026, 10, 9, 1, 30, tzinfo=UTC)
    assert read("Weekly limit reached · resets Oct 9 at 10:30am") == expected
    assert read("resets 6pm") == datetime(2025, 12, 28, 9, 0, tzinfo=UTC)
    assert read("all is well") is None
    assert asyncio.run(extract_reset_time("nothing to see")) is None


def test_seconds_until_then() -> None:
    """Never a second too few, never below 0; without a zone it is the machine's."""
    now = datetime(2026, 1, 1, 12, 0, 0, 500_000, tzinfo=UTC)
    assert calculate_wait_seconds(datetime(2026, 1, 1, 12, 0, 10, tzinfo=UTC), now=now) == 10
    assert calculate_wait_seconds(datetime(2026, 1, 1, 11, 0, tzinfo=UTC), now=now) == 0
    away = datetime(2026, 1, 1, 21, 0, 1, tzinfo=timezone(timedelta(hours=9)))
    assert calculate_wait_seconds(away, now=now) == 1
    local = (datetime.now().astimezone() + timedelta(hours=1)).replace(tzinfo=None)
    assert 3590 <= calculate_wait_seconds(local) <= 3600


@pytest.mark.parametrize(("output", "family"), [
    ("Weekly limit reached · resets Oct 9 at 10:30am", "weekly_limit"),
    ("5-hour limit reached ∙ resets 3pm", "weekly_limit"),
    ("You have exhausted your daily quota on this model.", "weekly_limit"),
    ("API Error: Rate limit reached", "rate_limit"),
    ("API Error: 529 Overloaded", "rate_limit"),
    ("Unable to connect to API (ECONNRESET)", "rate_limit"),
    ("Context limit reached · /compact or /clear to continue", "context_limit"),
    ("Credit balance is too low", "unknown"),
    ("nothing of the kind", "unknown"),
])  # fmt: skip
def test_families(output: str, family: str) -> None:
    """Each kind belongs to one of those that a user configures."""
    assert detect_paused_type(output) == family


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("resets Oct 6 at 1pm", "weekly_limit"),
        ("resets at 3pm", "weekly_limit"),
        ("WEEKLY LIMIT", "weekly_limit"),
        ("rate limit", "rate_limit"),
        ("please wait", "rate_limit"),
        ("context window limit", "context_limit"),
        ("conversation is way too long", "context_limit"),
        ("the weekly report\nhas no limit", "unknown"),
        ("nothing of this", "unknown"),
    ],
)
def test_a_plain_word_is_enough_for_a_worker_that_is_stopped(output: str, kind: str) -> None:
    """Where nothing better is found, the words of one line decide, whatever their case."""
    assert detect_paused_type(output) == kind


SPEAK = """
from segue.limits import RecoveryConfig
from segue import i18n
print(i18n.language(), *RecoveryConfig(max_retries=99).clamped)
"""


@pytest.mark.parametrize(
    ("before", "environ", "language"),
    [
        ("", {"SEGUE_LANG": "ko"}, "ko"),
        ("", {"LANG": "ko_KR.UTF-8"}, "ko"),
        ("", {"SEGUE_LANG": "en", "LANG": "ko_KR.UTF-8"}, "en"),
        ("", {}, "en"),
        ("from segue import i18n; i18n.use('ko')", {"SEGUE_LANG": "en"}, "ko"),
    ],
)
def test_a_library_speaks_as_the_surroundings_ask(
    before: str, environ: dict[str, str], language: str
) -> None:
    """There is no command line to say it; a language that was chosen before is kept."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", before + SPEAK],
        env={**kept, **environ},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout.split()[0] == language, done.stderr
    assert done.stdout.isascii() is (language == "en")
