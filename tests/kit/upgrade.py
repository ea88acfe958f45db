"""Projects as Segue of schema 8 left them: what was in their folders, and their databases.

The databases are SQL dumps in `tests/databases`, written by the program of that time when it was
killed in the middle of its work. `@TMP@` stands for the folder that the project was in.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from kit import TESTS
from kit.book import Book
from kit.box import Box
from kit.feature import Feature, cp
from kit.serve import GOOD, NEEDS, QUESTION, House
from segue.store import migrate
from segue.work.state_folder import name_of

DATABASES = TESTS / "databases"
KEY = "a key for tests"
SECRET = "sk_test_value_of_a_test"

PLAN = """\
- [ ] **T-1**: done
  - agent: shell
  - run: true
- [ ] **T-2**: at work
  - agent: two
- [ ] **T-3**: at a limit
  - agent: three
- [ ] **T-4**: asks
  - agent: four
- [ ] **T-5**: fails
  - agent: shell
  - retries: 1
  - run: echo broken; false
- [ ] **T-6**: waits (deps: T-2)
  - agent: shell
  - run: true
"""
TWO = """#!/bin/sh
cat > /dev/null
echo "$SEGUE_TASK" >> {out}/starts
until [ -e {out}/go ]; do sleep 0.02; done
echo "$SEGUE_TASK" >> {out}/ends
"""
THREE = """#!/bin/sh
cat > /dev/null
echo "${{SEGUE_RESUME:-0}} $SEGUE_CONVERSATION" >> {out}/three
[ -n "$SEGUE_RESUME" ] && exit 0
echo "Claude AI usage limit reached|$(($(date +%s) + 3600))"
exit 1
"""
FOUR = """#!/bin/sh
prompt=$(cat)
echo "$prompt" >> {out}/four
case "$prompt" in *"rather blue"*) exit 0 ;; esac
echo "[USER_QUESTION $SEGUE_NONCE]"
echo "category: choice"
echo "question: Which colour?"
echo "options:"
echo "  - red"
echo "  - rather blue"
echo "default: red"
echo "[/USER_QUESTION]"
"""
TELL = "[ -e {out}/may-tell ] || exit 1; tee -a {out}/told"


def tasklist(box: Box) -> None:
    """A task list with one task of each kind of trouble, and two other plans."""
    agents = {"two": TWO, "three": THREE, "four": FOUR}
    settings = 'agent = "shell"\n[recovery]\nwake_margin_s = 0\n'
    for name, text in agents.items():
        program(box, name, text)
        command = json.dumps([f"./{name}.sh"])
        settings += f'[agents.{name}]\nkind = "command"\ncommand = {command}\naccount = "{name}"\n'
    program(box, "tell", "#!/bin/sh\n" + TELL)
    box.config(f'{settings}[notify]\nchannels = ["command:{box.root}/tell.sh"]\n')
    box.plan(PLAN)
    box.plan("- [ ] O-1: once\n  - run: true\n- [ ] O-2: twice\n  - run: true\n", "OLD.md")
    box.plan("- [ ] H-1: held\n  - agent: three\n", "HELD.md")


def program(box: Box, name: str, text: str) -> None:
    path = box.root / f"{name}.sh"
    path.write_text(text.format(out=box.out))
    path.chmod(0o755)


def book(box: Box) -> Book:
    """Three chapters; the second stops at a limit."""
    made = Book(box)
    made.toml(3)
    made.writer("if chapter == 2 and nth == 1:\n    limit(3600)\n")
    return made


def feature(box: Box) -> Feature:
    """Two checkpoints; the agent of the second is at work."""
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2", "cp-1"))
    made.play("cp-2.1", "hold('go')\n")
    return made


SERVED = {
    "good": GOOD,
    "works": "hold go\n" + GOOD,
    "limited": """case $n in
1) block ERROR <<END
type: recoverable
message: 429, try again in 3600 seconds
recovery: pause_and_retry
END
;;
*) """ + GOOD + ";;\nesac\n",
    "asks": f"case $n in 1) {QUESTION} ;; *) {GOOD} ;; esac\n",
    "needs": f"case $n in 1) {NEEDS} ;; *) {GOOD} ;; esac\n",
    "fails": """block ERROR <<END
