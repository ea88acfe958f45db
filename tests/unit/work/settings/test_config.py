"""Settings: what is unknown or wrong is told with its line and its cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue import i18n
from segue.errors import Problem, UserError
from segue.i18n import Language
from segue.work.settings import config
from segue.work.settings.config import AgentSettings, Config, built_in, load, parse

FILE = Path("segue.toml")


def problems(text: str) -> list[Problem]:
    with pytest.raises(UserError) as caught:
        parse(text, FILE, built_in())
    return caught.value.problems


def only(text: str) -> Problem:
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


def test_the_example_of_the_documents_is_read() -> None:
    """Every documented setting arrives where it belongs."""
    read = parse(
        """
agent = "claude"
jobs = 3
[agents.claude]
kind = "claude"
command = ["claude"]
env = { ANTHROPIC_BASE_URL = "http://x" }
account = "work"
fallback = "codex"
fallback_after = "30m"
permissions = "accept-edits"
allow = ["Bash(pytest:*)"]
deny = ["Bash(git push:*)", "WebFetch"]
unlisted = "deny"
model = "some-model"
mcp = false
silence_after = "2m"
silence_max = 3600
driver = "pty"
[leash]
max_windows = 5
until = "08:00"
quiet_hours = "12:00-13:00"
budget_usd = 20.0
drain_at = 0.8
[recovery]
resume_text = "go on"
default_wait_time = 61
max_retries = 4
weekly_limit_default = 3601
context_limit_wait = 6
recheck_after = 4
wake_margin_s = 7
silence_after = 90.5
silence_max = "1h30m"
""",
        FILE,
        built_in(),
    )
    assert (read.agent, read.jobs) == ("claude", 3)
    assert read.agents["claude"] == AgentSettings(
        name="claude",
        kind="claude",
        command=("claude",),
        env={"ANTHROPIC_BASE_URL": "http://x"},
        account="work",
        driver="pty",
        fallback="codex",
        fallback_after_s=1800.0,
        permissions="accept-edits",
        allow=("Bash(pytest:*)",),
        deny=("Bash(git push:*)", "WebFetch"),
        unlisted="deny",
        model="some-model",
        mcp=False,
        silence_after_s=120.0,
        silence_max_s=3600.0,
    )
    assert read.leash == config.LeashSettings(5, "08:00", "12:00-13:00", 20.0, 0.8)
    assert read.recovery == config.RecoverySettings(
        "go on", 61, 4, 3601, 6, 4, 7, silence_after_s=90.5, silence_max_s=5400.0
    )


def test_an_empty_file_changes_nothing() -> None:
    """What is not said stays as it was."""
    assert parse("", FILE, built_in()) == built_in()


@pytest.mark.parametrize(
    ("text", "line", "meant"),
    [
        ("\n# jbos = 1\njbos = 2\n", 3, "jobs"),
        ('jobs = 1\n[leash]\n\nuntill = "08:00"\n', 4, "until"),
        ('[agents.mine]\nkind = "shell"\ncomand = ["x"]\n', 3, "command"),
        ('[agents.mine]\nkind = "shell"\n[recovery]\nmax_retry = 3\n', 4, "max_retries"),
        ("leash.max_window = 3\n", 1, "max_windows"),
        ('agent = "shell"\nleash = { max_windws = 3 }\n', 2, "max_windows"),
        ('[agents]\nmine = { kind = "shell", acount = "x" }\n', 2, "account"),
        ('[ agents . "mine" ]\nkind = "shell"\n  driverr = "pty"\n', 3, "driver"),
        ("[recovry]\nmax_retries = 3\n", 1, "recovery"),
        ('[agents.a]\nkind = "shell"\n[agents.b]\nkind = "shell"\nfalback = "a"\n', 5, "fallback"),
    ],
)
def test_an_unknown_key_is_told_with_its_line_and_what_was_meant(
    text: str, line: int, meant: str
) -> None:
    """A misspelt key names the file, its own line and the key that was probably meant."""
    problem = only(text)
    assert (problem.code, problem.file) == ("unknown_key", "segue.toml")
    assert (problem.line, problem.hint) == (line, f"did you mean `{meant}`?")


def test_an_unknown_key_like_no_other_lists_the_known_ones() -> None:
    """Where nothing is close, the known names are shown."""
    problem = only("[leash]\nxyzzy = 1\n")
    assert problem.line == 2
    assert "xyzzy" in problem.message
    assert all(name in (problem.hint or "") for name in ("max_windows", "until", "budget_usd"))


SANDBOX = {
    "sandbox": ['"docker"', "true", '""', "[]"],
    "network": ['"some"', "true", '["https://example.com"]', '["*.example.com"]', '["a:0"]', "[1]"],
    "sandbox_read": ['"~/x"', '["x"]', "[1]", '["~kim/x"]'],
    "sandbox_write": ['"/x"', '["../x"]'],
}
BAD = {
    "": {
        "agent": ['""', "3", "true", '["claude"]'],
        "jobs": ["0", "-1", "257", "true", "1.5", '"2"'],
    },
    "agents.mine": {
        "kind": ['"cluade"', "3", '["shell"]', "{}"],
        "command": ['"claude"', "[]", "[1]", '""'],
        "env": ['"A=b"', "{ A = 1 }", '["A"]'],
        "account": ['""', "1"],
        "driver": ['"ssh"', "1"],
        "scenario": ['""', "1"],
        "fallback": ['""', "1"],
        "fallback_after": ["30", '"30"', '"soon"', '""'],
        "permissions": ['"all"', "true"],
        "allow": ['"Bash"', "[1]"],
        "deny": ['"Bash"', "[1]"],
        "unlisted": ['"allow"', '""', "true"],
        "model": ['""', "1"],
        "mcp": ['"yes"', "1", "0"],
        "silence_after": ['"soon"', "0", "-1", "true", '""', "[1]", "nan", "inf"],
        "silence_max": ["0", "false", '"-1m"', "1e9"],
        "interactive": ["1", '"yes"'],
        **SANDBOX,
    },
    "checks": SANDBOX,
    "leash": {
        "max_windows": ["-1", "1.5", '"5"', "true"],
        "until": ['"25:00"', '"8"', "8", "08:00:00", '""'],
        "quiet_hours": ['"12:00"', '"12:00-12:00"', '"a-b"', "12", "[12, 13]"],
        "budget_usd": ["-1", '"20"', "nan", "inf", "true"],
        "drain_at": ["1.1", "-0.1", '"0.9"', "nan"],
    },
    "recovery": {
        "resume_text": ["3", "[]"],
        "default_wait_time": ["-1", '"60"', "nan"],
        "max_retries": ["-1", "1.5"],
        "weekly_limit_default": ["-1", '"1h"'],
        "context_limit_wait": ["-1", "inf"],
        "recheck_after": ["-1", '"3"'],
        "probable_after": ["-1", '"60"'],
        "wake_margin_s": ["-1", "3601"],
        "silence_after": ['"soon"', "0", "-1", "true", '"10"'],
        "silence_max": ["0", "false"],
    },
    "reviews": {
        "remind_after": ["0", '"soon"'],
        "urgent_after": ["true"],
        "escalate_after": ["[]"],
        "notify": ['"desktop"', "[1]"],
        "webhook_secret": ['""', "1"],
    },
}


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        pytest.param(table, key, value, id=f"{table}.{key}={value}")
        for table, keys in BAD.items()
        for key, values in keys.items()
        for value in values
    ],
)
def test_every_bad_value_is_told(table: str, key: str, value: str) -> None:
    """A value that cannot be is refused with the key's line and an example of a good one."""
    head = f"# settings\n[{table}]\n" if table else "# settings\n\n"
    if table == "agents.mine" and key != "kind":
        head += 'kind = "shell"\n'
    problem = only(f"{head}{key} = {value}\n")
    assert (problem.code, problem.file) == ("bad_value", "segue.toml")
    assert problem.line == head.count("\n") + 1
    assert key in problem.message
    assert problem.hint


