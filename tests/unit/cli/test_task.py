"""`segue task` on a real server: verbs, abbreviations, refusals in words, secrets unseen."""

from __future__ import annotations

import io
import json
import os
import re
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from kit.client import Running, leave_place, running
from kit.front import TOKEN
from segue import i18n
from segue.cli import main as cli
from segue.cli import task_looks, task_words
from segue.cli.task import command as group
from segue.core.plan import TaskState
from segue.core.serving import STAGES, AgentState

ON_A_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "segue", *sys.argv[1:]])
"""


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("SEGUE_LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE", "SEGUE_TOKEN", "SEGUE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    yield
    i18n.use("en")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    """The server of the folder in which the commands are called."""
    with running() as made:
        leave_place(tmp_path, made.url)
        yield made


class Shell:
    """Calls commands, and reads what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capsys, self._patch = capsys, patch

    def __call__(self, *args: str, said: str = "") -> tuple[int, str, str]:
        self._patch.setattr(sys, "stdin", io.StringIO(said))
        with pytest.raises(SystemExit) as caught:
            cli.main(["task", *args])
        assert isinstance(caught.value.code, int)
        out, err = self._capsys.readouterr()
        return caught.value.code, out, err

    def json(self, *args: str, said: str = "") -> Any:
        code, out, err = self(*args, "--json", said=said)
        assert (code, err) == (0, ""), out + err
        return json.loads(out)


