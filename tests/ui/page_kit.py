"""A real server with scripted agents, and a real browser to look at it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, BrowserContext, Page, Playwright
from playwright.sync_api import Error as PlaywrightError

T = TypeVar("T")
TOKEN = "a-token-for-the-page"
SCRIPT = Path(__file__).with_name("page_server.py")
WAIT_S = 60.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
Json = dict[str, Any]


def until(condition: Callable[[], T], what: str = "it") -> T:
    """Wait for a condition; its value."""
    deadline = time.monotonic() + WAIT_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} never happened"
        time.sleep(0.02)
    return value


class Server:
    """A project with scripted agents, each with a scenario of its own, and `segue serve` in it."""

    def __init__(self, folder: Path, agents: dict[str, str], more: str = "") -> None:
        self.folder = folder
        first = next(iter(agents))
        settings = [f'agent = "{first}"', "[recovery]", "wake_margin_s = 0"]
        for name, scenario in agents.items():
            (folder / f"{name}.scenario").write_text(scenario, encoding="utf-8")
            settings += [f"[agents.{name}]", 'kind = "script"', f'scenario = "{name}.scenario"']
        text = "\n".join([*settings, more])
        (folder / "segue.toml").write_text(text, encoding="utf-8")

    def start(self, **environ: str) -> None:
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TMPDIR")}
        env |= {"HOME": str(self.folder), "SEGUE_TOKEN": TOKEN, "SEGUE_LANG": "en"} | environ
        self._errors = (self.folder / "errors").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            cwd=self.folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, (self.folder / "errors").read_text()
        self.url: str = json.loads(line)["url"]

    def stop(self) -> None:
        """Agents outlive their server, so they are ended first."""
        for state in ("pending", "in_progress", "review"):
            for task in self.api("GET", f"/tasks?status={state}")["items"]:
                self.api("POST", f"/tasks/{task['id']}/cancel")
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(WAIT_S)
        self.process.stdout.close()
        self._errors.close()

    def api(self, method: str, path: str, body: Json | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = Request(f"{self.url}/api{path}", data, headers, method=method)
        with urlopen(request, timeout=WAIT_S) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def task(self, title: str, **more: Any) -> str:
        """A new task, submitted unless it is said otherwise; its id."""
        given = {"type": "custom", "title": title, "description": "Do it.", "submit": True, **more}
        made: str = self.api("POST", "/tasks", given)["id"]
        return made

    def state(self, id: str) -> str:
        found: str = self.api("GET", f"/tasks/{id}")["status"]
        return found

    def waits(self, id: str, kind: str) -> Json:
        """The gate of this kind that is open, as soon as it is."""

        def found() -> Json | None:
            items = self.api("GET", "/inbox")["items"]
            mine = (gate for gate in items if gate["taskId"] == id and gate["kind"] == kind)
            return next(mine, None)

        return until(found, f"a {kind} of {id}")

    def reaches(self, id: str, state: str) -> None:
        until(lambda: self.state(id) == state, f"{id} being {state}")


def browser_path() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    assert found, "no browser is here: scripts/programs.sh chromium"
    return found


class Browsing:
    """One browser for all tests. Now and then it hangs when something of it is to be closed, and
    for that there is no time limit: then it is killed, and the next test gets another one."""

    def __init__(self, playwright: Playwright) -> None:
        self._playwright = playwright
        self._browser: Browser | None = None
        self._mark = f"SEGUE_TEST_BROWSER={secrets.token_hex(8)}"

    def browser(self) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            name, value = self._mark.split("=")
            self._browser = self._playwright.chromium.launch(
                executable_path=browser_path(),
                args=["--no-sandbox"] if os.geteuid() == 0 else [],
                env={**os.environ, name: value},
            )
        return self._browser

    def close(self, what: Browser | BrowserContext) -> None:
        late = threading.Timer(WAIT_S, self._kill)
        late.start()
        try:
            what.close()
        except PlaywrightError:
            if self.browser().is_connected() and late.is_alive():
                raise
        finally:
            late.cancel()
            late.join()

    def end(self) -> None:
        if self._browser is not None:
            self.close(self._browser)

    def _kill(self) -> None:
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                with contextlib.suppress(OSError):
                    if self._mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                        os.kill(int(process.name), signal.SIGKILL)


class Watcher:
    """What goes wrong in a page, and where it wants to go: nothing and nowhere else."""

    def __init__(self, page: Page, url: str) -> None:
        self.faults: list[str] = []
        self.elsewhere: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._said)
        page.on("dialog", lambda dialog: (self.faults.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self._asked(request.url, url))

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning") and "status of 4" not in message.text:
            self.faults.append(message.text)

    def _asked(self, address: str, url: str) -> None:
        if not address.startswith((url, "data:")):
            self.elsewhere.append(address)
