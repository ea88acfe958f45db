"""Templates, and what every page has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from segue.i18n import LANGUAGES, _, language, ngettext
from segue.server.commands import Commands
from segue.server.pages import speech, texts, words
from segue.server.pages.assets import Assets
from segue.work.phases.refused import Refused

TEMPLATES = Path(__file__).parent.parent / "templates"
View = Callable[[], Mapping[str, Any]]
NOTHING_TYPED: Mapping[str, Any] = {"gate": None}
_PLACE = re.compile(r"/(?:[\w-]+(?:/[\w-]+)*)?")


class Site:
    def __init__(self, commands: Commands, assets: Assets) -> None:
        self.commands = commands
        self._waiting: tuple[int, int] = (-1, 0)
        self._templates = _environment(assets)

    def show(
        self,
        request: Request,
        template: str,
        view: View,
        *,
        place: str | None = None,
        status: int = 200,
        refused: Refused | None = None,
    ) -> Response:
        """A page in the language of the person; `place` is where it is looked at again."""
        with speech.speaking(self.language(request)):
            try:
                facts = view()
            except Refused as gone:
                template, facts, status, refused = "error.html", {}, gone.status, gone
            text = self._templates.get_template(template).render(
                {
                    "place": place or request.url.path,
                    "path": request.url.path,
                    "said": words.SAID.get(request.query_params.get("said", "")),
                    "waiting": self.waiting(),
                    "refused": refused,
                    "alert": words.refusal(refused) if refused else None,
                    "typed": NOTHING_TYPED,
                    **facts,
                }
            )
        return HTMLResponse(text, status)

    def language(self, request: Request) -> Any:
        return speech.wanted(request.cookies, request.headers.get("accept-language", ""))

    def waiting(self) -> int:
        """How much waits for people; counted again only when something has happened."""
        seq = self.commands.last_seq
        if self._waiting[0] != seq:
            self._waiting = (seq, int(self.commands.inbox(page_size=1)["total"]))
        return self._waiting[1]


def go(place: str, said: str | None = None, part: str = "") -> Response:
    """Away from a form that was sent: looking again does not send it again."""
    place = place if _PLACE.fullmatch(place) else "/"
    query = f"?said={said}" if said else ""
    return RedirectResponse(f"{place}{query}{part}", 303)


def _environment(assets: Assets) -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=texts.shown,
    )
    made.globals |= {
        "_": _,
        "ngettext": ngettext,
        "language": language,
        "languages": LANGUAGES,
        "asset": assets.address,
        "words": words,
        "when": when,
    }
    made.filters |= {"size": size, "clip": texts.clipped}
    return made


def when(text: str | None, kind: str = "when") -> Markup:
    """An instant: in words here, in local time where scripts run."""
    if not text:
        return Markup("–")
    shown = f"{text[:10]} {text[11:16]} UTC"
    return Markup('<time datetime="{}" class="{}">{}</time>').format(text, kind, shown)


def size(count: int) -> str:
    for unit in ("B", "kB"):
        if count < 1_000:
            return f"{count} {unit}"
        count = round(count / 1_000)
    return f"{count} MB"
