"""A real server with scripted agents, and a real browser to look at it."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Playwright
from playwright.sync_api import Error as PlaywrightError

from kit.command import start_segue
from kit.processes import environs, signal_all
from kit.server import ENDED
from kit.server import Server as HttpServer
from kit.waiting import until

TOKEN = "a-token-for-the-page-of-32-characters"
WAIT_S = 60.0
CONFLICT = 409
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
Json = dict[str, Any]


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
        words = ("serve", "--port", "0", "--json")
        going = start_segue(*words, cwd=self.folder, env=env, output=self.folder / "server")
        self._server = HttpServer(going, TOKEN)
        self.url = self._server.url

    def stop(self) -> None:
        """Agents outlive their server, so they are ended first."""
        for state in ("pending", "in_progress", "review"):
            for task in self._server.items(f"/tasks?status={state}"):
                self._cancel(task["id"])
        self._server.stop()

    def _cancel(self, id: str) -> None:
        """A task that has ended since it was listed needs it no more."""
        answer = self._server.post(f"/tasks/{id}/cancel")
        if answer.status != CONFLICT or self.state(id) not in ENDED:
            answer.ok()

    def api(self, method: str, path: str, body: Json | None = None) -> Any:
        return self._server.ask(method, path, body).ok()

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

    def __init__(self, playwright: Playwright, wait_s: float = WAIT_S) -> None:
        self._playwright, self._wait_s = playwright, wait_s
        self._browser: Browser | None = None
        self._killed: list[Browser] = []  # playwright hears of it a bit later
        self._mark = f"SEGUE_TEST_BROWSER={secrets.token_hex(8)}"

    def browser(self) -> Browser:
        if self._browser is None or self._is_gone(self._browser):
            name, value = self._mark.split("=")
            self._browser = self._playwright.chromium.launch(
                executable_path=browser_path(),
                args=["--no-sandbox"] if os.geteuid() == 0 else [],
                env={**os.environ, name: value},
            )
        return self._browser

    def close(self, what: Browser | BrowserContext) -> None:
        """What is left of a browser that was killed cannot be closed, and need not be."""
        browser = what if isinstance(what, Browser) else what.browser
        assert browser is not None
        late = threading.Timer(self._wait_s, self._kill, (browser,))
        late.start()
        try:
            what.close()
        except PlaywrightError:
            if not self._is_gone(browser):
                raise
        finally:
            late.cancel()
            late.join()

    def end(self) -> None:
        if self._browser is not None:
            self.close(self._browser)

    def _is_gone(self, browser: Browser) -> bool:
        return browser in self._killed or not browser.is_connected()

    def _kill(self, browser: Browser) -> None:
        self._killed.append(browser)
        signal_all(self.pids())

    def pids(self) -> list[int]:
        """The processes of the browser."""
        name, value = self._mark.split("=")
        return [pid for pid, environ in environs().items() if environ.get(name) == value]


class Watcher:
    """What goes wrong in a page, and where it wants to go: nothing and nowhere else."""

    def __init__(self, page: Page, url: str) -> None:
        self.faults: list[str] = []
        self.elsewhere: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._said)
        page.on("dialog", self._asks)
        page.on("request", lambda request: self._asked(request.url, url))

    def _asks(self, dialog: Dialog) -> None:
        self.faults.append(dialog.message)
        dialog.dismiss()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning") and "status of 4" not in message.text:
            self.faults.append(message.text)

    def _asked(self, address: str, url: str) -> None:
        if not address.startswith((url, "data:")):
            self.elsewhere.append(address)
