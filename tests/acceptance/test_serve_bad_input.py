"""`segue serve`: bad requests get a problem document that helps; never an error of the server."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.serve import GOOD, House
from kit.server import TOKEN, Server
from kit.waiting import until

AUTH = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all bad requests: it must outlive them."""
    made = House(tmp_path_factory.mktemp("bad"))
    made.hand("a", GOOD)
    serving = made.serve()
    yield serving
    try:
        assert serving.raw("GET", "/health").status == 200, "it outlived them all"
    finally:
        made.end_everything()


BODIES: dict[str, bytes | None] = {
    "nothing": None,
    "empty": b"",
    "an empty object": b"{}",
    "a list": b"[]",
    "null": b"null",
    "a number": b"1",
    "a text": b'"x"',
    "half": b'{"title": ',
    "no UTF-8": b'{"title": "\xff\xfe"}',
    "a lone surrogate": b'{"title": "\\ud800", "answer": "\\ud800", "value": "\\ud800"}',
    "NaN": b'{"priority": NaN, "line": Infinity}',
    "deep": b"[" * 50_000 + b"]" * 50_000,
    "a huge number": b'{"priority": 1' + b"0" * 5000 + b"}",
    "wrong types": b'{"title": 1, "description": [], "type": {}, "agent": true, "dependsOn": "x",'
    b' "priority": "high", "submit": "maybe", "feedback": {}, "comments": "x", "answer": {},'
    b' "value": [], "reason": 1, "checkpointId": [1], "slots": "x"}',
    "nulls": b'{"title": null, "description": null, "type": null, "dependsOn": null, "priority": null,'
    b' "feedback": null, "comments": [null], "checkpointId": null, "slots": null}',
    "unknown keys": b'{"titel": "x", "__class__": "y"}',
}


def cases(server: Server) -> list[tuple[str, str, set[int]]]:
    """Every change of the API: method, path with `{}` for an id, documented statuses."""
    document = server.get("/openapi.json").ok()
    found = []
    for path, acts in document["paths"].items():
        where = re.sub(r"\{\w+\}", "{}", path if path.startswith("/api") else f"/api{path}")
        for act, about in acts.items():
            if act in ("get", "post", "patch", "delete"):
                known = {int(code) for code in about["responses"] if code.isdigit()}
                found.append((act.upper(), where, known))
    return found


@pytest.mark.parametrize("body", BODIES)
def test_no_body_breaks_a_change(server: Server, body: str) -> None:
    """Every POST, PATCH and DELETE with this body: a documented status, no 5xx, a problem document."""
    draft = server.new(submit=False)
    for method, where, known in cases(server):
        if method == "GET":
            continue
        for identity in ("nothing_there", draft):
            path = where.replace("{}", identity)
            answer = server.raw(
                method, path, BODIES[body], {**AUTH, "Content-Type": "application/json"}
            )
            assert answer.status < 500, (method, path, answer)
            assert answer.status in known, (method, path, answer.status, sorted(known))
            if answer.status >= 400:
                answer.problem(answer.status)


@pytest.mark.parametrize(
    "identity", ["x", "%00", "%2e%2e%2f", "a" * 5000, "%ff", "가", "'; drop table tasks", "task_*"]
)
def test_unknown_ids_are_not_found(server: Server, identity: str) -> None:
    """Any id that is none: 404 (or 422) on every path, as a problem document."""
    quoted = identity.replace(" ", "%20").replace("가", "%EA%B0%80")
    for method, where, _known in cases(server):
        if "{}" not in where:
            continue
        body = (
            b'{"answer": "x", "value": "x", "feedback": "x", "reason": "x"}'
            if method != "GET"
            else None
        )
        answer = server.raw(method, where.replace("{}", quoted), body,
                            {**AUTH, "Content-Type": "application/json"})  # fmt: skip
        assert answer.status in (400, 404, 405, 414, 422), (method, where, answer)
        answer.problem(answer.status)


