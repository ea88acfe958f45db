"""The sandbox: a program that sees the system, its workspace and nothing else of this machine.

Theory of operation: `Rules` say what a program may touch; `wrapped` turns them into a command line
of bubblewrap (`bwrap`) in front of the program's own. The new root is empty. Every path that is
visible in it is one `Mount`, and the deepest mount above a file decides: the workspace may be
written, Segue's memory in it is hidden, the run's own channel in that is visible again. Nothing
here decides by looking at what an agent wrote, but for its git directory (`sandbox_git`).

The program gets a PID namespace of its own. From outside, its processes are below its keeper as
ever: they are found by their environment, stopped, continued and ended (`keeper.py` knows how many
processes of the sandbox itself stand between the two).
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from pathlib import Path

from segue.drivers import egress
from segue.drivers.programs import program_folders

Hosts = tuple[str, ...]
FULL, NO_NETWORK = "full", "none"
Network = str | Hosts  # FULL, NO_NETWORK, or the hosts that can be reached

# Not from the PATH alone: a folder of it may be one that agents write to.
SEARCHED = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin"
PROBE_S = 10.0
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
    "/snap", "/run/current-system", "/sys/devices/system",
)  # fmt: skip
PRIVATE = ("/tmp", "/var/tmp")  # noqa: S108 - of the sandbox itself, gone with it
# Programs that people install below their home, and no key is in any of them.
TOOLCHAINS = (
    ".pyenv", ".nvm", ".rustup", ".cargo/bin", ".asdf", ".volta", ".bun/bin", ".deno/bin",
    ".rbenv", ".sdkman/candidates", ".local/bin", ".local/share/uv/python",
    ".local/share/uv/tools", ".local/share/pipx", ".local/share/mise/installs",
    ".local/share/pnpm", ".local/pipx", "go/bin", "bin",
)  # fmt: skip
# Variables that name a file which the program needs.
NAMES_FILE = (
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "GOOGLE_APPLICATION_CREDENTIALS",
)  # fmt: skip
NAMES_FOLDER = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
# Doors to other processes of the user.
CLOSED = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "DISPLAY", "TMUX")
NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
OWN_USERS = "--unshare-user"


class Mount(IntEnum):
    """How a path is visible. Of two for the same path the greater counts."""

    WRITE = 1
    READ = 2
    HIDE = 3


Mounts = dict[Path, Mount]


@dataclass(frozen=True, slots=True)
class Rules:
    """What one program may touch besides the system. `mounts`: what its kind of work knows;
    `hidden`: folders of Segue, wherever they lie."""

    workspace: Path
    home: Path
    mounts: Mapping[Path, Mount] = field(default_factory=dict)
    hidden: tuple[Path, ...] = ()
    copies: Mapping[Path, Path] = field(default_factory=dict)  # what is read there is a file here
    network: Network = FULL
    network_log: Path | None = None


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A command line in the sandbox. `layers`: how many processes stand above the program."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    layers: int


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """The sandbox of this machine: its program and flags, or why there is none."""

    program: str = ""
    flags: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def works(self) -> bool:
        return bool(self.program)


@lru_cache(maxsize=1)
def bubblewrap() -> Bubblewrap:
    """Whether bubblewrap works here, found out by using it."""
    program = shutil.which("bwrap", path=SEARCHED) or shutil.which("bwrap")
    if program is None:
        return Bubblewrap(why_not="bubblewrap (bwrap) is not installed")
    why = ""
    # Without a user namespace of its own it works for root alone, who has no capability in it.
    for users in ((OWN_USERS,), ()) if os.geteuid() == 0 else ((OWN_USERS,),):
        flags = (*users, *NAMESPACES, "--cap-drop", "ALL")
        tried = [program, *flags, "--unshare-net", *_system(), *_own_devices(), "--", "/bin/true"]
        try:
            done = subprocess.run(
                tried,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Bubblewrap(why_not=str(error))
        if done.returncode == 0:
            return Bubblewrap(program, flags)
        why = why or done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
    return Bubblewrap(why_not=why or f"bwrap: exit code {done.returncode}")


def wrapped(
    rules: Rules, argv: tuple[str, ...], env: Mapping[str, str], used: Bubblewrap
) -> Wrapped:
    """The program in its sandbox."""
    own = {name: value for name, value in env.items() if name not in CLOSED}
    own["TMPDIR"] = PRIVATE[0]
    words = [used.program, *used.flags, *mount_words(rules, argv, env)]
    words += ["--chdir", str(rules.workspace)]
    if rules.network != FULL:
        words.append("--unshare-net")
    words.append("--")
    if isinstance(rules.network, str):
        return Wrapped((*words, *argv), own, layers=2)
    own = {name: value for name, value in own.items() if name not in egress.NOT_PROXIED}
    own |= dict.fromkeys(egress.PROXIED, egress.ADDRESS)
    outside = egress.outside(rules.network, rules.network_log)
    return Wrapped((*outside, *words, *egress.INSIDE, *argv), own, layers=3)


def mount_words(rules: Rules, argv: tuple[str, ...], env: Mapping[str, str]) -> list[str]:
    """The arguments that make the file system of the sandbox."""
    mounts = dict(_all_mounts(rules, argv, env))
    words = [*_system(), *_own_devices()]
    for path in sorted(mounts, key=lambda path: len(path.parts)):
        if mounts[path] is Mount.HIDE:
            words += ["--tmpfs", str(path)]
        else:
            option = "--bind" if mounts[path] is Mount.WRITE else "--ro-bind"
            words += [option, str(path), str(path)]
    for there, here in rules.copies.items():
        words += ["--ro-bind", str(here), str(there)]
    for link in _links((rules.home, rules.workspace), mounts):
        words += ["--symlink", os.readlink(link), str(link)]  # noqa: PTH115
    return [*words, "--remount-ro", "/"]


def _all_mounts(rules: Rules, argv: tuple[str, ...], env: Mapping[str, str]) -> Mounts:
    """Real paths only, each once."""
    home, workspace = _real(rules.home), _real(rules.workspace)
    hidden = [_real(path) for path in rules.hidden]
    found: Mounts = {home: Mount.HIDE, workspace: Mount.WRITE}
    guarded = [home, workspace, *hidden]

    def add(path: Path, how: Mount) -> None:
        real = _real(path)
        if how is Mount.HIDE:
            above = [one for one in found if real.is_relative_to(one)]
            if above and found[max(above, key=lambda one: len(one.parts))] is not Mount.HIDE:
                found[real] = how
        elif real.exists() and not (how is Mount.READ and _is_system(real)):
            found[real] = max(found.get(real, how), how)

    def add_program(path: Path) -> None:
        # A folder that is wide enough to hold what must stay hidden is not a program's own.
        if not path.exists():
            return
        real = _real(path)
        if not any(one.is_relative_to(real) for one in guarded):
            add(real, Mount.READ)

    for name in TOOLCHAINS:
        add_program(home / name)
    for folder in (*own_folders(), *program_folders(argv[0], env, tuple(guarded))):
        add_program(folder)
    for name in NAMES_FILE:
        if env.get(name):
            add_program(Path(env[name]))
    for name in NAMES_FOLDER:
        if env.get(name):
            found.setdefault(_real(Path(env[name])), Mount.HIDE)
    for path, how in rules.mounts.items():
        if how is not Mount.HIDE:
            add(path, how)
    for path in (*hidden, *(path for path, how in rules.mounts.items() if how is Mount.HIDE)):
        add(path, Mount.HIDE)
    found[workspace] = Mount.WRITE
    return found


def is_too_wide(workspace: Path, home: Path) -> bool:
    """Whether a program that may write its workspace would have the user's home, or all."""
    return _real(workspace) in (_real(home), Path("/"))


