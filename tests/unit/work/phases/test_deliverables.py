"""Deliverables: found by globs, checked, compared with the round before, and put together."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.core.phases import Phase
from segue.errors import AgentError, UserError
from segue.work.phases import deliverables, matching, own_checks
from segue.work.phases.deliverables import (
    Deliverable,
    check,
    collect,
    diff,
    keep_round,
    write_zip,
)
from segue.work.phases.own_checks import placeholders

GOOD = "A plan that says what is to be done, by whom, and how we know that it is done.\n"


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def paths(folder: Path, *patterns: str) -> list[str]:
    return [item.path for item in collect(folder, patterns)]


def wanting(folder: Path, *patterns: str, min_chars: int = 0) -> list[str]:
    phase = Phase("p", patterns, min_chars)
    return check(phase, collect(folder, patterns), folder)


# --- found ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("docs/a.md", ["docs/a.md"]),
        ("./docs//a.md", ["docs/a.md"]),
        ("docs/*.md", ["docs/a.md", "docs/b.md"]),
        ("docs/?.md", ["docs/a.md", "docs/b.md"]),
        ("docs/[!a].md", ["docs/b.md"]),
        ("*.md", ["top.md"]),
        ("**/*.md", ["docs/a.md", "docs/b.md", "docs/deep/er/c.md", "top.md"]),
        ("docs/**/c.md", ["docs/deep/er/c.md"]),
        ("docs/**", ["docs/a.md", "docs/b.md", "docs/deep/er/c.md"]),
        ("docs", ["docs/.hidden", "docs/a.md", "docs/b.md", "docs/deep/er/c.md"]),
        ("docs/deep/", ["docs/deep/er/c.md"]),
        ("docs/.hidden", ["docs/.hidden"]),
        ("docs/.h*", ["docs/.hidden"]),
        ("DOCS/a.md", []),
        ("docs/a.md/x", []),
        ("none/*.md", []),
        ("../*", []),
        ("docs/../docs/a.md", []),
        ("/etc/passwd", []),
        ("/**", []),
        ("", []),
    ],
)
def test_what_a_glob_names(tmp_path: Path, pattern: str, found: list[str]) -> None:
    """As a shell would read it, from the workspace and never out of it."""
    put(
        tmp_path,
        **{"top.md": "1", "docs__a.md": "1", "docs__b.md": "2", "docs__deep__er__c.md": "3"},
    )
    put(tmp_path, **{"docs__.git__x.md": "no", ".git__x.md": "no", "docs__.hidden": "4"})
    assert paths(tmp_path, pattern) == found


def test_a_deliverable_is_told_with_size_and_checksum(tmp_path: Path) -> None:
    """Each file once, however many globs name it, in the order of their paths."""
    put(tmp_path, b="two", a="1")
    digest = hashlib.sha256(b"two").hexdigest()
    assert collect(tmp_path, ["b", "*", "b"])[1] == Deliverable("b", 3, digest)
    assert paths(tmp_path, "b", "*") == ["a", "b"]


def test_links_are_no_deliverables(tmp_path: Path) -> None:
    """Neither to files nor to folders, neither inside nor outside; a pipe is none, either."""
    outside, space = tmp_path / "outside", tmp_path / "space"
    put(outside, secret="s")
    put(space, docs__a="1")
    (space / "link").symlink_to(outside / "secret")
    (space / "docs" / "b").symlink_to("a")
    (space / "out").symlink_to(outside)
    os.mkfifo(space / "pipe")
    assert paths(space, "**/*", "link", "out/*", "out/secret", "docs/b", "pipe") == ["docs/a"]


def test_a_name_may_be_composed_in_two_ways(tmp_path: Path) -> None:
    """`é` as one character or as two is one name to people."""
    put(tmp_path, **{"re\u0301sume\u0301.md": "1"})
    assert paths(tmp_path, "r\u00e9*.md") == ["re\u0301sume\u0301.md"]


def test_a_workspace_that_is_gone_has_none(tmp_path: Path) -> None:
    """Nothing is raised: the check says what is not there."""
    assert collect(tmp_path / "gone", ["a", "*"]) == []
    assert wanting(tmp_path / "gone", "a") == ["a does not exist"]


def test_too_many_and_too_large_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent's million files cost neither memory nor an hour."""
    monkeypatch.setattr(deliverables, "FILES_MAX", 3)
    put(tmp_path, **{f"f{n}": "x" for n in range(9)})
    assert len(collect(tmp_path, ["*"])) == 4
    assert wanting(tmp_path, "*") == ["the deliverables match more than 3 files"]
    acts: list[Callable[[], object]] = [
        lambda: keep_round(tmp_path, tmp_path / "round", collect(tmp_path, ["*"])),
        lambda: write_zip(tmp_path / "x.zip", tmp_path, collect(tmp_path, ["*"])),
    ]
    for act in acts:
        with pytest.raises(AgentError, match="more than 3 files"):
            act()
    monkeypatch.setattr(deliverables, "FILES_MAX", 100)
    monkeypatch.setattr(deliverables, "BYTES_MAX", 2**20)
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**40)
    assert collect(tmp_path, ["huge"]) == [Deliverable("huge", 2**40, "")]
    assert wanting(tmp_path, "huge", "f1") == [
        "huge is too large: the limit for all files together is 1 MB"
    ]
    monkeypatch.setattr(matching, "LOOKED_AT_MAX", 5)
    assert len(collect(tmp_path, ["**/*"])) == 5


