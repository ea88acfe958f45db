"""The notifiers of `[notify] channels`: how people outside are reached, as the settings say."""

from __future__ import annotations

import re
import secrets
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from segue.core.leash import Quiet, parse_quiet
from segue.drivers.notify import Bell, Command, Desktop, Notifier, Ntfy, Webhook
from segue.engine.clock import Clock
from segue.errors import Problem, UserError
from segue.i18n import _
from segue.store import files
from segue.work.settings.config import NotifySettings

KINDS = ("desktop", "bell", "webhook", "ntfy", "command")
SECRET_VARIABLE, SECRET_FILE = "SEGUE_WEBHOOK_SECRET", "webhook-secret"
MISSING = "not_installed"


def read_notifiers(
    settings: NotifySettings, environ: Mapping[str, str], clock: Clock, folder: Path
) -> tuple[list[Notifier], list[Problem]]:
    """The notifiers that work, and problems of those whose program is missing. Any other fault in
    the settings is raised as one error. `folder`: where the secret of webhooks is kept."""
    notifiers: dict[str, Notifier] = {}
    problems: list[Problem] = []
    for text in settings.channels:
        try:
            notifier = _way(text, environ, clock, folder, settings.webhook_secret)
            notifiers[notifier.name] = notifier
        except UserError as error:
            problems += [_placed(problem, settings) for problem in error.problems]
    if any(problem.code != MISSING for problem in problems):
        raise UserError.of(problems)
    return list(notifiers.values()), problems


def left_out(problem: Problem) -> str:
    """A way that is not used because its program is not there, as a line of the log."""
    text = _("[WARN] {where}: {message}; Segue does not use this channel ({hint})")
    return text.format(where=problem.where, message=problem.message, hint=problem.hint)


def quiet(settings: NotifySettings) -> Quiet | None:
    return parse_quiet(settings.quiet) if settings.quiet else None


def _way(
    text: str, environ: Mapping[str, str], clock: Clock, folder: Path, secret: str | None
) -> Notifier:
    kind, _colon, rest = text.strip().partition(":")
    name = f"{kind}:{sha256(rest.encode()).hexdigest()[:12]}" if rest else kind
    match kind, rest:
        case "desktop", "":
            _check_program("notify-send", "apt install libnotify-bin", text, environ)
            return Desktop(name, environ)
        case "bell", "":
            return Bell(name)
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


def _placed(problem: Problem, settings: NotifySettings) -> Problem:
    """With the setting that says so, and its file and line."""
    if problem.file is not None:  # it is about the secret
        file, line = settings.places.get("webhook_secret", (problem.file, problem.line))
        return replace(problem, file=file, line=line)
    file, line = settings.places.get("channels", ("segue.toml", None))
    message = f"{settings.named}: {problem.message}"
    return replace(problem, message=message, file=file, line=line)


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
    try:
        files.make_private_folder(folder)
        files.replace(path, f"{made}\n".encode(), mode=0o600)
    except OSError as error:
        raise files.in_words(error, path) from error
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
            _("`webhook_secret` reads ${wanted}, which is not set").format(wanted=wanted),
            file="segue.toml",
            hint=_("export {wanted}=… before you start Segue").format(wanted=wanted),
        )
    return found


def _checked_url(url: str, text: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not url.isascii() or not url.isprintable() or " " in url:
        hint = _("write the full address: https://example.org/path")
        raise _bad(text, _("this is not a valid URL for POST requests"), hint)
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
        hint = hint or _("use the name of an installed program, or its full path")
        raise _bad(text, message, hint, MISSING)


def _unknown(kind: str, text: str) -> UserError:
    close = get_close_matches(kind, KINDS, 1)
    if kind in KINDS:
        examples = {
            "desktop": '"desktop"',
            "bell": '"bell"',
            "webhook": '"webhook:https://example.org/hook"',
            "ntfy": '"ntfy:https://ntfy.example.org/topic"',
            "command": '"command:mail -s Segue me@example.org"',
        }
        return _bad(
            text, _("this value is not valid"), _("write {text}").format(text=examples[kind])
        )
    if close:
        hint = _("did you mean `{name}`?").format(name=close[0])
    else:
        hint = _("known: {names}").format(names=", ".join(KINDS))
    return _bad(text, _("no notification channel is named `{name}`").format(name=kind), hint)


def _bad(text: str, message: str, hint: str, code: str = "bad_value") -> UserError:
    """Only the kind is repeated: what follows it may be a secret."""
    kind = text.strip().partition(":")[0]
    return UserError(code, f"`{kind}`: {message}", hint=hint)
