"""Words instead of flags: `segue resume 이어서 써줘`, `segue resume where was I`."""

from __future__ import annotations

import re
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _

ASK = "ask"  # words that would begin something again: what is meant is chosen, never guessed

# What people say, for each choice. Where any asks, it is asked; else the longest phrase decides.
PHRASES: dict[str, tuple[str, ...]] = {
    "continue": (
        "이어서 써줘", "이어서 집필", "이어서 진행", "이어서", "이어 써", "계속 집필",
        "계속 써", "계속해", "계속",
        "중단된 거 이어서", "중단된 작업", "continue", "go on", "carry on", "keep going",
        "keep writing", "pick up", "resume", "finish it", "proceed",
    ),
    "status": (
        "어디까지 했지", "어디까지", "상태만 확인", "상태", "진행 상황", "현황", "얼마나",
        "where was i", "where were we", "where am i", "how far", "show the state", "status",
        "progress", "what is left", "state",
    ),
    ASK: (
        "현재 챕터 재시작", "챕터 재시작", "다시 시작", "다시 써", "다시 쓰", "재시작",
        "이 챕터 다시", "새로 시작", "새로 써", "새로 쓰", "세션 초기화", "초기화",
        "처음부터 다시", "처음부터", "리셋", "지워", "삭제",
        "start again", "start over", "start anew", "start afresh", "start the chapter again",
        "begin again", "begin anew", "restart", "rewrite", "redo", "again", "reset the state",
        "reset", "from scratch", "from the beginning", "from the start", "wipe", "forget it",
        "clear the state", "delete",
    ),
}  # fmt: skip
WEAK = "again"  # `where was I again`: by itself it asks, beside another phrase it says nothing
# Words that turn a sentence round: then it chooses nothing that changes anything.
_NOT = re.compile(
    r"지\s*(?:마|말|않)|말고|(?<!\S)(?:안|못)(?!\S)|(?<![a-z])(?:not|never|no|without|dont)(?![a-z])|n['’]t"
)
COMMANDS = ("resume", "write-all")  # people type these with the plugin's stroke before them


def split(arguments: tuple[str, ...]) -> tuple[Path, str | None]:
    """The path among the arguments (here, if there is none), and what the words choose."""
    words = list(arguments)
    path = Path()
    if words and (_is_there(words[0]) or _looks_like_a_path(words[0])):
        path = Path(words.pop(0))
    elif len(words) > 1 and _looks_like_a_path(words[-1]) and _is_there(words[-1]):
        path = Path(words.pop())
    if not _is_there(str(path)):
        raise UserError(
            "path_not_found",
            _("no such path"),
            file=str(path),
            hint=_("name the folder or the plan, or say what to do: segue resume continue"),
        )
    if len(words) == 1 and words[0].lstrip("/") in COMMANDS:
        words = []  # the name of the command: what to do is asked
    return path, chosen(" ".join(words)) if words else None


def _is_there(word: str) -> bool:
    try:
        return Path(word).exists()
    except OSError:  # a sentence that is too long for a name
        return False


def _looks_like_a_path(word: str) -> bool:
    if word.startswith("/") and word[1:] in COMMANDS:
        return False
    return "/" in word.strip("/") or word.startswith((".", "/", "~")) or word.endswith(".md")


def chosen(text: str) -> str:
    """What a sentence chooses; UserError where it says nothing that is known."""
    said = re.sub(r"[\s/?!.,~]+", " ", text.casefold()).strip()
    found = [
        (len(phrase), choice, phrase)
        for choice, phrases in PHRASES.items()
        for phrase in phrases
        if _says(said, phrase)
    ]
    if not found:
        raise UserError(
            "usage",
            _("“{text}” does not say what to do").format(text=text),
            hint=_("say: continue · where was I · start over; or use the options"),
        )
    found = [one for one in found if one[1:] != (ASK, WEAK)] or found
    longest = max(found)[0]
    choices = {choice for length, choice, _phrase in found if length == longest}
    if any(choice == ASK for _length, choice, _phrase in found):
        choices = {ASK}
    if _NOT.search(said) and choices != {"status"}:
        raise UserError(
            "usage",
            _("“{text}” only says what not to do").format(text=text),
            hint=_("say: continue · where was I · start over; or use the options"),
        )
    if len(choices) > 1:
        raise UserError(
            "usage",
            _("“{text}” can mean several things: {choices}").format(
                text=text, choices=", ".join(sorted(choices))
            ),
            hint=_("say: continue · where was I · start over; or use the options"),
        )
    return choices.pop()


def _says(said: str, phrase: str) -> bool:
    if phrase.isascii():
        # Korean endings follow an English word without a blank: resume해줘
        return re.search(rf"(?<![a-z]){re.escape(phrase)}(?![a-z])", said) is not None
    return phrase in said or phrase.replace(" ", "") in said.replace(" ", "")
