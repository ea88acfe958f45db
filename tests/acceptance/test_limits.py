"""Limits park, and the work goes on in its conversation, once, not before its instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kit.book import Book
from kit.box import Box
from kit.waiting import until


def at(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() == timedelta(0), "instants are UTC"
    return moment


def test_a_limit_parks_and_the_work_goes_on(box: Box) -> None:
    """Parked with kind and instants, `[~]` meanwhile, resumed in the same conversation, no retry used."""
    box.scripted("append log one\nlimit session_limit 2s\nappend log two\n")
    box.plan("- [ ] T-1: a\n  - retries: 0\n")
    going = box.start_run()
    parked = going.event("task_parked", "T-1")
    assert parked["kind"] == "session_limit"
    assert at(parked["wakes_at"]) >= at(parked["resets_at"])
    assert box.marks() == {"T-1": "~"}
    until(lambda: not box.agents(), "nothing idle in memory")
    resumed = going.event("task_resumed", "T-1")
    assert at(parked["wakes_at"]) <= at(resumed["at"]), "not before its instant"
    done = going.end()
    assert done.code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n", "a new conversation begins anew"
    assert done.tasks("task_started") == ["T-1"]
    assert "<!--" not in box.text()


def test_the_margin_after_a_reset(box: Box) -> None:
    """By default the wake is five seconds after the reset."""
    box.scripted("limit session_limit 1h\n")
    box.config((box.root / "segue.toml").read_text().replace("wake_margin_s = 0\n", ""))
    box.plan("- [ ] T-1: a\n")
    parked = box.run("--no-wait").of("task_parked")[0]
    assert at(parked["wakes_at"]) - at(parked["resets_at"]) == timedelta(seconds=5)


def test_no_wait_ends_with_4_and_keeps_the_park(box: Box) -> None:
    """`--no-wait`: exit 4, `[~]`, listed as parked; status shows it; too early it stays so."""
    box.scripted("[T-1]\nappend log one\nlimit weekly_limit 1h\n[T-2]\nwrite two yes\n")
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n  - agent: shell\n  - run: echo yes > two\n")
    done = box.run("--no-wait")
    assert done.code == 4
    assert (done.finished["parked"], done.finished["exit"]) == (["T-1"], 4)
    assert box.marks() == {"T-1": "~", "T-2": "x"}
    plan = box.segue("status", "--json").json["plans"][0]
    assert plan["state"] == "parked"
    park = plan["parks"][0]
    assert {"task", "account", "kind", "wakes_at"} <= park.keys()
    assert (park["task"], park["kind"]) == ("T-1", "weekly_limit")
    assert at(park["wakes_at"]) == at(done.of("task_parked")[0]["wakes_at"])
    again = box.run("--no-wait")
    assert again.code == 4
    assert again.finished["parked"] == ["T-1"]
    assert box.marks()["T-1"] == "~"
    assert (box.root / "log").read_text() == "one\n", "the agent was not started too early"
    assert box.segue("resume", "--json").json["found"][0]["resumable"] is True


@pytest.mark.parametrize("death", ["kill", "power_cut"])
def test_a_park_survives_kill_9(box: Box, death: str) -> None:
    """Killed while parked: the next run keeps `[~]`, waits for the instant, and goes on once."""
    box.scripted(
        'append log one\nstep 1\nlimit session_limit 3s\nappend log two\nask "Which?" a b\n'
    )
    box.plan("- [ ] T-1: a\n  - steps:\n    - [ ] s\n    - [ ] t\n")
    going = box.start_run()
    parked = going.event("task_parked", "T-1")
    if death == "kill":
        going.kill()
    else:
        box.power_cut()
    assert "- [~] T-1" in box.text()
    again = box.start_run()
    again.event("started")
    resumed = again.event("task_resumed", "T-1")
    assert at(resumed["at"]) >= at(parked["wakes_at"])
    done = again.end()
    assert done.code == 3
    assert "    - [x] s\n    - [ ] t\n" in box.text(), "a park is no cut-off: steps stay"
    assert (box.root / "log").read_text() == "one\ntwo\n", "a new conversation begins anew"
    assert box.left_behind() == {}


def test_a_park_whose_instant_passed_wakes_at_once(box: Box) -> None:
    """A run that starts after the instant goes on at once."""
    box.scripted("append log one\nlimit session_limit 1s\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    parked = box.run("--no-wait").of("task_parked")[0]
    until(lambda: datetime.now(UTC) > at(parked["wakes_at"]), "the instant")
    done = box.run("--no-wait")
    assert done.code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_a_limit_parks_the_account_not_the_others(box: Box) -> None:
    """While an account is parked nobody starts on it; an agent of another account does."""
    box.scripted("[T-1]\nlimit rate_limit 5s\nappend log one\n[T-2]\nappend log two\n")
    box.plan(f"- [ ] T-1: a\n- [ ] T-2: b\n- [ ] T-3: c\n  - agent: shell\n  - run: {box.note()}\n")
    done = box.run("--jobs", "1")
    assert done.code == 0
    wakes = at(done.of("task_parked", "T-1")[0]["wakes_at"])
    assert at(done.of("task_started", "T-2")[0]["at"]) >= wakes
    assert at(done.of("task_completed", "T-3")[0]["at"]) < wakes
    assert sorted((box.root / "log").read_text().split()) == ["one", "two"]


@pytest.mark.parametrize("kind", ["billing", "auth"])
def test_what_no_waiting_cures_is_put_to_a_person(box: Box, kind: str) -> None:
    """Billing and auth open a gate: exit 3, the task waits; the next run tries again."""
    box.scripted(f"append log one\nlimit {kind} 1s\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    done = box.run()
    assert done.code == 3
    assert done.of("gate_opened", "T-1")
    assert done.finished["waiting"] == ["T-1"]
    assert box.marks() == {"T-1": "~"}
    assert box.run().code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


def test_the_leash_bounds_the_windows(box: Box) -> None:
    """`max_windows` used up: the task waits for a person, exit 3."""
    box.scripted(
        "limit session_limit 200ms\nlimit session_limit 200ms\nappend log end\n",
        "[leash]\nmax_windows = 1\n",
    )
    box.plan("- [ ] T-1: a\n")
    done = box.run()
    assert done.code == 3
    assert done.finished["waiting"] == ["T-1"]
    assert len(done.of("task_resumed")) == 1


def test_a_budget_that_is_used_up_opens_a_gate(box: Box) -> None:
    """What runs is not killed, nothing new starts, exit 3."""
    box.scripted("usage 1 1 30.0\nappend log $\n", "[leash]\nbudget_usd = 20.0\n")
    box.plan("- [ ] T-1: a\n- [ ] T-2: b\n")
    done = box.run("--jobs", "1")
    assert done.code == 3
    assert done.of("gate_opened")
    assert done.finished["waiting"] == ["T-2"]
    assert box.marks() == {"T-1": "x", "T-2": " "}


def test_ctrl_c_while_parked_keeps_the_park(box: Box) -> None:
    """Interrupted while parked: exit 130, still parked, goes on later in its conversation."""
    box.scripted("append log one\nlimit session_limit 2s\nappend log two\n")
    box.plan("- [ ] T-1: a\n")
    going = box.start_run()
    going.event("task_parked")
    going.process.terminate()
    assert going.end().code == 130
    assert box.marks() == {"T-1": "~"}
    assert box.segue("status", "--json").json["plans"][0]["parks"][0]["task"] == "T-1"
    assert box.run().code == 0
    assert (box.root / "log").read_text() == "one\ntwo\n"


# --- a command that tells of limits in words ---------------------------------------------------

AGENT = """\
#!/bin/sh
prompt=$(cat)
echo "$SEGUE_CONVERSATION ${SEGUE_RESUME:-0} $SEGUE_ATTEMPT $(echo "$prompt" | head -n 1)" >> OUT/starts
n=$(wc -l < OUT/starts)
echo "Working on $SEGUE_TASK"
[ -e "OUT/$n.sh" ] || exit 0
. "OUT/$n.sh"
"""


def commanded(box: Box, *plays: str, more: str = "", margin: str = "0.2") -> None:
    """A project whose agent is a program of one's own: what it does at each of its starts."""
    path = box.root / "agent.sh"
    path.write_text(AGENT.replace("OUT", str(box.out)))
    path.chmod(0o755)
    for number, play in enumerate(plays, 1):
        (box.out / f"{number}.sh").write_text(play)
    box.config(
        'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["./agent.sh"]\n'
        f"[recovery]\nwake_margin_s = {margin}\n{more}"
    )
    box.plan("- [ ] T-1: do it\n  - retries: 0\n")


