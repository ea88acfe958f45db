"""Odd names, odd requests, loud agents: nothing breaks and nothing escapes."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance_kit import Box, until
from develop_kit import FEATURE, Feature, cp

IDS = ["인증", "a b", "../x", "it's \"so\"", "--help", "a/b", ".", "x" * 300, "$(touch hacked)", "a: b", "#1",
       "true", "null", "1", "~", "cp\n1", "\x1b[31mred", "MERGE", "design", "CP.lock", "-"]  # fmt: skip
FEATURES = ["실시간 채팅 기능", "say \"hi\", it's $HOME `id`", "word " * 1000, "!!! ???", "../../etc/passwd",
            "two\nlines", "a: b # c", "  spaces  ", "{x}", "🌙", "con", "x" * 400, "긴 " * 300]  # fmt: skip


@pytest.fixture
def feature(box: Box) -> Feature:
    return Feature(box)


def outside(feature: Feature) -> set[str]:
    """What lies beside the project."""
    return {str(path.relative_to(feature.box.tmp)) for path in feature.box.tmp.iterdir()}


@pytest.mark.parametrize("is_git", [False, True])
@pytest.mark.parametrize("name", IDS)
def test_odd_ids(feature: Feature, name: str, is_git: bool) -> None:
    """Either done under that very name, or refused with its name; never a crash, nothing outside."""
    good = cp(name, files=["one.txt"])
    feature.settle(good, cp("cp-2", name, files=["two.txt"]))
    if is_git:
        feature.repository()
    before = outside(feature)
    done = feature.develop()
    assert outside(feature) == before
    assert not list(feature.root.rglob("hacked"))
    assert "\x1b" not in done.said
    if done.code == 0:
        assert feature.checkpoints == {name: ("passed", 1), "cp-2": ("passed", 1)}
        assert [start.checkpoint for start in feature.starts() if start.checkpoint] == [
            name,
            "cp-2",
        ]
    else:
        assert done.code in (1, 3), done.said
        assert feature.state["phase"] == "REVIEW"
        assert "real-time-chat.md:" in done.said
    assert feature.box.left_behind() == {}


@pytest.mark.parametrize("words", FEATURES, ids=range(len(FEATURES)))
def test_odd_requests(feature: Feature, words: str) -> None:
    """Kept to the letter in the state; the document has a short name of its own in its folder."""
    feature.play("cp-1.1", "hold('never')")
    feature.start(feature=words)
    start = feature.begun("cp-1")
    feature.box.power_cut()
    target = Path(start.target)
    assert target.parent == feature.root / "docs/design"
    assert target.suffix == ".md" and target.stem and len(target.name.encode()) <= 255
    assert feature.state["feature"].strip() == words.strip()
    assert words.strip() in feature.starts("DESIGN")[0].prompt
    done = feature.develop("--resume", feature=words)
    assert done.code == 0, done.said
    assert feature.starts("MERGE")[0].target == start.target
    assert feature.state["phase"] == "DONE"


def test_a_request_that_looks_like_an_option(feature: Feature) -> None:
    """Behind `--` it is a request."""
    done = feature.box.segue("develop", "--json", "--", "--verbose for all commands")
    assert done.code == 0, done.said
    assert feature.state["feature"] == "--verbose for all commands"


def test_the_report_of_an_odd_request_is_one_line(feature: Feature) -> None:
    """Lines and escape codes in a request do not draw on the person's terminal."""
    feature.play("DESIGN.1", "hold('never')")
    feature.start(feature="two\n\x1b[31mlines\x1b[0m")
    feature.begun("DESIGN")
    feature.box.power_cut()
    done = feature.box.segue("develop")
    assert done.code == 3, done.said
    assert "\x1b" not in done.said
    assert any("two" in line and "DESIGN" in line for line in done.said.splitlines()), done.said


