"""Who is checked does not change the check: an agent edits the plan while it works."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from kit.box import Box
from kit.waiting import until

PLAN = """\
- [ ] **T-1**: Work
  - run: sh work.sh
- [ ] **T-2**: Be checked
  - blocked by: T-1
  - run: {note}
  - verify: {verify}
  - retries: 0
"""


def plan(box: Box, does: str, verify: str = "false", *, note: str = "") -> None:
    agent(box, does)
    box.plan(PLAN.format(note=note or box.note(), verify=verify))


def agent(box: Box, does: str) -> None:
    """What T-1 does; not in the plan, where it would change its own command."""
    (box.root / "work.sh").write_text(f"{does}\n", "utf-8")


def gates(box: Box) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = box.segue("status", "--json").json["plans"][0]["gates"]
    return found


def gate(box: Box) -> dict[str, Any]:
    (found,) = gates(box)
    return found


def test_an_agent_cannot_replace_the_check_of_another_task(box: Box) -> None:
    """T-1 replaces the check of T-2: the old one is used, and a person sees both."""
    plan(box, "sed -i 's/verify: false/verify: true/' PLAN.md")
    result = box.run()
    assert box.marks() == {"T-1": "x", "T-2": "!"}
    assert result.code == 3
    (opened,) = result.of("gate_opened", "T-2")
    assert "verify: false" in opened["text"] and "verify: true" in opened["text"]
    assert gate(box)["id"] == opened["gate"]
    assert gate(box)["task"] == "T-2"
    assert "verify: true" in box.text(), "Segue changes no line of the plan"


def test_an_agent_cannot_replace_its_own_check(box: Box) -> None:
    """The check that stood in the plan when the run began is the one that counts."""
    agent(box, "sed -i 's/verify: false/verify: true/' PLAN.md")
    box.plan("- [ ] **T-1**: Work\n  - run: sh work.sh\n  - verify: false\n  - retries: 1\n")
    assert box.run().code == 3
    assert box.marks() == {"T-1": "!"}


@pytest.mark.parametrize("verb", ["approve", "answer"])
def test_a_person_accepts_a_held_edit(box: Box, verb: str) -> None:
    """Accepted, it holds for this run and the next ones."""
    plan(box, "sed -i 's/verify: false/verify: true/' PLAN.md")
    assert box.run().code == 3
    said = [verb, gate(box)["id"], *(["accept"] if verb == "answer" else [])]
    assert box.segue(*said).code == 0
    assert box.run("--on-failed", "retry").code == 0
    assert box.marks() == {"T-1": "x", "T-2": "x"}
    assert not gates(box)
    assert box.run().of("gate_opened") == []


def test_a_rejected_edit_stays_rejected(box: Box) -> None:
    """The pinned check counts in later runs too, until the plan is edited again."""
    plan(box, "sed -i 's/verify: false/verify: true/' PLAN.md")
    assert box.run().code == 3
    assert box.segue("answer", gate(box)["id"], "reject").code == 0
    result = box.run("--on-failed", "retry")
    assert result.code == 1
    assert not result.of("gate_opened")
    assert box.marks() == {"T-1": "x", "T-2": "!"}
    box.edit("verify: true", "verify: test 1 = 1")  # a person's, while nothing runs
    assert box.run("--on-failed", "retry").code == 0


def test_a_restart_does_not_accept_a_held_edit(box: Box) -> None:
    """It is held until a person decides, however often the plan is run."""
    plan(box, "sed -i 's/verify: false/verify: true/' PLAN.md")
    first = box.run().of("gate_opened", "T-2")[0]["gate"]
    for _time in range(2):
        result = box.run("--on-failed", "retry")
        assert result.code == 3
        assert [one["gate"] for one in result.of("gate_opened")] == [first]
    assert box.marks()["T-2"] == "!"
    assert box.segue("resume", "--restart").code == 3
    assert gate(box)["id"] == first


def test_killing_segue_does_not_accept_an_edit(box: Box) -> None:
    """What an agent changed while no Segue was there to see it is held at the next start."""
    plan(box, f"{box.hold('go')}; sed -i 's/verify: false/verify: true/' PLAN.md; {box.note('t')}")
    going = box.start_run()
    going.event("task_started", "T-1")
    going.kill()
    box.release("go")
    until(lambda: box.notes("t"), "the edit")
    result = box.run()
    assert result.code == 3
    assert result.of("gate_opened", "T-2")
    assert box.marks()["T-2"] == "!"


def test_edits_while_nothing_runs_are_a_persons(box: Box) -> None:
    """Between two runs the plan is the person's, new tasks included."""
    plan(box, "true")
    assert box.run().code == 1
    box.edit("verify: false", "verify: true")
    box.plan(box.text() + f"- [ ] **T-3**: More\n  - run: {box.note()}\n")
    assert box.run("--on-failed", "retry").code == 0
    assert box.marks() == {"T-1": "x", "T-2": "x", "T-3": "x"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("run: true", "run: touch forged"),
        ("agent: shell", "agent: other"),
        ("blocked by: T-1, T-9", "blocked by: T-1"),
        ("retries: 0", "retries: 9"),
        ("timeout: 60s", "timeout: 1s"),
    ],
)
def test_each_executable_field_is_pinned(box: Box, old: str, new: str) -> None:
    """Command, agent, blockers, retries and time limit, too."""
    box.config('[agents.other]\nkind = "command"\ncommand = ["touch", "forged"]\n')
    agent(box, f"sed -i 's/{old}/{new}/' PLAN.md")
    box.plan(
        "- [ ] **T-1**: Work\n  - run: sh work.sh\n- [!] **T-9**: Failed\n  - run: false\n"
        "- [ ] **T-2**: Be checked\n  - blocked by: T-1, T-9\n  - run: true\n  - agent: shell\n"
        "  - verify: true\n  - timeout: 60s\n  - retries: 0\n"
    )
    box.edit("- [!]", "- [x]") if "blocked" not in old else None
    result = box.run("--on-failed", "skip")
    assert result.code == 3
    text = result.of("gate_opened", "T-2")[0]["text"]
    assert old in text and new in text
    assert not (box.root / "forged").exists()
    assert box.marks()["T-2"] == ("-" if "blocked" in old else "x")


