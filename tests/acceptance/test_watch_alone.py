"""What looks like a limit and is none, and what goes on by itself: `segue watch` keeps off."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from kit.box import Box
from kit.waiting import until
from kit.watch import (
    COOKED,
    Commands,
    claude_says,
    claude_stopped,
    codex_stopped,
    menu_view,
    soon,
)

pytestmark = pytest.mark.moments

PAST = int(time.time()) - 30
BANNER = f"Claude AI usage limit reached|{PAST}"
NO_LIMIT: dict[str, list[str]] = {
    "a diff": [
        "● Update(src/limiter.py)",
        "  ⎿  Updated src/limiter.py with 2 additions",
        '       41 +    raise LimitError("You\'ve hit your weekly limit · resets 10:30am (UTC)")',
        f'       42 +    print("{BANNER}")',
    ],
    "a test log": [
        "● Bash(pytest -q tests/test_limits.py)",
        "  ⎿  FAILED tests/test_limits.py::test_banner - assert 'Weekly limit reached' in screen",
        "     E   AssertionError: You've hit your 5-hour limit · resets 7:27pm (UTC)",
        "     1 failed, 12 passed in 0.31s",
        "● The test wants the banner to be there. I will fix the fixture next.",
    ],
    "a quotation": [
        "❯ what does it print at a limit?",
        '● It prints "You\'ve hit your weekly limit · resets Nov 18, 6:32pm (UTC)" and then it waits',
        "  for a key. The tests cover both forms of that message.",
    ],
    "an old banner above new work": [
        *claude_says(BANNER),
        "❯ go on",
        "● I have written the parser, and all 14 tests pass.",
        COOKED,
    ],
    "a limit that was lifted": [
        *claude_says("You've hit your 5-hour limit · resets 7:27pm (UTC)"),
        "❯ /login",
        "  ⎿  Login successful",
        "❯ go on",
        "● Done. The parser reads all five forms.",
        COOKED,
    ],
    "a person who asks about it": [
        "❯ You've hit your weekly limit · resets 10:30am: what is that?"
    ],
}
WARNINGS = {
    "below the line": "  Approaching usage limit · resets at 7pm",
    "nearly used up": "  You've used 92% of your weekly limit · resets Nov 18, 6pm (UTC)",
    "of the context": "  Context left until auto-compact: 4%",
}


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


def test_text_about_limits_is_no_limit(desk: Commands) -> None:
    """Diffs, test logs, quotations, old banners, a person's question: never paused, never typed to."""
    tuis = {name: desk.tui(body=body) for name, body in NO_LIMIT.items()}
    watch = desk.watch_all()
    for name, tui in tuis.items():
        assert "paused" not in watch.states(tui.pane), (name, watch.of(tui.pane))
        assert tui.bytes == [], name


def test_warnings_are_no_limit(desk: Commands) -> None:
    """“Approaching”, “92 % used”, “context left”: the agent still works."""
    tuis = {name: desk.tui(body=["● Done."], status=[line]) for name, line in WARNINGS.items()}
    watch = desk.watch_all()
    for name, tui in tuis.items():
        assert "paused" not in watch.states(tui.pane), (name, watch.of(tui.pane))
        assert tui.bytes == [], name


def test_what_scrolls_by_while_it_works_is_no_limit(desk: Commands) -> None:
    """A busy agent prints banners as its tools' output: it stays busy and is left alone."""
    tui = desk.tui(mode="busy", body=["❯ show me the log"])
    watch = desk.watch()
    watch.state(tui.pane, "busy")
    for number in range(5):
        tui.show(more=[f"  ⎿  {number} You've hit your weekly limit · resets 10:30am (UTC)"])
        tui.show(more=claude_stopped(PAST))
    desk.witness(watch)
    assert "paused" not in watch.states(tui.pane), watch.of(tui.pane)
    tui.untouched()


def clock(epoch: float) -> str:
    return f"{datetime.fromtimestamp(epoch, UTC):%I:%M%p}".lstrip("0").lower()


