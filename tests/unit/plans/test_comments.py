"""Error texts in comments, and reading them back."""

from __future__ import annotations

import pytest

from segue.plans.comments import ERROR_CHARS_MAX, Remark, one_line, read_comment


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("npm test failed", "npm test failed"),
        ("a\nb\r\nc\td", "a b c d"),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\x00h", "a b c d e f g h"),
        ("  many   spaces \N{IDEOGRAPHIC SPACE} here ", "many spaces here"),
        ("a --> b", "a -- > b"),
        ("a --!> b ---->", "a -- !> b ---- >"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07end \x1b(B.", "red end ."),
        ("\ud800 alone", "? alone"),
    ],
)
def test_an_error_is_one_harmless_line(text: str, shown: str) -> None:
    """Line breaks, escape sequences and comment ends are taken out of an error text."""
    assert one_line(text) == shown


def test_a_long_error_is_cut() -> None:
    """An error is at most 400 characters long, and shows that it was cut."""
    shown = one_line("x" * 5000)
    assert len(shown) == ERROR_CHARS_MAX
    assert shown.endswith("x…")
    assert one_line("y" * ERROR_CHARS_MAX) == "y" * ERROR_CHARS_MAX


def test_an_error_without_words_is_still_an_error() -> None:
    """An empty error is written as an unknown one."""
    assert one_line(" \n", "en") == "unknown"
    assert one_line("", "ko") == "알 수 없음"


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("<!-- previous error: a: b -->", Remark(error="a: b")),
        ("<!--Previous Error：a-->", Remark(error="a")),
        ("<!-- 이전 에러: 실패 -->  ", Remark(error="실패")),
        ("<!-- previous error: -->", Remark()),
        ("<!-- retries: 1/2 -->", Remark(retries_used=1)),
        ("<!-- 재시도: 3/2 (한도 초과) -->", Remark(retries_used=3)),
        ("<!-- retries: 0 / 2 [x] -->", Remark(retries_used=0)),
        ("<!-- retries: many -->", None),
        ("<!-- retries: 1/2 -- > -->", None),
        ("<!-- previous error: a --> b -->", None),
        ("<!-- previous error: a --> b", None),
        ("<!-- previous error: a", None),
        ("<!-- the previous error: a -->", None),
        ("<!-->", None),
    ],
)
def test_comments_are_read_in_both_languages(line: str, remark: Remark | None) -> None:
    """Segue's comments are known by their whole line; any other comment is the user's."""
    assert read_comment(line.encode()) == remark
