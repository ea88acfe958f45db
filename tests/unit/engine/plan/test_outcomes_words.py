"""Limits told in words: read where the clock is, with the zone of whoever said them."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest

from kit.bench import Bench
from segue import i18n
from segue.core.limits import Waits
from segue.core.plan import TaskState
from segue.dialects.events import Finished, LimitHit, Opened, Said
from segue.dialects.limits import extra_patterns
from segue.engine.executors import Ended, NeverStarted
from segue.engine.executors import Finished as EndedMeanwhile
from segue.engine.plan.attempts import Attempt

ONE = "- [ ] T-1: Build\n  - retries: 0\n"
CODEX = 'agent = "codex"\n[agents.codex]\nkind = "codex"\ncommand = ["./claude"]\nmcp = false\n'
MINE = 'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["./claude"]\n'
WRAPPED = 'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["./wrapper"]\n'
USAGE = "You’ve hit your usage limit. Visit https://chatgpt.com or try again at {}."


def in_s(bench: Bench) -> float:
    assert bench.engine.wakes_at is not None
    return (bench.engine.wakes_at - bench.clock.now()).total_seconds()


def begun(bench: Bench, settings: str = CODEX, plan: str = ONE, **options: Any) -> Bench:
    bench.settings(settings)
    wrapper = bench.root / "wrapper"
    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(0o755)
    bench.begin(plan, **options)
    bench.starts()
    return bench


def hits(bench: Bench, kind: str, text: str, **more: Any) -> None:
    """The agent tells of a limit and ends."""
    bench.says(LimitHit(kind, text=text, **more), Finished(True, text, "turn.failed"))
    bench.ends(1)


def prints(bench: Bench, text: str, code: int | None = 1, **more: Any) -> Attempt:
    """A `command` agent prints this and ends."""
    attempt = bench.attempt
    log = bench.run.job_factory.log(attempt.run)
    log.write_text(text)
    bench.says(*(Said(line) for line in text.splitlines() if line.strip()))
    bench.ends(code, **more)
    return attempt


def parked(bench: Bench) -> dict[str, Any]:
    (told,) = bench.told("task_parked")
    return told


# --- a limit whose dialect knows no instant ---------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [
        (USAGE.format("7:27 PM"), 7 * 3600 + 28 * 60 + 5),  # the end of that minute, and 5 s
        (USAGE.format("11:59 AM"), 5),  # a minute ago: over
        (USAGE.format("11:00 AM"), 23 * 3600 + 60 + 5),  # an hour ago: tomorrow's
        (USAGE.format("Mar 3rd, 2026 6:28 PM"), 2 * 86400 + 6 * 3600 + 29 * 60 + 5),
        ("Rate limit reached. Please try again in 90s.", 95),  # to the second
        ("Usage limit reached|1772370000", 3605),  # an epoch names a second
        ("You've hit your limit · resets 3pm (America/New_York)", 8 * 3600 + 65),
        ("No more of this for plan 7: resets in 90s", 95),  # that it is a limit is known
    ],
)
def test_the_words_tell_the_instant(bench: Bench, text: str, wait_s: float) -> None:
    """A minute is waited for to its end, a second is a second; the margin comes on top."""
    begun(bench)
    hits(bench, "session_limit", text)
    assert in_s(bench) == wait_s
    assert bench.told("notice") == []
    assert bench.run.ledger.tasks["T-1"].retries_used == 0


def test_a_structured_instant_wins_over_words(bench: Bench) -> None:
    """Whatever the text says, and whichever of the two was told last."""
    at = bench.clock.now() + timedelta(minutes=10)
    begun(bench).says(LimitHit("session_limit", resets_at=at, text=USAGE.format("7:27 PM")))
    hits(bench, "weekly_limit", USAGE.format("Mar 3rd, 2026 6:28 PM"))
    assert (parked(bench)["kind"], in_s(bench)) == ("session_limit", 605)


def test_a_length_is_counted_from_when_it_was_told(bench: Bench) -> None:
    """The process ended a minute later."""
    begun(bench).says(LimitHit("session_limit", wait_s=600))
    bench.clock.pass_s(60)
    bench.ends(1)
    assert in_s(bench) == 545


def test_words_that_were_said_while_nobody_listened_are_read_as_of_then(bench: Bench) -> None:
    """Segue was dead for six hours: "4:30 PM" said at noon was today's, and is over."""
    begun(bench)
    job, log = bench.job, bench.run.job_factory.log(bench.attempt.run)
    log.write_text("…")
    noon = bench.clock.now().timestamp()
    os.utime(log, (noon, noon))
    bench.clock.pass_s(6 * 3600)
    bench.start()
    bench.engine.became[job] = EndedMeanwhile()
    bench.recover()
    text = USAGE.format("4:30 PM")
    bench.says(LimitHit("session_limit", text=text), Finished(True, text), job=job)
    bench.ends(1, job=job)
    assert in_s(bench) == 5
    assert parked(bench)["resets_at"] == "2026-03-01T16:30:00Z"


