"""Settings: `segue.toml` of the project, then the user's own file.

Unknown keys are errors: a misspelt setting that is silently ignored is worse than
a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.core.leash import parse_clock, parse_quiet
from segue.core.limits import Waits, bounded
from segue.core.phases import Phase
from segue.drivers.egress import split_host
from segue.drivers.sandbox import FULL, NO_NETWORK, Network
from segue.errors import UserError
from segue.i18n import _
from segue.work.settings import values as read
from segue.work.settings.task_types import TaskType
from segue.work.settings.toml_file import Place, Reader, line_of_pattern, read_toml

if TYPE_CHECKING:
    from segue.dialects.limits import Extra

KINDS = ("claude", "codex", "gemini", "opencode", "shell", "script", "command")
PERMISSIONS = ("default", "accept-edits", "full")
UNLISTED = ("ask", "deny")
SANDBOXES = ("auto", "bwrap", "none")
NETWORKS = (FULL, NO_NETWORK)
RULE = re.compile(r"([\w-]+(?:\*)?)(?:\((.+)\))?", re.DOTALL)  # of permission: Bash(pytest:*)
JOBS_DEFAULT, JOBS_MAX = 2, 256


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """`[checks]`: what Segue's own checks of the work may touch. `sandbox`: empty, as the agent
    whose work is checked."""

    sandbox: str = ""
    network: Network = NO_NETWORK
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """One `[agents.NAME]` table."""

    name: str
    kind: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    account: str = ""
    driver: str = "pipe"
    scenario: str | None = None
    fallback: str | None = None
    fallback_after_s: float | None = None
    model: str | None = None
    permissions: str = "default"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    unlisted: str = "ask"  # what neither list decides
    mcp: bool = True  # whether it gets Segue's own tools
    silence_after_s: float | None = None
    silence_max_s: float | None = None
    sandbox: str = ""  # empty: as SEGUE_SANDBOX says, else "auto"
    network: Network = FULL
    readable: tuple[str, ...] = ()  # in its sandbox, besides what every agent sees
    writable: tuple[str, ...] = ()
    checks: CheckSettings = CheckSettings()  # of its work
    is_interactive: bool = False  # of kind command: its input stays open, a JSON object per line
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)  # where keys stand

    def place(self, key: str) -> tuple[str | None, int | None]:
        """The file and line of a key, else of its table; nothing for what is built in."""
        return self.places.get(key) or self.places.get("") or (None, None)

    @property
    def charged_to(self) -> str:
        """The account that its limits apply to."""
        return self.account or self.name


@dataclass(frozen=True, slots=True)
class LeashSettings:
    """How far Segue may go alone, as written; instants are worked out at the start."""

    max_windows: int | None = None
    until: str | None = None
    quiet_hours: str | None = None
    budget_usd: float | None = None
    drain_at: float = 0.95


@dataclass(frozen=True, slots=True)
class RecoverySettings:
    resume_text: str = ""  # empty: as the language in use has it
    default_wait_time: float = 60
    max_retries: int = 3
    weekly_limit_default: float = 3600
    context_limit_wait: float = 5
    recheck_after: float = 3
    wake_margin_s: float = 5
    silence_after_s: float = 600
    silence_max_s: float | None = None
    probable_after: float = 60  # how long a pane must be quiet before a guess counts

    @property
    def resume_words(self) -> str:
        """The text that tells an agent to continue."""
        return self.resume_text if self.resume_text.strip() else _("continue")

    @property
    def waits(self) -> Waits:
        """How long limits are waited for, in every kind of work."""
        rate_s = bounded(self._numbers)[0]["default_wait_time"]
        return Waits(self.weekly_limit_default, rate_s, self.context_limit_wait, self.wake_margin_s)

    @property
    def sends_max(self) -> int:
        """How often a pane is told to continue."""
        return int(bounded(self._numbers)[0]["max_retries"])

    @property
    def clamped(self) -> tuple[str, ...]:
        """Which numbers were out of bounds, in words."""
        return bounded(self._numbers)[1]

    @property
    def _numbers(self) -> dict[str, float]:
        return {"default_wait_time": self.default_wait_time, "max_retries": self.max_retries}


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """What waits for a person, in every kind of work: when they are reminded of it."""

    remind_after: float = 24 * 3600
    urgent_after: float = 48 * 3600
    escalate_after: float = 72 * 3600
    notify: tuple[str, ...] = ()  # as `[notify]` has it: see there
    webhook_secret: str | None = None


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """How people are notified, in every kind of work. `named`: the setting that says so."""

    channels: tuple[str, ...] = ()
    quiet: str | None = None
    webhook_secret: str | None = None  # as written: "$NAME" is a variable of Segue's own
    named: str = "[notify] channels"
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)  # where keys stand


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """`[plans]`: what agents may do to the plan that they work on."""

    accepts_new_tasks: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    agent: str = "shell"
    jobs: int = JOBS_DEFAULT
    place: str | None = None  # the file in which agents find their place, besides the hooks
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    checks: CheckSettings = CheckSettings()
    plans: PlanSettings = PlanSettings()
    leash: LeashSettings = LeashSettings()
    recovery: RecoverySettings = RecoverySettings()
    limit_patterns: tuple[Extra, ...] = ()
    notify: NotifySettings = NotifySettings()
    reviews: ReviewSettings = ReviewSettings()
    types: Mapping[str, TaskType] = field(default_factory=dict)
    agent_place: Place | None = field(default=None, compare=False)  # where the default is named


def _inside(value: Any) -> str | None:
    """A file's path that does not lead out of the folder it is taken from."""
    found = read.inside([value])
    return found[0].strip() or None if found else None


