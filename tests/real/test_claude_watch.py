"""Claude Code in a real tmux, for real: what `segue watch` does at its limits, and what it does not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from kit.agents_here import claude, clean_env
from kit.stage import LANE, Stage, until
from kit.watch import RESUME, Commands, Watch, instant

ALONE = '{"autoContinueAtUsageLimit": false}'
PROMPT = "write the parser"
WAITS = "Stop and wait for limit to reset"


class Claude:
    """The real program in a pane, on the fake model."""

    def __init__(self, stage: Stage, *plays: str, settings: str = "{}") -> None:
        self.stage = stage
        self.commands = Commands(stage)
        url = stage.models.lane(LANE, *plays)
        env = clean_env(stage.tmp, url, "claude", oauth=True)
        seed = stage.home / ".claude.json"
        known = json.loads(seed.read_text("utf-8"))
        known["projects"] = {str(stage.root): {"hasTrustDialogAccepted": True}}
        seed.write_text(json.dumps(known), "utf-8")
        words = ["env", "-i", *(f"{name}={value}" for name, value in env.items())]
        words += [str(claude()), "--settings", settings]
        make = ("new-session", "-d", "-x", "120", "-y", "40", "-c", str(stage.root))
        self.pane = self.commands.tmux(*make, "-P", "-F", "#{pane_id}", *words)
        self.shows("❯")

    @property
    def screen(self) -> str:
        text = self.commands.tmux("capture-pane", "-p", "-t", self.pane)
        return text.replace("\u00a0", " ")  # it puts one behind its mark

    def shows(self, text: str, wait_s: float = 90) -> None:
        try:
            until(lambda: text in self.screen, text, wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.screen}") from None

    def type(self, text: str) -> None:
        """A person types, and presses Enter."""
        self.commands.tmux("send-keys", "-t", self.pane, "-l", text)
        self.shows(f"❯ {text}")
        self.commands.tmux("send-keys", "-t", self.pane, "Enter")

    @property
    def prompts(self) -> list[str]:
        """What a person or a watcher has said, as the model saw it, of each request."""
        return [asked.prompt for asked in self.stage.asked()]

    def watch(self, *args: str) -> Watch:
        return self.commands.watch(*args)


@pytest.fixture
def started(stage: Stage) -> Iterator[list[Claude]]:
    """The real programs of a test; their tmux servers are ended."""
    made: list[Claude] = []
    yield made
    for one in made:
        one.commands.__exit__(None, None, None)


def late_in_a_minute() -> None:
    """Claude names the minute only, and a watcher waits for its end: begin near to that."""
    until(lambda: 38 < time.time() % 60 < 46, "the end of a minute", 70)


def minute_over(epoch: float) -> float:
    return (epoch // 60 + 1) * 60


def test_its_own_continuation_is_left_alone(stage: Stage, started: list[Claude]) -> None:
    """The five-hour limit with its own countdown: it goes on by itself, and that once."""
    late_in_a_minute()
    agent = Claude(stage, "429u5h:5", "say:on I go")
    started.append(agent)
    agent.type(PROMPT)
    agent.shows("Continuing automatically")
    watch = agent.watch()
    paused = watch.state(agent.pane, "paused")
    assert paused["kind"] == "session_limit"
    agent.shows("on I go", 240)  # about 105 s after the reset
    watch.wait(lambda: watch.states(agent.pane)[-1] != "paused", "it goes on")
    assert len(stage.asked()) == 2
    assert not any(RESUME in prompt for prompt in agent.prompts)
    assert RESUME not in agent.screen
    assert "▶️" not in watch.err


def limited_with_menu(stage: Stage, started: list[Claude], mode: str = "429u5h:12") -> Claude:
    """Its own continuation is off: a menu waits."""
    late_in_a_minute()
    agent = Claude(stage, mode, "say:on I go", settings=ALONE)
    started.append(agent)
    agent.type(PROMPT)
    agent.shows(WAITS)
    return agent


def went_on_once(stage: Stage, agent: Claude, watch: Watch) -> None:
    agent.shows("on I go")
    watch.wait(lambda: "✅" in watch.err, "that it goes on")
    assert len(stage.asked()) == 2, agent.prompts
    assert agent.prompts[1].count(RESUME) == 1
    assert PROMPT in agent.prompts[1], "the same conversation"
    assert agent.screen.count(f"❯ {RESUME}") == 1


def test_the_menu_is_answered_and_the_work_goes_on_once(
    stage: Stage, started: list[Claude]
) -> None:
    """The waiting entry is taken; after the reset the text is sent; the model is asked once."""
    agent = limited_with_menu(stage, started)
    watch = agent.watch()
    paused = watch.state(agent.pane, "paused")
    assert paused["kind"] == "session_limit"
    refused = stage.asked()[0].at
    assert abs(instant(paused["resets_at"]) - (refused + 12)) <= 60
    went_on_once(stage, agent, watch)
    assert stage.asked()[1].at >= int(refused) + 12, "not before the reset"
    assert "upgrade" not in agent.screen.lower().replace("/upgrade", "")


def test_killed_during_the_wait_and_started_after_the_instant(
    stage: Stage, started: list[Claude]
) -> None:
    """kill -9 of the watcher, the reset passes, another watcher: sent once."""
    agent = limited_with_menu(stage, started)
    first = agent.watch()
    paused = first.state(agent.pane, "paused")
    first.kill()
    over = minute_over(instant(paused["resets_at"]))
    until(lambda: time.time() > over + 2, "the instant", 120)
    assert len(stage.asked()) == 1
    watch = agent.watch()
    went_on_once(stage, agent, watch)


def test_the_weekly_limit_is_told_with_its_day(stage: Stage, started: list[Claude]) -> None:
    """Parked for days: kind and instant are those of the banner; nothing costs money meanwhile."""
    agent = Claude(stage, "429u7d:200000", "say:on I go")
    started.append(agent)
    agent.type(PROMPT)
    agent.shows(WAITS)
    watch = agent.watch()
    paused = watch.state(agent.pane, "paused")
    assert paused["kind"] == "weekly_limit"
    assert abs(instant(paused["resets_at"]) - (stage.asked()[0].at + 200_000)) <= 60
    assert len(stage.asked()) == 1


def test_a_limit_in_the_middle_of_work(stage: Stage, started: list[Claude]) -> None:
    """A tool ran, then the limit came: its banner below the tool's output is seen, too."""
    late_in_a_minute()
    agent = Claude(stage, "tool:echo one two", "429u5h:12", "say:on I go", settings=ALONE)
    started.append(agent)
    agent.type(PROMPT)
    agent.shows(WAITS)
    watch = agent.watch()
    watch.state(agent.pane, "paused")
    agent.shows("on I go", 120)
    watch.wait(lambda: "✅" in watch.err, "that it goes on")
    assert len(stage.asked()) == 3
    assert agent.prompts[2].count(RESUME) == 1


def test_a_working_program_is_busy_and_one_at_rest_idle(
    stage: Stage, started: list[Claude]
) -> None:
    """Its states as they are; nothing is typed."""
    agent = Claude(stage, "slow:6", "ok")
    started.append(agent)
    watch = agent.watch()
    watch.now(agent.pane, "idle")
    agent.type(PROMPT)
    watch.now(agent.pane, "busy")
    watch.now(agent.pane, "idle")
    assert len(stage.asked()) == 1