def test_a_command_that_ended_while_nobody_listened_is_read_as_of_then(bench: Bench) -> None:
    """Two hours from noon are over at six."""
    begun(bench, MINE)
    job, log = bench.job, bench.run.job_factory.log(bench.attempt.run)
    log.write_text("Usage limit reached. Try again in 2 hours.\n")
    noon = bench.clock.now().timestamp()
    os.utime(log, (noon, noon))
    bench.clock.pass_s(6 * 3600)
    bench.start()
    bench.engine.became[job] = EndedMeanwhile()
    bench.recover()
    bench.ends(1, job=job)
    assert parked(bench)["resets_at"] == "2026-03-01T14:00:00Z"
    assert in_s(bench) == 5


def test_the_time_may_stand_in_the_last_word_alone(bench: Bench) -> None:
    """Where the event named a window and an instant that was not believed."""
    begun(bench).says(LimitHit("session_limit", text="five_hour"))
    bench.says(Finished(True, "You've hit your 5-hour limit · resets 7:27pm (UTC)"))
    bench.ends(1)
    assert in_s(bench) == 7 * 3600 + 28 * 60 + 5


@pytest.mark.parametrize(
    ("told", "text", "kind"),
    [
        ("session_limit", "You've hit your usage limit. Try again at 7:27 PM.", "session_limit"),
        ("session_limit", "You've hit your usage limit. Try again Mar 5th, 6 PM.", "weekly_limit"),
        ("rate_limit", "429: weekly usage limit reached, resets in 3 days", "weekly_limit"),
        ("rate_limit", "Daily quota exceeded. Resets in 5 hours.", "daily_quota"),
        ("rate_limit", "429 Too Many Requests: try again in 20s", "rate_limit"),
        ("overloaded", "Rate limit exceeded, try again in 20s", "overloaded"),
        ("weekly_limit", "5-hour limit reached, resets 3pm", "weekly_limit"),
        ("unknown", "You have exhausted your daily quota, it resets in 5 hours", "daily_quota"),
    ],
)
def test_the_dialects_kind_stands_unless_words_are_clearer(
    bench: Bench, told: str, text: str, kind: str
) -> None:
    """A mere status, a habit or nothing at all gives way to a window that is named."""
    begun(bench)
    hits(bench, told, text)
    assert parked(bench)["kind"] == kind


@pytest.mark.parametrize(("kind", "text"), [("billing", "Credits renew in 3 hours")])
def test_what_waiting_cannot_mend_is_asked_though_a_time_is_named(
    bench: Bench, kind: str, text: str
) -> None:
    """A person must see to it, whenever anything renews."""
    begun(bench)
    hits(bench, kind, text)
    assert bench.run.ledger.parks == {}
    assert len(bench.run.ledger.gates) == 1


def test_words_without_a_time_wait_for_the_default_and_say_so(bench: Bench) -> None:
    """An hour, as the settings have it."""
    begun(bench, waits=Waits(weekly_s=1800))
    hits(bench, "session_limit", "You've hit your usage limit.")
    assert in_s(bench) == 1800
    (notice,) = bench.told("notice")
    assert notice["text"].startswith("[WARN]")
    assert "1800" in notice["text"]


