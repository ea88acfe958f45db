"""Odd names, odd requests, loud agents: nothing breaks and nothing escapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, cp
from kit.waiting import until

IDS = ["인증", "true", "null", "1", "MERGE", "CP.lock", "é", "a-b_c.d"]
BAD_IDS = [
    "a b",
    "../x",
    'it\'s "so"',
    "--help",
    "a/b",
    ".",
    "x" * 300,
    "$(touch hacked)",
    "cp\n1",
    "\x1b[31mred",
]
FEATURES = ["실시간 채팅 기능", "say \"hi\", it's $HOME `id`", "word " * 1000, "!!! ???", "../../etc/passwd",
            "two\nlines", "a: b # {c}", "  🌙  ", "긴 " * 300]  # fmt: skip


@pytest.fixture
def feature(box: Box) -> Feature:
    return Feature(box)


def outside(feature: Feature) -> set[str]:
    """What lies beside the project."""
    return {str(path.relative_to(feature.box.tmp)) for path in feature.box.tmp.iterdir()}


@pytest.mark.parametrize("is_git", [False, True])
def test_odd_ids(feature: Feature, is_git: bool) -> None:
    """Words that YAML or git take for something else are names like any other."""
    feature.settle(*(cp(name, files=[f"{n}.txt"]) for n, name in enumerate(IDS)))
    if is_git:
        feature.box.repository()
    done = feature.develop("--jobs", "4", wait_s=90)
    assert done.code == 0, done.said
    assert feature.checkpoints == dict.fromkeys(IDS, ("passed", 1))
    assert sorted(start.checkpoint or "" for start in feature.starts()) == sorted([*[""] * 3, *IDS])
    assert feature.box.left_behind() == {}


@pytest.mark.parametrize("names", list(zip(BAD_IDS[::2], BAD_IDS[1::2], strict=True)), ids=range(5))
def test_ids_that_cannot_be_names(feature: Feature, names: tuple[str, str]) -> None:
    """They go back to the agent with the reason; nothing is made of them, nothing outside."""
    before = outside(feature)
    for n, name in enumerate(names, 1):
        row = json.dumps({"id": name, "description": "a", "validate": "test -e never"})
        feature.play(f"REVIEW.{n}", f"block({'- ' + row!r})")
    done = feature.develop()
    assert done.code == 0, done.said
    assert outside(feature) == before
    assert not list(feature.root.rglob("hacked"))
    assert "\x1b" not in done.said
    for start in feature.starts("REVIEW")[1:]:
        assert "real-time-chat.md:" in start.prompt and "`id`" in start.prompt
    assert feature.checkpoints == {"cp-1": ("passed", 1)}


@pytest.mark.parametrize("words", FEATURES, ids=range(len(FEATURES)))
def test_odd_requests(feature: Feature, words: str) -> None:
    """Kept to the letter in the state; the document has a short name of its own in its folder."""
    assert feature.develop("--gates", feature=words).code == 3
    (start,) = feature.starts("DESIGN")
    target = Path(start.target)
    assert target.parent == feature.root / "docs/design"
    assert target.suffix == ".md" and target.stem and len(target.name.encode()) <= 255
    assert feature.state["feature"].strip() == words.strip()
    assert words.strip() in start.prompt
    done = feature.develop("--resume", "--approve", feature=words)
    assert done.code == 0, done.said
    assert {start.target for start in feature.starts()} == {str(target)}
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
    assert feature.develop(wait_s=90).code == 0


def test_many_checkpoints(feature: Feature) -> None:
    """Twelve in a fan: all done, in their order in the file."""
    names = [f"cp-{n}" for n in range(1, 13)]
    feature.settle(*(cp(name, *(["cp-1"] if name != "cp-1" else [])) for name in names))
    done = feature.develop("--jobs", "6", wait_s=120)
    assert done.code == 0, done.said
    assert list(feature.checkpoints) == names
    assert set(feature.checkpoints.values()) == {("passed", 1)}