@pytest.mark.parametrize("query", [
    "page=-1", "page=99999999999999999999", "page=1.5", "page=", "pageSize=1000000", "pageSize=-5",
    "status=%00", "status=draft%27", "page=1&page=2", "nonsense=1", "%ff=%fe", "status=" + "x" * 3000,
])  # fmt: skip
def test_no_query_breaks_a_list(server: Server, query: str) -> None:
    """Lists with nonsense: 200 or a problem of the client's, on every list."""
    task = server.new(submit=False)
    for path in ("/tasks", "/questions", "/workers", f"/tasks/{task}/journal", f"/tasks/{task}/reviews",
                 f"/tasks/{task}/checkpoints", f"/tasks/{task}/phases"):  # fmt: skip
        answer = server.get(f"{path}?{query}")
        assert answer.status in (200, 400, 422), (path, answer)


def test_unknown_names_get_a_suggestion(server: Server) -> None:
    """A type or an agent that does not exist is named, with those that do."""
    body = {"title": "T", "description": "D", "type": "create_ap", "agent": "a", "submit": True}
    assert "create_app" in json.dumps(server.post("/tasks", body).problem(422))
    said = json.dumps(server.post("/tasks", {**body, "type": "one", "agent": "b"}).problem(422))
    assert "agent" in said
    said = json.dumps(server.post("/tasks", {**body, "type": "one", "titel": "x"}).problem(422))
    assert "titel" in said


def test_problems_say_where(server: Server) -> None:
    """A wrong field is named in the problem document."""
    said = server.post("/tasks", {"title": "T", "description": "D", "type": "one", "priority": "x"})
    assert "priority" in json.dumps(said.problem(422))


def test_methods_and_paths_that_do_not_exist(server: Server) -> None:
    """405 with Allow, 404; problem documents as well."""
    wrong = server.ask("PUT", "/tasks", {})
    wrong.problem(405)
    assert wrong.headers.get("allow")
    server.get("/nothing/here").problem(404)
    server.ask("POST", "/health", {}).problem(405)


def test_a_large_body_is_refused(server: Server) -> None:
    """20 MB: 413, which reaches a client that sends all before it reads; the server lives."""
    body = b'{"title": "' + b"x" * 20_000_000 + b'"}'
    answer = server.raw("POST", "/api/tasks", body, {**AUTH, "Content-Type": "application/json"})
    answer.problem(413)
    assert server.raw("GET", "/health").status == 200


def test_an_endless_body_is_refused(server: Server) -> None:
    """Chunks without end: ended by the server long before memory is."""
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = (f"POST /api/tasks HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")  # fmt: skip
    sent = 0
    with socket.create_connection((server.host, server.port), timeout=60) as link:
        link.sendall(head.encode())
        try:
            while sent < 200_000_000:
                link.sendall(chunk)
                sent += 0x10000
        except OSError:
            pass
    assert sent < 200_000_000, "it was cut off"
    assert server.raw("GET", "/health").status == 200


def test_long_fields_are_bounded(server: Server) -> None:
    """A title of 900 kB is refused by its field, not taken."""
    body = {"title": "x" * 900_000, "description": "D", "type": "one"}
    assert server.post("/tasks", body).status in (413, 422)


def test_broken_clients(server: Server) -> None:
    """Half a request, no HTTP at all, a huge header, a lie about the length: others are served."""
    openings = [
        b"", b"\x16\x03\x01\x02\x00", b"GET /api/tasks HT", b"\r\n\r\n\r\n",
        b"POST /api/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"POST /api/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nonly this",
    ]  # fmt: skip
    links = []
    try:
        for opening in openings:
            link = socket.create_connection((server.host, server.port), timeout=60)
            links.append(link)
            try:
                link.sendall(opening)
            except OSError:
                continue
        assert server.raw("GET", "/health", wait_s=90).status == 200, "beside them all"
    finally:
        for link in links:
            link.close()
    assert server.raw("GET", "/health").status == 200


def test_another_content_type_is_refused(server: Server) -> None:
    """JSON under another name is 415 (or 422), not guessed."""
    body = b'{"title": "T", "description": "D", "type": "one"}'
    answer = server.raw("POST", "/api/tasks", body, {**AUTH, "Content-Type": "text/plain"})
    answer.problem(415, 422)


