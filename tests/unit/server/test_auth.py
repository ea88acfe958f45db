"""The token, the login cookie, and the hosts and origins that count as our own."""

from __future__ import annotations

import pytest

from segue.server.auth import COOKIE, LOGIN_S, Auth, By

TOKEN = "a-token"


class At:
    """A clock that a test sets."""

    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def at() -> At:
    return At()


@pytest.fixture
def auth(at: At) -> Auth:
    return Auth(TOKEN, ["127.0.0.1", "::1", "Box.example"], at)


def cookie(value: str) -> dict[bytes, bytes]:
    return {b"cookie": f"{COOKIE}={value}".encode("latin-1")}


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:8765", True),
        ("[::1]:80", True),
        ("BOX.example.:1", True),  # names have no case, and may end in a dot
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1:port", False),
        ("127.0.0.1:123456", False),
        ("user@127.0.0.1", False),
        ("127.0.0.1/evil", False),
        ("", False),
        ("127.0.0.1\n", False),
    ],
)
def test_a_host_counts_by_its_name_and_with_any_port(auth: Auth, host: str, is_ours: bool) -> None:
    assert auth.answers_for(host) is is_ours


@pytest.mark.parametrize(
    ("header", "by"),
    [
        (b"Bearer a-token", By.TOKEN),
        (b"bearer  a-token ", By.TOKEN),
        (b"Bearer a-toke", None),
        (b"Bearer", None),
        (b"Basic a-token", None),
        (b"a-token", None),
        (b"Bearer \xff", None),
    ],
)
def test_the_token_is_taken_as_a_bearer_alone(auth: Auth, header: bytes, by: By | None) -> None:
    assert auth.seen({b"authorization": header}) is by


def test_a_wrong_token_is_not_made_good_by_a_cookie(auth: Auth) -> None:
    """A client that sends a token means it; its cookie does not count then."""
    headers = {b"authorization": b"Bearer wrong", **cookie(auth.login())}
    assert auth.seen(headers) is None


def test_a_login_lasts_until_its_time(auth: Auth, at: At) -> None:
    """The last second before the end counts, the end itself does not."""
    login = cookie(auth.login())
    at.now_s += LOGIN_S - 1
    assert auth.seen(login) is By.COOKIE
    at.now_s += 1
    assert auth.seen(login) is None


def test_a_login_cannot_be_prolonged_or_used_with_another_token(auth: Auth, at: At) -> None:
    """The signature covers the time, and the token makes the signature."""
    until, _dot, signature = auth.login().partition(".")
    assert auth.seen(cookie(f"{int(until) + 1}.{signature}")) is None
    other = Auth("another-token", ["127.0.0.1"], at)
    assert other.seen(cookie(f"{until}.{signature}")) is None
    assert TOKEN not in auth.login()


@pytest.mark.parametrize(
    "value", ["", ".", "1.", "٣.x", f"{'9' * 5000}.x", "-1.x", "9999999999.\xe9", "9999999999"]
)
def test_a_made_up_cookie_is_no_login(auth: Auth, value: str) -> None:
    header = f"{COOKIE}={value}".encode()
    assert auth.seen({b"cookie": header}) is None


def test_our_cookie_is_found_among_others(auth: Auth) -> None:
    """Other programs of this host set cookies too, and a stale one of ours may come first."""
    stale = b"a; =; %%%=\xff; segue_login=stale; "
    assert auth.seen({b"cookie": stale + cookie(auth.login())[b"cookie"]}) is By.COOKIE


@pytest.mark.parametrize(
    ("by", "origin", "may"),
    [
        (By.TOKEN, None, True),  # not a browser
        (By.COOKIE, None, False),
        (None, None, False),
        (By.COOKIE, b"http://127.0.0.1:8765", True),
        (By.COOKIE, b"HTTP://127.0.0.1:8765", True),
        (By.COOKIE, b"http://127.0.0.1:9999", False),  # another server of this machine
        (By.TOKEN, b"http://evil.example", False),
        (By.COOKIE, b"null", False),
        (By.COOKIE, b"", False),
        (By.COOKIE, b"http://127.0.0.1:8765.evil.example", False),
    ],
)
def test_a_change_comes_from_our_own_page_or_from_a_program_with_the_token(
    auth: Auth, by: By | None, origin: bytes | None, may: bool
) -> None:
    headers = {b"host": b"127.0.0.1:8765"} | ({} if origin is None else {b"origin": origin})
    assert auth.may_change(by, headers) is may


def test_a_mark_tells_apart_what_is_split_differently(auth: Auth) -> None:
    """The parts of a request cannot be shifted into each other, and the token keys the digest."""
    assert auth.mark(b"ab", b"c") != auth.mark(b"a", b"bc")
    assert auth.mark(b"ab") == auth.mark(b"ab")
    assert Auth("other", [], lambda: 0.0).mark(b"ab") != auth.mark(b"ab")


@pytest.mark.parametrize("given", ["", "a-toke", "a-token ", "é", "\ud800"])
def test_what_is_not_the_token_is_refused_whatever_characters_it_has(
    auth: Auth, given: str
) -> None:
    assert not auth.is_token(given)
    assert auth.is_token(TOKEN)
