"""Every module has unit tests of its own, found by its name.

`src/segue/a/b.py` is tested by `tests/unit/a/test_b*.py`, or by the tests in a folder
`tests/unit/a/b/` or `tests/unit/a/test_b/`. Modules without a class or a function need none.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, UNIT = ROOT / "src" / "segue", ROOT / "tests" / "unit"
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# A debt: modules that other tests reach, and none of their own. The list may only shrink.
MISSING = frozenset(
    [
        "dialects/claude_limits.py",
        "dialects/limits/brands.py",
        "dialects/limits/envelope/labels.py",
        "dialects/limits/lazy_regex.py",
        "dialects/limits/message.py",
        "dialects/limits/reading.py",
        "dialects/limits/recovery.py",
        "dialects/limits/screen/activity.py",
        "dialects/limits/screen/chrome.py",
        "dialects/limits/screen/layout.py",
        "dialects/limits/screen/menus.py",
        "dialects/limits/screen/paragraphs.py",
        "dialects/limits/screen/terminal.py",
        "dialects/limits/time/days.py",
        "dialects/limits/time/moments.py",
        "dialects/limits/time/spans.py",
        "dialects/limits/time/zones.py",
        "dialects/limits/wording/kinds.py",
        "dialects/limits/wording/pattern.py",
        "dialects/limits/wording/phrases.py",
        "dialects/limits/wording/words.py",
        "dialects/screen_ghostty.py",
        "dialects/screen_pyte.py",
        "drivers/clock_jumps.py",
        "drivers/git.py",
        "drivers/git_content.py",
        "drivers/keeper.py",
        "drivers/launcher.py",
        "drivers/nursery.py",
        "drivers/pane_host.py",
        "drivers/streams.py",
        "engine/said.py",
        "engine/fallback.py",
        "plans/build.py",
        "plans/develop_lines.py",
        "plans/scan.py",
        "plans/tasklist.py",
        "store/rows.py",
        "testing/loopback.py",
        "testing/models/__main__.py",
        "testing/models/acts.py",
        "testing/models/anthropic.py",
        "testing/models/chat.py",
        "testing/models/gemini.py",
        "testing/models/http.py",
        "testing/models/lanes.py",
        "testing/models/log.py",
        "testing/models/modes.py",
        "testing/models/openai.py",
        "testing/models/responses.py",
        "testing/models/seen.py",
        "testing/models/server.py",
        "testing/models/service.py",
        "testing/models/tools.py",
        "testing/models/wire.py",
        "testing/rehearsal.py",
        "work/act_targets.py",
        "engine/plan/beginning.py",
        "work/agents/brands/claude.py",
        "work/agents/brands/codex.py",
        "work/agents/brands/gemini.py",
        "work/agents/brands/opencode.py",
        "work/settings/channels.py",
        "engine/plan/edits.py",
        "work/feature/gates.py",
        "work/feature/reconciling.py",
        "work/feature/tasks.py",
        "work/feature/validations.py",
        "engine/plan/finish.py",
        "work/hooks/here.py",
        "work/hooks/notes.py",
        "engine/plan/manual_parks.py",
        "engine/plan/memory.py",
        "engine/plan/notices.py",
        "engine/plan/orphans.py",
        "work/overview.py",
        "work/panes/messages.py",
        "work/panes/options.py",
        "work/panes/pane_gates.py",
        "work/panes/pane_notices.py",
        "work/panes/pane_reminders.py",
        "work/panes/standing.py",
        "work/phases/act_intake.py",
        "work/phases/act_base.py",
        "work/phases/app.py",
        "work/phases/asking.py",
        "work/phases/attempt.py",
        "work/phases/blocked_tasks.py",
        "work/phases/budget.py",
        "work/phases/checking.py",
        "work/phases/checkpoint_integrity.py",
        "work/phases/closing.py",
        "work/phases/commands.py",
        "work/phases/continuation.py",
        "work/phases/create.py",
        "work/phases/damaged_rows.py",
        "work/phases/forks.py",
        "work/phases/gate_acts.py",
        "work/phases/jobs.py",
        "work/phases/matching.py",
        "work/phases/moves.py",
        "work/phases/orphans.py",
        "work/phases/outcomes.py",
        "work/phases/parking.py",
        "work/phases/parking_acts.py",
        "work/phases/permissions.py",
        "work/phases/progress.py",
        "work/phases/prompts.py",
        "work/phases/protocol.py",
        "work/phases/protocol_faults.py",
        "work/phases/reading.py",
        "work/phases/records.py",
        "work/phases/recovery.py",
        "work/phases/refused.py",
        "work/phases/retrying.py",
        "work/phases/rewind.py",
        "work/phases/saving.py",
        "work/phases/shapes.py",
        "work/phases/snapshots.py",
        "work/phases/standing.py",
        "work/phases/storage_outage.py",
        "work/phases/supervisor.py",
        "work/phases/task_failure.py",
        "work/phases/timers.py",
        "work/phases/tree.py",
        "work/phases/turns.py",
        "work/phases/variables.py",
        "work/tasklist/reset.py",
        "work/runner.py",
        "work/settings/values.py",
        "work/storage_outage.py",
        "store/usage.py",
    ]
)


def modules() -> list[Path]:
    """All that define something, relative to the package."""
    found = []
    for path in SOURCE.rglob("*.py"):
        if path.name != "__init__.py":
            tree = ast.parse(path.read_bytes())
            if any(isinstance(node, DEFINITIONS) for node in tree.body):
                found.append(path.relative_to(SOURCE))
    return found


def has_tests(module: Path) -> bool:
    """Whether a test of this module's name is there."""
    folder, name = UNIT / module.parent, module.stem
    inside = [
        path for below in (name, f"test_{name}") for path in (folder / below).glob("test_*.py")
    ]
    return bool(inside) or any(folder.glob(f"test_{name}*.py"))


def test_every_module_has_unit_tests() -> None:
    """A new module comes with its tests; one that moves takes them along."""
    untested = {module.as_posix() for module in modules() if not has_tests(module)}
    assert untested - MISSING == set(), "write tests/unit/…/test_NAME.py for these"


def test_the_list_of_those_without_only_shrinks() -> None:
    """Who writes the tests of a module, moves it or removes it takes it off the list."""
    untested = {module.as_posix() for module in modules() if not has_tests(module)}
    assert MISSING - untested == set(), "take these off MISSING"
