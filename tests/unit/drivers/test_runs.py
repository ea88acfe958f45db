"""Runs by their files: recovery, end records, and bytes sent to interactive agents."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from segue.drivers import processes, records, runs
from segue.drivers.runs import End, Failure, Live, Lost, Order, Revoked, read_end, recover, send
from segue.errors import AgentError, Bug

RECORD = {
    "code": 3,
    "signal": None,
    "ended_at": 1.5,
    "by": "itself",
    "leftovers": 0,
    "survivors": 0,
    "log_bytes": 7,
    "lost_bytes": 0,
    "error": None,
}


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


def write_claim(path: Path, pid: int, *, later: int = 0, boot: str | None = None) -> int:
    started = processes.start_time(pid)
    assert started is not None
    content = {"pid": pid, "started": started + later, "boot": boot or processes.boot_id()}
    os.close(records.claim(str(path), content))
    return started


def leave(claim: Path, end: Path, record: dict[str, Any]) -> None:
    records.leave(os.open(claim, os.O_WRONLY), str(claim), str(end), record)


def test_a_claim_is_taken_once(tmp_path: Path) -> None:
    """The second to claim a run is refused, and no temporary file stays."""
    claim = tmp_path / "claim"
    records.claim(str(claim), {"pid": 1})
    with pytest.raises(FileExistsError):
        records.claim(str(claim), {"pid": 2})
    with pytest.raises(FileExistsError):
        records.revoke(str(claim))
    assert json.loads(claim.read_bytes()[: records.RECORD_BYTES]) == {"pid": 1}
    assert list(tmp_path.iterdir()) == [claim]


def test_a_revoked_run_cannot_be_claimed(tmp_path: Path) -> None:
    """Where no keeper claimed the run it is revoked, for good, however often one asks."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    assert recover(claim, end, "r") == Revoked()
    with pytest.raises(FileExistsError):
        records.claim(str(claim), {"pid": 1})
    assert recover(claim, end, "r") == Revoked()


