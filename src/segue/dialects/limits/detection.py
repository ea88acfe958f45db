"""`detect`: what stopped this screen, which kind of limit it is, until when.

The screen is read upwards. Rows that say nothing are skipped; the first block that says something
decides: a message of the program stops the agent, anything else is work, and older messages are
past. Everything passed over is kept with its reason, for those who ask why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from segue.dialects.limits.brands import brand_of
from segue.dialects.limits.envelope import labels
from segue.dialects.limits.envelope.heads import head_of
from segue.dialects.limits.envelope.opened import is_raised, last_entry, opened
from segue.dialects.limits.extra import Extra
from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.reading import (
    ALONE,
    LABELS,
    NO_WORDS,
    OWN,
    SPEECH,
    Reading,
    is_warning,
    read,
    read_opened,
    why_not,
)
from segue.dialects.limits.screen import activity, chrome, layout
from segue.dialects.limits.screen.layout import Block, Layout
from segue.dialects.limits.screen.menus import Menu, menu_of
from segue.dialects.limits.screen.paragraphs import body_of, is_cut, lines
from segue.dialects.limits.screen.rows import normalise
from segue.dialects.limits.time.moments import Here, Moment
from segue.dialects.limits.time.when import when
from segue.dialects.limits.wording import kinds, words

CERTAIN, PROBABLE = "certain", "probable"
PAUSED = frozenset({"paused", "paused_menu", "paused_self_resuming"})
RETRY_SHORT_S = 15 * 60.0  # what tries again later than this is a pause
EVIDENCE_CHARS_MAX = 500
ASIDE_MAX = 40
ASIDE_CHARS_MAX = 200
SHORT_ROWS = 10
FOLLOWERS_MAX = 3

# The message replaced the summary to continue with.
_SUMMARY = Expression(r"\blimit reached\|\d{10}")
_UNTIL = Expression(
    r"\b(?:resets?|refresh\w*|renew\w*|again|available|back|until)\b|초기화|リセット|重置",
    re.IGNORECASE,
)
_RESET_KEY = Expression(r"(?i)(?:retry|reset|refresh|renew)[\w-]{0,12}\\{0,4}[\"']?\s*[:=]")
_TELLS = Expression(r"\b(?:limits?|quota|credits?|usage|rate)\b", re.IGNORECASE)
# A file's name is no advice, whatever words are in it; what is done to files is work.
_PATH = Expression(r"(?<![:/\w])[\w.-]*\w/[\w./-]+|\b[\w-]+\.(?:[a-z]{1,4}|toml|json|yaml)\b")
_WORK = Expression(
    r"\bTraceback \(most recent|^\s*(?:Wrote|Created|Updated|Edited|Reading|Ran|Running|Going on)\b"
)
# What a message may be followed by, in a paragraph of its own.
_ADVICE = Expression(
    r"\b(?:you|your|please|upgrade|visit|contact|request[ -]?id|try|retry|wait|see|learn"
    r"|more (?:info"
    r"|details)|run|resume|settings|switch|status page|provider returned|support|press|increase"
    r"|subscribe|purchase|credits?|plan|limits?|terms|to continue:|until reset)\b|https?://|(?:^|\s)/\w+\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Detection:
    """One answer. `aside` is what was passed over on the way, and why."""

    state: str
    kind: str | None = None
    resets_at: datetime | None = None
    wait_s: float | None = None
    evidence: str = ""
    rule: str = ""
    notes: tuple[str, ...] = ()
    time_text: str = ""
    time_form: str = ""
    time_zone: str = ""
    is_minute_rounded: bool = False
    is_named: bool = False  # the words name the kind, not only the brand's habit
    draft: str | None = None
    menu: Menu | None = None
    aside: tuple[tuple[str, str], ...] = ()
    source: str = "screen"
    is_probable: bool = False  # the words fit, but perhaps it is the agent who says them
    speaker: str = ""  # whose words decided
    missing: str = ""  # why the newest words are no message, where nothing stops the agent

    @property
    def paused(self) -> bool:
        return self.state in PAUSED

    @property
    def confidence(self) -> str:
        """Certain acts; probable acts only with corroboration, and types nothing."""
        return PROBABLE if self.is_probable or self.state == "unknown" else CERTAIN

    @property
    def is_stop(self) -> bool:
        """Paused, or trying again by itself."""
        return self.paused or self.state == "self_retrying"


class _Look:
    """One screen being read."""

    def __init__(self, rows: list[str], here: Here, brand: str, extra: Sequence[Extra]) -> None:
        self._rows, self.here, self.brand, self.extra = rows, here, brand, extra
        self.aside: list[tuple[str, str]] = []
        self.newest: Block | None = None  # that says something

    @property
    def is_short(self) -> bool:
        """One message and nothing else."""
        return len(self._rows) <= SHORT_ROWS

    @property
    def is_marked(self) -> bool:
        """What the agent says has a mark."""
        return not chrome.SPEECH.isdisjoint([row[:1] for row in self._rows])

    def missing(self) -> str:
        """Why the newest block is no message."""
        if self.newest is None:
            return NO_WORDS
        rows = self.newest.rows
        found = lines(tuple(rows), max(map(len, self._rows), default=0))
        return why_not(found, self.brand, _trust(self.newest, self))

    def pass_by(self, text: str, why: str) -> None:
        if len(self.aside) < ASIDE_MAX:
            self.aside.append((text[:ASIDE_CHARS_MAX], why))

    def read(self, rows: Sequence[str], trust: int, *, is_open: bool = False) -> Reading | None:
        """The message in some rows. `is_open`: something may carry it, a log or an exception."""
        if not self.extra and not words.may_tell("\n".join(rows)):
            return None
        if is_open and head_of(rows[0]).is_log and (carried := self._carried(rows)):
            return carried
        reading = self._said(rows, trust)
        if is_open and (reading is None or _may_know_more(rows, reading)):
            reading = self._carried(rows) or reading
        return reading

    def _carried(self, rows: Sequence[str]) -> Reading | None:
        """What the last entry of a log says, an exception, data."""
        letter = opened(rows[last_entry(rows) :])
        return read_opened(letter, self.here, self.brand) if letter.how else None

    def _said(self, rows: Sequence[str], trust: int) -> Reading | None:
        width = max(map(len, self._rows), default=0)
        found = lines(tuple(rows), width)
        reading = read(found, self.here, self.brand, trust=trust, extra=self.extra)
        is_wrapped = len(rows) > 1 and (trust == OWN or any('{"' in row for row in rows))
        if reading is None and is_wrapped:  # perhaps after all
            joined = [" ".join(map(body_of, rows))]
            reading = read(joined, self.here, self.brand, trust=trust, extra=self.extra)
        if reading is None and trust == ALONE and len(rows) > 1:  # no row continues another
            apart = [body_of(row) for row in rows]
            reading = read(apart, self.here, self.brand, trust=trust, extra=self.extra)
        is_timed = reading is not None and reading.moment is not None
        if not is_timed and is_cut(tuple(rows), width):  # rows of one length by chance
            joined = [" ".join(row.strip() for row in rows)]
            again = read(joined, self.here, self.brand, trust=trust, extra=self.extra)
            is_better = reading is None or reading.rule in LABELS
            reading = again if again and (again.moment or is_better) else reading
        return reading


def detect(
    text: str,
    *,
    tool: str | None,
    now: datetime,
    tz: tzinfo,
    extra: Sequence[Extra] = (),
    is_explained: bool = False,
) -> Detection:
    """What this screen shows. `is_explained`: also what is missing where nothing stops it."""
    rows = normalise(text)
    here = Here(now.astimezone(UTC), tz, tz)
    look = _Look(rows, here, brand_of(tool, rows), extra)
    menu = menu_of(rows)
    parts = Layout(rows) if menu else layout.laid_out(rows)
    found = _menu(menu, look) if menu else _screen(parts, look)
    state = found.state
    if state == "unknown" and parts.draft is not None:
        state = "idle"
    wait_s = None
    if found.resets_at is not None:
        wait_s = max(0.0, (found.resets_at - here.now).total_seconds())
    return Detection(  # five times as fast as replace()
        state,
        found.kind,
        found.resets_at,
        wait_s,
        found.evidence,
        found.rule,
        found.notes,
        found.time_text,
        found.time_form,
        found.time_zone,
        found.is_minute_rounded,
        found.is_named,
        parts.draft,
        menu,
        tuple(look.aside),
        found.source,
        found.is_probable,
        look.newest.place if look.newest else "",
        look.missing() if is_explained and not found.is_stop else "",
    )


def _screen(parts: Layout, look: _Look) -> Detection:
    status = _status(parts.status, look)
    if status is not None and status.state == "busy":
        return _busy(parts, look)
    body = _body(parts.body, look)
    if status is None or body.state in ("busy", "self_retrying"):
        return body
    # Above stands more of the same, with its zone or its window.
    return _merged(status, body) if body.paused else status


def _status(rows: Sequence[str], look: _Look) -> Detection | None:
    """Below the input line: busy, or a limit that is shown there as long as it holds."""
    shown = [row for row in rows if row.strip()]
    if any(map(activity.is_busy, shown)):
        return Detection("busy")
    for at, row in enumerate(shown):
        if not look.extra and not words.may_tell(row):
            look.pass_by(row.strip(), "status")
            continue
        if is_warning(row):
            look.pass_by(row.strip(), "warning")
            continue
        rest = shown[at : at + 3]
        reading = look.read(rest, SPEECH)
        if reading is not None and not activity.is_lifted(reading.text):
            return _stopped(reading, look)
        if activity.is_retrying(row):
            return _retrying(Block(layout.NOTICE, tuple(rest)), look)
        look.pass_by(row.strip(), "status")
    return None


def _busy(parts: Layout, look: _Look) -> Detection:
    """It works; perhaps it only tries again and again."""
    for block in layout.blocks(parts.body):
        if activity.is_retrying(block.text, block.lower):
            return _retrying(block, look)
        if block.place != layout.NOTHING:
            break
    return Detection("busy")


def _body(rows: list[str], look: _Look) -> Detection:
    """The newest block that says something; older ones only add to what it says."""
    found: Detection | None = None
    followers: list[Block] = []
    is_cancelled = False
    for block in layout.blocks(rows):
        is_cancelled = is_cancelled or activity.is_cancelled(block.text, block.lower)
        judged = _judged(block, look)
        look.newest = look.newest or (None if _says_nothing(block) else block)
        if (judged is None or judged.state == "unknown") and _says_nothing(block):
            look.pass_by(block.text, "says_nothing")
            continue
        if judged is not None and judged.is_stop:
            found = _merged(found, judged) if found else judged
            if found.is_named and (found.resets_at is None or found.time_zone):
                break
            continue
        if judged is None and found is None and _may_follow(block, followers):
            followers.append(block)
            continue
        look.pass_by(block.text, "older" if found else f"newer_{block.place}")
        found = found or judged
        break
    if found is None:
        return Detection("unknown")
    if is_cancelled and found.state == "paused_self_resuming":
        found = replace(found, state="paused")
    if found.paused and found.resets_at is None:  # the time may stand in a paragraph of its own
        said = [block.text for block in reversed(followers) if _UNTIL.search(block.text)]
        below = (when(text, look.here) for text in said)
        found = _timed(found, next((moment for moment in below if moment), None))
    return found


def _says_nothing(block: Block) -> bool:
    if block.place == layout.NOTHING or not block.text:
        return True
    if block.place == layout.PROMPT:
        is_queued = block.rows[0].startswith("  ")
        return is_queued or chrome.SLASH.match(block.rows[0].lstrip()[1:]) is not None
    if activity.is_cancelled(block.text, block.lower) and len(block.rows) <= 3:
        return True
    if block.place in (layout.PLAIN, layout.NOTICE):
        return all(map(activity.says_nothing, block.rows))
    return False


def _may_follow(block: Block, followers: Sequence[Block]) -> bool:
    """Advice below a message, or what a command of the program answered."""
    if block.place == layout.LOCAL:
        return True
    if block.place not in (layout.PLAIN, layout.NOTICE) or len(followers) >= FOLLOWERS_MAX:
        return False
    if len(block.text) > 400 or _WORK.search(block.text):
        return False
    return _ADVICE.search(_PATH.sub(" ", block.text)) is not None


def _judged(block: Block, look: _Look) -> Detection | None:
    """A block as a message; None where it is work."""
    if block.place in (layout.TOOL, layout.NOTHING):
        return None
    if block.place == layout.PROMPT:
        said = _SUMMARY.search(block.text)
        if said is None and block.mark not in "┃▌":
            return Detection("unknown")
    if activity.is_busy(block.rows[0]):
        is_retry = activity.is_retrying(block.text, block.lower)
        return _retrying(block, look) if is_retry else Detection("busy")
    rows = block.rows
    if block.place == layout.PROMPT and (said := _SUMMARY.search(block.text)):
        rows = (block.text[said.start() - 16 :],)
    trust = _trust(block, look)
    while len(rows) > 1 and _is_aftermath(rows[-1]):
        rows = rows[:-1]
    reading = look.read(rows, trust, is_open=block.place in (layout.PLAIN, layout.NOTICE))
    is_plain = reading is not None and not reading.how
    if is_plain and trust < OWN and labels.is_source(rows):
        return None
    if reading is None:
        is_own = trust > SPEECH and not labels.is_alien(rows[0])
        is_retry = is_own and activity.is_retrying(block.text, block.lower)
        return _retrying(block, look) if is_retry else None
    if len(rows) > 1 and activity.RETRIES.match(rows[-1]):
        return _retrying(block, look)
    if activity.is_lifted(reading.text):
        look.pass_by(block.text, "lifted")
        return Detection("unknown")
    is_probable = reading.is_probable and (block.place == layout.PLAIN or reading.is_foreign)
    return _stopped(reading, look, is_probable=is_probable)


def _may_know_more(rows: Sequence[str], reading: Reading) -> bool:
    """Whether what carries a message may name a time before it, or be an exception."""
    if len(rows) > 1 and is_raised(rows):
        return True
    return reading.moment is None and _RESET_KEY.search(" ".join(rows)) is not None


def _is_aftermath(row: str) -> bool:
    """An exit code, perhaps in a log, that says nothing of a limit."""
    return activity.is_aftermath(row[head_of(row).end :]) and _TELLS.search(row) is None


def _trust(block: Block, look: _Look) -> int:
    """Whose words these are. Where speech is marked, what has no mark is the program's."""
    if block.place in (layout.NOTICE, layout.LOCAL):
        return OWN
    is_flush = not block.rows[0].startswith("  ")  # else it may continue what was said above
    if block.place == layout.PLAIN and look.is_marked and is_flush:
        return OWN
    return ALONE if look.is_short and block.place != layout.SPEECH else SPEECH


