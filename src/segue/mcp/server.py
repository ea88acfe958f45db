"""The server itself, on standard input and output, with the tools that fit who started it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
from anyio import CapacityLimiter, to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from segue import __version__
from segue.dialects.lines import plain_text
from segue.drivers.lineage import run_of
from segue.engine import signals
from segue.mcp.tools import Refused, Tool
from segue.store.actors import Actor, acting

INTERRUPTED = 130
NAME_CHARS_MAX = 100


def serve(folder: Path, environ: Mapping[str, str]) -> None:
    """Serve until standard input ends."""
    facts = run_of(environ)
    if facts is not None:
        from segue.mcp import agent  # noqa: PLC0415 - one of the two is needed

        server = make(agent.tools(facts), agent.INSTRUCTIONS, partial(_refuse, facts, folder))
    else:
        from segue.mcp import person  # noqa: PLC0415

        server = make(person.tools(folder, environ), person.INSTRUCTIONS)
    # A thread waits for standard input, which no exception ends; there is nothing to put away.
    if not signals.is_ignored(signal.SIGINT):
        signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(INTERRUPTED))
    asyncio.run(_serve(server))


def make(
    tools: Sequence[Tool],
    instructions: str,
    on_unknown: Callable[[str], None] = lambda _name: None,
) -> Server[Any]:
    """A server that offers these tools. `on_unknown` hears of others that were called."""
    by_name = {tool.name: tool for tool in tools}

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in tools])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        # One after the other, in a thread: files and folders may be slow, pings must not be.
        tool = by_name.get(params.name)
        if tool is None:
            await to_thread.run_sync(on_unknown, params.name, limiter=one_at_a_time)
            return _result(f"No such tool: {params.name}.", is_error=True)
        try:
            call = partial(tool.answer, params.arguments or {})
            with acting(_client(context)):
                return _result(await to_thread.run_sync(call, limiter=one_at_a_time))
        except Refused as error:
            return _result(str(error), is_error=True)

    one_at_a_time = CapacityLimiter(1)
    return Server(
        "segue",
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _client(context: Any) -> Actor:
    """The program at the other end, as it calls itself: its person's own choice."""
    told = context.session.client_params if context is not None else None
    name = plain_text(told.client_info.name)[:NAME_CHARS_MAX] if told else ""
    return Actor(name or "mcp", "mcp")


def _refuse(facts: Mapping[str, str], folder: Path, name: str) -> None:
    """An agent called a person's tool: recorded and reported, like its other attempts."""
    from segue.mcp import person  # noqa: PLC0415 - agents hardly ever need these
    from segue.work import refusals  # noqa: PLC0415

    if name in {tool.name for tool in person.tools(folder, facts)}:
        refusals.note(facts, "mcp", name, datetime.now(UTC))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema(),
        _meta={"anthropic/alwaysLoad": True} if tool.is_always_loaded else None,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.is_read_only,
            destructive_hint=tool.is_destructive,
            open_world_hint=False,
        ),
    )


def _result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=is_error
    )
