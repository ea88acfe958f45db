"""The programs that Segue knows by name: their command lines, their logins, their real files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from segue.dialects.events import PermissionAsked
from segue.engine.agent import Start
from segue.work.agents import brands
from segue.work.agents.brands import Call, Login
from segue.work.settings import config
from segue.work.settings.config import AgentSettings

HOSTILE = "x\"y'z\\w $HOME `id` ; é\n"
TOOLS = ("/usr/bin/python3", "-m", "segue", "mcp")
TOOLS_ENV = {"SEGUE_RUN": "run-1", "SEGUE_PROJECT": HOSTILE}


def start(kind: str, *, tools: bool = False, talk: str | None = None, **settings: Any) -> Start:
    """How a brand is started with these settings."""
    call = Call(
        AgentSettings(kind, kind, **settings),
        (f"/bin/{kind}", "--of-the-user"),
        "Build it — 지금.\n",
        talk,
        TOOLS if tools else (),
        TOOLS_ENV if tools else {},
    )
    return brands.brand(kind).start(call)


def after(argv: tuple[str, ...], option: str) -> str:
    """The value behind an option that stands there once."""
    assert argv.count(option) == 1, argv
    return argv[argv.index(option) + 1]


@pytest.fixture(params=brands.BRANDS)
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


# --- all of them ------------------------------------------------------------------------------


def test_the_brands_are_the_kinds_that_settings_know() -> None:
    """Every kind that is no program of one's own is a brand, under its own name."""
    assert set(brands.BRANDS) == set(config.KINDS) - {"shell", "script", "command"}
    for name in brands.BRANDS:
        assert brands.brand(name).name == name


def test_a_brand_says_how_to_get_it_and_what_it_can_do(kind: str) -> None:
    """What the doctor shows of a program that is missing, and of one that is there."""
    brand = brands.brand(kind)
    assert brand.install.startswith("npm install ")
    assert brand.can
    assert (brand.allow is None) == (brand.deny is None)


def test_the_users_own_command_comes_first(kind: str) -> None:
    """The program and the user's arguments stand before every option of Segue's."""
    assert start(kind).argv[:2] == (f"/bin/{kind}", "--of-the-user")


def test_the_prompt_is_on_standard_input_and_never_on_the_command_line(kind: str) -> None:
    """A prompt can be longer than a command line, and others can read command lines."""
    made = start(kind)
    text = (made.stdin or b"").decode()
    assert "Build it" in text
    assert not [word for word in made.argv if "Build it" in word]


def test_a_model_is_named_only_where_the_settings_name_one(kind: str) -> None:
    """The program's own choice stands otherwise."""
    assert after(start(kind, model="some/model").argv, "--model") == "some/model"
    assert "--model" not in start(kind).argv


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("claude", ("--resume", "talk-1")),
        ("codex", ("resume", "talk-1")),
        ("gemini", ("--resume", "talk-1")),
        ("opencode", ("--session", "talk-1")),
    ],
)
def test_a_conversation_is_gone_on_with_by_its_id(kind: str, words: tuple[str, ...]) -> None:
    """With an id its option stands there with it, without one nothing does."""
    resumed = start(kind, talk="talk-1").argv
    assert after(resumed, words[0]) == words[1]
    assert not set(words) & set(start(kind).argv)


@pytest.mark.parametrize(
    ("kind", "command", "named"),
    [
        ("claude", ("claude", "--resume", "talk-9"), "talk-9"),
        ("claude", ("claude", "-r", "talk-9", "--verbose"), "talk-9"),
        ("claude", ("claude", "--resume=talk-9"), "talk-9"),
        ("claude", ("claude", "--resume"), None),
        ("claude", ("claude", "--model", "resume"), None),
        ("claude", ("claude",), None),
        ("claude", (), None),
        ("codex", ("codex", "resume", "talk-9"), "talk-9"),
        ("gemini", ("gemini", "--resume", "talk-9"), "talk-9"),
        ("opencode", ("opencode", "-s", "talk-9"), "talk-9"),
    ],
)
def test_a_conversation_in_the_users_own_command_is_seen(
    kind: str, command: tuple[str, ...], named: str | None
) -> None:
    """It is held like one that Segue itself goes on with."""
    assert brands.named_conversation(brands.brand(kind), command) == named


