"""The fake model: what programs that ask it get, and what it remembers of them."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from kit.waiting import until
from segue.errors import UserError
from segue.testing.models import Asked, FakeModels, read_log
from segue.testing.models.modes import ERRORS, NAMES

NOW = 1_800_000_000.0
WAIT_S = 60.0
Body = dict[str, Any]


@dataclass
class Got:
    """An answer: its status, its headers, and its JSON or the events of its stream."""

    status: int
    headers: dict[str, str]
    raw: str

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def events(self) -> list[Any]:
        lines = [line for line in self.raw.splitlines() if line.startswith("data: {")]
        return [json.loads(line.removeprefix("data: ")) for line in lines]


@dataclass(frozen=True)
class Program:
    """How one program asks: its path, its requests, and where the answer stands in a stream."""

    wire: str
    path: str
    tools: Any
    ask: Callable[[list[tuple[str, str]]], Body]
    text: Callable[[list[Any]], str]
    call: Callable[[list[Any]], tuple[str, Body]]
    tokens: Callable[[list[Any]], tuple[int, int]]

    def body(self, *said: tuple[str, str], side: bool = False) -> Body:
        tools = {} if side else {"tools": self.tools}
        return {**self.ask(list(said)), **tools}


def anthropic_ask(said: list[tuple[str, str]]) -> Body:
    def one(role: str, text: str) -> Body:
        if role == "tool":
            return {"role": "user", "content": [{"type": "tool_result", "content": text}]}
        return {"role": role, "content": [{"type": "text", "text": text}]}

    return {"model": "m", "stream": True, "messages": [one(*each) for each in said]}


def responses_ask(said: list[tuple[str, str]]) -> Body:
    def one(role: str, text: str) -> Body:
        if role == "tool":
            return {"type": "function_call_output", "call_id": "c", "output": text}
        return {"type": "message", "role": role, "content": [{"type": "text", "text": text}]}

    return {"model": "m", "stream": True, "input": [one(*each) for each in said]}


def chat_ask(said: list[tuple[str, str]]) -> Body:
    messages = [{"role": role, "content": text} for role, text in said]
    return {"model": "m", "stream": True, "messages": messages}


def gemini_ask(said: list[tuple[str, str]]) -> Body:
    def one(role: str, text: str) -> Body:
        if role == "tool":
            part: Body = {"functionResponse": {"name": "t", "response": {"output": text}}}
        else:
            part = {"text": text}
        return {"role": "model" if role == "assistant" else "user", "parts": [part]}

    return {"contents": [one(*each) for each in said]}


def parts(events: list[Any]) -> list[Body]:
    return [part for e in events for part in e["candidates"][0]["content"]["parts"]]


def of(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["type"] == kind]


def done_item(events: list[Any]) -> Body:
    item: Body = of(events, "response.output_item.done")[0]["item"]
    return item


def chat_call(events: list[Any]) -> tuple[str, Body]:
    deltas = [event["choices"][0]["delta"] for event in events]
    function = next(delta["tool_calls"][0]["function"] for delta in deltas if "tool_calls" in delta)
    return function["name"], json.loads(function["arguments"])


CLAUDE = Program(
    "anthropic",
    "/v1/messages?beta=true",
    [{"name": "Bash"}, {"name": "Write"}],
    anthropic_ask,
    lambda events: "".join(event["delta"]["text"] for event in of(events, "content_block_delta")),
    lambda events: (
        of(events, "content_block_start")[0]["content_block"]["name"],
        json.loads(of(events, "content_block_delta")[0]["delta"]["partial_json"]),
    ),
    lambda events: (
        of(events, "message_start")[0]["message"]["usage"]["input_tokens"],
        of(events, "message_delta")[0]["usage"]["output_tokens"],
    ),
)
CODEX = Program(
    "responses",
    "/v1/responses",
    [{"type": "function", "name": "exec_command"}, {"type": "web_search"}],
    responses_ask,
    lambda events: done_item(events)["content"][0]["text"],
    lambda events: (done_item(events)["name"], json.loads(done_item(events)["arguments"])),
    lambda events: tuple(
        of(events, "response.completed")[0]["response"]["usage"][name]
        for name in ("input_tokens", "output_tokens")
    ),
)
OPENCODE = Program(
    "chat",
    "/v1/chat/completions",
    [{"type": "function", "function": {"name": name}} for name in ("bash", "write")],
    chat_ask,
    lambda events: "".join(e["choices"][0]["delta"].get("content", "") for e in events),
    chat_call,
    lambda events: (
        events[-1]["usage"]["prompt_tokens"],
        events[-1]["usage"]["completion_tokens"],
    ),
)
GEMINI = Program(
    "gemini",
    "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
    [{"functionDeclarations": [{"name": "run_shell_command"}, {"name": "write_file"}]}],
    gemini_ask,
    lambda events: "".join(part["text"] for part in parts(events)),
    lambda events: (
        parts(events)[0]["functionCall"]["name"],
        parts(events)[0]["functionCall"]["args"],
    ),
    lambda events: (
        events[-1]["usageMetadata"]["promptTokenCount"],
        events[-1]["usageMetadata"]["candidatesTokenCount"],
    ),
)
PROGRAMS = (CLAUDE, CODEX, OPENCODE, GEMINI)
every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.wire)


@pytest.fixture
def models(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[FakeModels]:
    """A server; whatever a test does to it, nothing may go wrong in it unhandled."""
    with FakeModels(tmp_path / "log.jsonl", clock=lambda: NOW) as serving:
        yield serving
    assert caplog.get_records("call") == []


def connect(address: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(address).netloc, timeout=WAIT_S)


def send(url: str, body: Any = None, method: str = "POST") -> Got:
    with closing(connect(url)) as connection:
        raw = None if body is None else json.dumps(body)
        connection.request(method, url.removeprefix("http://" + urlsplit(url).netloc) or "/", raw)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return Got(answer.status, headers, answer.read().decode())


def ask(url: str, program: Program, *said: tuple[str, str], side: bool = False) -> Got:
    return send(url + program.path, program.body(*said, side=side))


HELLO = ("user", "hello")


@every_program
def test_an_answer_tells_what_came(models: FakeModels, program: Program) -> None:
    """It counts the prompts and echoes the last one's first line, whatever the wire format."""
    url = models.lane("work")
    got = ask(url, program, HELLO, ("assistant", "yes?"), ("user", "go on\n[ASK]"))
    assert got.status == 200
    assert program.text(got.events) == "answer to prompt 2: go on"
    (asked,) = models.requests("work")
    assert (asked.wire, asked.mode) == (program.wire, "ok")
    until(lambda: asked.ended == "answered")
    assert asked.prompts == ["hello", "go on\n[ASK]"]
    assert [message["role"] for message in asked.messages] == ["user", "model", "user"]


