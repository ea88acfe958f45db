"""What `segue watch` says: the log lines of old in Korean and English, and its errors."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from kit.box import Box
from kit.terminal import Terminal
from kit.watch import Commands, Watch, claude_says, lines_of, soon, weekly_stopped

pytestmark = pytest.mark.moments

KOREAN = {"SEGUE_LANG": "ko"}


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


def test_the_korean_lines_of_a_weekly_limit(desk: Commands) -> None:
    """⏳ with kind, clock and seconds, ▶️ with the text, ✅ at the end; each to the letter."""
    desk.box.extra_env |= {**KOREAN, "TZ": "Asia/Seoul"}
    reset = soon(3)
    tui = desk.tui(body=weekly_stopped(reset))
    watch = desk.watch()
    watch.wait(lambda: "✅" in watch.err, "the end")
    tui.resumed_once("계속")
    name = tui.pane.removeprefix("%")
    assert lines_of(watch.err, "[paused]") == [f"[paused] Worker {name}: 상태 변경"]
    assert lines_of(watch.err, "[resume]") == [
        "[resume] Reset 시간 파싱 성공",
        "[resume] 대기 시작...",
        "[resume] 대기 완료",
    ]
    (waits,) = lines_of(watch.err, "⏳")
    clock = f"{datetime.fromtimestamp(reset, ZoneInfo('Asia/Seoul')):%m/%d %H:%M}"
    found = re.fullmatch(r"⏳ Worker (\S+): Weekly limit, (.+)까지 대기 \((\d+)초\)", waits)
    assert found, waits
    assert found[2] == clock
    assert 0 <= int(found[3]) <= 4
    name = found[1]
    assert lines_of(watch.err, "▶️") == [f"▶️ Worker {name}: '계속' 전송"]
    assert lines_of(watch.err, "✅") == [f"✅ Worker {name}: 작업 재개됨"]


def test_the_times_of_log_lines_are_local(desk: Commands) -> None:
    """`[2025-12-28 14:30:15]` is the wall clock where the person sits."""
    desk.box.extra_env |= {"TZ": "Asia/Seoul"}
    tui = desk.limited(soon(60))
    began = time.time()
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    watch.wait(lambda: "⏳" in watch.err, "the line")
    line = next(line for line in watch.err.splitlines() if "⏳" in line)
    told = datetime.strptime(line[1:20], "%Y-%m-%d %H:%M:%S").replace(tzinfo=ZoneInfo("Asia/Seoul"))
    assert abs(told.timestamp() - began) < 60


def test_the_korean_lines_of_a_failure(desk: Commands) -> None:
    """⚠️ with the count for each try, ❌ at the end; each to the letter."""
    desk.box.extra_env |= KOREAN
    tui = desk.limited(soon(1), reactions=[None])
    watch = desk.watch()
    watch.wait(lambda: "❌" in watch.err, "the end")
    failures = lines_of(watch.err, "⚠️")
    name = re.match(r"⚠️ Worker (\S+):", failures[0])[1]  # type: ignore[index]
    assert failures == [f"⚠️ Worker {name}: 재개 실패 ({number}/3)" for number in (1, 2, 3)]
    assert lines_of(watch.err, "❌") == [f"❌ Worker {name}: 최대 재시도 초과, error 상태로 전환"]
    assert len(lines_of(watch.err, "▶️")) == 3
    assert len(tui.submitted) == 3


def test_a_limit_without_a_time_is_told_with_its_default(desk: Commands) -> None:
    """`[WARN] Reset 시간 파싱 실패, 기본 3600초 사용`, and 3600 seconds of waiting."""
    desk.box.extra_env |= KOREAN
    tui = desk.tui(body=claude_says("5-hour limit reached"))
    began = time.time()
    watch = desk.watch()
    paused = watch.state(tui.pane, "paused")
    assert paused["kind"] == "session_limit"
    watch.wait(lambda: "대기" in watch.err, "the line")
    assert "[WARN] Reset 시간 파싱 실패, 기본 3600초 사용" in watch.err
    (waits,) = lines_of(watch.err, "⏳")
    assert "3600초" in waits
    assert time.time() - began < 90


def test_the_default_of_a_weekly_limit_is_a_setting(desk: Commands) -> None:
    """`weekly_limit_default` is waited where no time is given, and then the text is sent."""
    desk.recovery(weekly_limit_default=3)
    tui = desk.tui(body=claude_says("5-hour limit reached"))
    began = time.time()
    desk.watch()
    tui.wait("busy", wait_s=90)
    assert tui.first_sent_at() >= began + 3
    tui.resumed_once()


def test_a_rate_limit_without_a_time_waits_its_default(desk: Commands) -> None:
    """`default_wait_time` for 429 and its like."""
    desk.recovery(default_wait_time=3)
    tui = desk.tui(
        body=["❯ hi", "● API Error: Request rejected (429) · this may be a temporary capacity issue",
              "✻ Cooked for 1s · done 6:32 PM"],
    )  # fmt: skip
    began = time.time()
    watch = desk.watch()
    assert watch.state(tui.pane, "paused")["kind"] == "rate_limit"
    tui.wait("busy", wait_s=90)
    assert began + 3 <= tui.first_sent_at() <= began + 30
    tui.resumed_once()


def test_the_english_lines(desk: Commands) -> None:
    """The same facts in English: the same marks, the worker, the clock, the seconds, the text."""
    reset = soon(3)
    desk.tui(body=weekly_stopped(reset))
    watch = desk.watch("--lang", "en")
    watch.wait(lambda: "✅" in watch.err, "the end")
    (waits,) = lines_of(watch.err, "⏳")
    clock = f"{datetime.fromtimestamp(reset, ZoneInfo('UTC')):%m/%d %H:%M}"
    found = re.fullmatch(
        r"⏳ Worker (\S+): Weekly limit, .*?(\d\d/\d\d \d\d:\d\d) ?\((\d+) ?s\)", waits
    )
    assert found, waits
    assert found[2] == clock
    (sends,) = lines_of(watch.err, "▶️")
    assert sends.startswith(f"▶️ Worker {found[1]}: ")
    assert "'continue'" in sends
    (goes_on,) = lines_of(watch.err, "✅")
    assert goes_on.startswith(f"✅ Worker {found[1]}: ")
    assert not re.search("[가-힣]", waits + sends + goes_on)


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_language_before_and_after_the_command(desk: Commands, place: str) -> None:
    """`--lang ko` works at both places, over the environment."""
    desk.limited(soon(60))
    words = desk.words()
    words = ["--lang", "ko", *words] if place == "before" else [*words, "--lang", "ko"]
    going = desk.box.start(*words)
    watch = Watch(going)
    watch.wait(lambda: "까지 대기" in watch.err, "the Korean line")


def test_log_lines_are_kept_in_the_project(desk: Commands) -> None:
    """What goes to standard error stands in `.segue/logs/`, too."""
    desk.limited(soon(1))
    watch = desk.watch()
    watch.wait(lambda: "✅" in watch.err, "the end")
    logs = desk.box.root / ".segue" / "logs"
    kept = "".join(path.read_text("utf-8") for path in logs.rglob("*") if path.is_file())
    for mark in ("⏳", "▶️", "✅"):
        for line in (line for line in watch.err.splitlines() if mark in line):
            assert line in kept
    assert (desk.box.root / ".segue" / ".gitignore").exists()


def test_a_clamp_is_told_once(desk: Commands) -> None:
    """Values out of their bounds are brought back, and that is said once."""
    desk.recovery(max_retries=99)
    tuis = [desk.limited(soon(1)), desk.limited(soon(1))]
    watch = desk.watch()
    watch.state(tuis[0].pane, "paused")
    told = [line for line in watch.err.splitlines() if "max_retries" in line]
    assert len(told) == 1, watch.err
    assert "10" in told[0]


# --- errors


def test_a_pane_that_is_not_there(desk: Commands) -> None:
    """A name that tmux does not know is refused in words, with exit code 2."""
    desk.limited(soon(60))
    done = desk.box.segue(*desk.words("%4711"), wait_s=90)
    assert done.code == 2
    assert "%4711" in done.said
    assert done.json["error"]["message"]


def test_a_pane_name_that_makes_no_sense(desk: Commands) -> None:
    """What is no pane's name is refused, and named."""
    desk.limited(soon(60))
    done = desk.box.segue(*desk.words("nonsense; rm -rf /"), wait_s=90)
    assert done.code == 2
    assert "nonsense" in done.said


