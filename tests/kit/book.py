"""What the tests of books share: a book in a project, a writer and judges that can be told what to do.

The writer and the judges are small programs outside the book. Each keeps what it heard as one
JSON line per start under `out/`, so that "once, not twice" can be counted from outside.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import textwrap
import threading
import time
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from kit.box import Box
from kit.command import Going, Result
from kit.waiting import until

Json = dict[str, Any]

PRELUDE = """\
import json, os, re, sys, time
from pathlib import Path
OUT = Path({out!r})
def lines(name):
    path = OUT / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
def keep(name, **record):
    with (OUT / name).open("a") as file:
        file.write(json.dumps(record) + "\\n")
def hold(name):
    while not (OUT / name).exists():
        time.sleep(0.02)
def limit(seconds):
    print(f"Claude AI usage limit reached|{{int(time.time() + seconds)}}")
    sys.exit(1)
def play(name):
    path = OUT / name
    return path.read_text() if path.exists() else ""
environ = {{k: v for k, v in os.environ.items() if k.startswith("SEGUE_")}}
"""
WRITER = """
prompt = sys.stdin.read()
chapter, target = int(os.environ["SEGUE_CHAPTER"]), Path(os.environ["SEGUE_TARGET"])
before = lines("writes")
start, nth = len(before) + 1, sum(b["chapter"] == chapter for b in before) + 1
keep("writes", chapter=chapter, prompt=prompt, env=environ, at=time.time(), cwd=os.getcwd(),
     target=str(target))
text = f"# Chapter {chapter}\\n\\nOwl-{chapter} found the lamp in draft {nth}.\\n"
exec(play("writer.py"))
target.parent.mkdir(parents=True, exist_ok=True)
target.write_text(text, "utf-8")
print(f"Owl-{chapter} found the lamp.")
keep("ends", chapter=chapter)
"""
JUDGE = """
is_agent = sys.argv[1:] == ["--agent"]
prompt = sys.stdin.read() if is_agent else ""
path = "" if is_agent else sys.argv[-1]
named = re.findall(r"chapter_0*(\\d+)\\.md", path or prompt)
chapter = int(os.environ.get("SEGUE_CHAPTER") or named[-1]) if is_agent else int(named[-1])
before = lines("judgements")
start, nth = len(before) + 1, sum(b["chapter"] == chapter for b in before) + 1
told = json.loads(play("scores.json") or "{}").get(str(chapter), [[90, []]])
score, reasons = told[min(nth, len(told)) - 1]
text = Path(path).read_text("utf-8") if path else ""
keep("judgements", chapter=chapter, path=path, argv=sys.argv[1:], prompt=prompt, score=score,
     text=text, env=environ, cwd=os.getcwd())
