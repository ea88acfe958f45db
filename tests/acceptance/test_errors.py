"""Bad input: exit 2, the file, the line and the cure in words, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.box import Box
from kit.command import Result

OK = "- [ ] T-1: a\n  - run: true\n"
BAD_PLANS = {
    "unknown blocker": (
        "- [ ] T-001: a\n- [ ] T-002: b\n  - blocked by: T-01\n",
        3,
        ["T-01", "T-001"],
    ),
    "duplicate id": ("- [ ] T-1: a\n\n- [ ] T-1: b\n", 3, ["T-1"]),
    "cycle": (
        "# x\n- [ ] T-1: a\n  - deps: T-3\n- [ ] T-2: b (deps: T-1)\n- [ ] T-3: c (deps: T-2)\n",
        None,
        ["T-1", "T-2", "T-3"],
    ),
    "own blocker": ("- [ ] T-1: a\n  - deps: T-1\n", None, ["T-1"]),
    "no tasks": ("# Plan\n\nonly words\n", None, []),
    "empty": ("", None, []),
    "conflict markers": (
        "- [ ] T-1: a\n<<<<<<< HEAD\n- [ ] T-2: b\n=======\n- [ ] T-3: c\n>>>>>>> other\n",
        2,
        [],
    ),
    "bad priority": ("- [ ] T-1: a\n  - priority: hihg\n", 2, ["hihg", "high"]),
    "bad timeout": ("- [ ] T-1: a\n  - timeout: soon\n", 2, ["soon", "5m"]),
    "field given twice": ("- [ ] T-1: a\n  - run: echo a\n  - run: echo b\n", 3, ["run", "2"]),
    "misspelt field": ("- [ ] T-1: a\n  - verfiy: false\n", 2, ["verfiy", "verify"]),
    "bad retries": ("- [ ] T-1: a\n  - retries: many\n", 2, ["many"]),
    "negative retries": ("- [ ] T-1: a\n  - retries: -1\n", 2, ["-1"]),
    "blocker in a later wave": (
        "## Wave 1\n- [ ] T-1: a\n  - blocked by: T-2\n## Wave 2\n- [ ] T-2: b\n",
        3,
        ["T-1", "T-2"],
    ),
    "unknown agent": ("- [ ] T-1: a\n  - agent: nobody\n", 2, ["nobody"]),
    "bad default": ("---\nretries: lots\n---\n- [ ] T-1: a\n", 2, ["lots"]),
}


def assert_error(result: Result, file: str, line: int | None, words: list[str]) -> None:
    assert result.code == 2, result.said
    error = result.json["error"]
    assert {"code", "message", "file", "line", "hint"} <= error.keys()
    assert Path(error["file"]).name == file, error
    if line is not None:
        assert error["line"] == line, error
    assert error["hint"], error
    for word in words:
        assert word in error["message"] + error["hint"], error


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_bad_plan_runs_nothing_and_writes_nothing(box: Box, name: str) -> None:
    """Each error of a plan has its line and cure; no byte and no folder is written."""
    text, line, words = BAD_PLANS[name]
    path = box.plan(text)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert_error(box.run(), "PLAN.md", line, words)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [item.name for item in box.root.iterdir()] == ["PLAN.md"]
    in_words = box.segue("run", "PLAN.md")
    assert in_words.code == 2
    where = "PLAN.md" if line is None else f"PLAN.md:{line}"
    assert where in in_words.err, "errors in words go to stderr with file and line"
    for word in words:
        assert word in in_words.err


@pytest.mark.parametrize("name", ["unknown blocker", "misspelt field", "bad timeout"])
def test_plan_gives_the_same_errors(box: Box, name: str) -> None:
    """`segue plan` refuses what `segue run` refuses."""
    text, line, words = BAD_PLANS[name]
    box.plan(text)
    assert_error(box.segue("plan", "PLAN.md", "--json"), "PLAN.md", line, words)


def test_a_cycle_is_printed_as_a_chain(box: Box) -> None:
    """The chain of a cycle is readable in its order and ends where it began."""
    box.plan(BAD_PLANS["cycle"][0])
    message = box.run().json["error"]["message"]
    positions = [message.find(name) for name in ("T-1", "T-2", "T-3")]
    assert min(positions) >= 0
    first = min(("T-1", "T-2", "T-3"), key=message.find)
    assert message.count(first) == 2, message


def test_a_task_line_that_is_not_utf_8_is_an_error(box: Box) -> None:
    """Foreign bytes are kept outside task lines; in a task line they are refused, or kept."""
    raw = b"- [ ] T-1: caf\xe9\n  - run: true\n"
    path = box.plan(raw)
    done = box.run()
    assert done.code in (0, 2)
    assert path.read_bytes() in (raw, raw.replace(b"[ ]", b"[x]"))


@pytest.mark.parametrize("missing", ["GONE.md", "sub"])
def test_a_plan_that_cannot_be_read(box: Box, missing: str) -> None:
    """A missing file or a folder in its place is named, with a hint."""
    (box.root / "sub").mkdir()
    result = box.segue("run", missing, "--json")
    assert_error(result, missing, None, [])
    assert not (box.root / ".segue").exists()


@pytest.mark.parametrize(
    "args",
    [
        ["run", "PLAN.md", "--jobs", "0", "--json"],
        ["run", "PLAN.md", "--on-failed", "maybe", "--json"],
        ["run", "PLAN.md", "OTHER.md", "--json"],
        ["run", "PLAN.md", "--no-such", "--json"],
    ],
)
def test_bad_usage_is_an_error_in_json_too(box: Box, args: list[str]) -> None:
    """Wrong options exit 2 with the error object on stdout."""
    path = box.plan(OK)
    result = box.segue(*args)
    assert result.code == 2
    assert {"code", "message", "file", "line", "hint"} <= result.json["error"].keys()
    assert path.read_text() == OK


def test_an_unknown_agent_on_the_command_line(box: Box) -> None:
    """`--agent` with a name that nobody has exits 2 and names who there is."""
    box.plan(OK)
    error = box.run("--agent", "shel").json["error"]
    assert "shel" in error["message"]
    assert "shell" in error["hint"]
    assert not (box.root / ".segue").exists()


def test_an_agent_that_is_not_installed(box: Box) -> None:
    """A missing program is told before anything starts, with a way to mend it."""
    box.config(
        'agent = "ghost"\n[agents.ghost]\nkind = "command"\ncommand = ["no-such-program-here"]\n'
    )
    path = box.plan("- [ ] T-1: a\n")
    result = box.run()
    assert result.code == 2
    error = result.json["error"]
    assert "no-such-program-here" in error["message"] + error["hint"]
    assert path.read_text() == "- [ ] T-1: a\n"


def test_a_shell_task_without_a_command(box: Box) -> None:
    """A task of the shell agent with nothing to run is refused with its line, before anything runs."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.note()}\n- [ ] T-2: nothing to run\n")
    result = box.run()
    assert_error(result, "PLAN.md", 3, ["T-2"])
    assert box.notes() == []


