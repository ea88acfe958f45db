"""Segue's own checks run in the sandbox, too: an agent writes what they run."""

from __future__ import annotations

from kit.attack import WITHIN, WITHOUT, Stranger, both_ways, needs_sandbox


@both_ways
def test_a_check_reads_no_key(stranger: Stranger, sandbox: str) -> None:
    """An agent that cannot read a key writes a test that does: the check cannot, either."""
    script = f'echo "cat {stranger.key}" > check.sh'
    stranger.tries(script, sandbox, verify="sh check.sh")
    assert stranger.result.code == (0 if sandbox == WITHOUT else 1)
    evidence = "".join(p.read_text() for p in stranger.box.evidence.glob("*.log"))
    assert ("the private key" in evidence) is (sandbox == WITHOUT)


@needs_sandbox
def test_a_check_writes_its_workspace_and_its_own_home(stranger: Stranger) -> None:
    """What checks need works: a cache in the home, a build in the workspace, a server of their
    own on the loopback."""
    server = (
        'python3 -c \'import socket; a = socket.create_server(("127.0.0.1", 0));'
        " socket.create_connection(a.getsockname())'"
    )
    verify = f"mkdir -p ~/.cache/tool && echo built > built && {server}"
    stranger.tries("true", WITHIN, verify=verify)
    assert stranger.result.code == 0
    assert (stranger.box.root / "built").read_text() == "built\n"
    assert not (stranger.box.home / ".cache").exists()


@needs_sandbox
def test_a_check_has_no_network_unless_it_is_configured(stranger: Stranger) -> None:
    """The agent's network is not its check's."""
    verify = (
        "test $(ls /sys/class/net 2>/dev/null | wc -w) -eq 0 && test $(wc -l < /proc/net/dev) -eq 3"
    )
    stranger.tries("true", WITHIN, verify=verify)
    assert stranger.result.code == 0
    stranger.tries("true", WITHIN, verify=verify, checks='network = "full"')
    assert stranger.result.code == 1


@needs_sandbox
def test_checks_may_run_without_the_sandbox(stranger: Stranger) -> None:
    """`[checks] sandbox = "none"`: a person knows what their check runs."""
    stranger.tries("true", WITHIN, verify=f"cat {stranger.key}", checks='sandbox = "none"')
    assert stranger.result.code == 0
