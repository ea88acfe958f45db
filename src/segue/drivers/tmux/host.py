"""tmux's panes: output is pushed, nothing is polled, and users of the panes are not disturbed.

tmux tells a control client what the panes of *its* session print, and of no other: so there is a
client for each session, which comes and goes with it. Any of them can be asked about any pane.
Clients are attached in the order in which the sessions were used, so that the one that `tmux
attach` would choose stays the same; and a session that should go with its last user is left when
only we are left in it.

What is typed goes into the pane as a paste without brackets: no key table reads it, a person who
scrolls back is not thrown out, and panes that are synchronized with this one do not get it too.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from segue.dialects.screen import Screen
from segue.drivers.inotify import ANYTHING, FolderWatch
from segue.drivers.pane_host import PaneHost
from segue.drivers.panes import (
    HostGoneError,
    Pane,
    PaneAppeared,
    PaneChanged,
    PaneError,
    PaneGone,
    PaneGoneError,
    PaneSilentError,
    check_text,
    key_bytes,
)
from segue.drivers.tmux import commands
from segue.drivers.tmux.clients import SessionClients
from segue.drivers.tmux.control_mode import Reply
from segue.i18n import _

HISTORY_LINES_MAX = 10_000
RAW_FROM = (3, 7)  # since then a paste must be asked to leave control characters alone
SETTLE_S = 0.02  # one act of a person makes several notices
RETRY_S, RETRY_S_MAX = 0.5, 30.0
WITHIN_S = 10.0  # for an answer, whatever happens to clients meanwhile
BORN_S = 0.05  # between a server's socket and its first answer

_ID = re.compile(r"%\d+")


def default_socket(environ: Mapping[str, str]) -> Path:
    """The server that `tmux` alone would mean: the one around us, else the user's own."""
    if around := environ.get("TMUX", "").partition(",")[0]:
        return Path(around)
    folder = Path(environ.get("TMUX_TMPDIR") or "/tmp")  # noqa: S108 - tmux's own rule
    return folder / f"tmux-{os.getuid()}" / "default"


class TmuxPanes(PaneHost):
    """All panes of one tmux server; see `Panes`."""

    def __init__(
        self, socket: Path | None = None, *, program: str = "tmux", environ: Mapping[str, str]
    ) -> None:
        super().__init__()
        # Everybody who means this server must call it the same: it is part of a lock's name.
        self.socket = (socket or default_socket(environ)).resolve()
        env = {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE")}
        self._clients = SessionClients(self.socket, program, env, self._tell, self._request_refresh)
        self._known: set[str] = set()
        self._server = ""
        self._refresh_requested = asyncio.Event()
        self._next_look = asyncio.Event()

    async def list(self) -> list[Pane]:
        replies = await self._ask(commands.PANES)
        return [pane for pane, _session in commands.panes_of(replies, str(self.socket)).values()]

    async def screen(self, pane_id: str, *, history_lines: int = 0) -> Screen:
        above = min(history_lines, HISTORY_LINES_MAX)
        command = commands.screen_command(_checked(pane_id), above)
        return commands.screen_of(await self._ask(command), pane_id, above)

    async def send_text(self, pane_id: str, text: str) -> None:
        check_text(text)
        if text:
            await self._type(_checked(pane_id), text)

    async def send_key(self, pane_id: str, key: str) -> None:
        await self._type(_checked(pane_id), key_bytes(key))

    async def _type(self, pane_id: str, text: str) -> None:
        buffer = f"segue-{secrets.token_hex(6)}"
        is_raw = self._clients.version >= RAW_FROM
        command = commands.typing_command(pane_id, text, buffer, is_raw=is_raw)
        replies = await self._ask(command, is_read=False)
        if any(reply.is_error for reply in replies):  # no one else will clear it away
            await self._ask(f"delete-buffer -b {buffer}")
        if not commands.is_typed(replies, pane_id):
            text = _("tmux did not confirm the input to {pane}")
            raise PaneSilentError(text.format(pane=pane_id))

    async def _ask(self, command: str, *, is_read: bool = True) -> Sequence[Reply]:
        """Ask any client; between the end of the last one and the next there may be none."""
        try:
            async with asyncio.timeout(WITHIN_S):
                while True:
                    try:
                        return await self._clients.ask(command, is_read=is_read)
                    except HostGoneError:
                        if self._is_gone:
                            raise
                        await self._next_look.wait()
        except TimeoutError as error:
            raise PaneSilentError(_("tmux does not respond")) from error

    # --- what keeps it going

    async def _keep(self) -> None:
        """Look at what is there whenever something stirs; wait for a server that is gone."""
        delay_s = RETRY_S
        while True:
            before = self._socket_now()
            self._refresh_requested.clear()
            is_answered = await self._try_look()
            if self._is_gone:
                is_made = await self._wait_for_socket(before, delay_s)
                delay_s = RETRY_S if is_made else min(2 * delay_s, RETRY_S_MAX)
                continue
            delay_s = RETRY_S
            if is_answered:
                await self._refresh_requested.wait()
            await asyncio.sleep(SETTLE_S if is_answered else RETRY_S)

    async def _try_look(self) -> bool:
        """False: the server does not answer now, and may do so later."""
        try:
            await self._look()
        except HostGoneError as error:
            self._lose(str(error))
        except PaneError:
            return False
        finally:
            self._looked.set()
            self._next_look.set()
            self._next_look = asyncio.Event()
        return True

    async def _look(self) -> None:
        fresh = await self._clients.refresh()
        try:
            replies = await self._clients.ask(commands.PANES)
        except HostGoneError:  # all clients ended just now: only the next look can say why
            self._request_refresh()
            return
        found = commands.panes_of(replies, str(self.socket))
        if self._server not in ("", self._clients.server):
            self._lose(_("tmux was restarted"))
        self._server = self._clients.server
        self._found()
        for gone in self._known - found.keys():
            self._events.put(PaneGone(gone))
        for pane, session in found.values():
            if pane.id not in self._known:
                self._events.put(PaneAppeared(pane))
            elif session in fresh:  # what it printed before we were attached was not reported
                self._events.put(PaneChanged(pane.id))
        self._known = set(found)
        self._clients.keep_only(found)

    async def _close(self) -> None:
        await self._clients.close()

    def _tell(self, pane_id: str) -> None:
        if pane_id in self._known:
            self._events.put(PaneChanged(pane_id))

    def _request_refresh(self) -> None:
        self._refresh_requested.set()

    def _lose(self, reason: str) -> None:
        self._known = set()
        self._server = ""
        self._lost(reason)

    def _socket_now(self) -> tuple[int, int] | None:
        try:
            stat = self.socket.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_ctime_ns

    async def _wait_for_socket(self, before: tuple[int, int] | None, wait_s: float) -> bool:
        """Until the server's socket is another than before, or for a while; True: it is."""
        made = asyncio.Event()
        watch = FolderWatch()
        watch.watch(
            self.socket.parent,
            lambda name: made.set() if name in (ANYTHING, self.socket.name) else None,
        )
        try:
            async with asyncio.timeout(wait_s):
                while self._socket_now() in (None, before):
                    made.clear()
                    await made.wait()
        except TimeoutError:
            return False
        finally:
            watch.close()
        await asyncio.sleep(BORN_S)
        return True


def _checked(pane_id: str) -> str:
    if not _ID.fullmatch(pane_id):
        raise PaneGoneError(_("{pane} is not a pane of tmux").format(pane=pane_id))
    return pane_id
