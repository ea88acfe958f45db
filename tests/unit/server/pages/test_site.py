"""What every page has, and where forms lead."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from kit.front import FakeCommands
from segue import i18n
from segue.server.commands import NewTask
from segue.server.pages import views
from segue.server.pages.site import Site, go, size, when
from segue.work.phases.refused import Refused


def request(path: str = "/settings", query: str = "", language: str = "") -> Request:
    headers = [(b"accept-language", language.encode())]
    scope = {"type": "http", "path": path, "query_string": query.encode(), "headers": headers}
    return Request(scope | {"method": "GET", "server": ("x", 80), "scheme": "http"})


def shown(site: Site, asked: Request) -> str:
    page = site.show(asked, "settings.html", lambda: views.settings(site.commands))
    return bytes(page.body).decode()


def test_a_page_is_in_the_language_of_the_person(site: Site) -> None:
    """And the server speaks its own again afterwards."""
    assert '<html lang="ko">' in shown(site, request(language="ko"))
    assert '<html lang="en">' in shown(site, request())
    assert i18n.language() == "en"


def test_a_page_says_how_much_waits(site: Site, commands: FakeCommands, task: str) -> None:
    """It is counted again after each change, and only then."""
    assert site.waiting() == 0
    commands.open("question", task)
    assert site.waiting() == 0
    commands.happen(task)
    assert site.waiting() == 1


def test_what_cannot_be_looked_at_is_a_page_with_its_status(site: Site) -> None:
    def gone() -> dict[str, object]:
        raise Refused(404, "unknown_task", "no such task")

    page = site.show(request(), "task.html", gone)
    assert page.status_code == 404
    assert "Not found, or deleted" in bytes(page.body).decode()


def test_only_known_words_are_said(site: Site) -> None:
    """The address names them: nobody else puts words on our page."""
    assert "Saved." in shown(site, request(query="said=saved"))
    assert "you won" not in shown(site, request(query="said=you+won"))


def test_text_of_others_is_escaped_wherever_a_template_shows_it(
    site: Site, commands: FakeCommands
) -> None:
    task = commands.create_task(NewTask('<u>"\x1b[31m\u202ex', "<i>y</i>"))["id"]
    page = site.show(request(), "task.html", lambda: views.task(commands, task))
    text = bytes(page.body).decode()
    assert "&lt;u&gt;" in text
    for bad in ("<u>", "\x1b", "\u202e", "<i>y"):
        assert bad not in text


@pytest.mark.parametrize(
    ("place", "leads_to"),
    [
        ("/tasks/task_1", "/tasks/task_1?said=saved"),
        ("/", "/?said=saved"),
        ("//evil.example", "/?said=saved"),
        ("https://evil.example", "/?said=saved"),
        ("/a/../b", "/?said=saved"),
        ("/a?b=c", "/?said=saved"),
        ("", "/?said=saved"),
        ("/a\r\nSet-Cookie: x", "/?said=saved"),
    ],
)
def test_a_form_leads_to_our_own_pages_alone(place: str, leads_to: str) -> None:
    answer = go(place, "saved")
    assert (answer.status_code, answer.headers["location"]) == (303, leads_to)


def test_a_way_may_have_a_part_and_no_words() -> None:
    assert go("/inbox").headers["location"] == "/inbox"
    assert go("/inbox", part="#a").headers["location"] == "/inbox#a"


def test_a_time_is_shown_in_words_and_for_scripts() -> None:
    assert when("2026-11-16T01:02:03Z", "age") == (
        '<time datetime="2026-11-16T01:02:03Z" class="age">2026-11-16 01:02 UTC</time>'
    )
    assert (when(None), when("")) == ("–", "–")
    assert "<b>" not in when('<b>"')


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (999_400, "999 kB"),
        (999_999, "1 MB"),
        (5 * 10**9, "5000 MB"),
    ],
)
def test_a_size_is_short(count: int, text: str) -> None:
    assert size(count) == text
