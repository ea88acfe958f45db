"""What stands before a message, and what shows that there is none.

A message is only believed where it begins, so what may come before it must be known: marks, log
heads, `API Error:`, pieces of JSON. What must not: a file and a line, a quotation, a bullet of a
change log, a commit's type, source code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from segue.dialects.limits.lazy_regex import Clue, Expression
from segue.dialects.limits.wording import words

HEADS_MAX = 14
HEAD_CHARS = 120
CODE_SHARE_MAX = 0.25

_MARKS = r"[\s⏺●•✦◆■✕✗✖✘×⚠❌⛔🚫🛑❗‼🖐✋⚡⏳⏰⏸ℹ🔴🟡🟠💥🔒⎿└│┃>|!*✻✶✢✽·∙:-]+"
_LEVEL = r"error|err|warn(?:ing)?|info|debug|fatal|critical|notice|trace|severe"
_STAMP = (
    r"[\w.-]{1,24} +\| |\[?(?:(?:20)?\d\d-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?"
    r"(?:Z|[+-]\d\d:?\d\d)?\]?\s+"
)
_BRANDS = (
    r"claude(?:[ -]code)?|codex|gemini(?:[ -]cli)?|opencode|copilot|cursor(?:[ -]agent)?|aider"
    r"|goose"
    r"|kimi|qwen|amp|crush|kilo|roo|cline|continue|ollama|openrouter|bedrock|vertex|azure|openai"
    r"|anthropic|groq|mistral|deepseek|grok|xai|moonshot|provider|agent|llm|model|api"
)
_ERRORS = (
    r"errors?|exception|failure|failed|fatal|warning|output|stdout|stderr|result|rejected|refused|denied"
    r"|response|status|reason|details?|cause|caused by|message|panic|aborted|stopped|halted|paused"
    r"|interrupted|unsuccessful|problem|returned|went wrong"
)
_KEYS = (
    r"type|errors?|code|message|status|details?|reason|domain|msg|statusCode|status_code|name|data"
    r"|body|title|param|err"
)
_PREFACE = Expression(
    "|".join(
        (
            _MARKS,
            _STAMP,
            rf"[\[(<]\s*(?:{_LEVEL}|[\w. -]{{0,24}}(?:{_ERRORS})[\w. -]{{0,16}})\s*[\])>]:?\s*",
            rf"(?:{_LEVEL})\b(?!\s+(?:from|while|during|running|calling)\b)\s*[:|-]?\s+",
            r"\[[\w.: -]{2,24}\]\s*(?!\[)",
            rf"(?:{_BRANDS})\s*(?:[:>|]|(?:said|says|cli|error|api)\b:?)\s*",
            # API Error: Request rejected (429) · …   Upstream error from Alibaba: …   FooError: …
            rf"[\[(]?(?:[\w./'-]+ ){{0,6}}?[\w.]*(?:{_ERRORS})\b(?:(?!\. )[^:·|{{\[]){{0,48}}?"
            r"(?:[:·|]|\s-+)\s*",
            r"\[?api error\b[:\s]*[\[(]*",
            r"(?:internal |api |acp )?error:\s+[\"'](?=\w)",
            r"error when talking to \w+ api\b.{0,160}?(?:\w+Error: )",
            r"stream (?:error|disconnected|closed)\b[^:.]{0,40}:\s*",
            r"(?-i:[A-Z])[\w.]*(?: [\w.]+){0,2} - (?=[45]\d\d\b)",
            r"(?:http(?:/[\d.]+)?\s*)?(?:status(?: code)?:?\s*|error(?: code)?:?\s*|code:?\s*)?"
            r"[(<\[]?[45]\d\d[)>\]]?(?:\s+status code)?(?: \(no body\))?\s*[:·,|.-]*\s*",
            # {"type":"error","error":{"type":"rate_limit_error","message":"…   b'[{\n  "error": {
            r"(?:b?['\"])?[\s\[{(\\n]*[\[{]+[\s\\n]*(?=\\*[\"'])",
            rf"[\s,\\n{{\[]*\\*[\"'](?:{_KEYS})\\*[\"']\s*:\s*(?:\\*[\"'](?=\S)|[\[{{\s\\n]+"
            rf"|\d{{3}}\s*,)",
            r"(?:[\w./-]+|[\w ]{1,40})\\*[\"']\s*,\s*(?=\\*[\"'])",  # a short value of another key
            r"(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+):\s+",  # RESOURCE_EXHAUSTED: …
            r"(?-i:[A-Z][a-z]+(?:[A-Z][a-z]+)+):\s+",  # ExceededBudget: …
            r"(?-i:[a-z_]+(?:\.\w+)*\.[A-Z]\w+):\s+",  # litellm.Timeout: …
            r"(?:input|output|total) tokens: .{0,40}?--? ",
            r"(?:invalid|bad) (?:param\w*|requests?|arguments?)\s*[:,]\s*",
            r"(?:i'm |i am )?sorry[,.]?(?: but)? i(?:'m| am)? (?:can't|cannot|can not|unable to)"
            r" [^.:!]{0,60}[.:!]\s*",
            r"(?:sorry|oops|whoops|uh[- ]oh|unfortunately|hey|hmm|note|heads up|attention|hold on"
            r"|it (?:looks|seems) like|looks like)\b[,!:. ]*",
        )
    ),
    re.IGNORECASE,
)
# A text that begins with a letter has a label only if it begins so, or has one of these words.
_LABEL_BEGINS = tuple(
    """
    err warn info debug fatal crit notice trace severe claude codex gemini opencode copilot cursor
    aider goose kimi qwen amp crush kilo roo cline continue ollama openrouter bedrock vertex azure
    openai anthropic groq mistral deepseek grok xai moonshot provider agent llm model api http input
    output total sorry i'm oops whoops uh unfortunately hey hmm note heads attention hold it
    looks b' stream
    """.split()  # noqa: SIM905 - a table of words
)
_LABEL_WORDS = tuple(
    """
    error exception fail fatal output stdout stderr result reject refuse denied response status
    reason detail cause message invalid bad panic abort stop halt pause interrupt unsuccess problem
    returned wrong budget exceeded _ \"
    """.split()  # noqa: SIM905
)
_NAME = Expression(r"[A-Z][\w.'-]{0,20}(?: [\w.'&-]{1,20}){1,4}: (?=\w)")
_ANYBODY = Expression(r"[\w.'&/-]{1,24}(?: [\w.'&/-]{1,24}){0,4}: (?=\w)")
_NO_NAMES = frozenset(words.NO_NAMES.split()) | {"summary", "result", "done", "next", "title"}
_QUOTE = Expression(r"(?:Some\()?[\"'`]+(?=\w)")  # of what another program said
# What shows that this is no message of the program, whatever it says.
_ALIEN = Expression(
    r"\s*(?:[\w./\\-]+\.[a-z]\w{0,5}[:(]\d+|[A-Za-z_./][\w./-]*:\d+:|[#~=^]|//|/\*|\*\s|--\s|<!--"
    r"|<[a-zA-Z]\w*[ >/]|[^|]*\s\|\s[^|]*\s\|\s|\+(?!\d+ )|-\s|\d+[.)]\s|>>>|\.\.\.?\s"
    r"|:\w+[\w -]*:|[0-9a-f]{7,40}\s"
    r"|(?:fix|feat|docs?|chore|refactor|perf|tests?|style|ci|build|revert|title|body|subject"
    r"|summary"
    r"|todo|note)\b(?:\([^)]*\))?!?:|P\d:|E\s{2,}|FAILED |PASS(?:ED)? |ok \d|not ok |assert|raise "
    r"|return |throw |print|echo |def |class |import |from \w+ import|const |let |var |if |elif "
    r"|else\b"
    r"|for |while |with |try:|except|async |await |export |function |func |fn |pub |type "
    r"|interface "
    r"|@|\||\$ |(?:message|code|body|uri|method):|npm ERR|gh: |remote: |git |[├└│]\s*[├└─]"
    r"|(?i:[\w.]+(?:error|exception|warning): (?:if|when|whenever|raised|in case)\b)|\"\"\"|'''|``)"
)
# One line of a program, by what stands in it, behind which marks to look.
_IS_OPERATION = Clue(
    "=|&&|::|[|<|${|self.|->|``|f\"|f'",
    r"=>|\s[!=]=\s|&&|\|\||\w::\w|\w\[\w+\]|</\w+>|<\w+ \w+=|\$\{|\bself\.|\b\w+\s=\s|^\s*\w+="
    r"|\)\s*->|``|\bf[\"']",
)
_CALL = Expression(r"\w\(\)|\w\(\w*,|\w+\.\w+\(|^\s*[\w.]+\(.*\)[;:,]?\s*$")
_ENTRY = Expression(r"\s*(?:[\"']\w+[\"']\s*:|\w*(?:[a-z][A-Z]|_)\w*,?\s*$|\S+,\s*$)")
_STATEMENT_ENDS = (";", "{", '"', "'", '",', "',")
_SOURCE = Expression(
    r"\s*(?:def|class|import|from|return|raise|async|await|const|let|var|func|fn|pub|@\w|#include"
    r"|if .*:$"
    r"|for .*:$|with .*:$|elif|except|try:|assert)\b|.*(?:\w\(.*\)|\w\()\s*[:;,{]?$"
    r"|\s*[)\]}]+[,;)]*\s*$"
    r"|.*[\w\])\"']\s=\s\S|.*[{;(]$|\s*[\"'].*[\"'],$|\s*\.\. \w|\s*:\w+:|.*[=(\[\"'].*,$"
)
_TEMPLATE = Expression(
    r"\{[a-z_][\w.\[\]]*(?:\(\))?(?:![rs])?(?::[^{}\"']{0,8})?\}|\$\{|%\(\w+\)s|%[sd]\b|\{\}"
)
_JSON = Expression(r"\s*[\[{}\]\"']")
_FIRST_PERSON = Expression(
    r"\b(?:I(?! am (?:currently |temporarily )?(?:experiencing|overloaded|at capacity"
    r"|having trouble))"
    r"|I'll|I've|I'm|I'd|[Ll]et me|[Ww]e should|[Ww]e can(?! handle)|[Ww]e need|my)\b(?!/)"
)
# "… when the limit is reached": what stands before it makes it a case, not a fact.
_DENIED = Expression(
    r"\b(?:if|when|whenever|once|unless|until|before|after|without|no longer|never|not|avoid"
    r"|in case"
    r"|should|whether|because|as soon as|every time|what happens)\s+(?:\w+\s+){0,4}$",
    re.IGNORECASE,
)


def heads(text: str) -> Iterator[int]:
    """The places where a message may begin, from left to right."""
    at = 0
    yield at
    lower = text[:HEAD_CHARS].lower()
    if lower[:1].isalpha() and not (
        lower.startswith(_LABEL_BEGINS) or words.has_any(lower, _LABEL_WORDS)
    ):
        return
    for _count in range(HEADS_MAX):
        found = _PREFACE.match(text, at) or (_QUOTE.match(text, at) if at else None)
        if found is None or found.end() == at:
            return
        at = found.end()
        yield at


def behind_name(text: str, *, is_alone: bool) -> Iterator[int]:
    """Behind the name of who speaks: `Amp Free: …`; where nothing else is said, any name."""
    found = (_ANYBODY if is_alone else _NAME).match(text)
    if found is not None and found[0].split(" ", 1)[0].rstrip(":").lower() not in _NO_NAMES:
        yield found.end()


def is_alien(text: str) -> bool:
    """Source code, search results, logs of tests, lists: text about something else."""
    return _ALIEN.match(text) is not None


def is_template(text: str) -> bool:
    """A text with holes: what a program would print, not what it printed."""
    return _TEMPLATE.search(text) is not None


def is_code(text: str) -> bool:
    """One line of a program."""
    if text.lstrip()[:1] == "{":
        return False
    if text.rstrip().endswith(_STATEMENT_ENDS) or _ENTRY.match(text):
        return True
    return _IS_OPERATION(text) or ("(" in text and _CALL.search(text) is not None)


def is_source(rows: Sequence[str]) -> bool:
    """A piece of a program or of its documents, not what a program prints."""
    written = [row for row in rows if row.strip()]
    like = sum(_SOURCE.match(row) is not None and not _JSON.match(row) for row in written)
    return like >= 2 and like >= len(written) * CODE_SHARE_MAX


def is_first_person(text: str) -> bool:
    """Programs say you; agents say I."""
    return _FIRST_PERSON.search(text) is not None


def is_denied(text: str, at: int) -> bool:
    """What stands directly before makes it a condition or a denial."""
    return _DENIED.search(text[max(0, at - 60) : at]) is not None
