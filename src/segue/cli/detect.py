"""`segue detect`: what stopped this screen, which kind of limit it is, until when."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import IO, Any
from zoneinfo import ZoneInfo

import click

from segue.cli import console, detect_many, output, streams
from segue.cli.detect_many import LINE_BYTES_MAX
from segue.dialects.limits import Detection, Extra, detect
from segue.errors import UserError
from segue.i18n import N_, _

YEARS = range(1970, 9000)
_EPOCH = re.compile(r"\d{9,10}(?:\.\d{1,9})?")  # seconds since 1970
SCREEN_BYTES_MAX = 64 * 1024 * 1024

STATES = {
    "paused": N_("paused"),
    "paused_menu": N_("paused: a menu waits for a choice"),
    "paused_self_resuming": N_("paused; it resumes by itself, so leave it alone"),
    "self_retrying": N_("retries by itself, so leave it alone"),
    "busy": N_("busy"),
    "idle": N_("idle"),
    "asks": N_("has a question"),
    "unknown": N_("no limit found on this screen"),
}
FORMS = {
    "epoch": N_("a Unix timestamp"),
    "iso": N_("a date and a time"),
    "http": N_("a date and a time"),
    "date": N_("a date"),
    "weekday": N_("a day of the week"),
    "day": N_("a day counted from today"),
    "clock": N_("a time of day: the one just past, or the next"),
    "span": N_("a duration from now"),
    "period": N_("the start of a period"),
}
UNKNOWN_ZONE = "unknown_zone"
NOTES = {
    UNKNOWN_ZONE: N_("unknown time zone “{zone}”: Segue ignores the reset time"),
    "day_only": N_("only a day is given: Segue takes its beginning"),
    "next_period": N_("no time is given: Segue takes the beginning of the period"),
}
SPEAKERS = {
    "speech": N_("the agent"),
    "notice": N_("the program"),
    "plain": N_("unknown speaker"),
    "prompt": N_("a person"),
    "tool": N_("a tool"),
    "local": N_("a command of the program"),
}
MISSING = {
    "no_words": N_("no limit wording"),
    "no_row": N_("limit wording that matches no rule"),
    "alien": N_("source code, a search result or a list"),
    "warning": N_("a warning, not a limit"),
    "condition": N_("a condition, not a fact"),
    "first_person": N_("the agent describes its own work"),
    "report": N_("a report about a limit, not its message"),
    "code": N_("a line of source code"),
    "more": N_("longer than any limit message"),
}
ASIDE = {
    "says_nothing": N_("says nothing"),
    "warning": N_("a warning, not a limit"),
    "status": N_("a status line"),
    "lifted": N_("the limit has ended, or another model took over"),
    "older": N_("older than the message that stopped it"),
    "newer_speech": N_("output of the agent: it is working"),
    "newer_tool": N_("a tool call or its output: the agent is working"),
    "newer_prompt": N_("a prompt: the agent was asked to continue"),
    "newer_plain": N_("text that is not about a limit"),
    "newer_notice": N_("a notice that is not about a limit"),
    "newer_local": N_("output of a command of the program"),
}


@click.command(
    "detect",
    help=_("Show what stopped the agent on this screen: the kind of limit, and when it ends."),
    epilog=output.example("tmux capture-pane -p | segue detect --explain"),
)
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), required=False)
@output.json_option()
@click.option("--jsonl", is_flag=True, help=_("many screens: one JSON object per line, in and out"))
@click.option(
    "--explain",
    is_flag=True,
    help=_("also show which rule matched and which text Segue ignored"),
)
@click.option("--tool", metavar="NAME", help=_("the agent's name: claude, codex, gemini, …"))
@click.option("--now", metavar="TIME", help=_("time of the screen (ISO 8601; default: now)"))
@click.option("--tz", metavar="ZONE", help=_("time zone of the screen (default: this machine's)"))
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    file: Path | None,
    as_json: bool,
    jsonl: bool,
    explain: bool,
    tool: str | None,
    now: str | None,
    tz: str | None,
) -> int:
    zone = _zone(tz)
    given = _instant(now, zone) if now else None
    extra = _own_patterns(ctx.obj["environ"])
    if jsonl:
        with _opened(file) as source:
            for answer in answers(source, tool, given, zone, extra, explain=explain):
                console.write_bytes(answer)
                if not streams.is_read():
                    break
        return 0
    with _opened(file) as source:
        text = source.read(SCREEN_BYTES_MAX).decode("utf-8", "replace")
    found = _found(text, tool, given or datetime.now(UTC), zone, extra, is_explained=explain)
    if as_json:
        shown = to_json(str(file) if file and str(file) != "-" else None, found)
        output.print_json(shown | explained(found) if explain else shown)
    else:
        show(found, zone, explain=explain)
    return 0


# Many screens


def answers(
    source: IO[bytes],
    tool: str | None,
    now: datetime | None,
    tz: tzinfo,
    extra: Sequence[Extra] = (),
    *,
    explain: bool = False,
) -> Iterator[bytes]:
    """One answer for each line, as soon as the line is there."""

    def answer(line: bytes | None) -> bytes:
        if line is None:
            return _line({"id": None, "error": f"more than {LINE_BYTES_MAX} bytes in one line"})
        return _line(_answer(line, tool, now, tz, extra, explain=explain))

    return detect_many.answers(source, answer)


def _answer(
    line: bytes,
    tool: str | None,
    now: datetime | None,
    tz: tzinfo,
    extra: Sequence[Extra],
    *,
    explain: bool,
) -> dict[str, Any]:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        return {"id": None, "error": "no JSON"}
    if not isinstance(given, dict):
        return {"id": None, "error": "no JSON object"}
    id_, text = given.get("id"), given.get("text")
    if not isinstance(text, str):
        return {"id": id_, "error": "`text` is missing, or no text"}
    zone = _known_zone(str(given["tz"])) if given.get("tz") else tz
    is_unknown, zone = zone is None, zone or tz
    try:
        at = _instant(str(given["now"]), zone) if given.get("now") else now or datetime.now(UTC)
    except UserError as error:
        return {"id": id_, "error": str(error)}
    name = given.get("tool") or tool
    found = _found(text, str(name) if name else None, at, zone, extra, is_explained=explain)
    answer = to_json(id_, found) | explained(found) if explain else to_json(id_, found)
    if is_unknown and UNKNOWN_ZONE not in answer["notes"]:
        answer["notes"].append(UNKNOWN_ZONE)
    return answer


def _found(
    text: str,
    tool: str | None,
    now: datetime,
    tz: tzinfo,
    extra: Sequence[Extra],
    *,
    is_explained: bool = False,
) -> Detection:
    """An agent's own structured words are believed before what stands there for people."""
    if text.lstrip()[:1] == "{":
        from segue.dialects import stops  # noqa: PLC0415 - every agent's dialect, seldom needed

        if (told := stops.detection(text, tool, now, tz)) is not None:
            return told
    return detect(text, tool=tool, now=now, tz=tz, extra=extra, is_explained=is_explained)


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def _line(answer: dict[str, Any]) -> bytes:
    return console.safe_json(_ENCODER.encode(answer)).encode("utf-8", "replace") + b"\n"