@pytest.mark.parametrize("key", ["silence_after", "silence_max"])
@pytest.mark.parametrize("table", ["recovery", "agents.claude"])
def test_no_silence_at_all_is_no_bound(table: str, key: str) -> None:
    """Nobody can be ended for having said nothing for no time, however that is written."""
    problems(f'[{table}]\n{key} = "0s"\n')


def test_every_setting_has_its_bad_values_here() -> None:
    """A new setting comes with a test of what it refuses."""
    assert set(BAD["agents.mine"]) == set(config.AGENT_KEYS)
    assert set(BAD["leash"]) == set(config.LEASH_KEYS)
    assert set(BAD["recovery"]) == set(config.RECOVERY_KEYS)
    assert set(BAD["reviews"]) == set(config.REVIEW_KEYS)
    assert set(BAD["checks"]) == set(config.SANDBOX_KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "leash = 3\n",
        'recovery = "x"\n',
        "agents = 3\n",
        "[[agents]]\n",
        "[[leash]]\n",
        "[agents]\nclaude = 3\n",
        "[agents]\nmine = 3\n",
    ],
)
def test_a_table_that_is_none_is_told(text: str) -> None:
    """What must be a table and is not is refused, with its line."""
    problem = only(text)
    assert problem.code == "bad_value"
    assert problem.line == text.count("\n")


