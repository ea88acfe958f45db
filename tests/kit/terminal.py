"""A person at a terminal: the real command on a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from kit.box import Box
from kit.command import SEGUE, Result
from kit.waiting import WAIT_S

ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>]|\r"
)


class Terminal:
    """A `segue` command whose three streams are a terminal of 40 rows and 120 columns."""

    def __init__(self, box: Box, *args: str, env: dict[str, str] | None = None) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:  # the child becomes the command
            os.chdir(box.root)
            os.execve(str(SEGUE), [str(SEGUE), *args], box.env(env))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._raw = b""

    @property
    def text(self) -> str:
        """All that was shown so far, without colours and cursor moves."""
        return ESCAPES.sub("", self._raw.decode("utf-8", "replace"))

    def _read(self) -> bool:
        """Take what is there; False when the other side is closed."""
        ready, _w, _x = select.select([self._fd], [], [], 0.05)
        if not ready:
            return True
        try:
            chunk = os.read(self._fd, 65536)
        except OSError:
            return False
        self._raw += chunk
        return bool(chunk)

    def expect(self, wanted: str, times: int = 1, wait_s: float = WAIT_S) -> str:
        """Wait until this text was shown so many times."""
        deadline = time.monotonic() + wait_s
        while self.text.count(wanted) < times:
            is_open = self._read()
            assert is_open or self.text.count(wanted) >= times, f"no {wanted!r} in:\n{self.text}"
            assert time.monotonic() < deadline, f"no {wanted!r} in:\n{self.text}"
        return self.text

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def end(self, wait_s: float = WAIT_S) -> Result:
        """Wait for its end."""
        deadline = time.monotonic() + wait_s
        while self._read():
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise AssertionError(f"it did not end:\n{self.text}")
        _pid, status = os.waitpid(self.pid, 0)
        os.close(self._fd)
        assert "Traceback" not in self.text, self.text
        return Result(os.waitstatus_to_exitcode(status), self.text)