def self_resuming(epoch: float) -> dict[str, Any]:
    at = clock(epoch)
    return {
        "body": [
            *claude_says(f"You've hit your 5-hour limit · resets {at} (UTC)")[:2],
            f"● Usage limit reached · continuing automatically at {at} · esc to cancel",
            COOKED,
        ],
        "status": [
            f"  ⚠ Usage limit reached · limit resets {at}",
            f"    Continuing automatically at {at} · Esc to cancel",
        ],
    }


def test_an_agent_that_will_go_on_by_itself_is_left_alone(desk: Commands) -> None:
    """Its own countdown is over and it is about to go on: nothing is typed."""
    tui = desk.tui(**self_resuming(time.time() - 90))
    watch = desk.watch_all()
    assert "paused" in watch.states(tui.pane)
    tui.untouched()


def test_its_own_continuation_is_seen(desk: Commands) -> None:
    """It goes on by itself: told as paused, then as busy, and never typed to."""
    reset = time.time() - 90
    tui = desk.tui(**self_resuming(reset))
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    status = [f"  ⚠ Usage limit reached · limit resets {clock(reset)}"]
    tui.show(status=[*status, "    Continuing shortly · Esc to cancel"])
    desk.witness(watch)
    tui.show(mode="busy", status=[], more=["❯ continue"])
    watch.now(tui.pane, "busy")
    tui.untouched()


def test_an_agent_that_tries_again_by_itself_is_left_alone(desk: Commands) -> None:
    """Short retries of the program's own are its own business."""
    views = [
        ["❯ hello", "✻ 500 Internal server error · Retrying in 2s · attempt 7/10"],
        ["❯ hello", "✻ 429 rate limited · Retrying in 1s · attempt 2/10"],
    ]
    tuis = [desk.tui(body=body) for body in views]
    codex = desk.tui("codex", body=["› hello", "• Reconnecting... 1/5 (5s • esc to interrupt)"])
    desk.watch_all()
    for tui in (*tuis, codex):
        tui.untouched()


def test_a_shell_with_a_banner_in_it_is_not_an_agent(desk: Commands) -> None:
    """Without a name on the command line only panes that hold an agent are watched."""
    file = desk.box.tmp / "banner.txt"
    file.write_text("\n".join(claude_stopped(PAST)) + "\n")
    kept = desk.box.tmp / "typed"
    pane = desk.room("sh", "-c", f"cat {file}; exec cat > {kept}")
    until(lambda: "limit reached" in desk.tmux("capture-pane", "-p", "-t", pane), "the banner")
    watch = desk.watch_all()
    assert "paused" not in watch.states(pane)
    assert kept.read_bytes() == b""


def test_a_question_is_told_and_not_answered(desk: Commands) -> None:
    """A menu that is not about a limit belongs to a person: blocked, and no key is sent."""
    tui = desk.tui(
        **menu_view(
            ["● Bash(rm -rf build)"],
            ["Yes", "Yes, and don't ask again", "No, and tell Claude what to do differently"],
            title=["Bash command", "", "rm -rf build", "", "Do you want to proceed?"],
        )
    )
    watch = desk.watch_all()
    assert "blocked" in watch.states(tui.pane), watch.of(tui.pane)
    tui.untouched()


def test_a_far_reset_is_not_waited_for_blindly(desk: Commands) -> None:
    """A reset more than eight days ahead is told to a person instead."""
    tui = desk.tui(body=claude_stopped(soon(20 * 86400)))
    watch = desk.watch_all()
    assert "blocked" in watch.states(tui.pane), watch.of(tui.pane)
    tui.untouched()


def test_a_codex_banner_in_a_claude_pane_counts_by_its_look(desk: Commands) -> None:
    """Prose of one agent about another's limit is no limit."""
    tui = desk.tui(body=["❯ what did codex say?", f"● It said: {codex_stopped(1)[-1][2:]}"])
    watch = desk.watch_all()
    assert "paused" not in watch.states(tui.pane)
    tui.untouched()
