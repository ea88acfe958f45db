"""What a message that stops an agent looks like: one table.

The grammar comes first, since wordings drift; what is known of single brands, with the versions
it was seen in, follows. A phrase is matched where a message may begin. `kind` is empty where the
words decide it (kinds.py). `never` must not stand in the same line. `trust` is how sure it
must be that the program itself speaks: 1, it does or nothing else is said; 2, it does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from segue.dialects.limits import words
from segue.dialects.limits.words import alternatives

_BE = (
    r"(?:'re|'s|\s+(?:is|are|was|seems?|appears?))(?: (?:to be|currently|temporarily|now|still|also"
    r"|again))*\s+"
)
_IS = rf"(?:(?:{alternatives(words.IS)}|'s)\s+)*"
_HIT = alternatives(words.HIT)
_OVER = rf"(?:{alternatives(words.OVER)})(?![\w-])"
_SERVER = alternatives(words.SERVER)
_OVERLOADED = alternatives(words.OVERLOADED)
# Behind these words the sentence must end or go on as a message does.
_THEN = (
    r"(?=\s*(?:$|\.(?!\w)|[,;:!?|·∙•()\[\]{}…\"'`\\/<>&]|-(?!\w)|\d|(?:for|on|until|by|in|at|of"
    r"|to|with|resets?"
    r"|try|trying|during|please|and|but|or|you|your|this|it|retry|wait|while|from|as|per|via"
    r"|after|since"
    r"|the|so|under|current|we|is|are|has|will|upgrade|add|subscribe|switch|contact|again)\b))"
    r"(?!\s+(?:(?:on|in|by|for|of)\s+)?(?:the\s+)?(?:errors?|exceptions?|handl\w+|logic|tests?"
    r"|responses?|banners?|notices?|detection|middleware|decorator|pages?|events?|headers?|cases?"
    r"|checks?|branch|scenario)\b)"
)
_EXCEEDS = (
    r"\b(?:exceed(?:s|ed|ing)?|larger than|longer than|over|beyond|bigger than|greater than"
    r"|out of room in"
    r"|run out of|ran out of|(?:not|n't|no longer) fits? (?:in|into|within)"
    r"|overflow\w*)\b[^.!?\n]{0,60}?"
    r"\b(?:context(?:[ _-](?:window|length|limit|size))?|maximum (?:number of )?(?:input )?tokens"
    r"|(?:session )?token limit|max(?:imum)? (?:allowed )?(?:prompt|input|tokens))\b"
)
# Any word but those that make it a case or a question.
_ANY = (
    r"(?:(?!(?:if|when|whether|once|unless|until|how|what|why|that|which|to|not|for|will)\b)"
    r"[\w.'-]+ )"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to say it, in one or more phrases."""

    id: str
    kind: str
    phrases: tuple[str, ...]
    never: re.Pattern[str] | None = None
    agents: tuple[str, ...] = ()  # empty: any
    trust: int = 0  # how sure it must be that the program itself speaks (reading.py)
    needs: tuple[str, ...] = ()  # one of these words, for phrases that begin with any words

    def holds_for(self, brand: str) -> bool:
        return not self.agents or not brand or brand in self.agents


def _p(
    id_: str,
    kind: str,
    *phrases: str,
    never: str = "",
    agents: str = "",
    trust: int = 0,
    needs: str = "",
) -> Pattern:
    no = re.compile(never, re.IGNORECASE) if never else None
    return Pattern(id_, kind, phrases, no, tuple(agents.split()), trust, tuple(needs.split()))


