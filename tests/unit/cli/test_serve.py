"""`segue serve`: what is checked before anything starts, and what is said once it listens."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from kit.shell import Shell, Typed
from segue.cli import serve
from segue.server.serving import Listening

URL = "http://127.0.0.1:8765"
LINK = f"{URL}/login#secret"
FILE = "/p/.segue/server/token"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each server would be started with; it listens at once and ends with 0."""
    found: list[dict[str, Any]] = []

    async def start(data: Path | None, **given: Any) -> int:
        found.append({"data": data, **given})
        given["on_listening"](Listening(URL, FILE, LINK, is_first=True))
        return 0

    monkeypatch.setattr("segue.server.serving.serve", start)
    return found


def test_it_listens_on_this_machine_alone_unless_told_otherwise(
    segue: Shell, server: list[dict[str, Any]]
) -> None:
    said = segue("serve")
    assert said.out == f"Listening on {URL}\nLog in with: {LINK}\n"
    (given,) = server
    assert (given["host"], given["port"], given["slots"]) == ("127.0.0.1", 8765, 3)
    assert (given["data"], given["tls"], given["is_insecure"]) == (None, None, False)


def test_the_options_reach_the_server(segue: Shell, server: list[dict[str, Any]]) -> None:
    said = segue(
        "serve", "--host", "::1", "--port", "0", "--slots", "5", "--data", "elsewhere",
        "--allow-host", "a.example", "--allow-host", "b.example", "--insecure",
    )  # fmt: skip
    assert said.code == 0
    (given,) = server
    assert (given["host"], given["port"], given["slots"]) == ("::1", 0, 5)
    assert (given["data"], given["names"]) == (Path("elsewhere"), ("a.example", "b.example"))
    assert given["is_insecure"] is True


def test_a_program_reads_where_it_listens_and_never_the_token(
    segue: Shell, server: list[dict[str, Any]]
) -> None:
    said = segue("serve", "--json")
    assert said.json == {"event": "listening", "url": URL, "tokenFile": FILE}
    assert "secret" not in said.said


@pytest.mark.parametrize(
    ("told", "is_terminal", "text"),
    [
        (Listening(URL, FILE, LINK, True), False, f"Log in with: {LINK}"),
        (Listening(URL, FILE, LINK, False), True, f"Log in with: {LINK}"),
        (Listening(URL, FILE, LINK, False), False, f"Log in at {URL}/login with the token in {FILE}"),
        (Listening(URL, None, None, False), True,
         f"Log in at {URL}/login with the token that SEGUE_TOKEN holds"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("alone")
def test_the_link_that_logs_in_does_not_stay_in_a_log(
    monkeypatch: pytest.MonkeyPatch, told: Listening, is_terminal: bool, text: str
) -> None:
    """Only a person at a terminal sees it again; a token that was just made is shown once."""
    monkeypatch.setattr(sys, "stdout", Typed() if is_terminal else io.StringIO())
    assert serve._login(told) == text


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--tls-key", "key.pem"), "usage", "--tls-key needs --tls-cert"),
        (("--tls-cert", "nowhere.pem"), "bad_certificate", "cannot use the certificate"),
        (("--tls-cert", "text.pem"), "bad_certificate", "cannot use the certificate"),
        (("--database", "postgres://me:secret@db/x"), "no_such_database", "postgres://…"),
        (("--database", "other.db"), "no_such_database", "other.db"),
        (("--port", "65536"), "usage", "65536"),
        (("--slots", "0"), "usage", "0"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_starts(
    segue: Shell, alone: Path, server: list[dict[str, Any]],
    options: tuple[str, ...], code: str, said: str,
) -> None:  # fmt: skip
    """The password of an address is not repeated."""
    (alone / "text.pem").write_text("not a certificate\n")
    error = segue.refused("serve", *options)
    assert error["code"] == code
    assert said in error["message"]
    assert "secret" not in error["message"]
    assert server == []


def test_without_its_libraries_it_says_what_to_install(
    segue: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "segue.server.serving", None)
    error = segue.refused("serve")
    assert error["code"] == "library_missing"
    assert "pip install 'segue[server]'" in error["hint"]
