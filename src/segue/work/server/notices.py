"""Telling people outside what the server needs of them, once by each way.

A notice is a row, written in the transaction of what it tells. The pump takes those that are due,
sends them, and marks each way that worked before it does anything else: a death in between can
only repeat the one that was under way, and its id is the same then. What fails is tried again
after growing waits, a bounded number of times.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import shlex
import shutil
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from segue.core.serving import Asking
from segue.drivers.notify import Command, Desktop, Notice, Ntfy, Undelivered, Way, Webhook
from segue.engine.clock import Clock
from segue.errors import Problem, UserError
from segue.i18n import _
from segue.store import files
from segue.store.changes import Put, instant, stamp
from segue.work.server.records import Records
from segue.work.server.rows import GateRow
from segue.work.settings_file import Place

T = TypeVar("T")
KINDS = ("desktop", "webhook", "ntfy", "command")
NOTIFY = "[reviews] notify"
SECRET_VARIABLE, SECRET_FILE = "SEGUE_WEBHOOK_SECRET", "webhook-secret"
TRIES_MAX = 8
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=10), timedelta(hours=1)
TOGETHER = 20  # notices that go out at the same time
LOOK_EVERY_S = 30.0  # at the latest: a row may have come without a word
TROUBLE_S = 5.0

logger = logging.getLogger("segue.notices")

DUE = "SELECT * FROM server_notices WHERE next_at IS NOT NULL AND next_at <= ?"
NEXT = "SELECT min(next_at) FROM server_notices WHERE next_at IS NOT NULL"


def read_ways(
    wanted: Sequence[str],
    environ: Mapping[str, str],
    clock: Clock,
    folder: Path,
    secret: str | None = None,
    places: Mapping[str, Place] | None = None,
) -> list[Way]:
    """The ways of `[reviews] notify`, with its `webhook_secret`; all that is wrong with them in
    one error, with the `places` of these settings."""
    ways: dict[str, Way] = {}
    problems: list[Problem] = []
    for text in wanted:
        try:
            way = _way(text, environ, clock, folder, secret)
            ways[way.name] = way
        except UserError as error:
            problems += [_placed(problem, places or {}) for problem in error.problems]
    if problems:
        raise UserError.of(problems)
    return list(ways.values())


def _way(
    text: str, environ: Mapping[str, str], clock: Clock, folder: Path, secret: str | None
) -> Way:
    kind, _colon, rest = text.strip().partition(":")
    name = f"{kind}:{sha256(rest.encode()).hexdigest()[:12]}" if rest else kind
    match kind, rest:
        case "desktop", "":
            _check_program("notify-send", "apt install libnotify-bin", text, environ)
            return Desktop(name, environ)
        case "webhook", _ if rest:
            url = _checked_url(rest, text)
            signed_with = webhook_secret(folder, environ, secret)
            return Webhook(name, url, signed_with, lambda: clock.now().timestamp())
        case "ntfy", _ if rest:
            return Ntfy(name, _checked_url(rest, text))
        case "command", _ if rest:
            argv = _argv(rest, text)
            _check_program(argv[0], None, text, environ)
            return Command(name, argv, environ)
        case _:
            raise _unknown(kind, text)


def _placed(problem: Problem, places: Mapping[str, Place]) -> Problem:
    key = "notify" if problem.message.startswith(NOTIFY) else "webhook_secret"
    file, line = places.get(key, (problem.file, problem.line))
    return replace(problem, file=file, line=line)


def webhook_secret(folder: Path, environ: Mapping[str, str], setting: str | None = None) -> str:
    """What webhooks are signed with: given by the environment or the settings, or made once and
    kept."""
    if given := environ.get(SECRET_VARIABLE):
        return given
    if setting is not None:
        return _resolved(setting, environ)
    path = folder / SECRET_FILE
    with suppress(FileNotFoundError):
        if kept := path.read_text(encoding="ascii").strip():
            return kept
    made = secrets.token_urlsafe(32)
    files.replace(path, f"{made}\n".encode(), mode=0o600)
    return made


def _resolved(setting: str, environ: Mapping[str, str]) -> str:
    """A value, or the variable that it names."""
    named = re.fullmatch(r"\$(\w+)|\$\{(\w+)\}", setting)
    if named is None:
        return setting
    wanted = named[1] or named[2]
    if not (found := environ.get(wanted)):
        raise UserError(
            "bad_value",
            _("`webhook_secret` is taken from ${wanted}, which is not set").format(wanted=wanted),
            file="segue.toml",
            hint=_("export {wanted}=… before you start Segue").format(wanted=wanted),
        )
    return found


async def pump(
    records: Records,
    clock: Clock,
    ways: Sequence[Way],
    *,
    url: str,
    wake: asyncio.Event | None = None,
    veil: Callable[[str, str], str] = lambda task, text: text,
) -> None:
    """Send what is due, sleep until the next is; for ever. `wake` is set after each commit. `veil`
    takes a task's secrets out of a text."""
    outbox = Outbox(records, clock, ways, url, veil)
    wake = wake or asyncio.Event()
    while True:
        wake.clear()
        try:
            wait_s = 0.0 if await outbox.send_due() else outbox.wait_s()
        except UserError as error:  # a full disk, a locked database: it may pass
            logger.error("notices wait: %s", error)
            wait_s = TROUBLE_S
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await wake.wait()


