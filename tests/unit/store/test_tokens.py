"""Tokens by name, kept as hashes, and the list of logins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from segue.errors import UserError
from segue.store.sqlite import Store
from segue.store.tokens import ACT, OWNER, READ, Grant, Tokens, check_length

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "segue.db"


@pytest.fixture
def tokens(path: Path) -> Iterator[Tokens]:
    with closing(Store.open(path)) as store:
        yield Tokens(store)


def test_a_token_is_found_by_itself_alone(tokens: Tokens, path: Path) -> None:
    """With its name and scope; the database does not hold it."""
    token = tokens.add("ci", READ, NOW)
    assert len(token) >= 32
    assert tokens.find(token) == Grant("ci", READ)
    assert tokens.find(token[:-1]) is None
    assert tokens.find("ci") is None
    with closing(Store.open(path)) as other:
        assert token.encode() not in path.read_bytes()
        assert Tokens(other).find(token) is not None


def test_a_name_is_given_once(tokens: Tokens) -> None:
    """A second one of a name would make the journal ambiguous."""
    tokens.add("ci", ACT, NOW)
    with pytest.raises(UserError, match="already"):
        tokens.add("ci", READ, NOW)


@pytest.mark.parametrize("name", ["", OWNER, "-x", "a b", "a\x1b[2J", "x" * 65, "../x", "a\n"])
def test_a_name_is_harmless(tokens: Tokens, name: str) -> None:
    with pytest.raises(UserError, match="is not a valid token name"):
        tokens.add(name, READ, NOW)


def test_a_revoked_token_and_its_logins_are_over(tokens: Tokens) -> None:
    """Those of other tokens stay."""
    token = tokens.add("ci", ACT, NOW)
    hers = tokens.log_in(Grant("ci"), LATER, NOW)
    mine = tokens.log_in(Grant(OWNER), LATER, NOW)
    tokens.revoke("ci", NOW)
    assert tokens.find(token) is None
    assert tokens.find_login(hers, NOW) is None
    assert tokens.find_login(mine, NOW) == Grant(OWNER)
    assert tokens.all() == []
    with pytest.raises(UserError, match="no such token: `ci`"):
        tokens.revoke("ci", NOW)


def test_the_journal_says_who_made_and_ended_it(tokens: Tokens) -> None:
    """Its name and scope, never the token."""
    token = tokens.add("ci", ACT, NOW)
    tokens.revoke("ci", NOW)
    rows = tokens._store.all("SELECT * FROM journal WHERE entity = 'token' ORDER BY seq")
    assert [(row["entity_id"], row["to_state"]) for row in rows] == [
        ("ci", "added"),
        ("ci", "revoked"),
    ]
    assert token not in str([tuple(row) for row in rows])


def test_a_login_ends_by_its_time_or_by_a_logout(tokens: Tokens) -> None:
    value = tokens.log_in(Grant(OWNER), LATER, NOW)
    assert tokens.find_login(value, LATER - timedelta(seconds=1)) == Grant(OWNER)
    assert tokens.find_login(value, LATER) is None
    tokens.log_out(value, NOW)
    assert tokens.find_login(value, NOW) is None


def test_logins_do_not_fill_the_table(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go, and so do those whose time is over."""
    monkeypatch.setattr("segue.store.tokens.LOGINS_MAX", 3)
    values = [tokens.log_in(Grant(OWNER), LATER, NOW + timedelta(seconds=n)) for n in range(5)]
    assert [tokens.find_login(value, NOW) is not None for value in values] == [
        False, False, True, True, True,
    ]  # fmt: skip
    tokens.log_in(Grant(OWNER), LATER + timedelta(days=7), LATER)
    assert len(tokens._store.all("SELECT * FROM logins")) == 1


def test_a_short_token_is_refused() -> None:
    """With how long it must be."""
    check_length("x" * 32)
    with pytest.raises(UserError, match="at least 32"):
        check_length("x" * 31)