def _rules(value: Any) -> tuple[str, ...] | None:
    """Rules of permission; none at all is a list too. One that cannot be read is no rule."""
    texts = read.any_texts(value)
    if texts is None or not all(RULE.fullmatch(text.strip()) for text in texts):
        return None
    return texts


def _network(value: Any) -> Network | None:
    """All, nothing, or a list of hosts, each with a port or with any."""
    if value in NETWORKS:
        return str(value)
    hosts = read.any_texts(value)
    if hosts is None or any(split_host(host) is None for host in hosts):
        return None
    return hosts


def _folders(value: Any) -> tuple[str, ...] | None:
    """Paths of this machine, from the root or from the user's home."""
    found = read.any_texts(value)
    if found is None or not all(path.startswith(("/", "~/")) for path in found):
        return None
    return found


SANDBOX_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "sandbox": (read.one_of(SANDBOXES), "sandbox", '"auto", "bwrap", "none"'),
    "network": (_network, "network", '"full", "none", ["api.example.com", "localhost:8080"]'),
    "sandbox_read": (_folders, "readable", '["~/.m2", "/srv/data"]'),
    "sandbox_write": (_folders, "writable", '["~/.cache/pip"]'),
}
AGENT_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    # key: how it is read, the field it fills, what to write
    "kind": (read.one_of(KINDS), "kind", '"' + '", "'.join(KINDS) + '"'),
    "command": (read.texts, "command", '["program", "argument"]'),
    "env": (read.table, "env", '{ NAME = "value" }'),
    "account": (read.text, "account", '"a name"'),
    "driver": (read.one_of(("pipe", "pty")), "driver", '"pipe", "pty"'),
    "scenario": (read.text, "scenario", '"path/to/file.scenario"'),
    "fallback": (read.text, "fallback", '"the name of another agent"'),
    "fallback_after": (read.duration, "fallback_after_s", '"30m"'),
    "permissions": (read.one_of(PERMISSIONS), "permissions", '"' + '", "'.join(PERMISSIONS) + '"'),
    "allow": (_rules, "allow", '["Bash(pytest:*)"]'),
    "deny": (_rules, "deny", '["Bash(git push:*)"]'),
    "unlisted": (read.one_of(UNLISTED), "unlisted", '"ask", "deny"'),
    "model": (read.text, "model", '"the name of a model"'),
    "mcp": (read.flag, "mcp", "true, false"),
    "silence_after": (read.length, "silence_after_s", '"10m"'),
    "silence_max": (read.length, "silence_max_s", '"1h"'),
    "interactive": (read.flag, "is_interactive", "true, false"),
    **SANDBOX_KEYS,
}
LEASH_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "max_windows": (read.whole(0, 1000), "max_windows", "5"),
    "until": (read.readable_by(parse_clock), "until", '"08:00"'),
    "quiet_hours": (read.readable_by(parse_quiet), "quiet_hours", '"12:00-13:00"'),
    "budget_usd": (read.number(0, 1e9), "budget_usd", "20.0"),
    "drain_at": (read.number(0, 1), "drain_at", "0.95"),
}
RECOVERY_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "resume_text": (lambda v: v if isinstance(v, str) else None, "resume_text", '"continue"'),
    "default_wait_time": (read.number(0, 1e6), "default_wait_time", "60"),
    "max_retries": (read.whole(0, 1000), "max_retries", "3"),
    "weekly_limit_default": (read.number(0, 1e6), "weekly_limit_default", "3600"),
    "context_limit_wait": (read.number(0, 1e6), "context_limit_wait", "5"),
    "recheck_after": (read.number(0, 1e6), "recheck_after", "3"),
    "probable_after": (read.number(0, 86_400), "probable_after", "60"),
    "wake_margin_s": (read.number(0, 3600), "wake_margin_s", "5"),
    "silence_after": (read.length, "silence_after_s", '"10m"'),
    "silence_max": (read.length, "silence_max_s", '"1h"'),
}


