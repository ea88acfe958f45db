"""What else stops an agent: servers, a full conversation, logins, the network."""

from __future__ import annotations

from segue.dialects.limits.wording import words
from segue.dialects.limits.wording.pattern import ANY_WORD, BE, IS, one
from segue.dialects.limits.wording.words import alternatives

_SERVER = alternatives(words.SERVER)
_OVERLOADED = alternatives(words.OVERLOADED)
_EXCEEDS = (
    r"\b(?:exceed(?:s|ed|ing)?|larger than|longer than|over|above|beyond|bigger than|greater than"
    r"|out of room in"
    r"|run out of|ran out of|(?:not|n't|no longer) fits? (?:in|into|within)"
    r"|overflow\w*)\b[^.!?\n]{0,60}?"
    r"\b(?:context(?:[ _-](?:window|length|limit|size))?|maximum (?:number of )?(?:input )?tokens"
    r"|(?:session )?token limit|max(?:imum)? (?:allowed )?(?:prompt|input|tokens))\b"
)

SERVERS = (
    one(
        "overloaded",
        "overloaded",
        rf"(?:(?:the|our|this|your|selected|requested|all|currently|sorry)[ ,]+)*{ANY_WORD}{{0,3}}?"
        rf"(?:{_SERVER})(?:\s+[\w./'-]+){{0,4}}?{BE}(?:{_OVERLOADED})\b",
        r"(?!(?:if|when|while|once|whether|since|as|because|after|before)\b)"
        rf"(?-i:[A-Z])[\w.+'/-]*(?:\s+[\w./'-]+){{0,4}}?{BE}(?:overloaded|at capacity"
        r"|experiencing (?:unusually |very )?(?:high|heavy) (?:demand|load|traffic|volume|usage)"
        r"|having trouble responding)\b",
        never=r"database|docker|container|localhost|\bqueue\b|\bpod\b",
        needs="overload capacity unavailable demand load traffic volume issues difficult outage"
        " busy down degraded unreachable available respond throttled limited usage",
    ),
    one(
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
        needs="experiencing load capacity trouble demand traffic volume unavailable internal"
        " gateway had serving",
    ),
)
CONTEXT = (
    one(
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
        needs="too full exhausted overflow",
    ),
    one(
        "context-over",
        "context_limit",
        rf"{ANY_WORD}{{0,3}}?context(?:[ _-](?:window|length|limit|size|budget|usage))*\s+{IS}"
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
        r"(?:this |the |your )?(?:conversation|chat|thread|session) (?:has |is )?(?:grown "
        r"|gone |now )*"
        r"(?:past|beyond|over|outgrown) (?:[\w'-]+ ){0,4}(?:length|size|window|limit)\b",
        r"(?:possibly )?exhausted context window",
        needs="context conversation chat thread session token",
    ),
    one(
        "exceeds-context",
        "context_limit",
        rf"(?:your |the |this |sending this |total |a |requested |estimated |number of "
        rf"|current )*(?:input|prompt|request|message"
        rf"|conversation"
        rf"|history|tokens?|chat|codex|model|session)\b[^.!?\n]{{0,80}}?{_EXCEEDS}",
        never=r"rate[- ]limit|per[- ]minute|output token|\bwill fail\b|\bwhether\b",
        needs="context maximum token max",
    ),
    one(
        "exceeds-context-somehow",
        "context_limit",
        rf"[^.!?\n]{{0,160}}?{_EXCEEDS}",
        never=r"rate[- ]limit|per[- ]minute|output token",
        trust=2,
        needs="context maximum token max",
    ),
    one(
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
        needs="maximum ran prompt_too tokens reduce shorten decrease",
    ),
    one(
        "compaction",
        "context_limit",
        r"(?:error (?:during|while) )?(?:auto-?)?compact(?:ion|ing)\b[^.\n]{0,20}(?:failed|error"
        r"|too long|too large)",
        r"error (?:during compaction|compacting|running remote compact)",
        r"auto-?compact\w* (?:is )?(?:thrashing|failed)",
        r"not enough (?:context|room)\b",
        needs="compact enough",
    ),
)
LOGINS = (
    one(
        "auth",
        "auth",
        r"(?:your |the |an? )?(?:invalid|incorrect|missing|bad|wrong|expired|revoked|no|unknown)"
        r" (?:\w+ ){0,2}?(?:api[ -_]?key|x-api-key|auth\w*|credentials?|access token|bearer|oauth"
        r"|login)\b",
        r"(?:your |the |an? |this |claude |openai |github )*(?:oauth |access |refresh "
        r"|auth(?:entication)? |bearer |id |api |login |security )*(?:token|key|credentials?|login"
        r"|sign-in)s?(?: \w+){0,2}? (?:has |have |is |are |was |were |been |could not be |does not "
        r"|do not |did not |may be |may have )*(?:expired|revoked|invalid|not valid|no longer valid"
        r"|rejected"
        r"|missing"
        r"|refreshed|meet|unauthori[sz]ed|malformed|incorrect|not found|disabled|validated|verified"
        r"|refresh failed)",
        r"(?:you are |you're |you must be |user (?:is )?)?not (?:logged|signed) in\b",
        r"(?:\w+ )?(?:token|login|session|auth|credentials?|sign-in) (?:(?:refresh|renewal"
        r"|callback|check) )"
        r"{0,2}(?:has )?(?:expired|failed)\b",
        r"auth(?:entication|orization)?[ _](?:error|fail(?:s|ed|ure)|required|expired)",
        r"please set an? auth\w* method\b",
        r"(?:this|your|the) (?:credential|token|key)s? (?:is|are) only"
        r" (?:authori[sz]ed|valid|allowed)\b",
        r"could not (?:authenticate|resolve auth\w+)",
        r"(?:this|the) (?:service|feature|model|product|tool) (?:is|has been) disabled for"
        r" (?:your|this) (?:org|organi[sz]ation|account|workspace|team|plan|company)\b",
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
        r"|usage|authentication|logins?)\b",
        r"unauthori[sz]ed\b",
        r"access (?:forbidden|terminated|revoked)",
        r"(?:your |this )?(?:account|organi[sz]ation|api key)(?: [\w<>:=@.-]+){0,2} (?:has been "
        r"|is |was )"
        r"(?:disabled"
        r"|suspended|deactivated|banned|blocked|not allowed)",
        r"api[_ ]key[_ ](?:is )?(?:invalid|not valid)",
        never=r"\bgithub\b(?!-copilot)|\bssh\b|\bsudo\b|\bnpm\b|docker|database|gitlab|postgres|mysql"
        r"|webhook",
        needs="key auth credential token oauth login logged signed access account organi session"
        " org forbidden sign-in bearer sso permission",
    ),
    one(  # whatever the server answered
        "auth-failed",
        "auth",
        r"failed to (?:authenticate|log ?in|refresh)\b",
        never=r"\bgithub\b|\bssh\b|\bsudo\b|\bnpm\b|docker|database|gitlab|postgres|mysql|webhook",
        begins="failed",
    ),
    one(
        "login-needed",
        "auth",
        r"(?:please |you (?:must|need to) |run |use |type )+[`'\"]?/?(?:\w+ )?(?:login|log in"
        r"|sign in"
        r"|re-?authenticate|auth login)\b",
        r"[`'\"]?/login\b",
        r"(?:login|sign[- ]in|authentication) (?:is )?(?:required|needed)\b",
        r"access denied by\b",
        r"forbidden\b",
        trust=1,
        needs="log sign auth denied forbidden",
    ),
)
DENIED = (one("denied", "auth", r"permission[_ ]denied\b", trust=1, needs="denied"),)
WIRES = (
    one(
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
        " eai_again ehost enet epipe getaddrinfo error premature offline certificate timeout timed"
        " aborted communicating",
    ),
)
