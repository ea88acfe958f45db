"""The place of a run: written when it begins, current while it works, gone when it has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.bench import CLAUDE, Bench
from segue.dialects.events import Finished, Opened, StepDone
from segue.engine.executors import Alive, Started
from segue.errors import UserError
from segue.work.runner import run_options
from segue.work.settings import config
from segue.work.tasklist.standing import is_plan

STEPS = "- [ ] T-1: Build a tower\n  - [ ] stones\n  - [ ] lamp\n  - files: a/*.py\n"
TWO = STEPS + "- [ ] T-2: Paint it\n"
COMMAND = 'agent = "c"\n[agents.c]\nkind = "command"\ncommand = ["./claude"]\n'
PLACE = "PLACE.md"


def place_file(bench: Bench, job: str | None = None) -> Path:
    return bench.root / ".segue" / "runs" / f"{job or bench.job}.place"


def shown(bench: Bench) -> str:
    path = bench.root / PLACE
    return path.read_text("utf-8") if path.exists() else ""


def test_a_run_begins_with_its_place(bench: Bench) -> None:
    """What plan, what task, which try, what is next, what to read again, how to report."""
    bench.begin(STEPS + "  - verify: make check\n")
    text = place_file(bench).read_text("utf-8")
    assert "**T-1** of PLAN.md, attempt 1 of 3" in text
    assert "Build a tower" in text
    assert "- [ ] 1. stones\n- [ ] 2. lamp\n" in text
    assert "Next: step 1" in text
    assert "Read these files again first: PLAN.md, line 1, a/*.py" in text
    assert "make check" in text
    assert f"=== STEP N DONE {bench.attempt.run.nonce} ===" in text
    assert bench.engine.jobs[bench.job].env["SEGUE_PLACE"] == str(place_file(bench))
    assert place_file(bench).stat().st_mode & 0o077 == 0, "it has the run's nonce in it"


def test_a_step_that_is_told_is_done_in_the_place(bench: Bench) -> None:
    """At once, so that a compaction in the next moment finds it."""
    bench.begin(STEPS)
    bench.starts()
    bench.says(Opened("talk"), StepDone(1))
    text = place_file(bench).read_text("utf-8")
    assert "- [x] 1. stones\n- [ ] 2. lamp\n" in text
    assert "Next: step 2" in text
    bench.says(StepDone(2))
    assert "- [ ]" not in place_file(bench).read_text("utf-8")


def test_steps_of_an_earlier_run_stay_done(bench: Bench) -> None:
    """One that goes on after a death knows by the plan's marks what was told before."""
    bench.begin(STEPS)
    bench.starts()
    bench.says(Opened("talk"), StepDone(1))
    job = bench.job
    place_file(bench).unlink()
    bench.start()
    bench.engine.became[job] = Alive()
    bench.recover()
    bench.happens(Started(job, is_adopted=True))
    assert "- [x] 1. stones\n- [ ] 2. lamp\n" in place_file(bench, job).read_text("utf-8")


def test_a_command_has_no_context_to_lose(bench: Bench) -> None:
    """The shell agent gets neither a place nor a word about one."""
    bench.settings('agent = "shell"\n')
    bench.begin("- [ ] T-1: Build\n  - run: true\n", place=PLACE)
    assert "SEGUE_PLACE" not in bench.engine.jobs[bench.job].env
    assert not place_file(bench).exists()
    assert not (bench.root / PLACE).exists()


def test_a_compaction_is_no_time_to_work(bench: Bench) -> None:
    """A run that is only to make its conversation shorter is not told of open steps."""
    bench.begin(STEPS)
    bench.attempt.run.purpose = "compact"
    bench.says(StepDone(1))
    text = place_file(bench).read_text("utf-8")
    assert "- 2. lamp" in text
    assert "- [ ]" not in text


def test_a_place_that_cannot_be_written_stops_nothing(bench: Bench) -> None:
    """It is a help, not a condition."""
    bench.start(STEPS)
    runs = bench.root / ".segue" / "runs"
    runs.rmdir()
    runs.write_text("a file where the folder was")
    bench.recover()
    assert bench.engine.begun != []


def test_long_plans_have_short_places(bench: Bench) -> None:
    """Of very many steps those around the next one; long lines are cut."""
    steps = "".join(f"  - [{'x' if n < 150 else ' '}] step {n} {'y' * 999}\n" for n in range(200))
    bench.begin(f"- [ ] T-1: {'long ' * 500}\n{steps}")
    text = place_file(bench).read_text("utf-8")
    assert len(text) < 60 * 310 + 3_000
    assert "- [ ] 151. step 150" in text
    assert "(200 steps in total)" in text
    assert max(len(line) for line in text.splitlines()) < 400