@dataclass(frozen=True, slots=True)
class Outbox:
    """`unmarked`: what went out while the disk was full; it does not go out again for that."""

    records: Records
    clock: Clock
    ways: Sequence[Way]
    url: str
    veil: Callable[[str, str], str] = lambda task, text: text
    unmarked: set[tuple[int, str]] = field(default_factory=set)

    async def send_due(self) -> bool:
        """Some of what is due, side by side; whether there was any."""
        rows = self.records.store.all(
            f"{DUE} ORDER BY next_at, id LIMIT {TOGETHER}", stamp(self.clock.now())
        )
        await _together(self._send(dict(row)) for row in rows)
        return bool(rows)

    def wait_s(self) -> float:
        row = self.records.store.one(NEXT)
        if row is None or row[0] is None:
            return LOOK_EVERY_S
        left_s = (instant(row[0]) - self.clock.now()).total_seconds()
        return min(max(left_s, 0.0), LOOK_EVERY_S)

    async def _send(self, row: dict[str, Any]) -> None:
        notice = self._notice(row)
        if notice is None:
            self._keep(row, next_at=None)
            return
        sent = json.loads(row["sent"])
        left = [way for way in self.ways if way.name not in sent]
        done = await _together(self._by(way, notice, row) for way in left)
        if all(done):
            self._keep(row, next_at=None)
            return
        tries = row["tries"] + 1
        if tries >= TRIES_MAX:
            logger.error("task %s: notice %s is given up", notice.task, notice.id)
            self._keep(row, tries=tries, next_at=None)
            return
        wait = min(FIRST_WAIT * 3 ** (tries - 1), LONGEST_WAIT)
        self._keep(row, tries=tries, next_at=stamp(self.clock.now() + wait))

    async def _by(self, way: Way, notice: Notice, row: dict[str, Any]) -> bool:
        mark = row["id"], way.name
        try:
            if mark not in self.unmarked:
                await way.send(notice)
        except Undelivered as error:
            logger.warning("task %s: notice %s by %s: %s", notice.task, notice.id, way.name, error)
            return False
        self.unmarked.add(mark)
        self._keep(row, sent=json.dumps([*json.loads(row["sent"]), way.name]))
        self.unmarked.discard(mark)
        return True

    def _keep(self, row: dict[str, Any], **changes: str | int | None) -> None:
        """Nobody else writes these rows: what is known here is what is there."""
        row.update(changes)
        self.records.store.move(Put("server_notices", row), at=self.clock.now())

    def _notice(self, row: Mapping[str, Any]) -> Notice | None:
        """None: nobody needs to know any more."""
        task = self.records.task(row["task"])
        gate = self.records.gate(row["gate"]) if row["gate"] else None
        if task is None or (row["tries"] and gate and gate.state is not Asking.PENDING):
            return None
        return Notice(
            id=f"{task.id}-{row['id']}",
            kind=row["kind"],
            task=task.id,
            title=self.veil(task.id, task.title),
            gate=row["gate"],
            headline=self.veil(task.id, headline(row["kind"], task.title, gate)),
            text=self.veil(task.id, row["text"]),
            link=f"{self.url}/tasks/{task.id}" + (f"#{gate.kind}" if gate else ""),
            at=row["created_at"],
        )


async def _together(actions: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All of them to their end, also when one fails; then its error."""
    found = await asyncio.gather(*actions, return_exceptions=True)
    for result in found:
        if isinstance(result, BaseException):
            raise result
    return [result for result in found if not isinstance(result, BaseException)]


def headline(kind: str, title: str, gate: GateRow | None) -> str:
    """What is needed, in a few words."""
    needed = {
        "review": _("Review needed: {title}"),
        "question": _("Answer needed: {title}"),
        "dependency": _("{name} needed: {title}"),
    }
    told = {
        "completed": _("Completed: {title}"),
        "failed": _("Failed: {title}"),
        "trouble": _("Trouble: {title}"),
        "limit": _("Parked at a limit: {title}"),
        "remind": _("Reminder: {needed}"),
        "urgent": _("Urgent: {needed}"),
        "escalate": _("Waits for too long: {needed}"),
    }
    name = gate.name if gate else ""
    own = needed.get(gate.kind if gate else kind, "{title}").format(title=title, name=name)
    return told.get(kind, "{needed}").format(title=title, needed=own)


def _checked_url(url: str, text: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not url.isascii() or not url.isprintable() or " " in url:
        hint = _("write the whole address: https://example.org/path")
        raise _bad(text, _("this is not an address that can be posted to"), hint)
    return url


def _argv(command: str, text: str) -> tuple[str, ...]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise _bad(text, str(error), _("close the quotes")) from error
    if not argv:
        raise _bad(text, _("a command is missing"), '"command:mail -s Segue me@example.org"')
    return tuple(argv)


def _check_program(
    program: str, install: str | None, text: str, environ: Mapping[str, str]
) -> None:
    if shutil.which(program, path=environ.get("PATH")) is None:
        message = _("{program} is not installed").format(program=program)
        hint = _("install it: {command}").format(command=install) if install else ""
        raise _bad(text, message, hint or _("give a program that is there, or its whole path"))


def _unknown(kind: str, text: str) -> UserError:
    close = get_close_matches(kind, KINDS, 1)
    if kind in KINDS:
        examples = {
            "desktop": '"desktop"',
            "webhook": '"webhook:https://example.org/hook"',
            "ntfy": '"ntfy:https://ntfy.example.org/topic"',
            "command": '"command:mail -s Segue me@example.org"',
        }
        return _bad(text, _("this cannot be used"), _("write {text}").format(text=examples[kind]))
    if close:
        hint = _("did you mean `{name}`?").format(name=close[0])
    else:
        hint = _("known: {names}").format(names=", ".join(KINDS))
    return _bad(text, _("there is no way `{name}` to tell people").format(name=kind), hint)


def _bad(text: str, message: str, hint: str) -> UserError:
    """Only the kind is repeated: what follows it may be a secret."""
    kind = text.strip().partition(":")[0]
    shown = f"{NOTIFY}: `{kind}`: {message}"
    return UserError("bad_value", shown, file="segue.toml", hint=hint)