exec(play("judge.py"))
print(json.dumps({"score": score, "reasons": reasons}))
"""
FIELDS: dict[str, tuple[type, ...]] = {
    "schema_version": (int, str), "project_id": (str,), "mode": (str, type(None)),
    "ralph_active": (bool,), "can_resume": (bool,), "started_at": (str, type(None)),
    "last_checkpoint": (str, type(None)), "last_updated": (str,),
    "completed_at": (str, type(None)), "total_chapters": (int,), "total_acts": (int,),
    "current_act": (int, type(None)), "current_chapter": (int, type(None)),
    "completed_chapters": (list,), "failed_chapters": (list,), "quality_scores": (dict,),
    "last_quality_score": (int, float, type(None)), "quality_threshold": (int, float),
    "retry_count": (int,), "iteration": (int,), "max_iterations": (int,),
    "last_error": (str, type(None)), "pause_reason": (str, type(None)), "circuit_breaker": (dict,),
}  # fmt: skip
INSTANTS = ("started_at", "last_checkpoint", "last_updated", "completed_at")


def check_shape(state: Json) -> None:
    """Every field of the state file is there and of its type."""
    for name, types in FIELDS.items():
        assert name in state, f"{name} is missing"
        value = state[name]
        assert isinstance(value, types), (name, value)
        assert bool in types or not isinstance(value, bool), (name, value)
    for name in INSTANTS:
        if state[name]:
            offset = datetime.fromisoformat(state[name]).utcoffset()
            assert offset is not None and not offset, (name, state[name])
    for name in ("completed_chapters", "failed_chapters"):
        assert all(type(number) is int for number in state[name]), state[name]
        assert len(set(state[name])) == len(state[name]), state[name]
    assert not set(state["completed_chapters"]) & set(state["failed_chapters"])
    for chapter, score in state["quality_scores"].items():
        assert chapter.isdigit() and 0 <= score <= 100, state["quality_scores"]
    breaker = state["circuit_breaker"]
    assert type(breaker["failure_count"]) is int
    assert type(breaker["triggered"]) is bool
    assert all(type(reason) is str for reason in breaker["failure_reasons"])


def width(text: str) -> int:
    """How many columns a terminal needs for it."""
    columns = 0
    for letter in text:
        if unicodedata.combining(letter) or "\u1160" <= letter <= "\u11ff":
            continue
        columns += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return columns


def box_lines(text: str) -> list[str]:
    """The lines of the frames that were shown."""
    return [
        line.strip() for line in text.splitlines() if line.strip()[:1] in tuple("+|│┃║╭╰┌└├┏┗╔╚")
    ]


class Watcher(threading.Thread):
    """Reads the state file all the time; every content that it ever had."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path, self.states, self.faults = path, list[Json](), list[str]()
        self.completed: dict[int, str] = {}
        self._last, self._stop_now = b"", threading.Event()

    def run(self) -> None:
        while not self._stop_now.is_set():
            self._look()
            time.sleep(0.001)
        self._look()

    def _look(self) -> None:
        try:
            raw = self.path.read_bytes()
        except OSError:
            if self._last:
                self.faults.append("the state was gone for a moment")
            return
        if raw == self._last:
            return
        self._last = raw
        try:
            state = json.loads(raw)
            check_shape(state)
        except (ValueError, AssertionError) as fault:
            self.faults.append(f"{fault!r} in {raw!r}")
            return
        self.states.append(state)
        for number in state["completed_chapters"]:
            self.completed.setdefault(number, digest(self.path.parents[1], number))

    def stop(self) -> None:
        self._stop_now.set()
        self.join()


def digest(root: Path, number: int) -> str:
    for name in (f"chapter_{number}.md", f"chapter_{number:03}.md"):
        if (path := root / "chapters" / name).exists():
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return "no file"