@every_program
def test_an_answer_in_one_piece_says_the_same(models: FakeModels, program: Program) -> None:
    """Who asks for no stream gets the text as one JSON."""
    path = program.path.replace("streamGenerate", "generate")
    body = {**program.body(HELLO), "stream": False}
    got = send(models.lane("work", "say:hi you") + path, body)
    assert got.headers["content-type"] == "application/json"
    assert "hi you" in json.dumps(got.json)


@every_program
def test_what_the_program_adds_by_itself_is_no_prompt(models: FakeModels, program: Program) -> None:
    """Reminders and surroundings that a program puts beside the prompt are left out."""
    notes = "<system-reminder>\nbe brief\n</system-reminder>\n"
    ask(
        models.lane("work"),
        program,
        ("user", "<environment_context>\nlinux\n</environment_context>"),
        ("user", notes + "hello"),
    )
    assert models.requests()[0].prompts == ["hello"]


@every_program
def test_modes_are_played_one_by_one_and_the_last_stays(
    models: FakeModels, program: Program
) -> None:
    """Each main request uses up one mode of its own lane."""
    url = models.lane("work", "500", "say:one", "say:two")
    other = models.lane("other", "403")
    assert ask(url, program, HELLO).status == 500
    assert ask(other, program, HELLO).status == 403
    answers = [program.text(ask(url, program, HELLO).events) for _turn in range(3)]
    assert answers == ["one", "two", "two"]
    assert [asked.mode for asked in models.requests("work")] == [
        "500",
        "say:one",
        "say:two",
        "say:two",
    ]


