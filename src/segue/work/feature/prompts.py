"""The prompts of a feature: templates that people can read, and replace by their own.

A template in `segue-prompts/develop/NAME.md` of the project, or in the user's configuration
folder, takes the place of ours. `$feature`, `$target` and the like are filled in; what is not
known stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from segue.i18n import language

FOLDER = "segue-prompts"
NAMES = ("design", "review", "implement", "merge")


def fill(name: str, project: Path, user: Path | None, values: Mapping[str, str]) -> str:
    return Template(template(name, project, user)).safe_substitute(values).strip()


def template(name: str, project: Path, user: Path | None) -> str:
    """The project's own, the user's own, or ours in the language in use."""
    for folder in filter(None, (project / FOLDER, user / "prompts" if user else None)):
        path = folder / "develop" / f"{name}.md"
        if path.is_file():
            return path.read_text("utf-8", "replace")
    ours = files("segue.work.feature").joinpath("templates")
    for found in (ours / f"{name}.{language()}.md", ours / f"{name}.md"):
        if found.is_file():
            return found.read_text("utf-8")
    raise KeyError(name)
