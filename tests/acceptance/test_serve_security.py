"""`segue serve`: who may ask, from where, and what is never given away."""

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

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all the tests that only knock at its door."""
    made = House(tmp_path_factory.mktemp("door"))
    made.hand("a", f"echo '{EVIL}'\nprintf '\\033]0;owned\\007\\033[2J\\n'\n" + GOOD)
    yield made.serve()
    made.end_everything()


def login(server: Server) -> str:
    """The cookie of a browser that came by the login link."""
    answer = server.raw("GET", f"/login?token={TOKEN}")
    assert answer.status in (200, 302, 303), answer
    return answer.headers["set-cookie"].split(";")[0]


def test_every_path_needs_the_token(server: Server) -> None:
    """All that OpenAPI lists but health: 401 as a problem without a token, or with a wrong one."""
    document = server.get("/openapi.json").ok()
    for path, acts in document["paths"].items():
        where = re.sub(r"\{\w+\}", "some_id", path if path.startswith("/api") else f"/api{path}")
        if where.endswith("/health"):
            continue
        for act in acts:
            if act not in ("get", "post", "patch", "delete", "put"):
                continue
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"},
                            {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": "Bearer "}):  # fmt: skip
                answer = server.raw(act.upper(), where, None, dict(headers))
                assert answer.status == 401, (act, where, headers, answer.status)
            answer.problem(401)
            server.get("/settings").ok()  # else these would be guesses, too many in a row
    assert server.raw("GET", "/metrics").status == 401
    assert server.raw("GET", "/api/openapi.json").status in (200, 401)


def test_a_token_in_the_address_is_none_for_the_api(server: Server) -> None:
    """Addresses end up in logs: only the header counts."""
    assert server.raw("GET", f"/api/tasks?token={TOKEN}").status == 401


def test_another_host_is_refused(server: Server) -> None:
    """DNS rebinding: a request for another name is not answered, with the token neither."""
    for host in (
        "evil.example",
        f"evil.example:{server.port}",
        "127.0.0.1.evil.example",
        "",
        "localhost.evil",
    ):
        for path in ("/api/tasks", "/", "/health", "/login"):
            answer = server.raw(
                "GET", path, None, {"Host": host, "Authorization": f"Bearer {TOKEN}"}
            )
            assert answer.status in (400, 403, 421), (host, path, answer.status)
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
        answer = server.raw(
            "GET", "/api/tasks", None, {"Host": host, "Authorization": f"Bearer {TOKEN}"}
        )
        assert answer.status == 200, host


def test_another_origin_changes_nothing(server: Server) -> None:
    """Every change checks Origin, with the token and with the cookie."""
    cookie = login(server)
    body = json.dumps({"title": "from afar", "description": "D", "type": "one"}).encode()
    for origin in ("http://evil.example", "null", "https://evil.example",
                   f"http://127.0.0.1:{server.port + 1}", "http://127.0.0.1"):  # fmt: skip
        for who in ({"Cookie": cookie}, {"Authorization": f"Bearer {TOKEN}"}):
            answer = server.raw("POST", "/api/tasks", body, {
                "Origin": origin, "Content-Type": "application/json", **who})  # fmt: skip
            assert answer.status == 403, (origin, who.keys(), answer.status)
    assert all(task["title"] != "from afar" for task in server.items("/tasks"))
    own = server.raw("POST", "/api/tasks", body.replace(b"from afar", b"from here"), {
        "Origin": server.url, "Content-Type": "application/json", "Cookie": cookie})  # fmt: skip
    assert own.status == 201


def test_a_form_of_another_site_changes_nothing(server: Server) -> None:
    """A cookie and a body that a form can send, without Origin: refused."""
    cookie = login(server)
    body = b'{"title": "by a form", "description": "D", "type": "one"}'
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ):
        answer = server.raw("POST", "/api/tasks", body, {"Content-Type": kind, "Cookie": cookie})
        assert 400 <= answer.status < 500, (kind, answer.status)
    assert all(task["title"] != "by a form" for task in server.items("/tasks"))


def test_the_login_cookie(server: Server) -> None:
    """HttpOnly and SameSite; not the token itself; a forged one is worth nothing."""
    answer = server.raw("GET", f"/login?token={TOKEN}")
    said = answer.headers["set-cookie"]
    assert "httponly" in said.lower() and re.search(r"samesite=(strict|lax)", said.lower())
    assert TOKEN not in said
    assert TOKEN not in answer.headers.get("location", "")
    cookie = said.split(";")[0]
    page = server.raw("GET", "/", None, {"Cookie": cookie, "Accept": "text/html"})
    assert page.status == 200 and "text/html" in page.headers["content-type"]
    forged = cookie[:-4] + ("0000" if not cookie.endswith("0000") else "1111")
    assert server.raw("GET", "/api/tasks", None, {"Cookie": forged}).status == 401
    wrong = server.raw("GET", "/login?token=wrong")
    assert wrong.status in (401, 403) and "set-cookie" not in wrong.headers
    nobody = server.raw("GET", "/", None, {"Accept": "text/html"})
    assert nobody.status in (302, 303, 401) and "A task" not in nobody.body.decode()


def test_pages_say_what_browsers_may_do(server: Server) -> None:
    """A policy that forbids foreign and inline scripts, no framing, no guessing of types."""
    cookie = login(server)
    headers = server.raw("GET", "/", None, {"Cookie": cookie, "Accept": "text/html"}).headers
    policy = headers["content-security-policy"]
    assert "unsafe-inline" not in policy and "unsafe-eval" not in policy
    assert "frame-ancestors" in policy or headers.get("x-frame-options")
    assert headers["x-content-type-options"] == "nosniff"


def test_what_agents_and_people_say_is_escaped(server: Server) -> None:
    """A script in title, description, output or deliverable is text on every page."""
    task = server.new(title=EVIL, description=EVIL)
    server.reaches(task, "review")
    cookie = login(server)
    pages = [server.raw("GET", path, None, {"Cookie": cookie, "Accept": "text/html"})
             for path in ("/", f"/tasks/{task}", "/inbox")]  # fmt: skip
    shown = [page for page in pages if page.status == 200]
    assert len(shown) >= 2
    assert any("alert(" in page.body.decode() for page in shown), "it is shown"
    for page in shown:
        text = page.body.decode()
        assert EVIL not in text and "<img src=x" not in text and "\x1b" not in text
    log = server.get(f"/tasks/{task}/log")
    assert "html" not in log.headers["content-type"]
    assert log.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", [
    "/static/../../../../../../etc/passwd", "/static/..%2f..%2f..%2f..%2fetc/passwd",
    "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/static//etc/passwd",
    "/api/tasks/..%2f..%2f..%2fsegue.toml", "/api/tasks/%00/log", "/api/tasks/../../etc/passwd/log",
])  # fmt: skip
def test_paths_do_not_lead_out(server: Server, path: str) -> None:
    """No path reads a file that is not the server's to give."""
    answer = server.raw("GET", path, None, {"Authorization": f"Bearer {TOKEN}"})
    assert 400 <= answer.status < 500, answer
    assert b"root:" not in answer.body and b"[agents" not in answer.body