type: fatal
message: it cannot be done
recovery: checkpoint_and_fail
END
""",
}  # fmt: skip


def server(tmp: Path) -> House:
    """Agents for each way in which a task of the server can wait."""
    made = House(tmp)
    for name, body in SERVED.items():
        made.hand(name, body)
    made.extra_env["SEGUE_KEY"] = KEY
    program(made, "tell", "#!/bin/sh\n" + TELL)
    made.tables.append(f'[notify]\nchannels = ["command:{made.root}/tell.sh"]\n')
    return made


# --- their databases


def memory(root: Path) -> Path:
    """Where a Segue of schema 8 kept its database."""
    return root / ".segue" / "segue.db"


def database(root: Path) -> Path:
    """Where it is now, of a project in a Box."""
    return root.parent / "home" / ".local" / "state" / "segue" / name_of(root) / "segue.db"


def restore(name: str, tmp: Path, root: Path) -> Path:
    """Put a database of schema 8 into a project."""
    path = memory(root)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    text = (DATABASES / f"{name}.sql").read_text("utf-8").replace("@TMP@", str(tmp))
    (path.parent / "runs").mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(text)
        for table in ("runs", "server_runs"):
            for id, keeper in db.execute(f"SELECT id, keeper FROM {table} WHERE state = 'running'"):
                claim = {"pid": keeper or 0, "started": 0, "boot": "another one"}  # it is dead
                (path.parent / "runs" / f"{id}.claim").write_text(json.dumps(claim))
    return path


def files_of(name: str, root: Path) -> None:
    """What people own, as it lay beside the database."""
    shutil.copytree(DATABASES / name, root, dirs_exist_ok=True)


# Where the rows of an old table are now; `plan` was the name of `work`.
NOW = {
    "plans": "works WHERE kind NOT IN ('server', 'panes')",
    "tasks": "tasks WHERE work != 'server'",
    "runs": "runs WHERE work != 'server'",
    "server_tasks": "tasks JOIN phase_tasks ON task = id",
    "server_agents": "agents",
    "server_runs": "runs WHERE work = 'server'",
    "server_timers": "timers",
    "server_checkpoints": "checkpoints",
    "journal": "journal",
    "accounts": "accounts",
}
CALLED = {"works": {}, "server_runs": {"purpose": "role"}}
ENTITIES = {
    "task": "server_task",
    "agent": "server_agent",
    "run": "server_run",
    "gate": "server_gate",
}


def as_of_schema_8(root: Path) -> None:
    """Write the database anew in the shape of schema 8: what runs meanwhile is not touched."""
    new, old = database(root), memory(root).with_name("old.db")
    with closing(sqlite3.connect(new)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with closing(sqlite3.connect(old, isolation_level=None)) as db:
        for step in migrate.steps()[:8]:
            db.executescript(step)
        db.execute("PRAGMA user_version = 8")
        db.execute("ATTACH ? AS now", (str(new),))
        for table, where in NOW.items():
            named = {"plan": "work"} | CALLED.get(table, {})
            columns = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})")]
            values = ", ".join(named.get(name, name) for name in columns)
            source = "now." + where.replace(" JOIN ", " JOIN now.")
            db.execute(
                f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {values} FROM {source}"
            )
        for entity, before in ENTITIES.items():
            db.execute(
                "UPDATE journal SET entity = ? WHERE entity = ? AND seq IN"
                " (SELECT seq FROM now.journal WHERE work = 'server')", (before, entity),
            )  # fmt: skip
        db.execute("UPDATE journal SET entity = 'plan' WHERE entity = 'work'")
    old.rename(memory(root))
    as_before_states(root)


def as_before_states(root: Path) -> None:
    """Lay the records of a project where a Segue kept them that had no state folder."""
    state, kept = database(root).parent, memory(root).parent
    if not memory(root).exists():
        for path in state.glob("segue.db*"):
            shutil.copyfile(path, kept / path.name)
    for name in ("evidence", "locks"):
        shutil.copytree(state / name, kept / name, dirs_exist_ok=True)
    if (state / "server").exists():
        shutil.copytree(state / "server", kept / "server", dirs_exist_ok=True)
    (kept / "state").unlink()
    shutil.rmtree(state)


@contextmanager
def opened(root: Path) -> Iterator[sqlite3.Connection]:
    """In its new place, or still in the old one."""
    path = database(root) if database(root).exists() else memory(root)
    with closing(sqlite3.connect(path, timeout=30)) as db:
        db.row_factory = sqlite3.Row
        yield db
