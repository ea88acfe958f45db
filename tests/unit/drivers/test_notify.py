"""Ways to people outside: what arrives there, and what is said when it does not."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import socket
import threading
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from segue.drivers import notify
from segue.drivers.notify import Bell, Command, Desktop, Notice, Ntfy, Undelivered, Webhook

LINK = "http://127.0.0.1:8765/tasks/task_1#question"
NOTICE = Notice(
    id="task_1-7",
    kind="question",
    task="task_1",
    title="Shop",
    gate="q_1",
    headline="Answer needed: Shop",
    text="Which database?",
    link=LINK,
    at="2026-11-16T00:00:00.000000Z",
)


class Receiver:
    """A real HTTP server on loopback that keeps what it gets and answers as it is told."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200
        self.raw: bytes | None = None  # said instead of an answer
        self.may_answer = threading.Event()
        self.may_answer.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((self.path, dict(self.headers), body))
                receiver.may_answer.wait(60)
                if receiver.raw is not None:
                    self.wfile.write(receiver.raw)
                    return
                self.send_response(receiver.status)
                self.send_header("Location", "http://127.0.0.1:9/")
                self.end_headers()

            def log_message(self, *_args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.place = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.place}/hook?a=b"

    def close(self) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A program that writes down how it was called; `fail` beside it lets it fail."""
    program = tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import json, os, sys\n"
        f"here = {str(tmp_path)!r}\n"
        "told = {'argv': sys.argv[1:], 'stdin': sys.stdin.read(), 'env': dict(os.environ)}\n"
        "with open(here + '/calls', 'a') as file:\n"
        "    file.write(json.dumps(told) + '\\n')\n"
        "if os.path.exists(here + '/fail'):\n"
        "    sys.exit('\\033[31mno screen here')\n"
    )
    program.chmod(0o755)
    return program


def calls(stand_in: Path) -> list[dict[str, Any]]:
    file = stand_in.parents[1] / "calls"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_webhook_is_json_with_a_signature_over_time_and_body(receiver: Receiver) -> None:
    """The receiver can check it with the secret; it names what is needed, and links to it."""
    way = Webhook("webhook:1", receiver.url, "s3cret", lambda: 1_763_251_200.9)
    asyncio.run(way.send(NOTICE))
    [(path, headers, body)] = receiver.got
    assert path == "/hook?a=b"
    assert headers["Host"] == receiver.place
    assert headers["Content-Type"] == "application/json"
    expected = hmac.new(b"s3cret", b"1763251200." + body, sha256).hexdigest()
    assert headers["X-Segue-Signature"] == f"t=1763251200,v1={expected}"
    assert json.loads(body) == {
        "id": "task_1-7",
        "event": "question",
        "taskId": "task_1",
        "taskTitle": "Shop",
        "gateId": "q_1",
        "headline": "Answer needed: Shop",
        "text": "Which database?",
        "url": LINK,
        "createdAt": "2026-11-16T00:00:00.000000Z",
    }


@pytest.mark.parametrize("status", [199, 301, 404, 500])
def test_whatever_is_not_a_yes_is_not_delivered(receiver: Receiver, status: int) -> None:
    """Redirections are not followed: the address is the one that was given."""
    receiver.status = status
    with pytest.raises(Undelivered, match=f"HTTP {status}"):
        asyncio.run(Webhook("webhook:1", receiver.url, "s", lambda: 0).send(NOTICE))


@pytest.mark.parametrize("raw", [b"", b"\n", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc\r\n", b"x" * 100_000])
def test_nonsense_for_an_answer_is_not_delivered(receiver: Receiver, raw: bytes) -> None:
    """Neither a crash nor a yes."""
    receiver.raw = raw
    with pytest.raises(Undelivered, match=r"127\.0\.0\.1"):
        asyncio.run(Webhook("webhook:1", receiver.url, "s", lambda: 0).send(NOTICE))


def test_an_interim_answer_is_passed_over(receiver: Receiver) -> None:
    """`100 Continue` comes before the answer and is none."""
    receiver.raw = b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
    asyncio.run(Webhook("webhook:1", receiver.url, "s", lambda: 0).send(NOTICE))


def test_a_receiver_that_does_not_answer_is_left_after_a_time(receiver: Receiver) -> None:
    """The loop goes on meanwhile."""
    receiver.may_answer.clear()

    async def main() -> int:
        turns = 0
        sending = asyncio.create_task(notify.post(receiver.url, b"{}", {}, within_s=1.0))
        while not sending.done():
            turns += 1
            await asyncio.sleep(0.01)
        with pytest.raises(Undelivered, match="no answer within"):
            sending.result()
        return turns

    assert asyncio.run(main()) >= 3  # two, if the loop stood still; a hundred on a quiet machine


def test_nobody_at_the_address_is_not_delivered() -> None:
    """Said with the host, without the rest of the address: that may be a secret."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/secret-topic"
        with pytest.raises(Undelivered) as caught:
            asyncio.run(Ntfy("ntfy:1", url).send(NOTICE))
    assert "127.0.0.1" in str(caught.value)
    assert "secret-topic" not in str(caught.value)


