"""The pages without a browser: what is sent, what is done with forms, what texts become."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kit.front import HOST, TOKEN, Client, FakeCommands, Front
from segue import i18n
from segue.core.machines import GATE, TASK, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AGENT, AgentState
from segue.engine import refusals
from segue.server.pages import pages, speech, texts, words
from segue.server.pages.forms import FIELDS_MAX
from segue.work.phases.commands import NewTask

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def visitor(commands: FakeCommands) -> Iterator[Client]:
    """A browser that is logged in."""
    front = Front(commands, pages=pages(commands))
    client = front.client(Origin=HOST, Accept="text/html")
    assert client.get(f"/login?token={TOKEN}").status_code == 303
    yield client
    front.close()


@pytest.fixture
def task(commands: FakeCommands) -> str:
    made: str = commands.create_task(NewTask(f"T {EVIL}", "d"))["id"]
    return made


def everywhere(commands: FakeCommands, task: str) -> list[str]:
    review = commands.open(
        "review", task, deliverables=[{"path": "a.md", "size": 3, "text": "# A"}]
    )
    commands.open("question", task, question=f"Q {EVIL}", options=[EVIL, "b"], default="b")
    commands.open("dependency", task, description=EVIL)
    commands.text = b"\x1b[1mhello\x1b[0m\n"
    return [
        "/",
        "/?query=T",
        "/?archived=true",
        "/states/draft",
        "/inbox",
        "/new",
        "/limits",
        "/settings",
        f"/tasks/{task}",
        f"/tasks/{task}/edit",
        f"/tasks/{task}/output",
        f"/reviews/{review}",
    ]


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_page_is_shown_in_every_language(
    visitor: Client, commands: FakeCommands, task: str, language: str
) -> None:
    """All pages come, with what others wrote as text; the server's own language stays."""
    for place in everywhere(commands, task):
        answer = visitor.get(place, headers={"Accept-Language": language})
        assert answer.status_code == 200, place
        assert EVIL not in answer.text, place
        if not place.endswith("/output"):
            assert f'<html lang="{language}">' in answer.text, place
    assert i18n.language() == "en"


def test_strangers_see_nothing_but_the_login(commands: FakeCommands, task: str) -> None:
    """Without a login every page leads to the form, and no form does anything."""
    front = Front(commands, pages=pages(commands))
    stranger = front.client(Origin=HOST, Accept="text/html")
    for place in everywhere(commands, task):
        answer = stranger.get(place)
        assert (answer.status_code, answer.headers["location"][:12]) == (303, "/login?next="), place
    assert stranger.post(f"/tasks/{task}/delete").status_code == 401
    assert task in commands.tasks
    front.close()


