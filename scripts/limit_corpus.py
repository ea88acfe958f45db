"""Real text about limits, to be shown to the detector as an agent's output.

Sources, tests, change logs and documents of programs that limit rates, call models and retry
are fetched with pip (nothing is installed or run) and cut down to their text. It must never look
like a limit of the agent itself. The text is kept in the cache folder of the tests
(`SEGUE_TEST_CACHE`, else `segue-tests` in the user's cache folder), about 80 MB.

python scripts/limit_corpus.py        fetch what is missing, say how much there is
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

# Small ones about nothing else first; then those that fill the rest.
PACKAGES = (
    *("limits", "slowapi", "ratelimit", "tenacity", "Flask-Limiter", "aiolimiter"),
    *("pyrate-limiter", "django-ratelimit", "backoff", "throttled-py", "requests-ratelimiter"),
    *("fastapi-limiter", "ratelimiter", "asyncio-throttle", "token-bucket", "stamina"),
    *("openai", "anthropic", "litellm", "aider-chat", "instructor", "mistralai", "groq", "cohere"),
    *("tweepy", "praw", "PyGithub", "slack-sdk", "discord.py", "stripe", "boto3", "scrapy"),
    *("celery", "redis", "httpx", "urllib3", "aiohttp", "google-api-core", "azure-core"),
    *("djangorestframework", "django", "langchain-core", "langchain", "llama-index-core"),
    *("huggingface-hub", "kubernetes", "crewai", "dspy", "pydantic-ai-slim", "openai-agents"),
)
TEXT = frozenset(
    {".py", ".md", ".rst", ".txt", ".toml", ".cfg", ".yaml", ".yml", ".js", ".ts", ".pyi", ".sh"}
)
FILE_BYTES_MAX = 400_000
FETCH_WITHIN_S = 600.0


def folder() -> Path:
    """Where the text is kept: beside the agent programs that the tests use."""
    own = os.environ.get("SEGUE_TEST_CACHE")
    general = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(own) if own else Path(general) / "segue-tests") / "limit-corpus"


def texts(root: Path | None = None) -> Iterator[str]:
    """Every text that was fetched, in the same order each time."""
    for path in sorted((root or folder()).rglob("*")):
        if path.is_file() and path.suffix in TEXT:
            yield path.read_text("utf-8", "replace")


def fetch(root: Path) -> list[str]:
    """Get what is missing; the names of what could not be got."""
    root.mkdir(parents=True, exist_ok=True)
    missing = []
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for package in PACKAGES:
            if not (root / package).exists() and not _got(package, root):
                missing.append(package)
    return missing


def _got(package: str, root: Path) -> bool:
    """Its sources with tests and change log; where they cannot be had, what gets installed."""
    with tempfile.TemporaryDirectory(dir=root, prefix=".get-") as name:
        got, kept = Path(name) / "got", Path(name) / "kept"
        if not (_download(package, got, "--no-binary") or _download(package, got, "--only-binary")):
            return False
        for archive in got.iterdir():
            _unpack(archive, kept)
        if not kept.exists():
            return False
        kept.rename(root / package)
        return True


def _download(package: str, to: Path, form: str) -> bool:
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", form, ":all:", "-d", str(to), package]
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, timeout=FETCH_WITHIN_S, cwd=to
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _unpack(archive: Path, to: Path) -> None:
    """Only its texts, each under a name of its own: nothing of a path from outside is used."""
    for number, (suffix, data) in enumerate(_files(archive)):
        to.mkdir(exist_ok=True)
        (to / f"{number:06}{suffix}").write_bytes(data)


def _files(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                suffix = Path(info.filename).suffix
                if suffix in TEXT and 0 < info.file_size <= FILE_BYTES_MAX:
                    yield suffix, opened.read(info)
        return
    with tarfile.open(archive) as opened:
        for member in opened:
            suffix = Path(member.name).suffix
            if member.isfile() and suffix in TEXT and 0 < member.size <= FILE_BYTES_MAX:
                taken = opened.extractfile(member)
                if taken is not None:
                    yield suffix, taken.read()


def main() -> int:
    root = folder()
    missing = fetch(root)
    sizes = [path.stat().st_size for path in root.rglob("*") if path.suffix in TEXT]
    print(f"{root}: {len(sizes)} texts, {sum(sizes) / 1e6:.1f} MB")
    if missing:
        print(f"could not be fetched: {', '.join(missing)}", file=sys.stderr)
    return 1 if not sizes else 0


if __name__ == "__main__":
    sys.exit(main())
