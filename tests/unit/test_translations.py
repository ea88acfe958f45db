"""The Korean catalogue: complete, in step with the code, and true to the original."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from types import ModuleType

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from segue import i18n
from segue.core.plan import Task, TaskState
from segue.engine.plan.questions import failed_question

ROOT = Path(__file__).parents[2]
PO = i18n.LOCALE_DIR / "ko" / "LC_MESSAGES" / "segue.po"
OLD_STYLE = re.compile(r"%\((\w+)\)[a-z]")


@pytest.fixture
def in_korean() -> Iterator[None]:
    i18n.use("ko")
    yield
    i18n.use("en")


@pytest.fixture(scope="module")
def translate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translate", ROOT / "scripts" / "translate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def messages() -> list[Message]:
    with PO.open("rb") as file:
        return [message for message in read_po(file, locale="ko") if message.id]


def source_of(message: Message) -> str:
    """The English text; of a plural the form for many, as Korean has one form for all."""
    return message.id if isinstance(message.id, str) else message.id[-1]


def texts_of(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def placeholders(text: str) -> set[str]:
    named = {name for _text, name, _spec, _conversion in Formatter().parse(text) if name}
    return named | set(OLD_STYLE.findall(text))


def test_every_text_is_translated() -> None:
    """No text of the code, or of click, is left in English or marked as a guess."""
    wanting = [
        message.id
        for message in messages()
        if message.fuzzy or not texts_of(message) or not all(texts_of(message))
    ]
    assert wanting == []


def test_placeholders_are_kept() -> None:
    """A translation takes the very values that its original takes."""
    wrong = [
        (message.id, text)
        for message in messages()
        for text in texts_of(message)
        if placeholders(text) != placeholders(source_of(message))
    ]
    assert wrong == []


def test_white_space_around_a_text_is_kept() -> None:
    """What is put before or behind another text begins and ends as in English."""
    wrong = [
        message.id
        for message in messages()
        for text in texts_of(message)
        if len(text) - len(text.lstrip())
        != len(source_of(message)) - len(source_of(message).lstrip())
        or text != text.rstrip()
    ]
    assert wrong == []


def test_the_catalogue_is_in_step_with_the_code(translate: ModuleType) -> None:
    """The .po file has exactly the texts of the code, and the .mo file is compiled from it."""
    text, compiled = translate.update(PO, translate.collect())
    assert PO.read_text(encoding="utf-8") == text
    assert PO.with_suffix(".mo").read_bytes() == compiled


@pytest.mark.usefixtures("in_korean")
def test_the_question_of_the_original() -> None:
    """The question about a failed task is, in Korean, the original's to the letter."""
    task = Task(
        "T-003",
        "API 구현",
        state=TaskState.FAILED,
        previous_error="npm test 실패",
        retries_used=2,
    )
    assert failed_question(task, None) == (
        "⚠️ 실패한 태스크 발견:\n"
        "\n"
        "T-003: API 구현\n"
        "  - 에러: npm test 실패\n"
        "  - 시도: 2/2회\n"
        "\n"
        "선택:\n"
        "[1] 재시도 - 다시 실행 (시도 횟수 리셋)\n"
        "[2] 스킵 - 건너뛰기 (의존 태스크도 스킵)\n"
        "[3] 수정 후 재시도 - 직접 수정 후 계속"
    )


@pytest.mark.usefixtures("in_korean")
def test_a_plural_is_found() -> None:
    """Texts that count are looked up in Korean for one as for many."""
    for n in (1, 2):
        text = i18n.ngettext("waited for {n} limit", "waited for {n} limits", n)
        assert text.format(n=n) == f"한도 대기 {n}번"