@every_program
def test_side_requests_use_up_no_mode(models: FakeModels, program: Program) -> None:
    """A request without tools is answered even where the next main request is refused."""
    url = models.lane("work", "500", "ok")
    assert ask(url, program, ("user", "a title, please"), side=True).status == 200
    assert ask(url, program, HELLO).status == 500
    assert ask(url, program, HELLO).status == 200
    assert [asked.side for asked in models.requests("work", side=True)] == [True, False, False]
    assert len(models.requests("work")) == 2


def test_counts_and_lists_use_up_no_mode(models: FakeModels) -> None:
    """Token counts, model lists and calls whether somebody is there are answered at once."""
    url = models.lane("work", "500", "ok")
    counted = send(url + "/v1/messages/count_tokens", CLAUDE.body(HELLO)).json
    assert counted["input_tokens"] > 0
    counted = send(url + "/v1beta/models/x:countTokens", GEMINI.body(HELLO)).json
    assert counted["totalTokens"] > 0
    assert send(url + "/v1/models", method="GET").json["data"]
    assert send(url, method="HEAD").status == 200
    assert send(url + "/v1/unheard-of", {}).status == 404
    assert models.requests() == []
    assert len(models.requests(side=True)) == 5
    assert ask(url, CLAUDE, HELLO).status == 500


def test_a_routing_question_gets_json_of_the_form_it_wants(models: FakeModels) -> None:
    """The Gemini CLI asks which model suits; an answer in prose would be an error to it."""
    properties = {
        "reasoning": {"type": "string"},
        "score": {"type": ["number", "null"], "minimum": 3},
        "choice": {"type": "string", "enum": ["flash", "pro"]},
        "more": {"type": "ARRAY"},
        "sure": {"type": "boolean"},
    }
    schema = {"type": "object", "properties": properties}
    body = {**gemini_ask([HELLO]), "generationConfig": {"responseJsonSchema": schema}}
    got = send(models.lane("work") + "/v1beta/models/x:generateContent", body)
    form = json.loads(parts([got.json])[0]["text"])
    assert form == {"reasoning": "none", "score": 3, "choice": "pro", "more": [], "sure": False}


def test_a_lane_never_set_plays_what_its_name_begins_with(models: FakeModels) -> None:
    """Where nobody can set a lane, its name up to the first dot is the mode."""
    url = models.url("say:hello, you.1")
    assert CLAUDE.text(ask(url, CLAUDE, HELLO).events) == "hello, you"
    assert CLAUDE.text(ask(url, CLAUDE, HELLO).events) == "hello, you"
    assert ask(models.url("429:7.x"), CLAUDE, HELLO).headers["retry-after"] == "7"
    assert CLAUDE.text(ask(models.address, CLAUDE, HELLO).events) == "answer to prompt 1: hello"


@pytest.mark.parametrize("mode", ["", "hello", "429:soon", "usage:1", "slow:x", "broken:ok"])
def test_a_mode_that_is_none_is_told(models: FakeModels, mode: str) -> None:
    """A slip of the pen is an error at once, and never a plain answer."""
    with pytest.raises(UserError, match="has no mode"):
        models.lane("work", "ok", mode)
    if mode:
        with pytest.raises(UserError, match="has no mode"):
            models.url(mode)
        assert ask(f"{models.address}/s/{mode}", CLAUDE, HELLO).status == 404
    assert send(f"{models.address}/ctl/work?modes=ok,{mode}").status == 400