# The file for agents without hooks


def test_the_settings_name_the_file(bench: Bench, tmp_path: Path) -> None:
    """`place` at the top of segue.toml; inside of the folder, or it is refused."""
    bench.settings(f'place = "{PLACE}"\n')
    found = config.load(bench.root, None)
    assert found.place == PLACE
    assert run_options(found, jobs=1, on_failed="ask", wait=True).place == PLACE
    for bad in ('"../PLACE.md"', '"/etc/passwd"', '""', "3", '"~/x"', '["a"]', '" "'):
        bench.settings(f"place = {bad}\n")
        with pytest.raises(UserError) as caught:
            config.load(bench.root, None)
        assert caught.value.problem.line == 1


def test_the_file_shows_what_runs_and_is_gone_afterwards(bench: Bench) -> None:
    """Made where there is none, current with each step, and without the run's secret word."""
    bench.settings(COMMAND)
    bench.begin(STEPS, place=PLACE)
    assert "- [ ] 1. stones" in shown(bench)
    assert bench.attempt.run.nonce not in shown(bench)
    assert "read PLACE.md: it says where you are in this work" in bench.prompt()
    bench.starts()
    bench.says(StepDone(1))
    assert "- [x] 1. stones\n- [ ] 2. lamp" in shown(bench)
    bench.ends(0)
    assert not (bench.root / PLACE).exists()


def test_what_a_person_wrote_into_the_file_stays(bench: Bench) -> None:
    """Before it, and what came meanwhile."""
    bench.settings(COMMAND)
    (bench.root / PLACE).write_text("# Mine")
    bench.begin(STEPS, place=PLACE)
    assert shown(bench).startswith("# Mine\n<!-- segue:place -->\n")
    (bench.root / PLACE).write_text("# Mine, changed\n" + shown(bench).partition("\n")[2])
    bench.starts()
    bench.says(StepDone(1))
    bench.ends(0)
    assert shown(bench) == "# Mine, changed"


def test_two_at_once_are_both_in_the_file(bench: Bench) -> None:
    """Agents in one folder share it; the one that ends goes out of it."""
    bench.settings(COMMAND)
    bench.begin(TWO, place=PLACE)
    first, second = bench.engine.begun
    assert "**T-1**" in shown(bench)
    assert "**T-2**" in shown(bench)
    bench.starts(first)
    bench.ends(0, job=first)
    assert "**T-1**" not in shown(bench)
    assert "**T-2**" in shown(bench)
    bench.starts(second)
    bench.ends(0, job=second)
    assert shown(bench) == ""


def test_a_check_is_not_shown(bench: Bench) -> None:
    """While Segue itself verifies, no agent is at work."""
    bench.settings(COMMAND)
    bench.begin("- [ ] T-1: Build\n  - verify: true\n", place=PLACE)
    bench.starts()
    bench.ends(0)
    assert bench.attempt.run.verify_job == bench.job
    assert shown(bench) == ""


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_link_is_not_written_through(bench: Bench, is_folder: bool) -> None:
    """An agent that puts a link there does not have Segue write elsewhere; it is told."""
    outside = bench.folder / "outside"
    outside.mkdir()
    target = outside / PLACE
    target.write_text("theirs")
    bench.settings(COMMAND)
    if is_folder:
        (bench.root / "docs").symlink_to(outside)
    else:
        (bench.root / PLACE).symlink_to(target)
    bench.begin(STEPS, place=f"docs/{PLACE}" if is_folder else PLACE)
    assert target.read_text() == "theirs"
    assert [path.name for path in outside.iterdir()] == [PLACE]
    assert any(
        "could not write the context note" in facts["text"] for facts in bench.told("notice")
    )
    assert bench.engine.begun != []


def test_the_file_is_not_taken_for_a_plan(bench: Bench) -> None:
    """Its open steps are those of the plan: `segue status` does not show it as another one."""
    bench.settings(COMMAND)
    bench.begin("- [ ] **T-1**: Build\n  - [ ] **T-9**: stones\n", place=PLACE)
    assert "T-9" in shown(bench)
    assert not is_plan(bench.root / PLACE)


def test_the_prompt_is_silent_about_a_file_that_is_not_kept(bench: Bench) -> None:
    """Without the setting there is no such sentence."""
    bench.settings(CLAUDE)
    bench.begin(STEPS)
    assert "it says where you are in this work" not in bench.prompt()
    assert not (bench.root / PLACE).exists()
    bench.starts()
    bench.says(Finished(False, "done"))
    bench.ends(0)
