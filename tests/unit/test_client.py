"""The Python client, on a real server: what it asks for, what it is refused, what it survives."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kit.client import Commands, Running, leave_place, running
from kit.front import TOKEN
from kit.waiting import until
from segue import client as module
from segue.client import Client, ClientError, Event
from segue.core.plan import TaskState
from segue.core.serving import AgentState


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN_S", (0.01, 0.02))
    monkeypatch.setattr(module, "RECONNECT_S", 0.01)


@pytest.fixture
def server() -> Iterator[Running]:
    with running() as made:
        yield made


@pytest.fixture
def client(server: Running) -> Client:
    return server.client


Act = Callable[[BaseHTTPRequestHandler, int], None]


class Odd:
    """A server that answers each request as a test says: by number, from 1."""

    def __init__(self, act: Act) -> None:
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        odd = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                odd.seen.append((f"{self.command} {self.path}", dict(self.headers), body))
                act(self, len(odd.seen))

            def log_message(self, *_args: Any) -> None:
                pass

        for method in ("GET", "POST", "DELETE", "PATCH"):
            setattr(Handler, f"do_{method}", Handler.handle_any)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.client = Client(f"http://127.0.0.1:{self._server.server_port}/", "t", timeout_s=60)

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def odd() -> Iterator[Callable[[Act], Odd]]:
    made: list[Odd] = []

    def make(act: Act) -> Odd:
        made.append(Odd(act))
        return made[-1]

    yield make
    for each in made:
        each.close()


def say(request: BaseHTTPRequestHandler, status: int, body: object, **headers: str) -> None:
    content = json.dumps(body).encode()
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)


def test_a_task_is_made_and_moved_along(client: Client, server: Running) -> None:
    """Each verb does what it says, and gives the task as it is then."""
    first = client.create_task("First", "d")
    task = client.create_task(
        "Shop", "A shop", type="create_app", agent="codex", depends_on=[first["id"]], priority=3
    )
    id = task["id"]
    assert (task["type"], task["agent"], task["priority"]) == ("create_app", "codex", 3)
    assert task["dependsOn"] == [first["id"]]
    assert client.change_task(id, title="Store", dependsOn=[])["title"] == "Store"
    assert client.submit(id)["status"] == "pending"
    assert client.cancel(id)["status"] == "draft"
    server.do(lambda: server.commands.put(id, TaskState.IN_PROGRESS, AgentState.RUNNING))
    assert client.pause(id)["agentStatus"] == "paused"
    assert client.agent(id)["status"] == "paused"
    assert client.resume(id)["agentStatus"] == "running"
    assert client.cancel(id, "no longer")["status"] == "failed"
    assert client.task(id)["error"] == "no longer"
    assert client.retry(id, submit=True)["status"] == "pending"
    assert client.fork(id)["forkedFrom"] == id
    assert client.fork(id, "cp_1")["forkedFrom"] == id
    assert client.rewind(id, "cp_1")["status"] == "in_progress"
    server.do(lambda: server.commands.put(id, TaskState.COMPLETED))
    assert client.archive(id)["archived"] is True
    assert id not in [each["id"] for each in client.tasks()]
    assert [each["id"] for each in client.tasks(archived=True)] == [id]
    client.delete_task(first["id"])
    with pytest.raises(ClientError, match="no such task"):
        client.task(first["id"])


def test_the_inbox_is_of_the_servers_tasks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions of a plan beside the server, and failed tasks, have other commands."""
    of_server, of_plan = {"work": {"kind": "server"}}, {"work": {"kind": "tasklist"}}
    items = [
        {"id": "rev_1", "kind": "review", **of_server},
        {"id": "task_1", "kind": "failed", **of_server},
        {"id": "q_1", "kind": "question", **of_plan},
    ]
    monkeypatch.setattr(client, "_all", lambda path, **wanted: iter(items))
    assert [item["id"] for item in client.inbox()] == ["rev_1"]