def test_an_agent_needs_a_kind_and_a_command_one_a_command() -> None:
    """An agent that Segue does not know must say what it is and how it is started."""
    problem = only('jobs = 1\n[agents.mine]\ncommand = ["x"]\n')
    assert (problem.code, problem.line) == ("bad_value", 2)
    assert "kind" in (problem.hint or "")
    problem = only('[agents.mine]\nkind = "command"\n')
    assert (problem.code, problem.line) == ("bad_value", 1)
    assert "command" in (problem.hint or "")


def test_all_problems_are_told_at_once() -> None:
    """One reading finds everything, in one error."""
    found = problems('jobs = 0\n[leash]\nuntil = "x"\nuntli = 1\n[agents.a]\nkind = "b"\n')
    assert sorted((p.code, p.line) for p in found) == [
        ("bad_value", 1),
        ("bad_value", 3),
        ("bad_value", 6),
        ("unknown_key", 4),
    ]


def test_bad_toml_is_told_with_its_line() -> None:
    """A file that cannot be parsed names the line."""
    problem = only("jobs = 1\nagent = claude\n")
    assert (problem.code, problem.file, problem.line) == ("bad_toml", "segue.toml", 2)


def test_the_projects_settings_win_over_the_users_and_those_over_the_built_in(
    tmp_path: Path,
) -> None:
    """Each file changes what it names and keeps the rest of those below it."""
    user = tmp_path / "config.toml"
    user.write_text('jobs = 7\nagent = "codex"\n[agents.claude]\naccount = "home"\n')
    (tmp_path / "segue.toml").write_text('agent = "gemini"\n[agents.claude]\npermissions = "full"')
    found = load(tmp_path, user)
    assert (found.agent, found.jobs) == ("gemini", 7)
    claude = found.agents["claude"]
    assert (claude.kind, claude.account, claude.permissions) == ("claude", "home", "full")
    assert load(tmp_path / "nowhere", None) == built_in()