def test_odd_but_right_texts_are_kept(server: Server) -> None:
    """Korean, emoji, right-to-left, quotes and lines come back as they were sent."""
    for text in (
        "가게 만들기",
        "🛒🏽‍♀️ shop",
        "שלום",
        'a "quoted" \\ back',
        "two\nlines",
        "ＦＵＬＬ",
    ):
        made = server.post(
            "/tasks", {"title": text, "description": text, "type": "one", "agent": "a"}
        )
        assert made.status == 201, (text, made)
        assert server.task(made.json["id"])["description"] == text
        assert server.task(made.json["id"])["title"].strip() == text.strip()


BAD_SETTINGS = {
    "an unknown key of a type": '[types.x]\nreviwer = "a"\n[[types.x.phases]]\nname = "p"\ndeliverables = ["a.md"]\n',
    "an unknown key of a phase": '[types.x]\n[[types.x.phases]]\nname = "p"\ndeliverabels = ["a.md"]\n',
    "a reviewer that does not exist": '[types.x]\nreviewer = "nobody"\n[[types.x.phases]]\nname = "p"\ndeliverables = ["a.md"]\n',
    "min_chars as a text": '[types.x]\n[[types.x.phases]]\nname = "p"\ndeliverables = ["a.md"]\nmin_chars = "many"\n',
    "a way to tell people that there is not": '[reviews]\nnotify = ["pigeon"]\n',
    "a list without its end": "[reviews]\nnotify = [\n",
    "a time that is none": '[reviews]\nremind_after = "soon"\n',
}


@pytest.mark.parametrize("fault", BAD_SETTINGS)
def test_bad_settings_are_told_with_their_line(house: House, fault: str) -> None:
    """The server does not start: exit 2, file, line and what would be right."""
    house.hand("a", GOOD)
    house.config("\n".join(house.tables) + "\n" + BAD_SETTINGS[fault])
    said = house.segue("serve", "--port", "0", "--json")
    assert said.code == 2, said
    problem = said.json["error"]
    assert "segue.toml" in str(problem["file"]) and problem["line"], problem


@pytest.mark.parametrize("words", [
    ["--port", "99999"], ["--port", "x"], ["--slots", "0"], ["--slots", "-1"], ["--prot", "1"],
    ["--data", "/proc/nothing/here"],
])  # fmt: skip
def test_bad_options_are_told(house: House, words: list[str]) -> None:
    """Exit 2 and words; no traceback, nothing made."""
    house.hand("a", GOOD)
    house.config("\n".join(house.tables))
    said = house.segue("serve", *words, wait_s=90)
    assert said.code == 2 and said.said.strip(), said


def test_a_database_that_is_none_is_told(house: House) -> None:
    """Garbage where the memory should be: exit 2 in words, and the garbage is not overwritten."""
    house.hand("a", GOOD)
    house.config("\n".join(house.tables))
    memory = house.root / ".segue"
    memory.mkdir()
    (memory / "segue.db").write_bytes(b"this is no database at all" * 100)
    said = house.segue("serve", "--port", "0", "--json")
    assert said.code == 2, said
    assert said.json["error"]["message"]
    assert (memory / "segue.db").read_bytes().startswith(b"this is no database")


def test_a_database_locked_by_another(house: House) -> None:
    """Somebody holds the lock for a second: requests wait or are told to come again; then all is well."""
    import sqlite3

    house.hand("a", GOOD)
    serving = house.serve()
    task = serving.new(submit=False)
    with sqlite3.connect(house.database, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = serving.raw("GET", f"/api/tasks/{task}", None, AUTH)
        assert answer.status == 200, "reading goes on"
        other.execute("ROLLBACK")
    other.close()
    serving.do(task, "submit")
    serving.reaches(task, "review")


def test_another_folder_for_the_memory(house: House) -> None:
    """`--data` keeps it elsewhere; a second server on it is refused there, too."""
    house.hand("a", GOOD)
    serving = house.serve("--data", str(house.tmp / "elsewhere"))
    task = serving.new()
    serving.reaches(task, "review")
    assert (house.tmp / "elsewhere").is_dir()
    assert [path.parent for path in house.tmp.rglob("segue.db")] == [house.tmp / "elsewhere"]
    said = house.segue("serve", "--port", "0", "--data", str(house.tmp / "elsewhere"))
    assert said.code == 2
    until(lambda: serving.raw("GET", "/health").status == 200, "the first one works on")
