"""`segue serve` from its start to its end: the work, the front end, and what it leaves for the
client: where it listens and the token."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any

from segue.drivers.notify import Notifier
from segue.engine import outage, refusals
from segue.engine.clock import Clock
from segue.engine.locks import notices_lock
from segue.engine.notices import WorkNotices
from segue.engine.outbox import NoticeSender, Outbox
from segue.errors import UserError
from segue.i18n import _
from segue.server import listen, log
from segue.server.app import make_app
from segue.server.callers import Attempt
from segue.server.idempotency import StoredReplies
from segue.server.middleware import refusing
from segue.server.pages import pages
from segue.server.problems import of_user_error
from segue.server.works import ProjectWorks
from segue.store import files, lock
from segue.store.changes import Change
from segue.store.tokens import Tokens, check_length
from segue.work import trust
from segue.work.phases import closing, orphans
from segue.work.phases.app import App, open_app
from segue.work.phases.notices import ServerNotices
from segue.work.project import Project
from segue.work.settings import channels, config

FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0  # for a disk that is full at the start
GARBAGE = 10_000  # objects: a list of tasks is made of thousands, and none of them is garbage yet
TOKEN_FILE, PLACE_FILE = "token", "server.json"

logger = logging.getLogger("segue.server")


@dataclass(frozen=True, slots=True)
class Listening:
    """`token_file` and `login`, a link that logs in: none where the token was given. `is_first`:
    the token was made now."""

    url: str
    token_file: str | None
    login: str | None
    is_first: bool


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
    project = Project.with_data(Project.containing(Path.cwd()).root, data)
    settings = config.load(project.root, config.user_file(environ))
    trust.check(project.root, [project.root / trust.SETTINGS], environ, project.database)
    check_free(project)
    sock = listen.bind(host, port, tls=tls, is_exposed=is_insecure)
    url, stop = listen.url(sock, host, tls), asyncio.Event()

    async def once() -> None:
        async with open_app(
            project, settings, environ=environ, clock=clock, tz=tz, slots=slots, command=command
        ) as app:
            folder = project.keys
            log.to_file(project.logs / "server.log")
            token, is_new = _token(folder, environ)
            files.replace(folder / PLACE_FILE, json.dumps({"url": url}).encode(), mode=0o600)
            asgi_app = make_app(
                app.commands,
                token=token,
                tokens=Tokens(app.commands.supervisor.records.store),
                replies=StoredReplies(app.commands.supervisor.records.store),
                hosts=listen.hosts(host, names),
                pages=pages(app.commands),
                works=ProjectWorks(project.root),
                on_agent=partial(_note, app),
            )
            notifiers, missing = channels.read_notifiers(settings.notify, environ, clock, folder)
            if missing:
                raise UserError.of(missing)
            orphans.tell(app.supervisor)
            app.supervisor.recover()
            is_given = bool(environ.get("SEGUE_TOKEN"))
            opened.append(
                Listening(
                    url,
                    None if is_given else str(folder / TOKEN_FILE),
                    None if is_given else f"{listen.page_url(url)}/login?token={token}",
                    is_new,
                )
            )
            gc.freeze()  # the program and its routes stay: no need to look through them again
            gc.set_threshold(GARBAGE)
            on_listening(opened[-1])
            sender = NoticeSender(_outbox(app, settings, clock, tz, notifiers, url))
            app.supervisor.on_commit(sender.wake)
            of_plans = _sender_for_plans(app, project, settings, clock, tz, notifiers)
            try:
                await _work(app, listen.serve(asgi_app, sock, stop, tls=tls), stop)
            finally:
                await sender.close(0)
                if of_plans is not None:
                    await of_plans.close(0)
            (folder / PLACE_FILE).unlink(missing_ok=True)

    opened: list[Listening] = []
    try:
        with listen.signals(stop):
            await _when_there_is_room(once, stop, lambda: not opened, sock, tls)
    finally:
        sock.close()
    return 0


async def _when_there_is_room(
    begin: Callable[[], Coroutine[Any, Any, None]],
    stop: asyncio.Event,
    may_wait: Callable[[], bool],
    sock: socket,
    tls: listen.Tls | None,
) -> None:
    """A disk that is full at the start is waited for, like one that fills up later: clients get the
    same answer meanwhile."""
    wait_s = FIRST_WAIT_S
    while not stop.is_set():
        try:
            await begin()
            return
        except (UserError, OSError) as error:
            if not may_wait() or not outage.is_trouble(error):
                raise
            told = (
                error
                if isinstance(error, UserError)
                else files.in_words(error, Path(error.filename or "."))
            )
            if told.problem.code == "read_only":
                raise told from error
            if wait_s == FIRST_WAIT_S:
                text = _("{why}; the server starts as soon as it can write")
                logger.error("%s", text.format(why=told))
        async with listen.answering(refusing(of_user_error(told)), sock, tls=tls):
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await stop.wait()
        wait_s = min(2 * wait_s, LONGEST_WAIT_S)


def check_free(project: Project) -> None:
    """One server per folder: a second start reports where the first one listens."""
    held = lock.holder(project.locks / "server.lock")
    if held is None:
        return
    place = project.keys / PLACE_FILE
    url = "?"
    with suppress(OSError, ValueError, KeyError, TypeError):
        url = str(json.loads(place.read_text(encoding="utf-8"))["url"])
    text = _("a server is already running for this folder: {url} (process {pid}, since {since})")
    raise UserError(
        "already_running",
        text.format(url=url, pid=held.pid, since=held.since),
        file=str(project.memory),
        hint=_("open {url}, or stop that server first: kill {pid}").format(url=url, pid=held.pid),
    )


async def _work(app: App, serving: Coroutine[Any, Any, None], stop: asyncio.Event) -> None:
    """Both run until one of them ends; then the other ends in order."""
    front = asyncio.create_task(serving)
    work = asyncio.create_task(app.driver.run())
    await asyncio.wait([front, work], return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    app.supervisor.stop()
    await asyncio.wait([work])
    closing.save(app.supervisor)
    await asyncio.wait([front])
    await closing.settle(app.supervisor)
    for task in (work, front):
        task.result()


def _note(app: App, attempt: Attempt) -> None:
    """Record and report what an agent tried; even if that fails, it stays refused."""
    supervisor = app.supervisor

    def changes() -> list[Change]:
        store, now = supervisor.records.store, supervisor.clock.now()
        return refusals.changes(
            store, attempt.run, attempt.via, attempt.tried, now,
            is_change=attempt.is_change, is_at_server=True,
        )  # fmt: skip

    try:
        if changes():
            supervisor.commit(then=changes)
    except UserError as error:
        logger.error("run %s tried %s: %s", attempt.name, attempt.tried, error)


def _outbox(
    app: App,
    settings: config.Config,
    clock: Clock,
    tz: tzinfo,
    notifiers: Sequence[Notifier],
    url: str,
) -> Outbox:
    redactor = app.supervisor.saving.redactor.text
    pending = ServerNotices(app.supervisor.records, url, redactor)
    return Outbox(pending, clock, notifiers, channels.quiet(settings.notify), tz)


def _sender_for_plans(
    app: App,
    project: Project,
    settings: config.Config,
    clock: Clock,
    tz: tzinfo,
    notifiers: Sequence[Notifier],
) -> NoticeSender | None:
    """Sends what plans of the same project have left whose owners have ended."""
    if not notifiers:
        return None
    pending, turn = WorkNotices(app.supervisor.records.store), lock.Turn(notices_lock(project))
    return NoticeSender(
        Outbox(pending, clock, notifiers, channels.quiet(settings.notify), tz, turn=turn)
    )


def _token(folder: Path, environ: Mapping[str, str]) -> tuple[str, bool]:
    """`SEGUE_TOKEN`, else the one made at the first start; and whether that is now."""
    path = folder / TOKEN_FILE
    if given := environ.get("SEGUE_TOKEN"):
        check_length(given, "SEGUE_TOKEN")
        return given, False
    if path.exists():
        if path.stat().st_mode & 0o077:
            raise UserError(
                "token_exposed",
                _("other users can read the token, so it protects nothing"),
                file=str(path),
                hint=_("make it private: chmod 600 {path}").format(path=path),
            )
        return _kept(path), False
    token = secrets.token_urlsafe(32)
    files.replace(path, f"{token}\n".encode(), mode=0o600)
    return token, True


def _kept(path: Path) -> str:
    """The token of an earlier start; the user may have emptied or edited its file."""
    token = path.read_text(encoding="ascii", errors="replace").strip()
    if not token or not token.isascii():
        raise UserError(
            "token_unusable",
            _("the token file is empty or damaged"),
            file=str(path),
            hint=_("delete it; Segue creates a new one at the next start: rm {path}").format(
                path=path
            ),
        )
    check_length(token, str(path))
    return token
