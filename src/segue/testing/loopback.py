"""The real programs on loopback: an environment in which they know a fake model and nothing else.

No key, no login, nothing of the user's settings, and no way out: whatever is not on this
machine goes to a port on which no server listens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

KEY = "test-key"
NOWHERE = "http://127.0.0.1:9"  # no server listens on the discard port


def clean_env(
    folder: Path,
    url: str,
    kind: str,
    environ: Mapping[str, str],
    *,
    oauth: bool = False,
    retries: int | None = None,
) -> dict[str, str]:
    """An environment in which the program knows this model and nothing else.

    Its home and temporary folder are made in `folder`, with the settings it needs; of `environ`
    it gets the PATH. `oauth` makes claude a subscriber: only then does it heed the headers about
    five hours and a week. `retries`: how often it tries again by itself.
    """
    home, temporary = folder / "home", folder / "tmp"
    home.mkdir(parents=True, exist_ok=True)
    temporary.mkdir(exist_ok=True)
    env = {
        "PATH": environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        env |= {name: NOWHERE, name.lower(): NOWHERE}
    match kind:
        case "claude":
            return env | _claude(home, url, oauth, retries)
        case "codex":
            return env | _codex(home, url, retries)
        case "gemini":
            return env | _gemini(home, url, retries)
        case "opencode":
            return env | _opencode(home, url)
    raise ValueError(kind)


def _claude(home: Path, url: str, oauth: bool, retries: int | None) -> dict[str, str]:
    seed = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY], "rejected": []},
    }
    _write_json(home / ".claude.json", seed)
    off = (
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    )
    env = {"ANTHROPIC_BASE_URL": url, **dict.fromkeys(off, "1")}
    env["CLAUDE_CODE_OAUTH_TOKEN" if oauth else "ANTHROPIC_API_KEY"] = KEY
    if retries is not None:
        env["CLAUDE_CODE_MAX_RETRIES"] = str(retries)
    return env


def _codex(home: Path, url: str, retries: int | None) -> dict[str, str]:
    lines = [
        'model = "gpt-5"',
        'model_provider = "fake"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[model_providers.fake]",
        'name = "fake"',
        f'base_url = "{url}/v1"',
        'wire_api = "responses"',
        'env_key = "FAKE_API_KEY"',
    ]
    if retries is not None:
        lines += [f"request_max_retries = {retries}", f"stream_max_retries = {retries}"]
    _write(home / ".codex" / "config.toml", "\n".join(lines) + "\n")
    return {"FAKE_API_KEY": KEY}


def _gemini(home: Path, url: str, retries: int | None) -> dict[str, str]:
    settings: dict[str, object] = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    general: dict[str, object] = {"enableAutoUpdate": False, "disableAutoUpdate": True}
    if retries is not None:
        general["maxAttempts"] = retries + 1
    _write_json(home / ".gemini" / "settings.json", {**settings, "general": general})
    return {
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _opencode(home: Path, url: str) -> dict[str, str]:
    model = {
        "name": "fake",
        "limit": {"context": 200_000, "output": 8_000},
        "cost": {"input": 1, "output": 5},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {"fake-model": model},
    }
    settings = {
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"fake": provider},
    }
    _write_json(home / ".config" / "opencode" / "opencode.json", settings)
    off = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH")
    return dict.fromkeys((*off, "OPENCODE_DISABLE_LSP_DOWNLOAD"), "1")


def _write_json(path: Path, content: object) -> None:
    _write(path, json.dumps(content, indent=2) + "\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
