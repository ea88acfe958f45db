"""`segue serve` from its start to its end: the work, the front end, and what it leaves for the
client: where it listens and the token."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from segue.drivers.notify import Way
from segue.engine.clock import Clock
from segue.errors import UserError
from segue.i18n import _
from segue.server import listen, log
from segue.server.app import make_app
from segue.server.pages import pages
from segue.server.replies import StoredReplies
from segue.store import files
from segue.work import channels, config
from segue.work.outbox import Courier, Outbox
from segue.work.project import Project
from segue.work.server import closing, left_over
from segue.work.server.notices import ServerLetters
from segue.work.server.office import Office, open_office

TOKEN_FILE, PLACE_FILE = "token", "server.json"


@dataclass(frozen=True, slots=True)
class Listening:
    """`token_file`: none where the token was given. `login` is a link that logs in, told once:
    when the token was made."""

    url: str
    token_file: str | None
    login: str | None


async def serve(
    data: Path | None,
    *,
    host: str,
    port: int,
    slots: int,
    is_insecure: bool,
    tls: listen.Tls | None = None,
    names: Sequence[str] = (),
    environ: Mapping[str, str],
    clock: Clock,
    tz: tzinfo,
    command: Sequence[str],
    on_listening: Callable[[Listening], None],
) -> int:
    project = Project.around(Path.cwd())
    if data is not None and data.resolve() != project.memory:
        project = Project(project.root, data.resolve())
    settings = config.load(project.root, config.user_file(environ))
    sock = listen.bind(host, port, tls=tls, is_exposed=is_insecure)
    try:
        async with open_office(
            project,
            settings,
            environ=environ,
            clock=clock,
            tz=tz,
            slots=slots,
            command=command,
        ) as office:
            folder = office.data
            log.to_file(project.logs / "server.log")
            token, is_new = _token(folder, environ)
            url = listen.url(sock, host, tls)
            files.replace(folder / PLACE_FILE, json.dumps({"url": url}).encode(), mode=0o600)
            login = f"{url}/login?token={token}" if is_new else None
            app = make_app(
                office.desk,
                token=token,
                replies=StoredReplies(office.desk.office.records.store),
                hosts=listen.hosts(host, names),
                pages=pages(office.desk),
            )
            ways, missing = channels.read_ways(settings.notify, environ, clock, folder)
            if missing:
                raise UserError.of(missing)
            left_over.tell(office.supervisor)
            office.supervisor.recover()
            stop = asyncio.Event()
            with listen.signals(stop):
                sock.listen(listen.BACKLOG)
                token_file = None if environ.get("SEGUE_TOKEN") else str(folder / TOKEN_FILE)
                on_listening(Listening(url, token_file, login))
                courier = Courier(_outbox(office, settings, clock, tz, ways, url))
                office.supervisor.on_commit(courier.wake)
                try:
                    await _work(office, listen.serve(app, sock, stop, tls=tls), stop)
                finally:
                    await courier.close(0)
            (folder / PLACE_FILE).unlink(missing_ok=True)
    finally:
        sock.close()
    return 0


async def _work(office: Office, serving: Coroutine[Any, Any, None], stop: asyncio.Event) -> None:
    """Both go on until one of them ends; then the other ends in order."""
    front = asyncio.create_task(serving)
    work = asyncio.create_task(office.supervisor.loop())
    await asyncio.wait([front, work], return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    office.supervisor.stop()
    await asyncio.wait([work])
    closing.save(office.supervisor)
    await asyncio.wait([front])
    await closing.settle(office.supervisor)
    for task in (work, front):
        task.result()


def _outbox(
    office: Office,
    settings: config.Config,
    clock: Clock,
    tz: tzinfo,
    ways: Sequence[Way],
    url: str,
) -> Outbox:
    veil = office.supervisor.saving.veil.text
    letters = ServerLetters(office.supervisor.records, url, veil)
    return Outbox(letters, clock, ways, channels.quiet(settings.notify), tz)


def _token(folder: Path, environ: Mapping[str, str]) -> tuple[str, bool]:
    """`SEGUE_TOKEN`, else the one made at the first start; and whether that is now."""
    path = folder / TOKEN_FILE
    if given := environ.get("SEGUE_TOKEN"):
        return given, False
    if path.exists():
        if path.stat().st_mode & 0o077:
            raise UserError(
                "token_exposed",
                _("others can read the token, so it protects nothing"),
                file=str(path),
                hint=_("make it yours alone: chmod 600 {path}").format(path=path),
            )
        return path.read_text(encoding="ascii").strip(), False
    token = secrets.token_urlsafe(32)
    files.replace(path, f"{token}\n".encode(), mode=0o600)
    return token, True
