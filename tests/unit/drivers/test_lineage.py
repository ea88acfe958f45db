"""What descends from a run is known as an agent's, however it was started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from segue.drivers.lineage import run_of

LOOK = (
    "import json, os, sys; from segue.drivers.lineage import run_of;"
    " open(sys.argv[1], 'w').write(json.dumps(run_of(os.environ)))"
)
KEEPER = """
import os, subprocess, sys, time
from segue.drivers.processes import become_subreaper
become_subreaper()
subprocess.run(["/bin/sh", "-c", sys.argv[1]], env={**os.environ, "SEGUE_RUN": "T-1-1-abcd"})
while True:  # until all that detached itself has ended
    try:
        os.wait()
    except ChildProcessError:
        break
"""


def looked(tmp: Path, command: str, *, under_keeper: bool = True) -> dict[str, str] | None:
    """What a process that a run has started this way is found to be."""
    (tmp / "look.py").write_text(LOOK)
    command = command.format(look=f"{sys.executable} {tmp}/look.py {tmp}/found")
    argv = ["/bin/sh", "-c", command]
    if under_keeper:
        keeper = tmp / "segue" / "drivers" / "nursery.py"
        keeper.parent.mkdir(parents=True)
        keeper.write_text(KEEPER)
        argv = [sys.executable, str(keeper), command]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run(argv, check=True, env=env)
    found: dict[str, str] | None = json.loads((tmp / "found").read_text())
    return found


@pytest.mark.parametrize(
    "command",
    [
        "{look}; true",
        "SEGUE_RUN= {look}; true",
        "env -u SEGUE_RUN {look}; true",
        "SEGUE_RUN=T-2-1-other {look}; true",
        "env -u SEGUE_RUN setsid --fork sh -c 'sleep 0.2; {look}; true'",
        "env -i PATH=$PATH PYTHONPATH=$PYTHONPATH {look}; true",
        "(env -i PATH=$PATH PYTHONPATH=$PYTHONPATH setsid sh -c 'sleep 0.2; {look}; true' &)",
    ],
)
def test_whatever_an_agent_starts_is_an_agents(tmp_path: Path, command: str) -> None:
    """With the variable emptied, removed or another's, with no environment, detached."""
    found = looked(tmp_path, command)
    assert found is not None
    assert found["SEGUE_RUN"] in ("T-1-1-abcd", "?")


def test_what_is_given_to_the_tools_alone_is_kept(tmp_path: Path) -> None:
    """The run is the keeper's; where its tools write is known to them only."""
    found = looked(tmp_path, "SEGUE_RUN=T-2-1-other SEGUE_TOLD=/a/file {look}; true")
    assert found is not None
    assert (found["SEGUE_RUN"], found["SEGUE_TOLD"]) == ("T-1-1-abcd", "/a/file")


def test_it_is_known_however_deep(tmp_path: Path) -> None:
    """A hundred programs between the agent and us hide nothing."""
    deep = tmp_path / "deep.sh"
    deep.write_text('if [ "$1" -gt 0 ]; then sh "$0" $(($1 - 1)); else ' + "eval $LOOK; fi; true\n")
    command = f"LOOK='{{look}}' env -u SEGUE_RUN sh {deep} 100; true"
    found = looked(tmp_path, command)
    assert found is not None


def test_a_person_is_one(tmp_path: Path) -> None:
    """No run above, whether the variable is empty or missing."""
    assert looked(tmp_path, "SEGUE_RUN= {look}; true", under_keeper=False) is None
    assert looked(tmp_path, "{look}; true", under_keeper=False) is None
    assert run_of({}) is None