def _stopped(reading: Reading, look: _Look, *, is_probable: bool = False) -> Detection:
    """A message that stops the agent, unless the agent continues by itself."""
    state = "paused"
    lower = reading.text.lower()
    if activity.is_resuming(reading.text, lower) and not activity.is_cancelled(reading.text, lower):
        state = "paused_self_resuming"
    elif activity.is_retrying(reading.text, lower):
        state = _retry_state(reading.moment, look)
    found = _detection(
        state, reading.kind, reading.line, reading.rule, reading.moment, reading.is_named
    )
    return replace(found, is_probable=True) if is_probable else found


def _retrying(block: Block, look: _Look) -> Detection:
    """It tries again by itself; what it says of the cause gives the kind."""
    rows = (block.rows, *((row,) for row in block.rows))  # together, else one by one
    reading = next((found for said in rows if (found := look.read(said, OWN))), None)
    moment = when(block.text, look.here)
    kind = reading.kind if reading else kinds.by_code(block.text) or kinds.UNKNOWN
    return _detection(_retry_state(moment, look), kind, block.text, "retrying", moment, False)


def _retry_state(moment: Moment | None, look: _Look) -> str:
    if moment and (moment.at - look.here.now).total_seconds() > RETRY_SHORT_S:
        return "paused_self_resuming"
    return "self_retrying"


