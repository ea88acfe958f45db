"""How `segue serve` is started: what its options and settings do, by the server that listens."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kit.serve import GOOD, QUESTION, House
from kit.server import TOKEN
from kit.waiting import until


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.hand("a", GOOD)
    yield made
    made.end_everything()


def certificate(folder: Path) -> tuple[Path, Path]:
    """One for this machine alone, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "segue")])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(made.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "cert.pem", folder / "key.pem"


def test_with_a_certificate_it_speaks_https(house: House, tmp_path: Path) -> None:
    """The address says so, the command line finds it, plain HTTP gets nothing; and with it all
    addresses may be listened on."""
    cert, key = certificate(tmp_path)
    house.config("\n".join(house.tables))
    going = house.start(
        "serve", "--port", "0", "--host", "0.0.0.0", "--json",
        "--tls-cert", str(cert), "--tls-key", str(key),
    )  # fmt: skip
    url = until(lambda: [e["url"] for e in going.result.events if "url" in e], "listening")[0]
    assert url.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile=str(cert))
    request = urllib.request.Request(
        f"{url}/api/settings", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(request, context=context, timeout=60) as answer:
        assert json.load(answer)["slots"] == 3
    with pytest.raises((urllib.error.URLError, OSError)):
        urllib.request.urlopen(url.replace("https", "http"), timeout=60)
    made = house.segue("task", "add", "Shop", "--json", env={"SSL_CERT_FILE": str(cert)})
    assert made.code == 0, made.said
    assert made.json["title"] == "Shop"


def test_a_certificate_that_cannot_be_used_is_told(house: House, tmp_path: Path) -> None:
    """No file, no certificate, a key that does not fit, a key alone: exit 2, and nothing starts."""
    cert, _key = certificate(tmp_path)
    (tmp_path / "other").mkdir()
    _cert, other = certificate(tmp_path / "other")
    nothing = tmp_path / "nothing.pem"
    house.config("\n".join(house.tables))
    for options in (
        ("--tls-cert", str(nothing)),
        ("--tls-cert", str(house.root / "segue.toml")),
        ("--tls-cert", str(cert), "--tls-key", str(other)),
        ("--tls-key", str(other)),
    ):
        said = house.segue("serve", "--port", "0", "--json", *options)
        assert said.code == 2, (options, said)
        assert said.json["error"]["message"], options
    assert not (house.root / ".segue").exists()


def test_a_database_that_cannot_be_used_is_refused(house: House) -> None:
    """It is not passed over: exit 2, in words, without the password that may be in the address."""
    house.config("\n".join(house.tables))
    said = house.segue(
        "serve", "--port", "0", "--json", "--database", "postgresql://me:hidden@db.example/segue"
    )
    assert said.code == 2
    assert "postgresql" in said.json["error"]["message"] and said.json["error"]["hint"]
    assert "hidden" not in said.said


def test_other_names_are_answered_for_when_they_are_given(house: House) -> None:
    """A name that is not this machine's own is refused, unless it was named."""
    server = house.serve("--allow-host", "desk.example", "--allow-host", "10.0.0.7")
    auth = {"Authorization": f"Bearer {TOKEN}"}
    for host, status in (("desk.example", 200), ("10.0.0.7", 200), ("evil.example", 400)):
        answer = server.raw("GET", "/api/settings", headers={**auth, "Host": host})
        assert (answer.status == 200) == (status == 200), (host, answer.status)


@contextmanager
def receiver() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """Somebody who takes webhooks: the address, and what came."""
    got: list[tuple[dict[str, str], bytes]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((dict(self.headers.items()), body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Taking) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/hook", got
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("written", ["a secret of the file", "$HOOK_SECRET"])
def test_webhooks_are_signed_with_the_secret_of_the_settings(house: House, written: str) -> None:
    """As a value, or by the name of a variable."""
    house.hand("b", QUESTION)
    with receiver() as (url, got):
        house.tables.append(
            f'[reviews]\nnotify = ["webhook:{url}"]\nwebhook_secret = "{written}"\n'
        )
        server = house.serve(env={"HOOK_SECRET": "a secret of the variable"})
        server.waiting("questions", server.new("b"))
        headers, body = until(lambda: got, "the webhook")[0]
    secret = b"a secret of the file" if written[0] != "$" else b"a secret of the variable"
    signature = dict(part.split("=", 1) for part in headers["X-Segue-Signature"].split(","))
    signed = signature["t"].encode() + b"." + body
    assert signature["v1"] == hmac.new(secret, signed, hashlib.sha256).hexdigest()
    assert not list(house.tmp.rglob("webhook-secret"))


def test_a_secret_from_a_variable_that_is_not_set_is_told(house: House) -> None:
    """Exit 2 and the variable; nothing is sent unsigned."""
    house.tables.append(
        '[reviews]\nnotify = ["webhook:http://127.0.0.1:9/x"]\nwebhook_secret = "$NOT_SET_HERE"\n'
    )
    house.config("\n".join(house.tables))
    said = house.segue("serve", "--port", "0", "--json")
    assert said.code == 2
    problem = said.json["error"]
    assert "NOT_SET_HERE" in problem["message"]
    line = (house.root / "segue.toml").read_text().splitlines()[problem["line"] - 1]
    assert line.startswith("webhook_secret"), problem
    assert problem["file"] == str(house.root / "segue.toml")


def test_no_notices_at_all_can_be_wished_for(house: House, tmp_path: Path) -> None:
    """An empty list in the project wins over the ways of the user's own settings."""
    own = tmp_path / "own" / "segue"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('[reviews]\nnotify = ["command:false"]\n')
    house.hand("b", QUESTION)
    house.tables.append("[reviews]\nnotify = []\n")
    server = house.serve(env={"XDG_CONFIG_HOME": str(own.parent)})
    server.waiting("questions", server.new("b"))
    assert server.stop() == 0
    log = house.root / ".segue" / "logs" / "server.log"
    assert "notice" not in (log.read_text() if log.exists() else "")