REVIEW_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "remind_after": (read.length, "remind_after", '"24h"'),
    "urgent_after": (read.length, "urgent_after", '"48h"'),
    "escalate_after": (read.length, "escalate_after", '"72h"'),
    "notify": (read.any_texts, "notify", '["desktop"]'),
    "webhook_secret": (read.text, "webhook_secret", '"$NAME"'),
}
NOTIFY_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "channels": (read.any_texts, "channels", '["desktop", "bell"]'),
    "quiet": (read.readable_by(parse_quiet), "quiet", '"23:00-07:00"'),
    "webhook_secret": (read.text, "webhook_secret", '"$NAME"'),
}
TABLES = (
    "agent", "jobs", "place", "agents", "checks", "leash", "recovery", "limits", "notify",
    "plans", "reviews", "types",
)  # fmt: skip
PLAN_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "accept_new_tasks": (read.flag, "accepts_new_tasks", "true, false"),
}
TYPE_KEYS = ("phases", "reviewer", "about")
PHASE_KEYS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "name": (read.text, "name", '"draft"'),
    "deliverables": (read.inside, "deliverables", '["docs/draft.md"]'),
    "min_chars": (read.whole(0, 10_000_000), "min_chars", "200"),
    "verify": (read.text, "verify", '"test -s docs/draft.md"'),
    "reviewer": (read.text, "reviewer", '"the name of an agent"'),
    "steps": (read.texts, "steps", '["what to do first"]'),
}


def parse(text: str, path: Path, base: Config) -> Config:
    """Read one file's text over the settings below it; all problems in one error."""
    values = read_toml(text, path)
    reader = Reader(path, text)
    reader.known(values, TABLES, "")
    agent = reader.take(values, "", "agent", read.text, '"the name of an agent"')
    jobs = reader.take(values, "", "jobs", read.whole(1, JOBS_MAX), f"1-{JOBS_MAX}")
    place = reader.take(values, "", "place", _inside, '"PLACE.md"')
    checks = _checks(reader, values.get("checks", {}), base.checks)
    agents = {**base.agents, **_agents(reader, values.get("agents", {}), base.agents)}
    config = replace(
        base,
        agent=agent or base.agent,
        agent_place=reader.place("", "agent") if agent else base.agent_place,
        jobs=jobs or base.jobs,
        place=place or base.place,
        agents={name: replace(one, checks=checks) for name, one in agents.items()},
        checks=checks,
        plans=_section(reader, values.get("plans", {}), "plans", PLAN_KEYS, base.plans),
        leash=_section(reader, values.get("leash", {}), "leash", LEASH_KEYS, base.leash),
        recovery=_section(
            reader, values.get("recovery", {}), "recovery", RECOVERY_KEYS, base.recovery
        ),
        limit_patterns=_limit_patterns(reader, values.get("limits", {}), base.limit_patterns),
        notify=_notify(reader, values.get("notify", {}), values.get("reviews", {}), base.notify),
        reviews=_section(reader, values.get("reviews", {}), "reviews", REVIEW_KEYS, base.reviews),
        types={**base.types, **_types(reader, values.get("types", {}))},
    )
    _known_agents(reader, config, values)
    if reader.problems:
        raise UserError.of(reader.problems)
    return config