@pytest.mark.parametrize("content", [b"agent = '\xff'\n", None])
def test_settings_that_cannot_be_read_are_told(tmp_path: Path, content: bytes | None) -> None:
    """A file that is no UTF-8 text, or a folder in its place, is told with its name."""
    path = tmp_path / "segue.toml"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        load(tmp_path, None)
    assert (caught.value.problem.code, caught.value.problem.file) == ("bad_toml", str(path))


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, Path("/x/segue/config.toml")),
        ({"HOME": "/h"}, Path("/h/.config/segue/config.toml")),
        ({"XDG_CONFIG_HOME": "", "HOME": "/h"}, Path("/h/.config/segue/config.toml")),
        ({}, None),
    ],
)
def test_where_the_users_own_file_is(environ: dict[str, str], path: Path | None) -> None:
    """XDG_CONFIG_HOME first, then the home folder, else nowhere."""
    assert config.user_file(environ) == path


def test_an_agent_is_chosen_by_its_name() -> None:
    """A known one is found; an unknown one gets what was probably meant, and the line."""
    settings = built_in()
    assert config.choose_agent(settings, "codex", file=None, line=None).kind == "codex"
    with pytest.raises(UserError) as caught:
        config.choose_agent(settings, "cluade", file="PLAN.md", line=4)
    problem = caught.value.problem
    assert (problem.code, problem.where) == ("unknown_agent", "PLAN.md:4")
    assert problem.hint == "did you mean `claude`?"
    with pytest.raises(UserError) as caught:
        config.choose_agent(settings, "zzz", file=None, line=None)
    assert "gemini" in (caught.value.problem.hint or "")


def test_an_agent_asks_a_person_has_tools_and_no_bound_of_silence_by_default() -> None:
    """What nobody set ends nothing, allows nothing and denies nothing."""
    plain = AgentSettings("a", "claude")
    assert (plain.permissions, plain.allow, plain.deny) == ("default", (), ())
    assert (plain.unlisted, plain.mcp, plain.model) == ("ask", True, None)
    assert (plain.silence_after_s, plain.silence_max_s) == (None, None)
    assert (Config().recovery.silence_after_s, Config().recovery.silence_max_s) == (600.0, None)


def test_the_projects_lists_replace_the_users(tmp_path: Path) -> None:
    """A list is one value: what the project allows is not added to what the user does."""
    user = tmp_path / "config.toml"
    user.write_text('[agents.claude]\nallow = ["Bash"]\ndeny = ["WebFetch"]\n')
    (tmp_path / "segue.toml").write_text('[agents.claude]\nallow = ["Read"]\n')
    claude = load(tmp_path, user).agents["claude"]
    assert (claude.allow, claude.deny) == (("Read",), ("WebFetch",))


def test_limits_are_charged_to_the_account_or_the_agent() -> None:
    """Agents that share an account share its limits."""
    assert AgentSettings("a", "claude", account="work").charged_to == "work"
    assert AgentSettings("a", "claude").charged_to == "a"


def test_with_no_file_the_shell_agent_is_the_default() -> None:
    """A newcomer needs no settings, no key and no model."""
    assert built_in().agent == Config().agent == "shell"
    assert set(built_in().agents) >= {"shell", "script", "claude", "codex", "gemini", "opencode"}


# Patterns of limits

JUICE = """
jobs = 2

[[limits.patterns]]
pattern = '(?i)no more juice'
kind = "daily_quota"

[[limits.patterns]]
kind = "rate_limit"   # slower
agent = "squeezer-cli"
pattern = 'drip, drip'
"""


def test_patterns_of_limits_are_compiled() -> None:
    """Each with its kind, and the agent it is for; those of the project before the user's own."""
    user = parse(JUICE, FILE, built_in())
    assert [(p.id, p.kind, p.agent) for p in user.limit_patterns] == [
        ("extra-1", "daily_quota", ""),
        ("extra-2", "rate_limit", "squeezer"),
    ]
    assert user.limit_patterns[0].is_in("No more juice today", "claude")
    assert user.limit_patterns[1].is_in("drip, drip", "squeezer")
    assert not user.limit_patterns[1].is_in("drip, drip", "claude")
    own = "[[limits.patterns]]\npattern = 'dry'\nkind = 'billing'\n"
    project = parse(own, FILE, user)
    assert [p.id for p in project.limit_patterns] == ["extra-3", "extra-1", "extra-2"]
    assert parse("jobs = 3", FILE, user).limit_patterns == user.limit_patterns


