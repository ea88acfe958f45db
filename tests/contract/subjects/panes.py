"""Panes: `segue watch` over scripted programs in a tmux server of their own.

The first turn of each is what its person had it do, so it is on the screen when the watcher comes;
each text that is sent leads to the next turn. `watch` takes the user's own settings.
"""

from __future__ import annotations

from typing import Any

from contract.scenes import Step, work
from kit.box import Box
from kit.command import Event
from kit.watch import COOKED, Commands, Tui

from .base import Subject
from .records import DONE, FAILED, PARKED, PENDING, RUNNING, WAITING, Gate, Park, Start, epoch

View = dict[str, Any]
STATES = {
    "busy": RUNNING, "paused": PARKED, "blocked": WAITING, "idle": DONE, "done": DONE,
    "error": FAILED, "dead": FAILED,
}  # fmt: skip
FINISHED = "● All of it is done now."
FULL = "  ⎿  Context limit reached · /compact or /clear to continue"


class Panes(Subject):
    """Each task is a pane with a program that looks like Claude Code."""

    kind = "panes"
    is_pane = True

    def __init__(self, box: Box, voice: str = "text") -> None:
        super().__init__(box, voice)
        self.commands = Commands(box)
        self._turns: dict[int | None, tuple[list[Step], ...]] = {}
        self._held: dict[str, list[tuple[int, list[Step]]]] = {}
        self._tuis: list[Tui] = []

    def plays(self, *turns: list[Step], task: int | None = None) -> None:
        self._turns[task] = turns

    def configure(self) -> None:
        made = self.settings
        folder = self.box.home / ".config/segue"
        folder.mkdir(parents=True, exist_ok=True)
        text = made.table("recovery", made.recovery) + made.more
        (folder / "config.toml").write_text(text, "utf-8")
        (self.box.root / "segue.toml").unlink(missing_ok=True)

    def begin(self, tasks: int = 1, *, is_side_by_side: bool = True) -> None:
        self.count = tasks
        self.configure()
        for task in range(tasks):
            first, *later = self._turns.get(task, self._turns.get(None, ()))
            view = self._view(task, first)
            body = ["❯ write the parser", *view.pop("more", [])]
            reactions = [self._view(task, turn) for turn in later] + [self._view(task, [work(1)])]
            self._tuis.append(self.commands.tui(body=body, reactions=reactions, **view))
        self.drive()

    def begin_in_turn(self) -> None:
        raise AssertionError("panes do not depend on each other")

    def _view(self, task: int, steps: list[Step]) -> View:
        """What a turn shows: a chain of views, each after the work of the one before."""
        lines: list[str] = []
        for number, (verb, *args) in enumerate(steps):
            rest = steps[number + 1 :]
            if verb == "say":
                lines.append(f"● {args[0]}")
            elif verb in ("work", "pause"):
                after = self._view(task, rest)
                return {"mode": "busy", "more": lines, "busy_s": args[0], "after_busy": after}
            elif verb == "hold":
                self._held.setdefault(str(args[0]), []).append((task, rest))
                return {"mode": "busy", "more": lines, "busy_s": 0}
            elif verb in ("limit", "passing"):
                lines += [f"  ⎿  {args[0]}", *(f"     {word}" for word in args[1:])]
                if verb == "limit":
                    return {"mode": "prompt", "more": [*lines, COOKED]}
            elif verb == "fail":
                return {"mode": "prompt", "more": [*lines, f"  ⎿  Error: {args[0]}", COOKED]}
            elif verb == "full":
                return {"mode": "prompt", "more": [*lines, FULL, COOKED]}
            elif verb == "ask":
                question: Any = args[0]
                menu = {"title": [question["text"]], "entries": list(question["options"])}
                return {"mode": "menu", "more": lines, "menu": menu}
            else:
                raise AssertionError(f"a pane cannot {verb}")
        return {"mode": "prompt", "more": [*lines, FINISHED]}

    def release(self, name: str) -> None:
        for task, rest in self._held.pop(name, []):
            self._tuis[task].show(**self._view(task, rest))

    def drive(self) -> None:
        if not self.is_driven():
            self.commands.watch()

    # --- reading

    def key(self, task: int) -> str:
        return self.name(task)

    def name(self, task: int) -> str:
        return self._tuis[task].pane

    def tui(self, task: int) -> Tui:
        return self._tuis[task]

    def starts(self, task: int | None = None) -> list[Start]:
        """The person's own start, then every text that was sent."""
        tuis = self._tuis if task is None else [self._tuis[task]]
        found = [
            Start(each["at"], each.get("text", ""), each["event"] == "submitted", key=tui.pane)
            for tui in tuis
            for each in tui.log
            if each["event"] in ("ready", "submitted")
        ]
        return sorted(found, key=lambda start: start.at)

    def events(self, task: int) -> list[Event]:
        found = [event for going in self.owners for event in going.result.events]
        return [event for event in found if event.get("pane") == self.name(task)]

    def history(self, task: int) -> list[str]:
        states = [STATES[e["state"]] for e in self.events(task) if e.get("state") in STATES]
        return [state for n, state in enumerate(states) if n == 0 or states[n - 1] != state]

    def state(self, task: int) -> str:
        return (self.history(task) or [PENDING])[-1]

    def park_of(self, task: int) -> Park:
        """From the event: a short park may be over before `status` has been asked."""
        self.wait(task, PARKED, unless=[WAITING])
        parked = [e for e in self.events(task) if e.get("wakes_at")][-1]
        return Park(task, parked["kind"], epoch(parked["wakes_at"]), parked["account"])

    def make_needless(self, gate: Gate) -> None:
        """Its person answers in the pane."""
        self._tuis[gate.task].show(**self._view(gate.task, [work(1)]))

    def power_cut(self) -> None:
        raise AssertionError("a power cut ends the panes themselves")

    def close(self) -> None:
        for going in self.owners:
            if going.process.poll() is None:
                going.kill()
        self.commands.tmux.end()
        super().close()