def _known_agents(reader: Reader, config: Config, values: Mapping[str, Any]) -> None:
    """Agents that are named must exist."""
    named = [("", "agent", config.agent if "agent" in values else None)]
    named += [(f"agents.{a.name}", "fallback", a.fallback) for a in config.agents.values()]
    for kind in config.types.values():
        named.append((f"types.{kind.name}", "reviewer", kind.reviewer))
        named += [
            (f"types.{kind.name}.phases", "reviewer", phase.reviewer)
            for phase in kind.phases
            if phase.reviewer != kind.reviewer
        ]
    for table, key, name in named:
        if name is not None and name not in config.agents:
            message = _("no agent is named `{name}`").format(name=name)
            reader.problem("unknown_agent", message, _meant(name, config), table, key)


def _meant(name: str, config: Config) -> str:
    close = get_close_matches(name, config.agents, 1)
    if close:
        return _("did you mean `{name}`?").format(name=close[0])
    names = ", ".join(config.agents)
    return _("known: {names}; others go into segue.toml as [agents.NAME]").format(names=names)


def _section(
    reader: Reader,
    found: Any,
    table: str,
    keys: dict[str, tuple[Callable[[Any], Any], str, str]],
    base: Any,
) -> Any:
    if not isinstance(found, dict):
        message = _("`{key}` must be a table").format(key=table)
        reader.problem("bad_value", message, f"[{table}]", "", table)
        return base
    reader.known(found, tuple(keys), table)
    taken = {
        name: value
        for key, (as_used, name, wanted) in keys.items()
        if (value := reader.take(found, table, key, as_used, wanted)) is not None
    }
    return replace(base, **taken)


def _checks(reader: Reader, found: Any, base: CheckSettings) -> CheckSettings:
    """With the places of its keys: whether there is a sandbox is seen later."""
    checks: CheckSettings = _section(reader, found, "checks", SANDBOX_KEYS, base)
    places = {key: reader.place("checks", key) for key in found} if isinstance(found, dict) else {}
    return replace(checks, places={**base.places, **places})


def _notify(reader: Reader, found: Any, reviews: Any, base: NotifySettings) -> NotifySettings:
    """With the places of its keys: what is wrong with a way to tell people is seen later. What
    `[reviews]` says of it counts where `[notify]` of the same file is silent."""
    notify: NotifySettings = _section(reader, found, "notify", NOTIFY_KEYS, base)
    places = {key: reader.place("notify", key) for key in found} if isinstance(found, dict) else {}
    if "channels" in places:
        notify = replace(notify, named="[notify] channels")
    if isinstance(reviews, dict):
        notifiers, secret = read.any_texts(reviews.get("notify")), reviews.get("webhook_secret")
        if notifiers is not None and "channels" not in places:
            places["channels"] = reader.place("reviews", "notify")
            notify = replace(notify, channels=notifiers, named="[reviews] notify")
        if read.text(secret) is not None and "webhook_secret" not in places:
            places["webhook_secret"] = reader.place("reviews", "webhook_secret")
            notify = replace(notify, webhook_secret=secret)
    return replace(notify, places={**base.places, **places})


def _types(reader: Reader, tables: Any) -> dict[str, TaskType]:
    """The user's own types of tasks: `[[types.NAME.phases]]`."""
    types: dict[str, TaskType] = {}
    if not isinstance(tables, dict):
        message = _("`{key}` must be a table").format(key="types")
        reader.problem("bad_value", message, _("write [types.NAME]"), "", "types")
        return types
    for name, table in tables.items():
        where = f"types.{name}"
        phases = table.get("phases") if isinstance(table, dict) else None
        if not isinstance(phases, list) or not all(isinstance(one, dict) for one in phases):
            message = _("type `{name}` has no phases").format(name=name)
            reader.problem("bad_value", message, f"[[{where}.phases]]", where, None)
            continue
        reader.known(table, TYPE_KEYS, where)
        reviewer = reader.take(table, where, "reviewer", read.text, '"the name of an agent"')
        below = Phase("", reviewer=reviewer)
        made = [_section(reader, one, f"{where}.phases", PHASE_KEYS, below) for one in phases]
        if not all(phase.name for phase in made):
            message = _("a phase of type `{name}` has no name").format(name=name)
            reader.problem("bad_value", message, 'name = "draft"', f"{where}.phases", None)
        types[name] = TaskType(name, tuple(made), str(table.get("about", "")), reviewer)
    return types


