"""The command line of the sandbox: which paths a program sees, and how."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from kit.attack import needs_sandbox
from segue.drivers import egress, sandbox
from segue.drivers.sandbox import Bubblewrap, Mount, Rules, is_too_wide, mount_words, wrapped

USED = Bubblewrap("/usr/bin/bwrap", ("--unshare-user", "--unshare-pid"))


def rules(tmp: Path, **more: object) -> Rules:
    for name in ("home", "project"):
        (tmp / name).mkdir(exist_ok=True)
    return Rules(tmp / "project", tmp / "home", **more)  # type: ignore[arg-type]


def mounts(given: Rules, *argv: str, **env: str) -> dict[str, str]:
    """Each path below the test's own folder, and the option that makes it visible."""
    words = mount_words(given, argv or ("/bin/true",), env)
    found = {}
    for option, path in pairwise(words):
        if option in ("--bind", "--ro-bind", "--tmpfs"):
            found[path] = option
    return found


def test_the_workspace_is_written_and_the_home_is_empty(tmp_path: Path) -> None:
    found = mounts(rules(tmp_path))
    assert found[str(tmp_path / "project")] == "--bind"
    assert found[str(tmp_path / "home")] == "--tmpfs"
    assert str(tmp_path) not in found


def test_the_deepest_mount_comes_last(tmp_path: Path) -> None:
    """Memory in the workspace is hidden, and what is the run's own in it is visible again."""
    memory = tmp_path / "project" / ".segue"
    (memory / "runs").mkdir(parents=True)
    own = memory / "runs" / "x.told"
    own.touch()
    given = rules(tmp_path, hidden=(memory,), mounts={own: Mount.WRITE})
    words = mount_words(given, ("/bin/true",), {})
    where = [words.index(str(path)) for path in (tmp_path / "project", memory, own)]
    assert where == sorted(where)
    assert words[where[1] - 1] == "--tmpfs"


def test_what_is_hidden_and_not_visible_needs_no_mount(tmp_path: Path) -> None:
    found = mounts(rules(tmp_path, hidden=(tmp_path / "elsewhere", tmp_path / "home" / "state")))
    assert str(tmp_path / "elsewhere") not in found
    assert str(tmp_path / "home" / "state") not in found


def test_what_is_guarded_wins_over_what_is_written(tmp_path: Path) -> None:
    settings = tmp_path / "state" / "settings.json"
    settings.parent.mkdir()
    settings.touch()
    given = rules(tmp_path, mounts={settings.parent: Mount.WRITE, settings: Mount.READ})
    found = mounts(given)
    assert (found[str(settings.parent)], found[str(settings)]) == ("--bind", "--ro-bind")


def test_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    found = mounts(rules(tmp_path, mounts={tmp_path / "gone": Mount.WRITE}))
    assert str(tmp_path / "gone") not in found


def test_a_program_in_the_home_is_visible_and_nothing_beside_its_folder(tmp_path: Path) -> None:
    given = rules(tmp_path)
    program = tmp_path / "home" / "tools" / "agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = mounts(given, str(program))
    assert found[str(program.parent)] == "--ro-bind"


def test_a_program_beside_the_home_does_not_make_the_home_visible(tmp_path: Path) -> None:
    """The folder of this program holds the home and the project: only the file is its own."""
    given = rules(tmp_path)
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = mounts(given, str(program))
    assert found[str(program)] == "--ro-bind"
    assert str(tmp_path) not in found


def test_segue_itself_is_visible_for_its_tools(tmp_path: Path) -> None:
    package = Path(sandbox.__file__).parent.parent
    assert mounts(rules(tmp_path))[str(package)] == "--ro-bind"


def test_a_link_on_the_way_to_the_home_is_there(tmp_path: Path) -> None:
    """A home that its user knows by a link is found under both names."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    words = mount_words(Rules(tmp_path / "real" / "p", tmp_path / "link"), ("/bin/true",), {})
    assert words[words.index("--symlink", words.index("--dev")) + 2] == str(tmp_path / "link")


def test_the_network_decides_what_is_in_front(tmp_path: Path) -> None:
    full = wrapped(rules(tmp_path), ("agent",), {}, USED)
    none = wrapped(rules(tmp_path, network="none"), ("agent",), {}, USED)
    some = wrapped(rules(tmp_path, network=("a.example",)), ("agent",), {"no_proxy": "*"}, USED)
    assert ("--unshare-net" in full.argv, full.layers) == (False, 2)
    assert ("--unshare-net" in none.argv, none.layers) == (True, 2)
    assert ("--unshare-net" in some.argv, some.layers) == (True, 3)
    assert some.argv[: some.argv.index("--")] == egress.outside(("a.example",), None)[:-1]
    assert some.env["HTTPS_PROXY"] == some.env["http_proxy"] == "http://127.0.0.1:3128"
    assert "no_proxy" not in some.env


def test_doors_to_other_programs_of_the_user_are_closed(tmp_path: Path) -> None:
    env = {"SSH_AUTH_SOCK": "/run/x", "DBUS_SESSION_BUS_ADDRESS": "unix:", "TMPDIR": "/x", "A": "b"}
    made = wrapped(rules(tmp_path), ("agent",), env, USED)
    assert made.env == {"A": "b", "TMPDIR": "/tmp"}


def test_a_home_as_workspace_is_too_wide(tmp_path: Path) -> None:
    assert is_too_wide(tmp_path, tmp_path)
    assert is_too_wide(Path("/"), tmp_path)
    assert not is_too_wide(tmp_path / "p", tmp_path)


@needs_sandbox
def test_files_that_not_everybody_may_read_are_not_in_it(tmp_path: Path) -> None:
    """Settings of the system are visible, keys among them are not."""
    made = wrapped(
        rules(tmp_path), ("/bin/sh", "-c", "cat /etc/passwd /etc/shadow"), {}, sandbox.bubblewrap()
    )
    done = subprocess.run(made.argv, env=made.env, capture_output=True, text=True, check=False)
    assert "root:x:" in done.stdout
    assert "root:*" not in done.stdout
    assert "root:$" not in done.stdout


def test_a_bwrap_that_does_not_work_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create a namespace' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox, "SEARCHED", str(tmp_path))
    sandbox.bubblewrap.cache_clear()
    try:
        found = sandbox.bubblewrap()
        assert (found.works, found.why_not) == (False, "No permissions to create a namespace")
        monkeypatch.setattr(sandbox, "SEARCHED", "/nonexistent")
        monkeypatch.setenv("PATH", "/nonexistent")
        sandbox.bubblewrap.cache_clear()
        assert "not installed" in sandbox.bubblewrap().why_not
    finally:
        sandbox.bubblewrap.cache_clear()
