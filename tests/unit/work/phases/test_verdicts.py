"""The verdict of a reviewer, in whatever it says around it."""

from __future__ import annotations

import pytest

from segue.work.phases.verdicts import verdict_in


@pytest.mark.parametrize(
    ("text", "is_pass", "reasons"),
    [
        ('{"verdict": "pass", "reasons": []}', True, ()),
        ('I read it.\n```json\n{"verdict": "fail",\n "reasons": ["no tests", "short"]}\n```', False,
         ("no tests", "short")),
        ('{"verdict": "fail", "reasons": []}\nNo, wait.\n{"verdict": "pass"}', True, ()),
        ("All good.\nVERDICT: PASS", True, ("All good.",)),
        ("The sum is wrong.\n\nMend it.\nVERDICT: FAIL", False, ("The sum is wrong.\nMend it.",)),
        ("verdict: fail - it lies", False, ("it lies",)),
        ('VERDICT: PASS\n{"verdict": "fail", "reasons": ["x"]}', False, ("x",)),
        ('{"verdict": "maybe"}\nVERDICT: PASS', True, ('{"verdict": "maybe"}',)),
        ('{"a": {"verdict": "pass"}}', True, ()),
    ],
)  # fmt: skip
def test_the_last_verdict_counts(text: str, is_pass: bool, reasons: tuple[str, ...]) -> None:
    """As a JSON object, also in a fence or over several lines, else as a line."""
    found = verdict_in(text.split("\n"))
    assert found is not None
    assert (found.is_pass, found.reasons) == (is_pass, reasons)


@pytest.mark.parametrize("text", ["", "It is fine.", '{"verdict": pass}', "{" * 5000])
def test_words_that_are_no_verdict(text: str) -> None:
    """A judge that says nothing has not judged."""
    assert verdict_in([text]) is None