@pytest.mark.parametrize(("old", "new", "line", "told", "cure"), [
    ("'drip, drip'", "'('", 11, "`(` is not a regular expression", "escape special characters"),
    ("'drip, drip'", "''", 11, "`pattern` is missing", "1000 characters"),
    ("'drip, drip'", "7", 11, "`pattern` is missing", "1000 characters"),
    ("'drip, drip'", f"'{'x' * 1001}'", 11, "too long", "1000 characters"),
    ("pattern = 'drip, drip'", "", 8, "`pattern` is missing", "1000 characters"),
    ('"rate_limit"', '"slow"', 9, "`kind` cannot be 'slow'", "rate_limit"),
    ('kind = "rate_limit"', "", 8, "`kind` cannot be None", "rate_limit"),
    ('"squeezer-cli"', "3", 10, "`agent` cannot be 3", "name of an agent"),
    ("agent =", "agnet =", 10, "agnet", "did you mean `agent`"),
    ("agent =", "zzz =", 10, "zzz", "known here: pattern, kind, agent"),
])  # fmt: skip
def test_a_pattern_that_cannot_be_is_told_with_its_line(
    old: str, new: str, line: int, told: str, cure: str
) -> None:
    """The second table's own line, not the first one's."""
    problem = only(JUICE.replace(old, new))
    assert (problem.file, problem.line) == ("segue.toml", line)
    assert told in problem.message
    assert cure in (problem.hint or "")


@pytest.mark.parametrize(("text", "told"), [
    ("limits = 3", "`limits` must be a table"),
    ("[limits]\npatterns = 3", "`patterns` must be a list of tables"),
    ("[limits]\npatterns = [3]", "`patterns` must be a list of tables"),
    ("[limits]\npaterns = []", "paterns"),
])  # fmt: skip
def test_limits_are_a_list_of_tables(text: str, told: str) -> None:
    """Anything else is told with its line."""
    problem = only(text)
    assert told in problem.message
    assert problem.line is not None


def test_patterns_in_an_inline_list_are_told_with_the_lists_line() -> None:
    """TOML knows two notifiers to write it."""
    text = "[limits]\npatterns = [{pattern = '(', kind = 'billing'}]"
    assert only(text).line == 2


def test_there_are_not_more_patterns_than_anybody_needs() -> None:
    """A hundred and one are an error."""
    table = "[[limits.patterns]]\npattern = 'x'\nkind = 'billing'\n"
    assert len(parse(table * 100, FILE, built_in()).limit_patterns) == 100
    assert "more than 100" in only(table * 101).message


TYPES = """
[types.report]
[[types.report.phases]]
name = "draft"
deliverables = ["docs/draft.md"]
min_chars = 200
verify = "test -s docs/draft.md"
reviewer = "codex"
[[types.report.phases]]
name = "final"
"""


def test_types_of_tasks_are_read() -> None:
    """A list of phases in their order; what is not said has its default."""
    found = config.parse(TYPES, Path("segue.toml"), config.built_in()).types["report"]
    first, second = found.phases
    assert (first.name, first.deliverables, first.min_chars) == ("draft", ("docs/draft.md",), 200)
    assert (first.verify, first.reviewer) == ("test -s docs/draft.md", "codex")
    assert (second.name, second.deliverables, second.verify) == ("final", (), None)


OF_THE_TYPE = """
[types.report]
reviewer = "codex"
[[types.report.phases]]
name = "draft"
[[types.report.phases]]
name = "final"
reviewer = "claude"
"""


def test_a_type_may_name_the_reviewer_of_its_phases() -> None:
    """A phase that names one of its own has that one."""
    found = config.parse(OF_THE_TYPE, Path("segue.toml"), config.built_in()).types["report"]
    assert [phase.reviewer for phase in found.phases] == ["codex", "claude"]