def test_a_lane_is_set_over_http(models: FakeModels) -> None:
    """By a list in the address, or as JSON where a mode has a comma."""
    control = models.address + "/ctl/work"
    assert send(control + "?modes=429:9,ok").json == {"work": ["429:9", "ok"]}
    assert ask(models.url("work"), CLAUDE, HELLO).status == 429
    assert send(control, method="GET").json == {"work": ["ok"]}
    send(control, ["say:a, b", "403"])
    assert CLAUDE.text(ask(models.url("work"), CLAUDE, HELLO).events) == "a, b"
    assert ask(models.url("work"), CLAUDE, HELLO).status == 403


@every_program
@pytest.mark.parametrize("error", ERRORS)
def test_every_refusal_has_its_words(models: FakeModels, program: Program, error: str) -> None:
    """Each error is worded by each wire format, with a status that is an error."""
    got = ask(models.lane("work", error), program, HELLO)
    assert got.status >= 400
    said_otherwise = {"529": {"responses", "chat", "gemini"}, "401": {"gemini"}}
    if error.isdigit() and program.wire not in said_otherwise.get(error, set()):
        assert got.status == int(error)
    assert got.json["error"]["message"]
    assert "{" not in got.json["error"]["message"]
    until(lambda: models.requests()[0].ended == "refused")


def test_a_subscription_limit_has_its_reset(models: FakeModels) -> None:
    """The reset is an instant so many seconds from now, told as each service tells it."""
    got = ask(models.lane("work", "429u5h:90"), CLAUDE, HELLO)
    prefix = "anthropic-ratelimit-unified-"
    assert got.headers[prefix + "status"] == "rejected"
    assert got.headers[prefix + "reset"] == got.headers[prefix + "5h-reset"] == str(int(NOW) + 90)
    assert got.headers[prefix + "representative-claim"] == "five_hour"
    assert got.headers[prefix + "7d-status"] == "allowed"
    got = ask(models.lane("work", "429u7d:90"), CLAUDE, HELLO)
    assert got.headers[prefix + "representative-claim"] == "seven_day"
    assert got.headers[prefix + "7d-reset"] == str(int(NOW) + 90)
    error = ask(models.lane("work", "429u5h:90"), CODEX, HELLO).json["error"]
    assert error["type"] == "usage_limit_reached"
    assert (error["resets_at"], error["resets_in_seconds"]) == (int(NOW) + 90, 90)


def test_too_many_requests_tell_when_to_come_again(models: FakeModels) -> None:
    """By the header retry-after, or by none at all."""
    assert ask(models.lane("work", "429"), CLAUDE, HELLO).headers["retry-after"] == "5"
    assert ask(models.lane("work", "429:33"), CODEX, HELLO).headers["retry-after"] == "33"
    assert "retry-after" not in ask(models.lane("work", "429:none"), CLAUDE, HELLO).headers
    details = ask(models.lane("work", "429:33"), GEMINI, HELLO).json["error"]["details"]
    assert details[-1]["retryDelay"] == "33s"


def test_a_good_answer_can_tell_how_much_is_used(models: FakeModels) -> None:
    """Ten per cent is told, ninety-two is a warning."""
    prefix = "anthropic-ratelimit-unified-"
    headers = ask(models.lane("work", "ok5h"), CLAUDE, HELLO).headers
    assert headers[prefix + "status"] == "allowed"
    assert headers[prefix + "5h-utilization"] == "0.10"
    got = ask(models.lane("work", "warn5h:60"), CLAUDE, HELLO)
    assert got.status == 200
    assert got.headers[prefix + "status"] == "allowed_warning"
    assert got.headers[prefix + "5h-utilization"] == "0.92"
    assert got.headers[prefix + "5h-surpassed-threshold"] == "0.9"
    assert got.headers[prefix + "5h-reset"] == str(int(NOW) + 60)
    headers = ask(models.lane("work", "warn5h:60"), CODEX, HELLO).headers
    assert headers["x-codex-primary-used-percent"] == "92.0"
    assert headers["x-codex-primary-reset-at"] == str(int(NOW) + 60)
    assert "x-codex-primary-used-percent" not in ask(models.lane("w"), CODEX, HELLO).headers


