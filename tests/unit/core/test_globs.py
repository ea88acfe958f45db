"""When two globs could name the same path."""

from __future__ import annotations

import pytest

from segue.core.globs import globs_meet, literal_prefix, overlaps


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("src/api.py", "src/api.py"),
        ("src/", "src/api.py"),
        ("src", "src/deep/down.py"),
        ("src/*.py", "src/a*"),
        ("src/**", "src/a/b/c.py"),
        ("src/**", "src"),
        ("**/test_*.py", "tests/unit/test_a.py"),
        ("**/a/**/b", "x/a/y/z/b"),
        ("a/**/c", "a/c"),
        ("a*c", "*b*"),
        ("a?c", "ab*"),
        ("[abc]x", "[c-f]x"),
        ("[!a]x", "bx"),
        ("[^a]x", "[!b]x"),
        ("[]a]", "]"),
        ("[x", "[x"),
        ("./src/a.py", "src//a.py"),
        ("src/../lib", "lib/x"),
        (".", "any/thing"),
        ("*", ".hidden"),
        ("src/*/", "src/api/x.py"),
        ("*/tests", "api/tests/x.py"),
        ("[!]a]", "b"),
        ("v1.2", "v1.2/notes.md"),
        ("v1.2", "./v1.2/notes.md"),
        ("v1.2/", "**/notes.md"),
        (".github", "**/ci.yml"),
        ("한글/*.md", "한글/장.md"),
    ],
)
def test_globs_that_some_path_matches_both(a: str, b: str) -> None:
    """A path exists that both name, whichever comes first."""
    assert globs_meet(a, b)
    assert globs_meet(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("src/a.py", "src/b.py"),
        ("src", "srcs"),
        ("src/", "lib/src"),
        ("src/*.py", "src/*.md"),
        ("src/*.py", "src/a/b.py"),
        ("src/*", "src/api/x.py"),
        ("*", "src/a.py"),
        ("a?c", "ac"),
        ("a?c", "abbc"),
        ("[ab]x", "[c-f]x"),
        ("[!a]x", "ax"),
        ("[!]]", "]"),
        ("[!a-cb]", "c"),
        ("**/a.py", "src/b.py"),
        ("a/**/c/*.py", "a/*/c/*.md"),
        ("*a", "*b"),
        ("A", "a"),
    ],
)
def test_globs_that_no_path_matches_both(a: str, b: str) -> None:
    """No path can be named by both, whichever comes first."""
    assert not globs_meet(a, b)
    assert not globs_meet(b, a)


def test_lists_overlap_where_any_two_globs_meet() -> None:
    """One common path is enough, and no files overlap with nothing."""
    assert overlaps(["docs/", "src/*.py"], ["lib/", "src/a.py"])
    assert not overlaps(["docs/"], ["lib/", "src/a.py"])
    assert not overlaps([], ["**"])


def test_the_literal_prefix_ends_at_the_first_wildcard() -> None:
    """Only whole segments without wildcards count."""
    assert literal_prefix("src/api/*.py") == ("src", "api")
    assert literal_prefix("src/a?/x") == ("src",)
    assert literal_prefix("**/x") == ()


def test_many_stars_do_not_explode() -> None:
    """Globs that would keep a backtracking matcher busy for ever are settled at once."""
    assert not globs_meet("a*" * 40 + "b", "*a" * 40 + "c")
    assert not globs_meet("**/x/" * 40 + "b.py", "**/x/" * 40 + "c.py")
