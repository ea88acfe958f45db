"""People are told by the ways of `[notify]`, in every kind of work, once."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from kit.book import Book
from kit.box import Box
from kit.feature import Feature
from kit.waiting import until

Json = dict[str, Any]
FLAT = "the dialogue is flat"


class Post:
    """A program that keeps what it is told, as the user's own or a project's channel."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.program = box.tmp / "tell"
        self.program.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$SEGUE_NOTICE" >> {box.out}/told\ncat >> {box.out}/said\n'
        )
        self.program.chmod(0o755)
        self.user(f'channels = ["command:{self.program}"]')

    def user(self, text: str) -> None:
        folder = self.box.home / ".config" / "segue"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(f"[notify]\n{text}\n")

    @property
    def told(self) -> list[Json]:
        path = self.box.out / "told"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def headlines(self) -> list[str]:
        return [notice["headline"] for notice in self.told]


@pytest.fixture
def post(box: Box) -> Post:
    return Post(box)


def test_a_question_is_told_once_over_all_starts(post: Post) -> None:
    """And so is the end, when somebody has answered; a start that finds nothing to do is silent."""
    box = post.box
    box.scripted('ask "Which database?" red blue\nsay done\n')
    box.plan("- [ ] **T-001**: Choose a database\n")
    assert box.run().code == 3
    assert box.run().code == 3
    [asked] = post.told
    assert (asked["event"], asked["taskId"]) == ("question", "T-001")
    assert asked["headline"] == "Answer needed: T-001: Choose a database (PLAN.md)"
    assert asked["text"] == "Which database?\n· red\n· blue"
    assert asked["place"].endswith(f":{box.plan_path}")
    assert "Which database?" in (box.out / "said").read_text()

    box.plan("- [x] **T-001**: Choose a database\n- [ ] **T-002**: Go on\n  - run: true\n"
             "  - agent: shell\n")  # fmt: skip
    assert box.run().code == 0
    assert [notice["event"] for notice in post.told[1:]] == ["completed"]
    assert post.told[-1]["headline"] == "Completed: PLAN.md"
    assert post.told[-1]["text"] == "2 done"
    assert box.run().code == 0
    assert len(post.told) == 2


def test_a_failure_and_the_end_are_told(post: Post) -> None:
    """With what went wrong; also in Korean."""
    post.box.plan("- [ ] **T-001**: Break\n  - run: echo too bad; exit 3\n  - retries: 0\n")
    done = post.box.run(env={"SEGUE_LANG": "ko"})
    assert done.code == 1
    failed, end = sorted(post.told, key=lambda notice: notice["taskId"] == "")  # sent side by side
    assert (failed["event"], end["event"]) == ("failed", "failed")
    assert failed["headline"] == "실패: T-001: Break (PLAN.md)"
    assert "too bad" in failed["text"]
    assert end["headline"] == "실패: PLAN.md"


def test_the_projects_ways_take_the_place_of_the_users(post: Post) -> None:
    """`[reviews] notify` says the same in other words; an empty list says nobody."""
    post.box.plan("- [ ] **T-001**: a\n  - run: true\n")
    post.box.config("[notify]\nchannels = []\n")
    assert post.box.run().code == 0
    assert post.told == []
    post.box.plan("- [ ] **T-002**: b\n  - run: true\n")
    post.user('channels = ["command:false"]')
    post.box.config(f'[reviews]\nnotify = ["command:{post.program}"]\n')
    assert post.box.run().code == 0
    assert post.headlines == ["Completed: PLAN.md"]


def test_a_way_that_cannot_be_is_told_with_its_line(post: Post) -> None:
    """Before anything is run."""
    post.box.plan("- [ ] **T-001**: a\n  - run: true\n")
    post.box.config('jobs = 1\n[notify]\nchannels = ["dekstop"]\n')
    done = post.box.segue("run", "PLAN.md")
    assert done.code == 2
    assert "segue.toml:3" in done.said
    assert "did you mean `desktop`?" in done.said
    assert not (post.box.root / ".segue").exists()


