"""`segue serve`: the server. REST, event stream, web page."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from segue.cli import console, output
from segue.engine.clock import SystemClock
from segue.errors import UserError
from segue.i18n import _

if TYPE_CHECKING:
    from segue.server.serving import Listening

PORT = 8765
SLOTS_MAX = 64


@click.command(
    "serve",
    help=_("Run the server: tasks with phases, over a REST API, an event stream and a web page."),
    epilog=output.example("segue serve --port 0"),
)
@click.option("--host", default="127.0.0.1", show_default=True, help=_("address to listen on"))
@click.option(
    "--port",
    type=output.BoundedInt(0, 65535),
    default=PORT,
    show_default=True,
    help=_("0 picks a free port"),
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help=_("folder of the server's records (default: .segue)"),
)
@click.option(
    "--database",
    metavar="URL",
    help=_("database for several machines (not supported in this version)"),
)
@click.option(
    "--slots",
    type=output.BoundedInt(1, SLOTS_MAX),
    default=3,
    show_default=True,
    help=_("number of agents that work at the same time"),
)
@click.option(
    "--tls-cert",
    type=click.Path(dir_okay=False, path_type=Path),
    help=_("certificate (PEM) to serve HTTPS"),
)
@click.option(
    "--tls-key",
    type=click.Path(dir_okay=False, path_type=Path),
    help=_("private key, if it is not in the certificate file"),
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help=_("another host name or address that browsers may use"),
)
@click.option("--insecure", is_flag=True, help=_("allow other machines to connect without TLS"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    host: str,
    port: int,
    data: Path | None,
    database: str | None,
    slots: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    allow_host: tuple[str, ...],
    insecure: bool,
    as_json: bool,
) -> int:
    _check_database(database)
    _check_tls(tls_cert, tls_key)
    try:
        from segue.server.listen import Tls  # noqa: PLC0415 - heavy, and an extra
        from segue.server.serving import serve  # noqa: PLC0415
    except ImportError as error:
        raise UserError(
            "library_missing",
            _("the server needs libraries that are not installed: {why}").format(why=error),
            hint=_("install it: {command}").format(command="pip install 'segue[server]'"),
        ) from error
    tz = datetime.now().astimezone().tzinfo
    assert tz is not None

    def listening(told: Listening) -> None:
        if as_json:
            output.print_line({"event": "listening", "url": told.url, "tokenFile": told.token_file})
            return
        console.echo(_("Listening on {url}").format(url=told.url))
        console.echo(_login(told))

    return asyncio.run(
        serve(
            data,
            host=host,
            port=port,
            slots=slots,
            is_insecure=insecure,
            tls=Tls(tls_cert, tls_key) if tls_cert else None,
            names=allow_host,
            environ=ctx.obj["environ"],
            clock=SystemClock(),
            tz=tz,
            command=["segue", *sys.argv[1:]],
            on_listening=listening,
        )
    )


def _login(told: Listening) -> str:
    """How to log in, at every start. The link holds the token: where nobody looks (a service), it
    would stay in a log, so it is shown there only when the token is new."""
    if told.login is None:
        text = _("Log in at {url}/login with the token that SEGUE_TOKEN holds")
        return text.format(url=told.url)
    if told.is_first or sys.stdout.isatty():
        return _("Log in with: {link}").format(link=told.login)
    text = _("Log in at {url}/login with the token in {file}")
    return text.format(url=told.url, file=told.token_file)


def _check_database(url: str | None) -> None:
    """One that cannot be used is refused, not passed over: what was done would be elsewhere."""
    if url is not None:
        raise UserError(
            "no_such_database",
            _("this version keeps everything in SQLite, and cannot use {url}").format(
                url=url.partition("://")[0] + "://…" if "://" in url else url
            ),
            hint=_("drop --database; --data sets the folder of the records"),
        )


def _check_tls(certificate: Path | None, key: Path | None) -> None:
    """Told before anything is started if there is something wrong with it."""
    if certificate is None:
        if key is not None:
            raise UserError("usage", _("--tls-key needs --tls-cert"))
        return
    import ssl  # noqa: PLC0415 - needed by few

    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Never ask for a password: there may be no person to answer.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:
        raise UserError(
            "bad_certificate",
            _("cannot use the certificate or its key: {why}").format(why=error),
            file=str(certificate),
            hint=_("use PEM files, and a key that matches the certificate and has no password"),
        ) from error