def test_a_form_of_another_site_does_nothing(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """A form must come from our own page."""
    for origin in ("http://evil.example", "null"):
        answer = visitor.post(f"/tasks/{task}/delete", headers={"Origin": origin})
        assert answer.status_code == 403
    assert task in commands.tasks


@pytest.mark.parametrize(
    ("cookies", "header", "wanted"),
    [
        ({}, "", "en"),
        ({}, "ko", "ko"),
        ({}, "ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ({}, "en;q=0.5, ko;q=0.9", "ko"),
        ({}, "fr, en;q=0.2, ko;q=0.1", "en"),
        ({}, "ko;q=0, en;q=0.1", "en"),
        ({}, "ko;q=nonsense", "en"),
        ({speech.COOKIE: "en"}, "ko", "en"),
        ({speech.COOKIE: "../etc"}, "ko", "ko"),
    ],
)
def test_the_language_is_chosen(cookies: dict[str, str], header: str, wanted: str) -> None:
    """The person's switch, then the browser's wishes in their order, then the server's language."""
    assert speech.wanted(cookies, header) == wanted


def test_a_switch_keeps_the_language_and_leads_nowhere_else(visitor: Client) -> None:
    """The cookie is set for known languages alone, and the way back is one of our own."""
    answer = visitor.post("/language", data={"language": "ko", "next": "/inbox"})
    assert answer.headers["location"] == "/inbox"
    assert "segue_lang=ko" in answer.headers["set-cookie"]
    for place in ("//evil.example", "https://evil.example", "/\\evil", "/a?b=c", "javascript:x"):
        answer = visitor.post("/language", data={"language": "xx", "next": place})
        assert answer.headers["location"] == "/", place
        assert "set-cookie" not in answer.headers


def test_agents_are_told_in_the_language_of_the_server(
    visitor: Client, commands: FakeCommands, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a Korean reader's approval makes the agent hear is not Korean by that."""
    spoken: list[str] = []
    monkeypatch.setattr(FakeCommands, "approve", lambda *_: spoken.append(i18n.language()))
    review = commands.open("review", task)
    answer = visitor.post(f"/reviews/{review}/approve", headers={"Accept-Language": "ko"})
    assert answer.status_code == 303
    assert spoken == ["en"]


def test_a_refused_secret_is_not_sent_back(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """A value that cannot be taken is told of, and appears nowhere in the answer."""
    needed = commands.open("dependency", task)
    secret = "s3cret" * 20_000
    answer = visitor.post(f"/dependencies/{needed}/provide", data={"value": secret, "task": task})
    assert answer.status_code == 422
    assert "too long" in answer.text
    assert "s3cret" not in answer.text
    assert commands.values == {}


def test_an_answer_is_taken_by_its_number(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """Numbers that name no option are no answer."""
    asked = commands.open("question", task, options=["A", "B"])
    for number in ("0", "3", "-1", "x", "²", "9" * 5000):
        answer = visitor.post(f"/questions/{asked}/answer", data={"option": number, "task": task})
        assert answer.status_code == 422, number
    answer = visitor.post(f"/questions/{asked}/answer", data={"option": "2", "task": task})
    assert answer.headers["location"] == "/inbox?said=answered"
    assert commands.gates[asked]["answer"] == "B"


def test_remarks_are_read_in_rows(visitor: Client, commands: FakeCommands, task: str) -> None:
    """Each row is a remark; empty ones are left out, and a line must be a number."""
    review = commands.open("review", task)
    form = {
        "feedback": "No.",
        "file": ["a", "b", "c"],
        "line": ["3", "", "x"],
        "text": ["one", "two", ""],
    }
    refused = visitor.post(
        f"/reviews/{review}/request-changes", data=form | {"text": ["one", "two", "three"]}
    )
    assert refused.status_code == 422
    assert "No." in refused.text
    assert visitor.post(f"/reviews/{review}/request-changes", data=form).status_code == 303
    assert commands.gates[review]["comments"] == [
        {"file": "a", "line": 3, "text": "one"},
        {"file": "b", "line": None, "text": "two"},
    ]


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"title": "x" * 301}, "too long"),
        ({"title": "x", "priority": "many"}, "must be a number"),
        ({"title": "x", "type": "nonsense"}, "no such type"),
        ({"title": "x", "dependsOn": ["y" * 101]}, "too long"),
        ({str(n): "" for n in range(FIELDS_MAX + 1)}, "too many fields"),
    ],
)
def test_a_bad_form_is_told_and_makes_nothing(
    visitor: Client, commands: FakeCommands, form: dict[str, object], told: str
) -> None:
    """What does not fit is refused in words, and nothing is made."""
    answer = visitor.post("/new", data=form)
    assert answer.status_code == 422
    assert told in answer.text
    assert commands.tasks == {}


def test_what_is_gone_is_said(visitor: Client) -> None:
    """A task that is not there has a page that says so."""
    for place in ("/tasks/task_nothing", "/reviews/rev_nothing", "/tasks/task_nothing/edit"):
        answer = visitor.get(place)
        assert answer.status_code == 404, place
        assert "text/html" in answer.headers["content-type"]
    assert visitor.get("/tasks/task_nothing/output").status_code == 404
    assert visitor.post("/tasks/task_nothing/pause").status_code == 404


def test_a_forbidden_act_is_refused_with_what_is_allowed(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """The buttons of an old page lead to words, not to a crash."""
    commands.put(task, TaskState.COMPLETED, AgentState.COMPLETED)
    answer = visitor.post(f"/tasks/{task}/pause")
    assert answer.status_code == 409
    assert "Possible: Archive, Delete" in answer.text


def test_only_known_words_are_said(visitor: Client) -> None:
    """The address cannot put words into our mouth."""
    assert "Saved." in visitor.get("/?said=saved").text
    assert "you won" not in visitor.get("/?said=you+won").text


def test_output_is_sent_when_there_is_more(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """Whoever has seen it all gets nothing while the agent runs."""
    commands.put(task, TaskState.IN_PROGRESS, AgentState.RUNNING)
    commands.text = b"one\n"
    assert "one" in visitor.get(f"/tasks/{task}/output?seen=0").text
    assert visitor.get(f"/tasks/{task}/output?seen=4").status_code == 204
    commands.text = b"one\ntwo\n"
    assert "two" in visitor.get(f"/tasks/{task}/output?seen=4").text


def test_what_waits_is_counted_once_for_each_change(
    visitor: Client, commands: FakeCommands, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking again does not count again while nothing has happened."""
    counted: list[int] = []
    inbox = commands.inbox

    def counting(**wanted: Any) -> dict[str, object]:
        counted.append(1)
        return inbox(**wanted)

    monkeypatch.setattr(commands, "inbox", counting)
    for _look in range(3):
        visitor.get("/settings")
    assert len(counted) == 1
    commands.happen(task)
    visitor.get("/settings")
    assert len(counted) == 2


def test_assets_are_kept_by_browsers(visitor: Client, commands: FakeCommands) -> None:
    """With its mark a file may be kept for ever; without it is asked for again, for nothing."""
    page = visitor.get("/").text
    address = page.split('rel="stylesheet" href="')[1].split('"')[0]
    answer = visitor.get(address)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
    plain = visitor.get("/static/segue.css")
    assert plain.headers["cache-control"] == "no-cache"
    again = visitor.get("/static/segue.css", headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert visitor.get("/static/THIRD_PARTY.md").status_code == 404


def test_hidden_characters_are_not_shown() -> None:
    """Escapes, controls and what turns text around are gone; letters and line ends stay."""
    assert texts.shown("a\x1b[31mb\x1b[0m\x07\u202ec\u061cd\x00") == "abcd"
    assert texts.shown("한국어 👩\u200d💻\nnext") == "한국어 👩\u200d💻\nnext"
    assert texts.shown(None) == ""
    assert texts.shown(7) == 7


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("# Head", "<h4>Head</h4>", "<h1"),
        (EVIL, "&lt;script&gt;", "<script"),
        ("<img src=x onerror=y>", "&lt;img", "<img"),
        ("![p](http://e.example/p.png)", "!", "<img"),
        ("[a](javascript:alert(1))", "javascript", "<a "),
        ("[a](data:text/html,x)", "data", "<a "),
        ("[a](/logout)", "/logout", "<a "),
        ("[a](https://e.example)", 'rel="noopener noreferrer nofollow"', "target"),
        ("`x\x1b[31m`\u202e", "<code>x</code>", "\u202e"),
    ],
)
def test_a_document_is_shown_as_a_page(text: str, wanted: str, unwanted: str) -> None:
    """Markdown becomes a page without anything that acts, loads or leads astray."""
    shown = str(texts.markdown(text))
    assert wanted in shown
    assert unwanted not in shown


def test_endless_texts_are_bounded() -> None:
    """However long it is, a page shows a bounded part, and says what it left out."""
    assert texts.markdown("x" * (texts.MARKDOWN_CHARS_MAX + 1)) is None
    lines, left_out = texts.source("line\n" * (texts.LINES_MAX + 5))
    assert (len(lines), left_out) == (texts.LINES_MAX, 5)
    assert len(texts.source("x" * 10**6)[0][0]) == texts.LINE_CHARS_MAX
    assert len(texts.diff("+x\n" * (texts.LINES_MAX + 5))) == texts.LINES_MAX
    assert len(texts.output(b"a\n" * 10_000, is_cut=False)) == texts.OUTPUT_LINES_MAX
    assert texts.output(b"rt\nwhole\n", is_cut=True) == ["whole"]
    assert len(texts.output(b"x" * 48_000, is_cut=True)[0]) == texts.LINE_CHARS_MAX


def test_a_difference_says_what_each_line_is() -> None:
    """Added, removed, the same, the place; heads of files are neither."""
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n same\n-old\n+new"
    kinds = [line.kind for line in texts.diff(text)]
    assert kinds == ["file", "file", "place", "same", "removed", "added"]


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ("Blocked", "Retry what it waits for", "Start without it", "Mark as failed")),
        ("ko", ("막힘", "기다리는 작업 다시 시도", "기다리지 않고 시작", "실패로 처리")),
    ],
)
def test_a_stuck_task_offers_its_ways_out(
    visitor: Client, commands: FakeCommands, language: str, texts: tuple[str, ...]
) -> None:
    """In the inbox, each as a form of its own."""
    task = commands.create_task(NewTask("Second"))["id"]
    commands.open("stuck", task)
    page = visitor.get("/inbox", headers={"Accept-Language": language}).text
    assert all(text in page for text in texts)
    for act in ("retry", "go-without", "fail"):
        assert f'action="/tasks/{task}/{act}"' in page


def test_an_answer_may_be_in_own_words(visitor: Client, commands: FakeCommands, task: str) -> None:
    """What is close to an option is asked back first, with a button for either."""
    asked = commands.open("question", task, options=["A", "B"])
    place = f"/questions/{asked}/answer"
    back = visitor.post(place, data={"own": "AB", "task": task})
    assert back.status_code == 422
    assert 'name="suggested"' in back.text
    assert 'name="as_own"' in back.text
    visitor.post(place, data={"own": "AB", "as_own": "1", "task": task})
    assert commands.gates[asked]["answer"] == "AB"
    other = commands.open("question", task, options=["A", "B"])
    visitor.post(f"/questions/{other}/answer", data={"own": "neither of them", "task": task})
    assert commands.gates[other]["answer"] == "neither of them"


def test_a_korean_page_has_the_words_of_the_original(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """Buttons, the journal's triggers and what was cancelled."""
    korean = {"Accept-Language": "ko"}
    assert "작업 제출" in visitor.get("/new", headers=korean).text
    commands.open("review", task)
    commands.put(task, TaskState.IN_PROGRESS, AgentState.RUNNING)
    commands.happen(task, "request_changes", **{"from": "review", "to": "in_progress"})
    page = visitor.get(f"/tasks/{task}", headers=korean).text
    for text in ("일시중지", "변경 요청", "리뷰 대기 → 진행 중"):
        assert text in page
    assert "request_changes" not in page
    commands.put(task, TaskState.FAILED, AgentState.FAILED)
    commands.tasks[task] |= {"error": "cancelled: too late", "outcome": "cancelled"}
    page = visitor.get(f"/tasks/{task}", headers=korean).text
    assert "취소됨: too late" in page
    assert "too late" not in visitor.get("/inbox", headers=korean).text


OF_PLANS = {
    "start", "skip", "complete", "try_again", "park", "ask", "restart", "retry", "reopen", "edit",
}  # fmt: skip


def test_every_trigger_of_the_journal_has_a_name() -> None:
    """Whatever moves a task with phases, its agent or what waits for a person; and what an agent was refused."""
    moved = {str(by) for one in (TASK, AGENT, GATE) for _state, by, _to in one.moves()}
    moved |= {str(Trigger.OPEN), str(Trigger.DELETE), refusals.CAUSE}
    assert words.TRIGGERS.keys() == moved - OF_PLANS
    assert "태스크" not in "".join(_korean_of_the_page())


def _korean_of_the_page() -> Iterator[str]:
    i18n.use("ko")
    try:
        for table in (words.STAGES, words.AGENTS, words.ACTIONS, words.SAID, words.TRIGGERS):
            yield from (i18n._(text) for text in table.values())
    finally:
        i18n.use("en")
