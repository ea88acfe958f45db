"""`segue task approve, changes, answer, provide, reject`: what waits for a person gets it."""

from __future__ import annotations

import re
import sys

import click

from segue.cli import console, output, task_words
from segue.cli.task_link import find_gate, in_words, line, linked, text_of
from segue.client import Client, ClientError, Json
from segue.errors import UserError
from segue.i18n import _

# A line's number with nothing behind it is no text.
COMMENT = re.compile(
    r"(?P<file>[^:].*?):(?:(?P<line>\d+):)?\s*(?P<text>(?!\d+:\s*$)[^:\s].*)", re.DOTALL
)


def told(gate: Json, as_json: bool) -> int:
    """What became of it."""
    if as_json:
        output.print_json(gate)
    else:
        console.echo(f"✔ {gate['id']}  {task_words.status_name(gate['status'])}")
    return 0


@click.command(
    "approve",
    help=_("Approve a review: the next phase begins, or the task is completed."),
    epilog=output.example("segue task approve 3f9a"),
)
@click.argument("id", metavar="TASK|REVIEW")
@click.option("--comment", metavar="TEXT", help=_("stored with the review"))
@linked
def approve(client: Client, id: str, comment: str | None, as_json: bool) -> int:
    return told(client.approve(find_gate(client, id, "review"), comment), as_json)


@click.command(
    "changes",
    help=_("Request changes to the work under review. Use - as FEEDBACK to read standard input."),
    epilog=output.example(
        'segue task changes 3f9a "Name the risks" --comment "docs/plan.md:12: too vague"'
    ),
)
@click.argument("id", metavar="TASK|REVIEW")
@click.argument("feedback")
@click.option(
    "--comment", multiple=True, metavar="FILE:LINE:TEXT", help=_("comment on a line of a file")
)
@linked
def changes(client: Client, id: str, feedback: str, comment: tuple[str, ...], as_json: bool) -> int:
    comments = [_comment(each) for each in comment]
    said = text_of(feedback, "FEEDBACK")
    return told(client.request_changes(find_gate(client, id, "review"), said, comments), as_json)


def _comment(given: str) -> dict[str, object]:
    match = COMMENT.fullmatch(given)
    if match is None:
        text = _("`{text}` is not a comment").format(text=given)
        raise UserError("usage", text, hint=_('write "FILE:LINE:TEXT" or "FILE:TEXT"'))
    number = match["line"]
    place = {"line": int(number)} if number else {}
    return {"file": match["file"], **place, "text": match["text"].strip()}


@click.command(
    "answer",
    help=_(
        "Answer a question with one of its options or in your own words. Segue refuses "
        "an answer that is close to an option and shows which one you may mean."
    ),
    epilog=output.example("segue task answer 3f9a SQLite"),
)
@click.argument("id", metavar="TASK|QUESTION")
@click.argument("answer", required=False)
@click.option(
    "--own-words", is_flag=True, help=_("send the text unchanged, even if it is close to an option")
)
@linked
def answer(client: Client, id: str, answer: str | None, own_words: bool, as_json: bool) -> int:
    question = find_gate(client, id, "question")
    may_ask = sys.stdin.isatty() and not as_json
    if answer is None and may_ask:
        answer = _asked(client, question)
    said = text_of(answer, "ANSWER")
    try:
        return told(client.answer(question, said, own_words=own_words), as_json)
    except ClientError as error:
        meant = error.problem.get("suggestion")
        if error.code == "bad_answer" and not meant and not own_words:
            return told(client.answer(question, said, own_words=True), as_json)
        if not meant:
            raise
        if not may_ask:
            found = in_words(error).problem
            hints = [found.hint, _("add --own-words to send it as it is")]
            hint = "\n".join(filter(None, hints))
            raise UserError(found.code, found.message, hint=hint) from error
    console.echo(_("`{text}` is not one of the options.").format(text=line(said)))
    if console.confirm(_("Did you mean `{name}`?").format(name=line(meant))):
        return told(client.answer(question, str(meant)), as_json)
    if console.confirm(_("Send it unchanged, in your own words?")):
        return told(client.answer(question, said, own_words=True), as_json)
    return 2


def _asked(client: Client, question: str) -> str:
    """The question with its options, and what the person at the terminal types."""
    for gate in client.inbox(kind="question"):
        if gate["id"] == question:
            console.echo(line(gate["question"]))
            for option in gate["options"]:
                console.echo(f"  - {line(option)}")
            return console.prompt(_("Answer"), default=gate["default"])
    return console.prompt(_("Answer"))


@click.command(
    "provide",
    help=_(
        "Provide what an agent needs, for example an API key. Segue prompts for the "
        "value without echoing it, or reads it from standard input, stores it "
        "encrypted and never shows it again."
    ),
    epilog=output.example("segue task provide STRIPE_KEY < key.txt"),
)
@click.argument("id", metavar="TASK|DEPENDENCY|NAME")
@click.option(
    "--value", metavar="TEXT", help=_("do not use this for secrets: other users can see it")
)
@linked
def provide(client: Client, id: str, value: str | None, as_json: bool) -> int:
    dependency = find_gate(client, id, "dependency")
    if value is not None:
        warning = _(
            "warning: other users can see a value on the command line, and the "
            "shell history keeps it"
        )
        console.echo(warning, err=True)
    elif sys.stdin.isatty():
        value = console.prompt(_("Value"), hide_input=True, err=True)
    else:
        value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value:
        raise UserError("usage", _("the value is empty"))
    return told(client.provide(dependency, value), as_json)


@click.command(
    "reject",
    help=_("Refuse a dependency; the agent gets your reason and continues without it."),
    epilog=output.example('segue task reject STRIPE_KEY --reason "use the test mode"'),
)
@click.argument("id", metavar="TASK|DEPENDENCY|NAME")
@click.option("--reason", required=True, metavar="TEXT", help=_("why"))
@linked
def reject(client: Client, id: str, reason: str, as_json: bool) -> int:
    return told(client.reject(find_gate(client, id, "dependency"), reason), as_json)
