"""What the model does next: the modes of a lane.

A mode is a word, some with an argument after a colon:

    ok                 answers with the number of prompts so far and the last one's first line
    say:TEXT           answers with this text
    usage:IN:OUT       answers, and reports these numbers of tokens (:CACHED, a part of IN)
    tool:COMMAND       has the program run a command, answers when its result is there
    write:PATH:TEXT    has the program write a file, answers when it is there
    loop:COMMAND       asks for the command again and again, and never answers
    plan               runs the commands of the `DO: <command>` lines of the newest prompt that
                       has any, one after the other, then answers "done"; a command whose
                       call was cut off counts as run

    slow:SECONDS       speaks for so long, twice a second, then answers (20)
    stall              begins to speak, then is silent for ever
    drop               begins to speak, then the connection is cut
    broken:ERROR       begins to speak, then one of the errors below comes in the stream (529);
                       `broken:long` is how the service of Codex says it
    hang               takes the request and sends nothing for ever
    shut               closes the connection instead of answering

    400 401 403 404 413 500 503 529      refuses with this status
    429:SECONDS        too many requests; SECONDS go into retry-after (5; "none" for no header)
    429u5h:SECONDS     the five-hour limit of a subscription, with its reset so far from now
    429u7d:SECONDS     its weekly limit
    429quota           the quota of a plan (of a day, with Gemini) is used up
    credit             the account has no credit left
    long               the conversation is too long for the model (who can compacts it and
                       comes back: let another mode follow)

    ok5h:SECONDS       answers, and tells that 10 % of the five-hour limit is used
    warn5h:SECONDS     answers, and warns that 92 % of it is used

A lane plays its modes one by one, one for each main request; the last one stays. Side requests
(a title, a token count, a routing question) are answered plainly and use up none. A request
that brings the result of a tool is a main request: with `tool:ls,429` it is refused.
What a mode is called is the same for all programs; how it looks is each wire format's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from segue.errors import UserError
from segue.i18n import _
from segue.testing.models.acts import Act, End, Refuse, Silence, Speak, Usage, Window
from segue.testing.models.seen import Seen
from segue.testing.models.tools import Call, Command, File, call_for

ERRORS = (
    *("400", "401", "403", "404", "413", "500", "503", "529"),
    *("429", "429u5h", "429u7d", "429quota", "credit", "long"),
)
WAITS_S = {"429": 5, "429u5h": 3600, "429u7d": 3 * 86400, "ok5h": 3600, "warn5h": 3600}
USED = {"ok5h": 0.10, "warn5h": 0.92}
SPEECHES = ("ok", "say", "usage", "ok5h", "warn5h", "slow", "stall", "drop", "broken")
CALLS = ("tool", "write", "loop", "plan")
SILENCES = ("hang", "shut")
NAMES = frozenset((*ERRORS, *SPEECHES, *CALLS, *SILENCES))
DO = re.compile(r"^[ \t]*DO: (.+)$", re.MULTILINE)
PIECE_S = 0.5
ECHO_CHARS = 400
NOTHING = Seen("", (), (), stream=False, side=False)


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode and its argument."""

    name: str
    argument: str

    @classmethod
    def of(cls, text: str) -> Mode:
        """The mode of this text; an error where there is none, or it cannot be played."""
        name, _colon, argument = text.partition(":")
        mode = cls(name, argument)
        try:
            if name in NAMES:
                mode.act(NOTHING)
                return mode
        except (ValueError, TypeError):
            pass  # a number that is none
        raise UserError(
            "unknown_mode",
            _("The fake model has no mode “{mode}”.").format(mode=text),
            hint=_("Modes: {names}.").format(names=", ".join(sorted(NAMES))),
        )

    def act(self, seen: Seen) -> Act:
        """What the model does with this request."""
        if self.name in ERRORS:
            return Refuse(self.name, self._wait_s)
        if self.name in SILENCES:
            return Silence(self.name)
        call = self._call(seen) if self.name in CALLS else None
        if call is not None:
            return Speak(call=call, usage=usage_of(seen, str(call.arguments)))
        return self._speak(seen)

    @property
    def _wait_s(self) -> int | None:
        if self.argument == "none":
            return None
        return int(self.argument) if self.argument else WAITS_S.get(self.name)

    def _call(self, seen: Seen) -> Call | None:
        """The tool that is to be called now, if any is left."""
        wish: Command | File = Command(self.argument or "echo hello")
        done = seen.results_since(seen.prompt)
        if self.name == "plan":
            asking = next((p for p in reversed(seen.prompts) if DO.search(p)), "")
            commands = DO.findall(asking)
            done = seen.results_since(asking)
            if done >= len(commands):
                return None
            wish = Command(commands[done])
        elif self.name == "write":
            path, _colon, text = self.argument.partition(":")
            wish = File(path, text)
        if done and self.name in {"tool", "write"}:
            return None
        return call_for(wish, seen.tools)

    def _speak(self, seen: Seen) -> Speak:
        text = {"say": self.argument, "plan": "done"}.get(self.name) or echo(seen)
        spoken = Speak((text,), usage=usage_of(seen, text))
        match self.name:
            case "usage":
                counts = [int(count) for count in self.argument.split(":")]
                return replace(spoken, usage=Usage(*counts))
            case "slow":
                count = max(1, round(float(self.argument or 20) / PIECE_S))
                ticks = tuple(f"tick {number} " for number in range(1, count + 1))
                return replace(spoken, pieces=(*ticks, text), pause_s=PIECE_S)
            case "stall":
                return replace(spoken, end=End.STALLED)
            case "drop":
                return replace(spoken, end=End.DROPPED)
            case "broken":
                error = Mode.of(self.argument or "529").act(NOTHING)
                if not isinstance(error, Refuse):
                    raise ValueError(self.argument)
                return replace(spoken, end=error)
            case "ok5h" | "warn5h":
                used = USED[self.name]
                return replace(spoken, window=Window(used, self._wait_s or 0))
        return spoken


def plainly(seen: Seen) -> Speak:
    """The answer to a side request."""
    text = seen.wanted or echo(seen)
    return Speak((text,), usage=usage_of(seen, text))


def echo(seen: Seen) -> str:
    """An answer from which a test can tell what came here.

    One line only: a prompt that explains how to ask or to report must not come back as such.
    """
    line = seen.prompt.partition("\n")[0]
    return f"answer to prompt {len(seen.prompts)}: {line[:ECHO_CHARS]}"


def usage_of(seen: Seen, text: str) -> Usage:
    """A token is about four characters."""
    tokens = 10 + seen.chars // 4
    return Usage(tokens, 1 + len(text) // 4, cached=tokens // 5)
