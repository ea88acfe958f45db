"""Where in a message it says until when: the words that announce a time, and the time itself.

A time counts only directly behind (in some languages: before) a word that announces it. A
number of hours that stands anywhere else ("for 5 hour", "every 5h") is no reset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta, timezone

from segue.dialects.limits.lazy_regex import Clue, Expression
from segue.dialects.limits.time.moments import JUST_PASSED, Here, Moment, moment_at, seconds_at
from segue.dialects.limits.time.spans import span_at
from segue.dialects.limits.wording import words
from segue.dialects.limits.wording.languages import is_eastern

TEXT_CHARS_MAX = 4_000
CUES_MAX = 24

_CUE = Expression(
    r"""(?<![a-z])(?:
      reset(?:s|ting)?(?:[_ -]?(?:at|in|after|time|date))?(?:[_ -]?(?:seconds|secs|sec|s|epoch
        |unix|timestamp|utc)\b)?
    | re-?(?:tries|trying|try|sume[sd]?|suming|new(?:s|al|ed)?|fresh(?:es|ed)?|store[sd]?
        |open(?:s|ed)?)(?:[_ -]?(?:after|delay|in|at))?
    | (?:try|available|come|check|back|usable|use\s+\S+|continue)\s+(?:it\s+)?(?:again|back)
    | access\s+returns | opens? | regain\s+access | refill(?:s|ed)? | replenish(?:es|ed)?
    | unlock(?:s|ed)? | lift(?:s|ed)? | back
    | continu(?:e|es|ing)\b(?:\s+automatically)? | auto-?(?:continue|resume)s?
    | wait(?:ing|s)? | sleeping | until | till | available | expires? | ends?
    | next\s+(?:reset|window|attempt|retry|try) | cool(?:ing)?[ -]?down
    | (?:can|may)\s+be\s+(?:started|used|sent|made|submitted|run|resumed|created)
        (?=\s+(?:in|at|after|on|from)\b)
    | (?:can|may)\s+(?:send|start|make|use|ask|continue|work)(?:\s+\w+){0,3}?
        (?=\s+(?:after|at|from)\s+\d)
    | return(?=\s+(?:tomorrow|next|on|at|in|after)\b)
    | versuch\w+ | essaye[rz]? | int[eé]nt\w+ | vuelv\w+ | tente\b
    | zurückgesetzt | erneut | wieder | réessaye[rz] | réinitialis\w+ | disponible | redefinid[oa]
    | restablec\w+ | reintent\w+ | novamente | nuevo
    | ripristin\w+ | riprova\w* | azzer\w+ | opnieuw | сброс\w* | снова | попробуйте | ponownie
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD = Expression(r"(?<![a-zA-Zа-я])[a-zA-Zà-ÿа-яА-Я]{3}")  # how it begins
_CUE_BEGINS = frozenset(
    """
    res ret ren ref reo try tri ava com che bac usa use con acc ope reg rep unl lif aut wai sle unt
    til exp end nex coo ver ess int vue ten zur ern wie rée réi dis red rei nov nue rip azz opn сбр
    сно поп pon can may
    """.split()  # noqa: SIM905 - a table of words
)
_FILL = Expression(
    r"""(?:[\s:="'(\[\\|~≈>,]+|[·∙]\s|-\s
      | (?:at|on|in|after|by|from|around|about|approximately|for|until|till|again|back|be|is|are|it
          |will|the|your|limits?|usage|quota|window|automatically|date|time|resets?|next\ (?=try)
          |um|am|ab|in|nach|à|dans|às|em|en|a\ las|el|le|dia|día|erneut|wieder|around|then|please
          |après|despu[eé]s\ de
          |to|become[s]?|available|seconds?\ (?=\d)|and|,|before|trying|retrying|retry|continuing
          |which|that|you|can|use|access|restored|lifted|of|day|starting|sie|es|bitte|de\ nouveau
          |possible|epoch|unix|timestamp|lo|nuevamente|alle|ore|om|o|tra|si|в|через|снова
          |a\ partir\ de)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_SPAN_FILL = Expression(
    r"\b(?:in|after|for|another|wait(?:ing|s)?|nach|dans|within|delay|sleeping)\b", re.IGNORECASE
)
_COUNT = Expression(
    r"#?\d{1,3}\s*(?:/|of)\s*\d{1,3}\b(?=\)|\]|\s*(?:in|after)\b|\s*$)", re.IGNORECASE
)
_IS_RETRY = Expression(r"re-?tr(?:y|ies|ying)", re.IGNORECASE)
_SECONDS_CUE = Expression(
    r"retry[_ -]?(?:after|delay)|retry\s+after|resets?[_ -]?(?:in|after)[_ -]?s(?:ec(?:ond)?s?)?\b",
    re.IGNORECASE,
)
_AFTER_PIPE = Expression(r"\|\s*(?=\d{10})")
_TURNED = Expression(  # `2h 13m until reset`
    r"(?:until|before|till|to|remaining|left)\b(?:\s+(?:the|your|next|it|usage|limit|quota))*\s*"
    r"(?:resets?|retry|retrying|next|you can|try)",
    re.IGNORECASE,
)
_LED = Expression(
    r"\b(?:in|dans|en|em|nach|am|el|le|on|um|ab|à|às|at|after)\s+(?=\d)", re.IGNORECASE
)
_NUMBER = Expression(r"(?<![\w:.,/-])\d")
# What follows directly on a time that is meant: at, until, after, again, reset.
_EASTERN_CUE = Expression(
    r"\s*(?:에|까지|부터|이후|후|뒤|다시|초기화|재설정|리셋|재개|に|まで|以降|後|から|リセット"
    r"|また|もう一度|再|重置|恢复|恢復|后|之后"
    r"|以后|起|重试|可用)"
)
_EASTERN_TIME = Expression(
    r"(?:[월화수목금토일]요일|[月火水木金土日]曜日?|(?:周|星期|礼拜|週)[一二三四五六日天])"
    r"|(?:오전|오후|午前|午後|上午|下午)?\s*\d|내일|明日|明天"
)
_IS_CHINA = Clue(
    "][|z.ai|bigmodel|limit reached for|13",
    r"[\"'](?:code|type)\\*[\"']\s*:\s*\\*[\"']13\d\d\\*[\"']|\[1[0-3]\d\d\]\[|\bz\.ai\b|\bbigmodel\b"
    r"|\blimit reached for \d+ (?:hour|day|week|month)\b",
)
# Where a time may begin, announced or not.
_PLACES = Expression(
    r"(?<![\w.:/+#$-])(?:\d(?=\d{0,3}(?:[:.]\d|\s?[ap]\.?m\b|\s?uhr\b|\s?h\b|\s?h \d"
    r"|[年月월日일시点點]|-\d\d|/\d{1,2}/\d"
    r"|\.?\s[a-zà-ÿ]{3}|\d{6}|\s?(?:s|m|min|sec)\b))"
    r"|(?-i:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b"
    r"|(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|montag|dienstag|mittwoch"
    r"|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b"
    r"|(?:tomorrow|tonight|today|morgen|mañana|demain|heute|hoy|midnight|noon)\b)"
    r"|(?:오늘|내일|모레|오전|오후|새벽|明日|明後日|本日|午前|午後|今天|明天|后天|上午|下午|凌晨|晚上)",
    re.IGNORECASE,
)
_SPAN_LED = Expression(
    r"(?:\b(?:in|after|within|wait|waiting|nach|dans|en|espera|espere|attendez|patientez|warten"
    r"|warten sie|après|después de)|请等待|等待)\s*$",
    re.IGNORECASE,
)
LED_CHARS = 14
DAY_CHARS = 32
# A day that may stand before a time of day.
_DAY_WORD = Expression(
    r"\b\d{1,2}\.? (?:de )?[a-zäéû]{3,10}\b|\b(?-i:[A-Z])[a-zé]{2,10}\.? \d{1,2}\b"
    r"|\b[a-záé]+(?=,? )"
    r"|내일|모레|明日|明後日|明天|后天|\d{1,2}[월月]",
    re.IGNORECASE,
)
# Behind a time: a word that makes it something else than was understood.
_GOES_ON = Expression(
    r"\s+(?-i:[A-Z])\w+ time\b|\s*(?:%|tokens|requests|per\b)|(?<=\S)\w", re.IGNORECASE
)
_STRANGE = Expression(r"\s+[A-Z][a-z]+ time\b")  # the zone is unknown
_STAMPED = Expression(r"\b(?:time|ts|timestamp|date|created)[\"']?\s*[:=]\s*[\"']?$", re.I)
_NOT_MEANT = Expression(
    r"\b(?:since|at least|seit|depuis|desde|done|started|sent|every|per)\s*$", re.I
)
# A time is a number, or one of a few words.
_DIGIT = Expression(r"\d")
_TIME_WORDS = (
    *("midnight", "noon", "tomorrow", "next", "an hour", "a minute", "a day", "a week", "sday"),
    *("monday", "friday", "saturday", "sunday", "morgen", "mañana", "demain", "noche", "minuit"),
    *("내일", "明日", "明天", "요일", "曜", "周", "星期", "자정", "정오", "正午", "午夜"),
)
CHINA = timezone(timedelta(hours=8))


def when(text: str, here: Here) -> Moment | None:
    """Until when the message says that it lasts."""
    text = text[:TEXT_CHARS_MAX]
    if not (_DIGIT.search(text) or words.has_any(text.lower(), _TIME_WORDS)):
        return None
    if _IS_CHINA(text):  # this service prints its own wall clock
        here = Here(here.now, here.tz, CHINA)
    for reader in (_piped, _cued, _turned, _led, _eastern):
        moment = reader(text, here)
        if moment is not None:
            return moment
    return None


def somewhere(text: str, here: Here, begin: int = 0) -> Moment | None:
    """The time in a message that announces none: the first from there on that is to come."""
    text = text[:TEXT_CHARS_MAX]
    if _IS_CHINA(text):
        here = Here(here.now, here.tz, CHINA)
    for found in _PLACES.finditer(text, begin):
        is_led = _SPAN_LED.search(text[max(0, found.start() - LED_CHARS) : found.start()])
        moment = moment_at(text, found.start(), here, is_span_likely=is_led is not None)
        if moment is None or _GOES_ON.match(text, moment.end):
            continue
        if moment.form == "span" and is_led is None:
            continue  # "your 5-hour limit" is no wait
        if _STAMPED.search(text[max(0, found.start() - LED_CHARS) : found.start()]):
            continue  # when a log's entry was written
        if moment.form in ("clock", "span") and _NOT_MEANT.search(text[: found.start()]):
            continue
        if moment.at >= here.now - JUST_PASSED:
            return moment
    return None


def _piped(text: str, here: Here) -> Moment | None:
    if "|" not in text:
        return None
    found = _AFTER_PIPE.search(text)
    return moment_at(text, found.end(), here) if found else None


def _cued(text: str, here: Here) -> Moment | None:
    for cue in _cues(text):
        at = _filled(text, cue.end())
        if _IS_RETRY.match(cue[0]) and (counted := _COUNT.match(text, at)):
            at = _filled(text, counted.end())  # `retrying 1/5 in 200ms`
            at = _filled(text, at + 1) if text[at : at + 1] in (")", "]") else at
        if not at < len(text):
            continue
        between = text[cue.start() : at]
        if _STAMPED.search(between):
            continue  # when a log's entry was written
        if _SECONDS_CUE.match(between) and (given := _unitless(text, at, here)):
            return given
        is_span_likely = _SPAN_FILL.search(between) is not None
        moment = moment_at(text, at, here, is_span_likely=is_span_likely)
        if moment is not None and not _STRANGE.match(text, moment.end):
            return _with_day(text, at, moment, here)
    return None


def _cues(text: str) -> Iterator[re.Match[str]]:
    """The announcements, each looked up by how its first word begins: quicker than a search."""
    end = count = 0
    for word in _WORD.finditer(text):
        start = word.start()
        if start < end or word[0].lower() not in _CUE_BEGINS:
            continue
        cue = _CUE.match(text, start)
        if cue is not None:
            end, count = cue.end(), count + 1
            yield cue
            if count == CUES_MAX:
                return


def _filled(text: str, at: int) -> int:
    """Behind the words that lead from the announcement to the time."""
    while fill := _FILL.match(text, at):
        at = fill.end()
    return at


def _unitless(text: str, at: int, here: Here) -> Moment | None:
    return moment_at(text, at, here, is_span_likely=True) or seconds_at(text, at, here)


def _turned(text: str, here: Here) -> Moment | None:
    for cue in _TURNED.finditer(text):
        for number in _NUMBER.finditer(text, max(0, cue.start() - 40), cue.start()):
            span = span_at(text, number.start())
            if span is not None and not text[span.end : cue.start()].strip(" ("):
                return moment_at(text, number.start(), here, is_span_likely=True)
    return None


def _led(text: str, here: Here) -> Moment | None:
    """`in 3 Stunden erneut`: the announcement comes last."""
    for led in _LED.finditer(text):
        is_span = span_at(text, led.end()) is not None
        moment = moment_at(text, led.end(), here, is_span_likely=is_span)
        if moment is None:
            continue
        rest = text[moment.end :].lstrip()
        if _CUE.match(rest) or _CUE.match(rest, _filled(rest, 0)):
            return _with_day(text, led.end(), moment, here)
    return None


def _with_day(text: str, at: int, moment: Moment, here: Here) -> Moment | None:
    """A time of day together with the day that stands before it; None if that says nothing."""
    if moment.form != "clock":
        return moment
    begin = max(text.rfind(". ", 0, at), text.rfind("\n", 0, at), at - DAY_CHARS, 0)
    for day in _DAY_WORD.finditer(text, begin, at):
        whole = moment_at(text, day.start(), here)
        if whole is not None and whole.end >= moment.end:
            return whole
    return moment


def _eastern(text: str, here: Here) -> Moment | None:
    if text.isascii() or not any(map(is_eastern, set(text))):
        return None
    for found in _EASTERN_TIME.finditer(text):
        moment = moment_at(text, found.start() + len(found[0]) - len(found[0].lstrip()), here)
        if moment is not None and _EASTERN_CUE.match(text, moment.end):
            return moment
    return None
