"""`segue resume`: what is said once, and what programs get."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.cli.main import main
from segue.engine.locks import lock_path
from segue.store.lock import Lock
from segue.work.project import Project

BOOK = 'title = "Night"\nchapters = 3\nwriter = "pen"\n'
BEGUN = {
    "project_id": "Night",
    "ralph_active": True,
    "can_resume": True,
    "current_chapter": 2,
    "completed_chapters": [1],
}
FEATURE = (
    'phase: DESIGN\nfeature: "chat"\n'
    'started_at: "2026-02-16T10:00:00"\nupdated_at: "2026-02-16T11:30:00"\n'
)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """English, in an empty folder."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SEGUE_LANG", "en")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def resume(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """The exit code, what was printed, what was told beside it."""
    with pytest.raises(SystemExit) as caught:
        main(["resume", *args])
    told = capsys.readouterr()
    assert isinstance(caught.value.code, int)
    return caught.value.code, told.out, told.err


def plan() -> Path:
    path = Path.cwd() / "PLAN.md"
    path.write_text("- [x] T-1: a\n- [~] T-2: b\n  - run: true\n")
    return path


def book(state: str) -> Path:
    Path("book.toml").write_text(BOOK)
    Path("meta").mkdir()
    path = Path("meta/ralph-state.json").resolve()
    path.write_text(state)
    return path


def feature() -> Path:
    Path(".develop-workflow").mkdir()
    path = Path(".develop-workflow/state.yaml").resolve()
    path.write_text(FEATURE)
    return path


def test_a_reset_task_list_is_told_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Which plan, and where the old one is kept; nothing else."""
    path = plan()
    before = path.read_bytes()
    code, out, err = resume(capsys, "--reset", "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["kind"], told["path"], told["reset"]) == ("tasklist", str(path), True)
    assert Path(told["backup"]).read_bytes() == before


def test_a_reset_feature_is_told_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The state is gone; a copy is where it says."""
    path = feature()
    code, out, err = resume(capsys, "--reset", "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["kind"], told["path"], told["reset"]) == ("develop", str(path), True)
    assert Path(told["backup"]).read_text() == FEATURE
    assert not path.exists()


def test_a_reset_book_is_told_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Its folder, and its backup."""
    book(json.dumps({**BEGUN, "total_chapters": 3}))
    code, out, _err = resume(capsys, "--reset", "--json")
    assert code == 0
    told = json.loads(out)
    assert told["reset"] == str(Path.cwd())
    assert json.loads(Path(told["backup"]).read_text())["project_id"] == "Night"


def test_several_resets_are_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads the whole output at once."""
    plan()
    feature()
    code, out, _err = resume(capsys, "--reset", "--json")
    assert code == 0
    assert {one["kind"] for one in json.loads(out)["reset"]} == {"tasklist", "develop"}


@pytest.mark.parametrize("make", [plan, feature])
def test_explain_says_everything_once(
    capsys: pytest.CaptureFixture[str], make: type[object]
) -> None:
    """Why it stopped and what comes next stand there already."""
    make()
    code, out, _err = resume(capsys, "--explain")
    lines = out.splitlines()
    assert code == 0
    assert sorted(set(lines)) == sorted(lines)
    for word in ("stopped: ", "next: ", "redone: ", "lost: ", "cost: "):
        assert sum(line.strip().startswith(word) for line in lines) == 1, out


def test_explain_of_a_book_keeps_its_box(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of the frame that are alike are no repetition."""
    book(json.dumps({**BEGUN, "total_chapters": 3}))
    code, out, _err = resume(capsys, "--explain")
    assert code == 0
    assert sum(line.startswith("+--") for line in out.splitlines()) == 3
    assert "stopped: " in out


def test_damage_without_a_backup_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Also to whoever chose to go on; a program is told on standard error."""
    path = book("{")
    code, out, err = resume(capsys, "--continue")
    assert code == 3
    assert (out.count("It cannot be restored"), err) == (1, "")
    assert out.count(str(path)) == 1
    code, out, err = resume(capsys, "--continue", "--json")
    last = json.loads(out)
    assert (code, last["event"], last["exit"]) == (3, "finished", 3)
    assert err.count("It cannot be restored") == 1


def test_a_state_without_a_total_counts_the_chapters_of_the_book(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`book.toml` says how many there are, where another tool's state does not."""
    book(json.dumps(BEGUN))
    _code, out, _err = resume(capsys, "--json")
    [found] = json.loads(out)["found"]
    assert found["next"] == "continue with chapter 2; 2 chapters are left"
    assert found["resumable"] is True
    _code, out, _err = resume(capsys, "--status", "--json")
    state = json.loads(out)["found"][0]["state"]
    assert (state["total_chapters"], state["left"]) == (3, 2)


def test_a_state_without_a_total_and_without_a_book(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody knows it then, and that is no fault of the command."""
    book(json.dumps(BEGUN))
    Path("book.toml").write_text("chapters = 'many'\n")
    code, out, _err = resume(capsys, "--json")
    assert code == 0
    assert json.loads(out)["found"][0]["resumable"] is True


def test_a_damaged_state_that_is_reset_is_kept_as_damaged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Beside the backup, which is pruned one day."""
    book("{broken")
    code, out, _err = resume(capsys, "--reset", "--json")
    assert code == 0
    assert Path(json.loads(out)["backup"]).read_text() == "{broken"
    [kept] = Path("meta").glob("ralph-state.corrupt-*.json")
    assert kept.read_text() == "{broken"
    assert json.loads(Path("meta/ralph-state.json").read_text())["reset_reason"] == "user_requested"


@pytest.mark.parametrize("words", [["resume"], ["write-all"], ["write-all", "--resume"]])
def test_a_complete_book_names_the_command_that_writes_it_again(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Below the sentence of the original: the plain command would only repeat it."""
    done = {"completed_chapters": [1, 2, 3], "total_chapters": 3, "ralph_active": False}
    book(json.dumps({**BEGUN, **done, "completed_at": "2026-03-01T00:00:00Z"}))
    Path("chapters").mkdir()
    for number in (1, 2, 3):
        Path(f"chapters/chapter_{number}.md").write_text("It was night.")
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 0
    sentence, command = capsys.readouterr().out.splitlines()
    assert sentence == "The book is complete. Start a new one with: segue write-all"
    assert command.endswith(": segue write-all --restart")


@pytest.mark.parametrize("more", [{}, {"project_id": "Night", "total_chapters": 3}])
def test_a_state_without_a_book_that_cannot_be_resumed(
    capsys: pytest.CaptureFixture[str], more: dict[str, object]
) -> None:
    """The original knows nothing but the state file: with it there, another sentence is said."""
    path = book(json.dumps({**more, "ralph_active": False, "can_resume": False}))
    Path("book.toml").unlink()
    assert resume(capsys) == (0, "Nothing here can be resumed.\n", "")
    assert resume(capsys, str(path))[1] == "Nothing here can be resumed.\n"
    assert resume(capsys, "--reset")[0] == 0
    assert resume(capsys) == (0, "Nothing here can be resumed.\n", "")


def test_an_empty_place_is_told_in_the_words_of_the_original(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On a line of its own; what else can be begun is on the next."""
    first, second = resume(capsys)[1].splitlines()
    assert first.endswith("Start with: segue write-all")
    assert second.endswith("segue run PLAN.md")


def status(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, object]]:
    with pytest.raises(SystemExit) as caught:
        main(["status", *args, "--json"])
    assert caught.value.code == 0
    plans: list[dict[str, object]] = json.loads(capsys.readouterr().out)["plans"]
    return plans


@pytest.mark.parametrize("name", [".develop-workflow", ".develop-workflow/state.yaml"])
def test_a_feature_is_found_by_what_is_its_own(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """The path that was given for it names it, and nothing else of the project."""
    path = feature()
    plan()
    [one] = status(capsys, name)
    assert (one["kind"], one["path"]) == ("develop", str(path))
    [found] = json.loads(resume(capsys, name, "--json")[1])["found"]
    assert (found["kind"], found["path"], found["resumable"]) == ("develop", str(path), True)
    told = json.loads(resume(capsys, name, "--reset", "--json")[1])
    assert (told["kind"], path.exists()) == ("develop", False)


@pytest.mark.parametrize(
    ("make", "at_home", "from_above"),
    [
        (feature, "segue develop --resume", "segue resume work/.develop-workflow/state.yaml"),
        (lambda: book(json.dumps(BEGUN)), "segue resume --continue", "segue resume work"),
    ],
)
def test_status_names_a_command_that_works_from_here(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], Path],
    at_home: str,
    from_above: str,
) -> None:
    """In its own folder the short one, elsewhere the one with its path."""
    make()
    for folder, command in ((".", at_home), ("..", f"{from_above} --continue")):
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit):
            main(["status"])
        assert capsys.readouterr().out.rstrip().endswith(f"to continue: {command}")


@pytest.mark.parametrize("name", ["book.toml", "meta", "meta/ralph-state.json"])
def test_a_book_is_found_by_what_is_its_own(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """From whatever folder it is named."""
    book(json.dumps({**BEGUN, "total_chapters": 3}))
    plan()
    [one] = status(capsys, name)
    assert (one["kind"], one["path"]) == ("book", str(Path.cwd()))
    [found] = json.loads(resume(capsys, name, "--json")[1])["found"]
    assert (found["kind"], found["resumable"]) == ("book", True)
    assert "reset" in resume(capsys, name, "--reset")[1]
    assert "Nothing here can be resumed" in resume(capsys, name)[1]


@pytest.mark.parametrize(
    "flags",
    [
        ("--status", "--reset"),
        ("--continue", "--reset"),
        ("--restart", "--reset"),
        ("--explain", "--reset"),
        ("--continue", "--restart"),
    ],
)
def test_options_that_contradict_each_other_do_nothing(
    capsys: pytest.CaptureFixture[str], flags: tuple[str, str]
) -> None:
    """Bad usage: nobody wins, least of all the one that removes something."""
    path = plan()
    before = path.read_bytes()
    code, _out, err = resume(capsys, *flags)
    assert (code, path.read_bytes()) == (2, before)
    for flag in flags:
        assert flag in err


def test_one_option_given_twice_contradicts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """It is the same wish."""
    plan()
    assert resume(capsys, "--status", "--status")[0] == 0


@pytest.mark.parametrize("choice", ["--continue", "--restart", "--reset"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_plan_that_somebody_else_runs_is_left_alone(
    capsys: pytest.CaptureFixture[str], choice: str, form: tuple[str, ...]
) -> None:
    """As `segue run` does: it says who holds it, and the exit code is 2."""
    path = plan()
    before = path.read_bytes()
    project = Project.containing(path)
    project.prepare()
    lock = Lock(lock_path(project, path))
    assert lock.take(since="2026-01-01T00:00:00Z", command="segue run PLAN.md") is None
    try:
        code, out, err = resume(capsys, choice, *form)
    finally:
        lock.release()
    assert (code, path.read_bytes()) == (2, before)
    assert str(os.getpid()) in (json.loads(out)["error"]["message"] if form else err)


def shell_plans() -> None:
    Path("segue.toml").write_text('agent = "shell"\n')
    Path("B.md").write_text("- [~] T-1: a\n  - run: echo B > b\n")


@pytest.mark.parametrize(
    "broken",
    [
        "- [~] T-1: a\n- [ ] T-1: b\n",  # a duplicate id
        "- [~] T-1: a\n",  # no command
    ],
)
def test_a_plan_that_cannot_go_on_keeps_no_other_from_it(
    capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    """It is told with its line; the others go on; the exit code says that something is wrong."""
    shell_plans()
    Path("A.md").write_text(broken)
    code, _out, err = resume(capsys, "--continue")
    assert code == 2
    assert "A.md:" in err
    assert Path("b").read_text() == "B\n"
    assert Path("A.md").read_text() == broken


def test_a_broken_plan_alone_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """To be told to go on with it and not to is no success."""
    Path("A.md").write_text("- [~] T-1: a\n- [ ] T-1: b\n")
    code, out, err = resume(capsys, "--continue", "--json")
    assert (code, err) == (2, "")
    assert json.loads(out.splitlines()[0])["error"]["line"] == 2


@pytest.mark.parametrize(
    "words", ["다시 시작", "처음부터 다시 써줘", "start over", "reset", "rewrite"]
)
def test_words_that_would_reset_or_rewrite_show_the_choices_and_do_nothing(
    capsys: pytest.CaptureFixture[str], words: str
) -> None:
    """Without a terminal: exit 3, for people and for programs; the flag beside them is a choice."""
    state = book(json.dumps(BEGUN))
    before = state.read_bytes()
    code, out, _err = resume(capsys, *words.split())
    assert code == 3
    for number, name in enumerate(
        ("continue writing", "restart the current", "show the state", "reset")
    ):
        assert f"{number + 1}. {name}" in out
    code, out, _err = resume(capsys, words, "--json")
    assert (code, json.loads(out)["found"][0]["resumable"]) == (3, True)
    assert state.read_bytes() == before
    assert resume(capsys, words, "--continue")[0] == 2
    assert resume(capsys, words, "--reset")[0] == 0
    assert json.loads(state.read_bytes())["reset_reason"] == "user_requested"


def test_words_about_nothing_say_that_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """No choice without anything to choose about."""
    assert resume(capsys, "다시 시작")[0] == 0