def _detection(
    state: str, kind: str, evidence: str, rule: str, moment: Moment | None, is_named: bool
) -> Detection:
    evidence = evidence[:EVIDENCE_CHARS_MAX]
    if moment is None:
        return Detection(state, kind, evidence=evidence, rule=rule, is_named=is_named)
    return Detection(
        state,
        kind,
        resets_at=moment.resets_at,
        evidence=evidence,
        rule=rule,
        notes=moment.notes,
        time_text=moment.text,
        time_form=moment.form,
        time_zone=moment.zone,
        is_minute_rounded=moment.is_minute_rounded,
        is_named=is_named,
    )


def _timed(found: Detection, moment: Moment | None) -> Detection:
    if moment is None:
        return found
    assert found.kind is not None
    return _detection(found.state, found.kind, found.evidence, found.rule, moment, found.is_named)


def _merged(newer: Detection, older: Detection) -> Detection:
    """Two messages about one stop: the newer counts, the older may know more."""
    found = newer
    if newer.is_probable and not older.is_probable:
        found = replace(newer, is_probable=False)
    if older.kind and (newer.kind in (None, kinds.UNKNOWN) or not newer.is_named):
        found = replace(found, kind=older.kind, is_named=older.is_named)
    knows_more = newer.resets_at is None or (not newer.time_zone and older.time_zone)
    if older.resets_at is not None and knows_more:
        found = replace(
            found,
            resets_at=older.resets_at,
            time_text=older.time_text,
            time_form=older.time_form,
            time_zone=older.time_zone,
            is_minute_rounded=older.is_minute_rounded,
            notes=older.notes,
        )
    return found


def _menu(menu: Menu, look: _Look) -> Detection:
    """A menu: about a limit, or another question."""
    asked = look.read(menu.title, ALONE)
    above = _stopped(asked, look) if asked else _body(menu.above, look)
    if menu.is_question or not (menu.waits or above.paused):
        return Detection("asks", evidence=" ".join(menu.title)[:EVIDENCE_CHARS_MAX])
    if not above.paused:
        kind = kinds.by_habit(look.brand, None, look.here.now)
        above = Detection("paused_menu", kind, rule="menu", evidence=menu.entries[0])
    found = replace(above, state="paused_menu")
    if found.resets_at is None:
        found = _timed(found, when(" ".join(menu.entries), look.here))
    return found
