"""When the wall clock was set, or the machine woke from its sleep: reported by the kernel, at once.

A timer of the kernel that is set to a time far away, and cancelled when the clock jumps
(`timerfd` with TFD_TIMER_CANCEL_ON_SET). Where that is unavailable, no jump is reported.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Callable
from contextlib import suppress

CLOCK_REALTIME = 0
ABSOLUTE, CANCEL_ON_SET = 1, 2
FAR_S = 2**40  # some 35,000 years after 1970
TICKS_BYTES = 8


class _Instant(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Timer(ctypes.Structure):
    _fields_ = (("interval", _Instant), ("value", _Instant))


def open_timer() -> int:
    """A timer that is not set yet. OSError: the kernel has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        return _checked(libc.timerfd_create(CLOCK_REALTIME, os.O_NONBLOCK | os.O_CLOEXEC))
    except AttributeError as error:
        raise OSError("there is no timerfd here") from error


def set_timer(fd: int) -> None:
    """To the far instant; needed again after each jump."""
    far = _Timer(_Instant(0, 0), _Instant(FAR_S, 0))
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.timerfd_settime(fd, ABSOLUTE | CANCEL_ON_SET, ctypes.byref(far), None))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


class ClockJumps:
    """Calls back after each jump, in the loop that runs now."""

    def __init__(
        self,
        on_jump: Callable[[], None],
        opened: Callable[[], int] = open_timer,
        armed: Callable[[int], None] = set_timer,
    ) -> None:
        self._on_jump, self._armed = on_jump, armed
        self._loop = asyncio.get_running_loop()
        self._fd: int | None = None
        with suppress(OSError):  # waiters look at the clock from time to time anyway
            self._fd = opened()
            armed(self._fd)
            self._loop.add_reader(self._fd, self._told)

    def close(self) -> None:
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None

    def _told(self) -> None:
        assert self._fd is not None
        with suppress(OSError):  # ECANCELED: that is how it tells
            os.read(self._fd, TICKS_BYTES)
        try:
            self._armed(self._fd)
        except OSError:
            self.close()
        self._on_jump()
