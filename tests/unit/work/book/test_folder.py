"""A book's folder: chapters and their names, the state with backups, texts that are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segue.core.book import BookState
from segue.errors import UserError
from segue.plans.book_state import DamagedError, NewerError, render, render_reset
from segue.store import files
from segue.work.book.folder import BACKUPS_KEPT, BookFolder, free, in_seconds, stamp

NOW = datetime(2026, 3, 1, 12, 0, 0, 123, tzinfo=UTC)


calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


def chapters(folder: BookFolder, *names: str) -> None:
    folder.chapters.mkdir(exist_ok=True)
    for name in names:
        (folder.chapters / name).write_text(f"text of {name}")


def saved(folder: BookFolder, count: int) -> None:
    for number in range(count):
        state = BookState("night", 3, iteration=number)
        folder.save(render(state), NOW + timedelta(seconds=number))


# Chapters


def test_chapters_are_found_by_their_numbers(folder: BookFolder) -> None:
    """Nothing that only looks like one."""
    chapters(
        folder, "chapter_1.md", "chapter_02.md", "chapter_010.md", "chapter_0.md", "chapter_x.md",
        "chapter_3.txt", "chapter_4.md.half-20260301", "Chapter_5.md", "chapter_-6.md",
    )  # fmt: skip
    (folder.chapters / "chapter_7.md").mkdir()
    assert {n: path.name for n, path in folder.chapter_files().items()} == {
        1: "chapter_1.md",
        2: "chapter_02.md",
        10: "chapter_010.md",
    }


@pytest.mark.parametrize(
    ("there", "number", "name"),
    [
        ((), 1, "chapter_1.md"),
        (("chapter_1.md",), 2, "chapter_2.md"),
        (("chapter_001.md",), 2, "chapter_002.md"),
        (("chapter_001.md",), 1, "chapter_001.md"),
        (("chapter_001.md",), 1234, "chapter_1234.md"),
        (("chapter_01.md", "chapter_10.md"), 11, "chapter_11.md"),
        (("chapter_01.md",), 2, "chapter_02.md"),
        (("chapter_1.md", "chapter_10.md"), 2, "chapter_2.md"),
    ],
)
def test_zeros_before_a_number_are_kept_where_the_folder_has_them(
    folder: BookFolder, there: tuple[str, ...], number: int, name: str
) -> None:
    """A chapter that is there is where it is."""
    chapters(folder, *there)
    assert folder.chapter(number) == folder.chapters / name


@calm
@given(st.integers(1, 10**6), st.integers(1, 8))
def test_the_name_of_a_chapter_leads_back_to_its_number(number: int, width: int) -> None:
    """Whatever the zeros."""
    from segue.work.book.folder import _CHAPTER

    match = _CHAPTER.fullmatch(f"chapter_{number:0{width}d}.md")
    assert match is not None
    assert int(match[2]) == number


def test_half_a_chapter_is_one_with_a_file_that_nobody_settled(folder: BookFolder) -> None:
    """Neither completed nor given up, and a chapter of this book."""
    chapters(folder, "chapter_1.md", "chapter_2.md", "chapter_3.md", "chapter_9.md")
    state = BookState("night", 4, completed_chapters=(1,), failed_chapters=(2,))
    assert folder.half_chapters(state) == [3]


def test_texts_are_told_apart_by_their_hash(folder: BookFolder) -> None:
    """A chapter without a file, and one that is blank, have no text."""
    chapters(folder, "chapter_02.md", "chapter_03.md", "chapter_04.md")
    folder.chapter(3).write_text("another")
    folder.chapter(4).write_text(" \n")
    texts = folder.texts((1, 2, 3, 4))
    assert sorted(texts) == [2, 3]
    assert texts[2] != texts[3]
    assert (folder.text(2), folder.text(1)) == (texts[2], None)


def test_a_chapter_that_cannot_be_read_is_told_and_not_taken_for_missing(
    folder: BookFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its path."""
    chapters(folder, "chapter_1.md")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UserError) as caught:
        folder.text(1)
    assert str(caught.value.problem.file).endswith("chapter_1.md")


