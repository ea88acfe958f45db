"""What all of `segue task` share: which server, which task or gate, and its refusals in words."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from kit.hand_client import ONE, TWO, HandClient, gate, refusal, task
from segue import i18n
from segue.cli import task_link
from segue.client import ClientError
from segue.errors import UserError
from segue.work.project import Project


def refused(act: Any, *args: Any) -> Any:
    """The problem that a person is shown."""
    with pytest.raises(UserError) as caught:
        act(*args)
    return caught.value.problem


def test_the_server_of_this_folder_is_found_by_its_files(alone: Path) -> None:
    """Without an option or a variable."""
    place = Project(alone).keys
    place.mkdir(parents=True)
    (place / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:9"}))
    (place / "token").write_text("secret\n")
    assert task_link.connect(None, None, {}).url == "http://127.0.0.1:9"


def test_an_option_goes_before_the_environment(alone: Path) -> None:
    environ = {"SEGUE_URL": "http://127.0.0.1:1", "SEGUE_TOKEN": "t"}
    assert task_link.connect(None, None, environ).url == "http://127.0.0.1:1"
    assert task_link.connect("http://127.0.0.1:2", None, environ).url == "http://127.0.0.1:2"


@pytest.mark.parametrize(
    ("url", "token", "text"),
    [
        ("http://127.0.0.1:1", None, "the token of the server is missing"),
        ("127.0.0.1:8765", "t", "`127.0.0.1:8765` is not the address of a server"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused_with_the_cure(
    alone: Path, url: str, token: str | None, text: str
) -> None:
    problem = refused(task_link.connect, url, token, {})
    assert (problem.code, problem.message) == ("usage", text)
    assert problem.hint


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (refusal(422, "x", hint="try this"), "try this"),
        (refusal(422, "x", suggestion="SQLite"), "did you mean `SQLite`?"),
        (refusal(401, "x"), "wrong token: set SEGUE_TOKEN, or pass --token"),
        (refusal(422, "x", errors=[{"pointer": "#/title", "detail": "too long"}]),
         "title: too long"),
        (refusal(409, "x", allowedActions=["pause", "cancel"]), "possible now: pause, cancel"),
        (refusal(404, "x", allowedActions=["pause"]), None),
        (refusal(422, "x", hint="a\x1b[2Jb"), "ab"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("alone")
def test_a_refusal_of_the_server_names_the_cure(error: ClientError, hint: str | None) -> None:
    problem = task_link.in_words(error).problem
    assert (problem.code, problem.message, problem.hint) == ("x", "it cannot be done", hint)


@pytest.mark.parametrize("given", [ONE, "task_00000000a", "00000000aaaa"])
def test_a_task_is_found_by_its_beginning(given: str) -> None:
    """An archived one, too; a whole id is not looked for."""
    client = HandClient(tasks=[task(ONE, archived="true"), task(TWO)])
    assert task_link.find_task(client, given) == ONE
    assert task_link.find_task(HandClient(tasks=[]), "task_ffffffffffff") == "task_ffffffffffff"


@pytest.mark.parametrize(
    ("given", "code"), [("0000", "ambiguous_id"), ("f", "unknown_id"), ("", "unknown_id")]
)
@pytest.mark.usefixtures("alone")
def test_an_id_that_is_none_or_several_is_refused(given: str, code: str) -> None:
    """Several are listed, a few of them, with their titles on one line."""
    many = [task(f"task_0000{n:08x}", title="a\nb") for n in range(7)]
    problem = refused(task_link.find_task, HandClient(tasks=many), given)
    assert problem.code == code
    if code == "ambiguous_id":
        *lines, last = problem.hint.splitlines()
        assert lines == [f"{one['id']}  a b" for one in many[: task_link.SHOWN_MAX]]
        assert last == "… and 2 more"


@pytest.mark.parametrize("given", ["dep_00000000cccc", "dep_0", "0000", "STRIPE_KEY", ONE])
def test_what_waits_is_found_by_its_id_its_task_or_its_name(given: str) -> None:
    client = HandClient(inbox=[gate("dependency", "dep_00000000cccc")])
    assert task_link.find_gate(client, given, "dependency") == "dep_00000000cccc"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("review", "x has no open review"),
        ("question", "x has no open question"),
        ("dependency", "x has no open dependency request"),
    ],
)
@pytest.mark.usefixtures("alone")
def test_what_does_not_wait_is_said_with_what_does(kind: str, text: str) -> None:
    """Of the same kind; else where to look."""
    nothing = refused(task_link.find_gate, HandClient(), "x", kind)
    assert (nothing.message, nothing.hint) == (text, "see: segue task list")
    waits = HandClient(inbox=[gate(kind, "id_1")])
    assert "id_1  " in refused(task_link.find_gate, waits, "x", kind).hint


def test_a_text_may_come_on_standard_input(monkeypatch: pytest.MonkeyPatch, alone: Path) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("  from outside\n"))
    assert task_link.text_of("-", "FEEDBACK") == "from outside"
    assert task_link.text_of("words", "FEEDBACK") == "words"
    assert refused(task_link.text_of, None, "FEEDBACK").message == "FEEDBACK is missing"
    i18n.use("ko")
    assert refused(task_link.text_of, "", "FEEDBACK").message != "FEEDBACK is missing"
