"""The network may do nothing without the token, and no more than the token says."""

from __future__ import annotations

import socket
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from kit.box import Box
from kit.serve import GOOD, House
from kit.server import TOKEN, Server
from kit.waiting import until


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def add(box: Box, name: str, scope: str) -> str:
    told = box.segue("token", "add", name, "--scope", scope)
    assert told.code == 0, told
    return told.out.strip()


def cookie(server: Server, token: str = TOKEN) -> str:
    answer = server.raw("GET", f"/login?token={token}")
    assert answer.status == 303
    jar = SimpleCookie(answer.headers["set-cookie"])
    (name,) = jar
    return f"{name}={jar[name].value}"


def test_a_token_that_may_read_changes_nothing(house: House) -> None:
    """Neither itself, nor by the page of a browser that logged in with it."""
    server = house.serve()
    task = server.new(submit=False)
    token = add(house, "dashboard", "read")
    assert server.raw("GET", f"/api/tasks/{task}", headers=bearer(token)).status == 200
    refused = server.raw("POST", f"/api/tasks/{task}/submit", headers=bearer(token))
    assert refused.problem(403)["code"] == "read_only_token"
    mine = {"Cookie": cookie(server, token), "Origin": server.url}
    assert server.raw("GET", f"/tasks/{task}", headers=mine).status == 200
    form = {**mine, "Content-Type": "application/x-www-form-urlencoded"}
    assert server.raw("POST", f"/tasks/{task}/submit", b"", form).status == 403
    assert server.get(f"/tasks/{task}").ok()["status"] == "draft"


def test_the_journal_names_the_token_that_acted(house: House) -> None:
    """By its name, and by the way it came."""
    server = house.serve()
    task = server.new(submit=False)
    token = add(house, "ci", "act")
    assert server.raw("POST", f"/api/tasks/{task}/submit", headers=bearer(token)).status == 200
    row = next(row for row in server.journal(task) if row["trigger"] == "submit")
    assert (row["actor"], row["via"]) == ("ci", "token")


def test_a_revoked_token_is_over_at_once(house: House) -> None:
    """While the server runs, also for the browser that logged in with it."""
    server = house.serve()
    token = add(house, "ci", "act")
    login = cookie(server, token)
    assert server.raw("GET", "/api/tasks", headers=bearer(token)).status == 200
    assert house.segue("token", "revoke", "ci").code == 0
    assert server.raw("GET", "/api/tasks", headers=bearer(token)).status == 401
    assert server.raw("GET", "/api/tasks", headers={"Cookie": login}).status == 401


@pytest.mark.parametrize("token", ["hunter2", "x" * 31])
def test_a_short_token_opens_no_server(house: House, token: str) -> None:
    """It could be guessed: the server does not start."""
    told = house.segue("serve", "--port", "0", "--json", env={"SEGUE_TOKEN": token})
    assert told.code == 2
    assert told.json["error"]["code"] == "token_too_short"
    assert token not in told.said


def test_guesses_are_counted_on_every_route(house: House) -> None:
    """Twenty in a row, wherever they are made; the right token is never locked out."""
    server = house.serve()
    routes = ["/api/tasks", "/health", "/metrics", "/", "/api/no-such-route", "/static/segue.css"]
    seen = [
        server.raw("GET", routes[n % len(routes)], headers=bearer(f"guess-{n}")).status
        for n in range(18)
    ]
    assert 429 not in seen
    assert server.raw("GET", "/login?token=guess").status == 401
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert server.raw("POST", "/login", b"token=guess", form).status == 401
    for path in (*routes, "/login?token=guess"):
        headers = bearer("guess") if "login" not in path else {}
        assert server.raw("GET", path, headers=headers).status == 429, path
    assert server.get("/tasks").status == 200
    assert server.raw("GET", f"/login?token={TOKEN}").status == 303
    assert server.raw("GET", "/api/tasks", headers=bearer("guess")).status == 401


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1:80:80", "[::1", "127.0.0.1, evil.example", "127.0.0.1 x", "@"],
)
def test_a_malformed_host_is_misdirected(house: House, host: str) -> None:
    """421, whatever else the request shows."""
    server = house.serve()
    with socket.create_connection((server.host, server.port), timeout=30) as link:
        request = f"GET /api/tasks HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        link.sendall(f"{request}Connection: close\r\n\r\n".encode())
        assert link.recv(4096).startswith(b"HTTP/1.1 421 ")


def test_a_logout_ends_the_login_on_the_server(house: House) -> None:
    """A copy of the cookie is worth nothing any more, after a restart neither."""
    server = house.serve()
    login = cookie(server)
    headers = {"Cookie": login, "Origin": server.url}
    assert server.raw("GET", "/", headers=headers).status == 200
    assert server.raw("POST", "/logout", b"", headers).status == 303
    assert server.raw("GET", "/api/tasks", headers=headers).status == 401
    assert TOKEN not in login


def test_a_login_outlives_a_restart_and_lasts_seven_days(house: House) -> None:
    """The list is kept in the database."""
    server = house.serve()
    answer = server.raw("GET", f"/login?token={TOKEN}")
    assert "max-age=604800" in answer.headers["set-cookie"].lower()
    login = cookie(server)
    server.going.process.terminate()
    until(lambda: server.going.process.poll() is not None, "its end")
    again = house.serve()
    assert again.raw("GET", "/api/tasks", headers={"Cookie": login}).status == 200


def test_a_cookie_of_one_server_opens_nothing_on_another(house: House, tmp_path: Path) -> None:
    """Browsers send a cookie to all ports of a host: also where both servers have one token."""
    first = house.serve()
    (tmp_path / "second").mkdir()
    other = House(tmp_path / "second")
    other.hand("a", GOOD)
    try:
        second = other.serve()
        headers = {"Cookie": cookie(first)}
        assert first.raw("GET", "/api/tasks", headers=headers).status == 200
        assert second.raw("GET", "/api/tasks", headers=headers).status == 401
    finally:
        other.end_everything()
