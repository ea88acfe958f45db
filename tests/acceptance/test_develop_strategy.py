"""How checkpoints are worked on: in one conversation, or side by side."""

from __future__ import annotations

import itertools

import pytest

from kit.box import Box
from kit.feature import Feature, cp

MEET = "log('up'); import time\nwhile sum(json.loads(l)['what'] == 'up' for l in (OUT / 'log').read_text().splitlines()) < 2: time.sleep(0.01)\ndefault()"


@pytest.fixture
def feature(box: Box) -> Feature:
    return Feature(box)


def spans(feature: Feature) -> dict[str, tuple[int, int]]:
    """From when to when each checkpoint's (only) agent ran."""
    ends = {entry["who"]: entry["ns"] for entry in feature.logged("end")}
    return {
        start.who: (start.ns, ends[start.who]) for start in feature.starts() if start.checkpoint
    }


def are_apart(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[1] <= other[0] or other[1] <= one[0]


@pytest.mark.parametrize(
    "files",
    [
        [["app.txt"]],
        [["app.txt"], ["app.txt"]],
        [["src/a.txt"], ["src/**"], ["src/a.txt", "x.txt"]],
    ],
    ids=["one", "the same file", "globs"],
)
def test_direct_is_one_conversation(feature: Feature, files: list[list[str]]) -> None:
    """One checkpoint, or all in the same files: one after the other, in one conversation."""
    feature.settle(
        *(cp(f"cp-{n}", files=f, validate=f"test -e done-{n}") for n, f in enumerate(files, 1))
    )
    feature.play("cp-1", "make('done-1')")
    feature.play("cp-2", "make('done-2')")
    feature.play("cp-3", "make('done-3')")
    done = feature.develop("--jobs", "3")
    assert done.code == 0, done.said
    assert feature.state["strategy"] == "direct"
    starts = [start for start in feature.starts() if start.checkpoint]
    assert [start.who for start in starts] == [f"cp-{n}" for n in range(1, len(files) + 1)]
    assert len({start.conversation for start in starts}) == 1
    for start in starts:
        assert start.known["strategy"] == "direct"
        assert f"test -e done-{start.who[-1]}" in start.prompt, "told what this checkpoint is"
    assert {start.cwd for start in starts} == {str(feature.root)}


def test_direct_on_request(feature: Feature) -> None:
    """`--strategy direct`: independent ones, too, one after the other."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    assert feature.develop("--strategy", "direct", "--jobs", "2").code == 0
    assert feature.state["strategy"] == "direct"
    assert are_apart(*spans(feature).values())


def test_subagents_run_side_by_side(feature: Feature) -> None:
    """Two independent ones at the same time: each waits for the other to be up."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    for who in ("cp-1", "cp-2"):
        feature.play(who, MEET)
    done = feature.develop("--jobs", "2", wait_s=90)
    assert done.code == 0, done.said
    assert feature.state["strategy"] == "subagent"
    assert not are_apart(*spans(feature).values())
    one, other = (start for start in feature.starts() if start.checkpoint)
    assert one.conversation != other.conversation


def test_overlapping_ones_are_never_side_by_side(feature: Feature) -> None:
    """Those that share files take turns, even with slots to spare."""
    feature.settle(
        cp("cp-1", files=["a.txt", "shared/x.py"]), cp("cp-2", files=["b.txt", "shared/*"]),
        cp("cp-3", files=["c.txt"]), cp("cp-4", files=["d.txt", "./c.txt"]),
    )  # fmt: skip
    assert feature.develop("--jobs", "4").code == 0
    assert feature.state["strategy"] == "subagent"
    when = spans(feature)
    assert are_apart(when["cp-1"], when["cp-2"])
    assert are_apart(when["cp-3"], when["cp-4"])


def test_one_slot_is_one_at_a_time(feature: Feature) -> None:
    """`--jobs 1`."""
    feature.settle(cp("cp-1"), cp("cp-2"), cp("cp-3"))
    assert feature.develop("--jobs", "1").code == 0
    order = sorted(spans(feature).values())
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(order))


def test_teams_fall_back_and_say_so(feature: Feature) -> None:
    """`--strategy agent-teams` with an agent that has no such thing: subagent, told."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    done = feature.develop("--strategy", "agent-teams")
    assert done.code == 0, done.said
    assert feature.state["strategy"] == "subagent"
    (notice,) = [event for event in done.of("notice") if "teams" in event["text"]]
    assert "mine" in notice["text"] and "subagent" in notice["text"]


def test_no_fall_back_is_told_where_none_is_needed(feature: Feature) -> None:
    """Without the request nobody hears of teams."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    assert "teams" not in feature.develop().said


# --- in a git repository