def test_a_fenced_command_is_pinned(box: Box) -> None:
    """A command in a block is a command."""
    agent(box, "sed -i 's/^  true/  touch forged/' PLAN.md")
    box.plan(
        "- [ ] **T-1**: Work\n  - run: sh work.sh\n"
        "- [ ] **T-2**: Next\n  - blocked by: T-1\n\n  ```sh\n  true\n  ```\n"
    )
    assert box.run().code == 3
    assert not (box.root / "forged").exists()


NEW = r"printf -- '- [ ] **T-7**: New\n  - run: touch forged\n' >> PLAN.md"


def test_a_new_task_asks_before_its_first_run(box: Box) -> None:
    """What an agent adds to the plan runs when a person wants it; the rest does not wait."""
    plan(box, NEW, "true")
    result = box.run()
    assert result.code == 3
    assert box.marks() == {"T-1": "x", "T-2": "x", "T-7": " "}
    assert not (box.root / "forged").exists()
    assert "touch forged" in result.of("gate_opened", "T-7")[0]["text"]
    assert result.finished["waiting"] == ["T-7"]
    assert box.segue("approve", gate(box)["id"]).code == 0
    assert box.run().code == 0
    assert (box.root / "forged").exists()
    assert box.marks()["T-7"] == "x"


def test_a_new_task_that_is_rejected_is_skipped(box: Box) -> None:
    """And stays so: an agent that clears its mark asks again."""
    plan(box, NEW, "true")
    assert box.run().code == 3
    assert box.segue("answer", gate(box)["id"], "reject").code == 0
    assert box.run().code == 1
    assert box.marks()["T-7"] == "-"
    box.plan(box.text() + "- [ ] **T-8**: Again\n  - run: sed -i 's/\\[-\\]/[ ]/' PLAN.md\n")
    assert box.run().code == 3
    assert not (box.root / "forged").exists()
    assert gate(box)["task"] == "T-7"


def test_new_tasks_run_at_once_where_the_settings_accept_them(box: Box) -> None:
    """`accept_new_tasks = true`: an agent may plan."""
    box.config("[plans]\naccept_new_tasks = true\n")
    plan(box, NEW, "true")
    assert box.run().code == 0
    assert (box.root / "forged").exists()


def test_a_new_task_in_an_early_wave_holds_nothing_up(box: Box) -> None:
    """A gate never blocks work that does not depend on it."""
    new = "- [ ] **T-7**: New\\n  - run: true\\n"
    agent(box, f"sed -i 's/^## Wave 2/{new}\\n## Wave 2/' PLAN.md")
    box.plan(
        "## Wave 1\n- [ ] **T-1**: Work\n  - run: sh work.sh\n\n"
        "## Wave 2\n- [ ] **T-2**: Next\n  - run: true\n"
    )
    result = box.run()
    assert result.code == 3
    assert box.marks() == {"T-1": "x", "T-7": " ", "T-2": "x"}


