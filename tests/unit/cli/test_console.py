"""The one way out of the program: nothing acts on the terminal, nothing ends the work."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from segue.cli import console
from segue.cli.main import COMMANDS, main, make

CLI = Path(console.__file__).parent
# What prints beside the console, and why it may.
AROUND = {
    "console.py": "is the way out",
    "display.py": "is the way out for what is drawn",
    "streams.py": "repairs the streams",
    "hook.py": "answers a program that reads it, in JSON of its own",
}
PRINTERS = {
    *(f"click.{name}" for name in ("echo", "secho", "echo_via_pager", "prompt", "confirm")),
    *("click.clear", "click.style", "click.progressbar", "print", "input"),
    *(f"sys.{stream}.write" for stream in ("stdout", "stderr", "__stdout__", "__stderr__")),
    *(f"sys.{stream}.buffer" for stream in ("stdout", "stderr")),
    *("Console", "Live", "Text", "Text.assemble", "Text.from_markup", "rich.print"),
}


def uses(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call | ast.Attribute):
            name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
            if name in PRINTERS:
                yield f"{path.name}:{node.lineno}: {name}"


def test_no_command_prints_around_the_console() -> None:
    """Everything that is printed or asked goes through `console.py` and `display.py`."""
    files = [path for path in CLI.rglob("*.py") if path.name not in AROUND]
    assert len(files) > 40
    assert [use for path in files for use in uses(path)] == []
    assert list(uses(CLI / "console.py")), "the search finds what it looks for"


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    console.set_up([], {})


HOSTILE = "a\x1b]0;owned\x07b\x1b[31mc\x9b2Jd\x08e\u202ef\x7fg"


def test_text_of_other_people_only_shows() -> None:
    """No escape sequence, control character or change of direction is left; the words are."""
    shown = console.clean(f"{HOSTILE}\nnext\tline 한글 ✔")
    assert shown == "abc2Jdefg\nnext\tline 한글 ✔"
    assert console.clean("rewritten\rwith this") == "with this"
    assert console.clean("\ud800") == "?"


def test_json_keeps_the_value_and_is_harmless_too() -> None:
    """A program reads exactly what was there, and a terminal sees no control character."""
    text = console.to_json({"title": HOSTILE})
    assert json.loads(text) == {"title": HOSTILE}
    assert text.isprintable()
    assert console.to_json("한글 ✔") == '"한글 ✔"'


@pytest.mark.parametrize(
    ("environ", "is_ascii"),
    [
        ({"LC_ALL": "C"}, True),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, True),
        ({"LC_ALL": "", "LANG": "C"}, True),
        ({"LC_CTYPE": "ko_KR.eucKR"}, True),
        ({"LC_ALL": "C.UTF-8"}, False),
        ({"LC_ALL": "", "LC_CTYPE": "en_US.utf8"}, False),
        ({"LANG": "de_DE.UTF-8@euro"}, False),
        ({}, False),
    ],
)
def test_marks_are_ascii_where_the_locale_has_no_unicode(
    environ: dict[str, str], is_ascii: bool
) -> None:
    """As the locale says; where none is set, as Python writes."""
    console.set_up([], environ)
    assert console.is_ascii() is is_ascii
    expected = "ok T-1, FAILED T-2 -> ..." if is_ascii else "✔ T-1, ✘ T-2 → …"
    assert console.clean("✔ T-1, ✘ T-2 → …") == expected


def test_every_mark_that_a_line_begins_with_has_an_ascii_twin() -> None:
    """No sign of Segue's own is left over in ASCII, in both languages."""
    console.set_up(["--plain"], {})
    catalogue = CLI.parent / "locale" / "ko" / "LC_MESSAGES" / "segue.po"
    texts = [path.read_text(encoding="utf-8") for path in CLI.glob("*.py")]
    strings = [
        node.value
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    strings += catalogue.read_text(encoding="utf-8").splitlines()
    facts = set(re.findall("[^\x00-\x7f가-힣ㄱ-ㆎ]", console.clean("\n".join(strings))))
    assert facts == set()


@pytest.mark.parametrize("args", [["--plain", "status"], ["status", "--plain"]])
def test_plain_is_taken_before_and_after_the_command(args: list[str]) -> None:
    """It is read first, and taken out of what the command sees; behind `--` it is a word."""
    assert console.set_up(args, {}) == ["status"]
    assert console.is_ascii()
    assert console.set_up(["task", "answer", "--", "--plain"], {})[-1] == "--plain"
    assert not console.is_ascii()


def test_the_help_of_every_command_names_plain() -> None:
    """Groups of commands name it at each of their verbs."""

    def leaves(command: click.Command) -> Iterator[click.Command]:
        if isinstance(command, click.Group):
            for verb in command.commands.values():
                yield from leaves(verb)
        else:
            yield command

    group = make()
    ctx = click.Context(group)
    for name in COMMANDS:
        found = group.get_command(ctx, name)
        assert found is not None
        for leaf in leaves(found):
            assert any("--plain" in parameter.opts for parameter in leaf.params), (name, leaf.name)


Shell = Callable[..., str]


@pytest.fixture
def segue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Shell:
    """A command in an empty folder; what it printed on both streams."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SEGUE_LANG", "en")

    def run(*args: str, **environ: str) -> str:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        with contextlib.suppress(SystemExit):
            main(args)
        told = capfd.readouterr()
        return told.out + told.err

    return run


def test_a_question_shows_no_escape_of_its_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent proposes the default: Enter takes it as it is, the terminal sees only its words."""
    shown: list[str] = []

    def ask(text: str) -> str:
        shown.append(text)
        return ""

    monkeypatch.setattr("click.termui.visible_prompt_func", ask)
    assert console.prompt("Answer\x1b[2J", default=HOSTILE) == HOSTILE
    assert "".join([*shown, capsys.readouterr().out]).strip() == "Answer [abc2Jdefg]:"


@pytest.mark.parametrize("args", ["plan", "run --agent shell", "run --agent shell --json"])
def test_a_plan_cannot_write_to_the_terminal(segue: Shell, tmp_path: Path, args: str) -> None:
    """Its titles, its name, its errors and what its agents print: only their words are shown."""
    name = "P\x1b[31mLAN.md"
    run = "printf 'bad \\033]0;owned\\007 end'; exit 3"
    plan = f"- [ ] T-1: {HOSTILE}\n  - retries: 0\n  - run: {run}\n- [ ] T-2: b\n  - run: true\n"
    (tmp_path / name).write_text(plan, encoding="utf-8")
    command, *options = args.split()
    told = [segue(command, name, *options)]
    told += [segue(*words) for words in (["status"], ["status", "--json"], ["resume"], [])]
    told.append(segue(command, name.replace("P", "Q"), *options))
    for text in told:
        assert re.findall("[^\n\t\x20-\x7e\xa0-\u2029\u2030-\uffff]", text) == []
    assert "abc2Jdefg" in told[0] or "owned" in json.loads(told[0].splitlines()[1])["title"]


def test_ascii_marks_tell_success_and_failure_apart(segue: Shell, tmp_path: Path) -> None:
    """In the locale C every line is ASCII, and says what a mark would have said."""
    (tmp_path / "PLAN.md").write_text(
        "- [ ] T-1: a\n  - run: true\n- [ ] T-2: b\n  - retries: 0\n  - run: false\n"
    )
    told = segue("run", "PLAN.md", "--agent", "shell", "--jobs", "1", LC_ALL="C")
    assert told.isascii()
    lines = [line[9:] for line in told.splitlines()]
    assert "> T-1 a" in lines
    assert any(line.startswith("ok T-1 completed") for line in lines)
    assert "FAILED T-2 failed: exit code 1" in lines
    assert segue("status").startswith("FAILED PLAN.md")
    assert segue("status", LC_ALL="C.UTF-8").startswith("✘ PLAN.md")
    assert segue("--plain", "status") == segue("status", "--plain") != segue("status")
    assert os.environ["LC_ALL"] == "C.UTF-8"
