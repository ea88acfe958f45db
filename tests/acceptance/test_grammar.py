"""The dialects of a task list, as `segue plan --json` reads them."""

from __future__ import annotations

from typing import Any

import pytest

from kit.box import Box


def read(box: Box, text: str) -> dict[str, Any]:
    box.plan(text)
    result = box.segue("plan", "PLAN.md", "--json")
    assert result.code == 0, result.said
    found: dict[str, Any] = result.json
    return found


def tasks(box: Box, text: str) -> dict[str, dict[str, Any]]:
    return {task["id"]: task for task in read(box, text)["tasks"]}


def test_the_ways_to_write_an_id(box: Box) -> None:
    """Ids are WORD-NUMBER in several shapes, bold or not, with `:` or ` - ` before the title."""
    text = (
        "- [ ] **T-003**: Build the API\n"
        "- [ ] TSK-01-02: second\n"
        "* [ ] T039 third\n"
        "+ [ ] **EPIC-7** - fourth\n"
        "1. [ ] T-5 - fifth: with a colon\n"
        "2) [ ] **T-6:** sixth\n"
    )
    found = {task["id"]: task["title"] for task in read(box, text)["tasks"]}
    assert found == {
        "T-003": "Build the API",
        "TSK-01-02": "second",
        "T039": "third",
        "EPIC-7": "fourth",
        "T-5": "fifth: with a colon",
        "T-6": "sixth",
    }


def test_states_and_lines(box: Box) -> None:
    """Each mark has its state, and each task the line it stands on."""
    text = "# P\n\n- [ ] T-1: a\n- [x] T-2: b\n- [X] T-3: c\n- [~] T-4: d\n- [!] T-5: e\n- [-] T-6: f\n"
    found = read(box, text)["tasks"]
    states = ["pending", "completed", "completed", "in_progress", "failed", "skipped"]
    assert [task["state"] for task in found] == states
    assert [task["line"] for task in found] == [3, 4, 5, 6, 7, 8]


def test_only_line_ends_count_as_lines(box: Box) -> None:
    """Form feeds and Unicode separators inside a line do not move the line numbers."""
    found = read(box, "a\x0cb\u2028c\x85d\r\n\r\n- [ ] T-1: a\r\n")
    assert found["tasks"][0]["line"] == 3


def test_an_id_derived_from_the_title_stays_with_the_title(box: Box) -> None:
    """A task without an id keeps its derived id when it moves and changes its mark."""
    first = read(box, "- [ ] Write the docs\n- [ ] Ship it\n")["tasks"]
    again = read(box, "# New heading\n\n- [ ] Ship it\n- [ ] another\n- [x] Write the docs\n")[
        "tasks"
    ]
    assert len({task["id"] for task in first}) == 2
    by_title = {task["title"]: task["id"] for task in again}
    assert {task["title"]: task["id"] for task in first}.items() <= by_title.items()


def test_deeper_items_are_steps_even_with_an_id(box: Box) -> None:
    """A marked item below a task is its sub-step, with an id or without one."""
    found = read(
        box, "- [ ] T-1: a\n  - [ ] T-2: nested\n  - steps:\n    - [ ] deep\n- [ ] T-3: b\n"
    )
    assert [task["id"] for task in found["tasks"]] == ["T-1", "T-3"]


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n- [ ] T-9: in a fence\n```\n",
        "~~~~md\n- [ ] T-9: in a fence\n```\n- [ ] T-8: still\n~~~~\n",
        "<!-- - [ ] T-9: in a comment -->\n",
        "<!--\n- [ ] T-9: in a comment\n-->\n",
        "> - [ ] T-9: quoted\n",
    ],
)
def test_marks_in_fences_comments_and_quotes_are_text(box: Box, hidden: str) -> None:
    """Marks inside fences, HTML comments and quotes make no tasks."""
    found = read(box, hidden + "\n- [ ] T-1: real\n\n" + hidden)
    assert [task["id"] for task in found["tasks"]] == ["T-1"]


@pytest.mark.parametrize(
    "field",
    [
        "\n  - blocked by: T-1, T-2",
        "\n  - blocked-by: T-1 T-2",
        "\n  - Blocked By: T-1,T-2",
        "\n  - **blocked by**: T-1, T-2",
        "\n  - depends: T-1, T-2",
        "\n  - deps: [T-1, T-2]",
        "\n  - 선행: T-1, T-2",
        "\n  - 의존성: T-1, T-2",
        "\n  blocked by: T-1, T-2",
        " (blocked-by: T-1, T-2)",
        " [deps: T-1, T-2]",
        " (선행: T-1, T-2)",
    ],
)
def test_the_ways_to_name_blockers(box: Box, field: str) -> None:
    """Blockers are read in every spelling, as a line of their own or inline."""
    found = tasks(box, f"- [ ] T-1: a\n- [ ] T-2: b\n- [ ] T-3: c{field}\n")
    assert found["T-3"]["blocked_by"] == ["T-1", "T-2"]
    assert found["T-3"]["title"] == "c"


