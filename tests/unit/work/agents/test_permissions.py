"""May the agent use this tool? The rules against agents that try to get around them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from segue.dialects.events import PermissionAsked
from segue.engine.agent import Grant, Verdict
from segue.work.agents.permissions import applies, judge
from segue.work.settings.config import AgentSettings

ROOT = Path("/nowhere/project")


def bash(command: object) -> PermissionAsked:
    return PermissionAsked("r-1", "Bash", str(command), {"command": command})


def edit(path: object, tool: str = "Edit") -> PermissionAsked:
    return PermissionAsked("r-1", tool, str(path), {"file_path": path})


def verdict(asked: PermissionAsked, *grants: Grant, root: Path = ROOT, **settings: Any) -> Verdict:
    return judge(asked, AgentSettings("claude", "claude", **settings), grants, root)


# --- the order of the rules -------------------------------------------------------------------


def test_what_nobody_said_anything_about_is_asked_or_refused() -> None:
    """A person decides, or (`unlisted`) nobody does and it is refused."""
    assert verdict(bash("ls")) is Verdict.ASK
    assert verdict(bash("ls"), unlisted="deny") is Verdict.DENY
    assert verdict(bash("ls"), permissions="accept-edits") is Verdict.ASK


def test_denied_is_stronger_than_allowed_granted_and_full() -> None:
    """Nothing that a later rule says lets through what the deny list names."""
    for more in (
        {"allow": ("Bash",)},
        {"permissions": "full"},
        {"allow": ("Bash(git push:*)",), "permissions": "full"},
    ):
        asked = bash("git push --force")
        assert verdict(asked, Grant("Bash"), deny=("Bash(git push:*)",), **more) is Verdict.DENY


def test_allowed_and_full_need_no_person() -> None:
    """A rule of the list, or leave for all; both also where the unlisted is refused."""
    assert verdict(bash("ls -l"), allow=("Bash(ls:*)",), unlisted="deny") is Verdict.ALLOW
    assert verdict(bash("ls -l"), permissions="full", unlisted="deny") is Verdict.ALLOW


def test_a_grant_is_for_one_input_or_for_the_tool() -> None:
    """`allow` covers the very same use; `allow tool` every use of that tool, and no other tool."""
    once = Grant("Bash", {"command": "ls", "timeout": 5})
    asked = PermissionAsked("r-2", "Bash", "ls", {"command": "ls", "timeout": 5})
    assert verdict(asked, once) is Verdict.ALLOW
    assert verdict(bash("ls"), once) is Verdict.ASK, "another input, if only by a field"
    assert verdict(bash("ls -l"), once) is Verdict.ASK
    assert verdict(bash("anything"), Grant("Bash")) is Verdict.ALLOW
    assert verdict(edit("a"), Grant("Bash")) is Verdict.ASK
    assert verdict(bash("ls"), Grant("Bas")) is Verdict.ASK


def test_a_grant_for_nothing_is_no_grant_for_all() -> None:
    """An input without fields is an input like any other."""
    assert verdict(bash("ls"), Grant("Bash", {})) is Verdict.ASK


# --- which tool -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "tool", "is_meant"),
    [
        ("Bash", "Bash", True),
        (" Bash ", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Bash", "bash", False),
        ("Bash*", "BashOutput", True),
        ("mcp__db", "mcp__db__query", True),
        ("mcp__db", "mcp__db2__query", False),
        ("mcp__db", "mcp__d", False),
        ("mcp__db__query", "mcp__db__query", True),
        ("mcp__db__query", "mcp__db__drop", False),
        ("mcp__db__*", "mcp__db__drop", True),
        ("", "Bash", False),
        ("(ls)", "Bash", False),
        ("Bash(ls", "Bash", False),
        ("Bash ls", "Bash", False),
        ("Ba.h", "Bash", False),
    ],
)
def test_a_rule_names_a_tool_or_all_of_a_server(rule: str, tool: str, is_meant: bool) -> None:
    """Names are compared whole; a star is at the end; what cannot be read applies to nothing."""
    assert applies(rule, PermissionAsked("r", tool, "", {"command": "ls"}), ROOT) is is_meant


def test_a_rule_about_something_needs_something_to_be_about() -> None:
    """A tool with neither a command nor a path is not what a rule with brackets means."""
    for given in ({}, {"url": "http://x"}, {"command": 3}, {"file_path": None}, {"path": ["a"]}):
        asked = PermissionAsked("r", "Bash", "", given)
        assert not applies("Bash(ls:*)", asked, ROOT)
        assert not applies("Bash(**)", asked, ROOT)


# --- commands ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["pytest", "pytest -q", "pytest tests/a.py -k 'a or b'"])
def test_a_prefix_covers_the_command_with_any_arguments(command: str) -> None:
    """`pytest:*` is pytest with whatever belongs to it."""
    assert applies("Bash(pytest:*)", bash(command), ROOT)


@pytest.mark.parametrize(
    "command", ["pytests", "pytest-x", "py", "", " pytest", "./pytest", "PYTEST"]
)
def test_a_prefix_ends_where_its_word_ends(command: str) -> None:
    """Another program is another program, however its name begins."""
    assert not applies("Bash(pytest:*)", bash(command), ROOT)


def test_a_command_without_a_star_is_exact() -> None:
    """Not one character more or less."""
    assert applies("Bash(make test)", bash("make test"), ROOT)
    for command in ("make tests", "make test ", "make  test", "make test; ls", "make"):
        assert not applies("Bash(make test)", bash(command), ROOT)


# Each of these makes the file `pwned` when bash runs it with a harmless `pytest`.
GETS_AROUND = [
    "pytest; touch pwned",
    "pytest;touch pwned",
    "pytest && touch pwned",
    "pytest & touch pwned",
    "pytest || touch pwned; touch pwned",
    "pytest | touch pwned",
    "pytest |& touch pwned",
    "pytest $(touch pwned)",
    'pytest "$(touch pwned)"',
    "pytest `touch pwned`",
    "pytest\ntouch pwned",
    "pytest \\\n\ntouch pwned",
    "pytest <(touch pwned)",
    "pytest >(touch pwned)",
    "pytest > pwned",
    "pytest >> pwned",
    "pytest &> pwned",
    "pytest <<EOF\n$(touch pwned)\nEOF",
    "pytest <<< $(touch pwned)",
    "pytest $((a[$(touch pwned)]))",
    "pytest ${x:-$(touch pwned)}",
    'pytest "${a:=$}${b:=(touch pwned)}" ${c:=$a$b} ${c@P}',
]


@pytest.mark.parametrize("command", GETS_AROUND)
def test_nothing_can_be_put_behind_an_allowed_command(tmp_path: Path, command: str) -> None:
    """`pytest:*` lets no other command run, however it is written; each of these does run one."""
    program = tmp_path / "bin" / "pytest"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    shell = shutil.which("bash") or pytest.skip("there is no bash")
    path = f"{program.parent}:{os.environ['PATH']}"
    subprocess.run(
        [shell, "-c", f"{command}\nwait"],
        cwd=tmp_path,
        env={"PATH": path},
        capture_output=True,
        check=False,
    )
    assert (tmp_path / "pwned").exists(), "this shows nothing"
    assert not applies("Bash(pytest:*)", bash(command), ROOT)
    assert verdict(bash(command), allow=("Bash(pytest:*)",), unlisted="deny") is Verdict.DENY


DENIED = [
    "git push",
    "git push origin main",
    "git push; true",
    "git push origin main && echo ok",
    "git push&",
    "git push > /dev/null",
    "true; git push",
    "true || git push",
    " git push",
    "git  push",
    "git push\torigin",
    "echo $(git push)",
    "echo `git push`",
    "(git push)",
    "{ git push; }",
]
DENIED_TOO = [
    "git push>log",
    "git push</dev/null",
    ">log git push",
    "git \\\n push",
    "! git push",
    "time git push",
    "if true\nthen git push\nfi",
    "X=1 git push",
    "env X=1 git push",
    "sudo git push",
    "exec git push",
    "eval git push",
    "bash -c 'git push'",
    "'git' push",
    '"git" "push"',
    "g\\it push",
    "/usr/bin/git push",
]


@pytest.mark.parametrize(
    "command",
    [*DENIED, *DENIED_TOO],
)
def test_what_is_denied_stays_denied_in_company(command: str) -> None:
    """A denied command is not let through because of what stands around it or how it is written."""
    found = verdict(bash(command), deny=("Bash(git push:*)",), permissions="full")
    assert found is Verdict.DENY


@pytest.mark.parametrize("command", ["git pull", "git pushx", "echo git pushed", "mygit push", ""])
def test_what_is_not_denied_is_not(command: str) -> None:
    """Words are compared whole, also where much is denied."""
    found = verdict(bash(command), deny=("Bash(git push:*)",), permissions="full")
    assert found is Verdict.ALLOW


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(rm:*)", "/bin/rm -rf x"),
        pytest.param("Bash(./deploy.sh:*)", "./deploy.sh prod"),
        pytest.param("Bash(./deploy.sh:*)", "true && ./deploy.sh prod"),
        pytest.param("Bash(/usr/bin/git push:*)", "/usr/bin/git push x"),
        pytest.param('Bash(psql -c "drop:*)', 'psql -c "drop table x"'),
        pytest.param("Bash(npm run 'a b':*)", "npm run 'a b' --x"),
    ],
)
def test_a_denied_command_is_denied_as_it_is_written(rule: str, command: str) -> None:
    """Folders and quotes in the rule itself are no way around it."""
    assert verdict(bash(command), deny=(rule,), permissions="full") is Verdict.DENY


def test_a_denied_command_without_a_star_is_denied_in_company() -> None:
    """Exactly that command, wherever it stands; not one with more behind it."""
    deny = ("Bash(make deploy)",)
    for command in ("make deploy", "make  deploy", "true && make deploy", "(make deploy)"):
        assert verdict(bash(command), deny=deny, permissions="full") is Verdict.DENY, command
    assert verdict(bash("make deploy-docs"), deny=deny, permissions="full") is Verdict.ALLOW


@pytest.mark.parametrize("command", ["pytest =(touch pwned)", "pytest *(e:'touch pwned':)"])
def test_brackets_are_for_a_person_to_judge(command: str) -> None:
    """Agents run commands by the user's own shell, and that may be zsh."""
    assert not applies("Bash(pytest:*)", bash(command), ROOT)