def test_a_text_that_makes_room_is_kept_beside(folder: BookFolder) -> None:
    """As often as it happens, even in the same instant; nothing is overwritten."""
    for number in range(3):
        chapters(folder, "chapter_1.md")
        (folder.chapters / "chapter_1.md").write_text(str(number))
        kept = folder.keep_beside(1, NOW)
        assert kept is not None
        assert kept.read_text() == str(number)
    assert folder.keep_beside(1, NOW) is None
    assert sorted(path.read_text() for path in folder.chapters.iterdir()) == ["0", "1", "2"]
    assert folder.chapter_files() == {}


def test_a_draft_is_copied_before_it_is_revised(folder: BookFolder) -> None:
    """It stays where it is; copies do not overwrite each other."""
    folder.keep_draft(1, 1)
    assert not folder.drafts.exists()
    chapters(folder, "chapter_001.md")
    folder.keep_draft(1, 1)
    folder.keep_draft(1, 1)
    assert (folder.chapters / "chapter_001.md").exists()
    names = sorted(path.name for path in folder.drafts.iterdir())
    assert names == ["chapter_001.draft-1-2.md", "chapter_001.draft-1.md"]


# The state


def test_no_state_is_none_and_no_damage(folder: BookFolder) -> None:
    """The folder may not even be there."""
    assert folder.load() is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]"])
def test_a_damaged_state_is_told_as_such(folder: BookFolder, data: bytes) -> None:
    """And a newer one as newer."""
    folder.meta.mkdir()
    folder.state_file.write_bytes(data)
    with pytest.raises(DamagedError):
        folder.load()
    folder.state_file.write_bytes(b'{"schema_version": 9}')
    with pytest.raises(NewerError):
        folder.load()


def test_a_state_that_is_a_folder_is_damage(folder: BookFolder) -> None:
    """Not a fault of Segue."""
    folder.state_file.mkdir(parents=True)
    with pytest.raises(DamagedError):
        folder.load()


