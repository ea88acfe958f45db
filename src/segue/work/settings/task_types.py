"""Types of tasks, as data: the phases a task passes through, and what each must deliver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from segue.core.phases import Phase
from segue.i18n import N_

SELF = "self"  # the reviewer of built-in types: the task's agent, in a new conversation


@dataclass(frozen=True, slots=True)
class TaskType:
    """`reviewer`: of all its phases that name none of their own."""

    name: str
    phases: tuple[Phase, ...] = ()
    about: str = ""
    reviewer: str | None = None


def _phase(name: str, deliverables: tuple[str, ...], *steps: str, min_chars: int = 200) -> Phase:
    return Phase(name, deliverables, min_chars, reviewer=SELF, steps=steps)


BUILT_IN = {
    kind.name: kind
    for kind in (
        TaskType(
            "create_app",
            (
                _phase(
                    "planning",
                    ("docs/plan.md", "docs/requirements.md"),
                    N_("Understand the goal and the users"),
                    N_("Write down the requirements so that each can be checked"),
                    N_("Write the plan: parts, order, risks"),
                ),
                _phase(
                    "design",
                    ("docs/design.md",),
                    N_("Choose the structure and explain why"),
                    N_("Describe data, interfaces and errors"),
                ),
                _phase(
                    "development",
                    ("src/**/*",),
                    N_("Build it as designed, in small working steps"),
                    N_("Write tests along the way"),
                    min_chars=1,
                ),
                _phase(
                    "testing",
                    ("docs/test-report.md", "tests/**/*"),
                    N_("Test every requirement and every error case"),
                    N_("Write the report: what was tested, and the results"),
                    min_chars=1,
                ),
            ),
            N_("a new application, from plan to tests"),
        ),
        TaskType(
            "modify_app",
            (
                _phase(
                    "analysis",
                    ("docs/analysis.md",),
                    N_("Read the existing code and explain how it works"),
                    N_("Find what the change affects"),
                ),
                _phase(
                    "planning",
                    ("docs/change-plan.md",),
                    N_("Plan the change in small, reversible steps"),
                ),
                _phase(
                    "implementation",
                    ("docs/changes.md",),
                    N_("Make the change without breaking what works"),
                    N_("List every file that changed, and why"),
                ),
                _phase(
                    "testing",
                    ("docs/test-report.md",),
                    N_("Test the change and the existing behaviour"),
                ),
            ),
            N_("a change to an existing application"),
        ),
        TaskType(
            "workflow",
            (
                _phase("analysis", ("docs/analysis.md",), N_("Describe the current process")),
                _phase("design", ("docs/workflow.md",), N_("Design the steps and the error cases")),
                _phase("implementation", ("workflow/**/*",), N_("Build it"), min_chars=1),
                _phase(
                    "testing", ("docs/test-report.md",), N_("Try it, including when steps fail")
                ),
            ),
            N_("an automated workflow"),
        ),
        TaskType("custom", (), N_("anything else: no phases, no review")),
    )
}


@dataclass(frozen=True, slots=True)
class Types:
    """All types there are: built in, and those of the settings."""

    own: Mapping[str, TaskType] = field(default_factory=dict)

    def get(self, name: str) -> TaskType | None:
        return self.own.get(name) or BUILT_IN.get(name)

    def names(self) -> list[str]:
        return sorted({*BUILT_IN, *self.own})
