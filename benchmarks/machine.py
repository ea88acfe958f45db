"""The machine that figures were taken on."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import subprocess
from pathlib import Path


def facts(folder: Path) -> list[tuple[str, str]]:
    """What a reader needs to know to compare."""
    return [
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("SQLite", sqlite3.sqlite_version),
        ("make", _make()),
        ("kernel", f"{platform.system()} {platform.release()}"),
        ("file system", _file_system(folder)),
    ]


def load() -> float:
    """How many processes wanted to run, over the last minute."""
    return os.getloadavg()[0]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _make() -> str:
    if shutil.which("make") is None:
        return "none"
    said = subprocess.run(["make", "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0]


def _file_system(folder: Path) -> str:
    """The type of the mount that holds the folder: the longest mount point above it."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return "unknown"
    at = str(folder.resolve())
    found = ("", "unknown")
    for line in mounts.read_text().splitlines():
        _device, point, kind, *_rest = line.split(" ")
        if (at == point or at.startswith(point.rstrip("/") + "/")) and len(point) >= len(found[0]):
            found = (point, kind)
    return found[1]
