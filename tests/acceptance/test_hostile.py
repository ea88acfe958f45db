"""Full disks, read-only folders, foreign databases: told in words, nothing damaged."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from kit.box import Box
from kit.command import SEGUE, Result
from kit.waiting import until


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(not can_mount(), reason="needs the right to mount")
PLAN = "- [ ] T-1: a\n  - run: true\n"


def inside(box: Box, script: str) -> Result:
    """A shell in a mount namespace of its own; $SEGUE is the command."""
    env = box.env({"SEGUE_BIN": str(SEGUE), "ROOT": str(box.root), "OUT": str(box.out)})
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], cwd="/", env=env, check=False,
        capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    result = Result(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in result.said, result.said
    return result


@needs_mount
def test_a_read_only_folder(box: Box) -> None:
    """A project that cannot be written: exit 2 in words; plan and status still work."""
    path = box.plan(PLAN)
    ro = 'mount --bind "$ROOT" "$ROOT" && mount -o remount,ro,bind "$ROOT" && cd "$ROOT" && '
    done = inside(box, ro + '"$SEGUE_BIN" run PLAN.md --json')
    assert done.code == 2, done.said
    error = done.json["error"]
    assert error["message"]
    assert error["hint"]
    assert str(box.root) in error["file"] or "PLAN.md" in error["file"] or ".segue" in error["file"]
    assert path.read_text() == PLAN
    for command in ("plan PLAN.md", "status", "resume --status", "doctor"):
        look = inside(box, ro + f'"$SEGUE_BIN" {command} --json')
        assert look.code == 0, (command, look.said)


@needs_mount
def test_a_read_only_folder_with_memory_can_be_looked_at(box: Box) -> None:
    """After a run, status of a read-only project says what it said before."""
    box.plan(PLAN)
    assert box.run().code == 0
    ro = 'mount --bind "$ROOT" "$ROOT" && mount -o remount,ro,bind "$ROOT" && cd "$ROOT" && '
    look = inside(box, ro + '"$SEGUE_BIN" status --json')
    assert look.code == 0, look.said
    assert look.json["plans"][0]["state"] == "finished"


WAITS_OR_ENDS = (
    'while kill -0 $first 2>/dev/null && ! grep -q "waits until it can write" "$OUT/first";'
    " do sleep 0.05; done"
)


@needs_mount
@pytest.mark.parametrize("ending", ["room", "SIGTERM"])
def test_a_disk_that_fills_up_during_a_run_is_waited_for(box: Box, ending: str) -> None:
    """An agent fills it: the run waits and says so, and goes on when there is room; nothing is done
    twice. SIGTERM ends it meanwhile, with its agents."""
    fill = "dd if=/dev/zero of=filler bs=1k 2>/dev/null; true"
    box.plan(
        f"- [ ] T-1: a\n  - retries: 0\n  - run: {box.note()}; {fill}\n"
        f"- [ ] T-2: b\n  - retries: 0\n  - run: {box.note()}; {box.hold('go')}\n"
        f"- [ ] T-3: c (deps: T-1, T-2)\n  - retries: 0\n  - run: {box.note()}\n"
    )
    end = "rm filler; touch $OUT/go" if ending == "room" else "kill -TERM $first"
    script = f"""
    mount -t tmpfs -o size=4000k none /mnt && cp "$ROOT/PLAN.md" /mnt/ && cd /mnt || exit 99
    "$SEGUE_BIN" run PLAN.md --json --jobs 2 > "$OUT/first" 2> "$OUT/first.err" & first=$!
    {WAITS_OR_ENDS}
    {end}
    wait $first; echo $? > "$OUT/first.code"
    """
    inside(box, script)
    said = (box.out / "first").read_text() + (box.out / "first.err").read_text()
    assert "Traceback" not in said, said
    assert "waits until it can write" in said
    code = (box.out / "first.code").read_text().strip()
    last = json.loads((box.out / "first").read_text().splitlines()[-1])
    assert last["event"] == "finished"
    if ending == "room":
        assert (code, last["exit"]) == ("0", 0), said
        assert sorted(box.notes()) == ["T-1", "T-2", "T-3"]
    else:
        assert (code, last["exit"]) == ("130", 130), said
    until(lambda: not box.left_behind(), "no agent is left")


@needs_mount
@pytest.mark.parametrize("free_kb", [0, 40, 200])
def test_a_full_disk_damages_nothing(box: Box, free_kb: int) -> None:
    """No space left: exit 2 in words, or it waits; the plan whole; with space again the work
    completes."""
    text = "# Plan\n\n" + "".join(f"- [ ] T-{n}: x\n  - run: true\n" for n in range(1, 6))
    box.plan(text)
    script = f"""
    set -u
    mount -t tmpfs -o size=1500k none /mnt && cp "$ROOT/PLAN.md" /mnt/ && cd /mnt || exit 99
    dd if=/dev/zero of=filler bs=1k count=$(( $(df -k --output=avail /mnt | tail -1) - {free_kb} )) 2>/dev/null
    "$SEGUE_BIN" run PLAN.md --json > "$OUT/first" 2> "$OUT/first.err" & first=$!
    {WAITS_OR_ENDS}
    cp PLAN.md "$OUT/between.md"
    rm filler
    wait $first; echo $? > "$OUT/first.code"
    "$SEGUE_BIN" run PLAN.md --json > "$OUT/second" 2> "$OUT/second.err"; echo $? > "$OUT/second.code"
    cp PLAN.md "$OUT/after.md"
    """
    inside(box, script)
    first = (box.out / "first.code").read_text().strip()
    said = (box.out / "first").read_text() + (box.out / "first.err").read_text()
    assert "Traceback" not in said, said
    assert first in ("0", "1", "2"), said
    if free_kb == 0:
        assert first == "2", said
        assert '"hint"' in said
    between = (box.out / "between.md").read_text()
    for mark in "x~!-":
        between = between.replace(f"[{mark}] T-", "[ ] T-")
    kept = "".join(line for line in between.splitlines(keepends=True) if "<!--" not in line)
    assert kept == text, "no byte but marks and comments changed"
    second = (box.out / "second").read_text() + (box.out / "second.err").read_text()
    assert (box.out / "second.code").read_text().strip() == "0", second
    assert (box.out / "after.md").read_text() == text.replace("[ ]", "[x]")


def test_a_database_of_a_newer_segue(box: Box) -> None:
    """A newer schema is refused with its file named, and not touched."""
    box.plan(PLAN)
    assert box.run().code == 0
    path = box.database
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()
    before = path.read_bytes()
    box.plan(PLAN)
    done = box.run()
    assert done.code == 2
    assert Path(done.json["error"]["file"]).name == "segue.db"
    assert done.json["error"]["hint"]
    assert path.read_bytes() == before
    assert box.text() == PLAN
    assert "Traceback" not in box.segue("status").said


def test_a_database_that_is_no_database(box: Box) -> None:
    """Rubbish in place of the database: exit 2, the file named, nothing overwritten."""
    box.plan(PLAN)
    path = box.database
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_bytes(b"this is no database at all, only words " * 50)
    before = path.read_bytes()
    done = box.run()
    assert done.code == 2
    assert Path(done.json["error"]["file"]).name == "segue.db"
    assert path.read_bytes() == before
    assert box.text() == PLAN


def test_a_file_in_place_of_the_memory_folder(box: Box) -> None:
    """A file called .segue is told, not removed."""
    box.plan(PLAN)
    (box.root / ".segue").write_text("mine\n")
    done = box.run()
    assert done.code == 2
    assert done.json["error"]["file"]
    assert (box.root / ".segue").read_text() == "mine\n"


def test_a_closed_pipe_does_not_hurt(box: Box) -> None:
    """`segue run | head -1`: the reader goes away, the tasks are still done and no traceback shows."""
    box.plan("".join(f"- [ ] T-{n}: x\n  - run: {box.note()}\n" for n in range(1, 6)))
    done = subprocess.run(
        ["sh", "-c", f'"{SEGUE}" run PLAN.md --jobs 1 | head -1'], cwd=box.root, env=box.env(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    again = box.run()
    assert again.code == 0
    assert len(box.notes()) == len(set(box.notes())) == 5


def test_odd_names_of_files(box: Box) -> None:
    """A plan with spaces, quotes and Hangul in its name runs like any other."""
    box.plan(PLAN, "내 'plan' $x.md")
    assert box.segue("run", "내 'plan' $x.md", "--json").code == 0
    assert box.text("내 'plan' $x.md") == PLAN.replace("[ ]", "[x]")
    assert len(box.segue("status", "--json").json["plans"]) == 1


def test_ids_that_are_paths(box: Box) -> None:
    """Ids and titles never become paths that leave `.segue`."""
    box.plan("- [ ] ../../../evil: x\n  - run: true\n- [ ] a/b\\c title\n  - run: true\n")
    done = box.run()
    assert done.code in (0, 2)
    assert sorted(p.name for p in box.tmp.iterdir() if p.is_dir()) == ["home", "out", "project"]
