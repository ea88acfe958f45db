"""`segue token …`: named tokens for programs that use the API of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from segue.cli import console, output, person
from segue.cli.task import Verbs
from segue.engine.terminal_user import at_terminal
from segue.i18n import _
from segue.store.actors import acting
from segue.store.sqlite import Store
from segue.store.tokens import READ, SCOPES, Tokens
from segue.work.project import Project

C = TypeVar("C", bound=Callable[..., Any])


def _options() -> Callable[[C], C]:
    data = click.option(
        "--data",
        type=click.Path(path_type=Path),
        help=_("folder of the server's records (default: .segue)"),
    )
    return lambda command: data(output.json_option()(output.common_options()(command)))


@contextmanager
def _tokens(ctx: click.Context, data: Path | None) -> Iterator[Tokens]:
    """Those of the server of this folder. An agent is refused."""
    person.check(ctx.obj["environ"])
    project = Project.with_data(Project.containing(Path.cwd()).root, data)
    project.prepare()
    store = Store.open(project.database)
    try:
        with acting(at_terminal()):
            yield Tokens(store)
    finally:
        store.close()


@click.command(
    "add",
    help=_(
        "Create a token and print it once. A token with the scope `read` cannot change anything."
    ),
    epilog=output.example("segue token add ci --scope read"),
)
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default=READ,
    show_default=True,
    help=_("what the token allows"),
)
@_options()
@click.pass_context
def add(ctx: click.Context, name: str, scope: str, data: Path | None, as_json: bool) -> int:
    with _tokens(ctx, data) as tokens:
        token = tokens.add(name, scope, datetime.now(UTC))
    if as_json:
        output.print_json({"name": name, "scope": scope, "token": token})
        return 0
    console.echo(token)
    text = _("The token of `{name}` ({scope}). Keep it: Segue does not show it again.")
    console.echo(text.format(name=name, scope=scope), err=True)
    return 0


@click.command(
    "list",
    help=_(
        "List the tokens by name, scope and age. Segue stores only their hashes and "
        "cannot show them again."
    ),
    epilog=output.example("segue token list"),
)
@_options()
@click.pass_context
def list_(ctx: click.Context, data: Path | None, as_json: bool) -> int:
    with _tokens(ctx, data) as tokens:
        found = tokens.all()
    if as_json:
        told = [{"name": t.name, "scope": t.scope, "created_at": t.created_at} for t in found]
        output.print_json({"tokens": told})
        return 0
    if not found:
        console.echo(_("No tokens other than the server's own."))
    for token in found:
        console.echo(f"{token.name}  {token.scope}  {token.created_at[:10]}")
    return 0


@click.command(
    "revoke",
    help=_("Revoke a token and log out the browsers that used it, immediately."),
    epilog=output.example("segue token revoke ci"),
)
@click.argument("name")
@_options()
@click.pass_context
def revoke(ctx: click.Context, name: str, data: Path | None, as_json: bool) -> int:
    with _tokens(ctx, data) as tokens:
        tokens.revoke(name, datetime.now(UTC))
    if as_json:
        output.print_json({"name": name, "revoked": True})
        return 0
    console.echo(_("Revoked `{name}`").format(name=name))
    return 0


command = Verbs(
    "token",
    help=_("Named tokens for programs that use the server's API."),
    epilog=output.example("segue token add ci --scope read\nsegue token list"),
)
for verb in (add, list_, revoke):
    command.add_command(verb)