@lru_cache(maxsize=1)
def own_folders() -> tuple[Path, ...]:
    """Where Segue itself and its Python are: agents call its tools."""
    package = Path(__file__).resolve().parent.parent
    found = dict.fromkeys(Path(folder) for folder in (sys.prefix, sys.base_prefix))
    return (*found, package)


@lru_cache(maxsize=1)
def _system() -> tuple[str, ...]:
    words: list[str] = []
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), name]  # noqa: PTH115
        elif path.exists():
            words += ["--ro-bind", name, name]
    resolver = Path("/etc/resolv.conf").resolve()
    if resolver.is_file() and not _is_system(resolver):
        words += ["--ro-bind", str(resolver), str(resolver)]
    for path in _private_files(Path("/etc")):
        words += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", os.devnull, str(path)]
    return tuple(words)


def _own_devices() -> tuple[str, ...]:
    words = ["--proc", "/proc", "--dev", "/dev"]
    for name in PRIVATE:
        words += ["--perms", "1777", "--tmpfs", name]
    return tuple(words)


def _private_files(folder: Path) -> Iterator[Path]:
    """What we may read of the system's settings and not everybody may: keys and passwords."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except PermissionError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        if not mode & (stat.S_IXOTH if entry.is_dir() else stat.S_IROTH):
            if os.access(entry.path, os.R_OK):
                yield Path(entry.path)
        elif entry.is_dir():
            yield from _private_files(Path(entry.path))


def _is_system(path: Path) -> bool:
    return f"{path}/".startswith(_system_folders())


@lru_cache(maxsize=1)
def _system_folders() -> tuple[str, ...]:
    return tuple({f"{os.path.realpath(name)}/": None for name in SYSTEM})


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _links(paths: Iterable[Path], mounts: Mounts) -> list[Path]:
    """Links on the way to these paths, which their users know them by; outermost first."""
    found: list[Path] = []
    for path in paths:
        for above in [*reversed(path.absolute().parents), path.absolute()]:
            is_mounted = any(above.is_relative_to(mount) for mount in mounts) or _is_system(above)
            if above.is_symlink() and above not in found and not is_mounted:
                found.append(above)
                break
    return found