def test_a_living_keeper_is_adopted(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """A claim by a process that lives gives that process."""
    claim = tmp_path / "claim"
    started = write_claim(claim, sleeper.pid)
    assert recover(claim, tmp_path / "end", "r") == Live("r", sleeper.pid, started)


def test_a_recycled_pid_is_not_adopted(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """A process with the keeper's pid and another start time is not the keeper, and unharmed."""
    claim = tmp_path / "claim"
    write_claim(claim, sleeper.pid, later=1)
    assert recover(claim, tmp_path / "end", "r") == Lost()
    assert sleeper.poll() is None


def test_a_claim_of_another_boot_is_lost(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """After a reboot no keeper lives, whatever has its pid and start time now."""
    claim = tmp_path / "claim"
    write_claim(claim, sleeper.pid, boot="another")
    assert recover(claim, tmp_path / "end", "r") == Lost()


@pytest.mark.parametrize("text", ["", "[]", '{"pid": '])
def test_a_spoiled_claim_is_lost(tmp_path: Path, text: str) -> None:
    """A claim that says nothing still shows that the run was started."""
    claim = tmp_path / "claim"
    claim.write_text(text)
    assert recover(claim, tmp_path / "end", "r") == Lost()


def test_an_end_record_is_the_last_word(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """The end counts as soon as it is on record, even while the keeper is still there."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    write_claim(claim, sleeper.pid)
    assert isinstance(recover(claim, end, "r"), Live)
    leave(claim, end, RECORD)
    assert recover(claim, end, "r") == End(3, None, "itself", 1.5, log_bytes=7)
    assert list(tmp_path.iterdir()) == [end]


def test_a_claim_that_is_just_becoming_the_record_is_the_end(tmp_path: Path) -> None:
    """Between the record's content and its name nobody takes the run for lost."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    fd = records.claim(str(claim), RECORD)
    os.close(fd)
    assert recover(claim, end, "r") == End(3, None, "itself", 1.5, log_bytes=7)


def test_a_record_is_found_by_whoever_revokes_too_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim becomes the record between the first look and the revocation: it is the end."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    os.close(records.claim(str(claim), {"pid": 1}))
    revoke = records.revoke

    def ends_before(path: str) -> None:
        leave(claim, end, RECORD)
        revoke(path)

    monkeypatch.setattr(records, "revoke", ends_before)
    assert recover(claim, end, "r") == End(3, None, "itself", 1.5, log_bytes=7)


def test_a_spare_record_is_used_again(tmp_path: Path) -> None:
    """A file that is not needed any more becomes the next claim; a revoked run is not claimed."""
    claim, spare = tmp_path / "claim", tmp_path / "old.end"
    spare.write_text("x" * 4096)
    inode = spare.stat().st_ino
    os.close(records.claim(str(claim), {"pid": 1}, str(spare)))
    assert claim.stat().st_ino == inode
    assert json.loads(claim.read_bytes()[: records.RECORD_BYTES]) == {"pid": 1}
    assert not spare.exists()
    os.close(records.claim(str(tmp_path / "next"), {"pid": 2}, str(spare)))
    revoked = tmp_path / "revoked"
    records.revoke(str(revoked))
    spare.write_text("")
    with pytest.raises(FileExistsError):
        records.claim(str(revoked), {"pid": 3}, str(spare))


def test_an_end_record_left_between_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A keeper that leaves its record and exits during recovery is not taken for lost."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    held = {"pid": os.getpid(), "started": 0, "boot": processes.boot_id()}
    os.close(records.claim(str(claim), held))

    def ends_now(pid: int, started: int) -> bool:
        leave(claim, end, RECORD)
        return False

    monkeypatch.setattr(processes, "is_alive", ends_now)
    assert recover(claim, end, "r") == End(3, None, "itself", 1.5, log_bytes=7)


def test_read_end(tmp_path: Path) -> None:
    """A record gives all its facts, no record gives None, a spoiled one an error."""
    end = tmp_path / "end"
    assert read_end(end) is None
    error = {"errno": 2, "strerror": "No such file", "path": "x"}
    end.write_text(json.dumps(RECORD | {"code": None, "error": error}))
    record = read_end(end)
    assert record is not None
    assert record.error == Failure(2, "No such file", "x")
    for text in ("", "[]", "{}", '{"error": null}', '{"error": null, "surprise": 1}'):
        end.write_text(text)
        with pytest.raises(AgentError, match="end record"):
            read_end(end)


def test_a_spoiled_end_record_is_no_record(tmp_path: Path) -> None:
    """A run whose end cannot be read is lost, not an error of the recovery."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    claim.write_text("{}")
    end.write_text("nonsense")
    assert recover(claim, end, "r") == Lost()


def test_a_run_whose_folder_was_removed_is_lost(tmp_path: Path) -> None:
    """Without its files nothing of a run may live on, and nothing is left to adopt."""
    run = f"removed-{os.getpid()}"
    agent = subprocess.Popen(["sleep", "1000"], env={"SEGUE_RUN": run})
    folder = tmp_path / "removed"
    assert recover(folder / "claim", folder / "end", run) == Lost()
    assert agent.wait() == -9


def test_orders_that_make_no_sense(tmp_path: Path) -> None:
    """An order without a command, or interactive without a place for its input, is a bug."""
    paths: dict[str, Any] = {"cwd": tmp_path, "log": tmp_path, "claim": tmp_path, "end": tmp_path}
    with pytest.raises(Bug):
        Order(run="r", argv=(), env={}, **paths)
    with pytest.raises(Bug):
        Order(run="r", argv=("true",), env={}, interactive=True, **paths)


# --- sending -----------------------------------------------------------------------------------


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    yield path, fd
    os.close(fd)


def test_send_without_a_reader(tmp_path: Path) -> None:
    """A run that has ended, its FIFO there or not, cannot be sent anything."""
    path = tmp_path / "fifo"
    with pytest.raises(AgentError, match="no longer reads"):
        send(path, b"x")
    os.mkfifo(path)
    with pytest.raises(AgentError, match="no longer reads"):
        send(path, b"x")


def test_send_to_a_full_pipe(fifo: tuple[Path, int]) -> None:
    """An agent that does not read is told apart, and what it was sent before stays whole."""
    path, fd = fifo
    sent = b""
    with pytest.raises(AgentError, match="read"):
        for _ in range(1000):
            send(path, b"x" * 1000)
            sent += b"x" * 1000
    assert len(sent) >= 20_000
    assert os.read(fd, 1 << 20) == sent
    send(path, b"again")
    assert os.read(fd, 100) == b"again"


def test_send_more_than_a_pipe_holds(fifo: tuple[Path, int]) -> None:
    """What can never fit is refused whole."""
    path, fd = fifo
    with pytest.raises(AgentError):
        send(path, b"x" * (1 << 21))
    with pytest.raises(BlockingIOError):
        os.read(fd, 1)


STEPS = st.lists(
    st.tuples(st.booleans(), st.one_of(st.integers(1, 9000), st.integers(1, 70_000))), max_size=60
)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
@example(steps=[(True, 2100)] * 15 + [(True, 20_000)])  # as many half-filled pages as can be
def test_send_is_all_or_nothing(steps: list[tuple[bool, int]]) -> None:
    """Whatever is sent and read in whatever sizes, a message arrives whole or not at all."""
    with pytest.MonkeyPatch.context() as patch:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        patch.setattr("segue.drivers.runs.os.open", lambda *_: os.dup(writer))
        sent, got = bytearray(), bytearray()
        for number, (is_send, size) in enumerate(steps):
            if is_send:
                message = bytes([number]) * size
                try:
                    send(Path("fifo"), message)
                except AgentError:
                    continue
                sent += message
            else:
                try:
                    got += os.read(reader, size)
                except BlockingIOError:
                    continue
        os.close(writer)
        while data := os.read(reader, 1 << 20):
            got += data
        os.close(reader)
    assert got == sent


def test_an_end_is_left_although_the_claim_was_removed(tmp_path: Path) -> None:
    """The folder was taken away under the run, and its claim perhaps written anew: the record of
    its end stands."""
    for is_claimed_again in (False, True):
        folder = tmp_path / str(is_claimed_again)
        claim, end = folder / "r.claim", folder / "r.end"
        folder.mkdir()
        fd = records.claim(str(claim), {"pid": 1})
        claim.unlink()
        folder.rmdir()
        if is_claimed_again:
            folder.mkdir()
            runs.claim_again(claim, end, Live("r", 1, 2))
        records.leave(fd, str(claim), str(end), RECORD)
        found = read_end(end)
        assert found is not None
        assert found.code == 3
        assert not claim.exists()


def test_a_run_whose_claim_was_removed_can_be_found_again(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    """Its claim is written anew once, and not over what is there."""
    claim, end = tmp_path / "r.claim", tmp_path / "r.end"
    started = processes.start_time(sleeper.pid)
    assert started is not None
    for _round in range(2):
        runs.claim_again(claim, end, Live("r", sleeper.pid, started))
    assert recover(claim, end, "r") == Live("r", sleeper.pid, started)
    claim.rename(end)
    runs.claim_again(claim, end, Live("r", sleeper.pid, started))
    assert not claim.exists()


def noted(claim: Path, pid: int, started: int, boot: str | None = None) -> None:
    """A keeper has noted how its agent ended, and cleans up behind it."""
    keeper = {"pid": pid, "started": started, "boot": boot or processes.boot_id()}
    fd = records.claim(str(claim), keeper)
    records.note(fd, {**keeper, **RECORD})
    os.close(fd)


def test_a_keeper_that_cleans_up_is_waited_for(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    """How its agent ended is known, but something of it may still run."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    started = processes.start_time(sleeper.pid)
    assert started is not None
    noted(claim, sleeper.pid, started)
    assert recover(claim, end, "run") == Live("run", sleeper.pid, started)
    assert runs.is_under_way(claim)


@pytest.mark.parametrize("boot", [None, "another"])
def test_what_a_killed_keeper_had_noted_counts(tmp_path: Path, boot: str | None) -> None:
    """Work that ended well is not done again because its keeper was killed in its clean-up, or the
    machine went down."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    noted(claim, 2**22 - 1, 1, boot)
    found = recover(claim, end, "run")
    assert isinstance(found, End)
    assert (found.code, found.by, found.log_bytes) == (3, "itself", 7)
    assert runs.read_outcome(claim, end) == found
    assert not runs.is_under_way(claim)


def test_nobody_knows_how_a_run_ended_whose_keeper_noted_nothing(tmp_path: Path) -> None:
    """A claim alone, a revocation and nothing at all say nothing."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    assert runs.read_outcome(claim, end) is None
    records.revoke(str(claim))
    assert runs.read_outcome(claim, end) is None
    claim.unlink()
    write_claim(claim, os.getpid())
    assert runs.read_outcome(claim, end) is None