# --- paths ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "path", "is_meant"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/deep/a.py", True),
        ("src/**", "src", False),
        ("src/**", "srcs/a.py", False),
        ("src/**", "other/src/a.py", False),
        ("./src/**", "src/a.py", True),
        ("/src/**", "src/a.py", True),
        ("src/*", "src/a.py", True),
        ("src/*", "src/deep/a.py", False),
        ("src/?.py", "src/a.py", True),
        ("src/?.py", "src/ab.py", False),
        ("src/?", "src//", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "a/b/test_a.py", True),
        ("**/test_*.py", "a/b/my_test_a.py", False),
        ("*.py", "a.py", True),
        ("*.py", "apy", False),
        ("a.py", "a.py", True),
        ("a.py", "aXpy", False),
        ("(x)|.*", "y", False),
    ],
)
def test_a_path_is_held_against_the_pattern(
    tmp_path: Path, rule: str, path: str, is_meant: bool
) -> None:
    """Patterns are from the project's folder; one star stays within a folder, two do not."""
    assert applies(f"Edit({rule})", edit(path), tmp_path) is is_meant
    assert applies(f"Edit({rule})", edit(str(tmp_path / path)), tmp_path) is is_meant


@pytest.mark.parametrize("key", ["file_path", "notebook_path", "path"])
def test_a_path_is_found_under_each_of_its_names(tmp_path: Path, key: str) -> None:
    """Tools name what they touch differently."""
    asked = PermissionAsked("r", "Edit", "", {key: "src/a.py"})
    assert applies("Edit(src/**)", asked, tmp_path)
    assert not applies("Edit(docs/**)", asked, tmp_path)