def test_a_removed_task_is_missed(box: Box) -> None:
    """An agent deletes the task that would find it out: a person is asked, and may put it back."""
    plan(box, "sed -i '/T-2/,$d' PLAN.md")
    before = box.text()
    result = box.run()
    assert result.code == 3
    assert result.of("gate_opened", "T-2")
    box.plan(before.replace("[ ] **T-1", "[x] **T-1"))
    result = box.run()
    assert result.code == 1
    assert not result.of("gate_opened")


def test_a_task_under_another_id_is_a_new_one(box: Box) -> None:
    """The task that is gone and the one that came are both held."""
    plan(box, "sed -i 's/T-2/T-3/; s/verify: false/verify: true/' PLAN.md")
    result = box.run()
    assert result.code == 3
    assert sorted(one["task"] for one in result.of("gate_opened")) == ["T-2", "T-3"]
    assert box.marks() == {"T-1": "x", "T-3": " "}
    for one in gates(box):
        assert box.segue("approve", one["id"]).code == 0
    assert box.run().code == 0
    assert box.marks() == {"T-1": "x", "T-3": "x"}


def test_a_plan_replaced_whole_is_held_whole(box: Box) -> None:
    """However many tasks it has, a person gets one question about them."""
    other = "".join(f"- [ ] **X-{n}**: New\\n  - run: touch forged\\n" for n in range(30))
    plan(box, f"printf -- '{other}' > PLAN.md")
    result = box.run()
    assert result.code == 3
    assert len(result.of("gate_opened")) == 1
    assert not (box.root / "forged").exists()


def test_an_approval_accepts_what_was_shown(box: Box) -> None:
    """An agent changes its edit once more behind the question: that is another question."""
    plan(
        box,
        f"sed -i 's/verify: false/verify: test 2/' PLAN.md; {box.hold('seen')};"
        " sed -i 's/verify: test 2/verify: touch forged/' PLAN.md",
    )
    going = box.start_run()
    going.event("gate_opened")
    first = gate(box)
    assert "test 2" in first["text"]
    box.release("seen")
    assert going.end().code == 3
    assert "touch forged" in gate(box)["text"]
    assert box.segue("approve", first["id"]).code != 0
    assert not (box.root / "forged").exists()


def test_an_edit_with_the_old_time_and_size_is_seen(box: Box) -> None:
    """An agent keeps size and time of the file as they were."""
    plan(
        box,
        "cp -p PLAN.md ../old; sed -i 's/verify: false/verify: true /' PLAN.md;"
        " touch -r ../old PLAN.md",
    )
    result = box.run()
    assert result.code == 3
    assert result.of("gate_opened", "T-2")


def test_a_plan_broken_by_an_agent_and_mended_by_a_person_is_compared(box: Box) -> None:
    """The person mends the line that stopped the work; what else was changed is held all the
    same, also if the run was stopped in between."""
    edit = "s/verify: false/verify: true/; s/blocked by: T-1/blocked by: T-0/"
    plan(box, f"[ -e once ] || {{ touch once; sed -i '{edit}' PLAN.md; }}")
    going = box.start_run()
    going.event("plan_broken")
    going.send(signal.SIGINT)
    assert going.end().code == 130
    box.edit("blocked by: T-0", "blocked by: T-1")
    result = box.run()
    assert result.code == 3
    assert result.of("gate_opened", "T-2")
    assert box.marks()["T-2"] == "!"


def test_prose_stays_live(box: Box) -> None:
    """A person improves a text while agents work: nobody is asked."""
    plan(box, box.hold("go"), "true")
    going = box.start_run()
    going.event("task_started", "T-1")
    box.edit("Be checked", "Be checked well")
    box.release("go")
    result = going.end()
    assert result.code == 0
    assert not result.of("gate_opened")


def test_killing_segue_does_not_accept_other_settings(box: Box) -> None:
    """An agent loosens its own permissions and Segue is killed: a person looks first."""
    box.config('[agents.other]\nkind = "shell"\npermissions = "default"\n')
    edit = """sed -i 's/"default"/"full"/' segue.toml"""
    plan(box, f"{edit}; {box.note('t')}; {box.hold('go')}", "true")
    going = box.start_run()
    until(lambda: box.notes("t"), "the edit")
    going.kill()
    result = box.run()
    assert result.code == 3
    assert "segue trust" in result.said
    box.release("go")
    assert box.segue("trust", "--yes").code == 0
    assert box.run().code == 0
