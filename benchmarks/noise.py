"""An agent that prints very much: how fast it can, and how long other work waits meanwhile.

A task whose command is `cat` of 200 MB in lines of 100 bytes, from its `task_started` to its
`task_completed` (its output is copied to the log, read and judged by then), against `cat` of the
same file into another one; best of the rounds of each, in turn.

An agent prints 200 MB in one burst. On a server, others ask for a task all the while: the
slowest answer. In a run of a task list, a chain of short tasks goes on beside it: the longest time
from the end of one's process to the moment at which Segue says so.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp

from measure import SEGUE, Figure, Unmeasured, environment, in_turn, listed, run, wall_s
from serve import NOISE_BYTES, NOISY, answer, connect, request, serving

ROUNDS = 3
LINE_BYTES = 100
CAT_TARGET = 0.2
CHAIN = 40
PAUSE_S = 0.02
SETTINGS = """
agent = "noisy"
[agents.noisy]
kind = "command"
command = ["./noisy.sh"]
"""


def measure(folder: Path) -> list[Figure]:
    answers_ms = [asyncio.run(_slowest_answer_ms(folder)) for _round in range(ROUNDS)]
    ends_ms = [_slowest_end_ms(folder) for _round in range(ROUNDS)]
    cat_s, task_s = _against_cat(folder)
    mb = NOISE_BYTES // 1_000_000
    return [
        Figure(
            "noisy output ÷ `cat` to a file", min(cat_s) / min(task_s), CAT_TARGET, True,
            details=(
                f"cat of {mb} MB to a file, s: {listed(cat_s, '{:.2f}')}",
                f"a task that prints them, s: {listed(task_s, '{:.2f}')}",
            ),
        ),
        Figure(
            f"an answer beside {mb} MB of output, slowest", min(answers_ms), 100.0, False, "ms",
            (f"rounds, ms: {', '.join(f'{ms:.0f}' for ms in answers_ms)}",),
        ),
        Figure(
            f"the end of a task beside {mb} MB, slowest", min(ends_ms), 100.0, False, "ms",
            (f"rounds, ms: {', '.join(f'{ms:.0f}' for ms in ends_ms)}",),
        ),
    ]  # fmt: skip


def _against_cat(folder: Path) -> list[list[float]]:
    """Seconds of `cat` to a file, and of a task that is the same `cat`, round by round."""
    house = Path(mkdtemp(dir=folder))
    (house / "segue.toml").write_text('agent = "shell"\n')
    (house / "big").write_bytes(b"%0*d\n" % (LINE_BYTES - 1, 7) * (NOISE_BYTES // LINE_BYTES))
    return in_turn(
        ROUNDS,
        lambda: wall_s(lambda: run(["sh", "-c", "cat big > copy"], house)),
        lambda: _printed_s(house),
    )


def _printed_s(house: Path) -> float:
    (house / "PLAN.md").write_text("- [ ] T-1: print\n  - run: cat big\n")
    said = map(json.loads, run([SEGUE, "run", "PLAN.md", "--json"], house).splitlines())
    at_s = {told["event"]: datetime.fromisoformat(told["at"]).timestamp() for told in said}
    [log] = (house / ".segue" / "logs").glob("T-1-*.log")
    if log.stat().st_size != NOISE_BYTES:
        raise Unmeasured(f"the log has {log.stat().st_size} bytes of {NOISE_BYTES}")
    log.unlink()
    return at_s["task_completed"] - at_s["task_started"]


def _house(folder: Path) -> Path:
    house = Path(mkdtemp(dir=folder))
    (house / "segue.toml").write_text(SETTINGS)
    (house / "noisy.sh").write_text(NOISY)
    (house / "noisy.sh").chmod(0o755)
    return house


async def _slowest_answer_ms(folder: Path) -> float:
    house, slowest_s = _house(folder), 0.0
    given = {"title": "N", "description": "d", "type": "custom", "submit": True}
    with serving(house) as (url, _pid, _began_s):
        reader, writer = await connect(url)
        writer.write(request("POST", "/api/tasks", json.dumps(given).encode(), url))
        id = json.loads((await answer(reader))[1])["id"]
        while True:
            began = time.monotonic()
            writer.write(request("GET", f"/api/tasks/{id}", b"", url))
            task = json.loads((await answer(reader))[1])
            slowest_s = max(slowest_s, time.monotonic() - began)
            assert task["status"] != "failed", task["error"]
            if task["status"] == "completed":
                writer.close()
                return slowest_s * 1e3
            await asyncio.sleep(PAUSE_S)


def _slowest_end_ms(folder: Path) -> float:
    house = _house(folder)
    lines = ["- [ ] T-000: noise\n  - agent: noisy\n"]
    for n in range(1, CHAIN + 1):
        after = f"  - blocked by: T-{n - 1:03}\n" if n > 1 else ""
        run = f"  - agent: shell\n  - run: `sleep 0.05; date +%s.%N > T-{n:03}`\n"
        lines.append(f"- [ ] T-{n:03}: short\n{after}{run}")
    (house / "PLAN.md").write_text("# P\n\n" + "".join(lines))
    argv = [SEGUE, "run", "PLAN.md", "--jobs", "2", "--json"]
    with subprocess.Popen(
        argv, cwd=house, env=environment(house), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        slowest_s = 0.0
        for line in process.stdout:
            told = json.loads(line)
            if told["event"] == "task_completed" and told["task"] != "T-000":
                ended_s = float((house / told["task"]).read_text())
                said_s = datetime.fromisoformat(told["at"]).timestamp()
                slowest_s = max(slowest_s, said_s - ended_s)
    assert process.returncode == 0, process.returncode
    return slowest_s * 1e3