# --- checked ----------------------------------------------------------------------------------


def test_what_is_there_and_good_lacks_nothing(tmp_path: Path) -> None:
    """Several files, one of them not text."""
    put(tmp_path, **{"docs__a.md": GOOD, "docs__b.md": GOOD})
    (tmp_path / "docs" / "picture.png").write_bytes(b"\x89PNG\0\xff TODO")
    (tmp_path / "docs" / "data.txt").write_bytes(b"\0 TODO")
    assert (
        wanting(tmp_path, "docs/a.md", "docs/*.md", "docs/*.png", "docs/*.txt", min_chars=50) == []
    )


def test_what_is_wanting_is_named(tmp_path: Path) -> None:
    """Missing, empty, blank, too short: each in words, with the numbers."""
    put(tmp_path, empty="", blank=" \n\t\n", short="  short\n")
    assert wanting(tmp_path, "none.md", "empty", "blank", "short", min_chars=200) == [
        "none.md does not exist",
        "empty is empty",
        "blank is empty",
        "short is too short: 5 characters, at least 200 are required",
    ]
    assert wanting(tmp_path, "short", min_chars=5) == []
    assert wanting(tmp_path, "short", min_chars=6) != []


def test_characters_are_counted_not_bytes(tmp_path: Path) -> None:
    """Korean is not three times as long."""
    put(tmp_path, **{"a.md": "가" * 10})
    assert wanting(tmp_path, "a.md", min_chars=10) == []
    assert wanting(tmp_path, "a.md", min_chars=11) != []


def test_the_files_of_one_glob_count_together(tmp_path: Path) -> None:
    """An empty file among others (`__init__.py`) is no fault; all of them empty is one."""
    put(tmp_path, **{"src__init.py": "", "src__main.py": "print('hello')\n"})
    assert wanting(tmp_path, "src/**/*", min_chars=5) == []
    assert wanting(tmp_path, "src/i*", min_chars=1) == ["src/i* is empty"]


LEFT = [
    "TODO",
    "TODO: write this",
    "todo: write this",
    "TODO(kim): write this",
    "- [ ] TODO write the introduction",
    "## Risks (TODO)",
    "| cost | TBD |",
    "The date is tbd.",
    "Lorem ipsum dolor sit amet",
    "lorem IPSUM",
    "…to be written",
    "... to be written",
    "This chapter is to be written.",
    "Details will be added later",
    "(to be determined)",
    "<placeholder>",
    "[placeholder: name of the client]",
    "[TBD]",
    "[Insert summary here]",
    "<your text here>",
    "FIXME",
    "* todo",
    "추후 작성",
    "나중에 추가",
    "(작성 예정)",
    "여기에 입력",
]
NOT_LEFT = [
    "# TODO list application",
    "A TODO app for families",
    "# TODO LIST",
    "The todo is stored in a table",
    "Users can add a todo",
    "TODO 앱 설계",
    "TODO 목록을 보여준다",
    "Files are to be written to the disk",
    "The input shows a placeholder while it is empty",
    "Run `grep TODO` to find them",
    "`TBD`",
    "A ``<placeholder>`` in code",
    "Values will be determined by the server",
    "Method: todoist",
    "새 항목을 추가할 수 있다",
    "[here](https://example.org/add/here)",
    "Attbd",
]


@pytest.mark.parametrize("line", LEFT)
def test_a_placeholder_is_found(tmp_path: Path, line: str) -> None:
    """With its line, so that the agent knows what to write."""
    put(tmp_path, **{"a.md": f"{GOOD}\n{line}\n{GOOD}"})
    assert wanting(tmp_path, "a.md") == [f"a.md, line 3: contains a placeholder: {line}"]