@every_program
def test_a_command_is_run_by_the_programs_own_tool(models: FakeModels, program: Program) -> None:
    """The model calls the shell tool that was offered, and answers once its result is there."""
    url = models.lane("work", "tool:make all")
    tool, arguments = program.call(ask(url, program, HELLO).events)
    assert tool in {"Bash", "exec_command", "bash", "run_shell_command"}
    assert arguments.get("command", arguments.get("cmd")) == "make all"
    got = ask(url, program, HELLO, ("tool", "all is made"))
    assert program.text(got.events) == "answer to prompt 1: hello"
    assert "all is made" in models.requests()[-1].results[0]
    again = ask(url, program, HELLO, ("tool", "all is made"), ("user", "once more"))
    assert program.call(again.events)[0] == tool


@every_program
def test_a_file_is_written_by_the_programs_own_tool(models: FakeModels, program: Program) -> None:
    """By the tool that writes; by a command where there is none."""
    got = ask(models.lane("work", "write:a b.txt:it's: done"), program, HELLO)
    tool, arguments = program.call(got.events)
    if program is CODEX:
        line = "printf %s 'it'\"'\"'s: done' > 'a b.txt'"
        assert (tool, arguments) == ("exec_command", {"cmd": line})
    else:
        assert tool in {"Write", "write", "write_file"}
        assert sorted(arguments.values()) == ["a b.txt", "it's: done"]


def test_a_loop_never_answers(models: FakeModels) -> None:
    """It asks for the command again, result or not."""
    url = models.lane("work", "loop:date")
    for said in ([HELLO], [HELLO, ("tool", "monday")], [HELLO, *[("tool", "x")] * 5]):
        assert CLAUDE.call(ask(url, CLAUDE, *said).events)[1]["command"] == "date"


@every_program
def test_a_plan_is_in_the_prompt(models: FakeModels, program: Program) -> None:
    """Each DO line is one command, in their order, each once; then the model is done."""
    url = models.lane("work", "plan")
    prompt = ("user", 'Task T-1.\nDO: echo "one"\nNot DO: this\n  DO: two\n')
    commands: list[str] = []
    said: list[tuple[str, str]] = [("user", "earlier\nDO: old"), ("tool", "old"), prompt]
    for _turn in range(2):
        commands += program.call(ask(url, program, *said).events)[1].values()
        said.append(("tool", "did it"))
    assert [line for line in commands if "fake" not in line] == ['echo "one"', "two"]
    assert program.text(ask(url, program, *said).events) == "done"


def test_a_plan_goes_on_after_a_resumption(models: FakeModels) -> None:
    """A prompt without a DO line means the one before it: what is left of that is done."""
    url = models.lane("work", "plan")
    begun = [("user", "DO: one\nDO: two"), ("tool", "did one")]
    resumed = [*begun, ("user", "You were interrupted. Go on.")]
    assert CODEX.call(ask(url, CODEX, *resumed).events)[1] == {"cmd": "two"}
    done = [*begun, ("tool", "did two"), ("user", "You were interrupted. Go on.")]
    assert CODEX.text(ask(url, CODEX, *done).events) == "done"
    assert CODEX.text(ask(url, CODEX, HELLO).events) == "done"


def test_a_quoted_prompt_is_read_as_it_was_written(models: FakeModels) -> None:
    """opencode puts the words of its command line in quotes."""
    url = models.lane("work", "plan")
    got = ask(url, OPENCODE, ("user", '"Task\nDO: echo \\"one\\" > a"'))
    assert OPENCODE.call(got.events)[1]["command"] == 'echo "one" > a'


