"""People at their panes: who came first, who has half typed something, who must be told."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kit.box import Box
from kit.waiting import until
from kit.watch import (
    ENTER,
    RESUME,
    Commands,
    claude_says,
    claude_stopped,
    soon,
)

pytestmark = pytest.mark.moments


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


def test_a_person_who_came_first_is_not_disturbed(desk: Commands) -> None:
    """The person went on before the instant: nothing is typed at it, nor later."""
    reset = soon(4)
    tui = desk.limited(reset)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    tui.show(mode="busy", more=["❯ go on, I have switched accounts"])
    watch.now(tui.pane, "busy")
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    tui.untouched()


def test_work_that_came_and_ended_before_the_instant(desk: Commands) -> None:
    """The person had it go on and it is idle again, the old banner far above: nothing is typed."""
    reset = soon(4)
    tui = desk.limited(reset)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    tui.show(more=["❯ are you there?", "● Yes. All of it is done now.", "✻ Baked for 2s"])
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    tui.untouched()


@pytest.mark.parametrize("early_s", [0.5, 0.2, 0.05, 0.0])
def test_a_change_in_the_last_moment_is_seen(desk: Commands, early_s: float) -> None:
    """The screen is read again just before the text is sent, whenever it changed."""
    reset = soon(4)
    tui = desk.limited(reset)
    watch = desk.watch(tui.pane)
    watch.state(tui.pane, "paused")
    until(lambda: time.time() > reset - early_s, "the moment")
    tui.show(mode="busy", more=["❯ go on"])
    changed = tui.of("busy")[0]["at"]
    watch.now(tui.pane, "busy")
    until(lambda: time.time() > reset + 2, "the instant")
    texts = [each["at"] for each in tui.of("bytes") if each["text"] == RESUME]
    assert all(at < changed + 0.1 for at in texts), tui.log
    assert texts == [] or early_s < 0.1, "there was time enough to see it"


@pytest.mark.parametrize(
    ("entries", "more"),
    [
        (["Yes", "No, and tell Claude what to do differently"], ["● Bash(rm -rf build)"]),
        (["Upgrade your plan", "Stop and wait for limit to reset"], []),
    ],
)
def test_a_menu_that_opens_between_text_and_enter_is_not_answered(
    desk: Commands, entries: list[str], more: list[str]
) -> None:
    """Enter is for the text in the input line, not for whatever has opened over it."""
    tui = desk.limited(soon(2))
    watch = desk.watch()
    until(lambda: RESUME in "".join(tui.bytes), "the text")
    tui.show(mode="menu", draft="", menu={"entries": entries}, more=more)
    assert tui.submitted == [], "the pause before Enter is too short to be hit: nothing was tested"
    desk.witness(watch)
    assert set(tui.chosen) <= {"Stop and wait for limit to reset"}, tui.log


def test_a_half_typed_draft_is_neither_sent_nor_cleared(desk: Commands) -> None:
    """The pane stays paused and is told as attended."""
    reset = soon(3)
    tui = desk.limited(reset, draft="please look at the ot")
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    tui.untouched()
    assert "please look at the ot" in tui.screen
    assert watch.states(tui.pane)[-1] == "paused"
    told = str(watch.of(tui.pane)) + watch.err
    assert "attend" in told.lower(), told


def test_a_draft_begun_during_the_wait_counts_too(desk: Commands) -> None:
    """Typed between the banner and the instant: left alone."""
    reset = soon(4)
    tui = desk.limited(reset)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    tui.show(draft="hm, per")
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    tui.untouched()


def test_a_draft_that_is_withdrawn_frees_the_pane(desk: Commands) -> None:
    """The person cleared the line and left: the text is sent, once."""
    reset = soon(2)
    tui = desk.limited(reset, draft="hm, per")
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    until(lambda: time.time() > reset + 2, "the instant")
    tui.untouched()
    tui.show(draft="")
    tui.wait("busy", wait_s=90)
    tui.resumed_once()


def test_a_draft_that_begins_like_the_resume_text_is_a_person_s(desk: Commands) -> None:
    """“계속해서 …” was not typed by a watcher: it is not sent off."""
    reset = soon(2)
    tui = desk.limited(reset, draft=f"{RESUME}해서 테스트도")
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    tui.untouched()


def test_an_agent_that_does_not_react_ends_as_an_error(desk: Commands) -> None:
    """`max_retries` texts at most, each told, then the state is error and nothing more is sent."""
    tui = desk.limited(soon(2), reactions=[None])
    watch = desk.watch()
    watch.state(tui.pane, "error", wait_s=90)
    assert tui.submitted == [RESUME] * 3
    assert "".join(tui.bytes) == (RESUME + ENTER) * 3
    desk.witness(watch)
    assert len(tui.submitted) == 3
    assert watch.states(tui.pane)[-1] == "error"


def test_an_agent_that_takes_no_key_is_not_sent_heaps(desk: Commands) -> None:
    """A frozen program: no more than `max_retries` texts, in which nothing is glued together."""
    desk.recovery(max_retries=2)
    tui = desk.limited(soon(2), mode="frozen")
    watch = desk.watch()
    watch.state(tui.pane, "error", wait_s=90)
    assert "".join(tui.bytes).count(RESUME) <= 2


def test_a_reaction_on_a_later_try_counts(desk: Commands) -> None:
    """Nothing at first, then it goes on: two texts, no error, and the count begins anew."""
    tui = desk.limited(soon(2), reactions=[None, {"mode": "busy"}])
    watch = desk.watch()
    tui.wait("busy", wait_s=90)
    watch.now(tui.pane, "busy")
    assert tui.submitted == [RESUME, RESUME]
    tui.show(mode="prompt", body=claude_stopped(soon(2)), reactions=[None])
    watch.state(tui.pane, "error", wait_s=90)
    assert len(tui.submitted) == 2 + 3


def test_a_slow_reaction_is_waited_for(desk: Commands) -> None:
    """Within `recheck_after` nothing more is sent, even if the screen still shows the stop."""
    desk.recovery(recheck_after=3)
    tui = desk.limited(soon(2), reactions=[{"mode": "busy", "delay_s": 2}])
    watch = desk.watch()
    tui.wait("busy")
    watch.now(tui.pane, "busy")
    tui.resumed_once()


@pytest.mark.parametrize("tries", [1, 3])
def test_max_retries_is_what_the_settings_say(desk: Commands, tries: int) -> None:
    """One means one text."""
    desk.recovery(max_retries=tries)
    tui = desk.limited(soon(1), reactions=[None])
    watch = desk.watch()
    watch.state(tui.pane, "error", wait_s=90)
    assert tui.submitted == [RESUME] * tries


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("billing", "Credit balance is too low"),
        ("billing", "You've hit your monthly spend limit · raise it at claude.ai/settings/usage"),
        ("auth", "Login expired · Please run /login"),
    ],
)
def test_billing_and_login_are_for_a_person(desk: Commands, kind: str, line: str) -> None:
    """Blocked at once, told with its kind; nothing is typed."""
    tui = desk.tui(body=claude_says(line))
    watch = desk.watch()
    told = watch.state(tui.pane, "blocked")
    assert told["kind"] == kind
    watch.wait(lambda: f"Worker {tui.pane[1:]}: " in watch.err, "a word to a person")
    desk.witness(watch)
    tui.untouched()


def test_a_person_s_own_client_is_left_as_it_is(desk: Commands) -> None:
    """Somebody is attached with a terminal of their own size: neither it nor its panes change."""
    tui = desk.tui(mode="busy", body=["❯ write the parser"], size="90x28")
    desk.tmux.attach(28, 90, "0")
    shape = "#{client_width}x#{client_height} #{window_width}x#{window_height} #{client_session}"
    before = desk.tmux("list-clients", "-F", shape)
    window = desk.tmux("list-windows", "-a", "-F", "#{window_id} #{window_width}x#{window_height}")
    watch = desk.watch()
    watch.state(tui.pane, "busy")
    tui.show(mode="prompt", body=claude_stopped(soon(2)))
    tui.wait("busy", 2)
    watch.now(tui.pane, "busy")
    clients = desk.tmux("list-clients", "-F", f"#{{client_flags}} {shape}").splitlines()
    (person,) = [line for line in clients if "control-mode" not in line]
    assert person.endswith(before)
    rooms = desk.tmux("list-windows", "-a", "-F", "#{window_id} #{window_width}x#{window_height}")
    assert rooms == window
    watch.stop()
    assert desk.tmux("list-clients", "-F", shape) == before
    tui.resumed_once()


def test_a_pane_in_copy_mode_is_waked_all_the_same(desk: Commands) -> None:
    """A person who scrolled back and left: keys go to the agent, not to tmux's copy mode."""
    tui = desk.limited(soon(2))
    desk.tmux("copy-mode", "-t", tui.pane)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    tui.wait("busy")
    watch.now(tui.pane, "busy")
    tui.resumed_once()