def test_what_a_brand_is_resumed_by_is_what_it_is_recognised_by(kind: str) -> None:
    """The words that Segue itself uses are among those that it looks for."""
    made = start(kind, talk="talk-9").argv
    assert brands.named_conversation(brands.brand(kind), made) == "talk-9"


def test_settings_that_say_nothing_leave_the_programs_own_in_force(kind: str) -> None:
    """`permissions = "default"` adds no word about permissions."""
    made = start(kind)
    said = " ".join((*made.argv, *made.env))
    for word in ("mode", "sandbox", "allow", "PERMISSION", "yolo", "mcp"):
        assert word not in said.replace("--permission-prompt-tool", "")


# --- claude -----------------------------------------------------------------------------------


def test_claude_speaks_json_both_ways_and_its_input_stays_open() -> None:
    """It can ask for leave and be answered; the first line of its input is the prompt."""
    made = start("claude")
    assert "-p" in made.argv
    assert after(made.argv, "--output-format") == "stream-json"
    assert after(made.argv, "--input-format") == "stream-json"
    assert after(made.argv, "--permission-prompt-tool") == "stdio"
    assert "--verbose" in made.argv
    assert made.is_interactive
    assert made.stdin is not None
    assert made.stdin.endswith(b"\n")
    assert json.loads(made.stdin)["message"]["content"] == "Build it — 지금.\n"
    assert made.stdin.count(b"\n") == 1


def test_claude_is_never_started_past_its_own_permissions() -> None:
    """`full` is Segue's own answer to what it asks: the switch that skips them is refused to root."""
    made = start("claude", permissions="full")
    assert not [word for word in made.argv if "skip-permissions" in word]
    assert "--permission-mode" not in made.argv
    accepting = start("claude", permissions="accept-edits").argv
    assert after(accepting, "--permission-mode") == "acceptEdits"


def test_claude_gets_both_lists_as_one_word_each() -> None:
    """A rule with spaces stays whole; the own tools are allowed where they are given."""
    made = start("claude", allow=("Bash(git log:*)", "Read"), deny=("Bash(git push:*)",))
    assert after(made.argv, "--allowedTools") == "Bash(git log:*),Read"
    assert after(made.argv, "--disallowedTools") == "Bash(git push:*)"
    edits = start("claude", allow=("Edit(src/**)", "Write", "*", "Read"))
    assert after(edits.argv, "--allowedTools") == "Read", "Segue knows the protected paths"
    assert after(start("claude", tools=True).argv, "--allowedTools") == "mcp__segue"


def test_claude_gets_segues_tools_as_one_json_text() -> None:
    """Command, arguments and variables arrive whole, whatever stands in them."""
    told = json.loads(after(start("claude", tools=True).argv, "--mcp-config"))
    assert told["mcpServers"]["segue"] == {
        "command": TOOLS[0],
        "args": list(TOOLS[1:]),
        "env": TOOLS_ENV,
    }


def test_claude_is_answered_for_the_request_that_it_made() -> None:
    """An answer names the request, and allows the input that was asked about and no other."""
    brand = brands.brand("claude")
    assert brand.allow is not None
    assert brand.deny is not None
    asked = PermissionAsked("r-7", "Bash", "ls", {"command": "ls", "x": HOSTILE})
    given = json.loads(brand.allow(asked))["response"]
    assert given["request_id"] == "r-7"
    assert given["response"] == {"behavior": "allow", "updatedInput": dict(asked.input)}
    refused = json.loads(brand.deny(asked, "no"))["response"]
    assert refused["request_id"] == "r-7"
    assert refused["response"] == {"behavior": "deny", "message": "no"}
    assert brand.allow(asked).count(b"\n") == 1


# --- codex ------------------------------------------------------------------------------------