def test_a_second_refusal_with_a_time_just_past_is_a_short_wait(bench: Bench) -> None:
    """Neither a day nor a storm: a minute."""
    begun(bench)
    text = USAGE.format("12:10 PM")
    hits(bench, "session_limit", text)
    bench.pass_s(in_s(bench))
    bench.starts()
    hits(bench, "session_limit", text)
    assert in_s(bench) == 60
    bench.pass_s(60)
    assert len(bench.engine.begun) == 3


@pytest.mark.parametrize(
    "text",
    [
        "You've hit your weekly limit. Try again at Mar 12th, 2026 6:28 PM.",
        "Weekly limit reached, resets in 9 days",
    ],
)
def test_a_reset_far_ahead_in_words_is_asked_about(bench: Bench, text: str) -> None:
    """More than eight days: it was misread, or nobody would want to wait unasked."""
    begun(bench)
    hits(bench, "weekly_limit", text)
    assert bench.run.ledger.parks == {}
    (gate,) = bench.run.ledger.gates.values()
    assert text in gate.text


def test_a_long_length_in_figures_is_asked_about_too(bench: Bench) -> None:
    """It is as far ahead as an instant would be."""
    begun(bench)
    hits(bench, "weekly_limit", "x", wait_s=9 * 86400)
    assert bench.run.ledger.parks == {}


# --- zones and clocks -------------------------------------------------------------------------


def test_an_unknown_zone_is_told_and_kept(bench: Bench) -> None:
    """Segue waits the default; people read why in a line, the journal keeps it."""
    begun(bench)
    hits(bench, "session_limit", "You've hit your limit · resets 3pm (Mars/Olympus)")
    assert in_s(bench) == 3600
    assert "Mars/Olympus" in bench.told("notice")[0]["text"]
    sql = "SELECT data FROM journal WHERE entity = 'park'"
    (row,) = bench.run.ledger.store.all(sql)
    assert '"unknown_zone": "Mars/Olympus"' in row["data"]


def test_an_unknown_zone_in_the_output_of_a_command_is_told_too(bench: Bench) -> None:
    """It is read in another way, and told in the same."""
    begun(bench, MINE)
    prints(bench, "You've hit your limit · resets 3pm (Mars/Olympus)\n")
    assert "Mars/Olympus" in bench.told("notice")[0]["text"]


def test_a_known_zone_says_nothing_more(bench: Bench) -> None:
    """What the agent said is in the journal all the same."""
    begun(bench)
    hits(bench, "session_limit", "You've hit your limit · resets 3pm (UTC)")
    (row,) = bench.run.ledger.store.all("SELECT data FROM journal WHERE entity = 'park'")
    assert row["data"] == '{"text": "You\'ve hit your limit · resets 3pm (UTC)"}'
    assert bench.told("notice") == []


def test_an_agent_with_a_zone_of_its_own_means_that(bench: Bench) -> None:
    """Its `env` table sets TZ: it prints that wall clock."""
    begun(bench, CODEX + 'env = { TZ = "Asia/Seoul" }\n')
    hits(bench, "session_limit", USAGE.format("11:00 PM"))
    assert in_s(bench) == 2 * 3600 + 65


@pytest.mark.parametrize(
    ("jump_s", "is_awake"), [(-7200, False), (3600, False), (4 * 3600, True), (400 * 86400, True)]
)
def test_a_clock_that_jumps_wakes_nothing_early_and_nothing_a_day_late(
    bench: Bench, jump_s: float, is_awake: bool
) -> None:
    """The instant stands; past it, the work goes on at once, and once."""
    begun(bench)
    hits(bench, "session_limit", USAGE.format("3:00 PM"))
    bench.pass_s(jump_s)
    assert (len(bench.engine.begun) == 2) is is_awake
    bench.happens()
    bench.pass_s(4 * 3600 + 7200)
    assert len(bench.engine.begun) == 2


# --- a command that ends badly ----------------------------------------------------------------

CLAUDE_5H = "Claude AI usage limit reached|1772370000\n"
BANNERS = [
    ("You've hit your 5-hour limit · resets 3pm (UTC)\n", "session_limit", 3 * 3600 + 65),
    (CLAUDE_5H, "session_limit", 3605),
    ("■ You've hit your usage limit. Try again at 7:27 PM.\n", "session_limit", 26885),
    ("✕ [API Error: You have exhausted your daily quota on this model.]\n", "daily_quota", 3600),
    ("API Error: Repeated 529 Overloaded errors. Try again later.\n", "overloaded", None),
]


