"""The clients of one tmux server: one that listens for each of its sessions, and one that asks.

Clients that listen cannot do without the one that asks. A server whose only client is slow stops
reading what the panes print, as it does for a person who scrolls slowly, and the programs in them
hang: a watcher that hangs, or is stopped with Ctrl-Z, would stop every agent. While any
client is there that wants no output the server reads on, and those that lag are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from segue.drivers import program_output
from segue.drivers.panes import HostGoneError, PaneError, PaneSilentError
from segue.drivers.tmux.client import ATTACHED, ControlClient
from segue.drivers.tmux.connection import connection_to
from segue.drivers.tmux.control_mode import Notice, Printed, Reply
from segue.drivers.tmux.sessions import (
    SESSIONS_ARGV,
    SESSIONS_COMMAND,
    TmuxSession,
    sessions_of,
    version_of,
)
from segue.drivers.tmux.throttle import OutputThrottle
from segue.i18n import _

VERSION_MIN = (3, 2)  # the first whose clients can let panes run ahead of them
TRIES = 3
LISTENS = "ignore-size,pause-after=1"
ASKS = "ignore-size,no-output"

# After one of these the sessions or panes may be others than before.
TOPOLOGY_NOTICES = frozenset(
    {
        "client-detached",
        "client-session-changed",
        "layout-change",
        "session-changed",
        "sessions-changed",
        "unlinked-window-add",
        "unlinked-window-close",
        "window-add",
        "window-close",
        "window-pane-changed",
    }
)


class SessionClient:
    """A client of one session, and the throttle of its pane events."""

    def __init__(
        self, session_id: str, tell: Callable[[str], None], request_refresh: Callable[[], None]
    ) -> None:
        self.session_id = session_id
        self._request_refresh = request_refresh
        self.client = ControlClient(self._on_output, self._on_notice, self._on_closed)
        self.throttle = OutputThrottle(tell, self.client.begin)

    def _on_output(self, panes: Mapping[str, Printed]) -> None:
        self.throttle.on_output(panes)

    def _on_notice(self, notice: Notice) -> None:
        if notice.name == "pause":
            self.throttle.on_paused(notice.rest)
        elif notice.name == ATTACHED and notice.rest.split(" ")[0] != self.session_id:
            self.client.close()  # its session ended, and tmux took it to another one
        elif notice.name in TOPOLOGY_NOTICES:
            self._request_refresh()

    def _on_closed(self) -> None:
        self.throttle.close()
        self._request_refresh()

    async def leave(self) -> None:
        self.client.close()
        await self.client.wait_closed()


class SessionClients:
    """`tell` gets the ids of panes that printed something; `request_refresh` is called when a
    `refresh` is due."""

    def __init__(
        self,
        socket: Path,
        program: str,
        env: Mapping[str, str],
        tell: Callable[[str], None],
        request_refresh: Callable[[], None],
    ) -> None:
        self._socket, self._program, self._env = socket, program, env
        self._tell, self._request_refresh = tell, request_refresh
        self._clients: dict[str, SessionClient] = {}  # those that listen, by their session
        self._query_client: SessionClient | None = None  # the one that asks, wherever it sits
        self.version, self._release = (0, 0), ""
        self.server = ""

    async def refresh(self) -> set[str]:
        """Attach to sessions that are new, leave those that are to end; the ids of the new ones.

        HostGoneError: there is no server, or nothing on it.
        """
        sessions, used = await self._look()
        wanted = [session for session in sessions if session.id in used or not session.is_for_users]
        wanted.sort(key=lambda session: session.used_at)
        ids = {session.id for session in wanted}
        for attached in [
            attached for attached in self._clients.values() if not _is_in(attached, ids)
        ]:
            await attached.leave()
            del self._clients[attached.session_id]
        fresh = set()
        for session in wanted:
            if session.id not in self._clients and (new := await self._attach(session.id, LISTENS)):
                self._clients[session.id] = new
                fresh.add(session.id)
        await self._attach_query_client(wanted, ids)
        if not self._clients:
            raise HostGoneError(_("tmux has no session to watch"))
        return fresh

    async def ask(self, command: str, *, is_read: bool = True) -> list[Reply]:
        """What the commands printed. What only reads is asked again if a client ends meanwhile."""
        for _try in range(TRIES):
            client = self._open_client()
            if client is None:
                break
            replies = await client.ask(command)
            if replies is not None:
                return replies
            if not is_read:
                raise PaneSilentError(_("tmux exited before it replied"))
        raise HostGoneError(_("tmux is not running"))

    def keep_only(self, panes: Iterable[str]) -> None:
        """Forget panes that are gone."""
        known = set(panes)
        for attached in self._clients.values():
            attached.throttle.keep_only(known)

    async def close(self) -> None:
        """Those that listen go first: the other one keeps the panes going meanwhile."""
        for attached in self._clients.values():
            attached.client.close()
        for attached in self._clients.values():
            await attached.leave()
        if self._query_client:
            await self._query_client.leave()

    def _open_client(self) -> ControlClient | None:
        first = [self._query_client] if self._query_client else []
        clients = (attached.client for attached in [*first, *self._clients.values()])
        return next((client for client in clients if client.is_open), None)

    async def _look(self) -> tuple[list[TmuxSession], set[str]]:
        client = self._open_client()
        replies = await client.ask(SESSIONS_COMMAND) if client else None
        if replies is not None:
            sessions, used = sessions_of(line for reply in replies for line in reply.lines)
        else:
            tmux = [self._program, "-u", "-S", str(self._socket)]
            answer = await program_output.run([*tmux, *SESSIONS_ARGV], self._env)
            if answer.code != 0:
                raise HostGoneError(answer.err.strip() or _("tmux is not running"))
            sessions, used = sessions_of(answer.out.splitlines())
        if sessions:
            self._release, self.server = sessions[0].version, sessions[0].server
            self.version = version_of(self._release)
            if self.version < VERSION_MIN:
                text = _("tmux {version} is too old; Segue needs {least} or newer")
                least = ".".join(map(str, VERSION_MIN))
                raise HostGoneError(text.format(version=self._release, least=least))
        return sessions, used

    async def _attach_query_client(self, sessions: list[TmuxSession], ids: set[str]) -> None:
        """Have a client that asks, in the session that was used last: it stays the one."""
        if self._query_client and not _is_in(self._query_client, ids):
            await self._query_client.leave()
            self._query_client = None
        for session in reversed(sessions):
            if self._query_client is None:
                self._query_client = await self._attach(session.id, ASKS)

    async def _attach(self, session_id: str, flags: str) -> SessionClient | None:
        attached = SessionClient(session_id, self._tell, self._request_refresh)
        connection = connection_to(self._socket, self._release, self._program, self._env)
        try:
            await attached.client.attach(connection, session_id, flags)
        except PaneSilentError:
            raise
        except PaneError:  # the session ended meanwhile
            return None
        finally:
            if not attached.client.is_open:
                await attached.client.wait_closed()
        return attached


def _is_in(attached: SessionClient, session_ids: set[str]) -> bool:
    return attached.client.is_open and attached.session_id in session_ids
