"""One run on one conversation: taken, waited for, let go."""

from __future__ import annotations

from kit.bench import CLAUDE, Bench
from segue.core.machines import RunState
from segue.core.plan import TaskState
from segue.dialects.events import Asked, Finished, LimitHit, Opened, Said
from segue.engine.executors import Alive, NeverStarted, Started
from segue.engine.plan.beginning import go_on_with
from segue.store.conversations import ConversationHolder

ONE = "- [ ] T-1: Build\n  - retries: 0\n"
STRANGER = ConversationHolder("run-x", "/elsewhere/run-x.claim", "/elsewhere/NIGHT.md", "T-9")


def parked(bench: Bench, plan: str = ONE) -> Bench:
    """A task that waits for ten seconds before it goes on with its conversation."""
    bench.begin(plan)
    bench.starts()
    bench.says(Opened("talk-1"), LimitHit("rate_limit", wait_s=5))
    bench.ends(1)
    return bench


def held_by_stranger(bench: Bench, talk: str = "talk-1", kind: str = "claude") -> None:
    bench.live_claims.add(STRANGER.claim)
    assert bench.held.take(kind, talk, STRANGER) is None


def is_free(bench: Bench, talk: str = "talk-1") -> bool:
    """Whether somebody else could have it, although its holder lives."""
    holder = ConversationHolder("probe", "/probe.claim", "/p", "T-0")
    taken = bench.held.take("claude", talk, holder) is None
    if taken:
        bench.held.release("claude", talk, "probe")
    return taken


def alive(bench: Bench) -> None:
    """The run of the last job is under way, as its claim says."""
    bench.live_claims.add(str(bench.run.job_factory.files.claim(bench.attempt.run.id)))


