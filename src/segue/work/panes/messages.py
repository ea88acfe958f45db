"""What Segue says about watched panes: the log lines, and an event for each change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Any

from segue.core.limits import family
from segue.engine.clock import Clock
from segue.i18n import N_, _
from segue.work.panes.watched_pane import WatchedPane

NAMES = {
    "weekly": N_("Weekly limit"),
    "rate": N_("Rate limit"),
    "context": N_("Context limit"),
    "unknown": N_("Unknown limit"),
}
FINER = {
    "session_limit": N_("5-hour limit"),
    "daily_quota": N_("Daily quota"),
    "overloaded": N_("Overloaded"),
    "network": N_("Network"),
    "billing": N_("Billing"),
    "auth": N_("Login"),
}


class PaneMessages:
    """`log` gets lines for people, `emit` what programs want to know."""

    def __init__(
        self,
        clock: Clock,
        tz: tzinfo,
        log: Callable[[str], None],
        emit: Callable[[dict[str, Any]], None],
        *,
        is_dry: bool = False,
    ) -> None:
        self._clock, self._tz = clock, tz
        self._log, self._emit = log, emit
        self._is_dry = is_dry

    def line(self, text: str) -> None:
        at = self._clock.now().astimezone(self._tz)
        self._log(f"[{at:%Y-%m-%d %H:%M:%S}] {text}")

    def event(self, pane: WatchedPane, action: str | None = None, **more: object) -> None:
        """How a pane stands, and what is done about it."""
        facts: dict[str, Any] = {
            "event": "pane",
            "at": _text(self._clock.now()),
            "pane": pane.place,
            "agent": pane.agent or None,
            "account": pane.account,
            "state": pane.state,
            "kind": pane.kind,
            "resets_at": _text(pane.resets_at),
            "wakes_at": _text(pane.wakes_at),
            "action": action,
            **more,
        }
        if pane.holder is not None:
            facts["held_by"] = pane.holder
        pane.is_announced = True
        if self._is_dry:
            facts["dry_run"] = True
        self._emit(facts)

    def host(self, name: str, state: str, reason: str = "") -> None:
        """A terminal program came or went, and all its panes with it."""
        text = (
            _("{host}: connection lost ({reason})")
            if state == "gone"
            else _("{host}: connected again")
        )
        self.line(text.format(host=name, reason=reason))
        at = _text(self._clock.now())
        empty = dict.fromkeys(("pane", "kind", "resets_at", "action"))
        self._emit({"event": "host", "at": at, "host": name, **empty, "state": state,
                    "reason": reason})  # fmt: skip

    # The lines

    def parked(
        self, pane: WatchedPane, *, guess_s: float | None = None, is_for_account: bool = False
    ) -> None:
        """`guess_s`: what is waited where no time can be read, unless others of the account are
        known to wait longer."""
        now = self._clock.now()
        assert pane.wakes_at is not None
        self._paused(pane)
        if pane.resets_at is not None:
            self.line(_("[resume] read the reset time"))
        self._waits(pane, now, guess_s, is_for_account)
        self.line(_("[resume] waiting..."))

    def _waits(
        self, pane: WatchedPane, now: datetime, guess_s: float | None, is_for_account: bool
    ) -> None:
        assert pane.wakes_at is not None
        seconds = -int(-((pane.resets_at or pane.wakes_at) - now).total_seconds() // 1)
        seconds = max(0, seconds)
        if guess_s is not None and family(pane.kind or "") == "weekly":
            text = _("[WARN] could not read the reset time; waiting {seconds} s")
            self.line(text.format(seconds=f"{guess_s:g}"))
        name = limit_name(pane.kind)
        if pane.resets_at is None and not is_for_account:
            text = _("⏳ Worker {id}: {kind}, waiting {seconds} s")
            self.line(text.format(id=pane.number, kind=name, seconds=seconds))
            return
        at = pane.resets_at or pane.wakes_at
        time = at.astimezone(self._tz).strftime("%m/%d %H:%M")
        text = _("⏳ Worker {id}: {kind}, waiting until {time} ({seconds} s)")
        if pane.resets_at is None:
            text = _("⏳ Worker {id}: {kind}, its account is parked until {time} ({seconds} s)")
        self.line(text.format(id=pane.number, kind=name, time=time, seconds=seconds))

    def unknown_zone(self, zone: str) -> None:
        text = _("unknown time zone “{zone}”: Segue ignores the reset time")
        self.line("[WARN] " + text.format(zone=zone))

    def _paused(self, pane: WatchedPane) -> None:
        self.line(_("[paused] Worker {id}: its state has changed").format(id=pane.number))

    def waited(self) -> None:
        """The time has come; the next line says what is sent."""
        self.line(_("[resume] the wait is over"))

    def left_alone(self, pane: WatchedPane) -> None:
        self._paused(pane)
        text = _("⏳ Worker {id}: {kind}, resumes by itself; left alone")
        self.line(text.format(id=pane.number, kind=limit_name(pane.kind)))

    def needs_person(self, pane: WatchedPane) -> None:
        text = _("⏸ Worker {id}: {kind}, needs a person: {why}")
        name = limit_name(pane.kind)
        self.line(text.format(id=pane.number, kind=name, why=pane.evidence))

    def no_entry_waits(self, pane: WatchedPane) -> None:
        text = _("⏸ Worker {id}: no menu entry just waits for the reset")
        self.line(text.format(id=pane.number))

    def attended(self, pane: WatchedPane) -> None:
        text = _("✋ Worker {id}: someone is typing; left alone")
        self.line(text.format(id=pane.number))

    def sent(self, pane: WatchedPane, text: str) -> None:
        line = _("would send '{text}' to worker {id}") if self._is_dry else None
        line = line or _("▶️ Worker {id}: '{text}' sent")
        self.line(line.format(id=pane.number, text=text))

    def resumed(self, pane: WatchedPane) -> None:
        self.line(_("✅ Worker {id}: working again").format(id=pane.number))

    def failed(self, pane: WatchedPane, most: int) -> None:
        text = _("⚠️ Worker {id}: could not be resumed ({n}/{most})")
        self.line(text.format(id=pane.number, n=pane.sends, most=most))

    def gave_up(self, pane: WatchedPane) -> None:
        text = _("❌ Worker {id}: too many attempts, its state is now error")
        self.line(text.format(id=pane.number))

    def unreadable(self, pane: WatchedPane, error: str) -> None:
        text = _("[WARN] cannot read pane {id}: {error}")
        self.line(text.format(id=pane.place, error=error))

    def could_not_send(self, error: str) -> None:
        self.line(_("[ERROR] could not send the text: {error}").format(error=error))

    def lost(self, pane: WatchedPane) -> None:
        self.line(_("[ERROR] cannot reach pane {id}").format(id=pane.place))

    def came_first(self, pane: WatchedPane) -> None:
        self.line(_("👤 Worker {id}: already working again; nothing sent").format(id=pane.number))


def limit_name(kind: str | None) -> str:
    name = FINER.get(kind or "") or NAMES.get(family(kind or "unknown"), NAMES["unknown"])
    return _(name)


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")
