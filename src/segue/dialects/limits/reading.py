"""What one block says: whether it is a message that stops the agent, and of which kind.

Where the program itself speaks (a mark of alarm, an elbow under a prompt, `API Error:`), its words
are believed wherever in the line they stand. Where the agent may be speaking, a message must be
all that is said: it begins with the words of a limit and continues as messages do, not as a report
about one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from segue.dialects.limits.envelope import labels
from segue.dialects.limits.envelope.opened import Opened
from segue.dialects.limits.extra import Extra
from segue.dialects.limits.lazy_regex import Clue, Expression
from segue.dialects.limits.time.moments import Here, Moment
from segue.dialects.limits.time.when import somewhere, when
from segue.dialects.limits.wording import kinds, languages, matching, words
from segue.dialects.limits.wording.matching import Found

# Whose words they are: perhaps the agent's, all there is, the program's own.
SPEECH, ALONE, OWN = range(3)

LINE_CHARS_MAX = 4_000
MESSAGE_CHARS_MAX = 900  # where the agent may be speaking
FOLLOWING_MAX = 4
STARTS_MAX = 60
TAIL_WORDS_MAX = 10
NAME_BEFORE = 16  # characters before the noun that may name the limit, in other languages
RATE_S_MAX = 120  # a wait this short is a matter of requests per minute
FAR_S = 2 * 3600.0

_IS_WARNING = Clue.any_of(*words.WARNING)
# An answer of an API, by its form.
_IS_API = Clue.any_of(
    ("rate_limit_info", r'"rate_limit_info":\s?\{"status":\s?"rejected"'),
    ("isapierrormessage", r'"isApiErrorMessage":\s?true'),
    ("this error:", r"^\W{0,6}(?:ran into|encountered|got) this error: "),
    ("internal error", r'^\W{0,6}internal error: "'),
    ("errortype", r'"errorType"\s?:'),
    ("api error", r"\bapi error\b"),
    (
        '40|41|42|50|52|error|exhausted|status|econn|enotfound|etimedout|eai|exception|"code',
        r"\\*[\"'](?:error|type)\\*[\"']\s*:\s*(?:\{|\\*[\"']error)"
        r"|\\*[\"']code\\*[\"']\s*:\s*[45]\d\d\b|^\W*[45]\d\d\s*\{",
    ),
    ("40|41|42|50|52", r"^[^\w`\"']{0,6}(?:40[123]|413|429|50[234]|529) \"?(?-i:[A-Z])"),
    ("_error", r"\b[a-z_]+_error\b"),
    ("resource_exhausted", r"RESOURCE_EXHAUSTED"),
    (
        "ratelimit|api|overloaded|authentication|quota|throttling",
        r"\b\w*(?:RateLimit|API|Overloaded|Authentication|Quota|Throttling)\w*"
        r"(?:Error|Exception)\b",
    ),
    ("status", r"\bstatus(?:_?code)?[=: ]+[45]\d\d\b|^\W{0,6}[45]\d\d status code\b"),
    ("error code: ", r"\berror code: [45]\d\d\b"),
    ("error from", r"\berror from [^:]{1,40}: [45]\d\d\b"),
    ("errormessage=", r"\berrorMessage="),
    ("econn|enotfound|etimedout|eai_again", r"\b(?:ECONN[A-Z]+|ENOTFOUND|ETIMEDOUT|EAI_AGAIN)\b"),
)
_API_BEGINS = Expression(
    r"\W{0,8}(?:\[[\w.-]+\]\s*)?(?:api error\b|\\*\"?\[?\{\s*\\*\"(?:error|type|code|session_id"
    r"|message"
    r"|status|detail|statusCode)\\*\"\s*:|\[?[45]\d\d\]?:?\s*\{|(?:[\w.]+: )?[\w.]*(?:Error"
    r"|Exception)(?:: | - )"
    r"|[45]\d\d status code\b|(?:error code|(?:got )?status): [45]\d\d\b"
    r"|(?:\w: )?\[resource_exhausted\]"
    r"|error from [^:]{1,40}: [45]\d\d\b|error when talking to \w+ api\b"
    r"|(?:40[123]|413|429|50[234]|529) \"?(?-i:[A-Z])"
    r"|error: [45]\d\d|(?:\w+ ){0,4}error: |\S+Z?\s+(?:WARN|ERROR)\b|(?:[\w./:]+ ){0,6}failed\b)",
    re.IGNORECASE,
)
_LISTED = Expression(r"[\"'],\s*$|,\s*[)\]]\s*$")  # an entry of a list in source code
_ANSWER = Expression(
    r"\b[45]\d\d\b|[\"']message\\*[\"']|\{\s*\\*[\"']\w+\\*[\"']\s*:|Exception - |: \w+ \w+ \w+"
    r"|\[resource_exhausted\]"
)
_STARTS = Expression(r"(?:[.!?:;·∙|,=>]|\\*[\"'`(\[{]|\s-)\s*(?=\w)")
_CLAUSE = Expression(r"[.!?](?:\s|$)|,\s|[·∙|;]|\s-\s|\n")
_ADDRESS = Expression(
    r"\b(?:you|your|please|try|retry|resets?|upgrade|visit|contact|wait|subscribe|see|run|use|add"
    r"|purchase|later|again|learn|switch|advise|recommend|start a|choose|shorten|compact|reduce"
    r"|clear|press|automatically|expected|set|check|ask|available|resume|extend)\b"
    r"|\bquota metric\b|\b(?:current \w+|spend|budget|used|limit|message|reason|details?|error"
    r"|status|request[ _-]?id): |/\w|https?:",
    re.IGNORECASE,
)
# What programs begin with a capital, and people write of in mid-sentence.
_SAID_IN_PASSING = {kinds.AUTH: 2, kinds.NETWORK: 12}  # by how many words
_RATE = Expression(r"\b429\b|\brate limit (?:reached|exceeded)", re.IGNORECASE)
LABELS = frozenset(
    {
        *("network", "overloaded-word", "wait", "retries-over", "too-many", "compaction", "denied"),
        "auth-failed",
    }
)
_ERROR = Expression(
    r"\b(?:error|fatal|failed|failure|\w+Exception|invalid (?:param\w*|requests?))\b", re.IGNORECASE
)
_SAYS_ERROR = Expression(r"\W*(?:api )?error: ", re.IGNORECASE)
_SENTENCE = Expression(r"[.!](?=\s)")
# What else the cause of a 429 may be.
_CAPACITY = Expression(
    r"\b(?:out of|no|over|insufficient) capacity\b|\boverloaded\b|MODEL_CAPACITY"
)
_USAGE = Expression(r"\busage[ _-]?limits?\b", re.IGNORECASE)  # is more than a 429 says
_BILL = Expression(r"\bplan and billing\b", re.IGNORECASE)
_HERE = Expression(r"\blocalhost\b|\b127\.0\.0\.1\b|\[?::1\]?:\d")
_INCREASE = Expression(r"\brequest a (?:limit|spend) increase\b", re.IGNORECASE)
# Addresses, and what programs say with words of reports.
_ADDRESSES = Expression(
    r"\S*(?:://|\w\.\w+/)\S*|\b(?:read|see) the docs\b|\bdefault (?=rate limit)", re.IGNORECASE
)
_FOR_PROGRAMMERS = Expression(r"\s*For more information, pass `verbose: true`.*")
# Who reports about a program speaks of these; a program does not.
_REPORT_WORDS = frozenset(
    """
    test tests helper function functions module modules importer component column table commit
    branch transcript transcripts fixture fixtures readme implementation parameter skipped caught
    raises handler handled handles refactor refactored refactoring changelog docs default defaults
    decorator decorators decorated route routes caller callers object instance library package
    class argument exception exceptions behavior behaviour strategy assert asserts assertion
    asserted mock mocks mocked usually typically states covered
    """.split()  # noqa: SIM905 - a table of words
)
_TOKEN = Expression(r"[a-z]+")
_IS_REPORT = Clue.any_of(
    (
        "logged|printed|displayed|counted|mapped|queued|marked",
        r"\b(?:is|are|was|were|gets?|being) (?:now |also |only )?(?:logged(?! in| out)|printed"
        r"|displayed|counted|mapped|queued|marked)\b",
    ),
    ("nightly", r"\bnightly\b"),
    ("method", r"(?<!payment )(?<!auth )\bmethod\b"),
    ("variable", r"(?<!environment )\bvariable\b"),
    ("retries", r"(?<!\d )\bretries\b"),
    ("retried", r"\bretried\b(?! \d)"),
    (
        "for example|such as|is now|are now|we now|so the|then the",
        r"\b(?:for example|(?<!model )such as|is now|are now|we now|so the|then the)\b",
    ),
    ("the first|the second|the third|the last", r"\bthe (?:first|second|third|last) [a-z]\w*"),
    ("e.g. when", r"\be\.g\. when\b"),
    ("endpoint", r"\bendpoints? that\b"),
)


# What makes the words of a limit the subject of another sentence, or a thing of the past.
_TOLD = Expression(
    r"[\"'`]?\s+(?:is|are|was|were|gets?|comes?|appears?|shows?|means|happens|message|error|dialog"
    r"|banner|notice|state)\b"
)
_PAST = Expression(
    r"\b(?:was|were) (?:\w+ )?(?:reached|hit|exceeded|exhausted|used up|depleted)\b"
    r"|\b(?:has|have) (?:since )?been (?:reset|lifted|restored|raised|increased)\b"
    r"|\bno longer (?:\w+ )?(?:reached|hit|exceeded|limited)\b",
    re.IGNORECASE,
)


_FOREIGN_RULES = tuple(
    name
    for language in languages.LANGUAGES
    for name in (f"limit-reached-{language.code}", f"{language.code}-")
)


class Reading(NamedTuple):
    """A message that stops the agent, as it stands."""

    rule: str
    kind: str
    line: str
    text: str
    moment: Moment | None
    is_named: bool = False  # the words name the kind, not only the brand's habit
    how: str = ""  # what carried it: a log, an exception, an answer, data
    is_probable: bool = False  # the words fit, but perhaps it is the agent who says them

    @property
    def is_foreign(self) -> bool:
        return self.rule.startswith(_FOREIGN_RULES)


def is_warning(text: str) -> bool:
    """Near a limit is not at it."""
    return _IS_WARNING(text) and "100%" not in text.replace(" %", "%")


def read(
    lines: Sequence[str], here: Here, brand: str, *, trust: int, extra: Sequence[Extra] = ()
) -> Reading | None:
    """The message in the lines of one block."""
    for at in _candidates(lines, trust):
        line = lines[at][:LINE_CHARS_MAX]
        if not extra and not words.may_tell(line):
            continue
        rest = " ".join(lines[at:])[:LINE_CHARS_MAX]
        reading = _line(line, rest, here, brand, trust, extra)
        if reading is not None:
            return reading
    return None


def read_opened(opened: Opened, here: Here, brand: str) -> Reading | None:
    """The message that a log line, an exception, an answer or a record carries."""
    for line in (whole[:LINE_CHARS_MAX] for whole in opened.lines):
        if labels.is_template(line):
            return None
        found = _found(line, brand, OWN if opened.is_grave else ALONE)
        if found is None and opened.is_grave and "_" in line:  # a code: usage_limit_reached
            found = _found(line.replace("_", " "), brand, OWN)
        if found is not None and not labels.is_denied(line, found.start):
            if is_warning(line[: found.end + 40]):
                return None
            moment = when(line, here) or somewhere(line, here, found.end)
            kind, is_named = _kind(found, line, line, brand, moment, here, True)
            is_probable = not opened.is_grave
            return Reading(found.rule, kind, line, line, moment, is_named, opened.how, is_probable)
        kind_told = kinds.by_code(line) or (kinds.by_status(opened.status or 0))
        if opened.is_grave and kind_told is not None and not is_warning(line):
            rule = f"{opened.how}-{kind_told}"
            return Reading(rule, kind_told, line, line, when(line, here), True, opened.how)
    return None


def _candidates(lines: Sequence[str], trust: int) -> Iterator[int]:
    """The lines that may be a message: all of the program's own; else the first, or the last
    ones that have nothing but advice below them."""
    if trust == OWN:
        yield from range(len(lines))
        return
    yield from range(min(1, len(lines)))
    for at in range(len(lines) - 1, max(0, len(lines) - 1 - FOLLOWING_MAX), -1):
        yield at
        if not _ADDRESS.search(lines[at]):
            return


def _line(
    line: str, rest: str, here: Here, brand: str, trust: int, extra: Sequence[Extra]
) -> Reading | None:
    for given in extra:
        if given.is_in(line, brand):
            return Reading(given.id, given.kind, line, rest, when(rest, here), True)
    if labels.is_alien(line):
        return None
    is_api = _IS_API(line)
    is_sure = trust == OWN
    if is_api and not is_sure:
        is_api = _API_BEGINS.match(line) is not None and not _LISTED.search(line)
        is_api = is_api and not labels.is_template(line)
    if is_api:
        trust = OWN
    found = _found(line, brand, trust)
    if found is None:
        return _coded(line, rest, here, is_sure) if is_api else None
    if is_warning(line[: found.end + 40]) or labels.is_denied(line, found.start):
        return None
    if trust < OWN and _missing(line, found, rest):
        return None
    moment = when(rest, here) or somewhere(rest, here, found.start)
    kind, is_named = _kind(found, line, rest, brand, moment, here, is_api)
    is_probable = trust == SPEECH
    return Reading(found.rule, kind, line, rest, moment, is_named, is_probable=is_probable)


@lru_cache(maxsize=1024)  # watching a screen reads the same lines again and again
def _found(line: str, brand: str, trust: int) -> Found | None:
    """The words of a limit, where a message may begin. `stream error: …` is only a label."""
    starts = chain(labels.heads(line), labels.behind_name(line, is_alone=trust == ALONE))
    found = matching.first(line, starts, brand, trust)
    if found is not None and found.rule not in LABELS:
        return found
    begin = found.start + 1 if found else 0
    later = [at for at in starts if at >= begin]
    if trust == OWN:
        later += [m.end() for m in _STARTS.finditer(line, begin)][:STARTS_MAX]
    told = matching.first(line, later, brand, SPEECH) if later else None
    if told is not None and (found is None or told.rule not in LABELS):
        return told
    return found or _elsewhere(line)


def _elsewhere(line: str) -> Found | None:
    found = languages.foreign_in(line)
    if found is None:
        return None
    return Found(found.rule, found.kind, found.start, found.end, language=found.code)


def _coded(line: str, rest: str, here: Here, is_sure: bool) -> Reading | None:
    kind = kinds.by_code(rest)
    if not is_sure and (not _ANSWER.search(line) or labels.is_code(line)):
        return None  # a mere name, or a program that has it
    if kind == kinds.NETWORK and _HERE.search(rest):
        return None  # a server of the person's own
    return Reading("api-error", kind, line, rest, when(rest, here), True) if kind else None


# Why words of a limit are no message, as `--explain` says it.
NO_WORDS, NO_ROW, FOREIGN_TEXT, NEAR = "no_words", "no_row", "alien", "warning"
CONDITION, FIRST_PERSON, REPORT, CODE, MORE = "condition", "first_person", "report", "code", "more"


def _missing(line: str, found: Found, rest: str) -> str:
    """What keeps words of a limit from being a message and nothing else; empty where nothing does:
    that there is a limit, until when, and what to do about it."""
    if labels.is_first_person(rest[found.start :]):
        return FIRST_PERSON
    if len(rest) > MESSAGE_CHARS_MAX:
        return MORE
    if found.language:
        return "" if languages.is_all_said(found.language, rest, found.start) else REPORT
    if "verbose: true" in rest:
        rest, line = _FOR_PROGRAMMERS.sub("", rest), _FOR_PROGRAMMERS.sub("", line)
    if _SAYS_ERROR.match(line):  # what it says after that may be for a programmer
        rest = line = _first(line, found.end)
    if labels.is_code(line) or labels.is_template(line):
        return CODE
    is_short = len(line.split()) <= _SAID_IN_PASSING.get(found.kind, len(line))
    is_labelled = found.kind != kinds.AUTH and _ERROR.search(line, 0, found.start) is not None
    if line[found.start].islower() and not (is_short or is_labelled):
        return MORE
    if _is_report(rest) or _TOLD.match(rest, found.end) or _PAST.search(rest):
        return REPORT
    is_brief = len(rest[found.end :].split()) <= TAIL_WORDS_MAX
    return "" if is_brief or _ADDRESS.search(rest[found.start :]) else MORE


def why_not(lines: Sequence[str], brand: str, trust: int) -> str:
    """What is missing that the lines of a block would be a message: the nearest miss of them."""
    nearest = NO_WORDS
    for at, line in enumerate(lines):
        if not words.may_tell(line):
            continue
        if labels.is_alien(line):
            nearest = FOREIGN_TEXT if nearest == NO_WORDS else nearest
            continue
        found = _found(line, brand, trust)
        if found is None and is_warning(line):
            return NEAR
        if found is None and languages.is_case_in(line):
            return CONDITION
        if found is None:
            nearest = NO_ROW if nearest in (NO_WORDS, FOREIGN_TEXT) else nearest
            continue
        if is_warning(line[: found.end + 40]):
            return NEAR
        if labels.is_denied(line, found.start):
            return CONDITION
        return _missing(line, found, " ".join(lines[at:])) or REPORT
    return nearest


def _first(line: str, at: int) -> str:
    """The line up to the end of the sentence that continues here."""
    end = _SENTENCE.search(line, at)
    return line[: end.start() + 1] if end else line


def _is_report(text: str) -> bool:
    """The text is about a program, its tests, its code."""
    lower = _ADDRESSES.sub(" ", text).lower()
    if not _REPORT_WORDS.isdisjoint(_TOKEN.findall(lower)):
        return True
    return _IS_REPORT(lower, lower)


def _kind(
    found: Found, line: str, rest: str, brand: str, moment: Moment | None, here: Here, is_api: bool
) -> tuple[str, bool]:
    if found.kind == kinds.NETWORK and (_RATE.search(rest) or kinds.by_window(rest) == kinds.RATE):
        return kinds.RATE, True
    if found.kind == kinds.NETWORK and is_api and kinds.by_code(rest) == kinds.RATE:
        return kinds.RATE, True
    if found.kind == kinds.RATE and _CAPACITY.search(rest):
        return kinds.OVERLOADED, True
    if found.kind:
        return found.kind, found.trust == SPEECH
    clause = _CLAUSE.search(line, found.end)
    start = max(0, found.start - NAME_BEFORE) if found.language else found.start
    said = line[start : clause.start() if clause else len(line)][:200]
    if named := kinds.by_words(said):
        return named, True
    coded = kinds.by_code(rest if is_api else line[: found.start])
    if coded in (kinds.SESSION, kinds.WEEKLY, kinds.DAILY):
        return coded, True
    is_bill = _BILL.search(rest) is not None and brand not in kinds.QUOTA_BRANDS
    if is_bill or _INCREASE.search(rest):
        return kinds.BILLING, True
    is_short = moment is not None and (moment.at - here.now).total_seconds() <= RATE_S_MAX
    is_usage = _USAGE.search(said) is not None
    if moment is not None and moment.form == "span" and is_short and not is_usage:
        return kinds.RATE, True
    is_far = moment is not None and (moment.at - here.now).total_seconds() > FAR_S
    if is_far and coded == kinds.RATE:  # no matter of requests per minute, whatever its code
        coded = None
    for told in (kinds.by_window(rest), coded):
        if told is not None and told != kinds.AUTH and not (told == kinds.RATE and is_usage):
            return told, True
    return kinds.by_habit(brand, moment.at if moment else None, here.now), False