@pytest.mark.parametrize("line", NOT_LEFT)
def test_ordinary_words_are_no_placeholders(line: str) -> None:
    """A to-do application can be planned, and code can be quoted."""
    assert placeholders(f"{GOOD}\n{line}\n") == []


def test_code_is_not_looked_at(tmp_path: Path) -> None:
    """Neither in fences of a document nor in files of code; behind a fence it is text again."""
    text = "```python\n# TODO: later\n~~~\n```\nTODO\n~~~~\nTBD\n~~~\nTBD\n~~~~\n\nTBD\n"
    assert [line for line, _ in placeholders(text)] == [5, 12]
    put(tmp_path, **{"a.py": "# TODO: make it faster\nprint(1)\n", "a.md": "```\nTBD\n"})
    assert wanting(tmp_path, "a.py", "a.md") == []


def test_many_placeholders_are_told_in_part(tmp_path: Path) -> None:
    """What goes back to the agent is bounded."""
    put(tmp_path, **{"a.md": "TODO\n" * 1000})
    reasons = wanting(tmp_path, "a.md")
    assert len(reasons) == own_checks.REASONS_MAX
    put(tmp_path, **{"a.md": "TODO " + "x" * 10_000})
    assert len(wanting(tmp_path, "a.md")[0]) < 200


