"""Real text about limits, to be shown to the detector as an agent's output.

Sources and documents of programs that limit rates, call models and retry are fetched with pip
(nothing is installed or run) and cut down to their text. It must never look like a limit of the
agent itself. The text is kept in the cache folder of the tests (`SEGUE_TEST_CACHE`, else
`segue-tests` in the user's cache folder), about 80 MB.

python scripts/limit_corpus.py             fetch what is missing, say how much there is
python scripts/limit_corpus.py --sources   also tests and change logs, which takes minutes
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
from collections.abc import Iterator, Sequence
from pathlib import Path

# What gets installed: quick to fetch, and the large ones speak of limits on every page.
PACKAGES = (
    *("limits", "slowapi", "tenacity", "Flask-Limiter", "aiolimiter", "pyrate-limiter", "backoff"),
    *("throttled-py", "stamina", "litellm", "openai", "anthropic", "aider-chat", "crewai"),
    *("openai-agents", "PyGithub", "mistralai", "instructor", "celery", "redis"),
)
# Those whose sources have more: tests, change logs, documents.
SOURCES = (
    *("limits", "slowapi", "ratelimit", "tenacity", "Flask-Limiter", "pyrate-limiter"),
    *("django-ratelimit", "requests-ratelimiter", "ratelimiter", "token-bucket", "stamina"),
    *("openai", "anthropic", "litellm", "groq", "cohere", "tweepy", "praw", "PyGithub"),
    *("slack-sdk", "celery", "redis", "httpx", "urllib3", "aiohttp", "scrapy", "instructor"),
)
TEXT = frozenset({".py", ".md", ".rst", ".txt", ".toml", ".cfg", ".yaml", ".yml", ".ts", ".sh"})
FILE_BYTES_MAX = 400_000
FETCH_WITHIN_S = 600.0


def folder() -> Path:
    """Where the text is kept: beside the agent programs that the tests use."""
    own = os.environ.get("SEGUE_TEST_CACHE")
    general = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(own) if own else Path(general) / "segue-tests") / "limit-corpus-2"


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of every file that was fetched, in the same order each time."""
    for path in sorted(root.rglob("*")):
        if path.suffix in TEXT and path.is_file():
            yield str(path.relative_to(root)), path.read_text("utf-8", "replace")


def fetch(root: Path) -> None:
    """Get what is missing, all in one go; whoever comes second waits, and finds it there."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [name for name in PACKAGES if not (root / name).exists()]
        if missing:
            _fetch(missing, root, "--only-binary")


def fetch_sources(root: Path) -> None:
    """Get sources one by one: some cannot be had, which is no reason to have none."""
    root.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        if not (root / f"{name}-source").exists():
            try:
                _fetch([name], root, "--no-binary", "-source")
            except subprocess.CalledProcessError:
                print(f"{name}: its sources cannot be had", file=sys.stderr)


def _fetch(names: Sequence[str], root: Path, form: str, suffix: str = "") -> None:
    with tempfile.TemporaryDirectory(dir=root, prefix=".get-") as temporary:
        got = Path(temporary) / "got"
        got.mkdir()
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir"]
        command += ["--disable-pip-version-check", form, ":all:", "-d", str(got), *names]
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=FETCH_WITHIN_S, cwd=got
        )
        archives = {_plain(path.name.partition("-")[0]): path for path in got.iterdir()}
        for name in names:
            archive = archives.get(_plain(name)) or next(iter(archives.values()))
            kept = Path(temporary) / "kept"
            kept.mkdir()
            for number, (kind, data) in enumerate(_files(archive)):
                (kept / f"{number:06}{kind}").write_bytes(data)  # no path from outside is used
            shutil.rmtree(root / (name + suffix), ignore_errors=True)
            kept.rename(root / (name + suffix))


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def _files(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                suffix = Path(info.filename).suffix
                if suffix in TEXT and 0 < info.file_size <= FILE_BYTES_MAX:
                    yield suffix, opened.read(info)
        return
    with tarfile.open(archive) as unpacked:
        for member in unpacked:
            suffix = Path(member.name).suffix
            if member.isfile() and suffix in TEXT and 0 < member.size <= FILE_BYTES_MAX:
                taken = unpacked.extractfile(member)
                if taken is not None:
                    yield suffix, taken.read()


def main(arguments: Sequence[str]) -> int:
    root = folder()
    fetch(root)
    if "--sources" in arguments:
        fetch_sources(root)
    sizes = [path.stat().st_size for path in root.rglob("*") if path.suffix in TEXT]
    print(f"{root}: {len(sizes)} texts, {sum(sizes) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