# One screen


def to_json(id_: object, found: Detection) -> dict[str, Any]:
    """The answer as the documents describe it."""
    return {
        "id": id_,
        "paused": found.paused,
        "kind": found.kind,
        "resets_at": _utc(found.resets_at),
        "wait_s": found.wait_s,
        "state": found.state,
        "evidence": found.evidence,
        "source": found.source,
        "confidence": found.confidence,
        "notes": list(found.notes),
    }


def explained(found: Detection) -> dict[str, Any]:
    """Why, or why not: the row that decided, or what was missing; how the time was read."""
    return {
        "rule": found.rule or None,
        "speaker": found.speaker or None,
        "missing": found.missing or None,
        "time": {
            "text": found.time_text or None,
            "form": found.time_form or None,
            "zone": found.time_zone or None,
            "is_minute_rounded": found.is_minute_rounded,
        },
        "aside": [{"text": text, "why": why} for text, why in found.aside],
    }


def _utc(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def show(found: Detection, zone: tzinfo, *, explain: bool) -> None:
    """The answer in words."""
    from segue.cli.words import limit_name  # noqa: PLC0415 - many words, for people only
    from segue.core.durations import format_duration  # noqa: PLC0415

    state = _(STATES[found.state])
    console.echo(f"{state}: {limit_name(found.kind)}" if found.kind else state)
    if found.resets_at is not None:
        at = found.resets_at.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S %Z")
        if found.wait_s:
            text = _("until {time} ({duration} from now)")
            console.echo("  " + text.format(time=at, duration=format_duration(found.wait_s)))
        else:
            console.echo("  " + _("until {time} (already past)").format(time=at))
    elif found.paused:
        console.echo("  " + _("no time is given"))
    if found.evidence:
        console.echo(f"  “{found.evidence}”")
    if found.paused and found.is_probable:
        console.echo("  ! " + _("probable: the agent itself may have written this"))
    for note in found.notes:
        console.echo("  ! " + _(NOTES[note]).format(zone=found.time_zone))
    if explain:
        _explain(found)


def _explain(found: Detection) -> None:
    if found.rule:
        console.echo("  " + _("rule: {rule}").format(rule=found.rule))
    if found.speaker:
        console.echo("  " + _("newest block: {speaker}").format(speaker=_(SPEAKERS[found.speaker])))
    if found.missing:
        console.echo("  " + _("not a limit: {why}").format(why=_(MISSING[found.missing])))
    if found.time_text:
        form = _(FORMS[found.time_form])
        console.echo("  " + _("time: “{text}”, {form}").format(text=found.time_text, form=form))
    if found.aside:
        console.echo("  " + _("ignored, from the bottom up:"))
    for text, why in found.aside:
        shown = text if len(text) <= 60 else text[:59] + "…"
        console.echo(f"    {_(ASIDE[why])}: {shown}")


# What was given


def _opened(file: Path | None) -> IO[bytes]:
    if file is None or str(file) == "-":
        return click.open_file("-", "rb")
    try:
        return file.open("rb")
    except OSError as error:
        message = _("cannot read the screen: {why}").format(why=error.strerror or error)
        hint = _("name a file with the text of a screen, or - to read it from standard input")
        raise UserError("no_file", message, file=str(file), hint=hint) from error


def _own_patterns(environ: Mapping[str, str]) -> Sequence[Extra]:
    """What the project's settings and the user's own add to what is known.

    Reading settings takes as long as reading a screen: nothing is loaded where there are none.
    """
    here = Path.cwd()
    own = Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/")) / ".config")
    places = (*(folder / "segue.toml" for folder in (here, *here.parents)), own / "segue")
    if not any(place.exists() for place in places):
        return ()
    from segue.work.project import Project  # noqa: PLC0415
    from segue.work.settings import config  # noqa: PLC0415

    return config.load(Project.containing(here).root, config.user_file(environ)).limit_patterns


def _zone(name: str | None) -> tzinfo:
    if name:
        return _named_zone(name)
    here = datetime.now(UTC).astimezone().tzinfo
    assert here is not None
    return here


def _named_zone(name: str) -> tzinfo:
    if (zone := _known_zone(name)) is None:
        hint = _("write a name such as Asia/Seoul or UTC")
        message = _("unknown time zone `{name}`").format(name=name)
        raise UserError("bad_value", message, hint=hint)
    return zone


@lru_cache(maxsize=256)
def _known_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _instant(text: str, zone: tzinfo) -> datetime:
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(float(text), UTC)
    try:
        at = datetime.fromisoformat(text)
        if at.year not in YEARS:  # so close to the ends of the calendar nothing can be reckoned
            raise ValueError(text)
    except ValueError as error:
        hint = _("write a time such as 2026-03-16T13:19:00+01:00")
        message = _("`{text}` is not a time").format(text=text)
        raise UserError("bad_value", message, hint=hint) from error
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=zone).astimezone(UTC)