@pytest.mark.parametrize("key", ["verify", "검증"])
@pytest.mark.parametrize("tick", ["`", ""])
def test_verify_in_both_languages(box: Box, key: str, tick: str) -> None:
    """`verify:` and `검증:` name the check, with or without back-ticks."""
    box.plan(f"- [ ] T-1: a\n  - run: true\n  - {key}: {tick}{box.note('v', 'yes')}{tick}\n")
    assert box.run().code == 0
    assert box.notes("v") == ["yes"]


def test_spec_kit_lines_have_their_implied_order(box: Box) -> None:
    """`[P]` tasks run side by side after what stands before them; the next plain one waits for all."""
    found = read(
        box,
        "- [ ] T001 Create structure\n"
        "- [ ] T002 [P] [US1] model (src/a.py)\n"
        "- [ ] T003 [P] [US1] service (src/b.py)\n"
        "- [ ] T004 [US1] endpoint (src/c.py)\n",
    )
    assert found["waves"] == [["T001"], ["T002", "T003"], ["T004"]]
    by_id = {task["id"]: task for task in found["tasks"]}
    assert by_id["T002"]["blocked_by"] == ["T001"]
    assert sorted(by_id["T004"]["blocked_by"]) == ["T002", "T003"]


@pytest.mark.parametrize("word", ["Wave", "wave", "WAVE", "웨이브"])
def test_wave_headings_group_tasks(box: Box, word: str) -> None:
    """A heading that starts with Wave or 웨이브 makes a wave."""
    found = read(
        box, f"## {word} 1: ground\n- [ ] T-1: a\n- [ ] T-2: b\n### {word} 2\n- [ ] T-3: c\n"
    )
    assert found["waves"] == [["T-1", "T-2"], ["T-3"]]
    assert [task["wave"] for task in found["tasks"]] == [1, 1, 2]


def test_without_headings_the_waves_come_from_the_dependencies(box: Box) -> None:
    """Computed waves, and the longest chain as the critical path."""
    found = read(
        box,
        "- [ ] T-1: a\n- [ ] T-2: b (deps: T-1)\n- [ ] T-3: c\n- [ ] T-4: d (deps: T-2, T-3)\n",
    )
    assert found["waves"] == [["T-1", "T-3"], ["T-2"], ["T-4"]]
    assert found["critical_path"] == ["T-1", "T-2", "T-4"]
    assert {"path", "tasks", "waves", "critical_path", "conflicts"} <= found.keys()
    for task in found["tasks"]:
        assert {"id", "title", "state", "line", "wave", "blocked_by"} <= task.keys()


def test_overlapping_files_are_a_conflict(box: Box) -> None:
    """Tasks that could run side by side on the same files are named with those files."""
    found = read(
        box,
        "- [ ] T-1: a\n  - files: src/**\n- [ ] T-2: b\n  - files: src/app.py, docs/x.md\n"
        "- [ ] T-3: c\n  - files: tests/*\n",
    )
    assert [sorted(conflict["tasks"]) for conflict in found["conflicts"]] == [["T-1", "T-2"]]
    assert any("src" in name for name in found["conflicts"][0]["files"])


def test_front_matter_sets_defaults(box: Box) -> None:
    """A front-matter block gives defaults that a task's own field overrides."""
    box.plan(
        "---\nretries: 0\n---\n"
        f"- [ ] T-1: a\n  - run: {box.note()}; false\n"
        f"- [ ] T-2: b\n  - retries: 1\n  - run: {box.note()}; false\n"
    )
    assert box.run("--jobs", "1").code == 1
    assert box.notes() == ["T-1", "T-2", "T-2"]


def test_a_fenced_block_is_the_command_of_the_shell_agent(box: Box) -> None:
    """A fenced `sh` block under a task runs as one script."""
    box.plan(f"- [ ] T-1: a\n\n  ```sh\n  x=one\n  echo $x >> {box.out}/trace\n  ```\n")
    assert box.run().code == 0
    assert box.notes() == ["one"]


def test_plan_touches_nothing(box: Box) -> None:
    """A dry run leaves the folder as it was."""
    path = box.plan("- [~] T-1: a\n  - [x] s\n  - run: true\n")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert box.segue("plan", "PLAN.md").code == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [item.name for item in box.root.iterdir()] == ["PLAN.md"]


def test_plan_in_words_names_waves_and_blockers(box: Box) -> None:
    """Without --json a person reads the tasks, their waves and who waits for whom."""
    box.plan("- [ ] T-1: first one\n- [ ] T-2: second one (deps: T-1)\n")
    said = box.segue("plan", "PLAN.md").out
    assert "first one" in said
    assert "T-1" in said.split("second one")[1] or "T-1" in said.split("T-2")[1]
