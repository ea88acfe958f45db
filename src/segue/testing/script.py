"""The scripted agent: a real process that plays a scenario (`python -m segue.testing.script`).

Where it is in the scenario is kept beside the runs under the name of its conversation,
so that after a limit or a question it continues with the next line, as a real agent does
when its conversation is resumed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from segue.core.durations import parse_duration
from segue.dialects.script import PREFIX
from segue.errors import UserError
from segue.plans.scenario import Act, parse

STOPPED_AT_LIMIT = 75
STOPS = frozenset({"limit", "ask", "depend", "phase", "error"})  # it continues behind them


def main(argv: list[str], environ: dict[str, str]) -> int:
    path = Path(argv[1])
    try:
        scenario = parse(path.read_text(encoding="utf-8"), str(path))
    except UserError as error:
        for problem in error.problems:
            print(f"{problem.where}: {problem.message}", file=sys.stderr)  # noqa: T201 - its output
        return 2
    acts = scenario.acts(environ.get("SEGUE_TASK", ""), int(environ.get("SEGUE_ATTEMPT", "1")))
    place = _place_file(environ)
    begin = 0
    if environ.get("SEGUE_RESUME") == "1" and place.exists() and place.stat().st_size:
        begin = int(place.read_text(encoding="ascii"))
    for number, act in enumerate(acts[begin:], begin + 1):
        if act.verb in STOPS:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(str(number), encoding="ascii")
        code = _play(act)
        if code is not None:
            return code
    if place.exists():
        place.write_text("")  # in a sandbox the file is all it has of its folder
        with suppress(OSError):
            place.unlink()
    return 0


def _place_file(environ: dict[str, str]) -> Path:
    if given := environ.get("SEGUE_SCRIPT_PLACE"):
        return Path(given)
    conversation = environ.get("SEGUE_CONVERSATION", "alone")
    return Path(environ.get("SEGUE_PROJECT", ".")) / ".segue" / "runs" / f"{conversation}.place"


def _play(act: Act) -> int | None:
    """Do one line; an exit code where the agent ends with it."""
    match act.verb:
        case "say":
            _say(act.rest)
        case "wait":
            time.sleep(parse_duration(act.words[0]) or 0)
        case "write" | "append":
            _write(act)
        case "env":
            _note_variable(*act.words)
        case "fail":
            _say(act.rest)
            return 1
        case "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            while True:
                signal.pause()
        case _:
            _tell(_told(act))
            return {"limit": STOPPED_AT_LIMIT}.get(act.verb, 0) if act.verb in STOPS else None
    return None


def _told(act: Act) -> dict[str, object]:
    """What a line tells Segue."""
    match act.verb, act.words:
        case "step", (n,):
            return {"step": int(n)}
        case "usage", words:
            return {"usage": _usage(words)}
        case "limit", (kind, wait):
            return {"limit": kind, "wait_s": parse_duration(wait)}
        case "ask", (question, *rest):
            preset = next((w[8:] for w in rest if w.startswith("default=")), None)
            options = [w for w in rest if not w.startswith("default=")]
            return {"ask": question, "options": options, "default": preset}
        case "depend", (type_, name, *words):
            return {"depend": type_, "name": name, "description": " ".join(words)}
        case "phase", words:
            return {"phase": int(words[0]) if words else None}
        case "error", (type_, recovery, *words):
            return {"error": type_, "recovery": recovery, "message": " ".join(words)}
        case _:
            return {act.verb: True}


def _write(act: Act) -> None:
    path = Path(act.words[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if act.verb == "append" else "w", encoding="utf-8") as file:
        file.write(" ".join(act.words[1:]) + "\n")


def _note_variable(path: str, name: str) -> None:
    """Whether a variable is there, and how long: never what is in it."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{name} has {len(os.environ[name])} characters\n" if name in os.environ
                   else f"{name} is not there\n")  # fmt: skip


def _usage(words: tuple[str, ...]) -> dict[str, float | int | None]:
    cost = float(words[2]) if len(words) == 3 else None
    return {"input_tokens": int(words[0]), "output_tokens": int(words[1]), "cost_usd": cost}


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - speaking is what an agent does


def _tell(what: dict[str, object]) -> None:
    _say(PREFIX + json.dumps(what, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main(sys.argv, dict(os.environ)))
