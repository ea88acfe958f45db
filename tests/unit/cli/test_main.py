"""The command line: languages, errors in words and in JSON, exit codes."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from segue import __version__
from segue.cli import main as cli
from segue.cli.main import COMMANDS, main, make


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SEGUE_LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def called(*args: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(args)
    assert isinstance(caught.value.code, int)
    return caught.value.code


def segue(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: what is spoken is a matter of the whole process."""
    return subprocess.run(
        [sys.executable, "-m", "segue", *args],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` says it and nothing else."""
    assert called("--version") == 0
    assert capsys.readouterr().out == f"segue {__version__}\n"


@pytest.mark.parametrize("args", [("--help",), ("-h",)])
def test_help_names_every_command(capsys: pytest.CaptureFixture[str], args: tuple[str]) -> None:
    """Each command with what it does, and an example; one screen."""
    assert called(*args) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in COMMANDS)
    assert "segue run PLAN.md" in told
    assert len(told.splitlines()) <= 40


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_is_one_screen_with_an_example(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Every command explains itself and shows how it is called."""
    assert called(name, "--help") == 0
    told = capsys.readouterr().out
    assert f"segue {name}" in told.split("Example", 1)[1]
    assert len(told.splitlines()) <= 40


@pytest.mark.parametrize("name", ["task", "hooks", "service"])
def test_a_group_alone_shows_what_it_can_do(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """As `segue` itself does: its help, and no error."""
    assert called(name) == 0
    alone = capsys.readouterr()
    assert called(name, "--help") == 0
    assert (alone.out, alone.err) == (capsys.readouterr().out, "")


def test_commands_are_loaded_only_when_they_are_called() -> None:
    """Asking for help or the version imports neither the engine nor the display."""
    code = (
        "import sys\nfrom segue.cli.main import main\n"
        "try:\n    main(['{arg}'])\nexcept SystemExit:\n    pass\n"
        "heavy = {{'asyncio', 'rich', 'sqlite3', 'segue.work.runner'}} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\n"
    )
    for arg in ("--help", "--version"):
        command = [sys.executable, "-c", code.format(arg=arg)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "[]", arg


def test_every_command_is_a_file_of_its_own_name() -> None:
    """The command NAME is `command` of segue.cli.NAME."""
    for name in COMMANDS:
        assert isinstance(
            import_module(f"segue.cli.{name.replace('-', '_')}").command, click.Command
        )
    assert make().list_commands(click.Context(make())) == list(COMMANDS)


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("rnu", "PLAN.md"), "did you mean `segue run`?"),
        (("PLAN.md",), "segue run PLAN.md"),
        (("run", "--jbos", "3", "PLAN.md"), "segue run --help"),
        (("run",), "Markdown"),  # there is no PLAN.md here
        (("run", "PLAN.md", "--on-failed", "cry"), "segue run --help"),
        (("--nonsense",), "segue --help"),
        (("run", "missing.md"), "Markdown"),
    ],
)
def test_a_wrong_call_is_told_in_words_and_in_json(
    capsys: pytest.CaptureFixture[str], args: tuple[str, ...], hint: str
) -> None:
    """Exit 2; to a person on standard error, with --json one object on standard output."""
    assert called(*args) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert hint in told.err
    assert called(*args, "--json") == 2
    told = capsys.readouterr()
    assert told.err == ""
    found = json.loads(told.out)["error"]
    assert set(found) == {"code", "message", "file", "line", "hint"}
    assert hint in found["hint"]


def test_an_error_in_the_settings_names_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the command to the line of the file, in JSON."""
    (tmp_path / "PLAN.md").write_text("- [ ] **T-1**: one\n  - run: true\n")
    (tmp_path / "segue.toml").write_text("\njbos = 3\n")
    assert called("run", "PLAN.md", "--json") == 2
    found = json.loads(capsys.readouterr().out)["error"]
    assert (found["code"], found["line"]) == ("unknown_key", 2)
    assert found["file"].endswith("segue.toml")
    assert not (tmp_path / ".segue").exists(), "nothing is written before all was checked"


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_an_interruption_is_exit_130(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Ctrl-C, wherever it comes, has its own code."""

    class Interrupted:
        def main(self, *_args: object, **_more: object) -> None:
            raise error

    monkeypatch.setattr(cli, "make", Interrupted)
    assert called() == 130


def test_what_the_system_refuses_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A device that fails where nobody expected it: no traceback, the file is named."""

    def fail(*_args: object, **_rest: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), "/somewhere/PLAN.md")

    monkeypatch.setattr(import_module("segue.cli.plan").command, "callback", fail)
    assert called("plan", "PLAN.md", "--json") == 2
    told = json.loads(capsys.readouterr().out)["error"]
    assert (told["code"], told["file"]) == ("system_error", "/somewhere/PLAN.md")
    assert "Input/output error" in told["message"]


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_an_instant_at_the_end_of_the_calendar_is_no_time(
    now: str, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its own line says so; the others have their answers."""
    text = "Claude usage limit reached. Your limit will reset at 3pm"
    lines = [{"id": 1, "text": text, "now": now, "tz": "Asia/Seoul"}, {"id": 2, "text": text}]
    source = io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(source))
    assert called("detect", "--jsonl") == 0
    first, second = map(json.loads, capsysbinary.readouterr().out.splitlines())
    assert (first["id"], now in first["error"]) == (1, True)
    assert (second["id"], second["paused"]) == (2, True)


def test_a_bug_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Segue got wrong is shown as it is."""

    class Broken:
        def main(self, *_args: object, **_more: object) -> None:
            raise ZeroDivisionError

    monkeypatch.setattr(cli, "make", Broken)
    with pytest.raises(ZeroDivisionError):
        main([])


@pytest.mark.parametrize(
    ("args", "environ"),
    [
        (("--lang", "ko", "--help"), {}),
        (("--lang=ko", "--help"), {}),
        (("--help",), {"SEGUE_LANG": "ko"}),
        (("--help",), {"LANG": "ko_KR.UTF-8"}),
    ],
)
def test_help_is_korean_where_it_is_wanted(args: tuple[str, ...], environ: dict[str, str]) -> None:
    """By option, by SEGUE_LANG and by the locale."""
    done = segue(*args, **environ)
    assert done.returncode == 0
    assert any("가" <= char <= "힣" for char in done.stdout)


def test_the_option_wins_over_the_environment() -> None:
    """English when English is asked for."""
    done = segue("--lang", "en", "--help", SEGUE_LANG="ko", LANG="ko_KR.UTF-8")
    assert not any("가" <= char <= "힣" for char in done.stdout)


def test_the_language_can_be_said_after_the_command() -> None:
    """`segue run --lang ko` is as good as `segue --lang ko run`."""
    before, after = segue("--lang", "ko", "run", "x.md"), segue("run", "x.md", "--lang", "ko")
    assert before.returncode == after.returncode == 2
    assert before.stderr == after.stderr


def test_an_unknown_language_is_told() -> None:
    """Neither a crash nor silence."""
    done = segue("--lang", "xx", "status")
    assert done.returncode == 2
    assert "xx" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    """`segue plan … | head -1` ends quietly."""
    tasks = "".join(f"- [ ] **T-{n}**: {'x' * 80}\n  - run: true\n" for n in range(3000))
    (tmp_path / "PLAN.md").write_text(tasks)
    process = subprocess.Popen(
        [sys.executable, "-m", "segue", "plan", "PLAN.md"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert b"Traceback" not in told
    assert b"BrokenPipe" not in told
