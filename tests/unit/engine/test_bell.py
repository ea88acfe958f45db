"""The bell file: it is replaced at each ring, and never followed elsewhere."""

from __future__ import annotations

from pathlib import Path

from segue.engine import bell


def test_each_ring_is_another_file(tmp_path: Path) -> None:
    """So that a look tells, where there is no inotify; nothing else is left in the folder."""
    bell.ring(tmp_path)
    first = (tmp_path / bell.NAME).stat()
    kept = (tmp_path / bell.NAME).open("rb")  # its inode is not used again meanwhile
    bell.ring(tmp_path)
    assert (tmp_path / bell.NAME).stat().st_ino != first.st_ino
    kept.close()
    assert [path.name for path in tmp_path.iterdir()] == [bell.NAME]


def test_a_link_in_its_place_is_replaced(tmp_path: Path) -> None:
    """What it points to keeps its content."""
    target = tmp_path / "precious"
    target.write_text("kept")
    folder = tmp_path / "bell"
    folder.mkdir()
    (folder / bell.NAME).symlink_to(target)
    bell.ring(folder)
    assert target.read_text() == "kept"
    assert not (folder / bell.NAME).is_symlink()


def test_nobody_hears_it_where_there_is_no_folder(tmp_path: Path) -> None:
    """No owner has ever run here: nothing fails."""
    bell.ring(tmp_path / "none")
