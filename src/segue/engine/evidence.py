"""Evidence: what a check of Segue's own found, where no agent writes, and its row in the journal.

The row holds the command and its hash, the exit code, the commit, the time, and the hashes of both
files: what the check printed, and a short record of it. So a forged file is found (`segue audit`).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from segue.drivers.git import commit_at
from segue.engine.executors import Ended
from segue.engine.run_files import RunFiles
from segue.store import files
from segue.store.changes import Record

ENTITY, CAUSE = "evidence", "verify"
PASSED, FAILED = "passed", "failed"
HASHED_BYTES_MAX = 256 * 2**20  # of an output; its size is recorded in any case
_BLOCK_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked: a command, for a task, in a folder."""

    task: str
    run: str
    attempt: int
    command: str
    folder: Path


def keep(kept: RunFiles, check: Check, ended: Ended, at: datetime) -> Record:
    """Write the record of a check beside its output; the row to be committed with what follows."""
    output = kept.check_log(check.run)
    facts: dict[str, object] = {
        "task": check.task,
        "run": check.run,
        "attempt": check.attempt,
        "command": check.command,
        "command_sha256": sha256(check.command.encode("utf-8", "replace")).hexdigest(),
        "exit_code": ended.code,
        "signal": ended.signal,
        "commit": commit_at(check.folder),
        "at": at.isoformat(),
        "output": output.name,
        **fingerprint(output),
    }
    record = kept.check_record(check.run)
    text = (json.dumps(facts, ensure_ascii=False, indent=2) + "\n").encode()
    try:
        files.replace(record, text)
    except OSError as error:
        raise files.in_words(error, record) from error
    row = {**facts, "record": record.name, "record_sha256": sha256(text).hexdigest()}
    is_passed = ended.code == 0 and not ended.timed_out
    return Record(ENTITY, check.run, PASSED if is_passed else FAILED, CAUSE, row)


def fingerprint(output: Path) -> dict[str, object]:
    """Size and hash of what a check printed; of a file that is none, or is not there, nothing."""
    digest, left = sha256(), HASHED_BYTES_MAX
    try:
        fd = os.open(output, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return {"output_bytes": None, "output_sha256": None}
    with os.fdopen(fd, "rb", buffering=0) as file:
        size = os.fstat(fd).st_size
        while left and (block := file.read(min(left, _BLOCK_BYTES))):
            digest.update(block)
            left -= len(block)
    return {"output_bytes": size, "output_sha256": digest.hexdigest()}