@pytest.mark.parametrize(("banner", "kind", "wait_s"), BANNERS)
@pytest.mark.parametrize("settings", [MINE, WRAPPED])
def test_a_command_that_ends_with_a_banner_is_parked(
    bench: Bench, settings: str, banner: str, kind: str, wait_s: float | None
) -> None:
    """It failed by its exit code, and yet it has not: no try is used, the account waits too."""
    begun(bench, settings)
    before = prints(bench, "Reading the plan\nEditing src/app.py\n\n" + banner)
    assert parked(bench)["kind"] == kind
    assert parked(bench)["why"] in banner
    assert wait_s is None or in_s(bench) == wait_s
    assert bench.state() is TaskState.IN_PROGRESS
    assert bench.run.ledger.tasks["T-1"].retries_used == 0
    assert "mine" in bench.run.accounts.view()
    bench.pass_s(in_s(bench))
    job = bench.engine.jobs[bench.job]
    assert bench.prompt() == "continue\n"
    assert job.env["SEGUE_RESUME"] == "1"
    assert job.env["SEGUE_CONVERSATION"] == before.run.conversation
    assert job.env["SEGUE_ATTEMPT"] == "1"
    prints(bench, "done\n", 0)
    assert bench.state() is TaskState.COMPLETED


def test_standard_error_counts_as_it_came(bench: Bench) -> None:
    """Colours and carriage returns too: what a person would have seen is judged."""
    begun(bench, MINE)
    prints(
        bench, "working\r\n\x1b[31mYou've hit your weekly limit · resets Mar 3, 6pm (UTC)\x1b[0m"
    )
    assert parked(bench)["resets_at"] == "2026-03-03T18:00:00Z"


@pytest.mark.parametrize(
    "end", [{"code": 0}, {"code": None, "signal": 9}, {"code": 1, "is_ours": True}], ids=str
)
def test_only_an_exit_code_of_its_own_is_judged(bench: Bench, end: dict[str, Any]) -> None:
    """Done is done, and killed is killed, whatever was printed."""
    begun(bench, MINE)
    prints(bench, BANNERS[0][0], **end)
    done = end["code"] == 0
    assert bench.state() is (TaskState.COMPLETED if done else TaskState.FAILED)
    assert bench.told("task_parked") == []


NOT_LIMITS = [
    "make: *** [Makefile:3: all] Error 1\n",
    "+ raise RateLimitError('rate limit exceeded, retry in 60 s')\nFAILED test_limiter.py::test_429\n",
    "You've used 92% of your weekly limit\nbuild failed\n",
    "You've hit your 5-hour limit · resets 3pm (UTC)\nEdited src/app.py\nTests failed: 3\n",
    "Rate limited (429). Retrying in 5 seconds… (attempt 3/10)\n",
    "Proceed? (y/n)\n",
    "",
]


@pytest.mark.parametrize("text", NOT_LIMITS)
def test_a_command_that_failed_has_failed(bench: Bench, text: str) -> None:
    """Text about limits, warnings, banners with work below, retries of its own: no park."""
    begun(bench, MINE)
    prints(bench, text)
    assert bench.told("task_parked") == []
    assert bench.state() is TaskState.FAILED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Credit balance is too low\n", "billing"),
        ("Invalid API key · Please run /login\n", "auth"),
    ],
)
def test_a_command_that_needs_a_person_asks(bench: Bench, text: str, kind: str) -> None:
    """A gate; seen to, the next start goes on in the conversation."""
    begun(bench, MINE)
    before = prints(bench, text)
    (gate,) = bench.run.ledger.gates.values()
    assert gate.category == kind
    assert bench.state() is TaskState.IN_PROGRESS
    bench.start()
    bench.recover()
    job = bench.engine.jobs[bench.job]
    assert (bench.prompt(), job.env["SEGUE_RESUME"]) == ("continue\n", "1")
    assert job.env["SEGUE_CONVERSATION"] == before.run.conversation


