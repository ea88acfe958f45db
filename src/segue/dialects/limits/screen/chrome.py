"""Marks and frames: whose row is it, and where does the program's own frame begin.

They are those of Claude Code 1.0 to 2.1, Codex 0.2 to 0.166, Gemini CLI 0.1 to 0.61 (and Qwen
Code, made from it), opencode 0.3 to 1.18, Copilot CLI 0.0.3 to 1.0, Cursor's agent, aider, goose
and others whose screens are plain lines.
"""

from __future__ import annotations

import re

from segue.dialects.limits.lazy_regex import Expression

# The first character of a row says whose row it is.
SPEECH = frozenset("⏺●•✦◆⬤◉")  # the agent speaks or uses a tool
ALARM = frozenset("■✕✗✖✘×⚠❌⛔🚫🛑❗‼🖐✋⚡⏳⏰⏸ℹ🔴🟡🟠💥🔒")  # the program has something to say
ELBOW = frozenset("⎿└╰↳⤷")  # belongs to the row above
SPINNER = frozenset("✻✶✢✽✳✷✸✹✺✼")
PROMPT = frozenset(">❯›»┃▌")
TYPED = frozenset(">❯›»")
MARKS = SPEECH | ALARM | ELBOW | PROMPT
ENDS = (".", "!", "?", "。")  # of a sentence
CROSSINGS = frozenset("┬╦┳")  # of a table
SHELL_ENDS = frozenset("$%#")
_TOOL_MARKS = frozenset("✓✔☑⊷⊶⊙[o?x✗✕-$%#P❯+@d")  # of a tool that is done, a shell, a diff

RULE = Expression(r"\s{0,2}[─━═▔▁▂▀╌┄┈]{10,}.{0,60}?[─━═▔▁▂▀╌┄┈]*\s*$")
# Also where the left edge is cut off.
BOX_TOP = Expression(r"\s*(?:[╭┌╔┏](?:[─━═]{3,}|.*[╮┐╗┓]\s*$)|[─━═]+.{0,80}?[─━═][╮┐╗┓]\s*$)")
BOX_BOTTOM = Expression(r"\s*(?:[╰└╚┗][─━═]{3,}|[─━═]{3,}[╯┘╝┛]\s*$)")

HTTP_STATUS = Expression(r"[<*> ]{0,3}HTTP/\d(?:\.\d)? \d{3}\b")
HTTP_HEADER = Expression(r"[<*> ]{0,3}(?:HTTP/\d|[A-Za-z][\w-]{1,40}: ?\S)")

