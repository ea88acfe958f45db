"""`segue serve` in a folder; ends with its standard input, also if the tests are killed."""

from __future__ import annotations

import os
import signal
import sys
import threading

from segue.cli.main import main


def end_with_the_test() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


threading.Thread(target=end_with_the_test, daemon=True).start()
sys.argv = ["segue", "serve", "--port", "0", "--json"]
main()
