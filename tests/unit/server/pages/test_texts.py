"""Text of others, made harmless for a page."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from segue.server.pages import texts
from segue.server.pages.texts import clipped, diff, is_markdown, markdown, output, shown, source


def test_what_is_shown_has_no_escapes_and_nothing_that_hides() -> None:
    assert shown("a\x1b]0;title\x07b\u202ec\u061cd") == "abcd"
    assert shown("두 줄\n그리고") == "두 줄\n그리고"


def test_values_that_are_no_text_and_our_own_markup_stay_as_they_are() -> None:
    made = Markup("<b>\x01</b>")
    assert (shown(None), shown(0), shown(1.5)) == ("", 0, 1.5)
    assert shown(made) is made


def test_a_clipped_text_says_so_and_is_no_longer_than_wanted() -> None:
    assert (clipped("abc", 3), clipped("abcd", 3)) == ("abc", "ab…")


def test_a_file_is_shown_by_lines_and_what_is_left_out_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The end of the last line is no line."""
    assert source("a\nb\n") == (["a", "b"], 0)
    assert source("") == ([], 0)
    assert source("\n\n") == (["", ""], 0)
    monkeypatch.setattr(texts, "LINES_MAX", 2)
    assert source("a\nb\nc\nd") == (["a", "b"], 2)


def test_lines_of_a_difference_are_told_apart() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n\\ No newline at end of file"
    kinds = [line.kind for line in diff(text)]
    assert kinds == ["file", "file", "place", "same", "removed", "added", "same"]


def test_a_line_that_looks_like_the_head_of_a_file_is_one_only_outside_of_hunks() -> None:
    """A removed comment of SQL begins with three dashes: it is shown as removed."""
    text = (
        "--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,2 @@\n--- old comment\n-b\n+++ c\n same\n"
        "--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+y"
    )
    first = ["file", "file", "place", "removed", "removed", "added", "same"]
    second = ["file", "file", "place", "added"]
    assert [line.kind for line in diff(text)] == first + second
    added_first = diff("@@ -1 +1,2 @@\n+a\n+b\n--- c")
    assert [line.kind for line in added_first] == ["place", "added", "added", "removed"]


def test_the_output_is_the_end_of_what_was_printed() -> None:
    """A first piece of a line that was cut is left out, unless it is all there is."""
    assert output(b"rt\r\n\x1b[32mwhole\x1b[0m\n", is_cut=True) == ["whole"]
    assert output(b"only", is_cut=True) == ["only"]
    assert output(b"a\n\nb\n", is_cut=False) == ["a", "", "b"]
    assert output(b"", is_cut=False) == []
    assert output(b"\xff\n", is_cut=False) == ["\ufffd"]


def test_markdown_is_known_by_its_name() -> None:
    assert is_markdown("docs/A.MD")
    assert is_markdown("a.markdown")
    assert not is_markdown("a.md.txt")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("###### deep", "<h6>deep</h6>"),
        ("| a |\n|---|\n| b |", "<td>b</td>"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("[a](HTTPS://e.example)", 'href="HTTPS://e.example"'),
        ("<javascript:alert(1)>", "&lt;javascript:alert(1)&gt;"),
        ("[a]: /logout\n\n[a]", "[a]"),
    ],
)
def test_a_document_becomes_a_page_without_anything_that_acts(text: str, wanted: str) -> None:
    assert wanted in str(markdown(text))


def test_a_document_that_is_too_long_is_no_page() -> None:
    assert markdown("x" * texts.MARKDOWN_CHARS_MAX) is not None
    assert markdown("x" * (texts.MARKDOWN_CHARS_MAX + 1)) is None