def test_what_waits_is_settled(client: Client, server: Running) -> None:
    """Reviews, questions and dependencies; an answer that is close comes with the suggestion."""
    task = client.create_task("t", "d")["id"]
    ids = {
        kind: server.do(lambda kind=kind: server.commands.open(kind, task))
        for kind in ("review", "question", "dependency")
    }
    assert [gate["id"] for gate in client.inbox()] == list(ids.values())
    assert [each["id"] for each in client.reviews(task)] == [ids["review"]]
    assert [each["id"] for each in client.dependencies(task)] == [ids["dependency"]]
    assert [each["id"] for each in client.questions(status="pending")] == [ids["question"]]
    with pytest.raises(ClientError) as caught:
        client.answer(ids["question"], "a")
    assert (caught.value.status, caught.value.code) == (422, "bad_answer")
    assert caught.value.problem["suggestion"] == "A"
    assert client.answer(ids["question"], "A")["answer"] == "A"
    assert list(client.questions(task, status="pending")) == []
    assert client.provide(ids["dependency"], "v")["status"] == "provided"
    assert server.commands.values == {ids["dependency"]: "v"}
    comments: list[dict[str, object]] = [
        {"file": "a.md", "line": 3, "text": "why?"},
        {"file": "b.md", "text": "no"},
    ]
    changed = client.request_changes(ids["review"], "Better", comments)
    assert changed["status"] == "changes_requested"
    assert changed["comments"][0]["line"] == 3
    assert client.review(ids["review"])["feedback"] == "Better"
    with pytest.raises(ClientError) as caught:
        client.approve(ids["review"])
    assert caught.value.status == 409
    again = server.do(lambda: server.commands.open("review", task))
    assert client.approve(again, "fine")["feedback"] == "fine"
    other = server.do(lambda: server.commands.open("dependency", task))
    assert client.reject(other, "never")["reason"] == "never"


