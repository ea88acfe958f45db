"""The real agent programs, for tests: got once, started where they find nothing but a fake model.

They are large and not ours, so they live in a cache outside the repository (`SEGUE_TEST_CACHE`,
else `segue-tests` in the user's cache folder). The first test that needs one gets it, with pip
or npm; the others, also in other processes, wait for it.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from segue.testing import loopback

CLAUDE_SDK = "0.2.182"  # carries claude 2.1.325
CODEX = "0.166.0"
GEMINI = "0.61.0"
OPENCODE = "1.18.33"

GET_WITHIN_S = 900.0


def cache_folder() -> Path:
    """Where the programs are kept."""
    if own := os.environ.get("SEGUE_TEST_CACHE"):
        return Path(own)
    general = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(general) / "segue-tests"


@cache
def claude() -> Path:
    """Claude Code: a native program, carried by a Python package."""
    package = f"claude-agent-sdk=={CLAUDE_SDK}"
    folder = got(f"claude-{CLAUDE_SDK}", lambda to: _pip(to, package))
    return _program(folder, "claude_agent_sdk/_bundled/claude")


@cache
def codex() -> Path:
    """Codex: the native program, not the wrapper that would start it."""
    folder = got(f"codex-{CODEX}", lambda to: _npm(to, f"@openai/codex@{CODEX}"))
    return _program(folder, "node_modules/@openai/codex-*/vendor/*/bin/codex")


@cache
def gemini() -> Path:
    """The Gemini CLI: a script for node."""
    folder = got(f"gemini-{GEMINI}", lambda to: _npm(to, f"@google/gemini-cli@{GEMINI}"))
    return _program(folder, "node_modules/.bin/gemini")


@cache
def opencode() -> Path:
    """opencode: the native program for this machine."""
    folder = got(f"opencode-{OPENCODE}", lambda to: _npm(to, f"opencode-ai@{OPENCODE}"))
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return _program(folder, f"node_modules/opencode-linux-{machine}/bin/opencode")


PROGRAMS: dict[str, Callable[[], Path]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}


def headless(kind: str, prompt: str) -> list[str]:
    """The command that has a program answer one prompt with structured output."""
    arguments = {
        "claude": ["-p", "--output-format", "stream-json", "--verbose", prompt],
        "codex": ["exec", "--json", "--skip-git-repo-check", prompt],
        "gemini": ["-p", prompt, "--output-format", "stream-json"],
        "opencode": ["run", "--format", "json", prompt],
    }
    return [str(PROGRAMS[kind]()), *arguments[kind]]


def clean_env(
    folder: Path, url: str, kind: str, *, oauth: bool = False, retries: int | None = None
) -> dict[str, str]:
    """An environment in which the program knows this model and nothing else."""
    return loopback.clean_env(folder, url, kind, os.environ, oauth=oauth, retries=retries)


def got(name: str, get: Callable[[Path], None]) -> Path:
    """The folder of this name in the cache; made once, and never seen half made."""
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder
        new = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.parent))
        try:
            get(new)
            new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return folder


def _pip(to: Path, package: str) -> None:
    _run([sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(to), package])


def _npm(to: Path, package: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(f"npm is not installed, and {package} comes with it: install Node.js")
    # Nothing of a package runs at its installation: all four work without.
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts"]
    _run([npm, "install", "--prefix", str(to), *quiet, package])


def _run(argv: Sequence[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=GET_WITHIN_S)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def _program(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise RuntimeError(f"{folder} has no {pattern}: remove the folder and try again")
    return found[0]