@pytest.mark.parametrize("piece", ["<todo ", "[ ", "`", "to be ", "( todo", "[insert "])
def test_no_text_takes_long_to_look_through(piece: str) -> None:
    """A line of megabytes is looked at only as far as it matters."""
    started = time.process_time()
    placeholders(piece * (2_000_000 // len(piece)))
    assert time.process_time() - started < 2


# --- compared ---------------------------------------------------------------------------------


def test_a_round_is_kept_for_the_next(tmp_path: Path) -> None:
    """Copies of the files as they were, whatever the agent does to them then."""
    space, kept = tmp_path / "space", tmp_path / "rounds" / "1-1"
    put(space, docs__a="one\ntwo\n", b="x")
    found = collect(space, ["docs/*", "b"])
    keep_round(space, kept, found)
    put(space, docs__a="one\nthree\n")
    assert (kept / "docs" / "a").read_text() == "one\ntwo\n"
    assert [item.name for item in kept.parent.iterdir()] == ["1-1"]
    keep_round(space, kept, found)  # a second time it is there already
    changes = diff((kept / "docs/a").read_bytes(), (space / "docs/a").read_bytes(), "docs/a")
    assert changes.splitlines() == [
        "--- a/docs/a", "+++ b/docs/a", "@@ -1,2 +1,2 @@", " one", "-two", "+three",
    ]  # fmt: skip


@pytest.mark.parametrize("change", ["other", "gone", "link"])
def test_what_changed_since_is_not_kept(tmp_path: Path, change: str) -> None:
    """What a person is shown is what was checked: neither a round nor a ZIP has anything else."""
    space = tmp_path / "space"
    put(space, a="one", z="outside")
    found = collect(space, ["a"])
    (space / "a").unlink()
    if change == "other":
        put(space, a="two")
    elif change == "link":
        put(tmp_path, secret="one")
        (space / "a").symlink_to(tmp_path / "secret")
    acts: list[Callable[[], object]] = [
        lambda: keep_round(space, tmp_path / "rounds" / "1", found),
        lambda: write_zip(tmp_path / "zips" / "x.zip", space, found),
    ]
    for act in acts:
        with pytest.raises(AgentError, match="a has changed since"):
            act()
    assert not (tmp_path / "rounds" / "1").exists()
    assert list((tmp_path / "zips").iterdir()) == []


def test_a_diff_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large or binary files are said to have changed; a long diff is cut, and says so."""
    assert diff(b"same", b"same", "a") == ""
    assert (
        diff(b"\0", b"\1\0", "a.bin")
        == "a.bin changed; it is too large or not text, so the changes are not shown"
    )
    assert "too large" in diff(b"x" * 600_000, b"", "a")
    assert "too large" in diff(b"\n" * 5000, b"", "a")
    monkeypatch.setattr(deliverables, "DIFF_CHARS_MAX", 100)
    cut = diff(b"a\n" * 100, b"b\n" * 100, "a")
    assert len(cut) < 160
    assert cut.endswith("\n… more changes not shown")
    assert diff(b"\xff\n", b"\xfe ok\n", "a")


def test_a_new_and_a_removed_file_are_shown(tmp_path: Path) -> None:
    """From nothing, and to nothing."""
    assert "+new" in diff(b"", b"new", "a").splitlines()
    assert "-old" in diff(b"old", b"", "a").splitlines()


def test_a_diff_counts_the_lines_that_there_are() -> None:
    """A newline ends a line and begins none; one that is missing is shown as git does."""
    assert diff(b"a\nb\n", b"a\nc\n", "f").splitlines()[2:] == ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert diff(b"a", b"a\n", "f").splitlines()[3:] == ["-a", "\\ No newline at end of file", "+a"]


# --- put together -----------------------------------------------------------------------------


def test_a_zip_has_all_and_is_the_same_each_time(tmp_path: Path) -> None:
    """Whatever their dates, modes and order; names of any language; only its owner's."""
    space = tmp_path / "space"
    put(space, **{"docs__계획.md": GOOD, "b": "2" * 3_000_000, "empty": ""})
    found = collect(space, ["**/*"])
    write_zip(tmp_path / "one.zip", space, found)
    os.utime(space / "b", (0, 0))
    (space / "b").chmod(0o755)
    write_zip(tmp_path / "two.zip", space, list(reversed(found)))
    one = (tmp_path / "one.zip").read_bytes()
    assert one == (tmp_path / "two.zip").read_bytes()
    assert len(one) < 100_000
    with zipfile.ZipFile(tmp_path / "one.zip") as packed:
        assert packed.testzip() is None
        assert packed.namelist() == ["b", "docs/계획.md", "empty"]
        assert packed.read("docs/계획.md").decode() == GOOD
        assert packed.getinfo("b").external_attr >> 16 == 0o100644


def test_a_zip_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    """At once; a name that is no text does not stop it; nothing at all is a ZIP, too."""
    space, path = tmp_path / "space", tmp_path / "x.zip"
    put(space, a="1")
    (space / os.fsdecode(b"\xff.md")).write_text("2")
    path.write_text("older")
    write_zip(path, space, collect(space, ["*"]))
    with zipfile.ZipFile(path) as packed:
        assert len(packed.namelist()) == 2
    write_zip(path, space, [])
    with zipfile.ZipFile(path) as packed:
        assert packed.namelist() == []


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older ZIP stands, and nothing half-written is left."""
    put(tmp_path / "space", a="1")
    found = collect(tmp_path / "space", ["a"])
    write_zip(tmp_path / "zips" / "x.zip", tmp_path / "space", found)

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError) as told:
        write_zip(tmp_path / "zips" / "x.zip", tmp_path / "space", [])
    assert told.value.problem.code == "disk_full"
    with pytest.raises(UserError):
        keep_round(tmp_path / "space", tmp_path / "round", found)
    assert [path.name for path in (tmp_path / "zips").iterdir()] == ["x.zip"]
    with zipfile.ZipFile(tmp_path / "zips" / "x.zip") as packed:
        assert packed.namelist() == ["a"]
    assert not (tmp_path / "round").exists()


def test_a_killed_writer_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """Killed at its fsync, a ZIP and a round are not there; the next writer clears up."""
    put(tmp_path / "space", a="1")
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from segue.work.phases.deliverables import collect, keep_round, write_zip\n"
        "top = Path(sys.argv[1]); found = collect(top / 'space', ['a'])\n"
        "os.fsync = lambda fd: os.kill(os.getpid(), signal.SIGKILL)\n"
        "if sys.argv[2] == 'zip': write_zip(top / 'zips' / 'x.zip', top / 'space', found)\n"
        "else: keep_round(top / 'space', top / 'rounds' / '1', found)\n"
    )
    for what in ("zip", "round"):
        argv = [sys.executable, "-c", code, str(tmp_path), what]
        assert os.spawnv(os.P_WAIT, sys.executable, argv) == -signal.SIGKILL
    assert not (tmp_path / "zips" / "x.zip").exists()
    assert not (tmp_path / "rounds" / "1").exists()
    found = collect(tmp_path / "space", ["a"])
    write_zip(tmp_path / "zips" / "x.zip", tmp_path / "space", found)
    keep_round(tmp_path / "space", tmp_path / "rounds" / "1", found)
    assert [path.name for path in (tmp_path / "zips").iterdir()] == ["x.zip"]
    assert [path.name for path in (tmp_path / "rounds").iterdir()] == ["1"]
