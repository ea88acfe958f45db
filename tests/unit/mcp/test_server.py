"""The server itself: the tools it offers to whom, and what a call gets back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from kit.bench import Bench
from segue import __version__
from segue.mcp import agent, person, server
from segue.mcp.tools import Arguments, Refused, Tool
from segue.store.sqlite import Store
from segue.work.project import Project


class Word(Arguments):
    word: str


def echo(given: Word) -> str:
    if given.word == "no":
        raise Refused("It does not say that.")
    return given.word.upper()


TOOLS = [
    Tool("echo", "Says it louder.", Word, echo, is_read_only=True, is_always_loaded=True),
    Tool("end", "Ends it.", Word, echo, is_destructive=True),
]


def talk(
    scene: Callable[[Client], Awaitable[None]],
    on_unknown: Callable[[str], None] = lambda name: None,
) -> None:
    """A client of the server, in this process."""

    async def main() -> None:
        async with Client(server.make(TOOLS, "Be brief.", on_unknown)) as client:
            await scene(client)

    asyncio.run(main())


async def called(client: Client, tool: str, **given: Any) -> tuple[str, bool]:
    result = await client.call_tool(tool, given)
    (content,) = result.content
    return str(getattr(content, "text", "")), bool(result.is_error)


def test_it_says_who_it_is_and_what_it_is_for() -> None:
    async def scene(client: Client) -> None:
        assert client.instructions == "Be brief."
        named = client.server_info
        assert named is not None
        assert (named.name, named.version) == ("segue", __version__)

    talk(scene)


def test_tools_are_described_with_their_schema_and_their_dangers() -> None:
    async def scene(client: Client) -> None:
        first, second = (await client.list_tools()).tools
        assert (first.name, first.description) == ("echo", "Says it louder.")
        assert first.input_schema == TOOLS[0].schema()
        assert first.meta == {"anthropic/alwaysLoad": True}
        assert first.annotations is not None
        assert second.annotations is not None
        assert (first.annotations.read_only_hint, first.annotations.destructive_hint) == (
            True,
            False,
        )
        assert (second.annotations.read_only_hint, second.annotations.destructive_hint) == (
            False, True,
        )  # fmt: skip
        assert not second.meta

    talk(scene)


def test_a_call_is_answered_and_a_refusal_is_marked_as_an_error() -> None:
    async def scene(client: Client) -> None:
        assert await called(client, "echo", word="hello") == ("HELLO", False)
        assert await called(client, "echo", word="no") == ("It does not say that.", True)
        text, is_error = await called(client, "echo")
        assert ("wrong arguments" in text, is_error) == (True, True)

    talk(scene)


def test_a_tool_that_is_not_there_is_an_error_and_heard_of() -> None:
    heard: list[str] = []

    async def scene(client: Client) -> None:
        assert await called(client, "approve") == ("No such tool: approve.", True)

    talk(scene, heard.append)
    assert heard == ["approve"]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """The tools and the instructions of each server that would be run."""
    found: list[tuple[list[str], str]] = []

    def make(tools: Any, instructions: str, on_unknown: object = None) -> None:
        found.append(([tool.name for tool in tools], instructions))

    async def serve(_server: object) -> None:
        pass

    monkeypatch.setattr(server, "make", make)
    monkeypatch.setattr(server, "_serve", serve)
    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    return found


def test_an_agent_at_work_gets_no_tool_of_a_person(
    offered: list[tuple[list[str], str]], tmp_path: Path
) -> None:
    server.serve(tmp_path, {"SEGUE_RUN": "T-1-ab12"})
    server.serve(tmp_path, {})
    (at_work, by_agent), (at_side, by_person) = offered
    assert ("ask_question" in at_work, "approve" in at_work) == (True, False)
    assert ("approve" in at_side, "ask_question" in at_side) == (True, False)
    assert (by_agent, by_person) == (agent.INSTRUCTIONS, person.INSTRUCTIONS)


@pytest.mark.parametrize(("tool", "kept"), [("approve", 1), ("sing", 0)])
def test_a_persons_tool_that_an_agent_called_is_kept_in_the_journal(
    bench: Bench, tool: str, kept: int
) -> None:
    """A name that nobody has is a mistake, and no try to decide something."""
    bench.begin("- [ ] T-1: Build\n")
    facts = {"SEGUE_RUN": bench.job, "SEGUE_PROJECT": str(bench.root)}
    server._refuse(facts, bench.root, tool)
    store = Store.open(Project(bench.root).database)
    rows = store.all("SELECT data FROM journal WHERE entity = 'refusal'")
    store.close()
    assert len(rows) == kept