def test_a_checkpoint_has_its_backup_before_its_state(
    folder: BookFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever dies, one of the two can be read."""
    seen: list[str] = []
    replace = files.replace

    def watched(path: Path, data: bytes) -> None:
        seen.append(path.parent.name)
        replace(path, data)

    monkeypatch.setattr(files, "replace", watched)
    saved(folder, 1)
    assert seen == ["backups", "meta"]
    (backup,) = folder.backups_newest_first()
    assert backup.name == "ralph-state-20260301T120000.000123Z.json"
    assert backup.read_bytes() == folder.state_file.read_bytes()


def test_the_newest_ten_backups_are_kept(folder: BookFolder) -> None:
    """The oldest go; what has another name stays."""
    saved(folder, 1)
    other = folder.backups / "notes.txt"
    other.write_text("mine")
    saved(folder, BACKUPS_KEPT + 5)
    backups = folder.backups_newest_first()
    assert len(backups) == BACKUPS_KEPT
    assert [path.name for path in backups] == sorted((p.name for p in backups), reverse=True)
    assert f"{NOW + timedelta(seconds=BACKUPS_KEPT + 4):%H%M%S}" in backups[0].name
    assert other.exists()


def test_backups_with_other_stamps_are_ordered_by_time(folder: BookFolder) -> None:
    """Other tools write them with dashes and colons."""
    folder.backups.mkdir(parents=True)
    names = [
        "ralph-state-2026-03-01T12:00:00Z.json",
        "ralph-state-20260301T110000.000000Z.json",
        "ralph-state-2026-02-28.json",
        "ralph-state-old.json",
    ]
    for name in reversed(names):
        (folder.backups / name).write_text("{}")
    assert [path.name for path in folder.backups_newest_first()] == names


def test_a_backup_that_leads_nowhere_stops_nothing(folder: BookFolder) -> None:
    """A link whose file is gone."""
    saved(folder, 1)
    (folder.backups / "ralph-state-2027.json").symlink_to("nowhere")
    found = folder.newest_valid_backup()
    assert found is not None
    assert found[1].project_id == "night"


def test_the_newest_backup_that_can_be_read_is_taken(folder: BookFolder) -> None:
    """Not a damaged one, not one of a newer Segue, not what a reset wrote."""
    saved(folder, 3)
    for hour, data in ((13, b"{"), (14, b'{"schema_version": 9}'), (15, render_reset("x"))):
        (folder.backups / f"ralph-state-20260301T{hour}0000.000000Z.json").write_bytes(data)
    found = folder.newest_valid_backup()
    assert found is not None
    assert found[1].iteration == 2
    assert "120002" in found[0].name


def test_without_a_valid_backup_there_is_none(folder: BookFolder) -> None:
    """No folder, or nothing in it."""
    assert folder.newest_valid_backup() is None
    folder.backups.mkdir(parents=True)
    (folder.backups / "ralph-state-1.json").write_text("x")
    assert folder.newest_valid_backup() is None


def test_any_state_can_be_backed_up_as_it_is(folder: BookFolder) -> None:
    """Readable or not; twice in an instant are two."""
    assert folder.back_up(NOW) is None
    folder.meta.mkdir()
    folder.state_file.write_bytes(b"{ broken")
    first, second = folder.back_up(NOW), folder.back_up(NOW)
    assert first is not None
    assert second is not None
    assert first != second
    assert first.read_bytes() == second.read_bytes() == b"{ broken"


def test_a_damaged_state_is_kept_under_a_name_that_says_so(folder: BookFolder) -> None:
    """And stays where it was until something takes its place."""
    folder.meta.mkdir()
    folder.state_file.write_bytes(b"{ broken")
    kept = folder.put_damaged_aside(NOW)
    assert kept.name == "ralph-state.corrupt-20260301T120000.000123Z.json"
    assert kept.read_bytes() == folder.state_file.read_bytes() == b"{ broken"
    assert folder.put_damaged_aside(NOW) != kept


def test_a_place_that_cannot_be_written_is_told_in_words(folder: BookFolder) -> None:
    """A file where the folder of backups should be."""
    folder.meta.mkdir()
    folder.backups.write_text("a file")
    with pytest.raises(UserError) as caught:
        saved(folder, 1)
    assert caught.value.problem.file == str(folder.state_file)


def test_what_others_keep_is_read_from_the_file(folder: BookFolder) -> None:
    """Nothing where there is no state, a damaged one, or what a reset wrote."""
    assert folder.fields_of_others() is None
    folder.meta.mkdir()
    for data in (b"{", b'{"schema_version": 9}', render_reset("x")):
        folder.state_file.write_bytes(data)
        assert folder.fields_of_others() is None
    folder.state_file.write_bytes(b'{"total_chapters": 1, "x": 2, "circuit_breaker": {"y": 3}}')
    assert folder.fields_of_others() == ({"x": 2}, {"y": 3})


# Names and times


def test_instants_are_written_in_utc(folder: BookFolder) -> None:
    """Whatever the zone they come from."""
    seoul = NOW.astimezone(tz=datetime.fromisoformat("2026-03-01T00:00:00+09:00").tzinfo)
    assert in_seconds(seoul) == "2026-03-01T12:00:00Z"
    assert stamp(NOW) == "20260301T120000.000123Z"


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    """Also by a link that leads nowhere."""
    path = tmp_path / "a.json"
    assert free(path) == path
    path.symlink_to("nowhere")
    assert free(path) == tmp_path / "a-2.json"
    (tmp_path / "a-2.json").touch()
    assert free(path) == tmp_path / "a-3.json"


def test_wisdom_is_what_ends_with_md(folder: BookFolder) -> None:
    """Files only, in order."""
    assert folder.wisdom_files() == []
    folder.wisdom.mkdir(parents=True)
    for name in ("b.md", "a.md", "c.txt"):
        (folder.wisdom / name).touch()
    (folder.wisdom / "d.md").mkdir()
    assert [path.name for path in folder.wisdom_files()] == ["a.md", "b.md"]