@pytest.mark.parametrize(
    "path",
    [
        "src/../secret",
        "src/../../outside",
        "../project/../x/src/a.py",
        "/etc/passwd",
        "src/../../../../../../../../etc/passwd",
        "src/link/a.py",
        "src/link",
        "src/away",
        "src/deep/../link/x",
        "src/*/../../secret",
    ],
)
def test_a_path_counts_for_where_it_leads(tmp_path: Path, path: str) -> None:
    """Dots and links out of the allowed folder are seen through, also to files not yet there."""
    root = tmp_path / "project"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "src" / "link").symlink_to(root / "docs")
    (root / "src" / "away").symlink_to("/etc/passwd")
    assert not applies("Edit(src/**)", edit(path), root)
    assert verdict(edit(path), allow=("Edit(src/**)",), root=root) is Verdict.ASK


def test_links_that_stay_inside_are_followed(tmp_path: Path) -> None:
    """A link into the allowed folder leads there; the project's folder may be one itself."""
    real = tmp_path / "real"
    (real / "src").mkdir(parents=True)
    (real / "alias").symlink_to("src")
    project = tmp_path / "project"
    project.symlink_to(real)
    for path in ("alias/a.py", "src/a.py", str(project / "src/a.py"), str(real / "alias/a.py")):
        assert applies("Edit(src/**)", edit(path), project), path
    assert not applies("Edit(alias/**)", edit("alias/a.py"), project), "it is src/a.py"


