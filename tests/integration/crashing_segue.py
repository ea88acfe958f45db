"""`segue` that is killed at the nth dangerous moment: before or after each change of state.

Usage: crashing_segue.py N ARGS…   (N = 0: never; the count of moments goes to $MOMENTS)
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from segue.cli.main import main
from segue.engine.local import LocalEngine
from segue.store import files
from segue.store.sqlite import Store
from segue.work.accounts import Accounts

die_at = int(sys.argv[1])
passed = 0


def moment() -> None:
    global passed  # noqa: PLW0603 - one count for the process
    passed += 1
    if passed == die_at:
        os.kill(os.getpid(), signal.SIGKILL)
    if "MOMENTS" in os.environ:
        Path(os.environ["MOMENTS"]).write_text(str(passed))


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    def dangerous(*args: Any, **kwargs: Any) -> Any:
        moment()
        result = function(*args, **kwargs)
        moment()
        return result

    return dangerous


for owner, name in (
    (Store, "move"),
    (files, "exchange_if"),
    (LocalEngine, "begin"),
    (LocalEngine, "forget"),
    (LocalEngine, "_hear"),
    (Accounts, "park"),
    (Accounts, "probe"),
):
    setattr(owner, name, guarded(getattr(owner, name)))

main(sys.argv[2:])