def test_each_in_its_own_worktree(feature: Feature) -> None:
    """Apart from the checkout and from each other; merged, and nothing is left of them."""
    feature.settle(cp("cp-1"), cp("cp-2"), cp("cp-3", "cp-1"))
    feature.play("cp-3", "assert Path('cp-1.txt').exists(); default()")
    feature.box.repository()
    done = feature.develop("--jobs", "2")
    assert done.code == 0, done.said
    folders = {start.who: start.cwd for start in feature.starts() if start.checkpoint}
    assert len(set(folders.values())) == 3
    assert str(feature.root) not in folders.values()
    tracked = feature.box.git("ls-files").split()
    assert {"cp-1.txt", "cp-2.txt", "cp-3.txt", "base.txt"} <= set(tracked)
    assert not any(name.startswith((".segue", ".develop-workflow")) for name in tracked)
    assert (feature.root / "base.txt").read_text() == "one\ntwo\nthree\n"
    assert len(feature.box.git("worktree", "list").splitlines()) == 1
    assert feature.box.git("branch", "--format=%(refname:short)").split() == ["main"]
    assert feature.box.git("fsck", "--no-dangling") == ""


def test_merged_in_the_order_of_dependencies(feature: Feature) -> None:
    """What others need is merged before them, whoever was ready first."""
    feature.settle(cp("cp-9"), cp("cp-5", "cp-9"), cp("cp-1", "cp-5"), cp("cp-7"))
    feature.box.repository()
    assert feature.develop("--jobs", "2").code == 0
    lines = feature.box.git("log", "--first-parent", "--reverse", "--format=%s").splitlines()
    at = {
        name: min(n for n, line in enumerate(lines) if name in line) for name in feature.checkpoints
    }
    assert at["cp-9"] < at["cp-5"] < at["cp-1"]


def test_the_checkout_is_not_touched_meanwhile(feature: Feature) -> None:
    """While an agent works in its worktree, the person's files are as they were."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    feature.play("cp-1", "default(); log('made'); hold('go')")
    feature.play("cp-2", "default(); log('made'); hold('go')")
    feature.box.repository()
    going = feature.start("--jobs", "2")
    feature.begun("cp-1")
    feature.begun("cp-2")
    assert not (feature.root / "cp-1.txt").exists()
    assert feature.box.git("status", "--porcelain", "--", "base.txt", "cp-1.txt", "cp-2.txt") == ""
    feature.box.release("go")
    assert going.end().code == 0
    assert (feature.root / "cp-1.txt").exists()


def test_what_fails_is_not_merged(feature: Feature) -> None:
    """An escalated checkpoint leaves the checkout alone; the others are in it."""
    feature.settle(cp("cp-1", validate="test -e never"), cp("cp-2"))
    feature.box.repository()
    assert feature.develop().code == 3
    assert not (feature.root / "cp-1.txt").exists()
    assert (feature.root / "cp-2.txt").exists()


def test_a_conflict_is_told_to_the_next_iteration(feature: Feature) -> None:
    """Two that wrote the same file against the agreement: nothing is half merged."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    for who in ("cp-1", "cp-2"):
        feature.play(f"{who}.1", MEET + "\nmake('base.txt', who)")
    feature.box.repository()
    done = feature.develop("--jobs", "2")
    text = (feature.root / "base.txt").read_text()
    assert text in ("cp-1", "cp-2"), text
    assert not (feature.root / ".git/MERGE_HEAD").exists()
    assert done.code == 0, done.said
    loser = "cp-2" if text == "cp-1" else "cp-1"
    assert "base.txt" in feature.starts(loser)[1].prompt
    assert feature.checkpoints[loser] == ("passed", 2)


@pytest.mark.parametrize("kind", ["changed", "untracked", "staged"])
def test_uncommitted_work_of_a_person_survives(feature: Feature, kind: str) -> None:
    """The repository is not clean: it is done all the same, and the person's work is as it was."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    feature.box.repository()
    mine = feature.root / ("notes.txt" if kind == "untracked" else "base.txt")
    mine.write_text("MINE\n")
    if kind == "staged":
        feature.box.git("add", "base.txt")
    done = feature.develop()
    assert done.code == 0, done.said
    assert mine.read_text() == "MINE\n"
    assert (feature.root / "cp-1.txt").exists() and (feature.root / "cp-2.txt").exists()
    assert mine.name in feature.box.git("status", "--porcelain"), "still not committed"


@pytest.mark.parametrize("kind", ["no commit", "ignored documents", "detached"])
def test_odd_repositories(feature: Feature, kind: str) -> None:
    """No commit yet, `docs/` ignored, no branch: it is done all the same."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    feature.box.repository()
    if kind == "no commit":
        feature.box.git("update-ref", "-d", "HEAD")
    elif kind == "detached":
        feature.box.git("checkout", "-q", "--detach")
    else:
        (feature.root / ".gitignore").write_text("docs/\n")
        feature.box.git("add", "-A")
        feature.box.git("commit", "-qm", "ignore")
    done = feature.develop()
    assert done.code == 0, done.said
    assert (feature.root / "cp-1.txt").exists() and (feature.root / "cp-2.txt").exists()
