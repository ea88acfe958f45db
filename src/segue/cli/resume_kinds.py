"""What `segue resume` says and does for each kind of work: a module for each, imported when a work
of its kind was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from segue.engine.kind import Found
from segue.i18n import _
from segue.store.rows import PANES, SERVER


def describe(one: Found) -> str:
    """Where no kind says more: why it stands, and what comes next."""
    stopped = _("stopped: {why}").format(why=one.why)
    following = _("next: {next}").format(next=one.next)
    return f"    {stopped}\n    {following}"


def way_back(one: Found) -> str | None:
    """Where a kind has no state that could be damaged."""
    return None


class ResumeKind(Protocol):
    def describe(self, one: Found) -> str: ...

    def nothing(self, one: Found) -> str:
        """Why there is nothing to do."""
        ...

    def choices(self, one: Found) -> list[tuple[str, str]]:
        """What can be chosen, and what it does."""
        ...

    def question(self) -> str: ...

    def way_back(self, one: Found) -> str | None:
        """What a person chooses for a damaged state; None: nothing now."""
        ...

    def reset(self, one: Found) -> tuple[dict[str, object], str]:
        """For programs, and in words."""
        ...

    def do(
        self,
        one: Found,
        choice: str,
        environ: dict[str, str],
        *,
        as_json: bool,
        chapters: int | None,
    ) -> int: ...


def _tasklist() -> ResumeKind:
    from segue.cli import resume_tasklist  # noqa: PLC0415 - so that a command loads its own alone

    return resume_tasklist


def _book() -> ResumeKind:
    from segue.cli import resume_book  # noqa: PLC0415 - the same

    return resume_book


def _feature() -> ResumeKind:
    from segue.cli import resume_develop  # noqa: PLC0415 - the same

    return resume_develop


def _server() -> ResumeKind:
    from segue.cli import resume_server  # noqa: PLC0415 - the same

    return resume_server


def _panes() -> ResumeKind:
    from segue.cli import resume_panes  # noqa: PLC0415 - the same

    return resume_panes


RESUME_KINDS: Mapping[str, Callable[[], ResumeKind]] = {
    "tasklist": _tasklist,
    "book": _book,
    "develop": _feature,
    SERVER: _server,
    PANES: _panes,
}
