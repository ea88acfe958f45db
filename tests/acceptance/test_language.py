"""Korean and English: which is spoken, and the texts of the original."""

from __future__ import annotations

import pytest

from kit.box import Box

HANGUL = range(0xAC00, 0xD7A4)


def is_korean(text: str) -> bool:
    return any(ord(letter) in HANGUL for letter in text)


@pytest.mark.parametrize(
    ("args", "env", "korean"),
    [
        (["--lang", "ko", "run", "PLAN.md"], {}, True),
        (["run", "PLAN.md", "--lang", "ko"], {}, True),
        (["run", "--lang", "ko", "PLAN.md"], {}, True),
        (["run", "PLAN.md"], {"SEGUE_LANG": "ko"}, True),
        (["run", "PLAN.md"], {"LANG": "ko_KR.UTF-8"}, True),
        (["run", "PLAN.md"], {"LANG": "C.UTF-8"}, False),
        (["run", "PLAN.md"], {"LANG": "fr_FR.UTF-8"}, False),
        (["run", "PLAN.md", "--lang", "en"], {"SEGUE_LANG": "ko"}, False),
        (["run", "PLAN.md"], {"SEGUE_LANG": "en", "LANG": "ko_KR.UTF-8"}, False),
    ],
)
def test_the_language_of_a_run(
    box: Box, args: list[str], env: dict[str, str], korean: bool
) -> None:
    """`--lang` before or after the command, then SEGUE_LANG, then the locale, else English."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    done = box.segue(*args, env=env)
    assert done.code == 0
    assert is_korean(done.said) is korean, done.said


@pytest.mark.parametrize(
    "command", [["status"], ["resume", "--status"], ["doctor"], ["plan", "PLAN.md"], []]
)
def test_every_command_speaks_korean(box: Box, command: list[str]) -> None:
    """What each command shows exists in Korean."""
    box.plan("- [ ] T-1: a\n  - retries: 0\n  - run: false\n")
    box.run()
    assert is_korean(box.segue("--lang", "ko", *command).out)


@pytest.mark.parametrize("command", ["run", "plan", "status", "resume", "doctor"])
def test_the_help_of_every_command_speaks_korean(box: Box, command: str) -> None:
    """`--help` exists in Korean."""
    assert is_korean(box.segue("--lang", "ko", command, "--help").out)


@pytest.mark.parametrize(
    "plan",
    [
        "- [ ] T-1: a\n  - deps: T-2\n",
        "- [ ] T-1: a\n- [ ] T-1: b\n",
        "nothing\n",
        "- [ ] T-1: a\n  - timeout: x\n",
    ],
)
def test_errors_speak_korean(box: Box, plan: str) -> None:
    """Message and hint of an error exist in Korean, in words and in JSON."""
    box.plan(plan)
    done = box.run("--lang", "ko")
    assert done.code == 2
    error = done.json["error"]
    assert is_korean(error["message"])
    assert is_korean(error["hint"])


def test_json_names_are_not_translated(box: Box) -> None:
    """Events and fields keep their names in Korean."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    done = box.run("--lang", "ko")
    assert done.tasks("task_completed") == ["T-1"]
    assert done.finished["completed"] == ["T-1"]


def test_an_unknown_language(box: Box) -> None:
    """A language that does not exist is bad usage."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    assert box.segue("run", "PLAN.md", "--lang", "xx").code == 2