@every_program
def test_usage_is_reported(models: FakeModels, program: Program) -> None:
    """Given numbers to the token; else some that grow with the request."""
    got = ask(models.lane("work", "usage:5000:70"), program, HELLO)
    assert program.tokens(got.events) == (5000, 70)
    url = models.lane("work")
    small = program.tokens(ask(url, program, HELLO).events)
    large = program.tokens(ask(url, program, ("user", "long " * 1000)).events)
    assert 0 < small[0] < large[0]
    assert 0 < small[1] < large[1]


@every_program
def test_slow_speech_comes_in_pieces(models: FakeModels, program: Program) -> None:
    """It takes as long as it was told, and the text is whole in the end."""
    began = time.monotonic()
    got = ask(models.lane("work", "slow:1"), program, HELLO)
    assert 1.0 <= time.monotonic() - began < WAIT_S
    assert program.text(got.events) == "tick 1 tick 2 answer to prompt 1: hello"


@every_program
def test_a_dropped_stream_is_not_whole(models: FakeModels, program: Program) -> None:
    """The text begins, then the connection is gone in the middle."""
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(models.lane("work", "drop"), program, HELLO)
    assert b"answer to prompt 1" in caught.value.partial
    until(lambda: models.requests()[0].ended == "dropped")


@every_program
def test_a_shut_connection_gives_no_answer(models: FakeModels, program: Program) -> None:
    """Not even a status."""
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        ask(models.lane("work", "shut"), program, HELLO)
    until(lambda: models.requests()[0].ended == "dropped")


@every_program
def test_a_stalled_stream_begins_and_stays_silent(models: FakeModels, program: Program) -> None:
    """What was said arrives; nothing follows; it is noticed when the program gives up."""
    url = models.lane("work", "stall", "ok")
    with closing(connect(url)) as connection:
        connection.request("POST", "/s/work" + program.path, json.dumps(program.body(HELLO)))
        answer = connection.getresponse()
        text = b""
        while b"answer to prompt" not in text:
            text += answer.readline()
        connection.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            while answer.fp.readline():
                pass
        assert models.requests()[0].ended == ""
        answer.close()
    until(lambda: models.requests()[0].ended == "client_gone")
    assert ask(url, program, HELLO).status == 200


@pytest.mark.parametrize("rudely", [False, True], ids=["closed", "reset"])
def test_a_hanging_request_gets_nothing(models: FakeModels, rudely: bool) -> None:
    """No status, no byte, until the program goes, in one way or the other."""
    url = models.lane("work", "hang")
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0)) as raw:
        body = json.dumps(CLAUDE.body(HELLO)).encode()
        head = f"POST /s/work/v1/messages HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        raw.sendall(head.encode() + body)
        until(lambda: len(models.requests()) == 1)
        raw.settimeout(0.3)
        with pytest.raises(TimeoutError):
            raw.recv(1)
        assert models.requests()[0].ended == ""
        if rudely:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until(lambda: models.requests()[0].ended == "client_gone")


@every_program
def test_an_error_can_come_in_mid_stream(models: FakeModels, program: Program) -> None:
    """The status was 200 and a text had begun; the error stands where the end should be."""
    got = ask(models.lane("work", "broken:long"), program, HELLO)
    assert got.status == 200
    assert "answer to prompt 1" in got.raw
    assert "exceeds the" in got.raw or "too long" in got.raw
    last = got.events[-1]
    assert "error" in last.get("response", last)
    overloaded = ask(models.lane("work", "broken"), program, HELLO).raw
    assert "verloaded" in overloaded


@every_program
@pytest.mark.parametrize("mode", ["drop", "broken"])
def test_what_breaks_a_stream_breaks_a_whole_answer(
    models: FakeModels, program: Program, mode: str
) -> None:
    """A program that asks again without a stream is no better off."""
    url = models.lane("work", mode, "ok")
    path = program.path.replace("streamGenerate", "generate")
    body = {**program.body(HELLO), "stream": False}
    if mode == "broken":
        assert send(url + path, body).status in {503, 529}
    else:
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            send(url + path, body)
    assert send(url + path, body).status == 200


