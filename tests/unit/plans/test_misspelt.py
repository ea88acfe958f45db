"""Fields that are nearly spelt right: errors, and never a surprise for ordinary prose."""

from __future__ import annotations

import pytest

from segue.plans.check import check
from segue.plans.tasklist import Document


def problems_of(bullet: str) -> list[tuple[str, int | None, str | None]]:
    document = Document.parse(f"- [ ] T-001: a\n- [ ] T-002: b\n  - {bullet}\n".encode())
    return [(one.code, one.line, one.hint) for one in check(document)]


@pytest.mark.parametrize(
    ("bullet", "meant"),
    [
        ("verfiy: false", "verify"),
        ("Verifiy: `make test`", "verify"),
        ("**verfy**: make", "verify"),
        ("**verfy:** make", "verify"),
        ("blokced by: T-001", "blocked by"),
        ("bloked-by: T-001", "blocked by"),
        ("blocked bye: T-001", "blocked by"),
        ("blocked: T-001", "blocked by"),
        ("depnds: T-001", "depends"),
        ("depend: T-001", "depends"),
        ("depends one: T-001", "depends on"),
        ("dependancies: T-001", "dependencies"),
        ("dependency: T-001, T-003", "dependencies"),
        ("agnet: codex", "agent"),
        ("fiels: src/**", "files"),
        ("rnu: make", "run"),
        ("timout: 5m", "timeout"),
        ("time-out: 5m", "timeout"),
        ("retrys: 3", "retries"),
        ("retry: 3", "retries"),
        ("prioirty: high", "priority"),
        ("resmue: fresh", "resume"),
        ("검즘: make", "검증"),
        ("선헹: T-001", "선행"),
        ("의존선: T-001", "의존성"),
        ("에이젼트: codex", "에이전트"),
        ("제시도: 1", "재시도"),
        ("우선순의: 높음", "우선순위"),
        ("실헹: make", "실행"),
        ("제한 시감: 5m", "제한 시간"),
    ],
)
def test_a_misspelt_field_is_an_error(bullet: str, meant: str) -> None:
    """A key close to a field's is refused with its line and the field that was meant."""
    [(code, line, hint)] = problems_of(bullet)
    assert (code, line) == ("unknown_field", 3)
    assert hint is not None and f"`{meant}" in hint


@pytest.mark.parametrize(
    "word",
    [
        "note", "goal", "why", "context", "see", "hint", "file", "step", "steps to take", "agents",
        "result", "results", "details", "entries", "series", "replies", "retires", "returns",
        "reviews", "rewrites", "depend", "demands", "time", "timeline", "times", "title", "tests",
        "test", "turn", "fun", "runs", "sun", "owner", "priorities", "property", "verified",
        "verifies", "notify", "fields", "filters", "tiles", "fixes", "urgent", "agenda", "blocked",
        "blocks", "blocker", "resumes", "retry", "done when", "estimate", "input", "output",
        "참고", "메모", "목표", "이유", "직업", "시행", "선형", "선생", "검정", "과일", "타일", "대개",
        "단게", "시간", "실행 방법", "검증 방법", "우선", "재시험", "파일명", "http", "API", "T-003",
    ],
)  # fmt: skip
def test_ordinary_words_stay_prose(word: str) -> None:
    """A sentence that begins with a word and a colon is text for the agent, not an error."""
    assert problems_of(f"{word}: the login page is slow, see the log") == []


def test_it_is_found_wherever_a_field_can_stand() -> None:
    """In the task's own line, as plain text below it, and in the front matter."""
    text = (
        "---\nretreis: 3\ntitle: x\n---\n- [ ] T-001: a\n"
        "- [ ] T-002: b (blokced-by: T-001) (see: x)\n  verfiy: make\n"
    )
    found = [(one.code, one.line) for one in check(Document.parse(text.encode()))]
    assert found == [("unknown_field", 2), ("unknown_field", 6), ("unknown_field", 7)]


def test_it_is_not_looked_for_where_no_field_stands() -> None:
    """Fences, comments, quotes, sub-steps and bullets below bullets are text."""
    text = (
        "- [ ] T-001: a\n  - notes\n    - verfiy: x\n  - [ ] verfiy: x\n  > verfiy: x\n"
        "  <!-- verfiy: x -->\n  ```\n  verfiy: x\n  ```\n\nverfiy: x\n- verfiy: x\n"
    )
    assert check(Document.parse(text.encode())) == []


def test_other_words_are_noted() -> None:
    """What looks like a field and is none is listed, so that nobody takes it for one."""
    text = (
        "- [ ] T-001: a\n  - note: keep it small\n  - **Goal:** speed\n  - verify: true\n"
        "  - see https://example.org/\n  - a sentence that is much too long to be one: yes\n"
        "  - 참고： 로그\n  - steps: first this\n    - note: nested\n"
    )
    notes = Document.parse(text.encode()).notes
    assert [(note.line, note.word, note.text) for note in notes] == [
        (2, "note", "keep it small"),
        (3, "Goal", "speed"),
        (7, "참고", "로그"),
        (8, "steps", "first this"),
    ]


@pytest.mark.parametrize("key", ["dependencies", "blocked by", "depends on"])
def test_two_letters_that_the_field_has_nowhere_are_seen_through(key: str) -> None:
    """Most words are told apart by their letters alone; these are near enough."""
    wrong = key[:3] + "q" + key[4:6] + "z" + key[7:]
    assert problems_of(f"{wrong}: T-001")[0][0] == "unknown_field"