@pytest.fixture
def segue(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


def gate(server: Running, kind: str, task: str, id: str, **more: object) -> str:
    """Something that waits, with an id of the shape that real ones have."""

    def make() -> str:
        old = server.commands.open(kind, task, **more)
        server.commands.gates[id] = server.commands.gates.pop(old) | {"id": id}
        server.commands.kinds[id] = server.commands.kinds.pop(old)
        server.commands.happen(task, "open")
        return id

    return server.do(make)


def test_a_task_is_handed_in_and_moved_along(segue: Shell, server: Running, tmp_path: Path) -> None:
    """Every verb, with an id that is cut short."""
    first = segue.json("add", "First", "-d", "-", said="from outside\n")
    assert (first["status"], first["description"]) == ("draft", "from outside")
    (tmp_path / "about.md").write_text("A shop")
    made = segue.json(
        "add", "Shop", "--file", "about.md", "--type", "create_app", "--agent", "codex",
        "--after", "task_0", "--priority", "4",
    )  # fmt: skip
    assert (made["description"], made["type"], made["agent"]) == ("A shop", "create_app", "codex")
    assert (made["dependsOn"], made["priority"]) == ([first["id"]], 4)
    id = made["id"]
    short = id.removeprefix("task_")
    assert segue.json("submit", short)["status"] == "pending"
    code, out, _err = segue("cancel", id)
    assert (code, out) == (0, f"✎ {id}  draft  Shop\n")
    server.do(lambda: server.commands.put(id, TaskState.IN_PROGRESS, AgentState.RUNNING))
    code, out, _err = segue("pause", id)
    assert (code, out) == (0, f"▶ {id}  in progress, paused  Shop\n")
    assert segue.json("resume", id)["agentStatus"] == "running"
    assert segue.json("cancel", id, "--reason", "no more")["status"] == "failed"
    assert server.commands.tasks[id]["error"] == "no more"
    assert segue.json("retry", id)["status"] == "draft"
    assert segue.json("retry", id, "--submit")["status"] == "pending"
    assert segue.json("fork", id)["forkedFrom"] == id
    assert segue.json("fork", id, "--checkpoint", "cp_")["forkedFrom"] == id
    assert segue.json("rewind", id, "1")["status"] == "in_progress"
    assert segue.json("add", "Quick", "-d", "d", "--submit")["status"] == "pending"


def test_an_id_may_be_cut_short_only_if_it_is_one(segue: Shell, server: Running) -> None:
    """Several are listed; none is told; a whole one is not looked for."""
    one, two = segue.json("add", "One", "-d", "d"), segue.json("add", "Two", "-d", "d")
    code, _out, err = segue("submit", "task_0")
    assert code == 2
    assert "task_0 matches several" in err
    assert one["id"] in err
    assert two["id"] in err
    code, out, _err = segue("submit", "ffff", "--json")
    assert code == 2
    assert json.loads(out)["error"]["code"] == "unknown_id"
    code, _out, err = segue("submit", "task_ffffffffffff")
    assert "no such task: task_ffffffffffff" in err
    server.do(lambda: server.commands.tasks[one["id"]].update(archived=True))
    server.do(lambda: server.commands.happen(one["id"], "archive"))
    assert segue.json("show", one["id"].removeprefix("task_"))["task"]["id"] == one["id"]


def test_what_is_refused_is_said_with_what_is_possible(segue: Shell, server: Running) -> None:
    """Exit 2; the state's own actions as the cure; fields that do not fit by their names."""
    id = segue.json("add", "One", "-d", "d")["id"]
    code, out, err = segue("pause", id)
    assert (code, out) == (2, "")
    assert "pause is not possible" in err
    assert "possible now: submit, delete" in err
    code, out, _err = segue("pause", id, "--json")
    assert code == 2
    error = json.loads(out)["error"]
    assert error["code"] == "not_allowed"
    assert error["hint"] == "possible now: submit, delete"
    code, _out, err = segue("add", "x" * 1000)
    assert code == 2
    assert "title: " in err


def test_tasks_are_listed(segue: Shell, server: Running) -> None:
    """By state, by title; in words and as JSON."""
    one = segue.json("add", "One\x1b[31m", "-d", "d")
    two = segue.json("add", "Two", "-d", "d", "--submit")
    _code, out, _err = segue("list")
    assert out == f"✎ {one['id']}  draft  One\n○ {two['id']}  pending  Two\n"
    assert [each["id"] for each in segue.json("list")["items"]] == [one["id"], two["id"]]
    assert segue("list", "--status", "pending")[1].count("\n") == 1
    assert segue("list", "--query", "Tw")[1].startswith("○")
    assert segue("list", "--limit", "1")[1].count("\n") == 1
    assert segue("list", "--type", "create_app")[1] == "No task matches.\n"
    assert segue("list", "--waiting")[1] == "Nothing waits for you.\n"
    assert segue("list", "--status", "bad")[0] == 2


def test_what_waits_is_shown_with_how_to_give_it(segue: Shell, server: Running) -> None:
    """What agents wrote cannot act on the terminal."""
    task = segue.json("add", "Shop", "-d", "Line one\n\x1b[2J\x07line two")["id"]
    gate(
        server,
        "question",
        task,
        "q_00000000aaaa",
        question="Which\x1b[2J\x07\ndatabase?",
        default="B",
    )
    gate(server, "dependency", task, "dep_00000000bbbb", name="STRIPE_KEY", description="for pay")
    gate(server, "review", task, "rev_00000000cccc", deliverables=[{"path": "docs/plan.md"}])
    _code, out, _err = segue("show", task)
    for expected in (
        f"✎ {task}  draft  Shop",
        "  | Line one\n  | line two\n",
        "  Waits for you:",
        "❓ q_00000000aaaa  Which database?",
        "- B (default)",
        "segue task answer q_00000000aaaa",
        "🔑 dep_00000000bbbb  api_key STRIPE_KEY: for pay",
        "segue task provide dep_00000000bbbb",
        "✋ rev_00000000cccc  Shop: plan (round 1)",
        "- docs/plan.md",
        "possible now: submit, delete",
        "newest checkpoint: cp_1 (pause",
    ):
        assert expected in out
    assert not set("\x1b\x07") & set(out)
    assert segue("list", "--waiting")[1] in out.replace("    ", "")
    found = segue.json("show", task)
    assert set(found) == {"task", "agent", "phases", "waiting", "checkpoints"}
    assert len(found["waiting"]) == 3


def test_a_review_is_shown_with_what_is_to_be_judged(segue: Shell, server: Running) -> None:
    """What changed since the last round, or the whole file."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    files = [
        {"path": "a.md", "size": 10, "text": "all of a\x1b[2J\x07", "diff": None},
        {"path": "b.md", "size": 20, "text": "all of b", "diff": "+new in b"},
    ]
    id = gate(server, "review", task, "rev_00000000cccc", deliverables=files,
              verification={"verdict": "pass"})  # fmt: skip
    _code, out, _err = segue("show", id)
    assert "── a.md (10)\nall of a\n" in out
    assert "── b.md (20)\n+new in b\n" in out
    assert "all of b" not in out
    assert "verdict: pass" in out
    assert segue.json("show", id)["deliverables"] == files


def test_reviews_are_decided(segue: Shell, server: Running) -> None:
    """By the id of the review or of its task; comments name file and line."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    id = gate(server, "review", task, "rev_00000000cccc")
    done = segue.json(
        "changes", task, "-", "--comment", "docs/a.md:12: too vague",
        "--comment", "b.md: why: so?", said="Name the risks\n",
    )  # fmt: skip
    assert (done["id"], done["status"]) == (id, "changes_requested")
    assert done["feedback"] == "Name the risks"
    assert [(each["file"], each["line"], each["text"]) for each in done["comments"]] == [
        ("docs/a.md", 12, "too vague"),
        ("b.md", None, "why: so?"),
    ]
    code, _out, err = segue("approve", task)
    assert code == 2
    assert f"{task} has no open review" in err
    code, _out, err = segue("approve", id)
    assert code == 2
    assert "already decided" in err
    gate(server, "review", task, "rev_00000000dddd")
    code, out, _err = segue("approve", "0000dddd"[-4:], "--comment", "good")
    assert code == 2, "the beginning of an id, not its end"
    code, out, _err = segue("approve", "rev_", "--comment", "good")
    assert (code, out) == (0, "✔ rev_00000000dddd  approved\n")
    assert server.commands.gates["rev_00000000dddd"]["feedback"] == "good"
    code, _out, err = segue("changes", "x", "y", "--comment", "no colon")
    assert code == 2
    assert "FILE:LINE:TEXT" in err


def test_a_close_answer_is_not_taken(segue: Shell, server: Running) -> None:
    """What may be meant is shown; a program is not asked back."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    id = gate(server, "question", task, "q_00000000aaaa")
    gate(server, "review", task, "rev_00000000cccc")  # of the same task, and not what is meant
    code, _out, err = segue("answer", task, "a")
    assert code == 2
    assert "did you mean `A`?" in err
    assert server.commands.gates[id]["status"] == "pending"
    assert segue.json("answer", task, "-", said="A\n")["answer"] == "A"
    code, _out, err = segue("answer", id, "B")
    assert code == 2
    assert "already decided" in err
    gate(server, "question", task, "q_00000000bbbb")
    code, _out, err = segue("answer", task)
    assert code == 2
    assert "ANSWER is missing" in err


def test_several_that_fit_are_listed(segue: Shell, server: Running) -> None:
    """And what waits otherwise, if none fits."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    gate(server, "dependency", task, "dep_00000000aaaa", name="ONE")
    gate(server, "dependency", task, "dep_00000000bbbb", name="TWO")
    code, _out, err = segue("provide", task, said="v")
    assert code == 2
    assert "matches several" in err
    assert "ONE" in err
    code, _out, err = segue("provide", "THREE", said="v")
    assert code == 2
    assert "THREE has no open dependency request" in err
    assert "TWO" in err
    segue.json("provide", "TWO", said="v")
    assert server.commands.values == {"dep_00000000bbbb": "v"}


def test_a_value_comes_from_standard_input(segue: Shell, server: Running) -> None:
    """Without its last line end; on the command line it is taken with a warning; never printed."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    ids = [gate(server, "dependency", task, f"dep_00000000000{n}", name=f"K{n}") for n in range(4)]
    code, out, err = segue("provide", ids[0], said="s3cret \n")
    assert (code, err) == (0, "")
    assert out == f"✔ {ids[0]}  provided\n"
    code, out, err = segue("provide", ids[1], "--value", "s3cret2")
    assert code == 0
    assert "warning" in err
    assert "s3cret" not in out + err
    code, _out, err = segue("provide", ids[2], said="\n")
    assert code == 2
    assert "the value is empty" in err
    assert server.commands.values == {ids[0]: "s3cret ", ids[1]: "s3cret2"}
    done = segue.json("reject", ids[3], "--reason", "use another")
    assert (done["status"], done["reason"]) == ("rejected", "use another")
    assert segue("reject", ids[2])[0] == 2


def test_on_a_terminal_a_value_is_typed_unseen(segue: Shell, server: Running) -> None:
    """A prompt without echo."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    gate(server, "dependency", task, "dep_00000000aaaa", name="KEY")
    shown, code = on_terminal(["task", "provide", "KEY"], [("Value", "s3cret\n")])
    assert code == 0, shown
    assert "s3cret" not in shown
    assert server.commands.values == {"dep_00000000aaaa": "s3cret"}


def test_on_a_terminal_a_close_answer_is_asked_about(segue: Shell, server: Running) -> None:
    """Yes takes it; the question and its options are shown where no answer was given."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    id = gate(server, "question", task, "q_00000000aaaa")
    shown, code = on_terminal(
        ["task", "answer", task],
        [("Answer", "a\n"), ("Did you mean `A`?", "n\n"), ("own words?", "n\n")],
    )
    assert code == 2, shown
    assert "Which?" in shown
    assert "- B" in shown
    assert server.commands.gates[id]["status"] == "pending"
    shown, code = on_terminal(["task", "answer", task, "a"], [("Did you mean `A`?", "y\n")])
    assert code == 0, shown
    assert server.commands.gates[id]["answer"] == "A"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_log_is_printed_harmlessly(
    server: Running,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    size: int,
) -> None:
    """In pieces of any size; `--raw` gives every byte."""
    task = server.client.create_task("Shop", "d")["id"]
    text = "첫째\n\x1b[2J\x07sec\x08ond\n\nlast".encode()  # click itself strips colours only
    server.do(lambda: setattr(server.commands, "text", text))
    monkeypatch.setattr(task_looks, "PIECE_BYTES", size)
    harmless = "첫째\nsecond\n\nlast\n".encode()
    for option, expected in (([], harmless), (["--raw"], text)):
        with pytest.raises(SystemExit):
            cli.main(["task", "log", task, *option])
        assert capfdbinary.readouterr().out == expected


def test_an_endless_line_is_cut(
    segue: Shell, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not kept in memory for its end."""
    monkeypatch.setattr(task_looks, "PIECE_BYTES", 10)
    monkeypatch.setattr(task_looks, "LINE_BYTES_MAX", 25)
    task = segue.json("add", "Shop", "-d", "d")["id"]
    server.do(lambda: setattr(server.commands, "text", b"x" * 100))
    code, out, _err = segue("log", task)
    assert code == 0
    assert out.replace("\n", "") == "x" * 100
    assert max(map(len, out.split())) <= 40


def test_a_log_is_followed_to_the_end_of_its_task(
    segue: Shell, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes while it looks is printed, then it ends."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    server.do(lambda: server.commands.put(task, TaskState.IN_PROGRESS, AgentState.RUNNING))
    texts = [b"one\n", b"one\ntw", b"one\ntwo\nthree\n"]

    def sleep(_seconds: float) -> None:
        server.do(lambda: setattr(server.commands, "text", texts.pop(0)))
        if not texts:
            server.do(lambda: server.commands.put(task, TaskState.COMPLETED))

    monkeypatch.setattr("segue.cli.task_looks.time.sleep", sleep)
    code, out, _err = segue("log", task, "--follow")
    assert (code, out) == (0, "one\ntwo\nthree\n")


def test_events_of_a_task_end_with_it(segue: Shell, server: Running) -> None:
    """Exit 0 if it was completed, 1 if it failed; each event on its line."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    server.do(lambda: server.commands.happen(task, "assign", to="in_progress"))
    server.do(lambda: server.commands.happen(task, "question", entity="gate", to="answered",
                                         metadata={"kind": "question"}))  # fmt: skip
    server.do(lambda: server.commands.happen(task, "approve", to="completed"))
    server.do(lambda: server.commands.happen(task, "fail", to="failed"))
    code, out, _err = segue("events", task, "--after", "1")
    assert code == 0
    lines = out.splitlines()
    assert [int(line.split()[0]) for line in lines] == [2, 3, 4]
    assert "task: draft → in progress  (assign)" in lines[0]
    assert "question: draft → answered" in lines[1]
    code, out, _err = segue("events", task, "--after", "4", "--json")
    assert code == 1
    assert json.loads(out)["seq"] == 5
    server.do(lambda: server.commands.put(task, TaskState.FAILED))
    code, out, _err = segue("events", task)
    assert (code, out) == (1, f"✘ {task}  failed  Shop\n")


def test_events_come_while_they_happen(server: Running, tmp_path: Path) -> None:
    """Line by line, also into a pipe."""
    task = server.client.create_task("Shop", "d")["id"]
    process = subprocess.Popen(
        [sys.executable, "-m", "segue", "task", "events", "--after", "1", "--json"],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    try:
        server.do(lambda: server.commands.happen(task))
        assert json.loads(process.stdout.readline())["seq"] == 2
        server.do(lambda: server.commands.happen(task))
        assert json.loads(process.stdout.readline())["seq"] == 3
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_server_can_be_named(
    segue: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By options or by the environment; without a server, or with a wrong token, in words."""
    with running() as server:
        code, _out, err = segue("list")
        assert code == 2
        assert "no server is running for this folder" in err
        assert "segue serve" in err
        assert segue("list", "--url", server.url, "--token", TOKEN)[0] == 0
        code, _out, err = segue("list", "--url", server.url)
        assert code == 2
        assert "SEGUE_TOKEN" in err
        code, _out, err = segue("list", "--url", server.url, "--token", "wrong")
        assert code == 2
        assert "wrong token" in err
        monkeypatch.setenv("SEGUE_TOKEN", TOKEN)
        monkeypatch.setenv("SEGUE_URL", server.url)
        assert segue("list")[0] == 0
        assert segue("list", "--url", "nonsense")[0] == 2
    code, _out, err = segue("list")
    assert code == 2
    assert "no server responds" in err


@pytest.mark.parametrize("verb", group.commands)
def test_every_verb_explains_itself_on_one_screen(segue: Shell, verb: str) -> None:
    """With an example of its own; the server can be named everywhere."""
    code, out, _err = segue(verb, "--help")
    assert code == 0
    assert f"segue task {verb}" in out.split("Example", 1)[1]
    assert len(out.splitlines()) <= 40
    assert {"--url", "--token", "--json"} <= set(re.findall(r"--\w+", out))


def test_all_verbs_are_there_and_close_ones_are_suggested(segue: Shell) -> None:
    """`segue task aprove` is not a riddle."""
    wanted = "add submit list show approve changes answer provide reject pause resume cancel retry"
    assert list(group.commands) == [
        *wanted.split(),
        *("go-without", "fail", "fork", "rewind", "log", "events"),
    ]
    code, _out, err = segue("aprove")
    assert code == 2
    assert "did you mean `segue task approve`?" in err
    assert segue("--help")[0] == 0


def test_the_page_names_every_verb_and_option() -> None:
    """docs/task.md says what the program does."""
    text = (Path(__file__).parents[3] / "docs" / "task.md").read_text(encoding="utf-8")
    for name, verb in group.commands.items():
        assert f"`{name}" in text, name
        for parameter in verb.params:
            if isinstance(parameter, click.Option):
                assert f"`{parameter.opts[0]}" in text, (name, parameter.opts)


def test_every_state_has_a_name() -> None:
    """Of tasks, agents and gates; unknown ones are shown as they are."""
    for state in (*STAGES, *AgentState):
        assert task_words.status_name(state)
    assert task_words.status_name("waiting_review") == "waits for a review"
    assert task_words.status_name("brand_new") == "brand_new"


def on_terminal(args: list[str], talk: list[tuple[str, str]]) -> tuple[str, int]:
    """What a terminal shows while a person answers each prompt that comes; and the exit code."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL, *args], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown, left = b"", list(talk)
    timer = threading.Timer(60, process.kill)
    timer.start()
    try:
        while True:
            ready, _write, _error = select.select([ours], [], [], 60)
            try:
                piece = os.read(ours, 4096) if ready else b""
            except OSError:  # its end, as Linux tells it
                piece = b""
            if not piece:
                break
            shown += piece
            if left and left[0][0].encode() in shown and shown.rstrip().endswith((b":", b"]:")):
                os.write(ours, left.pop(0)[1].encode())
    finally:
        os.close(ours)
        code = process.wait()
        timer.cancel()
    return shown.decode(), code


def test_a_stuck_task_shows_what_can_be_done(segue: Shell, server: Running) -> None:
    """Each way out with the command for it."""
    id = segue.json("add", "Second", "-d", "x")["id"]
    gate(server, "stuck", id, id, taskTitle="Second")
    code, out, _err = segue("list", "--waiting")
    assert code == 0
    assert "Second: it waits for task_9, which failed" in out
    for verb in ("retry", "go-without", "fail"):
        assert f"segue task {verb} {id}" in out


def test_an_answer_may_be_in_own_words(segue: Shell, server: Running) -> None:
    """What is close to no option is; what is close to one, if it says so."""
    task = segue.json("add", "Shop", "-d", "d")["id"]
    gate(server, "question", task, "q_00000000aaaa")
    assert segue.json("answer", task, "neither of them")["answer"] == "neither of them"
    gate(server, "question", task, "q_00000000bbbb")
    code, _out, err = segue("answer", task, "AB")
    assert (code, "--own-words" in err) == (2, True)
    assert segue.json("answer", task, "AB", "--own-words")["answer"] == "AB"