def test_a_push_is_text_with_a_title_and_a_link_to_click(receiver: Receiver) -> None:
    """The title's letters may be any; urgent ones have a high priority."""
    notice = Notice(**{**_fields(), "kind": "urgent", "headline": "급함: 가게\r\nX-Evil: 1"})
    login = receiver.url.replace("http://", "http://kim:p%40ss@")
    asyncio.run(Ntfy("ntfy:1", login).send(notice))
    [(path, headers, body)] = receiver.got
    assert path == "/hook?a=b"
    assert body.decode() == f"Which database?\n{LINK}\n"
    assert headers["Click"] == LINK
    assert headers["Priority"] == "high"
    assert "X-Evil" not in headers
    coded = headers["Title"].removeprefix("=?UTF-8?B?").removesuffix("?=")
    assert b64decode(coded).decode() == "급함: 가게 X-Evil: 1"
    assert b64decode(headers["Authorization"].removeprefix("Basic ")) == b"kim:p@ss"
    assert headers["Host"] == receiver.place


def test_the_desktop_shows_headline_text_and_link(stand_in: Path) -> None:
    """What an agent wrote is neither markup nor an option nor a terminal's command."""
    text = "--help <b>&\x1b[31mWhich?\x07" + "x" * 5_000
    notice = Notice(**{**_fields(), "headline": "-u\nlow", "text": text})
    environ = {**os.environ, "SEGUE_TOKEN": "t", "SEGUE_KEY": "k", "KEPT": "yes"}
    asyncio.run(Desktop("desktop", environ, str(stand_in)).send(notice))
    [call] = calls(stand_in)
    assert call["argv"][:3] == ["--app-name=Segue", "--urgency=normal", "--"]
    headline, body = call["argv"][3:]
    assert headline == "-u low"
    assert body.startswith("--help &lt;b&gt;&amp;Which?xxx")
    assert body.endswith("…\n" + LINK)
    assert len(body) < 1_200
    assert call["env"]["KEPT"] == "yes"
    assert not {"SEGUE_TOKEN", "SEGUE_KEY"} & call["env"].keys()


def test_a_command_gets_the_text_on_its_input(stand_in: Path) -> None:
    """With the id of the notice, so that repeats can be told."""
    asyncio.run(Command("command:1", (str(stand_in), "-s", "a b"), os.environ).send(NOTICE))
    [call] = calls(stand_in)
    assert call["argv"] == ["-s", "a b"]
    assert call["stdin"] == f"Answer needed: Shop\n\nWhich database?\n\n{LINK}\n\n[task_1-7]\n"


def test_a_command_that_fails_says_why(stand_in: Path) -> None:
    """Its own words, without what acts on a terminal."""
    (stand_in.parents[1] / "fail").touch()
    with pytest.raises(Undelivered, match=r"^notify-send: exit 1 no screen here$"):
        asyncio.run(Desktop("desktop", os.environ, str(stand_in)).send(NOTICE))
    with pytest.raises(Undelivered, match="nothing-of-this-name: No such file"):
        asyncio.run(notify.run(["nothing-of-this-name"], "", os.environ))


def test_a_command_that_does_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    """Nothing of it stays behind."""
    mark = tmp_path / "child"
    script = f"sleep 1000 & echo $! > {mark}; wait"
    with pytest.raises(Undelivered, match="no end after"):
        asyncio.run(notify.run(["sh", "-c", script], "", os.environ, within_s=1.0))
    child = int(mark.read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def _fields() -> dict[str, Any]:
    return {name: getattr(NOTICE, name) for name in NOTICE.__slots__}


def test_the_bell_rings_on_a_terminal_alone() -> None:
    """Nothing is written into a file; a terminal that is gone is none."""
    main, terminal = os.openpty()
    asyncio.run(Bell("bell", terminal).send(NOTICE))
    assert os.read(main, 10) == b"\a"
    os.close(main)
    read, write = os.pipe()
    asyncio.run(Bell("bell", write).send(NOTICE))
    os.close(write)
    assert os.read(read, 10) == b""
    asyncio.run(Bell("bell", terminal).send(NOTICE))
    os.close(read)
    os.close(terminal)


def test_a_command_gets_the_notice_as_json(tmp_path: Path) -> None:
    """In its environment, for programs."""
    program = tmp_path / "tell"
    program.write_text(f'#!/bin/sh\nprintf %s "$SEGUE_NOTICE" > {tmp_path}/told\n')
    program.chmod(0o755)
    asyncio.run(Command("command", (str(program),), dict(os.environ)).send(NOTICE))
    assert json.loads((tmp_path / "told").read_text())["headline"] == NOTICE.headline
