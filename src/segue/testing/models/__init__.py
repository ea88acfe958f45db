"""A fake model on loopback, so that the real agent programs can be driven without any key.

    with FakeModels() as models:
        claude_env["ANTHROPIC_BASE_URL"] = models.lane("work", "429u5h:60", "ok")
        ...
        assert models.requests("work")[-1].prompt == "go on"

In a process of its own: `python -m segue.testing.models` (its first line is its address;
`curl -X POST 'ADDRESS/ctl/work?modes=429u5h:60,ok'` sets a lane). `modes.py` has the modes.
"""

from segue.testing.models.log import Asked, read_log
from segue.testing.models.server import FakeModels

__all__ = ["Asked", "FakeModels", "read_log"]