@pytest.mark.parametrize(
    ("config", "line", "words"),
    [
        ("agnet = 'shell'\n", 1, ["agnet", "agent"]),
        ("jobs = 2\n[leash]\nmax_window = 3\n", 3, ["max_window", "max_windows"]),
        ("[agents.a]\nkind = 'shel'\n", 2, ["shel", "shell"]),
        ("jobs = 'two'\n", 1, ["jobs"]),
        ("jobs = 0\n", 1, ["jobs"]),
        ("jobs = = 2\n", 1, []),
        ("agent = 'nobody'\n", 1, ["nobody"]),
        ("[agents.a]\nkind = 'script'\nscenaro = 'x'\n", 3, ["scenaro", "scenario"]),
    ],
)
def test_a_bad_config(box: Box, config: str, line: int, words: list[str]) -> None:
    """Errors of segue.toml name the file, the line and what was meant; nothing runs."""
    box.config(config)
    path = box.plan(OK)
    assert_error(box.run(), "segue.toml", line, words)
    assert path.read_text() == OK
    assert not (box.root / ".segue").exists()


def test_the_config_of_the_home_folder_is_read_last(box: Box) -> None:
    """`~/.config/segue/config.toml` holds settings too, and its errors name it."""
    folder = box.home / ".config" / "segue"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("jbos = 2\n")
    box.plan(OK)
    assert_error(box.run(), "config.toml", 1, ["jbos", "jobs"])


def test_several_errors_are_told_at_once_in_words(box: Box) -> None:
    """A plan with two mistakes names both lines."""
    box.plan("- [ ] T-1: a\n  - timeout: soon\n  - priority: top\n")
    said = box.segue("run", "PLAN.md").err
    assert "PLAN.md:2" in said
    assert "PLAN.md:3" in said


AGENT = 'agent = "x"\n\n[agents.x]\nkind = "command"\n'
BAD_AGENTS = {
    "program": (AGENT + 'command = ["no-such-program"]\n', 5, "no-such-program"),
    "variable": (AGENT + 'command = ["true"]\nenv = { A = "$NOPE" }\n', 6, "NOPE"),
    "default": ('# ours\nagent = "claude"\n', 2, "claude"),
}


@pytest.mark.parametrize("name", BAD_AGENTS)
def test_an_agent_that_is_not_there_is_named_with_its_line(box: Box, name: str) -> None:
    """In the settings, where it is to be mended."""
    settings, line, word = BAD_AGENTS[name]
    box.config(settings)
    box.plan("- [ ] T-1: a\n")
    only_sh = {"PATH": "/nowhere"} if name == "default" else None
    assert_error(box.segue("run", "PLAN.md", "--json", env=only_sh), "segue.toml", line, [word])
