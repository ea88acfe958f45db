"""`wezterm cli`: which server it reaches."""

from __future__ import annotations

from pathlib import Path

from segue.drivers.wezterm.cli import socket_of


def test_all_who_mean_one_wezterm_call_it_the_same(tmp_path: Path) -> None:
    """Inside of it the variable names its socket, outside a link leads to it."""
    folder = tmp_path / "wezterm"
    folder.mkdir()
    socket = folder / "gui-sock-77"
    socket.touch()
    outside = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert socket_of(outside) == folder / "sock"
    (folder / "default-org.wezfurlong.wezterm").symlink_to(socket)
    assert socket_of(outside) == socket == socket_of({"WEZTERM_UNIX_SOCKET": str(socket)})
    assert socket_of({"HOME": "/home/user"}) == Path("/home/user/.local/share/wezterm/sock")