# The head of a tool call, behind its mark.
_DEEDS = """
    Ran Run Running Edit(?:ed|ing)? Add(?:ed)? Deleted? Created? Writ(?:e|ing) Wrote
    Read(?:ing)?(?:_\\d+)? List(?:ed)? Search(?:ed|ing)? Explor(?:ed|ing) Call(?:ed|ing)
    Updat(?:ed|e|ing)_(?:Plan|Todos?) Todos? Find Found Grep Glob Shell Bash Execut(?:ed|e|ing)
    View(?:ed)? Web_?Fetch Web_?Search Fetch(?:ed|ing)? Task Patch(?:ed)? Apply Applied Proposed
    Wait(?:ed)?_for Background
"""
TOOL = Expression(
    r"(?:[A-Z][\w.-]*(?: \w+)?(?:\s*\(MCP\))?\(|mcp__|[\w-]+ - \w+ \(MCP\)|(?:"
    + "|".join(_DEEDS.split()).replace("_", " ")
    + r")\b(?!.*\blimit (?:reached|exceeded)))"
)
HOOKS = Expression(r"Ran \d+ [\w-]+ hooks?\b")  # what a person has the program do at its end
_OK_TOOL = Expression(r"\s*(?:(?:[✓✔☑⊷⊶⊙]|\[[ox✓]\])\s{1,3}|[o?x✗✕-]\s{2,3})(?=[A-Z])")
SHELL = Expression(r"\s*(?:\$|%|#|PS>|❯\$)\s+\S")
SHELL_PROMPT = Expression(
    r"(?:\([\w.-]+\) )?(?:[\w.-]+@[\w.-]+[: ]?)?(?:[~/\w.-]\S{0,60} ?)?[$%#]$"
)
# A command that runs an agent without its screen: what follows are the program's own words.
_AGENT_RUN = Expression(
    r"\s*(?:[\w.-]+@[\w.-]+[: ]\S{0,60}?\s?|[~/][\w./~-]{0,60}\s)?(?:\$|%|#|PS>|❯\$)\s+"
    r"(?:\w+=\S+ "
    r"|timeout \S+ )*(?:claude|codex exec|gemini|qwen"
    r"|opencode run|copilot|cursor-agent|droid exec|amp|kiro-cli chat|goose run|vibe|auggie"
    r"|crush run"
    r"|cn|kimi|grok|aider|agent(?= [\"'-])|agy|hermes|kilo|iflow|q chat|warp)\b"
)
_DIFF = Expression(
    r"\s*(?:--- |\+\+\+ |@@ |diff --git |(?![45]\d\d - [A-Z])\d+\s+[+-]\s|[+-]\s?\S.*[;{}()=]\s*$)"
)
TASKS = Expression(
    r"\s*(?:(?:[-*] )?(?:[☐☒☑✔✓◼◻▢▣□◯○●◉▪▫]|\[[ xX~✓✔•-]\]|(?:\d+[.)] )?\[(?:in_progress|pending"
    r"|completed)\])\s+\S|\d+ tasks? \(|(?:… )?\+\d+ (?:more|completed"
    r"|pending))"
)

# What a person typed; a menu's entry.
ASKED = Expression(r"[❯›»] \S(?!\.? )|> [^\W\d]")  # no entry, no comparison
SLASH = Expression(r"\s*/[a-z][\w:-]*(?:\s+\S{0,30})?\s*$")
OPTION = Expression(
    r"\s*(?P<cursor>[❯>›▶→●◉•*⏵]\s*)?(?:[○◯]\s*)?(?P<n>\d{1,2})[.):]\s+(?P<text>\S.*)$"
)
# An empty input line that begins with something else: `( O)>`, `[name] >`, `3% !>`. A shell's is
# none: there the agent has ended, and what is sent would be run.
LED = Expression(
    r"\s{0,2}(?:\[[\w .:/-]{1,32}\]\s?)?(?:\([^()<>]{0,8}\)|\d{1,3}%|[\w.-]{1,16})?"
    r"\s?[!λ]{0,2}\s?[>❯›»]\s*$"
)
# A file of the conversation, as listed above the input line.
FILE = Expression(r"[\w./-]+\.\w{1,8}(?: \(read only\))?$")
# What the input line shows while nothing is typed.
PLACEHOLDER = Expression(
    r"(?:(?:→ )?(?:Add a follow-up|Plan, search, build anything|Ask anything|Send a message"
    r"|Type a message|Enter your (?:message|prompt|task)|Message \w+|What (?:would|do) you)\b"
    r"|Press up to edit queued"
    r"|Ask Codex to do anything|Explain this codebase|Type your message\b|Try \"|How can I help"
    r"|(?:Write tests for|Improve documentation in|Find and fix a bug in|Implement|Summarize recent"
    r"|Run /review|Use /skills)\b.*(?:@filename|\{feature\}|commits|changes|skills|$))",
    re.IGNORECASE,
)


def is_agent_run(row: str) -> bool:
    """A command that runs an agent."""
    is_likely = "$" in row or "%" in row or "#" in row or "PS>" in row
    return is_likely and _AGENT_RUN.match(row) is not None


def is_tool_row(row: str, mark: str) -> bool:
    """A tool that is done, a command, a changed line. `mark` is the row's first character."""
    if mark not in _TOOL_MARKS and not mark.isdecimal():
        return False
    return bool(_OK_TOOL.match(row) or SHELL.match(row) or _DIFF.match(row))