def test_a_reviewer_of_a_type_that_is_no_agent_is_told_once() -> None:
    """With the line of the type, however many phases it has."""
    problem = only(OF_THE_TYPE.replace("codex", "codx"))
    assert (problem.code, problem.line) == ("unknown_agent", 3)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("types = 3\n", "bad_value"),
        ('[types.report]\nreviewer = 3\n[[types.report.phases]]\nname = "a"\n', "bad_value"),
        ("[types.report]\n", "bad_value"),
        ("[types]\nreport = 3\n", "bad_value"),
        ("[[types.report.phases]]\nmin_chars = 3\n", "bad_value"),
        ('[[types.report.phases]]\nname = "a"\nmin_chars = "3"\n', "bad_value"),
        ('[[types.report.phases]]\nname = "a"\nverfy = "x"\n', "unknown_key"),
        ('[types.report]\nphase = 3\n[[types.report.phases]]\nname = "a"\n', "unknown_key"),
    ],
)
def test_types_that_cannot_be_are_told(text: str, code: str) -> None:
    """With their line."""
    problem = only(text)
    assert problem.code == code
    assert problem.line is not None


def test_where_an_agent_stands_is_known(tmp_path: Path) -> None:
    """Its table, its keys, and the line that names the default; what is built in stands nowhere."""
    path = tmp_path / "segue.toml"
    path.write_text(
        'agent = "x"\n\n[agents.x]\nkind = "command"\ncommand = ["no"]\nenv = { A = "$NOPE" }\n'
    )
    found = config.load(tmp_path, None)
    assert found.agent_place == (str(path), 1)
    assert found.agents["x"].place("command") == (str(path), 5)
    assert found.agents["x"].place("env") == (str(path), 6)
    assert found.agents["x"].place("scenario") == (str(path), 3)
    assert found.agents["claude"].place("command") == (None, None)


def test_bytes_that_are_not_utf_8_are_told_with_their_line(tmp_path: Path) -> None:
    """The line in which they stand."""
    (tmp_path / "segue.toml").write_bytes(b"jobs = 2\n# caf\xe9\n")
    with pytest.raises(UserError) as told:
        config.load(tmp_path, None)
    assert told.value.problem.line == 2


def test_ways_to_tell_people_are_those_of_the_nearest_file(tmp_path: Path) -> None:
    """`[reviews] notify` is another name of them, and loses within one file."""
    user = tmp_path / "user.toml"
    user.write_text('[notify]\nchannels = ["bell"]\nquiet = "23:00-07:00"\n')
    found = config.load(tmp_path, user).notify
    assert (found.channels, found.quiet, found.named) == (
        ("bell",),
        "23:00-07:00",
        "[notify] channels",
    )
    (tmp_path / "segue.toml").write_text('[reviews]\nnotify = ["desktop"]\nwebhook_secret = "s"\n')
    found = config.load(tmp_path, user).notify
    assert (found.channels, found.webhook_secret) == (("desktop",), "s")
    assert found.named == "[reviews] notify"
    assert found.places["channels"] == (str(tmp_path / "segue.toml"), 2)
    (tmp_path / "segue.toml").write_text(
        '[reviews]\nnotify = ["desktop"]\n[notify]\nchannels = []\n'
    )
    assert config.load(tmp_path, user).notify.channels == ()
    assert config.load(None, user).notify.channels == ("bell",)


@pytest.mark.parametrize(("language", "text"), [("en", "continue"), ("ko", "계속")])
def test_agents_are_told_to_go_on_in_the_language_in_use(language: Language, text: str) -> None:
    """Unless the settings say how; an empty text would wake nobody."""
    i18n.use(language)
    try:
        assert config.RecoverySettings().resume_words == text
        assert config.RecoverySettings("  ").resume_words == text
        assert config.RecoverySettings("go on").resume_words == "go on"
        assert config.RecoverySettings().resume_words == text
    finally:
        i18n.use("en")
