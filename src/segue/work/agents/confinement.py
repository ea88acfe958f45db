"""Whether an agent runs in the sandbox, and what it may touch there.

`sandbox = "auto"` uses it where it works; `"bwrap"` fails closed where it does not. What was asked
for and cannot be kept is an error: a `network` that is not full needs the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from segue.drivers import sandbox
from segue.drivers.lineage import run_of
from segue.drivers.sandbox import FULL, Mount, Mounts
from segue.engine.agent import Access
from segue.errors import UserError
from segue.i18n import _
from segue.work.agents.brands import Brand
from segue.work.settings.config import SANDBOXES, AgentSettings, CheckSettings

VARIABLE = "SEGUE_SANDBOX"
INSTALL = "apt install bubblewrap"


def mode_of(settings: AgentSettings | CheckSettings, environ: Mapping[str, str]) -> str:
    """What the table says, else the variable, else "auto". A run's own variable says nothing:
    an agent could set it."""
    if settings.sandbox:
        return settings.sandbox
    said = environ.get(VARIABLE)
    if not said or run_of(environ) is not None:
        return "auto"
    if said not in SANDBOXES:
        raise UserError(
            "bad_value",
            _("{name} is `{value}`; it must be one of {known}").format(
                name=VARIABLE, value=said, known=", ".join(SANDBOXES)
            ),
            hint=f"{VARIABLE}=auto",
        )
    return said


def why_not(root: Path, environ: Mapping[str, str]) -> str:
    """Why there is no sandbox here; empty where there is one."""
    used = sandbox.bubblewrap()
    if not used.works:
        return used.why_not
    home = environ.get("HOME")
    if home and sandbox.is_too_wide(root, Path(home)):
        return _("the project is your home folder, {home}").format(home=home)
    return ""


def access(
    settings: AgentSettings,
    brand: Brand | None,
    root: Path,
    environ: Mapping[str, str],
    own: Mapping[str, str],
) -> Access | None:
    """What the agent may touch in its sandbox; None: it runs without one. `own`: its variables
    as it finds them."""
    if not _is_on(settings, settings.place, mode_of(settings, environ), root, environ):
        return None
    home = Path(own.get("HOME") or environ.get("HOME") or "/nonexistent")
    mounts = _named(settings, home)
    for word in (*settings.command, settings.scenario or ""):
        if word and (root / word).is_file():
            mounts[root / word] = Mount.READ
    if brand is None:
        return Access(mounts, settings.network)
    state = brand.state(home, {**environ, **own})
    mounts |= dict.fromkeys((*state.folders, *state.files), Mount.WRITE)
    mounts |= dict.fromkeys(state.guarded, Mount.READ)
    return Access(mounts, settings.network, state.folders)


def check_access(
    settings: AgentSettings, root: Path, environ: Mapping[str, str], own: Mapping[str, str]
) -> Access | None:
    """The same for the checks of its work: where `[checks]` is silent they run as the agent."""
    checks = settings.checks
    mode = checks.sandbox or mode_of(settings, environ)

    def place(key: str) -> tuple[str | None, int | None]:
        return checks.places.get(key) or (None, None)

    restricts = "network" in checks.places
    if not _is_on(checks, place, mode, root, environ, restricts=restricts):
        return None
    home = Path(own.get("HOME") or environ.get("HOME") or "/nonexistent")
    return Access(_named(checks, home), checks.network)


def _is_on(
    settings: AgentSettings | CheckSettings,
    place: Callable[[str], tuple[str | None, int | None]],
    mode: str,
    root: Path,
    environ: Mapping[str, str],
    *,
    restricts: bool = True,
) -> bool:
    if mode == "none":
        return False
    why = why_not(root, environ)
    if not why:
        return True
    key = "sandbox" if mode == "bwrap" else "network"
    if mode == "auto" and (settings.network == FULL or not restricts):
        return False
    file, line = place(key)
    raise UserError(
        "no_sandbox",
        _("`{key}` needs the sandbox, which does not work here: {why}").format(key=key, why=why),
        file=file,
        line=line,
        hint=_('install it: {command}, or write sandbox = "none"').format(command=INSTALL),
    )


def _named(settings: AgentSettings | CheckSettings, home: Path) -> Mounts:
    """The paths that the settings name."""

    def path(text: str) -> Path:
        return home / text[2:] if text.startswith("~/") else Path(text)

    return {
        **{path(text): Mount.READ for text in settings.readable},
        **{path(text): Mount.WRITE for text in settings.writable},
    }
