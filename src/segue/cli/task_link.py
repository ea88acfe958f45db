"""What all of `segue task` share: which server, which task or gate, and its refusals in words."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import click

from segue.cli import output, person
from segue.client import Client, ClientError, Json
from segue.dialects.lines import plain_text
from segue.errors import UserError
from segue.i18n import _

TASK_ID = re.compile(r"task_[0-9a-f]{12}")
GATE_ID = re.compile(r"(rev|q|dep)_[0-9a-f]{12}")
SHOWN_MAX = 5

C = TypeVar("C", bound=Callable[..., Any])


def linked(act: C) -> Callable[..., int]:
    """A person's command that gets a client of the server it is for; with the options to say
    which."""

    @click.option(
        "--url", metavar="URL", help=_("address of the server (default: the server of this folder)")
    )
    @click.option("--token", metavar="TOKEN", help=_("token of the server; prefer SEGUE_TOKEN"))
    @output.json_option()
    @output.common_options()
    @click.pass_context
    @functools.wraps(act)
    def command(ctx: click.Context, /, url: str | None, token: str | None, **given: Any) -> int:
        person.check(ctx.obj["environ"])
        with refusals_in_words():
            code: int = act(connect(url, token, ctx.obj["environ"]), **given)
        return code

    return command


def connect(url: str | None, token: str | None, environ: Mapping[str, str]) -> Client:
    """The server that was named, by option or environment; else the one of this folder."""
    url = url or environ.get("SEGUE_URL")
    token = token or environ.get("SEGUE_TOKEN")
    if not url:
        return Client.local(Path.cwd(), environ={"SEGUE_TOKEN": token or ""})
    if not token:
        raise UserError(
            "usage",
            _("the token of the server is missing"),
            hint=_("pass it in SEGUE_TOKEN or with --token"),
        )
    try:
        return Client(url, token)
    except ValueError as error:
        hint = _("write the full address: http://127.0.0.1:8765")
        text = _("`{text}` is not the address of a server").format(text=url)
        raise UserError("usage", text, hint=hint) from error


@contextmanager
def refusals_in_words() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        raise in_words(error) from error


def in_words(error: ClientError) -> UserError:
    """What the server said, with the cure if it named one."""
    problem = error.problem
    hints = [str(problem["hint"])] if problem.get("hint") else []
    suggestion = problem.get("suggestion")
    if suggestion and str(suggestion) not in str(error):
        hints.append(_("did you mean `{name}`?").format(name=suggestion))
    if error.status == 401:
        hints.append(_("wrong token: set SEGUE_TOKEN, or pass --token"))
    for each in problem.get("errors") or []:
        hints.append(f"{each.get('pointer', '').removeprefix('#/')}: {each.get('detail', '')}")
    if error.status == 409 and problem.get("allowedActions"):
        allowed = ", ".join(map(str, problem["allowedActions"]))
        hints.append(_("possible now: {actions}").format(actions=allowed))
    return UserError(error.code, line(str(error)), hint=plain_text("\n".join(hints)) or None)


def line(text: object) -> str:
    """Untrusted text, made harmless and put on one line."""
    return " ".join(plain_text(str(text)).split())


def find_task(client: Client, given: str) -> str:
    """The id of a task; it may be given by its beginning, with or without `task_`."""
    if TASK_ID.fullmatch(given):
        return given
    every = chain(client.tasks(), client.tasks(archived=True))
    found = [task for task in every if _begins(task["id"], given)]
    return _only(found, given, lambda task: f"{task['id']}  {line(task['title'])}")


def find_checkpoint(client: Client, task: str, given: str) -> str:
    found = [each for each in client.checkpoints(task) if _begins(each["id"], given)]
    return _only(found, given, lambda each: f"{each['id']}  {each['kind']}  {each['createdAt']}")


def find_gate(client: Client, given: str, kind: str) -> str:
    """The id of what waits: by its own id, by that of its task, or by the name that is asked for;
    the first two by their beginnings."""
    if GATE_ID.fullmatch(given):
        return given
    waiting = list(client.inbox(kind=kind))
    found = [
        gate
        for gate in waiting
        if given == gate.get("name")
        or _begins(gate["id"], given)
        or _begins(gate["taskId"] or "", given)
    ]
    if not found and waiting:
        hint = _("waiting: {names}").format(names=_some(waiting, gate_line))
        raise UserError("unknown_gate", _nothing(given, kind), hint=hint)
    if not found:
        raise UserError("unknown_gate", _nothing(given, kind), hint=_("see: segue task list"))
    return _only(found, given, gate_line)


def _nothing(given: str, kind: str) -> str:
    texts = {
        "review": _("{id} has no open review"),
        "question": _("{id} has no open question"),
        "dependency": _("{id} has no open dependency request"),
    }
    return texts[kind].format(id=given)


def gate_line(gate: Json) -> str:
    """What waits for a person, on one line."""
    match gate["kind"]:
        case "question":
            said = gate["question"]
        case "dependency":
            said = f"{gate['type']} {gate['name']}: {gate['description']}"
        case "stuck":
            said = f"{gate['taskTitle']}: {gate['text']}"
        case _:
            said = f"{gate.get('taskTitle', '')}: {gate['phaseName'] or gate['phase']}"
    return f"{gate['id']}  {line(said)}"


def _begins(id: str, given: str) -> bool:
    return bool(given) and (id.startswith(given) or id.partition("_")[2].startswith(given))


def _only(found: Sequence[Json], given: str, shown: Callable[[Json], str]) -> str:
    if not found:
        text = _("nothing has the id {id}").format(id=given)
        raise UserError("unknown_id", text, hint=_("see: segue task list"))
    exact = [each for each in found if each["id"] == given]
    if len(exact or found) > 1:
        text = _("{id} matches several ids").format(id=given)
        raise UserError("ambiguous_id", text, hint=_some(found, shown))
    return str((exact or found)[0]["id"])


def _some(found: Sequence[Json], shown: Callable[[Json], str]) -> str:
    lines = [shown(each) for each in found[:SHOWN_MAX]]
    left = len(found) - SHOWN_MAX
    return "\n".join([*lines, _("… and {n} more").format(n=left)] if left > 0 else lines)


def text_of(given: str | None, what: str) -> str:
    """What was given on the command line; `-` reads standard input."""
    if given == "-":
        return sys.stdin.read().strip()
    if not given:
        raise UserError("usage", _("{what} is missing").format(what=what))
    return given