@pytest.mark.parametrize(
    "text",
    [
        "Usage limit reached. Continuing automatically at 3pm (UTC) · Esc to cancel\n",
        "You've hit your weekly limit · resets 3pm (UTC)\n\nWhat do you want to do?\n"
        "❯ 1. Stop and wait for limit to reset\n  2. Upgrade your plan\n",
    ],
)
def test_an_end_stops_what_would_go_on_by_itself(bench: Bench, text: str) -> None:
    """The process is gone: nobody else will go on with it, nobody waits at its menu."""
    begun(bench, MINE)
    prints(bench, text)
    assert parked(bench)["resets_at"] == "2026-03-01T15:00:00Z"


def test_shell_and_script_are_not_judged(bench: Bench) -> None:
    """They print what they print; a failure of theirs is one."""
    begun(bench, 'agent = "shell"\n', ONE.replace("Build\n", "Build\n  - run: ./x\n"))
    prints(bench, BANNERS[0][0])
    assert bench.state() is TaskState.FAILED


def test_the_end_of_a_long_output_is_enough(bench: Bench) -> None:
    """What was printed is bounded; the banner is at its end."""
    begun(bench, MINE)
    prints(bench, "compiling a file\n" * 50_000 + "\n" + BANNERS[0][0])
    assert parked(bench)["kind"] == "session_limit"


def test_a_check_that_fails_is_not_judged(bench: Bench) -> None:
    """`verify` is Segue's own: what it prints about limits is about something else."""
    begun(bench, MINE, ONE + "  - verify: ./check\n")
    prints(bench, "done\n", 0)
    run = bench.attempt.run
    bench.run.job_factory.files.check_log(run.id).write_text(BANNERS[0][0])
    bench.happens(Ended(run.verify_job or "", 1))
    assert bench.state() is TaskState.FAILED


def is_probed(bench: Bench) -> bool:
    return bench.run.accounts.view()["mine"].probing


def test_the_refusal_of_a_canary_is_not_its_work(bench: Bench) -> None:
    """A command's first words may be that the limit is not over: the others wait on."""
    bench.settings("jobs = 2\n" + MINE)
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n")
    for job in list(bench.engine.begun):
        bench.starts(job)
        log = bench.run.job_factory.log(bench.run.jobs[job].run)
        log.write_text(BANNERS[0][0])
        bench.ends(1, job=job)
    bench.pass_s(3 * 3600 + 65)
    assert len(bench.engine.begun) == 3
    bench.starts()
    bench.says(Said("You've hit your 5-hour limit · resets 8pm (UTC)"))
    bench.pass_s(6)
    bench.says(Said("Reading the plan"))
    assert is_probed(bench)
    bench.pass_s(5)
    bench.says(Said("Reading the code"))
    assert not is_probed(bench)


def test_the_greeting_of_a_canary_is_not_its_work(bench: Bench) -> None:
    """A command's first words may come before it is refused; what outlives them is at work."""
    bench.settings("jobs = 2\n" + MINE)
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n")
    for job in list(bench.engine.begun):
        bench.starts(job)
        bench.run.job_factory.log(bench.run.jobs[job].run).write_text(BANNERS[0][0])
        bench.ends(1, job=job)
    bench.pass_s(3 * 3600 + 65)
    bench.starts()
    bench.says(Said("starting up"))
    bench.pass_s(3)
    bench.says(Said("still starting"))
    assert is_probed(bench)
    bench.pass_s(2)
    bench.says(Said("reading the code"))
    assert not is_probed(bench)
    bench.pass_s(2)
    assert len(bench.engine.begun) == 4


def test_a_canary_that_is_refused_after_its_greeting_opens_nothing(bench: Bench) -> None:
    """The others were not sent into the same wall."""
    bench.settings("jobs = 3\n" + MINE)
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n  - files: a\n- [ ] T-3: c\n  - files: a\n")
    for job in list(bench.engine.begun):
        bench.starts(job)
        bench.run.job_factory.log(bench.run.jobs[job].run).write_text(BANNERS[0][0])
        bench.ends(1, job=job)
    bench.pass_s(3 * 3600 + 65)
    begun_before = len(bench.engine.begun)
    bench.starts()
    bench.says(Said("starting up"))
    job = bench.job
    bench.run.job_factory.log(bench.run.jobs[job].run).write_text(f"starting up\n{BANNERS[0][0]}")
    bench.ends(1, job=job)
    bench.pass_s(10)
    assert len(bench.engine.begun) == begun_before


