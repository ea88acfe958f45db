"""`segue watch`: keep agents alive that a person started in tmux or WezTerm panes."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import IO

import click

from segue.cli import detach, output
from segue.cli.watch_screens import Screen, choose_screen
from segue.dialects.limits.brands import NAMES
from segue.dialects.records import Record
from segue.drivers import agent_records
from segue.drivers.inotify import FolderWatch
from segue.drivers.panes import Panes
from segue.drivers.tmux.host import TmuxPanes
from segue.drivers.wezterm.host import WeztermPanes
from segue.engine import gates, outage, signals
from segue.engine.accounts import Accounts
from segue.engine.clock import SystemClock
from segue.engine.executors import Due
from segue.engine.executors.pane import PaneExecutor, ScreenRules
from segue.engine.notices import WorkNotices
from segue.engine.outbox import NoticeSender, Outbox, SaidFaults
from segue.errors import UserError
from segue.i18n import _
from segue.store import works
from segue.store.changes import stamp
from segue.store.lock import Lock
from segue.store.rows import PANES
from segue.store.sqlite import Store
from segue.work import background, trust
from segue.work.panes.messages import PaneMessages
from segue.work.panes.options import CommandOptions
from segue.work.panes.pane_acts import PaneActs
from segue.work.panes.pane_notices import People
from segue.work.panes.pane_records import PaneRecords
from segue.work.panes.pane_reminders import pane_reminders
from segue.work.panes.watcher import Watcher
from segue.work.project import Project
from segue.work.project_memory import memory_of
from segue.work.settings import channels, config
from segue.work.settings.leash import leash

LOG_BYTES_MAX = 4 * 1024 * 1024


@click.command(
    "watch",
    help=_(
        "Watch agents that you started in tmux or WezTerm panes: when one hits a "
        "limit, wait for the reset, then tell it once to continue. PANE is %3 for tmux "
        "or wezterm:7. Without PANE, Segue watches every pane that runs an agent."
    ),
    epilog=output.example("segue watch --dry-run\nsegue watch %3 --agent claude"),
)
@click.argument("panes", metavar="[PANE]...", nargs=-1)
@click.option("--agent", metavar="NAME", help=_("agent of these screens: claude, codex, …"))
@click.option(
    "--account",
    "accounts",
    metavar="PANE=NAME",
    multiple=True,
    help=_("account of a pane (default: the name of its agent)"),
)
@click.option(
    "--tmux-socket", type=click.Path(path_type=Path), help=_("socket of another tmux server")
)
@click.option("--dry-run", is_flag=True, help=_("show what Segue would do, but send nothing"))
@detach.option()
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    panes: tuple[str, ...],
    agent: str | None,
    accounts: tuple[str, ...],
    tmux_socket: Path | None,
    dry_run: bool,
    is_detached: bool,
    as_json: bool,
) -> int:
    environ: dict[str, str] = ctx.obj["environ"]
    project = Project.containing(Path.cwd())
    if is_detached:
        if dry_run:
            raise UserError("usage", _("--dry-run and --detach cannot be used together"))
        held = project.locks / f"{PANES}.lock"
        return detach.run(project, project.memory, held, environ, as_json=as_json)
    settings = config.load(_trusted(project, environ), config.user_file(environ))
    tz = datetime.now().astimezone().tzinfo
    assert tz is not None
    recovery = settings.recovery
    clock = SystemClock()
    options = CommandOptions(
        panes=frozenset(map(_pane, panes)),
        agent=_agent(agent),
        accounts=dict(map(_account, accounts)),
        is_dry=dry_run,
        resume_text=recovery.resume_words,
        recheck_s=recovery.recheck_after,
        max_sends=recovery.sends_max,
        probable_after_s=recovery.probable_after,
        waits=recovery.waits,
        leash=leash(settings.leash, clock, tz),
        tz=tz,
        extra=settings.limit_patterns,
    )
    hosts = _hosts(options, tmux_socket, environ)
    project.prepare()
    with _log_file(project.logs) as log_file:
        screen = choose_screen(as_json=as_json)

        def log(line: str) -> None:
            with suppress(OSError):  # the disk is full: it is shown all the same
                log_file.write(f"{line}\n".encode())
            screen.log(line)

        messages = PaneMessages(clock, tz, log, screen.emit, is_dry=dry_run)
        notify = config.load(None, config.user_file(environ)).notify
        notifiers, missing = channels.read_notifiers(notify, environ, clock, project.keys)
        for text in (*recovery.clamped, *map(channels.left_out, missing)):
            messages.line(text)
        store = Store.open(project.database)
        lock = Lock(project.locks / f"{PANES}.lock")
        if not dry_run:  # several may watch, each its own panes
            since = stamp(clock.now())
            lock.take(since=since, command=shlex.join(["segue", *sys.argv[1:]]), is_shared=True)
            works.enrol(store, PANES, project.memory, clock.now())
            background.remember(store, PANES, background.command_here(environ), clock.now())
        try:
            pending = WorkNotices(store, of_panes=True)
            outbox = Outbox(
                pending,
                clock,
                notifiers,
                channels.quiet(notify),
                tz,
                faults=SaidFaults(messages.line),
            )
            sends_notices = bool(notifiers) and not dry_run
            return asyncio.run(
                _watch(
                    hosts,
                    store,
                    settings,
                    options,
                    messages,
                    screen,
                    outbox if sends_notices else None,
                    project,
                    lock,
                )
            )
        finally:
            store.close()
            lock.release()


async def _watch(  # these are the parts that one watcher is made of
    hosts: Mapping[str, Panes],
    store: Store,
    settings: config.Config,
    options: CommandOptions,
    messages: PaneMessages,
    screen: Screen,
    outbox: Outbox | None,
    project: Project,
    lock: Lock,
) -> int:
    clock = SystemClock()
    sender = NoticeSender(outbox) if outbox else None

    def account_of(agent: str) -> str:
        named = settings.agents.get(agent)
        return named.charged_to if named else agent or "unknown"

    def record_of(pid: int, now: datetime) -> Record | None:
        return agent_records.record_of(pid, now=now, tz=options.tz)

    rules = ScreenRules(options.tz, options.extra, record_of)
    executor = PaneExecutor(hosts, clock, rules, named=options.panes, agent=options.agent)
    watcher = Watcher(
        executor,
        PaneRecords(store, clock, People(sender.wake) if sender else None),
        Accounts(store, clock),
        messages,
        options,
        clock,
        account_of=account_of,
    )
    watcher.can_write = lambda: outage.can_write(store, store.path.parent, clock.now())
    code = 0

    def end(how: int) -> None:
        nonlocal code
        code = how
        watcher.stop()

    def stand_still() -> None:
        screen.pause()
        os.kill(os.getpid(), signal.SIGSTOP)

    actions: dict[signal.Signals, Callable[[], object]] = {
        signal.SIGINT: partial(end, 130),
        signal.SIGTERM: partial(end, 0),
        signal.SIGHUP: partial(end, 130),
        signal.SIGTSTP: stand_still,
        signal.SIGCONT: screen.go_on,
    }
    with signals.handled(actions):
        screen.show(watcher, end)
        bells = FolderWatch()
        if not options.is_dry:
            if sender is not None:
                steps = gates.steps(settings.reviews)
                reminders = pane_reminders(store, clock, steps, sender.wake)
                watcher.remind = lambda: reminders.look(clock.now())
            pane_acts = PaneActs(store, watcher, clock)
            watcher.take_acts = pane_acts.take_in
            bells.watch(project.bell, lambda name: watcher.acts_added())
            again = partial(executor.notify, Due())
            shown = str(project.memory)
            watcher.keep_memory = memory_of(project, store, lock, shown, look_again=again).keep
        try:
            await watcher.run()
        finally:
            bells.close()
            if sender:
                await sender.close()
            screen.close()
    return code


def _log_file(folder: Path) -> IO[bytes]:
    """Lines are added at once, so that none is left to fail at the end; one file of what was
    before is kept."""
    path = folder / "watch.log"
    if path.exists() and path.stat().st_size > LOG_BYTES_MAX:
        path.replace(folder / "watch.old.log")
    return path.open("ab", buffering=0)


# What was asked for


def _trusted(project: Project, environ: dict[str, str]) -> Path | None:
    """The folder whose settings count besides the user's own: none that a person has not seen."""
    try:
        trust.check(project.root, [project.root / trust.SETTINGS], environ, project.database)
    except trust.Untrusted:
        return None
    return project.root


