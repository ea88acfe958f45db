"""The clients of one tmux server: one that listens for each of its sessions, and one that asks.

Clients that listen cannot do without the one that asks. A server whose only client is slow stops
reading what the panes print, as it does for a person who scrolls slowly, and the programs in them
stand still: a watcher that hangs, or is stopped with Ctrl-Z, would stop every agent. While any
client is there that wants no output the server reads on, and those that lag are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from segue.drivers import once
from segue.drivers.panes import HostGoneError, PaneError, PaneSilentError
from segue.drivers.tmux_client import ATTACHED, ControlClient
from segue.drivers.tmux_control import Notice, Printed, Reply
from segue.drivers.tmux_entry import entry_to
from segue.drivers.tmux_pace import Pace
from segue.drivers.tmux_rooms import ROOMS_ARGV, ROOMS_COMMAND, Room, rooms_of, version_of
from segue.i18n import _

VERSION_MIN = (3, 2)  # the first whose clients can let panes run ahead of them
TRIES = 3
LISTENS = "ignore-size,pause-after=1"
ASKS = "ignore-size,no-output"

# After one of these the sessions or panes may be others than before.
STIRRING = frozenset(
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


class Link:
    """A client of one session, and the pace at which it tells of the panes there."""

    def __init__(self, room_id: str, tell: Callable[[str], None], stir: Callable[[], None]) -> None:
        self.room_id = room_id
        self._stir = stir
        self.client = ControlClient(self._on_output, self._on_notice, self._on_closed)
        self.pace = Pace(tell, self.client.begin)

    def _on_output(self, panes: Mapping[str, Printed]) -> None:
        self.pace.on_output(panes)

    def _on_notice(self, notice: Notice) -> None:
        if notice.name == "pause":
            self.pace.on_paused(notice.rest)
        elif notice.name == ATTACHED and notice.rest.split(" ")[0] != self.room_id:
            self.client.close()  # its session ended, and tmux took it to another one
        elif notice.name in STIRRING:
            self._stir()

    def _on_closed(self) -> None:
        self.pace.close()
        self._stir()

    async def leave(self) -> None:
        self.client.close()
        await self.client.wait_closed()


class Links:
    """`tell` gets the ids of panes that printed something, `stir` is called when it is time to
    `refresh`."""

    def __init__(
        self,
        socket: Path,
        program: str,
        env: Mapping[str, str],
        tell: Callable[[str], None],
        stir: Callable[[], None],
    ) -> None:
        self._socket, self._program, self._env = socket, program, env
        self._tell, self._stir = tell, stir
        self._links: dict[str, Link] = {}  # those that listen, by their session
        self._desk: Link | None = None  # the one that asks, wherever it sits
        self.version, self._release = (0, 0), ""
        self.server = ""

    async def refresh(self) -> set[str]:
        """Attach to sessions that are new, leave those that are to end; the ids of the new ones.

        HostGoneError: there is no server, or nothing on it.
        """
        rooms, used = await self._look()
        wanted = [room for room in rooms if room.id in used or not room.is_for_users]
        wanted.sort(key=lambda room: room.used_at)
        ids = {room.id for room in wanted}
        for link in [link for link in self._links.values() if not _is_in(link, ids)]:
            await link.leave()
            del self._links[link.room_id]
        fresh = set()
        for room in wanted:
            if room.id not in self._links and (new := await self._attach(room.id, LISTENS)):
                self._links[room.id] = new
                fresh.add(room.id)
        await self._take_seat(wanted, ids)
        if not self._links:
            raise HostGoneError(_("tmux has no session that could be watched"))
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
                raise PaneSilentError(_("tmux went away before it answered"))
        raise HostGoneError(_("tmux is not there"))

    def keep_only(self, panes: Iterable[str]) -> None:
        """Forget panes that are gone."""
        known = set(panes)
        for link in self._links.values():
            link.pace.keep_only(known)

    async def close(self) -> None:
        """Those that listen go first: the other one keeps the panes going meanwhile."""
        for link in self._links.values():
            link.client.close()
        for link in self._links.values():
            await link.leave()
        if self._desk:
            await self._desk.leave()

    def _open_client(self) -> ControlClient | None:
        links = [self._desk] if self._desk else []
        clients = (link.client for link in [*links, *self._links.values()])
        return next((client for client in clients if client.is_open), None)

    async def _look(self) -> tuple[list[Room], set[str]]:
        client = self._open_client()
        replies = await client.ask(ROOMS_COMMAND) if client else None
        if replies is not None:
            rooms, used = rooms_of(line for reply in replies for line in reply.lines)
        else:
            tmux = [self._program, "-u", "-S", str(self._socket)]
            answer = await once.ask([*tmux, *ROOMS_ARGV], self._env)
            if answer.code != 0:
                raise HostGoneError(answer.err.strip() or _("tmux is not there"))
            rooms, used = rooms_of(answer.out.splitlines())
        if rooms:
            self._release, self.server = rooms[0].version, rooms[0].server
            self.version = version_of(self._release)
            if self.version < VERSION_MIN:
                text = _("tmux {version} is too old; it must be {least} or newer")
                least = ".".join(map(str, VERSION_MIN))
                raise HostGoneError(text.format(version=self._release, least=least))
        return rooms, used

    async def _take_seat(self, rooms: list[Room], ids: set[str]) -> None:
        """Have a client that asks, in the session that was used last: it stays the one."""
        if self._desk and not _is_in(self._desk, ids):
            await self._desk.leave()
            self._desk = None
        for room in reversed(rooms):
            if self._desk is None:
                self._desk = await self._attach(room.id, ASKS)

    async def _attach(self, room_id: str, flags: str) -> Link | None:
        link = Link(room_id, self._tell, self._stir)
        entry = entry_to(self._socket, self._release, self._program, self._env)
        try:
            await link.client.attach(entry, room_id, flags)
        except PaneSilentError:
            raise
        except PaneError:  # the session ended meanwhile
            return None
        finally:
            if not link.client.is_open:
                await link.client.wait_closed()
        return link


def _is_in(link: Link, room_ids: set[str]) -> bool:
    return link.client.is_open and link.room_id in room_ids