class Book:
    """A book in the project's folder (or in one below it)."""

    def __init__(self, box: Box, folder: str = ".") -> None:
        self.box = box
        self.root = box.root / folder
        self.root.mkdir(parents=True, exist_ok=True)
        self.chapters, self.meta = self.root / "chapters", self.root / "meta"
        self.state_path = self.meta / "ralph-state.json"
        self.wisdom = self.meta / "wisdom"
        self.programs = box.tmp / "programs"
        self.programs.mkdir(exist_ok=True)
        for name, body in (("writer.py", WRITER), ("judge.py", JUDGE)):
            prelude = PRELUDE.format(out=str(box.out))
            (self.programs / name).write_text(prelude + body, "utf-8")
        self.settings()

    # --- what is to be written, and by whom

    def settings(self, more: str = "", recovery: str = "") -> None:
        run = json.dumps([sys.executable, "-S", str(self.programs / "writer.py")])
        judge = json.dumps([sys.executable, "-S", str(self.programs / "judge.py"), "--agent"])
        self.box.config(
            f'agent = "pen"\n[agents.pen]\nkind = "command"\ncommand = {run}\n'
            f'[agents.critic]\nkind = "command"\ncommand = {judge}\n'
            f"[recovery]\nwake_margin_s = 0.2\n{recovery}{more}"
        )

    @property
    def judge_line(self) -> str:
        words = [sys.executable, "-S", str(self.programs / "judge.py")]
        return f"judge_command = {json.dumps(words)}\n"

    def toml(self, chapters: int | None = 3, more: str = "", *, judge: str | None = None) -> None:
        """`book.toml` with its usual lines; `more` are further ones."""
        count = "" if chapters is None else f"chapters = {chapters}\n"
        judge = self.judge_line if judge is None else judge
        head = f'title = "The long night"\n{count}threshold = 80\nwriter = "pen"\n{judge}'
        (self.root / "book.toml").write_text(head + more, "utf-8")

    def scores(self, told: dict[int, list[Any]]) -> None:
        """What the judge says: chapter → scores, or (score, reason) pairs; the last one repeats."""

        def pair(item: Any) -> list[Any]:
            return [item, []] if isinstance(item, int | float) else [item[0], list(item[1:])]

        text = json.dumps({n: [pair(item) for item in items] for n, items in told.items()})
        (self.box.out / "scores.json").write_text(text)

    def writer(self, code: str) -> None:
        """Python that the writer runs before it writes (`chapter`, `nth`, `start`, `text`)."""
        (self.box.out / "writer.py").write_text(textwrap.dedent(code))

    def judge(self, code: str) -> None:
        """Python that the judge runs before it answers (`chapter`, `nth`, `start`, `score`)."""
        (self.box.out / "judge.py").write_text(textwrap.dedent(code))

    # --- what came of it

    def kept(self, name: str) -> list[Json]:
        path = self.box.out / name
        text = path.read_text() if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        return [json.loads(line) for line in whole.splitlines()]

    @property
    def writes(self) -> list[Json]:
        return self.kept("writes")

    @property
    def written(self) -> list[int]:
        """The chapters in the order of the writer's starts."""
        return [write["chapter"] for write in self.writes]

    @property
    def judged(self) -> list[int]:
        return [judgement["chapter"] for judgement in self.kept("judgements")]

    def prompts(self, chapter: int) -> list[str]:
        return [write["prompt"] for write in self.writes if write["chapter"] == chapter]

    def chapter(self, number: int) -> Path:
        return self.chapters / f"chapter_{number}.md"

    @property
    def state(self) -> Json:
        found: Json = json.loads(self.state_path.read_text("utf-8"))
        return found

    def backups(self) -> list[Path]:
        return sorted((self.meta / "backups").glob("ralph-state-*.json"))

    def somewhere(self, text: str) -> list[Path]:
        """The files of the book that hold this text."""
        files = (
            path for path in self.root.rglob("*") if path.is_file() and ".segue" not in path.parts
        )
        return sorted(path for path in files if text.encode() in path.read_bytes())

    # --- a book that somebody began

    def begun(self, completed: int = 3, total: int = 12, **changes: Any) -> Json:
        """A state as it stands after some chapters, with their files; the next one is current."""
        self.chapters.mkdir(parents=True, exist_ok=True)
        for number in range(1, completed + 1):
            self.chapter(number).write_text(f"# {number}\n\nOld text of {number}.\n", "utf-8")
        state = {
            "schema_version": 1, "project_id": "long-night", "mode": "write-all",
            "ralph_active": True, "can_resume": True, "started_at": "2026-11-15T20:00:00+00:00",
            "last_checkpoint": "2026-11-15T21:30:00+00:00",
            "last_updated": "2026-11-15T21:30:00+00:00", "completed_at": None,
            "total_chapters": total, "total_acts": 3, "current_act": 1,
            "current_chapter": completed + 1, "completed_chapters": list(range(1, completed + 1)),
            "failed_chapters": [], "quality_scores": {str(n): 80 + n for n in range(1, completed + 1)},
            "last_quality_score": 80 + completed, "quality_threshold": 80, "retry_count": 0,
            "iteration": completed, "max_iterations": 100, "last_error": None,
            "pause_reason": None,
            "circuit_breaker": {"failure_count": 0, "failure_reasons": [], "triggered": False},
            **changes,
        }  # fmt: skip
        self.put(state)
        return state

    def put(self, state: Json | bytes, path: Path | None = None) -> None:
        """Write the state file (or a backup) as another tool would."""
        path = path or self.state_path
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = state if isinstance(state, bytes) else json.dumps(state, ensure_ascii=False).encode()
        path.write_bytes(raw)

    def put_backup(self, state: Json | bytes, stamp: str) -> Path:
        path = self.meta / "backups" / f"ralph-state-{stamp}.json"
        self.put(state, path)
        return path

    # --- the command

    def segue(self, *args: str, **rest: Any) -> Result:
        return self.box.segue(*args, **rest)

    def write_all(self, *args: str, **rest: Any) -> Result:
        return self.box.segue("write-all", *args, cwd=self.root, **rest)

    def start(self, *args: str) -> Going:
        return self.box.start(*(args or ("write-all",)))

    def korean(self, *args: str) -> Result:
        return self.box.segue("--lang", "ko", "resume", *args, cwd=self.root)

    @contextlib.contextmanager
    def watched(self) -> Iterator[Watcher]:
        """The state file is read all the time meanwhile, and was always whole and right."""
        watcher = Watcher(self.state_path)
        watcher.start()
        try:
            yield watcher
        finally:
            watcher.stop()
        assert watcher.faults == []
        assert watcher.states, "the state was never there"

    def is_parked(self) -> bool:
        """The state says that it pauses, and no agent lives."""
        if not self.state_path.exists():
            return False
        return bool(self.state["pause_reason"]) and not self.box.agents()

    def until_parked(self) -> None:
        until(self.is_parked, "the park")
