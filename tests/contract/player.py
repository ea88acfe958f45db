"""The scripted agent of the contract suite, as a process.

    player.py OUT KIND NAME VOICE [what Segue adds]

It keeps what it heard as one JSON line in OUT/starts and then plays the turn of its start:
OUT/plays/KEY.json or OUT/plays/all.json holds a list of turns (see scenes.py). Past the last turn
it does its part, which depends on the KIND of work. VOICE is `text` (a `command` agent) or `claude`
(structured output).
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

OUT, KIND, NAME, VOICE = Path(sys.argv[1]), *sys.argv[2:5]
ENV = os.environ
IN = re.compile(r"\{in (-?[\d.]+)\}")


def key() -> str:
    """Which task this is: what a test can name before it starts."""
    if KIND == "feature":
        return ENV.get("SEGUE_CHECKPOINT") or ENV["SEGUE_PHASE"]
    if KIND == "book":
        return Path(ENV["SEGUE_TARGET"]).parent.parent.name
    return ENV["SEGUE_TASK"]


def dated(text: str) -> str:
    return IN.sub(lambda found: str(math.ceil(time.time() + float(found[1]))), text)


def resumed() -> str | None:
    return sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else None


def out(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Voice:
    """Says things as text lines, or as the events of Claude Code."""

    def __init__(self) -> None:
        self.is_text = VOICE == "text"
        new = f"00000000-0000-4000-8000-{time.time_ns() % 10**12:012}"
        fixed = OUT / "talk"  # every new conversation has this name
        self.talk = resumed() or (fixed.read_text() if fixed.exists() else new)
        keep("talks", key=key(), talk=self.talk)  # before it is named: Segue may end it for that
        self.nonce = f" {ENV.get('SEGUE_NONCE', '')}" if self.is_text else ""
        self.count = 0
        if not self.is_text:
            self.event(type="system", subtype="init", tools=["Bash"])

    def event(self, **event: Any) -> None:
        out(json.dumps({**event, "session_id": self.talk}))

    def message(self, *content: dict[str, Any], **more: Any) -> None:
        self.count += 1
        usage = {"input_tokens": 1, "output_tokens": 1}
        whole = {"id": f"m{self.count}", "role": "assistant", "content": content, "usage": usage}
        self.event(type="assistant", message=whole, **more)

    def say(self, text: str) -> None:
        if self.is_text:
            out(text)
        else:
            self.message({"type": "text", "text": text})

    def tool(self) -> None:
        """A piece of real work."""
        if self.is_text:
            out(f"wrote part {time.time():.1f}")
            return
        name = f"t{self.count}"
        self.message({"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "true"}})
        result = {"type": "tool_result", "tool_use_id": name, "content": "ok"}
        self.event(type="user", message={"role": "user", "content": [result]})

    def refusal(self, words: list[str]) -> None:
        """A limit: figures come as an event where there are events."""
        if self.is_text:
            out("\n".join(words))
            return
        for text in words:
            if figures := re.search(r"\|(\d+)$", text):
                info = {"status": "rejected", "resetsAt": int(figures[1])}
                self.event(
                    type="rate_limit_event",
                    rate_limit_info={**info, "rateLimitType": "five_hour"},
                )
            else:
                self.message({"type": "text", "text": text}, is_api_error_message=True)

    def end(self, text: str, is_error: bool, **more: Any) -> None:
        if not self.is_text:
            self.event(
                type="result", subtype="success", is_error=is_error, result=text,
                total_cost_usd=0, usage={"input_tokens": 1, "output_tokens": 1}, **more,
            )  # fmt: skip
        keep("ends", key=key(), at=time.time())
        sys.exit(1 if is_error else 0)


def keep(name: str, **record: object) -> None:
    line = json.dumps(record).encode() + b"\n"
    fd = os.open(OUT / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, line)
    os.close(fd)


def heard() -> str:
    if VOICE == "text":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    content = json.loads(sys.stdin.readline())["message"]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def do_part(voice: Voice) -> None:
    """What this kind of work takes for done."""
    if KIND == "book":
        target = Path(ENV["SEGUE_TARGET"])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("# Chapter\n\nThe owl found the lamp.\n", "utf-8")
    elif KIND == "feature" and ENV.get("SEGUE_CHECKPOINT"):
        Path(f"{ENV['SEGUE_CHECKPOINT']}.txt").write_text("made\n")
    elif KIND == "server":
        voice.say(f"=== CUSTOM TASK COMPLETE{voice.nonce} ===")


class Player:
    """One method for each step of scenes.py."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice

    def play(self, steps: list[list[Any]]) -> None:
        for verb, *args in steps:
            getattr(self, verb)(*(dated(arg) if isinstance(arg, str) else arg for arg in args))

    def say(self, text: str) -> None:
        self.voice.say(text)

    def work(self, seconds: float) -> None:
        end = time.time() + seconds
        while time.time() < end:
            self.voice.tool()
            time.sleep(0.2)

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def hold(self, name: str) -> None:
        while not (OUT / "released" / name).exists():
            self.voice.tool()
            time.sleep(0.1)

    def passing(self, *words: str) -> None:
        self.voice.refusal(list(words))

    def limit(self, *words: str) -> None:
        self.voice.refusal(list(words))
        self.voice.end(words[-1], True, terminal_reason="api_error")

    def full(self, text: str) -> None:
        if self.voice.is_text:
            out(text)
        self.voice.end("Prompt is too long", True, terminal_reason="prompt_too_long")

    def ask(self, question: dict[str, Any]) -> None:
        lines = [f"[USER_QUESTION{self.voice.nonce}]", "category: choice"]
        lines += [f"question: {question['text']}", "options:"]
        lines += [f"  - {option}" for option in question["options"]]
        if question["default"]:
            lines.append(f"default: {question['default']}")
        if question["deadline"]:
            lines += ["required: false", f"deadline: {question['deadline']}"]
        self.voice.say("\n".join([*lines, "[/USER_QUESTION]"]))
        self.voice.end("asked", False)

    def fail(self, text: str) -> None:
        if self.voice.is_text:
            out(text)
        self.voice.end(text, True)

    def hang(self) -> None:
        while True:
            time.sleep(3600)


def main() -> None:
    prompt = heard()
    names = [f"{key()}.json", "all.json"]
    plays = [OUT / "plays" / name for name in names if (OUT / "plays" / name).exists()]
    turns = json.loads(plays[0].read_text("utf-8")) if plays else []
    path = OUT / "starts"
    before = path.read_text("utf-8").splitlines() if path.exists() else []
    nth = sum(json.loads(line)["key"] == key() for line in before)
    voice = Voice()
    keep(
        "starts", key=key(), at=time.time(), prompt=prompt, agent=NAME, pid=os.getpid(),
        conversation=ENV.get("SEGUE_CONVERSATION", "") if voice.is_text else voice.talk,
        is_resume=bool(resumed()) or ENV.get("SEGUE_RESUME") == "1",
        attempt=ENV.get("SEGUE_ATTEMPT"),
    )  # fmt: skip
    if prompt.strip() == "/compact":
        voice.end("compacted", False)
    Player(voice).play(turns[nth] if nth < len(turns) else [])
    do_part(voice)
    voice.end("did it", False)


if __name__ == "__main__":
    main()
