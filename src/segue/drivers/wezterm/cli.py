"""`wezterm cli`: its questions and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.drivers import program_output
from segue.drivers.pane_agents import roots_on
from segue.drivers.panes import HostGoneError, Pane, PaneError
from segue.drivers.program_output import ProgramOutput
from segue.i18n import _

ALONE = "--no-auto-start"  # asking about panes must not start a server that has none
USAGE_CODE = 2  # what a program answers that does not know an option


class WeztermRefusedError(PaneError):
    """WezTerm is there, and did not do what it was asked."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A pane with what WezTerm tells beside it."""

    pane: Pane
    number: int
    cursor: tuple[int, int]


class WeztermCli:
    """Asks `wezterm cli`, each time in a process of its own."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        self._program, self._env = program, environ
        self._options = [ALONE]
        self._roots: dict[str, int] = {}  # of terminals that are known

    async def panes(self) -> dict[str, Listed]:
        """All panes by their ids; HostGoneError: WezTerm is not running."""
        answer = await self._ask("list", "--format", "json")
        panes = _panes(answer.out) if answer.code == 0 else None
        if panes is None and self._options and _is_unknown_option(answer):
            self._options = []  # an older one
            return await self.panes()
        if panes is None:
            raise HostGoneError(_last_line(answer.err) or _("wezterm sent an invalid reply"))
        socket = str(socket_of(self._env))
        ttys = {pane["tty_name"] for pane in panes if isinstance(pane.get("tty_name"), str)}
        self._roots = {tty: pid for tty, pid in self._roots.items() if tty in ttys}
        self._roots |= roots_on(ttys - self._roots.keys())
        try:
            listed = [_listed(pane, socket, self._roots) for pane in panes]
        except (ValueError, TypeError, AttributeError) as error:
            raise PaneError(_("wezterm sent an invalid reply")) from error
        return {one.pane.id: one for one in listed}

    async def text(self, number: int, above: int) -> str:
        """The rows of a pane, after at most so many that have scrolled off."""
        more = ["--start-line", str(-above)] if above else []
        answer = await self._ask("get-text", "--pane-id", str(number), *more)
        return _good(answer).out.removesuffix("\n")

    async def send(self, number: int, text: str) -> str:
        argv = ["send-text", "--no-paste", "--pane-id", str(number)]
        if text.startswith("-"):  # or it would be an option
            return _good(await self._ask(*argv, stdin=text)).out
        return _good(await self._ask(*argv, text)).out

    async def _ask(self, *argv: str, stdin: str = "") -> ProgramOutput:
        return await program_output.run(
            [self._program, "cli", *self._options, *argv], self._env, stdin=stdin
        )


def socket_of(environ: Mapping[str, str]) -> Path:
    """The server that `wezterm cli` would reach; the same for all who mean it."""
    if told := environ.get("WEZTERM_UNIX_SOCKET"):
        return Path(told).resolve()
    runtime = environ.get("XDG_RUNTIME_DIR")
    home = Path(environ.get("HOME") or "/")
    folder = Path(runtime) / "wezterm" if runtime else home / ".local/share/wezterm"
    window = folder / "default-org.wezfurlong.wezterm"
    return (window if window.exists() else folder / "sock").resolve()


def _panes(out: str) -> list[dict[str, Any]] | None:
    try:
        panes = json.loads(out)
    except ValueError:
        return None
    if not isinstance(panes, list):
        return None
    return [pane for pane in panes if isinstance(pane, dict) and "pane_id" in pane]


def _listed(told: dict[str, Any], socket: str, roots: Mapping[str, int]) -> Listed:
    size = told.get("size") or {}
    tty = told.get("tty_name") or ""
    number = int(told["pane_id"])
    pane = Pane(
        id=f"wezterm:{number}",
        host="wezterm",
        socket=socket,
        rows=int(size.get("rows") or 24),
        columns=int(size.get("cols") or 80),
        title=str(told.get("title") or "").strip(),
        pid=roots.get(tty),
        tty=tty,
    )
    return Listed(pane, number, (int(told.get("cursor_y") or 0), int(told.get("cursor_x") or 0)))


def _is_unknown_option(answer: ProgramOutput) -> bool:
    """Whether it stumbled over the option instead of over a missing server, of which it tells."""
    return answer.code in (0, USAGE_CODE) or not answer.err.strip() or ALONE in answer.err


def _good(answer: ProgramOutput) -> ProgramOutput:
    if answer.code != 0:
        raise WeztermRefusedError(_last_line(answer.err) or _("wezterm refused without a reason"))
    return answer


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