def test_a_conversation_is_remembered_as_soon_as_it_is_named(bench: Bench) -> None:
    """A death right after it does not lose it."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"))
    assert bench.row(bench.job).resume_id == "talk-1"


def test_a_run_holds_its_conversation_until_it_ends(bench: Bench) -> None:
    """From the moment it is named; afterwards anybody may go on with it."""
    bench.begin(ONE)
    bench.starts()
    alive(bench)
    bench.says(Opened("talk-1"))
    assert not is_free(bench)
    bench.says(Finished(False))
    bench.ends(0)
    assert is_free(bench)


def test_a_run_that_is_given_a_conversation_in_use_waits(bench: Bench) -> None:
    """It is not started at all; who has it is told; it uses no try, no window and no account."""
    parked(bench)
    held_by_stranger(bench)
    bench.pass_s(10)
    assert len(bench.engine.begun) == 1, "nothing was started"
    bench.happens()
    waits = bench.told("task_parked")[-1]
    assert waits["kind"] == "conversation"
    assert waits["held_by"] == {"plan": STRANGER.plan, "task": STRANGER.task}
    assert bench.state() is TaskState.IN_PROGRESS
    assert bench.run.ledger.tasks["T-1"].retries_used == 0
    assert bench.run.ledger.windows == 1, "only that of the limit"
    assert not bench.run.accounts.is_parked("claude")


def test_it_goes_on_when_the_other_has_ended(bench: Bench) -> None:
    """Every few seconds it is tried again, in the same conversation."""
    parked(bench)
    held_by_stranger(bench)
    for _round in range(3):
        bench.pass_s(10)
        bench.happens()
    assert len(bench.engine.begun) == 1
    bench.held.release("claude", "talk-1", STRANGER.run)
    bench.pass_s(5)
    assert len(bench.engine.begun) == 2
    argv = bench.engine.jobs[bench.job].argv
    assert argv[argv.index("--resume") + 1] == "talk-1"


def test_a_holder_that_died_holds_nothing(bench: Bench) -> None:
    """Whoever was killed left its file behind; its claim says that it is gone."""
    parked(bench)
    held_by_stranger(bench)
    bench.live_claims.clear()
    bench.pass_s(10)
    assert len(bench.engine.begun) == 2
    alive(bench)
    assert not is_free(bench), "it is ours now"


def test_a_program_that_opens_a_conversation_in_use_is_ended(bench: Bench) -> None:
    """It chose one by itself that another run is at work in: ended, and tried again later."""
    bench.begin(ONE)
    held_by_stranger(bench)
    bench.starts()
    bench.says(Opened("talk-1"), Said("words into the void"))
    first = bench.job
    assert bench.engine.to_end == [first]
    bench.says(Finished(False, "done"))
    bench.ends(0)
    assert bench.state() is TaskState.IN_PROGRESS, "what it did in there counts for nothing"
    assert bench.told("task_parked")[-1]["kind"] == "conversation"
    assert bench.row(first).resume_id is None, "it is not ours to go on with"
    assert not is_free(bench), "and it is not let go of for the other"


def test_the_same_run_may_name_its_conversation_again(bench: Bench) -> None:
    """Programs repeat the name; a new one (after a compaction) replaces it."""
    bench.begin(ONE)
    bench.starts()
    alive(bench)
    bench.says(Opened("talk-1"), Opened("talk-1"), Opened("talk-2"))
    assert bench.engine.to_end == []
    assert bench.row(bench.job).resume_id == "talk-2"
    assert not is_free(bench, "talk-2")


def test_two_tasks_of_one_plan_keep_off_each_others_conversation(bench: Bench) -> None:
    """The second one that opens it is ended."""
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n")
    first, second = bench.engine.begun
    for job in (first, second):
        bench.starts(job)
        bench.live_claims.add(str(bench.run.job_factory.files.claim(job)))
    bench.says(Opened("talk-1"), job=first)
    bench.says(Opened("talk-1"), job=second)
    assert bench.engine.to_end == [second]


def test_a_program_that_keeps_no_conversations_has_none_to_hold(bench: Bench) -> None:
    """A command agent just starts again."""
    command = 'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["./claude"]\n'
    bench.settings(command)
    bench.begin(ONE)
    bench.starts()
    bench.says(Asked("Which?"))
    bench.ends(0)
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "this one")
    bench.turn()
    assert bench.prompt() == "this one\n"
    assert bench.engine.jobs[bench.job].env["SEGUE_RESUME"] == "1"
    assert not list((bench.folder / "conversations").glob("*"))


def test_an_answer_goes_to_the_agent_that_asked(bench: Bench) -> None:
    """The plan may name another agent by now: the conversation stays with the program it is of."""
    bench.settings(CLAUDE + '[agents.other]\nkind = "claude"\ncommand = ["./claude"]\n')
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"), Asked("Which?"))
    bench.ends(143, is_ours=True)
    bench.start("- [~] T-1: Build\n  - retries: 0\n  - agent: other\n")
    bench.recover()
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "this one")
    bench.turn()
    assert bench.attempt.run.agent == "claude"
    assert "--resume" in bench.engine.jobs[bench.job].argv


def test_an_answer_for_an_agent_that_is_no_more_is_not_lost(bench: Bench) -> None:
    """Another one takes over: it begins afresh and is told the answer."""
    bench.settings(CLAUDE + '[agents.old]\nkind = "claude"\ncommand = ["./claude"]\n')
    bench.begin("- [ ] T-1: Build\n  - agent: old\n")
    bench.starts()
    bench.says(Opened("talk-1"), Asked("Which?"))
    bench.ends(143, is_ours=True)
    bench.settings(CLAUDE)
    bench.start("- [~] T-1: Build\n")
    bench.recover()
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "the blue one")
    bench.turn()
    assert bench.attempt.run.agent == "claude"
    assert "--resume" not in bench.engine.jobs[bench.job].argv
    assert "the blue one" in bench.prompt()
    assert "# T-1: Build" in bench.prompt()


def test_a_conversation_that_the_users_command_names_is_held_from_the_start(bench: Bench) -> None:
    """Of two tasks whose agent goes on with the same one, the second is not started."""
    bench.settings(CLAUDE.replace('["./claude"]', '["./claude", "--resume", "talk-1"]'))
    bench.start("- [ ] T-1: a\n- [ ] T-2: b\n")
    # The first is about to start: it has no claim yet.
    bench.held._is_live = lambda claim: None
    bench.recover()
    assert len(bench.engine.begun) == 1
    bench.happens()
    assert bench.told("task_parked")[0]["kind"] == "conversation"


def test_a_resumption_that_was_never_made_does_not_keep_itself_out(bench: Bench) -> None:
    """It had taken the conversation before Segue died; the next try has it at once."""
    parked(bench)
    bench.pass_s(10)
    job = bench.job
    bench.start()
    bench.held._is_live = lambda claim: None
    bench.engine.became[job] = NeverStarted()
    bench.recover()
    assert len(bench.engine.begun) == 1
    argv = bench.engine.jobs[bench.job].argv
    assert argv[argv.index("--resume") + 1] == "talk-1"


def test_a_wait_for_a_conversation_survives_a_death(bench: Bench) -> None:
    """It is a park like any other, and goes on in the same conversation."""
    parked(bench)
    held_by_stranger(bench)
    bench.pass_s(10)
    bench.happens()
    bench.start()
    bench.recover()
    assert bench.engine.begun == []
    bench.live_claims.clear()
    bench.pass_s(30)
    argv = bench.engine.jobs[bench.job].argv
    assert argv[argv.index("--resume") + 1] == "talk-1"


def test_a_wait_for_a_conversation_holds_up_nobody_else_after_a_death(bench: Bench) -> None:
    """Other tasks of the same account start at once."""
    parked(bench)
    held_by_stranger(bench)
    bench.pass_s(10)
    bench.happens()
    (park,) = bench.run.ledger.parks.values()
    assert park.kind == "conversation"
    bench.start("- [~] T-1: Build\n  - retries: 0\n- [ ] T-2: b\n")
    bench.recover()
    assert [bench.engine.jobs[job].env["SEGUE_TASK"] for job in bench.engine.begun] == ["T-2"]


def test_a_dropped_run_lets_its_conversation_go(bench: Bench) -> None:
    """A person skipped the task: its agent ends, and nobody is at work in its conversation."""
    bench.begin(ONE)
    bench.starts()
    alive(bench)
    bench.says(Opened("talk-1"))
    job = bench.job
    path = bench.root / "PLAN.md"
    path.write_text(path.read_text().replace("[~]", "[-]"))
    bench.turn()
    assert bench.engine.to_end == [job]
    bench.ends(143, job=job, is_ours=True)
    assert bench.row(job).state is RunState.CUT_OFF
    bench.live_claims.clear()  # its keeper has ended with it
    assert is_free(bench)


def test_a_run_found_alive_keeps_its_conversation(bench: Bench) -> None:
    """An adopted run names it again and is not taken for a stranger."""
    bench.begin(ONE)
    bench.starts()
    alive(bench)
    bench.says(Opened("talk-1"))
    job = bench.job
    bench.start()
    bench.engine.became[job] = Alive()
    bench.recover()
    bench.happens(Started(job, is_adopted=True))
    bench.says(Opened("talk-1"), job=job)
    assert bench.engine.to_end == []
    bench.says(Finished(False), job=job)
    bench.ends(0, job=job)
    assert bench.state() is TaskState.COMPLETED
    assert is_free(bench)
