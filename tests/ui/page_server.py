"""`segue serve` in a folder, with the page; ends with its standard input."""

from __future__ import annotations

import os
import signal
import sys
import threading

from segue.cli.main import main
from segue.server import serving
from segue.server.app import make_app
from segue.server.pages import pages

serving.make_app = lambda desk, **more: make_app(desk, **{"pages": pages(desk), **more})


def end_with_the_test() -> None:
    """Nothing is left running if the tests are killed."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


threading.Thread(target=end_with_the_test, daemon=True).start()
sys.argv = ["segue", "serve", "--port", "0", "--json", *sys.argv[1:]]
main()
