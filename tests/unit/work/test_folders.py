"""The folders in which work may lie."""

from __future__ import annotations

from pathlib import Path

from segue.work.folders import is_book, markdown_below


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("- [ ] T-1: a\n")


def test_markdown_is_found_breadth_first(tmp_path: Path) -> None:
    """Not in folders of tools, and nothing that a link leads to."""
    put(tmp_path, "a/deep/B.md", "A.MD", "a/C.md", "node_modules/x.md", ".git/y.md", "a/d.txt")
    (tmp_path / "link.md").symlink_to(tmp_path / "A.MD")
    found = [str(path.relative_to(tmp_path)) for path in markdown_below(tmp_path)]
    assert found == ["A.MD", "a/C.md", "a/deep/B.md"]


def test_the_chapters_of_a_book_are_text(tmp_path: Path) -> None:
    """What lies beside them may be a plan."""
    put(tmp_path, "chapters/one.md", "TODO.md")
    assert len(markdown_below(tmp_path)) == 2
    (tmp_path / "book.toml").write_text("chapters = 1")
    assert is_book(tmp_path)
    assert [path.name for path in markdown_below(tmp_path)] == ["TODO.md"]