def _limit_patterns(reader: Reader, found: Any, base: tuple[Extra, ...]) -> tuple[Extra, ...]:
    """What else is a limit: `[[limits.patterns]]`, before those of the file below."""
    if not isinstance(found, dict):
        message = _("`{key}` must be a table").format(key="limits")
        reader.problem("bad_value", message, "[[limits.patterns]]", "", "limits")
        return base
    reader.known(found, ("patterns",), "limits")
    tables = found.get("patterns", [])
    if not (isinstance(tables, list) and all(isinstance(table, dict) for table in tables)):
        message = _("`{key}` must be a list of tables").format(key="patterns")
        reader.problem("bad_value", message, "[[limits.patterns]]", "limits", "patterns")
        return base
    if not tables:
        return base
    from segue.dialects.limits import extra_patterns  # noqa: PLC0415 - few have any

    def place(number: int, key: str | None) -> tuple[str, int | None]:
        return reader.path, line_of_pattern(reader.text, number, key)

    try:
        return (*extra_patterns(tables, place, first=len(base) + 1), *base)
    except UserError as error:
        reader.problems += error.problems
        return base


def _agents(
    reader: Reader, tables: Any, base: Mapping[str, AgentSettings]
) -> dict[str, AgentSettings]:
    agents: dict[str, AgentSettings] = {}
    if not isinstance(tables, dict):
        message = _("`{key}` must be a table").format(key="agents")
        reader.problem("bad_value", message, _("write [agents.NAME]"), "", "agents")
        return agents
    for name, table in tables.items():
        if not isinstance(table, dict):
            message = _("agent `{name}` must be a table").format(name=name)
            reader.problem("bad_value", message, f"[agents.{name}]", "agents", name)
            continue
        kind = table.get("kind")
        if name not in base and kind is None:
            message = _("agent `{name}` has no `kind`").format(name=name)
            hint = _('add kind = "command" (or {kinds})').format(kinds=", ".join(KINDS))
            reader.problem("bad_value", message, hint, f"agents.{name}", None)
            continue
        below = base.get(name) or AgentSettings(name, str(kind))
        whole = f"agents.{name}"
        places = {key: reader.place(whole, key) for key in table} | {"": reader.place(whole, None)}
        below = replace(below, places={**below.places, **places})
        agents[name] = _section(reader, table, whole, AGENT_KEYS, below)
        if agents[name].kind == "command" and not agents[name].command:
            message = _("agent `{name}` has no command").format(name=name)
            hint = _('add command = ["program", "argument"]')
            reader.problem("bad_value", message, hint, f"agents.{name}", None)
    return agents


def built_in() -> Config:
    """What holds with no file at all: the known agents under their own names."""
    names = ("shell", "script", "claude", "codex", "gemini", "opencode")
    return Config(agents={name: AgentSettings(name, kind=name) for name in names})


def load(root: Path | None, user_file: Path | None) -> Config:
    """The project's settings over the user's over the built-in ones; no root: the user's."""
    config = built_in()
    for path in (user_file, root / "segue.toml" if root else None):
        if path is None or not path.exists():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                "bad_toml",
                _("cannot read the settings: {why}").format(why=error),
                file=str(path),
                line=_line_of(error) if isinstance(error, UnicodeDecodeError) else None,
                hint=_("they must be a readable UTF-8 text file"),
            ) from error
        config = parse(text, path, config)
    return config


def _line_of(error: UnicodeDecodeError) -> int:
    return error.object[: error.start].count(b"\n") + 1


def user_file(environ: Mapping[str, str]) -> Path | None:
    """The user's own settings: ~/.config/segue/config.toml (or under XDG_CONFIG_HOME)."""
    if environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"]) / "segue" / "config.toml"
    if environ.get("HOME"):
        return Path(environ["HOME"]) / ".config" / "segue" / "config.toml"
    return None


def choose_agent(config: Config, name: str, *, file: str | None, line: int | None) -> AgentSettings:
    """The agent of this name, or what was probably meant."""
    if name in config.agents:
        return config.agents[name]
    raise UserError(
        "unknown_agent",
        _("no agent is named `{name}`").format(name=name),
        file=file,
        line=line,
        hint=_meant(name, config),
    )