class Hook(ThreadingHTTPServer):
    """A receiver that answers as it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[int] = []
        self.got: list[Json] = []


class Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append(body)
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_a_way_that_fails_ends_no_work_and_is_tried_again(post: Post, hook: Hook) -> None:
    """Once more before the end; and what could not be sent then goes out at the next start."""
    post.user(
        f'channels = ["command:no-such-program", "webhook:http://127.0.0.1:{hook.server_port}/x"]'
    )
    post.box.plan("- [ ] **T-001**: a\n  - run: true\n")
    hook.answers = [500]
    done = post.box.segue("run", "PLAN.md")
    assert done.code == 0
    assert [body["event"] for body in hook.got] == ["completed"] * 2
    assert len({body["id"] for body in hook.got}) == 1
    assert "HTTP 500" in done.said
    assert "config.toml:2: [notify] channels: `command`: no-such-program is not" in done.said

    hook.answers = [500] * 5
    post.box.plan("- [ ] **T-002**: b\n  - run: true\n")
    assert post.box.run().code == 0
    hook.answers, before = [], len(hook.got)
    assert post.box.run().code == 0
    assert len(hook.got) == before + 1
    assert hook.got[-1]["id"] == hook.got[-2]["id"]


def test_a_book_that_waits_is_told(post: Post) -> None:
    """The circuit breaker needs a decision."""
    book = Book(post.box)
    book.toml()
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    assert book.write_all().code == 3
    [notice] = post.told
    assert notice["event"] == "escalated"
    assert FLAT in notice["text"]


def test_a_feature_tells_its_review_and_its_end(post: Post) -> None:
    """The design waits for a person; what is done then is told at the end."""
    feature = Feature(post.box)
    assert feature.develop("--gates").code == 3
    assert [notice["event"] for notice in post.told] == ["review"]


def deadly(post: Post) -> None:
    """The first time that it is called, the program kills the Segue that called it, and then says
    nothing."""
    text = post.program.read_text().replace("#!/bin/sh\n", "")
    died = post.box.out / "died"
    kill = f"if mkdir {died}; then kill -9 $PPID; exit 1; fi\n"
    post.program.write_text(f"#!/bin/sh\n{kill}{text}")


@pytest.mark.parametrize("kind", ["run", "write-all", "develop"])
def test_a_notice_survives_a_death_while_it_is_sent(post: Post, kind: str) -> None:
    """In every kind of work: Segue is killed while it sends a notice that nobody has acknowledged;
    the next start sends it, and the start after that does not."""
    box = post.box
    if kind == "run":
        box.scripted('ask "Which database?" red blue\nsay done\n')
        box.plan("- [ ] **T-001**: Choose a database\n")
    book, feature = Book(box) if kind == "write-all" else None, None
    if book is not None:
        book.toml()
        book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    if kind == "develop":
        feature = Feature(box)
    deadly(post)

    def start(is_first: bool) -> int:
        if book is not None:
            return book.write_all().code
        if feature is not None:
            return (feature.develop("--gates") if is_first else feature.go_on("--gates")).code
        return box.run().code

    assert start(is_first=True) == -9
    assert (box.out / "died").exists()
    assert post.told == []
    assert start(is_first=False) == 3
    assert len(post.told) == 1
    assert start(is_first=False) == 3
    assert len(post.told) == 1, "told once"


def deferred(post: Post) -> None:
    """A plan that ended in quiet hours; then those are over."""
    now = datetime.now(UTC)
    start, end = (now - timedelta(hours=1), now + timedelta(hours=1))
    quiet = f"{start:%H:%M}-{end:%H:%M}"
    post.user(f'channels = ["command:{post.program}"]\nquiet = "{quiet}"')
    post.box.plan("- [ ] **T-001**: a\n  - run: true\n")
    assert post.box.run(env={"TZ": "UTC"}).code == 0
    assert post.told == []
    post.user(f'channels = ["command:{post.program}"]')
    with closing(sqlite3.connect(post.box.database)) as db:
        [[until_at]] = db.execute("SELECT next_at FROM notices WHERE next_at IS NOT NULL")
        assert until_at > f"{now:%Y-%m-%dT%H:%M}"
        db.execute("UPDATE notices SET next_at = ?", (f"{now:%Y-%m-%dT%H:%M:%S}.000000Z",))
        db.commit()


@pytest.mark.parametrize("starter", ["run", "other", "serve"])
def test_what_quiet_held_back_is_sent_by_the_next_owner(post: Post, starter: str) -> None:
    """The owner of the plan ended in the quiet hours: the next start of that plan, of another plan
    of the project or of the server sends it, once."""
    deferred(post)
    box = post.box
    if starter == "serve":
        server = box.start("serve", "--port", "0", "--json")
        until(lambda: post.told, "the notice")
        server.send(signal.SIGTERM)
        assert server.end().code == 0
    elif starter == "other":
        box.plan("- [x] **T-001**: b\n  - run: true\n", "OTHER.md")
        assert box.segue("run", "OTHER.md").code == 0
    else:
        assert box.run().code == 0
    assert [notice["headline"] for notice in post.told] == ["Completed: PLAN.md"]
    assert box.run().code == 0
    assert len(post.told) == 1


def test_what_a_complete_book_has_left_to_tell_is_sent_by_another_owner(post: Post) -> None:
    """Segue was killed while it told the end, and nobody starts a complete book again: the next run
    of a plan in the project sends it."""
    book = Book(post.box)
    book.toml(1)
    book.scores({1: [90]})
    deadly(post)
    assert book.write_all().code == -9
    assert post.told == []
    assert book.write_all().code == 0
    post.box.plan("- [x] **T-001**: a\n  - run: true\n")
    for _start in range(2):
        assert post.box.run().code == 0
        assert [notice["event"] for notice in post.told] == ["completed"]
