"""What is used up: limits, quotas, requests per minute, money."""

from __future__ import annotations

from segue.dialects.limits.wording import words
from segue.dialects.limits.wording.pattern import IS, one
from segue.dialects.limits.wording.words import alternatives

_HIT = alternatives(words.HIT)
_OVER = rf"(?:{alternatives(words.OVER)})(?![\w-])"
# Behind these words the sentence must end or continue as a message does.
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

USAGE = (
    one(
        "they-have-none",
        "billing",
        r"(?:your|this|the) (?:[\w'-]+ ){0,2}?(?:org|organi[sz]ation|team|workspace|company|group)"
        r" (?:is|has|'s) (?:now )?(?:out of|run out of) (?:usage|credits|funds)\b",
        begins="your this the",
    ),
    one(
        "you-hit",
        "",
        rf"you(?:'ve|'re| have| are)?(?:\s+(?:now|just|already|currently|also))*\s+(?:{_HIT})\s+"
        r"<limit>",
        never=r"\b(?:if|when|once|until|unless|before|after) you\b",
        begins="you",
    ),
    one(
        "you-have-none",
        "",
        r"you(?:'ve| have| do(?: not|n't) have| currently have| got)+\s+(?:no|0|zero|any|enough"
        r"|sufficient|insufficient|not enough)\s+<limit>",
        begins="you",
    ),
    one(
        "you-are-limited",
        "rate_limit",
        r"(?:you(?:'ve| have|'re| are)?|(?:your |this |the )?(?:request|account|key|ip|model)s?)"
        r"(?: (?:has|have|been|being|are|now|temporarily|currently|was|were|is))*"
        r"\s+(?:rate[- ]?limited|throttled)\b",
        r"(?:[\w.-]+ ){0,4}(?:has |have )?(?:rate[- ]limited|throttled) (?:you|your|this"
        r"|the request)",
        needs="limited throttled",
    ),
    one(
        "limit-reached",
        "",
        rf"<limit>(?:\s+(?:of|for|on|in|per)\s+[\w.@/-]+(?:\s+[\w.@/-]+){{0,2}}?"
        rf"|\s*\([^()]{{1,40}}\))?"
        rf"\s+{IS}{_OVER}{_THEN}",
        needs="reached hit exceeded exhausted used depleted consumed spent maxed out expired"
        " surpassed over gone 100 low finished met drained breached violated crossed full capped"
        " insufficient empty persist",
    ),
    one(
        "reached-limit",
        "",
        r"(?:reached|hit|exceeded|exhausted|out of|insufficient|not enough|no(?: more)?|ran out of"
        rf"|over|above)\s+<limit>(?:\s+(?:left|remaining|available))?{_THEN}",
        begins="reached hit exceeded exhausted out insufficient not no ran over above",
    ),
    one(
        "limit-then-wait",
        "",
        r"<limit>\s*[,:;·-]+\s*(?:please )?(?:retry|try again|wait)(?: \w+){0,2} \d+ ?[smh]",
        needs="retry try wait",
    ),
    one(
        "whose-limit",
        "",
        rf"(?:your|this|our)\s+(?:\S+\s+){{1,5}}?(?:is|has|have|'s|was)\s+{IS}(?:{_HIT}|no"
        rf"|insufficient)\s+<limit>",
        r"your (?:\S+\s+){1,4}?(?:reached|exceeded|hit)\s+<limit>",
        rf"(?:the|this)\s+(?:[\w'-]+\s+){{0,2}}?(?:account|workspace|team|organi[sz]ation|org"
        rf"|plan|subscription"
        rf"|project|key|trial|membership|seat|user|service|api)\s+(?:is|has|was)\s+{IS}(?:{_HIT}"
        rf"|no)\s+"
        rf"<limit>",
        rf"(?:user|team|customer|organi[sz]ation|org|project|workspace|account"
        rf"|key)(?: [\w=:@.-]+)? "
        rf"(?:is|has|was)\s+{IS}(?:{_HIT}|no)\s+<limit>",
        begins="your this our the user team customer org project workspace account key",
    ),
    one(
        "has-none-left",
        "",
        r"(?:[\w'-]+ ){1,5}?(?:has|have) (?:no|zero|0)(?: more)? <limit> (?:left|remaining"
        r"|available)\b",
        never=r"\b(?:if|when|once|until|unless)\b",
        needs="left remaining available",
    ),
    one(
        "would-exceed",
        "",
        r"(?:this |the |your |number of |total |an? )*(?:[\w`-]+ ){0,3}?(?:requests?|tokens?|prompt"
        r"|input|length|count|messages?|account|usage|organi[sz]ation|max_tokens`?|size)\b"
        r"[^.!?·\n]{0,120}?\b(?:would |will |has |have |to )?exceed(?:s|ed|ing)?\s+<limit>",
        needs="exceed",
    ),
    one(
        "used-all",
        "",
        r"<limit>(?:\s+[\w-]+){0,3}?(?::|\s+(?:is|at|has reached"
        r"|reached))\s*(?:at )?100(?:\.0+)? ?%",
        r"you(?:'ve| have) (?:used|saved)\b[^.!?\n]{0,80}\b(?:spend limit|this month)\b",
        begins="you",
        needs="100 month spend",
    ),
    one(
        "window-over",
        "",
        r"(?:your|this|the) (?:[\w-]+ ){0,2}?(?:session|window|week|day|period|block)(?:'s \w+)? "
        r"(?:is|has been|was) (?:now |fully |all )*(?:used up|exhausted|spent|full|maxed out)\b",
        begins="your this the",
    ),
    one(
        "that-is-all",
        "",
        r"that(?:'s| is) (?:all|it for) (?:the |of |your )*<limit>",
        begins="that",
    ),
    one(
        "you-cannot",
        "",
        r"you (?:can't|cannot|can not|are unable to|won't be able to|will not be able to) (?:send"
        r"|make|use|start|submit|create|run|continue)\b[^.!?\n]{0,50}?\b(?:until|right now|for now"
        r"|at the moment|today|this (?:week|month))\b",
        begins="you",
    ),
    one(
        "stopped-by",
        "",
        r"(?:paused|stopped|halted|blocked|interrupted|suspended)(?: ?[:-]| by| due to"
        r"| because of| on"
        rf"| at)?\s+<limit>{_THEN}",
        begins="paused stopped halted blocked interrupted suspended",
    ),
    one(
        "stopped-after",
        "",
        r"(?:automatic(?:ally)? |auto-?)?(?:continu\w+|resum\w+|retry\w*|run|work)"
        r"(?: (?:has|was|is|been))* (?:stopped|paused|ended|given up) after"
        r" (?:repeated|\d+|too many) (?:[\w-]+ ){0,2}?(?:[\w-]*limits?|quota)[- ](?:hits|errors"
        r"|stops|failures)\b",
        needs="stopped paused ended given",
    ),
    one(
        "goes-on-at",
        "",
        r"(?:claude code|codex|gemini|this (?:task|session|run|conversation)|work|it) will"
        r" (?:continue|resume) automatically (?:at|in|on|when|once|after)\b",
        needs="automatically",
    ),
    one(
        "resets",
        "",
        r"(?:your|usage|session|weekly)(?: \w+){0,3}? (?:limits?|quota|window) (?:will )?resets? "
        r"(?:at|on|in) ",
        trust=1,
        begins="your usage session weekly",
    ),
    one(
        "waits-for-reset",
        "",
        r"(?:stop and |please )?wait(?:ing)? (?:here |until |for )?(?:your |the |usage |rate "
        r"|weekly |session )*(?:limits?|quota|window) (?:to )?resets?\b",
        begins="stop please wait",
    ),
)
RATE = (
    one(
        "limited",
        "rate_limit",
        r"(?:api |request |requests |temporarily |currently |being |has been )*(?:rate[- ]?limited"
        rf"|throttled)\b{_THEN}",
        needs="limited throttled",
    ),
    one("too-many-trials", "billing", r"too many (?:\w+ ){0,2}trials?\b", begins="too"),
    one(
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
    one(
        "rate-code",
        "rate_limit",
        r"rate_limit_(?:error|exceeded)\s*$",
        trust=1,
        begins="rate_limit",
    ),
    one(
        "excessive",
        "rate_limit",
        r"excessive (?:\w+ ){0,3}(?:usage|use|requests|traffic)\b",
        r"(?:we (?:have |'ve )?detected that )?you(?:'re| are)(?: \w+)? (?:using|sending|making)\b"
        r"[^.!?\n]{0,40}\b(?:excessively|too (?:fast|frequently|quickly|often|many))\b",
        r"your (?:\w+ ){0,3}(?:has|have) been (?:temporarily )?(?:limited|restricted|slowed)\b",
        needs="excessive too limited restricted slowed",
    ),
    one(
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
MONEY = (
    one(
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
        r"(?:extra usage|an? (?:paid|pro|active) \w+|(?:usage )?credits?"
        r"|an? (?:subscription|upgrade)|billing)\b"
        r"[\w ]{0,24}? (?:(?:is|are) )?required\b",
        r"(?-i:[A-Z])[\w.-]*(?: [\w.-]+){0,2}? (?:requires?|needs) "
        r"(?:usage |extra |more |paid |prepaid )*credits\b",
        r"(?-i:[A-Z])[\w.-]*(?: [\w.-]+){0,2}? (?:is|are) not included in (?:your|this|the)"
        r" (?:\w+ ){0,2}(?:plan|subscription|package|account)\b",
        r"(?:your|this|the) (?:[\w'-]+ ){1,3}?(?:does not|doesn't|do not|don't) include"
        r" (?:[\w-]+ )?(?:usage|credits|access|requests)\b",
        r"(?:your|this|the) (?:[\w'-]+ ){0,3}?(?:usage|limits?|quota|allocation|allowance|credits)"
        r"(?: \w+)? (?:has been|have been|is|are|was|were) (?:disabled|turned off|revoked|suspended"
        r"|withdrawn|set to \$?0(?![.,]?\d))(?!\w)",
        r"(?:your |the )?(?:\w+ )?payment (?:is |has |was )?(?:required|failed|overdue|declined)",
        r"no (?:valid |active )?payment (?:method|details|card)",
        r"billing (?:\w+ ){0,3}(?:required|not (?:enabled|active|set)|disabled|hard limit|failed)",
        r"(?:your )?(?:[\w-]+ ){0,3}?(?:subscription|plan|trial|membership|license|package)"
        r"(?: plan)? "
        r"(?:has |is |was )?(?:expired|ended|inactive|cancell?ed|not active|required|lapsed"
        r"|past due)",
        r"(?:\w+ ){0,3}(?:token|cost|spend) budget (?:is |has been )?(?:exhausted|exceeded)",
        r"(?:user|team|key|org\w*)[=: ]\S{1,60} (?:is )?over budget\b",
        needs="required afford balance credit funds insufficient payment billing subscription plan"
        " include disabled turned revoked suspended withdrawn usage package"
        " trial membership"
        " license budget",
    ),
    one(
        "plan-needed",
        "billing",
        r"to (?:use|continue(?: using)?|keep using|access|get)\b[^.!?\n]{0,60}?,? (?:please )?"
        r"(?:upgrade|subscribe|add|purchase|buy|enable)\b",
        r"(?:please )?upgrade (?:to|your)\b[^.\n]{0,60}\bto (?:continue|keep|use|get)",
        r"(?:please )?(?:add|purchase|buy) (?:more )?(?:credits|funds)\b",
        trust=1,
        needs="upgrade subscribe add purchase buy enable",
    ),
)
WAITS = (
    one(
        "wait",
        "rate_limit",
        r"(?:please )?(?:wait|try again|retry)\b(?: (?:in|after|at|for|until|on|later|a|an"
        r"|about|and"
        r"|before)\b.*|\s+\d.*)(?:$|[.!…])",
        trust=1,
        begins="please wait try retry",
    ),
)
