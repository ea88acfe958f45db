"""What happens with one request: which wire format, which mode, and the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

from segue.errors import UserError
from segue.testing.models.acts import Act, End, Refuse, Silence, Speak
from segue.testing.models.anthropic import Anthropic
from segue.testing.models.chat import Chat
from segue.testing.models.gemini import Gemini
from segue.testing.models.http import ClientGoneError, Connection, Request
from segue.testing.models.lanes import Lanes
from segue.testing.models.log import Asked, Log
from segue.testing.models.modes import Mode, plainly
from segue.testing.models.responses import Responses
from segue.testing.models.seen import Seen
from segue.testing.models.wire import Wire

LANE = re.compile(r"/s/([^/]+)(/|$)")
ROUTES: tuple[tuple[re.Pattern[str], Wire], ...] = (
    (re.compile(r"/messages(/count_tokens)?$"), Anthropic()),
    (re.compile(r"/responses$"), Responses()),
    (re.compile(r"/chat/completions$"), Chat()),
    (re.compile(r"/models/[^/]+:\w+$"), Gemini()),
)
COUNTS = re.compile(r"(/count_tokens|:countTokens)$")
MODELS = {"object": "list", "data": [{"id": "fake-model", "object": "model"}]}


class Service:
    """Answers requests as the lanes say, and logs them."""

    def __init__(self, lanes: Lanes, log: Log, clock: Callable[[], float]) -> None:
        self._lanes, self._log, self._clock = lanes, log, clock

    async def handle(self, connection: Connection, request: Request) -> None:
        path = request.url.path
        if path.startswith("/ctl/"):
            await self._control(connection, request, unquote(path.removeprefix("/ctl/")))
            return
        lane = unquote(found[1]) if (found := LANE.match(path)) else ""
        wire = next((wire for route, wire in ROUTES if route.search(path)), None)
        if wire is None or request.method != "POST" or not isinstance(request.body, dict):
            await self._bystander(connection, request, lane)
            return
        seen = wire.see(request)
        mode = self._lanes.next(lane, side=seen.side)
        asked = self._note(request, lane, mode, wire.name, seen)
        how = "cut_off"
        try:
            act = plainly(seen) if seen.side else Mode.of(mode).act(seen)
            how = await self._play(connection, request, wire, seen, act)
        except UserError as error:
            await connection.answer(404, {}, {"error": {"message": error.problem.message}})
            how = "refused"
        except ClientGoneError:
            how = "client_gone"
            raise
        finally:
            self._log.end(asked, how, self._clock())

    async def _play(
        self, connection: Connection, request: Request, wire: Wire, seen: Seen, act: Act
    ) -> str:
        """Do what the mode says; how it ended."""
        if isinstance(act, Speak) and not seen.stream:
            act = _in_one_piece(act)
        if isinstance(act, Silence):
            if act is Silence.HANG:
                await connection.wait_for_end()
            connection.drop()
            return "dropped"
        if isinstance(act, Refuse):
            answer = wire.refuse(act, self._clock())
            await connection.answer(answer.status, answer.headers, answer.body)
            return "refused"
        headers = wire.headers(act, self._clock())
        if COUNTS.search(request.url.path):
            counted = act.usage.input
            body = {"input_tokens": counted, "totalTokens": counted}
            await connection.answer(200, headers, body)
            return "answered"
        if not seen.stream:
            await connection.answer(200, headers, wire.voice(seen, act).whole())
            return "answered"
        return await self._stream(connection, wire, seen, act, headers)

    async def _stream(
        self,
        connection: Connection,
        wire: Wire,
        seen: Seen,
        act: Speak,
        headers: dict[str, str],
    ) -> str:
        voice = wire.voice(seen, act)
        await connection.begin_stream(headers)
        await connection.send_piece(voice.begin())
        for piece in act.pieces:
            await connection.pause(act.pause_s)
            await connection.send_piece(voice.say(piece))
        match act.end:
            case Refuse():
                refused = wire.refuse(act.end, self._clock())
                await connection.send_piece(voice.broken(refused))
                await connection.end_stream()
                return "refused"
            case End.STALLED:
                await connection.wait_for_end()
            case End.DROPPED:
                connection.drop()
                return "dropped"
        await connection.send_piece(voice.finish())
        await connection.end_stream()
        return "answered"

    async def _control(self, connection: Connection, request: Request, lane: str) -> None:
        """`POST /ctl/<lane>?modes=a,b`, or a JSON list where a mode has a comma in it."""
        listed = request.body if isinstance(request.body, list) else None
        modes = listed or request.query.get("modes", [""])[0].split(",")
        try:
            if request.method == "POST":
                self._lanes.set(lane, tuple(str(mode) for mode in modes))
        except UserError as error:
            await connection.answer(400, {}, {"error": {"message": error.problem.message}})
            return
        await connection.answer(200, {}, {lane: self._lanes.left(lane)})

    async def _bystander(self, connection: Connection, request: Request, lane: str) -> None:
        """What is asked beside the model: which models there are, whether the service is up."""
        asked = self._note(request, lane, "", "other", None)
        if request.method == "HEAD":
            await connection.answer(200, {})
        elif request.method == "GET" and request.url.path.endswith("/models"):
            await connection.answer(200, {}, MODELS)
        else:
            await connection.answer(404, {}, {"error": {"message": "not found"}})
        self._log.end(asked, "answered", self._clock())

    def _note(self, request: Request, lane: str, mode: str, wire: str, seen: Seen | None) -> Asked:
        more: dict[str, Any] = {"side": True}
        if seen is not None:
            more = {
                "side": seen.side,
                "model": seen.model,
                "prompt": seen.prompt,
                "messages": [asdict(message) for message in seen.messages],
                "tools": list(seen.tools),
            }
        number = len(self._log.asked) + 1
        asked = Asked(
            number, self._clock(), lane, mode, wire, request.method, request.target, **more
        )
        self._log.add(asked)
        return asked


def _in_one_piece(act: Speak) -> Act:
    """What goes wrong in the middle of a stream goes wrong at once where there is none."""
    match act.end:
        case Refuse():
            return act.end
        case End.STALLED:
            return Silence.HANG
        case End.DROPPED:
            return Silence.SHUT
    return act
