"""Log heads, recognized by their structure: time, severity, source, then the message.

A head is a row of short fields at the beginning of a line. Each field has a form of its own
(a time, a level, something in brackets, a file and its line, a process, a module), whatever
program printed it: klog, CRI, zap, logrus, syslog, journald, loguru, tracing, docker compose and
CI services differ only in which fields they print and in which order.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from segue.dialects.limits.lazy_regex import Expression

FIELDS_MAX = 12
HEAD_CHARS_MAX = 300

# How grave an entry is; NONE where its head does not say.
NONE, QUIET, WARNING, ERROR = range(4)

_GRAVE = r"err(?:or?)?|ftl|fatal|crit(?:ical)?|emerg(?:ency)?|alert|severe|panic|fail(?:ed|ure)?"
_FOREIGN_GRAVE = r"오류|에러|エラー|错误|錯誤|fehler|erreur"
_LESS = r"wrn|warn(?:ing)?"
_CALM = r"inf(?:o|ormation)?|dbg|debug|trc|trace|notice|verbose|success"
_LEVEL = rf"(?P<grave>{_GRAVE}|{_FOREIGN_GRAVE})|(?P<less>{_LESS})|(?P<calm>{_CALM})"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,:]\d{1,9})?"
_ZONE = r"(?:\s?(?:Z|(?!INFO|WARN|ERR|FAT|CRIT|DEB|NOT|TRAC)[A-Z]{3,4}\b|[+-]\d\d:?\d\d))?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_SEP = r"[\s|:,-]*"

_KLOG = Expression(r"(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ \S+:\d+\]\s+")
_PRIORITY = Expression(r"<(?P<pri>\d{1,3})>(?:1 )?")
_TIME = Expression(
    rf"(?P<open>[\[(])?(?:(?:20)?\d\d[-/.]\d\d[-/.](?:20)?\d\d(?:T|,? ){_CLOCK}{_ZONE}"
    rf"|{_MONTH} [ \d]\d(?: 20\d\d)? {_CLOCK}|{_CLOCK}{_ZONE}(?!\s*(?:am|pm)\b)"
    rf"|1[5-9]\d{{8}}(?:\.\d+|\d{{3}})?(?=\s))"
    rf"(?:(?(open)\s*#\d+[\])]|\b)|[\])]|(?=\s[A-Za-z]{{3,5}}\])|(?<=\d))[\s|:,-]*",
    re.IGNORECASE,
)
_BARE_LEVEL = Expression(
    rf"[\w.]{{0,20}}?(?<![a-z])(?:{_LEVEL})(?:\[\d+\]|\b)(?=[\s\]|:)>,-]){_SEP}", re.I
)
_BOXED_LEVEL = Expression(rf"[\[(<][\w.: ]{{0,12}}?(?:{_LEVEL})[\])>]{_SEP}", re.IGNORECASE)
# A level in capitals begins a log line, the same word in lower case begins a sentence.
_FIRST_LEVEL = Expression(
    r"(?:(?P<calm>INFO|DEBUG|TRACE|NOTICE)|(?P<less>WARN(?:ING)?)"
    r"|(?P<grave>ERROR?|FATA?L?|CRIT(?:ICAL)?|SEVERE|PANIC))(?:\[\d+\])?(?:[|:]\s*|\s+)"
    r"|(?P<letter>[EWFID]), (?=\[)|(?P<dotnet>fail|crit|warn|info|dbug): (?=[\w.]+\[\d+\])"
)
_TIMED_LEVEL = Expression(rf"[\[(]{_CLOCK} (?:{_LEVEL})[\])]\s*", re.IGNORECASE)  # serilog
_ANNOTATION = Expression(
    rf"(?:::(?:{_LEVEL})(?: [^:\n]{{0,120}})?::|##\[(?:{_LEVEL.replace('P<', 'P<b_')})\]"
    rf"|##vso\[[\w.]+ type=(?:{_LEVEL.replace('P<', 'P<v_')})[^\]]{{0,80}}\])\s*",
    re.IGNORECASE,
)
_STREAM = Expression(r"std(?:out|err) [FP] ")  # CRI
_SERVICE = Expression(
    r"[A-Za-z][\w.:-]{0,40}(?: stderr| stdout)? {0,24}\| (?!.* \| )"
)  # docker compose
_BOXED = Expression(r"(?:\[[^\[\]\n]{1,60}\]|\{[\w./-]+:\d+\}|\([\w./ -]{1,40}\)(?=\s))[\s|:,-]*")
_PROCESS = Expression(
    r"(?![\w.:$\\]*(?:Error|Exception)\b)(?:[\w.-]{1,64} )?[\w./@-]{1,48}(?:\[\d+\])?: "
)
_HOST_FIELDS = Expression(
    r"[\w.-]{1,64} [\w./-]{1,48} (?:\d+|-) [\w.-]{1,32} (?:-|\[[^\]]{0,120}\]) "
)
# A module, a function, a file and its line; the class of an exception is no place.
_PLACE = Expression(
    r"(?![\w.:$\\]*(?:Error|Exception)\b)(?:(?:[\w<>$-]+(?:::[\w<>$-]+)+|[\w.<>]+:[\w<>]+:\d+"
    r"|[\w./-]+\.\w{1,5}:\d+|(?:[a-z]\w*\.)+\w+)[\s|:,-]+|[a-z_][\w.]{0,60}:(?=[^\s:/]))"
)
_SPAN = Expression(r"(?:[\w-]+\{[^{}\n]{0,60}\}:)+ ?")  # tracing
_NAME = Expression(
    r"(?!\w*(?:limit|quota|credit|usage))[a-z][\w-]{1,31}(?:\s*[|:]|\s--?|\t|(?= {2}))[\s|:,-]*"
)


class Head(NamedTuple):
    """Where the message begins, and how grave it is. `is_log`: it has what only logs have."""

    end: int
    level: int
    is_log: bool


_NO_HEAD = Head(0, NONE, False)
# How a head begins: with a time, a level, a bracket. Looking at one letter is quick.
_BEGINS = frozenset("0123456789[(<:#EWFIDTNCSPJMAOsfciwd")
SERVICE_CHARS = 80


def head_of(line: str) -> Head:
    """The log head of a line; its end is 0 where there is none."""
    body = line.lstrip()
    if body[:1] not in _BEGINS and "|" not in body[:SERVICE_CHARS]:
        return _NO_HEAD
    at = len(line) - len(body)
    level, is_log = NONE, False
    if klog := _KLOG.match(line, at):
        graded = {"E": ERROR, "F": ERROR, "W": WARNING}.get(klog["level"], QUIET)
        return Head(klog.end(), graded, True)
    for _count in range(FIELDS_MAX):
        if at >= HEAD_CHARS_MAX:
            break
        end, graded, tells = _field(line, at, is_log)
        if end == at:
            break
        at, level, is_log = end, max(level, graded), is_log or tells
    return Head(at, level, True) if is_log else _NO_HEAD


def _field(line: str, at: int, is_log: bool) -> tuple[int, int, bool]:
    """The end of the field that stands here, its level, and whether only logs have such a one."""
    char = line[at : at + 1]
    if char == "<" and (priority := _PRIORITY.match(line, at)):
        severity = int(priority["pri"]) % 8
        return priority.end(), ERROR if severity <= 3 else WARNING if severity == 4 else QUIET, True
    if char in ":#" and (said := _ANNOTATION.match(line, at)):
        return said.end(), _graded(said), True
    if not is_log and (first := _FIRST_LEVEL.match(line, at)):
        return first.end(), _first_level(first), True
    if char in "[(" and (timed := _TIMED_LEVEL.match(line, at)):
        return timed.end(), _graded(timed), True
    if (char.isdigit() or char in "[(JFMASOND") and (time := _TIME.match(line, at)):
        return time.end(), NONE, True
    if char in "[(<" and (boxed := _BOXED_LEVEL.match(line, at)):
        return boxed.end(), _graded(boxed), True
    if char == "s" and (stream := _STREAM.match(line, at)):
        return stream.end(), NONE, True
    if not is_log and char.isalnum() and (service := _SERVICE.match(line, at)):
        return service.end(), NONE, True
    if is_log and (bare := _BARE_LEVEL.match(line, at)):
        return bare.end(), _graded(bare), True
    if not is_log:
        return at, NONE, False
    return _origin(line, at), NONE, False


def _origin(line: str, at: int) -> int:
    """Behind a field that says where an entry comes from."""
    for form in (_BOXED, _HOST_FIELDS, _SPAN, _PLACE, _PROCESS, _NAME):
        if found := form.match(line, at):
            return found.end()
    return at


def _first_level(found: re.Match[str]) -> int:
    letter = found["letter"] or (found["dotnet"] or "").upper()[:1]
    if not letter:
        return _graded(found)
    return QUIET if letter in "ID" else WARNING if letter == "W" else ERROR


def _graded(found: re.Match[str]) -> int:
    groups = found.groupdict()
    if any(value for name, value in groups.items() if name.endswith("grave")):
        return ERROR
    if any(value for name, value in groups.items() if name.endswith("less")):
        return WARNING
    return QUIET