# --- a full context of a command --------------------------------------------------------------

FULL = "Error: prompt is too long: 210203 tokens > 200000 maximum\n"


def test_a_command_with_a_full_context_begins_afresh(bench: Bench) -> None:
    """Nobody knows how to make it shorter: a new conversation, with what was said in the old one;
    full even then, the task has failed, and it is said why."""
    begun(bench, MINE)
    before = prints(bench, "the schema is made\n" + CLAUDE_5H)
    bench.pass_s(3605)
    prints(bench, FULL)
    assert in_s(bench) == 5
    assert bench.told("task_parked")[-1]["kind"] == "context_limit"
    bench.pass_s(5)
    job = bench.engine.jobs[bench.job]
    assert "# T-1: Build" in bench.prompt()
    assert "the schema is made" in bench.prompt()
    assert "SEGUE_RESUME" not in job.env
    assert job.env["SEGUE_CONVERSATION"] != before.run.conversation
    assert job.env["SEGUE_ATTEMPT"] == "1"
    prints(bench, FULL)
    assert bench.state() is TaskState.FAILED
    (failed,) = bench.told("task_failed")
    assert "summary" in failed["error"]


def test_a_fresh_beginning_that_was_never_made_is_made_again(bench: Bench) -> None:
    """Segue died before it had started: the summary is told all the same."""
    begun(bench, MINE)
    prints(bench, "the schema is made\n\n" + FULL)
    bench.pass_s(5)
    meant, job = bench.prompt(), bench.job
    bench.start()
    bench.engine.became[job] = NeverStarted()
    bench.recover()
    assert bench.prompt() == meant
    assert "SEGUE_RESUME" not in bench.engine.jobs[bench.job].env


# --- a user's own patterns --------------------------------------------------------------------


def patterns(agent: str = "") -> Any:
    given = {"pattern": "oracle is asleep", "kind": "daily_quota"}
    return extra_patterns([given | ({"agent": agent} if agent else {})])


ASLEEP = "The oracle is asleep until 3pm\n"


@pytest.mark.parametrize(
    ("agent", "counts"), [("", True), ("mine", True), ("command", True), ("other", False)]
)
def test_a_users_pattern_counts_for_the_agents_it_names(
    bench: Bench, agent: str, counts: bool
) -> None:
    """By the agent's name or its kind; for all where it names none."""
    begun(bench, WRAPPED, limit_patterns=patterns(agent))
    prints(bench, ASLEEP)
    if counts:
        assert (parked(bench)["kind"], in_s(bench)) == ("daily_quota", 3 * 3600 + 65)
    else:
        assert bench.state() is TaskState.FAILED


def test_a_users_pattern_reads_the_errors_of_a_known_program_too(bench: Bench) -> None:
    """Its words may drift before Segue learns them."""
    begun(bench, limit_patterns=patterns())
    bench.says(Opened("talk-1"), Finished(True, ASLEEP, "turn.failed"))
    bench.ends(1)
    assert (parked(bench)["kind"], in_s(bench)) == ("daily_quota", 3 * 3600 + 65)


@pytest.mark.parametrize("given", [(), patterns()])
def test_other_errors_of_a_known_program_are_its_dialects_matter(bench: Bench, given: Any) -> None:
    """What neither the dialect nor a pattern calls a limit is none, whatever it quotes."""
    begun(bench, limit_patterns=given)
    bench.says(Opened("talk-1"), Finished(True, "400: rate limit exceeded", "turn.failed"))
    bench.ends(1)
    assert bench.state() is TaskState.FAILED


def test_the_warning_is_korean_to_the_letter(bench: Bench) -> None:
    """As the original design words it."""
    i18n.use("ko")
    begun(bench)
    hits(bench, "session_limit", "You've hit your usage limit.")
    (notice,) = bench.told("notice")
    assert notice["text"] == "[WARN] Reset 시간 파싱 실패, 기본 3600초 사용"