def test_codex_executes_once_with_the_prompt_behind_it() -> None:
    """The lone dash at the very end reads standard input, also in a conversation."""
    assert start("codex").argv[2:] == ("exec", "--json", "--skip-git-repo-check", "-")
    assert start("codex", talk="talk-1").argv[-3:] == ("resume", "talk-1", "-")
    assert start("codex").stdin == "Build it — 지금.\n".encode()
    assert not start("codex").is_interactive


@pytest.mark.parametrize(
    ("permissions", "mode"),
    [("accept-edits", "workspace-write"), ("full", "danger-full-access")],
)
def test_codex_gets_its_sandbox_by_the_permissions(permissions: str, mode: str) -> None:
    """A value of its settings is TOML."""
    value = after(start("codex", permissions=permissions).argv, "-c")
    assert tomllib.loads(value) == {"sandbox_mode": mode}


def test_codex_gets_segues_tools_as_settings() -> None:
    """Each value is TOML that says what was meant, whatever stands in it."""
    argv = start("codex", tools=True).argv
    settings = "\n".join(argv[at + 1] for at, word in enumerate(argv) if word == "-c")
    server = tomllib.loads(settings)["mcp_servers"]["segue"]
    assert (server["command"], server["args"]) == (TOOLS[0], list(TOOLS[1:]))
    assert server["env"] == TOOLS_ENV
    assert server["default_tools_approval_mode"] == "approve", "nobody is there to be asked"
    assert server["required"] is True, "the first turn needs it already"


def test_codex_gets_characters_beyond_the_first_plane_whole() -> None:
    """A project's folder can have a rocket in its name."""
    settings = AgentSettings("codex", "codex")
    call = Call(settings, ("codex",), "go", None, TOOLS, {"SEGUE_PROJECT": "/work/🚀\x7f"})
    argv = brands.brand("codex").start(call).argv
    told = "\n".join(argv[at + 1] for at, word in enumerate(argv) if word == "-c")
    assert tomllib.loads(told)["mcp_servers"]["segue"]["env"] == {"SEGUE_PROJECT": "/work/🚀\x7f"}


def native(folder: Path, *parts: str, mode: int = 0o755) -> Path:
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(mode)
    return path


def installed(folder: Path) -> Path:
    """A program as npm links it: a script of the package behind it."""
    script = native(folder, "lib", "@openai", "codex", "bin", "codex.js")
    link = folder / "bin" / "codex"
    link.parent.mkdir()
    link.symlink_to(script)
    return link


@pytest.mark.parametrize(
    "parts",
    [
        ("codex-linux-x64", "vendor", "x86_64", "bin", "codex"),
        ("codex", "vendor", "x86_64", "codex", "codex"),
        ("codex", "node_modules", "@openai", "codex-linux-x64", "vendor", "x86", "bin", "codex"),
    ],
    ids=["beside it", "in it", "below it"],
)
def test_codex_is_run_without_its_script(tmp_path: Path, parts: tuple[str, ...]) -> None:
    """Signals to the script would not reach the program that it started."""
    link = installed(tmp_path)
    path = native(tmp_path, "lib", "@openai", *parts)
    assert brands.brand("codex").resolve(str(link)) == str(path)


def test_codex_without_a_program_behind_its_script_is_run_as_it_is(tmp_path: Path) -> None:
    """Another way of installing it, or a file that cannot be run, changes nothing."""
    link = installed(tmp_path)
    resolve = brands.brand("codex").resolve
    assert resolve(str(link)) == str(link)
    native(tmp_path, "lib", "@openai", "codex", "vendor", "x", "codex", "codex", mode=0o644)
    assert resolve(str(link)) == str(link)
    own = native(tmp_path, "own", "codex")
    assert resolve(str(own)) == str(own)


# --- gemini and opencode ----------------------------------------------------------------------


