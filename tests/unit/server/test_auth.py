"""The token, the login cookie, and the hosts and origins that count as our own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kit.tokens import TokensInMemory
from segue.server.auth import COOKIE, LOGIN_S, Auth, By
from segue.store.tokens import OWNER, READ, Grant

TOKEN = "a-token"


class At:
    """A clock that a test sets."""

    now_s = 1_000.0

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(self.now_s, UTC)


@pytest.fixture
def at() -> At:
    return At()


@pytest.fixture
def auth(at: At) -> Auth:
    known = TokensInMemory({"a-named-one": Grant("ci", READ)})
    return Auth(TOKEN, ["127.0.0.1", "::1", "Box.example"], at, known)


def by(auth: Auth, headers: dict[bytes, bytes]) -> By | None:
    shown = auth.seen(headers)
    return shown.by if shown else None


def login(auth: Auth) -> str:
    return auth.login(Grant(OWNER))


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
    ("header", "wanted"),
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
def test_the_token_is_taken_as_a_bearer_alone(auth: Auth, header: bytes, wanted: By | None) -> None:
    assert by(auth, {b"authorization": header}) is wanted


def test_a_wrong_token_is_not_made_good_by_a_cookie(auth: Auth) -> None:
    """A client that sends a token means it; its cookie does not count then."""
    headers = {b"authorization": b"Bearer wrong", **cookie(login(auth))}
    assert auth.seen(headers) is None


def test_a_login_lasts_until_its_time(auth: Auth, at: At) -> None:
    """The last second before the end counts, the end itself does not."""
    mine = cookie(login(auth))
    at.now_s += LOGIN_S - 1
    assert by(auth, mine) is By.COOKIE
    at.now_s += 1
    assert by(auth, mine) is None


def test_a_login_of_one_server_opens_nothing_on_another(auth: Auth, at: At) -> None:
    """Each server has a list of its own, also where both have the same token."""
    other = Auth(TOKEN, ["127.0.0.1"], at, TokensInMemory())
    assert other.seen(cookie(login(auth))) is None


def test_a_logout_ends_the_login_for_whoever_has_a_copy(auth: Auth) -> None:
    """The list is the server's: what a browser or a thief keeps is worth nothing then."""
    mine, yours = cookie(login(auth)), cookie(login(auth))
    auth.log_out(mine)
    assert by(auth, mine) is None
    assert by(auth, yours) is By.COOKIE


def test_a_named_token_lets_in_with_its_scope(auth: Auth) -> None:
    """And so does the login of a browser that showed it."""
    shown = auth.seen({b"authorization": b"Bearer a-named-one"})
    assert shown is not None
    assert (shown.grant.name, shown.grant.may_act) == ("ci", False)
    again = auth.seen(cookie(auth.login(shown.grant)))
    assert again is not None
    assert again.grant == shown.grant


@pytest.mark.parametrize(
    "value", ["", ".", "1.", "٣.x", f"{'9' * 5000}.x", "-1.x", "9999999999.\xe9", "9999999999"]
)
def test_a_made_up_cookie_is_no_login(auth: Auth, value: str) -> None:
    header = f"{COOKIE}={value}".encode()
    assert auth.seen({b"cookie": header}) is None


def test_our_cookie_is_found_among_others(auth: Auth) -> None:
    """Other programs of this host set cookies too, and a stale one of ours may come first."""
    stale = b"a; =; %%%=\xff; segue_login=stale; "
    assert by(auth, {b"cookie": stale + cookie(login(auth))[b"cookie"]}) is By.COOKIE


@pytest.mark.parametrize(
    ("shown", "origin", "may"),
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
    auth: Auth, shown: By | None, origin: bytes | None, may: bool
) -> None:
    headers = {b"host": b"127.0.0.1:8765"} | ({} if origin is None else {b"origin": origin})
    assert auth.may_change(shown, headers) is may


def test_a_mark_tells_apart_what_is_split_differently(auth: Auth) -> None:
    """The parts of a request cannot be shifted into each other, and the token keys the digest."""
    assert auth.mark(b"ab", b"c") != auth.mark(b"a", b"bc")
    assert auth.mark(b"ab") == auth.mark(b"ab")
    assert Auth("other", [], At(), TokensInMemory()).mark(b"ab") != auth.mark(b"ab")


@pytest.mark.parametrize("given", ["", "a-toke", "a-token ", "é", "\ud800"])
def test_what_is_not_the_token_is_refused_whatever_characters_it_has(
    auth: Auth, given: str
) -> None:
    assert auth.grant(given) is None
    assert auth.grant(TOKEN) == Grant(OWNER)