def test_agents_that_print_escape_codes(feature: Feature) -> None:
    """Neither in what is said nor in the state; the validation's too."""
    feature.settle(
        cp(
            "cp-1",
            validate="printf '\\033[2J\\033]0;owned\\007BAD\\n'; test -e cp-1.txt",
            description="\x1b[5mblink",
        )
    )
    feature.play("cp-1.1", "print('\\x1b[2J\\x1b]0;owned\\x07 working')")
    done = feature.box.segue("develop", FEATURE)
    assert done.code == 0, done.said
    assert "\x1b" not in done.said and "\x07" not in done.said
    assert "\x1b" not in feature.state_path.read_text()
    assert "BAD" in feature.starts("cp-1")[1].prompt


@pytest.mark.parametrize("who", ["DESIGN", "cp-1"])
@pytest.mark.parametrize("line", [80, 10_000_000])
def test_ten_megabytes_of_output(feature: Feature, who: str, line: int) -> None:
    """In short lines or in one: taken in, kept in the log, and not in any prompt."""
    feature.play(who, f"default()\nfor _ in range(10_000_000 // {line}): print('x' * ({line} - 1))")
    done = feature.develop()
    assert done.code == 0, done.said[-2000:]
    assert len(done.out) < 100_000
    assert all(len(start.prompt) < 100_000 for start in feature.starts())
    logs = sum(path.stat().st_size for path in (feature.root / ".segue/logs").iterdir())
    assert logs >= 1_000_000


def test_bytes_that_are_no_text(feature: Feature) -> None:
    """Output and a validation's output in no encoding at all."""
    feature.settle(cp("cp-1", validate="printf '\\377\\376\\000bad\\n'; test -e cp-1.txt"))
    feature.play("cp-1.1", "sys.stdout.buffer.write(b'\\xff\\xfe\\x00\\x80' * 1000)")
    done = feature.develop()
    assert done.code == 0, done.said
    assert "bad" in feature.starts("cp-1")[1].prompt


def test_agents_that_forge_the_state(feature: Feature) -> None:
    """An agent that writes "passed" into the state file is not believed: Segue validates."""
    feature.settle(cp("cp-1", validate="false"))
    feature.play("cp-1", "state.write_text(state.read_text().replace('in_progress', 'passed'))")
    done = feature.develop()
    assert done.code == 3, done.said
    assert feature.checkpoints == {"cp-1": ("escalated", 3)}
    assert "MERGE" not in feature.who


def test_agents_that_change_the_document_meanwhile(feature: Feature) -> None:
    """Settled is settled: an agent cannot weaken its own validation in the middle of the loop."""
    feature.settle(cp("cp-1", validate=f"echo v >> {feature.out}/v; test -e never"))
    feature.play("cp-1", "block('- {id: cp-1, description: a, validate: exit 0}')")
    done = feature.develop()
    assert done.code == 3, done.said
    assert len(feature.box.notes("v")) == 3


def test_agents_that_delete_the_state(feature: Feature) -> None:
    """The file is gone in the middle: the place is not lost."""
    feature.settle(cp("cp-1"), cp("cp-2", "cp-1"))
    feature.play("cp-1", "default(); state.unlink()")
    done = feature.develop()
    assert done.code == 0, done.said
    assert feature.state["feature"] == FEATURE
    assert feature.checkpoints == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}


def test_children_that_agents_leave(feature: Feature) -> None:
    """What an agent started in the background is not left behind."""
    feature.play("cp-1", "import subprocess; subprocess.Popen(['sleep', '1000']); default()")
    done = feature.develop()
    assert done.code == 0, done.said
    until(lambda: not feature.box.left_behind(), "nothing left")


def test_a_validation_that_reads_its_input(feature: Feature) -> None:
    """It gets none, and does not wait for it."""
    feature.settle(cp("cp-1", validate="cat; test -e cp-1.txt"))
    assert feature.develop(wait_s=50).code == 0


def test_many_checkpoints(feature: Feature) -> None:
    """Thirty in a fan: all done, in their order in the file."""
    names = [f"cp-{n}" for n in range(1, 31)]
    feature.settle(*(cp(name, *(["cp-1"] if name != "cp-1" else [])) for name in names))
    done = feature.develop("--jobs", "8", wait_s=120)
    assert done.code == 0, done.said
    assert list(feature.checkpoints) == names
    assert set(feature.checkpoints.values()) == {("passed", 1)}