def _pane(text: str) -> str:
    if text.startswith("%") and text[1:].isdigit():
        return text
    if text.startswith("wezterm:") and text[8:].isdigit():
        return text
    raise UserError(
        "bad_pane",
        _("`{text}` is not a pane").format(text=text),
        hint=_("write %3 for a pane of tmux (tmux list-panes -a), wezterm:7 for one of WezTerm"),
    )


def _agent(name: str | None) -> str | None:
    if name is None or name in NAMES:
        return name
    close = get_close_matches(name, NAMES, 1)
    hint = _("known: {names}").format(names=", ".join(NAMES))
    if close:
        hint = _("did you mean `{name}`?").format(name=close[0])
    message = _("no agent is named `{name}`").format(name=name)
    raise UserError("unknown_agent", message, hint=hint)


def _account(text: str) -> tuple[str, str]:
    pane, equals, name = text.partition("=")
    if not equals or not name.strip():
        raise UserError(
            "usage",
            _("`{text}` does not assign an account to a pane").format(text=text),
            hint=_("write --account %3=NAME"),
        )
    return _pane(pane), name.strip()


def _hosts(
    options: CommandOptions, tmux_socket: Path | None, environ: dict[str, str]
) -> dict[str, Panes]:
    """Those whose panes are wanted, and which are installed."""
    wanted = {"wezterm" if pane.startswith("wezterm:") else "tmux" for pane in options.panes}
    path = environ.get("PATH")
    hosts: dict[str, Panes] = {}
    if "tmux" in wanted or (not wanted and (tmux_socket or shutil.which("tmux", path=path))):
        hosts["tmux"] = TmuxPanes(tmux_socket, environ=environ)
    if "wezterm" in wanted or (not wanted and shutil.which("wezterm", path=path)):
        hosts["wezterm"] = WeztermPanes(environ=environ)
    if not hosts:
        raise UserError(
            "no_terminal",
            _("neither tmux nor WezTerm is installed: there are no panes to watch"),
            hint=_("install tmux, and start your agents in it"),
        )
    return hosts