def test_gemini_is_one_process_and_speaks_json() -> None:
    """It would start a second one and leave signals to it, and not work where nobody trusts it."""
    made = start("gemini")
    assert after(made.argv, "--output-format") == "stream-json"
    assert made.env == {"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    assert made.stdin == "Build it — 지금.\n".encode()


@pytest.mark.parametrize(("permissions", "mode"), [("accept-edits", "auto_edit"), ("full", "yolo")])
def test_gemini_approves_by_the_permissions(permissions: str, mode: str) -> None:
    """Its own words for what the settings say."""
    assert after(start("gemini", permissions=permissions).argv, "--approval-mode") == mode
    assert after(start("gemini", allow=("a", "b")).argv, "--allowed-tools") == "a,b"


def test_opencode_runs_once_and_speaks_json() -> None:
    """Its permissions are a variable."""
    assert start("opencode").argv[2:] == ("run", "--format", "json")
    assert start("opencode").env == {}
    edits = start("opencode", permissions="accept-edits").env["OPENCODE_PERMISSION"]
    assert json.loads(edits) == {"edit": "allow"}
    full = json.loads(start("opencode", permissions="full").env["OPENCODE_PERMISSION"])
    assert set(full.values()) == {"allow"}
    assert {"edit", "bash"} <= set(full)


# --- logins -----------------------------------------------------------------------------------


def login(kind: str, home: Path, **environ: str) -> Login:
    return brands.brand(kind).login(home, environ)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("claude", "ANTHROPIC_API_KEY"),
        ("claude", "ANTHROPIC_AUTH_TOKEN"),
        ("claude", "CLAUDE_CODE_OAUTH_TOKEN"),
        ("codex", "CODEX_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("opencode", "GROQ_API_KEY"),
    ],
)
def test_a_key_in_the_environment_is_a_login(tmp_path: Path, kind: str, name: str) -> None:
    """Its name is told, never its value; an empty one is none."""
    found = login(kind, tmp_path, **{name: "hush"})
    assert found == Login(True, name)
    assert "hush" not in repr(found)


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini"])
def test_an_empty_key_is_no_login(tmp_path: Path, kind: str) -> None:
    """A variable that was emptied says that there is none."""
    names = ("ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY")
    assert not login(kind, tmp_path, **dict.fromkeys(names, "")).is_in


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("claude", ".claude/.credentials.json"),
        ("codex", ".codex/auth.json"),
        ("gemini", ".gemini/oauth_creds.json"),
        ("opencode", ".local/share/opencode/auth.json"),
    ],
)
def test_a_file_that_the_program_leaves_is_a_login(tmp_path: Path, kind: str, path: str) -> None:
    """Where it is, in the user's home; without it nothing is claimed to be there."""
    assert not login(kind, tmp_path).is_in
    found = native(tmp_path, path)
    assert login(kind, tmp_path) == Login(True, str(found))


@pytest.mark.parametrize(
    ("kind", "variable", "path"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", ".credentials.json"),
        ("codex", "CODEX_HOME", "auth.json"),
        ("opencode", "XDG_DATA_HOME", "opencode/auth.json"),
    ],
)
def test_the_file_is_looked_for_where_the_program_would(
    tmp_path: Path, kind: str, variable: str, path: str
) -> None:
    """A folder of its own is named by a variable; then the home does not count."""
    for default in (
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".local/share/opencode/auth.json",
    ):
        native(tmp_path, default)
    other = tmp_path / "other"
    assert not login(kind, tmp_path, **{variable: str(other)}).is_in
    found = native(other, path)
    assert login(kind, tmp_path, **{variable: str(other)}) == Login(True, str(found))


def test_codex_with_settings_of_its_own_may_be_logged_in_in_any_way(tmp_path: Path) -> None:
    """A provider of one's own stands in them; a key for its general use is no login by itself."""
    assert login("codex", tmp_path, OPENAI_API_KEY="hush").is_in is False
    native(tmp_path, ".codex/config.toml")
    assert login("codex", tmp_path).is_in is None


def test_only_codex_can_be_known_to_be_logged_out(tmp_path: Path) -> None:
    """The others may have their key in the system's key ring: nothing is claimed."""
    found = {kind: login(kind, tmp_path).is_in for kind in brands.BRANDS}
    assert found == {"claude": None, "codex": False, "gemini": None, "opencode": None}
