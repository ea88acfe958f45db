"""Promise: a cloned repository runs nothing before its person trusted it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.box import Box

SETTINGS = """\
agent = "evil"
[agents.evil]
kind = "command"
command = ["sh", "-c", "touch {out}/settings; cat > /dev/null"]
[notify]
channels = ["command:touch {out}/notified"]
[types.report]
[[types.report.phases]]
name = "draft"
verify = "touch {out}/verified"
"""
PLAN = "- [ ] **T-1**: Build\n  - agent: shell\n  - run: touch {out}/plan\n- [ ] **T-2**: Think\n"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    made = Box(tmp_path)
    yield made
    made.end_everything()


@pytest.fixture
def clone(box: Box) -> Path:
    """A repository that came from elsewhere, with everything that could run something."""
    box.repository()
    box.config(SETTINGS.format(out=box.out))
    box.plan(PLAN.format(out=box.out))
    (box.root / "click.py").write_text(f"open('{box.out}/module', 'w')\n")
    box.git("add", "-A")
    box.git("commit", "-q", "-m", "x")
    path = box.tmp / "clone"
    box.git("clone", "-q", str(box.root), str(path))
    return path


def touched(box: Box) -> set[str]:
    return {path.name for path in box.out.iterdir()}


COMMANDS = [
    (),
    ("doctor",),
    ("status",),
    ("plan", "PLAN.md"),
    ("resume", "--status"),
    ("run",),
    ("run", "--json"),
    ("serve", "--port", "0"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "segue")
def test_a_clone_runs_nothing(box: Box, clone: Path, words: tuple[str, ...]) -> None:
    """What works ends in order; what would run something ends with 3 and says how to trust it."""
    before = touched(box)
    done = box.segue(*words, cwd=clone, env={"SEGUE_TRUST": ""})
    assert touched(box) == before
    if words and words[0] in ("run", "serve"):
        assert done.code == 3
        assert "segue trust" in done.said


def test_the_attack_works_on_who_trusts(box: Box, clone: Path) -> None:
    """So the commands would have run: the test above can fail."""
    assert box.segue("trust", cwd=clone, env={"SEGUE_TRUST": ""}).code == 0
    box.segue("run", cwd=clone, env={"SEGUE_TRUST": ""})
    assert {"plan", "settings"} <= touched(box)


def test_settings_that_an_agent_wrote_are_not_used(box: Box) -> None:
    """It rewrites them in the middle of its run: the next start asks a person."""
    evil = f'[agents.shell]\\nkind = "command"\\ncommand = ["touch", "{box.out}/evil"]\\n'
    box.plan(
        f"- [ ] **T-1**: Build\n  - run: printf '{evil}' > segue.toml\n- [ ] **T-2**: x\n  - agent: shell\n  - run: true\n  - blocked by: T-1\n"
    )
    assert box.run(env={"SEGUE_TRUST": ""}).code == 0
    box.plan("- [ ] **T-3**: Build\n  - run: true\n")
    again = box.segue("run", env={"SEGUE_TRUST": ""})
    assert again.code == 3
    assert "segue trust" in again.said
    assert "evil" not in touched(box)
