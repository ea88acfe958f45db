"""Signals that a command acts on. Those that it was started to ignore stay ignored."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


def is_ignored(number: signal.Signals) -> bool:
    """Whoever started this program wants it to ignore the signal: `nohup`, `&` in a script."""
    return signal.getsignal(number) == signal.SIG_IGN


@contextmanager
def handled(actions: Mapping[signal.Signals, Callable[[], object]]) -> Iterator[None]:
    """Act on these signals in the event loop that runs."""
    loop = asyncio.get_running_loop()
    ours = [number for number in actions if not is_ignored(number)]
    for number in ours:
        loop.add_signal_handler(number, actions[number])
    try:
        yield
    finally:
        for number in ours:
            loop.remove_signal_handler(number)