def test_the_log_file_tells_what_memory_tells(models: FakeModels, tmp_path: Path) -> None:
    """One JSON line for a request and one for its end, readable while it grows."""
    url = models.lane("work", "tool:ls", "ok")
    ask(url, CLAUDE, ("user", "안녕"))
    ask(url, CLAUDE, ("user", "안녕"), ("tool", "a.txt"))
    path = tmp_path / "log.jsonl"
    until(lambda: models.requests()[-1].ended == "answered")
    assert read_log(path) == models.requests()
    first = json.loads(path.read_text("utf-8").splitlines()[0])
    assert first["lane"] == "work"
    assert first["mode"] == "tool:ls"
    assert first["wire"] == "anthropic"
    assert first["path"] == "/s/work/v1/messages?beta=true"
    assert first["prompt"] == "안녕"
    assert first["tools"] == ["Bash", "Write"]
    assert first["at"] == NOW
    with path.open("a") as file:
        file.write('{"event": "asked", "num')
    assert read_log(path) == models.requests()
    assert read_log(tmp_path / "none.jsonl") == []


def test_one_connection_serves_many_requests(models: FakeModels) -> None:
    """It is kept after streams, errors and whole answers; bodies may come in chunks."""
    models.lane("work", "ok", "500", "ok")
    body = json.dumps(CLAUDE.body(HELLO)).encode()
    with closing(connect(models.address)) as connection:
        statuses = []
        for chunks in ([body], iter([body[:10], body[10:]]), [body]):
            connection.request("POST", "/s/work/v1/messages", chunks, encode_chunked=True)
            answer = connection.getresponse()
            statuses.append(answer.status)
            answer.read()
            if len(statuses) == 1:
                kept = connection.sock
        assert connection.sock is kept
    assert statuses == [200, 500, 200]
    assert {tuple(asked.prompts) for asked in models.requests()} == {("hello",)}


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + b"x" * 100_000,
    ],
)
def test_garbage_ends_its_own_connection_only(models: FakeModels, garbage: bytes) -> None:
    """Who does not speak HTTP is hung up on; the others are served on."""
    with socket.create_connection(("127.0.0.1", urlsplit(models.address).port or 0)) as raw:
        raw.settimeout(WAIT_S)
        raw.sendall(garbage)
        with suppress(ConnectionResetError):
            assert raw.recv(1) == b""
    assert ask(models.lane("work"), CLAUDE, HELLO).status == 200


def test_the_end_cuts_off_who_waits() -> None:
    """Leaving the block ends requests that would hang for ever, and says so."""

    async def story() -> list[Asked]:
        async with FakeModels() as models:
            url = models.lane("work", "hang")
            asking = asyncio.to_thread(ask, url, CLAUDE, HELLO)
            task = asyncio.create_task(asking)
            while not models.requests():
                await asyncio.sleep(0.01)
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            await task
        return models.requests()

    assert [asked.ended for asked in asyncio.run(story())] == ["cut_off"]


def test_a_port_that_is_taken_is_told(models: FakeModels) -> None:
    """The error comes out where the server was to be started."""
    port = urlsplit(models.address).port or 0
    with pytest.raises(OSError), FakeModels(port=port):
        pass


def test_it_serves_as_a_process_of_its_own(tmp_path: Path) -> None:
    """Its first line is its address; it logs to a file; SIGTERM ends it well."""
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "segue.testing.models", "--port", "0", "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            send(f"{address}/ctl/work?modes=say:hi")
            assert CLAUDE.text(ask(f"{address}/s/work", CLAUDE, HELLO).events) == "hi"
            assert [asked.prompt for asked in read_log(log)] == ["hello"]
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 0


def test_every_mode_is_explained() -> None:
    """`--help` has a line for each mode there is."""
    command = [sys.executable, "-m", "segue.testing.models", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    words = {word.partition(":")[0] for word in told.split()}
    assert words >= NAMES