USAGE = (
    _p(
        "you-hit",
        "",
        rf"you(?:'ve|'re| have| are)?(?:\s+(?:now|just|already|currently|also))*\s+(?:{_HIT})\s+"
        r"<limit>",
        never=r"\b(?:if|when|once|until|unless|before|after) you\b",
    ),
    _p(
        "you-have-none",
        "",
        r"you(?:'ve| have| do(?: not|n't) have| currently have| got)+\s+(?:no|0|zero|any|enough"
        r"|sufficient|insufficient|not enough)\s+<limit>",
    ),
    _p(
        "you-are-limited",
        "rate_limit",
        r"(?:you(?:'ve| have|'re| are)?|(?:your |this |the )?(?:request|account|key|ip|model)s?)"
        r"(?: (?:has|have|been|being|are|now|temporarily|currently|was|were|is))*"
        r"\s+(?:rate[- ]?limited|throttled)\b",
        r"(?:[\w.-]+ ){0,4}(?:has |have )?(?:rate[- ]limited|throttled) (?:you|your|this"
        r"|the request)",
        needs="limited throttled",
    ),
    _p(
        "limit-reached",
        "",
        rf"<limit>(?:\s+(?:of|for|on|in|per)\s+[\w.@/-]+(?:\s+[\w.@/-]+){{0,2}}?)?"
        rf"\s+{_IS}{_OVER}{_THEN}",
    ),
    _p(
        "reached-limit",
        "",
        r"(?:reached|hit|exceeded|exhausted|out of|insufficient|not enough|no(?: more)?|ran out of"
        rf"|over|above)\s+<limit>(?:\s+(?:left|remaining|available))?{_THEN}",
    ),
    _p(
        "whose-limit",
        "",
        rf"(?:your|this|our)\s+(?:\S+\s+){{1,5}}?(?:is|has|have|'s|was)\s+{_IS}(?:{_HIT}|no"
        rf"|insufficient)\s+<limit>",
        r"your (?:\S+\s+){1,4}?(?:reached|exceeded|hit)\s+<limit>",
        rf"(?:the|this)\s+(?:[\w'-]+\s+){{0,2}}?(?:account|workspace|team|organi[sz]ation|org"
        rf"|plan|subscription"
        rf"|project|key|trial|membership|seat|user|service|api)\s+(?:is|has|was)\s+{_IS}(?:{_HIT}"
        rf"|no)\s+"
        rf"<limit>",
        rf"(?:user|team|customer|organi[sz]ation|org|project|workspace|account"
        rf"|key)(?: [\w=:@.-]+)? "
        rf"(?:is|has|was)\s+{_IS}(?:{_HIT}|no)\s+<limit>",
    ),
    _p(
        "would-exceed",
        "",
        r"(?:this |the |your |number of |total |an? )*(?:[\w`-]+ ){0,3}?(?:requests?|tokens?|prompt"
        r"|input|length|count|messages?|account|usage|organi[sz]ation|max_tokens`?|size)\b"
        r"[^.!?·\n]{0,120}?\b(?:would |will |has |have |to )?exceed(?:s|ed|ing)?\s+<limit>",
        needs="exceed",
    ),
    _p(
        "used-all",
        "",
        r"<limit>(?:\s+[\w-]+){0,3}?(?::|\s+(?:is|at|has reached"
        r"|reached))\s*(?:at )?100(?:\.0+)? ?%",
        r"you(?:'ve| have) (?:used|saved)\b[^.!?\n]{0,80}\b(?:spend limit|this month)\b",
    ),
    _p(
        "window-over",
        "",
        r"(?:your|this|the) (?:[\w-]+ ){0,2}?(?:session|window|week|day|period|block)(?:'s \w+)? "
        r"(?:is|has been|was) (?:now |fully |all )*(?:used up|exhausted|spent|full|maxed out)\b",
    ),
    _p(
        "you-cannot",
        "",
        r"you (?:can't|cannot|can not|are unable to|won't be able to|will not be able to) (?:send"
        r"|make|use|start|submit|create|run|continue)\b[^.!?\n]{0,50}?\b(?:until|right now|for now"
        r"|at the moment|today|this (?:week|month))\b",
    ),
    _p(
        "stopped-by",
        "",
        r"(?:paused|stopped|halted|blocked|interrupted|suspended)(?: ?[:-]| by| due to"
        r"| because of| on"
        rf"| at)?\s+<limit>{_THEN}",
    ),
    _p(
        "resets",
        "",
        r"(?:your|usage|session|weekly)(?: \w+){0,3}? (?:limits?|quota|window) (?:will )?resets? "
        r"(?:at|on|in) ",
        trust=1,
    ),
    _p(
        "waits-for-reset",
        "",
        r"(?:stop and |please )?wait(?:ing)? (?:here |until |for )?(?:your |the |usage |rate "
        r"|weekly |session )*(?:limits?|quota|window) (?:to )?resets?\b",
    ),
)
RATE = (
    _p(
        "limited",
        "rate_limit",
        r"(?:api |request |requests |temporarily |currently |being |has been )*(?:rate[- ]?limited"
        rf"|throttled)\b{_THEN}",
    ),
    _p(
        "too-many",
        "rate_limit",
        r"too many (?:\w+ ){0,3}(?:requests|tokens|concurrent|calls|connections|messages|computers"
        r"|devices|sessions|accounts|users|attempts|prompts|agents|generations|queries)",
        r"request rate (?:\w+ ){0,2}(?:increased|too|is)",
        r"(?:[\w.-]+ ){0,3}(?:is|are) (?:temporarily "
        r"|currently )?(?:rate )?limiting (?:\w+ ){0,2}requests",
        r"(?:max(?:imum)? )?(?:number of )?retr(?:y|ies)\b(?: \w+){0,2} (?:reached|exceeded"
        r"|exhausted)"
        r"\b[^.\n]{0,24}\brate[- ]?limit\w*",
        r"(?:please )?slow down\b",
        r"throttling(?:exception|error)\b",
        needs="many rate slow limiting throttling",
    ),
    _p(
        "excessive",
        "rate_limit",
        r"excessive (?:\w+ ){0,3}(?:usage|use|requests|traffic)\b",
        r"(?:we (?:have |'ve )?detected that )?you(?:'re| are)(?: \w+)? (?:using|sending|making)\b"
        r"[^.!?\n]{0,40}\b(?:excessively|too (?:fast|frequently|quickly|often|many))\b",
        r"your (?:\w+ ){0,3}(?:has|have) been (?:temporarily )?(?:limited|restricted|slowed)\b",
        needs="excessive too limited restricted slowed",
    ),
    _p(
        "retries-over",
        "network",
        r"(?:max(?:imum)?|all|the)? ?(?:number of )?retr(?:y|ies)(?: attempts?| limit| count)?"
        r" (?:was |were |has been |have been )?(?:reached|exceeded|exhausted|failed)\b",
        r"(?:exceeded|exhausted|reached) (?:the )?(?:max(?:imum)? )?(?:number of )?retr(?:y|ies)"
        r"(?: attempts?| limit| count)?\b",
        r"(?:gave up|giving up|failed|aborted|stopped) after \d+ (?:\w+ )?(?:attempts|retries"
        r"|tries)\b",
        trust=1,
        needs="retr attempt tries",
    ),
)
SERVERS = (
    _p(
        "overloaded",
        "overloaded",
        rf"(?:(?:the|our|this|your|selected|requested|all|currently|sorry)[ ,]+)*{_ANY}{{0,3}}?"
        rf"(?:{_SERVER})(?:\s+[\w./'-]+){{0,4}}?{_BE}(?:{_OVERLOADED})\b",
        r"(?!(?:if|when|while|once|whether|since|as|because|after|before)\b)"
        rf"(?-i:[A-Z])[\w.+'/-]*(?:\s+[\w./'-]+){{0,4}}?{_BE}(?:overloaded|at capacity"
        r"|experiencing (?:unusually |very )?(?:high|heavy) (?:demand|load|traffic|volume|usage)"
        r"|having trouble responding)\b",
        never=r"database|docker|container|localhost|\bqueue\b|\bpod\b",
        needs="overload capacity unavailable demand load traffic volume issues difficult outage"
        " busy down degraded unreachable available respond throttled limited usage",
    ),
    _p(
        "overloaded-word",
        "overloaded",
        r"i am (?:currently |temporarily )?(?:experiencing (?:unusually |very )?(?:high|heavy)"
        r"|overloaded"
        r"|at capacity|having trouble responding)",
        r"(?:repeated )?(?:5\d\d |server |model |api |service )*overloaded\b(?: errors?)?",
        r"(?:due to |experiencing |because of )?(?:unusually |very )?high (?:demand|load|traffic)",
        r"(?:we(?:'re| are) )?(?:currently )?(?:getting|receiving|seeing|handling) (?:much |far "
        r"|a lot )?"
        r"(?:more|too much|unusual\w*|heavy|very high|high|increased) (?:\w+ )?(?:traffic|demand"
        r"|load|volume)"
        r"(?=[^.!?]{0,40}\b(?:right now|at the moment|at this time|can handle)\b)",
        r"service (?:is )?(?:temporarily )?unavailable",
        r"internal (?:server )?error\b",
        r"bad gateway",
        r"gateway time-?out",
        r"(?:the )?server had an error",
        r"an internal error",
        r"(?:temporary )?capacity (?:constraints|issue|exceeded|unavailable)",
        r"model serving\b",
    ),
)
CONTEXT = (
    _p(
        "too-long",
        "context_limit",
        r"(?:your |the |this |current )*(?:prompt|conversation|context|input|history|chat|message"
        r"|request|session|thread|payload)(?: (?:history|length|size|window|token count|tokens?"
        r"|entity"
        r"|body))*"
        r"(?: \([^)]{0,40}\))? (?:is |are |was |has become |has grown |got |became )?(?:now "
        r"|still )?"
        r"(?:too (?:long|large|big)|full\b|exhausted|overflow(?:ed)?|overfull)",
        never=r"request (?:rate|limit)|rate[- ]limit",
    ),
    _p(
        "context-over",
        "context_limit",
        rf"{_ANY}{{0,3}}?context(?:[ _-](?:window|length|limit|size|budget|usage))*\s+{_IS}"
        r"(?:exceed(?:ed|s)|reached|full|exhausted|overflow(?:ed)?|too (?:long|large)|hit|over"
        r"|maxed out"
        r"|at 100 ?%)",
        r"context[_ ]?(?:window|length)[_ ]?(?:exceeded|overflow)\w*",
        r"(?:this |the |your )?(?:current )?(?:conversation|chat|thread|session"
        r"|context)(?: has)? (?:reached"
        r"|hit|exceeded|exceeds) (?:its |the )?(?:maximum|max|token|context|size"
        r"|length) (?:length|size|limit"
        r"|context|window)",
        r"(?:the )?model \S+ (?:has )?(?:hit|reached) (?:a|its|the) token limit",
        r"(?:possibly )?exhausted context window",
        needs="context conversation chat thread session token",
    ),
    _p(
        "exceeds-context",
        "context_limit",
        rf"(?:your |the |this |sending this |total |a |requested |estimated |number of "
        rf"|current )*(?:input|prompt|request|message"
        rf"|conversation"
        rf"|history|tokens?|chat|codex|model|session)\b[^.!?\n]{{0,80}}?{_EXCEEDS}",
        never=r"rate[- ]limit|per[- ]minute|output token|\bwill fail\b|\bwhether\b",
        needs="context maximum token max",
    ),
    _p(
        "exceeds-context-somehow",
        "context_limit",
        rf"[^.!?\n]{{0,160}}?{_EXCEEDS}",
        never=r"rate[- ]limit|per[- ]minute|output token",
        trust=2,
        needs="context maximum token max",
    ),
    _p(
        "max-context",
        "context_limit",
        r"(?:this (?:model|endpoint)'s |the |model's )?maximum (?:context|prompt|input|token"
        r"|conversation)\b[\w ]{0,30}\b(?:length|is|reached|exceeded|tokens)",
        r"(?:\w+ )?ran out of (?:context|room)\b",
        r"prompt_too_large\b",
        r"(?:the |your )?(?:prompt|input|request|conversation) (?:contains|has|is) [\d,]+ tokens\b"
        r"(?:, which [^.]{0,40})?",
        r"please (?:reduce|shorten|decrease) (?:the (?:length|size|number) of )?(?:the |your "
        r"|either )?"
        r"(?:\w+ )?(?:messages?|prompt|input|conversation|context|tokens)\b",
        r"max_tokens exceeded\b",
    ),
    _p(
        "compaction",
        "context_limit",
        r"(?:error (?:during|while) )?(?:auto-?)?compact(?:ion|ing)\b[^.\n]{0,20}(?:failed|error"
        r"|too long|too large)",
        r"error (?:during compaction|compacting|running remote compact)",
        r"auto-?compact\w* (?:is )?(?:thrashing|failed)",
        r"not enough (?:context|room)\b",
    ),
)
MONEY = (
    _p(
        "balance",
        "billing",
        r"(?:your |the |account |api |current )*(?:credit|account|prepaid|wallet"
        r"|organization)?[ -]*"
        r"(?:balance|credits?|funds) (?:is |are |was )?(?:too low|insufficient|not enough|empty"
        r"|exhausted|depleted|negative|zero|0\b)",
        r"insufficient[ _](?:account )?(?:credits?|funds|balance|quota)",
        r"(?:this |the |your )*(?:request|model|feature|account|plan) (?:requires|needs) (?:more "
        r"|additional |paid |a paid |an active )*(?:credits?|balance|funds|subscription|plan"
        r"|payment|account)",
        r"you (?:can only|cannot|can't) afford\b",
        r"(?:extra usage|an? (?:paid|pro|active) \w+|credits?|an? (?:subscription|upgrade)"
        r"|billing)\b"
        r"[\w ]{0,24}? (?:is|are) required\b",
        r"(?:your |the )?(?:\w+ )?payment (?:is |has |was )?(?:required|failed|overdue|declined)",
        r"no (?:valid |active )?payment (?:method|details|card)",
        r"billing (?:\w+ ){0,3}(?:required|not (?:enabled|active|set)|disabled|hard limit|failed)",
        r"(?:your )?(?:\w+ )?(?:subscription|plan|trial|membership|license)(?: plan)? "
        r"(?:has |is |was )?(?:expired|ended|inactive|cancell?ed|not active|required|lapsed"
        r"|past due)",
        r"(?:\w+ ){0,3}(?:token|cost|spend) budget (?:is |has been )?(?:exhausted|exceeded)",
        needs="required afford balance credit funds insufficient payment billing subscription plan"
        " trial membership"
        " license budget",
    ),
    _p(
        "plan-needed",
        "billing",
        r"to (?:use|continue(?: using)?|keep using|access|get)\b[^.!?\n]{0,60}?,? (?:please )?"
        r"(?:upgrade|subscribe|add|purchase|buy|enable)\b",
        r"(?:please )?upgrade (?:to|your)\b[^.\n]{0,60}\bto (?:continue|keep|use|get)",
        r"(?:please )?(?:add|purchase|buy) (?:more )?(?:credits|funds)\b",
        trust=1,
    ),
)
LOGINS = (
    _p(
        "auth",
        "auth",
        r"(?:your |the |an? )?(?:invalid|incorrect|missing|bad|wrong|expired|revoked|no|unknown)"
        r" (?:\w+ ){0,2}?(?:api[ -_]?key|x-api-key|auth\w*|credentials?|access token|bearer|oauth"
        r"|login)\b",
        r"(?:your |the |an? |this |claude |openai |github )*(?:oauth |access |refresh "
        r"|auth(?:entication)? |bearer |id |api |login |security )*(?:token|key|credentials?|login"
        r"|sign-in)s?(?: \w+){0,2}? (?:has |have |is |are |was |were |been |could not be |does not "
        r"|do not |did not |may be |may have )*(?:expired|revoked|invalid|not valid|rejected"
        r"|missing"
        r"|refreshed|meet|unauthori[sz]ed|malformed|incorrect|not found|disabled|validated|verified"
        r"|refresh failed)",
        r"(?:you are |you're |you must be |user (?:is )?)?not (?:logged|signed) in\b",
        r"(?:\w+ )?(?:token|login|session|auth|credentials?|sign-in) (?:(?:refresh|renewal"
        r"|callback|check) )"
        r"{0,2}(?:has )?(?:expired|failed)\b",
        r"auth(?:entication|orization)?[ _](?:error|fail(?:s|ed|ure)|required|expired)",
        r"failed to (?:authenticate|log ?in|refresh)\b",
        r"could not authenticate",
        r"(?:your|this|the) (?:account|organi[sz]ation|plan|user|workspace|subscription|key|token)"
        r" (?:does not have|doesn't have|no longer has|has no|lacks) (?:\w+ ){0,2}(?:access"
        r"|permission)",
        r"(?:your |the )?(?:auth\w*|login|oauth|sso|sign-in) (?:session|state"
        r"|token)s?(?: \w+){0,4}? (?:has "
        r"|have |is "
        r"|was |been |could not be |cannot be |needs to be )*(?:expired|refreshed|invalid"
        r"|revoked|ended"
        r"|missing|renewed)",
        r"(?:your|this|the) (?:organi[sz]ation|admin\w*|workspace|team|company"
        r"|policy)(?:'s \w+)? (?:has |have )?"
        r"(?:disabled|blocked|restricted|revoked|turned off) (?:[\w'-]+ ){0,4}(?:access|use"
        r"|usage)\b",
        r"unauthori[sz]ed\b",
        r"access (?:forbidden|terminated|revoked)",
        r"(?:your |this )?(?:account|organi[sz]ation|api key)(?: [\w<>:=@.-]+){0,2} (?:has been "
        r"|is |was )"
        r"(?:disabled"
        r"|suspended|deactivated|banned|blocked|not allowed)",
        r"api[_ ]key[_ ](?:is )?(?:invalid|not valid)",
        never=r"\bgithub\b|\bssh\b|\bsudo\b|\bnpm\b|docker|database|gitlab|postgres|mysql|webhook",
        needs="key auth credential token oauth login logged signed access account organi session"
        " forbidden",
    ),
    _p(
        "login-needed",
        "auth",
        r"(?:please |you (?:must|need to) |run |use |type )+[`'\"]?/?(?:\w+ )?(?:login|log in"
        r"|sign in"
        r"|re-?authenticate|auth login)\b",
        r"[`'\"]?/login\b",
        r"(?:login|sign[- ]in|authentication) (?:is )?(?:required|needed)\b",
        r"permission[_ ]denied|access denied by\b",
        r"forbidden\b",
        trust=1,
    ),
)
WIRES = (
    _p(
        "network",
        "network",
        r"(?:unable|failed|cannot|could not|couldn't)(?: to)? (?:connect|reach|fetch|resolve"
        r"|contact"
        r"|establish)\b",
        r"connection (?:error|refused|reset|closed|failed|lost|timed? ?out|aborted|dropped"
        r"|terminated|interrupted|stalled|was)",
        r"(?:the |your )?(?:network|internet|dns|tls|ssl|socket|proxy|transport|stream|fetch"
        r"|connect"
        r"|websocket)\b(?: \w+){0,2}? (?:error|failed|failure|disconnected|closed|timed? ?out"
        r"|hang ?up|unreachable|lost|unavailable|is down|interrupted|offline)",
        r"(?:the )?(?:api |model )?(?:request|connection|operation|response|stream|call"
        r"|provider|server"
        r"|api|model)(?: \w+)? "
        r"(?:timed out|timeout(?=\s*(?:$|[.:;,!)·(]))|aborted|was aborted)",
        r"econn\w+|enotfound|etimedout|eai_again|ehostunreach|enetunreach|epipe",
        r"(?:the |model |api |server )*(?:response|stream|connection|reply|request|transport)"
        r"(?: \w+)? (?:stalled|dropped|cut off|ended|closed|stopped|broken|interrupted|disconnected"
        r"|terminated|lost)\b(?: (?:mid|un|pre|before|early|by)\b|[ -](?:mid|unexpect|premature"
        r"|before))",
        r"(?:we(?:'re| are) )?(?:having|experiencing) (?:trouble|problems|issues"
        r"|difficult\w+) (?:connecting|reaching"
        r"|contacting|communicating)\b",
        r"unable to (?:get|verify|find) (?:\w+ ){0,4}certificate",
        r"fetch failed|getaddrinfo|socket hang up|error sending request|premature close",
        r"upstream connect error|request to \S+ failed\b",
        r"no internet|you(?:'re| are| appear to be| seem to be) offline|lost connection",
        r"(?:self[- ]signed )?certificate (?:error|verif\w+|has expired|in certificate chain)",
        never=r"database|postgres|redis|localhost:\d+|127\.0\.0\.1:\d|sqlite|mysql|\bgit\b|\bssh\b",
        needs="connect reach fetch resolve contact establish network internet dns tls ssl socket"
        " proxy transport stream request operation response call econn enotfound etimedout"
        " eai_again ehost enet epipe getaddrinfo error premature offline certificate",
    ),
)
WAITS = (
    _p(
        "wait",
        "rate_limit",
        r"(?:please )?(?:wait|try again|retry)\b(?: (?:in|after|at|for|until|on|later|a|an"
        r"|about|and"
        r"|before)\b.*|\s+\d.*)(?:$|[.!…])",
        trust=1,
    ),
)
BRANDS = (
    # Claude Code 1.0 to 2.1
    _p("claude-extra-usage", "", r"(?:you're )?out of extra usage", agents="claude"),
    _p("claude-wraps-up", "", r"usage limit reached · (?:limit resets|continuing|wrapping up)"),
    _p("claude-messages", "session_limit", r"you've hit your limit for claude messages"),
    # Codex 0.20 to 0.166
    _p("codex-retries", "rate_limit", r"exceeded retry limit, last status: 429"),
    _p("codex-status", "overloaded", r"exceeded retry limit, last status: 5\d\d"),
    _p("codex-capacity", "overloaded", r"selected model is at capacity"),
    # Gemini CLI 0.1 to 0.61 and what is made from it
    _p("gemini-quota", "daily_quota", r"you have exhausted your (?:daily quota|capacity) on this"),
    _p("gemini-resource", "rate_limit", r"resource (?:has been )?exhausted|resource_exhausted"),
    _p("gemini-capacity", "overloaded", r"no capacity (?:is )?available"),
    _p("gemini-submit", "", r"please submit a new query to continue", agents="gemini qwen"),
    # Services behind any of them
    _p("zai-rate", "rate_limit", r"\[130[2-5]\]\["),
    _p("zai-balance", "billing", r"\[1113\]\["),
    _p("zai-limit", "", r"\[13(?:0[89]|1\d)\]\["),
)

PATTERNS = (*BRANDS, *USAGE, *CONTEXT, *RATE, *SERVERS, *MONEY, *LOGINS, *WIRES, *WAITS)
