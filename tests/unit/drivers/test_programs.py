"""Where a program lives: what it needs to run, and nothing wider."""

from __future__ import annotations

from pathlib import Path

from segue.drivers.programs import program_folders


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_program_of_a_package_needs_all_packages(tmp_path: Path) -> None:
    """npm puts what a package needs beside it."""
    real = program(tmp_path / "lib" / "node_modules" / "@a" / "b" / "cli.js", "#!/bin/true\n")
    link = tmp_path / "shims" / "b"
    link.parent.mkdir()
    link.symlink_to(real)
    found = program_folders(str(link), {}, ())
    assert found[:2] == (link.parent, tmp_path / "lib" / "node_modules")


def test_an_installation_is_one_folder(tmp_path: Path) -> None:
    tool = program(tmp_path / "venv" / "bin" / "tool")
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    assert program_folders(str(tool), {}, ())[0] == tmp_path / "venv"


def test_a_bin_folder_that_is_no_installation_is_only_itself(tmp_path: Path) -> None:
    tool = program(tmp_path / "bin" / "tool")
    assert program_folders(str(tool), {}, ())[0] == tmp_path / "bin"


def test_an_interpreter_is_found_as_the_script_would(tmp_path: Path) -> None:
    """By its path, or by `env` along the agent's own PATH."""
    interpreter = program(tmp_path / "node" / "node")
    script = program(tmp_path / "tool" / "tool", "#!/usr/bin/env -S node --flag\n")
    found = program_folders(str(script), {"PATH": str(interpreter.parent)}, ())
    assert tmp_path / "node" in found


def test_a_folder_around_what_is_guarded_is_never_a_programs_own(tmp_path: Path) -> None:
    tool = program(tmp_path / "tool")
    assert program_folders(str(tool), {}, (tmp_path / "home",))[0] == tool


def test_a_program_that_is_not_there_needs_nothing(tmp_path: Path) -> None:
    assert program_folders("nonesuch", {"PATH": str(tmp_path)}, ()) == ()


def test_scripts_that_name_each_other_come_to_an_end(tmp_path: Path) -> None:
    one, two = tmp_path / "one" / "a", tmp_path / "two" / "b"
    program(one, f"#!{two}\n")
    program(two, f"#!{one}\n")
    assert set(program_folders(str(one), {}, ())) == {one.parent, two.parent}
