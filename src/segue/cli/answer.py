"""`segue answer ID TEXT`: a person's answer to a question of any kind of work."""

from __future__ import annotations

import click

from segue.cli import act_words, output
from segue.engine.acts import Verb
from segue.i18n import _
from segue.work import add_act


@click.command(
    "answer",
    help=_(
        "Answer a question with one of its options or in your own words. Segue refuses "
        "an answer that is close to an option and shows which one you may mean. Find "
        "the ID with segue inbox."
    ),
    epilog=output.example("segue answer q_07c1a2 SQLite"),
)
@click.argument("id", metavar="ID")
@click.argument("text", metavar="TEXT")
@click.option(
    "--own-words", is_flag=True, help=_("send the text unchanged, even if it is close to an option")
)
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, id: str, text: str, own_words: bool, as_json: bool) -> int:
    person = act_words.here(ctx)
    done = add_act.settle(person, id, Verb.ANSWER, text, own_words=own_words or None)
    said = _("{id}: answered with “{answer}”").format(id=id, answer=done.answer)
    return act_words.report(done, said, as_json=as_json)