def test_lists_are_read_to_their_end(
    client: Client, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page after page, only as far as they are wanted."""
    monkeypatch.setattr(module, "PAGE_SIZE", 3)
    made = [client.create_task(f"t{n}", "d")["id"] for n in range(7)]
    assert [each["id"] for each in client.tasks()] == made
    assert [each["title"] for each in client.tasks(query="t5")] == ["t5"]
    assert list(client.tasks(status="failed")) == []
    client.create_task("last", "d")  # what the server has at hand is old now
    before = server.commands.reads
    next(client.tasks())
    assert server.commands.reads == before + 1


def test_logs_and_deliverables_are_bytes(client: Client, server: Running) -> None:
    """Whatever is in them."""
    task = client.create_task("t", "d")["id"]
    server.do(lambda: setattr(server.commands, "text", b"0123\xff\x00789"))
    assert client.log(task) == b"0123\xff\x00789"
    assert client.log(task, offset=2, limit=3) == b"23\xff"
    assert client.deliverables(task) == b"PKzip"


def test_the_server_as_a_whole(client: Client) -> None:
    """Health, limits, workers, settings, and the rest of what a task has."""
    assert client.health()["status"] == "ok"
    assert client.limits()["parks"] == []
    assert client.workers()["items"] == []
    assert client.change_settings(slots=5)["slots"] == 5
    assert client.settings()["slots"] == 5
    task = client.create_task("t", "d")["id"]
    assert client.phases(task) == []
    assert [each["id"] for each in client.checkpoints(task)] == ["cp_1"]
    assert [each["trigger"] for each in client.journal(task)] == ["open"]


def test_a_refusal_carries_the_problem_document(client: Client, server: Running) -> None:
    """State and what is possible in it; which field does not fit; who may not come in."""
    task = client.create_task("t", "d")["id"]
    with pytest.raises(ClientError) as caught:
        client.pause(task)
    assert caught.value.status == 409
    assert caught.value.problem["state"] == "draft"
    assert "submit" in caught.value.problem["allowedActions"]
    with pytest.raises(ClientError) as caught:
        client.create_task("x" * 1000)
    assert caught.value.problem["errors"][0]["pointer"] == "#/title"
    with pytest.raises(ClientError) as caught:
        Client(server.url, "wrong").task(task)
    assert caught.value.status == 401


@pytest.mark.parametrize("id", ["../settings", "a/b", "?x=1", "#", "한글", "%2e%2e"])
def test_an_id_stays_an_id(client: Client, id: str) -> None:
    """Whatever is in it, it leads to no other place of the API."""
    with pytest.raises(ClientError) as caught:
        client.task(id)
    assert caught.value.status == 404


def test_the_same_key_makes_one_task(client: Client) -> None:
    """Also from two calls; without a key two calls make two."""
    one = client.create_task("t", "d", key="k1")
    assert client.create_task("t", "d", key="k1")["id"] == one["id"]
    assert client.create_task("t", "d")["id"] != client.create_task("t", "d")["id"]


def test_a_lost_answer_is_asked_for_again_with_the_same_key(odd: Callable[[Act], Odd]) -> None:
    """So that what was done is not done twice."""

    def act(request: BaseHTTPRequestHandler, n: int) -> None:
        if n < 3:
            request.connection.shutdown(socket.SHUT_RDWR)
        else:
            say(request, 201, {"id": "task_1"})

    server = odd(act)
    assert server.client.create_task("t")["id"] == "task_1"
    assert len(server.seen) == 3
    assert len({headers["Idempotency-Key"] for _what, headers, _body in server.seen}) == 1
    assert {what for what, _headers, _body in server.seen} == {"POST /api/tasks"}
    assert server.seen[0][1]["Authorization"] == "Bearer t"


def test_what_has_no_key_is_not_repeated(odd: Callable[[Act], Odd]) -> None:
    """A deletion whose answer is lost is told as that."""
    server = odd(lambda request, n: request.connection.shutdown(socket.SHUT_RDWR))
    with pytest.raises(ClientError) as caught:
        server.client.delete_task("x")
    assert (caught.value.status, caught.value.code) == (0, "no_answer")
    assert len(server.seen) == 1


def test_a_busy_server_is_asked_again_when_it_says(odd: Callable[[Act], Odd]) -> None:
    """Within bounds: a long wait, and other errors, are for the caller."""

    def act(request: BaseHTTPRequestHandler, n: int) -> None:
        match n:
            case 1:
                say(request, 503, {"detail": "busy"}, Retry_After="0")
            case 2:
                say(request, 429, {"detail": "slow"})
            case 3:
                say(request, 200, {"n": n})
            case 4:
                say(request, 503, {"detail": "busy"}, Retry_After="3600")
            case _:
                say(request, 500, ["no problem document"])

    server = odd(act)
    assert server.client.health() == {"n": 3}
    with pytest.raises(ClientError) as caught:
        server.client.health()
    assert caught.value.problem["retryAfter"] == 3600
    with pytest.raises(ClientError, match="500") as caught:
        server.client.health()
    assert caught.value.code == "refused"
    assert len(server.seen) == 5


def test_neither_redirections_nor_proxies_get_the_token(
    odd: Callable[[Act], Odd], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes to the server that was named and to nobody else."""
    elsewhere = odd(lambda request, n: say(request, 200, {}))
    monkeypatch.setenv("http_proxy", elsewhere.client.url)
    server = odd(lambda request, n: say(request, 302, {}, Location=elsewhere.client.url))
    with pytest.raises(ClientError) as caught:
        server.client.health()
    assert caught.value.status == 302
    assert elsewhere.seen == []


def test_the_server_of_a_folder_is_found(client: Client, server: Running, tmp_path: Path) -> None:
    """From anywhere below it; SEGUE_TOKEN is believed before the file."""
    leave_place(tmp_path, server.url)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert list(Client.local(below, environ={}).tasks()) == []
    assert list(Client.local(str(tmp_path), environ={}).tasks()) == []
    with pytest.raises(ClientError) as caught:
        list(Client.local(tmp_path, environ={"SEGUE_TOKEN": "other"}).tasks())
    assert caught.value.status == 401


def test_without_a_server_the_cure_is_told(tmp_path: Path) -> None:
    """No server, no token, nobody at the address: each in its own words."""
    with pytest.raises(ClientError, match="no server is running") as caught:
        Client.local(tmp_path, environ={})
    assert "segue serve" in caught.value.problem["hint"]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        leave_place(tmp_path, f"http://127.0.0.1:{closed.getsockname()[1]}", token=None)
        with pytest.raises(ClientError, match="token") as caught:
            Client.local(tmp_path, environ={})
        assert caught.value.code == "no_token"
        with pytest.raises(ClientError, match="no server responds") as caught:
            Client.local(tmp_path, environ={"SEGUE_TOKEN": TOKEN}).health()
        assert caught.value.code == "no_connection"


@pytest.mark.parametrize("url", ["127.0.0.1:8765", "ftp://x", "http://", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    """Before anything is sent."""
    with pytest.raises(ValueError, match="not the address"):
        Client(url, "t")


# Events


def test_events_come_as_they_happen(client: Client, server: Running) -> None:
    """From now on; of one task only its own."""
    one, two = client.create_task("t", "d")["id"], client.create_task("t", "d")["id"]
    every, own = client.events(), client.events(two)
    got: dict[str, list[Event]] = {"every": [], "own": []}

    def follow(name: str, events: Iterator[Event], count: int) -> threading.Thread:
        def run() -> None:
            for event in events:
                got[name].append(event)
                if len(got[name]) == count:
                    return

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    threads = [follow("every", every, 3), follow("own", own, 1)]
    until(lambda: server.do(lambda: server.commands._listeners) and streams(server) == 2)
    for task in (one, two, one):
        server.do(lambda task=task: server.commands.happen(task, "note", metadata={"a": "x\ny"}))
    for thread in threads:
        thread.join(60)
    assert [event.seq for event in got["every"]] == [3, 4, 5]
    assert [event.data["taskId"] for event in got["every"]] == [one, two, one]
    assert [event.seq for event in got["own"]] == [4]
    assert got["own"][0].type == "state_transition"
    assert got["own"][0].data["metadata"] == {"a": "x\ny"}


def test_events_after_a_number_fill_the_gap(client: Client, server: Running) -> None:
    """All that came after it, in order."""
    task = client.create_task("t", "d")["id"]
    for _n in range(300):
        server.do(lambda: server.commands.happen(task))
    events = client.events(after=1)
    assert [next(events).seq for _n in range(300)] == list(range(2, 302))


def test_a_restart_of_the_server_loses_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream is opened again after the last one that was seen, also if none was seen yet."""
    commands = Commands()
    with running(commands) as first:
        task = first.client.create_task("t", "d")["id"]
        got: list[int] = []

        def run() -> None:
            for event in first.client.events():
                got.append(event.seq)
                if event.seq == 4:
                    return

        thread = threading.Thread(target=run)
        thread.start()
        until(lambda: streams(first) == 1)
        first.close()
        commands._listeners.clear()
        commands.happen(task)  # while nobody can hear it
        with running(commands, first.port) as second:
            until(lambda: got == [2])
            second.do(lambda: commands.happen(task))
            until(lambda: got == [2, 3])
        commands._listeners.clear()
        with running(commands, first.port) as third:
            third.do(lambda: commands.happen(task))
            thread.join(60)
    assert got == [2, 3, 4]


def test_a_cut_off_event_is_none_and_comes_again(odd: Callable[[Act], Odd]) -> None:
    """Half an event is not told; lines may end either way; comments and unknown fields pass."""

    def act(request: BaseHTTPRequestHandler, n: int) -> None:
        request.send_response(200)
        request.end_headers()
        wire = {
            1: b': hello\r\nretry: 5\r\n\r\nid: 1\r\nevent: a\r\ndata: {"n":\r\ndata: 1}\r\n\r\nid: 2\nda',
            2: b'id: 2\ndata: {"n": 2}',
            3: b'id: 2\ndata: {"n": 2}\nodd\n\ndata: {}\n\nid: 3\ndata: {"n": 3}\n\n',
        }
        request.wfile.write(wire[n])

    server = odd(act)
    events = server.client.events(after=0)
    assert [next(events) for _n in range(3)] == [
        Event(1, "a", {"n": 1}),
        Event(2, "", {"n": 2}),
        Event(3, "", {"n": 3}),
    ]
    asked = [headers["Last-Event-ID"] for _what, headers, _body in server.seen]
    assert asked == ["0", "1", "1"]


def test_a_line_that_is_too_long_is_not_read_as_two(
    odd: Callable[[Act], Odd], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream is given up there, and opened again."""
    monkeypatch.setattr(module, "LINE_BYTES_MAX", 30)

    def act(request: BaseHTTPRequestHandler, n: int) -> None:
        request.send_response(200)
        request.end_headers()
        long = b'id: 1\ndata: {"n": "' + b"x" * 100 + b'"}\n\n'
        request.wfile.write(long if n == 1 else b"id: 2\ndata: {}\n\n")

    assert next(odd(act).client.events(after=0)) == Event(2, "", {})


def test_a_stream_that_is_refused_is_an_error(client: Client, server: Running) -> None:
    """At once: an unknown task, a wrong token, a server that is not there."""
    with pytest.raises(ClientError) as caught:
        next(client.events("task_nothing", after=0))
    assert caught.value.status == 404
    server.close()
    with pytest.raises(ClientError) as caught:
        next(client.events(after=0))
    assert caught.value.status == 0


def test_patience_has_an_end(server: Running) -> None:
    """A server that went and stays away is an error after a time."""
    task = server.client.create_task("t", "d")["id"]
    events = server.client.events(task, after=0, patience_s=0.3)
    assert next(events).seq == 1
    server.close()
    with pytest.raises(ClientError) as caught:
        next(events)
    assert caught.value.code == "no_connection"


def test_a_silent_stream_is_opened_again(
    odd: Callable[[Act], Odd], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is dead without a word is noticed by the missing heartbeat."""
    monkeypatch.setattr(module, "SILENCE_S", 0.2)
    done = threading.Event()

    def act(request: BaseHTTPRequestHandler, n: int) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(b"id: %d\ndata: {}\n\n" % n)
        if n == 1:
            done.wait(60)

    server = odd(act)
    events = server.client.events(after=0)
    assert [next(events).seq, next(events).seq] == [1, 2]
    done.set()


def streams(server: Running) -> int:
    for line in server.client._request("GET", "metrics").decode().splitlines():
        if line.startswith("segue_event_clients "):
            return int(line.split()[1])
    raise AssertionError
