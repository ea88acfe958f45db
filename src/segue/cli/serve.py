"""`segue serve`: the server. REST, event stream, web page."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from pathlib import Path

import click

from segue.cli import output
from segue.engine.clock import SystemClock
from segue.errors import UserError
from segue.i18n import _

PORT = 8765
SLOTS_MAX = 64


@click.command(
    "serve",
    help=_("The server: tasks that pass through phases, by REST, event stream and web page."),
    epilog=output.example("segue serve --port 0"),
)
@click.option("--host", default="127.0.0.1", show_default=True, help=_("where to listen"))
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help=_("0 takes a free one"),
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help=_("the folder of its memory, if not .segue"),
)
@click.option(
    "--slots",
    type=click.IntRange(1, SLOTS_MAX),
    default=3,
    show_default=True,
    help=_("how many agents work at once"),
)
@click.option("--insecure", is_flag=True, help=_("listen beyond this machine without TLS"))
@output.json_option()
@output.lang_option()
@click.pass_context
def command(
    ctx: click.Context,
    host: str,
    port: int,
    data: Path | None,
    slots: int,
    insecure: bool,
    as_json: bool,
) -> int:
    try:
        from segue.server.serving import Listening, serve  # noqa: PLC0415 - heavy, and an extra
    except ImportError as error:
        raise UserError(
            "library_missing",
            _("the server needs libraries that are not here: {why}").format(why=error),
            hint=_("install it: {command}").format(command="pip install 'segue[server]'"),
        ) from error
    tz = datetime.now().astimezone().tzinfo
    assert tz is not None

    def listening(told: Listening) -> None:
        if as_json:
            output.print_line({"event": "listening", "url": told.url, "tokenFile": told.token_file})
            return
        click.echo(_("Listening on {url}").format(url=told.url))
        if told.login:
            click.echo(_("Log in with: {link}").format(link=told.login))

    return asyncio.run(
        serve(
            data,
            host=host,
            port=port,
            slots=slots,
            is_insecure=insecure,
            environ=ctx.obj["environ"],
            clock=SystemClock(),
            tz=tz,
            command=["segue", *sys.argv[1:]],
            on_listening=listening,
        )
    )
