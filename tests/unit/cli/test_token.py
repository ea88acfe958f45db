"""`segue token`: a token is shown once, and never to an agent."""

from __future__ import annotations

import pytest

from kit.shell import Shell


def test_a_token_is_printed_once(segue: Shell) -> None:
    """Alone on standard output; the list has its name and scope, and not the token."""
    made = segue("token", "add", "ci")
    assert made.code == 0
    token = made.out.strip()
    assert len(token) >= 32
    assert "`ci` (read)" in made.err
    told = segue("token", "list", "--json")
    (row,) = told.json["tokens"]
    assert (row["name"], row["scope"]) == ("ci", "read")
    assert token not in told.out
    assert segue("token", "list").out.startswith("ci  read  ")


def test_a_revoked_token_is_gone(segue: Shell) -> None:
    """A second time, and an unknown one, are refused in words."""
    told = segue("token", "add", "ci", "--scope", "act", "--json").json
    assert (told["name"], told["scope"]) == ("ci", "act")
    assert segue("token", "revoke", "ci", "--json").json == {"name": "ci", "revoked": True}
    assert "No tokens" in segue("token", "list").out
    assert segue.refused("token", "revoke", "ci")["message"] == "no such token: `ci`"


def test_revoking_says_so(segue: Shell) -> None:
    segue("token", "add", "ci")
    assert segue("token", "revoke", "ci").out == "Revoked `ci`\n"


def test_an_agent_makes_no_token(segue: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does it see their names."""
    monkeypatch.setenv("SEGUE_RUN", "T-1-1-ab")
    for words in (("add", "mine", "--scope", "act"), ("list",), ("revoke", "ci")):
        told = segue("token", *words)
        assert (told.code, told.out) == (2, "")
        assert "T-1-1-ab" in told.err