def starts(box: Box) -> list[list[str]]:
    """Each start of the agent: conversation, SEGUE_RESUME, attempt, the first line of its prompt."""
    path = box.out / "starts"
    return [line.split(" ", 3) for line in path.read_text().splitlines()] if path.exists() else []


def says(text: str, code: int = 1, *, to: str = "&2") -> str:
    """Shell: print this, on standard error, and end with this code."""
    return f"cat >{to} <<'EOF'\n{text}\nEOF\nexit {code}\n"


IN_2_S = "$(date -u -d '2 seconds' +%s)"


def test_a_command_that_prints_a_banner_and_ends_badly_is_parked(box: Box) -> None:
    """No failure and no retry: parked until its instant, then on in the same conversation."""
    commanded(box, f'echo "Claude AI usage limit reached|{IN_2_S}"; exit 1\n')
    done = box.run()
    assert done.code == 0
    (parked,) = done.of("task_parked")
    assert parked["kind"] == "session_limit"
    assert "usage limit reached" in parked["why"]
    resumed = done.of("task_resumed")[0]
    assert at(parked["wakes_at"]) <= at(resumed["at"]), "not before its instant"
    first, second = starts(box)
    assert (first[1], first[2], first[3]) == ("0", "1", "# T-1: do it")
    assert second == [first[0], "1", "1", "continue"]
    assert done.tasks("task_started") == ["T-1"]
    assert "<!--" not in box.text()