def test_an_unknown_agent(desk: Commands) -> None:
    """The known ones are named."""
    tui = desk.limited(soon(60))
    done = desk.box.segue(*desk.words(tui.pane, "--agent", "cladue"), wait_s=90)
    assert done.code == 2
    assert "claude" in done.said


def test_bad_settings_are_refused_before_anything_is_watched(desk: Commands) -> None:
    """An unknown key names its file and its line."""
    tui = desk.limited(soon(1))
    desk.box.config("[recovery]\nresume_txt = 'go on'\n")
    done = desk.box.segue(*desk.words(), wait_s=90)
    assert done.code == 2
    assert done.json["error"]["file"].endswith("segue.toml")
    assert done.json["error"]["line"] == 2
    tui.untouched()


def test_no_tmux_and_no_wezterm_on_this_machine(desk: Commands) -> None:
    """Neither program is there: said in words, exit code 2."""
    bare = desk.box.tmp / "bare"
    bare.mkdir()
    done = desk.box.segue("watch", "--json", env={"PATH": str(bare)}, wait_s=90)
    assert done.code == 2
    assert "tmux" in done.said


def test_the_help_is_one_screen_with_an_example(desk: Commands) -> None:
    """Every option is in it."""
    done = desk.box.segue("watch", "--help")
    assert done.code == 0
    assert len(done.out.splitlines()) <= 40
    assert "segue watch" in done.out
    for option in ("--tmux-socket", "--agent", "--account", "--dry-run", "--json", "--lang"):
        assert option in done.out


# --- at a terminal


def test_a_live_table_on_a_terminal(desk: Commands) -> None:
    """Panes, their agents and states are shown; Ctrl-C leaves the terminal in order."""
    tui = desk.limited(soon(600))
    screen = Terminal(desk.box, "watch", "--tmux-socket", str(desk.tmux.socket))
    screen.expect(tui.pane)
    screen.expect("claude")
    screen.expect("paused")
    screen.type("\x03")
    assert screen.end().code in (0, 130)
    tui.untouched()
