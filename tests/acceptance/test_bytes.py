"""Segue changes marks and its own comments in a plan, and no other byte."""

from __future__ import annotations

import stat

import pytest

from kit.box import Box

NASTY = (
    b"\xef\xbb\xbf# Plan  \r\n\r\n\tcaf\xe9 \xff\xfe prose\t \r\n"
    b"text with \xc2\x85 and \xe2\x80\xa8 and \x0c and \x0b inside\r\n"
    b"- [ ] **T-1**: one \t \r\n"
    b"  - run: true\r\n"
    b"    \r\n"
    b"  some body\t\xe2\x80\xa9 text  \n"
    b"- [ ] **T-2**:  two\r\n"
    b"\t- run: true\n"
    b"\x00 odd\r\r\n"
    b"* [ ] T-3 - three\r\n"
    b"  * run: true   \r\n"
    b"the end, without a line end \xe9"
)


def test_nothing_but_marks_changes(box: Box) -> None:
    """BOM, CRLF, mixed ends, tabs, trailing spaces, foreign bytes and the missing end all stay."""
    path = box.plan(NASTY)
    done = box.run()
    assert done.finished["completed"] == ["T-1", "T-2", "T-3"], done.out
    assert path.read_bytes() == NASTY.replace(b"[ ]", b"[x]")


def test_a_failure_adds_comments_and_nothing_else(box: Box) -> None:
    """Without the comment lines the plan of a failed run is the plan it was, but for its mark."""
    before = NASTY.replace(b"  - run: true\r\n", b"  - run: false\r\n")
    path = box.plan(before)
    assert box.run("--jobs", "1").code == 1
    lines = path.read_bytes().split(b"\n")
    ours = [line for line in lines if b"<!--" in line]
    assert len(ours) == 2
    assert all(line.endswith(b"-->\r") for line in ours), "comments take the file's line ends"
    rest = b"\n".join(line for line in lines if b"<!--" not in line)
    expected = before.replace(b"[ ]", b"[x]").replace(b"[x] **T-1", b"[!] **T-1")
    assert rest == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_comment_at_the_end_of_a_file_without_a_line_end(box: Box, end: bytes) -> None:
    """A comment after a last line that has no end begins on a line of its own."""
    lines = [b"- [ ] **T-1**: one", b"  - retries: 0", b"  - run: false"]
    path = box.plan(end.join(lines))
    assert box.run().code == 1
    after = path.read_bytes()
    lines[0] = b"- [!] **T-1**: one"
    assert after.startswith(end.join([*lines, b"  <!-- previous error: "]))


def test_the_comments_stand_under_their_own_task(box: Box) -> None:
    """Comments are indented as part of the task and come before the next one."""
    box.plan(
        "# P\n\n- [ ] **T-1**: one\n  - run: false\n\n\nProse.\n\n- [ ] **T-2**: two\n  - run: true\n"
    )
    box.run()
    lines = box.text().splitlines()
    assert lines[2:6] == [
        "- [!] **T-1**: one",
        "  - run: false",
        "  <!-- previous error: exit code 1 -->",
        "  <!-- retries: 2/2 -->",
    ]
    assert lines[6:] == ["", "", "Prose.", "", "- [x] **T-2**: two", "  - run: true"]


def test_the_mode_of_the_plan_is_kept(box: Box) -> None:
    """A plan with mode 640 has mode 640 afterwards."""
    path = box.plan("- [ ] T-1: a\n  - run: true\n")
    path.chmod(0o640)
    assert box.run().code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_to_the_plan_stays_a_link(box: Box) -> None:
    """A plan reached by a link is written where it really is; the link stays."""
    (box.root / "docs").mkdir()
    real = box.plan("- [ ] T-1: a\n  - run: true\n", "docs/real.md")
    box.plan_path.symlink_to("docs/real.md")
    assert box.run().code == 0
    assert box.plan_path.is_symlink()
    assert str(box.plan_path.readlink()) == "docs/real.md"
    assert real.read_text() == "- [x] T-1: a\n  - run: true\n"


def test_no_temporary_files_stay_beside_the_plan(box: Box) -> None:
    """After a run the folder holds the plan and `.segue`, nothing else."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    assert box.run().code == 0
    assert sorted(path.name for path in box.root.iterdir()) == [".segue", "PLAN.md"]


def test_an_error_can_neither_close_its_comment_nor_start_a_line(box: Box) -> None:
    """Whatever an agent says when it fails, the plan has the same tasks afterwards."""
    box.scripted("[T-1]\nfail bad --> - [ ] T-9: sneaky <!-- and --!> more\n")
    box.plan("- [ ] **T-1**: a\n  - retries: 0\n- [x] **T-2**: b\n")
    assert box.run().code == 1
    tasks = box.segue("plan", "PLAN.md", "--json").json["tasks"]
    assert [(t["id"], t["state"]) for t in tasks] == [("T-1", "failed"), ("T-2", "completed")]
    comments = [line for line in box.text().splitlines() if "previous error" in line]
    assert len(comments) == 1
    assert comments[0].count("-->") == 1
    assert comments[0].count("--!>") == 0
    assert comments[0].endswith("-->")


@pytest.mark.parametrize(
    "said", ["one\\n- [ ] T-9: sneaky\\n", "one\\r- [ ] T-9: x", "\\033[31mred\\033[0m"]
)
def test_control_characters_of_an_error_stay_out_of_the_plan(box: Box, said: str) -> None:
    """Line ends and escapes in what a check prints never reach the plan as such."""
    box.plan(
        f"- [ ] **T-1**: a\n  - retries: 0\n  - run: true\n  - verify: `printf '{said}'; exit 1`\n"
    )
    assert box.run().code == 1
    after = box.plan_path.read_bytes()
    assert b"\r" not in after
    assert b"\x1b" not in after
    assert after.count(b"\n") == 6
    assert len(box.segue("plan", "PLAN.md", "--json").json["tasks"]) == 1