def test_signs_of_patterns_in_the_path_itself_are_letters(tmp_path: Path) -> None:
    """An agent that names `src/*` means a file with a star in its name, and no rule is widened."""
    for path in ("*", "**", "**/*", "?", "[a]", "src*"):
        assert not applies("Edit(src/**)", edit(path), tmp_path), path
        assert not applies("Edit(a)", edit(path), tmp_path), path
    assert applies("Edit(src/**)", edit("src/*"), tmp_path)


@pytest.mark.parametrize(
    ("rule", "tool", "path"),
    [
        ("Edit(secret/**)", "Edit", "secret/key"),
        ("Edit(secret/**)", "Edit", "src/../secret/key"),
        ("Edit(secret/**)", "Edit", "src/link/key"),
        ("Edit(secret/**)", "Write", "secret/key"),
        ("Edit(secret/**)", "MultiEdit", "secret/key"),
        ("Read(.env)", "Read", "deep/below/.env"),
        ("Read(~/.ssh/**)", "Read", str(Path.home() / ".ssh/id_rsa")),
    ],
)
def test_a_denied_path_is_denied_by_every_way_to_it(
    tmp_path: Path, rule: str, tool: str, path: str
) -> None:
    """Rules are written as Claude Code writes them, so they must forbid what they forbid there."""
    (tmp_path / "src").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "src" / "link").symlink_to("../secret")
    found = verdict(edit(path, tool), deny=(rule,), permissions="full", root=tmp_path)
    assert found is Verdict.DENY


def test_a_rule_with_two_slashes_is_from_the_root(tmp_path: Path) -> None:
    """It speaks of places outside the project, and dots do not lead into it either."""
    rule = f"Edit(/{tmp_path}/shared/**)"
    assert applies(rule, edit(f"{tmp_path}/shared/a"), tmp_path / "project")
    assert applies(rule, edit("../shared/a"), tmp_path / "project")
    assert not applies(rule, edit(f"{tmp_path}/shared/../secret"), tmp_path / "project")
    assert not applies(rule, edit(f"{tmp_path}/other/a"), tmp_path / "project")


@pytest.mark.parametrize(
    "path",
    [
        "src/" + "x" * 100_000,
        "x/" * 5_000,
        "src/a\0b",
        "src/a\ud800b",
        "loop/a",
    ],
    ids=["long", "deep", "zero byte", "half a character", "a link to itself"],
)
def test_a_path_that_cannot_be_is_no_reason_to_fall(tmp_path: Path, path: str) -> None:
    """Whatever an agent names as a path gets a verdict; nothing is raised."""
    (tmp_path / "loop").symlink_to("loop")
    assert verdict(edit(path), allow=("Edit(docs/**)",), root=tmp_path) is Verdict.ASK


