"""A task of the server sees neither the other tasks nor what was provided for them."""

from __future__ import annotations

from pathlib import Path

from kit.attack import WITHOUT, both_ways
from kit.serve import NEEDS, House
from kit.server import Server
from kit.waiting import until

SECRET = "sk-of-the-other-task-1234"
# The one that has a secret stays alive with it in its environment, while the other looks.
HOLDER = f"""case $n in
1) {{ {NEEDS}}} ;;
*) echo "kept by the other task" > mine.txt; hold over; write one.md "The whole of it."; phase 1 ;;
esac
"""
SEEKER = """
cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep STRIPE_KEY > "$out/environs"
cat "$SEGUE_PROJECT"/.segue/server/workspaces/*/mine.txt > "$out/workspaces" 2>/dev/null
find "$SEGUE_PROJECT/.segue" "$HOME/.local/state/segue" -type f 2>/dev/null \\
  | grep -c . > "$out/memory"
write one.md "The whole of the first part."
phase 1
"""


def served(house: House, sandbox: str) -> tuple[Server, str]:
    """A server on which one task holds a secret; its id."""
    more = f'sandbox = "{sandbox}"\nsandbox_write = ["{house.out}"]\n'
    house.hand("holder", HOLDER, more)
    house.hand("seeker", SEEKER, more)
    server = house.serve()
    task = server.new(agent="holder")
    server.agent_is(task, "waiting_dependency")
    server.provide(task, SECRET).ok()
    until(lambda: house.starts(task) == 2, "its second start, with the secret")
    return server, task


@both_ways
def test_another_tasks_secret_and_files_are_not_there(house: House, sandbox: str) -> None:
    """A phase is completed in the sandbox; what the agent found of the others is nothing."""
    server, holder = served(house, sandbox)
    seeker = server.new(agent="seeker")
    until(lambda: server.task(seeker)["status"] == "review", "the seeker's phase")

    def found(name: str) -> str:
        return Path(house.out, seeker, name).read_text()

    assert (SECRET in found("environs")) is (sandbox == WITHOUT)
    assert ("other task" in found("workspaces")) is (sandbox == WITHOUT)
    assert (int(found("memory")) > 5) is (sandbox == WITHOUT)
    house.release("over")
    until(lambda: server.task(holder)["status"] == "review", "the holder's phase")
