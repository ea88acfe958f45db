"""`segue approve ID`: a person's consent, in every kind of work."""

from __future__ import annotations

import click

from segue.cli import act_words, output
from segue.engine.acts import Verb
from segue.i18n import _
from segue.work import add_act


@click.command(
    "approve",
    help=_(
        "Approve a review, or answer yes to a question that asks for approval. Find "
        "the ID with segue inbox."
    ),
    epilog=output.example("segue approve rev_07c1a2"),
)
@click.argument("id", metavar="ID")
@click.option("--comment", metavar="TEXT", help=_("stored with the review"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, id: str, comment: str | None, as_json: bool) -> int:
    done = add_act.settle(act_words.here(ctx), id, Verb.APPROVE, comment=comment)
    said = _("{id}: approved").format(id=id)
    if done.answer and done.answer.casefold() not in add_act.YES:
        said += f" (“{done.answer}”)"  # the option that was taken for yes
    return act_words.report(done, said, as_json=as_json)