# --- addresses ----------------------------------------------------------------------------------


def fetch(url: str) -> PermissionAsked:
    return PermissionAsked("r-1", "WebFetch", url, {"url": url})


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.org\\@example.com/",
        "http://evil.org/\\@example.com/",
        "https://example.com@evil.org/",
        "https://evil.org@example.com/",
        "https://example.com\\.evil.org/",
        "https://evil.org#@example.com/",
        "https://evil.org?.example.com",
        "https://notexample.com/",
        "https://exam\tple.com/",
        "https:example.com",
        "file://example.com/etc/passwd",
        " https://example.com/",
        "https://example。com/",
    ],
)
def test_an_address_that_can_be_read_in_two_ways_is_not_allowed(url: str) -> None:
    """A rule for a domain holds for addresses that every program reads alike."""
    assert verdict(fetch(url), allow=("WebFetch(domain:example.com)",)) is Verdict.ASK


@pytest.mark.parametrize(
    "url", ["https://example.com", "https://docs.example.com:8443/a?b=c#d", "HTTP://EXAMPLE.com/"]
)
def test_a_plain_address_of_the_domain_is_allowed(url: str) -> None:
    """And of what is below it."""
    assert verdict(fetch(url), allow=("WebFetch(domain:example.com)",)) is Verdict.ALLOW


def test_a_domain_that_is_forbidden_is_not_got_around() -> None:
    """Neither by an address that says two things."""
    for url in ("https://evil.org/", "http://evil.org\\@example.com/"):
        assert verdict(fetch(url), deny=("WebFetch(domain:evil.org)",)) is Verdict.DENY


# --- protected paths --------------------------------------------------------------------------

PROTECTED = [
    ".git/hooks/pre-commit",
    "sub/.git/config",
    ".GIT/config",
    ".segue/segue.db",
    ".claude/settings.json",
    "segue.toml",
    "book.toml",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    "Jenkinsfile",
    ".circleci/config.yml",
    "src/../segue.toml",
    "PLAN.md",
]


@pytest.mark.parametrize("path", PROTECTED)
@pytest.mark.parametrize("rule", ["Edit(**)", "Edit", "Edit(*)", "E*"])
def test_no_rule_allows_to_edit_a_protected_path(tmp_path: Path, path: str, rule: str) -> None:
    """Whoever writes there decides what runs, or what counts: a person is asked."""
    plan = tmp_path / "PLAN.md"
    settings = AgentSettings("claude", "claude", allow=(rule,))
    for asked in (edit(path), edit(str(tmp_path / path))):
        assert judge(asked, settings, (), tmp_path, (plan,)) is Verdict.ASK
    assert judge(edit("src/a.py"), settings, (), tmp_path, (plan,)) is Verdict.ALLOW
    assert judge(edit(path, "Read"), replace(settings, allow=("Read",)), (), tmp_path, (plan,)) is (
        Verdict.ALLOW
    )


def test_a_link_to_a_protected_path_is_protected(tmp_path: Path) -> None:
    """A path counts for where it leads."""
    (tmp_path / "config").symlink_to(tmp_path / ".git")
    assert verdict(edit("config/hooks"), root=tmp_path, allow=("Edit(**)",)) is Verdict.ASK


def test_a_person_allows_one_edit_of_a_protected_path(tmp_path: Path) -> None:
    """This very one; that a tool was allowed says nothing about such paths."""
    asked = edit("segue.toml")
    allow = ("Edit(**)",)
    assert verdict(asked, Grant("Edit"), root=tmp_path, allow=allow) is Verdict.ASK
    exact = Grant("Edit", dict(asked.input))
    assert verdict(asked, exact, root=tmp_path, allow=allow) is Verdict.ALLOW


def test_a_worktree_below_segues_memory_is_no_protected_path(tmp_path: Path) -> None:
    """What counts is where the path leads within the workspace."""
    root = tmp_path / ".segue" / "worktrees" / "T-1"
    assert verdict(edit("src/a.py"), root=root, allow=("Edit(**)",)) is Verdict.ALLOW
