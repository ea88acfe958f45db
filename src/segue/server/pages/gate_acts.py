"""What people say to what waits for them: approve, send back, answer, provide, refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from segue.i18n import N_
from segue.server import bodies
from segue.server.commands import Commands, Json
from segue.server.pages import views
from segue.server.pages.forms import Form, checked, sent
from segue.server.pages.site import Site, go
from segue.work.phases.refused import Refused

Act = Callable[[str, Form], object]
KEPT = ("option", "own", "feedback", "reason")  # typed again into the form; never a value


def router(site: Site) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    commands = site.commands

    def add(path: str, said: str, act: Act) -> None:
        @routes.post(path, name=f"page_{said}")
        async def do(id: str, request: Request) -> Response:
            form = await sent(request)
            try:
                act(id, form)
            except Refused as refused:
                return _again(site, request, id, form, refused)
            return go(_place(form), said)

    add("/reviews/{id}/approve", "approved", lambda id, form: _approve(commands, id, form))
    add(
        "/reviews/{id}/request-changes",
        "sent_back",
        lambda id, form: _send_back(commands, id, form),
    )
    add("/questions/{id}/answer", "answered", lambda id, form: _answer(commands, id, form))
    add("/dependencies/{id}/provide", "provided", lambda id, form: _provide(commands, id, form))
    add("/dependencies/{id}/reject", "refused", lambda id, form: _reject(commands, id, form))
    return routes


def _approve(commands: Commands, id: str, form: Form) -> None:
    comment = form.one("comment").strip() or None
    commands.approve(id, checked(bodies.Approve, comment=comment).comment)


def _send_back(commands: Commands, id: str, form: Form) -> None:
    """Remarks without a text were left empty; a line that is no number is refused."""
    feedback = form.one("feedback").strip()
    if not feedback:
        raise Refused(422, "no_feedback", "", {"field": "feedback"})
    given = zip(form.many("file"), form.many("line"), form.many("text"), strict=False)
    comments = [
        {"file": file, "line": _line(line), "text": text.strip()}
        for file, line, text in given
        if text.strip()
    ]
    asked = checked(bodies.RequestChanges, feedback=feedback, comments=comments)
    commands.request_changes(id, asked.feedback, [each.model_dump() for each in asked.comments])


def _line(text: str) -> int | None:
    if not text.strip():
        return None
    try:
        return int(text)
    except ValueError as error:
        raise Refused(
            422, "invalid", N_("The line must be a number."), {"field": "line"}
        ) from error


def _answer(commands: Commands, id: str, form: Form) -> None:
    """What was written, or the option that was chosen: by its number, because what is shown of it
    may lack what was hidden in it."""
    chosen = form.one("suggested") or (not form.one("own").strip() and form.one("option"))
    answer = _option(commands, id, str(chosen)) if chosen else form.one("own").strip()
    if not answer:
        raise Refused(422, "bad_answer", "", {"field": "answer"})
    is_own = not chosen and bool(form.one("as_own"))
    given = checked(bodies.Answer, answer=answer)
    try:
        commands.answer(id, given.answer, own_words=is_own)
    except Refused as refused:
        if chosen or refused.code != "bad_answer" or refused.facts.get("suggestion"):
            raise
        commands.answer(id, given.answer, own_words=True)


def _option(commands: Commands, id: str, number: str) -> str:
    options: list[str] = commands.question(id)["options"]
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    return str(options[int(number) - 1]) if is_number and 1 <= int(number) <= len(options) else ""


def _provide(commands: Commands, id: str, form: Form) -> None:
    value = form.one("value")
    if not value:
        raise Refused(422, "bad_value", "", {"field": "value"})
    commands.provide(id, checked(bodies.Provide, value=value).value)


def _reject(commands: Commands, id: str, form: Form) -> None:
    reason = form.one("reason").strip()
    commands.reject(id, checked(bodies.Reject, reason=reason).reason)


def _place(form: Form) -> str:
    """Back to where it was done: a task's page, else the inbox."""
    task = form.one("task")
    return f"/tasks/{task}" if form.one("from") == "task" and task else "/inbox"


def _again(site: Site, request: Request, id: str, form: Form, refused: Refused) -> Response:
    """The same page with what was typed, and what is wrong with it beside it."""
    typed: dict[str, Any] = {name: form.one(name) for name in KEPT}
    typed["gate"] = id
    place = _place(form)
    is_inbox = place == "/inbox"

    def view() -> Json:
        return (
            views.inbox(site.commands) if is_inbox else views.task(site.commands, form.one("task"))
        )

    return site.show(
        request,
        "inbox.html" if is_inbox else "task.html",
        lambda: {**view(), "typed": typed},
        place=place,
        status=refused.status,
        refused=refused,
    )
