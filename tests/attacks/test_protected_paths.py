"""An agent that may edit everything does not edit what decides about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.box import Box

CLAUDE = """\
#!/usr/bin/env python3
import json, sys
path = sys.argv[0] + ".path"
allowed = sys.argv[sys.argv.index("--allowedTools") + 1] if "--allowedTools" in sys.argv else ""
target = open(path).read().strip()
sys.stdin.readline()
print(json.dumps({"type": "system", "subtype": "init", "session_id": "talk-1"}), flush=True)
if "Edit" not in allowed:  # else the program allows itself the edit
    ask = {"subtype": "can_use_tool", "tool_name": "Edit", "input": {"file_path": target}}
    print(json.dumps({"type": "control_request", "request_id": "r-1", "request": ask}), flush=True)
    said = json.loads(sys.stdin.readline())
    if said["response"]["response"]["behavior"] != "allow":
        sys.exit(1)
open(target, "a").write("# forged\\n")
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "done",
                  "session_id": "talk-1"}), flush=True)
"""


def project(box: Box, target: str) -> Path:
    program = box.root / "claude"
    program.write_text(CLAUDE)
    program.chmod(0o755)
    (box.root / "claude.path").write_text(target)
    box.config(
        'agent = "claude"\n[agents.claude]\nkind = "claude"\ncommand = ["./claude"]\nmcp = false\n'
        f"allow = {json.dumps(['Edit(**)', 'Bash(ls:*)'])}\n"
    )
    box.plan("- [ ] **T-1**: Edit it\n  - retries: 0\n")
    edited = box.root / target
    edited.parent.mkdir(parents=True, exist_ok=True)
    edited.touch()
    return edited


@pytest.mark.parametrize("target", ["segue.toml", "PLAN.md", ".github/workflows/ci.yml"])
def test_a_person_is_asked_about_a_protected_path(box: Box, target: str) -> None:
    """`Edit(**)` does not cover it, not even in the program's own list."""
    edited = project(box, target)
    result = box.run()
    assert result.code == 3
    assert result.of("gate_opened", "T-1")[0]["category"] == "permission"
    assert "forged" not in edited.read_text()


def test_other_files_are_edited_without_asking(box: Box) -> None:
    """That is what the rule is for."""
    edited = project(box, "src/a.py")
    assert box.run().code == 0
    assert "forged" in edited.read_text()
