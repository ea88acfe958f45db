"""Judges a chapter by counting: its path is the last argument, the verdict goes to the output."""

import json
import sys
from pathlib import Path

WORDS_MIN = 80
LAST = "chapter_4.md"


def main() -> None:
    path = Path(sys.argv[-1])
    text = path.read_text("utf-8")
    words = len(text.split())
    reasons = []
    if words < WORDS_MIN:
        reasons.append(f"it is too short: {words} words, {WORDS_MIN} are wanted")
    if "“" not in text:
        reasons.append("nobody speaks: let Oda ask something")
    if path.name == LAST and "The end" not in text:
        reasons.append("the book has no end: bring them home")
    score = max(0, min(100, 80 + words // 10) - 25 * len(reasons))
    print(json.dumps({"score": score, "reasons": reasons}))


main()