def test_beyond_loopback_is_refused(house: House) -> None:
    """`--host 0.0.0.0` without TLS or the flag for it: exit 2, the reason, and nothing listens."""
    house.hand("a", GOOD)
    house.config("\n".join(house.tables))
    for host in ("0.0.0.0", "::"):
        said = house.segue("serve", "--host", host, "--port", "0", "--json")
        assert said.code == 2, said
        assert said.json["error"]["message"]
    assert house.segue("serve", "--host", "0.0.0.0", "--port", "0").code == 2


def test_a_token_is_made_at_the_first_start(house: House) -> None:
    """Mode 600, printed once as a login link; the next start has the same one and does not print it."""
    house.hand("a", GOOD)
    house.config("\n".join(house.tables))
    del house.extra_env["SEGUE_TOKEN"]
    going = house.start("serve", "--port", "0")
    link = until(
        lambda: re.search(r"(http://\S+[?#]\S*token=(\S+))", going.result.said), "a login link"
    )
    token = link[2].rstrip(".,)")
    kept = [p for p in house.state.rglob("*token*") if p.is_file()]
    assert kept and all(path.stat().st_mode & 0o777 == 0o600 for path in kept)
    where = re.search(r"http://127\.0\.0\.1:(\d+)", going.result.said)
    assert where
    again = Server.__new__(Server)
    again.host, again.port, again.token = "127.0.0.1", int(where[1]), token
    assert again.get("/tasks").status == 200
    assert again.raw("GET", f"/login?token={token}").status in (200, 302, 303)
    going.kill()
    second = house.start("serve", "--port", "0", "--json")
    until(lambda: "listening" in second.result.out, "listening")
    assert token not in second.result.said, "printed once"
    assert json.loads(second.result.out.splitlines()[0])["tokenFile"] == str(kept[0])
    url = json.loads(second.result.out.splitlines()[0])["url"]
    again.port = int(url.rpartition(":")[2])
    assert again.get("/tasks").status == 200, "the same token"


def test_every_start_says_how_to_log_in(house: House) -> None:
    """The link at the first, where the token is at the next: a service's log must not keep it."""
    house.config("\n".join(house.tables))
    given = house.extra_env.pop("SEGUE_TOKEN")
    first = house.start("serve", "--port", "0")
    until(lambda: "/login?token=" in first.result.out, "the link")
    refused = house.segue("serve", "--port", "0", "--json")
    assert refused.code == 2
    url = first.result.out.split()[2]
    assert url in refused.json["error"]["message"], "where the first one listens"
    first.kill()
    second = house.start("serve", "--port", "0")
    until(lambda: "/login with the token in " in second.result.out, "where the token is")
    assert "token=" not in second.result.out
    second.kill()
    third = house.start("serve", "--port", "0", env={"SEGUE_TOKEN": given})
    until(lambda: "SEGUE_TOKEN" in third.result.out, "which token")


def test_a_token_that_was_given_is_in_no_file(house: House) -> None:
    """`SEGUE_TOKEN`: nothing is named that is not there."""
    house.config("\n".join(house.tables))
    going = house.start("serve", "--port", "0", "--json")
    until(lambda: "listening" in going.result.out, "listening")
    assert json.loads(going.result.out.splitlines()[0])["tokenFile"] is None


def test_the_port_that_is_taken_is_told(house: House) -> None:
    """A port in use: exit 2 with the port in words, no traceback."""
    house.hand("a", GOOD)
    house.config("\n".join(house.tables))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = house.segue("serve", "--port", str(port), "--json")
    assert said.code == 2 and str(port) in said.out
    assert said.json["error"]["message"]


def test_an_agents_folder_is_not_left_by_a_deliverable(house: House) -> None:
    """`../` and absolute paths as deliverables in segue.toml are refused with the line."""
    house.hand("a", GOOD)
    for bad in ("../outside.md", "/etc/passwd"):
        house.config(
            "\n".join(house.tables)
            + f'\n[types.bad]\n[[types.bad.phases]]\nname = "p"\ndeliverables = ["{bad}"]\n'
        )
        said = house.segue("serve", "--port", "0", "--json", wait_s=90)
        assert said.code == 2, (bad, said)
        assert said.json["error"]["line"], said.out