def in_minutes(minutes: int, form: str) -> str:
    return f"$(date -u -d '{minutes} minutes' '+{form}')"


@pytest.mark.parametrize(
    ("banner", "kind", "is_minute"),
    [
        ("■ You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), or try"
         " again at @{%-I:%M %p}.", "session_limit", True),
        ("You've hit your 5-hour limit · resets @{%-I:%M%P} (UTC)", "session_limit", True),
        ("You've hit your weekly limit · resets @{%b %-d, %-I:%M%P} (UTC)", "weekly_limit", True),
        ("[API Error: You have exhausted your capacity on this model. Your quota will reset after"
         " 1h30m0s.]", "daily_quota", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", ["&1", "&2"])
def test_what_the_banner_says_is_waited_for(
    box: Box, banner: str, kind: str, is_minute: bool, stream: str
) -> None:
    """The real banners, on either stream: the minute's end and the margin, or to the second."""
    head, _at, rest = banner.partition("@{")
    form, _end, tail = rest.partition("}")
    time = in_minutes(90, form) if form else ""
    commanded(box, f'echo "{head}{time}{tail}" >{stream}; exit 1\n', margin="5")
    box.extra_env = {"TZ": "UTC"}
    began = datetime.now(UTC)
    done = box.run("--no-wait")
    assert done.code == 4, done.said
    (parked,) = done.of("task_parked")
    assert parked["kind"] == kind
    resets, wakes = at(parked["resets_at"]), at(parked["wakes_at"])
    assert wakes - resets == timedelta(seconds=65 if is_minute else 5)
    assert timedelta(minutes=88) < resets - began < timedelta(minutes=92)
    assert box.marks() == {"T-1": "~"}


def test_a_park_of_a_command_survives_kill_9(box: Box) -> None:
    """Killed while it waits: the next run wakes it once, in its conversation."""
    commanded(box, 'echo "Rate limit exceeded. Please try again in 3 seconds."; exit 1\n')
    going = box.start_run()
    parked = going.event("task_parked", "T-1")
    going.kill()
    assert "- [~] T-1" in box.text()
    again = box.start_run()
    resumed = again.event("task_resumed", "T-1")
    assert at(resumed["at"]) >= at(parked["wakes_at"])
    done = again.end()
    assert done.code == 0
    first, second = starts(box)
    assert second == [first[0], "1", "1", "continue"]
    assert box.left_behind() == {}


def test_a_command_that_ended_while_nobody_looked_is_judged_by_its_log(box: Box) -> None:
    """Segue died first: its banner is found in the log, read as of when it was printed."""
    commanded(box, box.hold("go") + "; echo 'Usage limit reached, try again in 2s'; exit 1\n")
    going = box.start_run()
    until(lambda: starts(box), "the agent")
    going.kill()
    box.release("go")
    until(lambda: not box.agents(), "the agent's end")
    done = box.run()
    assert done.code == 0, done.said
    assert len(done.of("task_parked")) == 1
    assert [start[1] for start in starts(box)] == ["0", "1"]


DIFF = """\
diff --git a/limiter.py b/limiter.py
--- a/limiter.py
+++ b/limiter.py
@@ -10,3 +10,6 @@ def check(self):
-        raise RateLimited("rate limit exceeded")
+        # You've hit your usage limit. Try again at 7:27 PM.
+        raise RateLimited(f"429 Too Many Requests: retry in {wait} seconds")
+        log.warning("usage limit reached|1763233200")
FAILED tests/test_limiter.py::test_limit_is_reset - assert 429 == 200
1 failed, 11 passed in 0.31s"""


@pytest.mark.parametrize(
    "text",
    [
        DIFF,
        "You've used 95% of your weekly limit · resets Nov 18, 6pm (UTC)\nmake: *** [all] Error 2",
        "You've hit your 5-hour limit · resets 3pm (UTC)\n\nGoing on with the small model.\n"
        "Wrote src/app.py\nTraceback (most recent call last):\nKeyError: 'reset'",
    ],
)
def test_text_about_limits_is_a_failure_like_any_other(box: Box, text: str) -> None:
    """A diff, a warning, a banner with work below it: the task has failed, nothing waits."""
    commanded(box, says(text, to="&1"))
    done = box.run()
    assert done.code == 1
    assert done.tasks("task_failed") == ["T-1"]
    assert done.of("task_parked") == []


def test_a_command_that_ends_well_is_done_whatever_it_says(box: Box) -> None:
    """Exit code 0 is never judged."""
    commanded(box, says("You've hit your usage limit. Try again in 2 hours.", 0))
    done = box.run()
    assert (done.code, done.of("task_parked")) == (0, [])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Credit balance is too low", "billing"),
        ("Invalid API key · Please run /login", "logged in"),
    ],
)
def test_a_command_that_needs_a_person_opens_a_gate(box: Box, text: str, word: str) -> None:
    """Exit 3; the next run tries again, in the conversation."""
    commanded(box, says(text))
    done = box.run()
    assert done.code == 3
    (gate,) = done.of("gate_opened", "T-1")
    assert word in gate["text"]
    assert text.partition(" · ")[0] in gate["text"]
    assert box.run().code == 0
    first, second = starts(box)
    assert second == [first[0], "1", "1", "continue"]


def test_a_command_with_a_full_context_begins_a_new_conversation(box: Box) -> None:
    """Once, with what it had said before; full again, it has failed, and the reason is told."""
    full = "Error: prompt is too long: 210203 tokens > 200000 maximum"
    commanded(box, f"echo the schema is made\n{says(full)}", more="context_limit_wait = 0.2\n")
    (box.out / "2.sh").write_text(f'echo "$prompt" > {box.out}/second\n{says(full)}')
    done = box.run()
    assert done.code == 1
    first, second = starts(box)
    assert second[0] != first[0]
    assert second[1:] == ["0", "1", "# T-1: do it"]
    assert "the schema is made" in (box.out / "second").read_text()
    assert "summary" in done.of("task_failed")[0]["error"]


def test_a_reset_far_ahead_is_asked_about(box: Box) -> None:
    """Nobody wants to find in the morning that it waits for three weeks."""
    commanded(box, 'echo "You\'ve hit your weekly limit. Try again in 20 days."; exit 1\n')
    done = box.run()
    assert done.code == 3
    assert done.finished["waiting"] == ["T-1"]
    assert "Try it now" in done.of("gate_opened", "T-1")[0]["text"]


def test_an_unknown_zone_is_told(box: Box) -> None:
    """Which one, and what is done about it."""
    commanded(box, says("You've hit your 5-hour limit · resets 3pm (Mars/Olympus)"))
    done = box.run("--no-wait")
    assert done.code == 4
    assert "Mars/Olympus" in done.of("notice")[0]["text"]


@pytest.mark.parametrize(
    ("agent", "code"), [("", 4), ('agent = "mine"\n', 4), ('agent = "you"\n', 1)]
)
def test_a_pattern_of_ones_own_is_a_limit(box: Box, agent: str, code: int) -> None:
    """From the settings; for the agent that it names, if it names one."""
    more = f'[[limits.patterns]]\npattern = "oracle is asleep"\nkind = "daily_quota"\n{agent}'
    commanded(box, says("The oracle is asleep; it opens in 2 hours"), more=more)
    done = box.run("--no-wait")
    assert done.code == code, done.said
    assert [parked["kind"] for parked in done.of("task_parked")] == ["daily_quota"] * (code == 4)


@pytest.mark.parametrize("command", ["run", "write-all"])
def test_a_number_out_of_bounds_is_told_once(box: Box, command: str) -> None:
    """Brought back, and told: a line of the log, or an event for programs."""
    box.config("[recovery]\nmax_retries = 99\ndefault_wait_time = 0\n")
    box.plan("- [x] T-1: a\n- [ ] T-2: b\n  - run: true\n")
    words = ["run", "PLAN.md"]
    if command == "write-all":
        book = Book(box)
        book.settings(recovery="max_retries = 99\ndefault_wait_time = 0\n")
        book.toml(1)
        words = ["write-all", "--restart"]
    done = box.segue(*words)
    assert done.code == 0, done.said
    for text in ("max_retries = 99 is outside 1 to 10: Segue uses 10", "default_wait_time = 0"):
        assert done.err.count(text) == 1
        assert text not in done.out
        assert text in (box.root / ".segue/logs/run.log").read_text()
    if command == "run":
        box.plan("- [ ] T-1: a\n  - run: true\n")
    done = box.segue(*words, "--json")
    assert done.events[0]["event"] == "started"
    assert [e["text"].split()[0] for e in done.of("notice") if e.get("is_log")] == [
        "default_wait_time",
        "max_retries",
    ]
    assert done.err == ""


TWO_PLANS = (
    'agent = "c"\n[agents.c]\nkind = "command"\ncommand = ["sh", "agent.sh"]\naccount = "work"\n'
)


def another_plan_hit_the_limit(box: Box) -> str:
    """The account that both plans use is parked for hours; the instant at which it is not."""
    box.config(TWO_PLANS)
    (box.root / "agent.sh").write_text(
        "cat > /dev/null\necho Claude usage limit reached. Try again in 4 hours\nexit 1\n"
    )
    box.plan("- [ ] T-1: a\n")
    box.plan("- [ ] T-7: b\n- [ ] T-8: c\n  - blocked by: T-7\n", "OTHER.md")
    wakes_at: str = box.run("--no-wait").of("task_parked")[0]["wakes_at"]
    return wakes_at


def test_a_plan_whose_account_another_plan_parked_says_so(box: Box) -> None:
    """Who could start is told once as parked, with the instant; the mark stays; status shows it."""
    wakes_at = another_plan_hit_the_limit(box)
    done = box.segue("run", "OTHER.md", "--no-wait", "--json")
    (parked,) = done.of("task_parked")
    assert (parked["task"], parked["kind"]) == ("T-7", "session_limit")
    assert at(parked["wakes_at"]) == at(wakes_at)
    assert (done.code, done.finished["parked"]) == (4, ["T-7"])
    assert box.marks("OTHER.md") == {"T-7": " ", "T-8": " "}
    (plan,) = box.segue("status", "OTHER.md", "--json").json["plans"]
    assert (plan["state"], [park["task"] for park in plan["parks"]]) == ("parked", ["T-7"])
    assert "T-7 parked: 5-hour limit" in box.segue("run", "OTHER.md", "--no-wait").out


def test_a_plan_that_waits_for_another_is_parked_while_it_waits(box: Box) -> None:
    """Not silent, and not shown as running."""
    another_plan_hit_the_limit(box)
    going = box.start("run", "OTHER.md", "--json")
    going.event("task_parked", "T-7")
    (plan,) = box.segue("status", "OTHER.md", "--json").json["plans"]
    assert (plan["state"], plan["holder"], plan["running"]) == ("parked", going.pid, [])


def test_quiet_hours_are_told_as_a_park(box: Box) -> None:
    """Nothing starts in them; who could is told until when."""
    now = datetime.now().astimezone()
    end = now + timedelta(hours=2)
    box.extra_env["TZ"] = "UTC"
    hours = f"{(now - timedelta(hours=2)).astimezone(UTC):%H:%M}-{end.astimezone(UTC):%H:%M}"
    box.config(f'agent = "shell"\n[leash]\nquiet_hours = "{hours}"\n')
    box.plan("- [ ] T-1: a\n  - run: true\n")
    done = box.run("--no-wait")
    (parked,) = done.of("task_parked")
    assert (parked["task"], parked["kind"]) == ("T-1", "quiet_hours")
    assert timedelta(hours=1) < at(parked["wakes_at"]) - at(parked["at"]) <= timedelta(hours=2)
    assert (done.code, done.finished["parked"]) == (4, ["T-1"])


def test_a_question_about_the_budget_names_the_sums_of_now(box: Box) -> None:
    """Another budget in the settings: the question of the first start is worded anew."""
    box.scripted("usage 1 1 30.0\n", "[leash]\nbudget_usd = 20.0\n")
    box.plan("- [ ] **T-001**: a\n- [ ] **T-002**: b\n  - blocked by: T-001\n")
    assert box.run().code == 3
    box.config((box.root / "segue.toml").read_text().replace("20.0", "25.0"))
    again = box.run()
    assert again.code == 3
    [asked] = again.of("gate_opened")
    assert "$25.00" in asked["text"]
    assert "$20.00" not in box.segue("status").out
    assert "None" not in box.segue("run").out
