"""Develops a feature without any model: the prompt on standard input, the rest in its environment.

It makes the mistakes that developers make: it forgets a validation in its first review, gets one
checkpoint wrong, and hits a limit. Each time it does what it is told.
"""

import os
import sys
import time
from pathlib import Path

LIMIT_S = 4
DESIGN = """\
# Hello in Korean

**Goal**: `python3 hello.py --lang ko` greets in Korean. Other languages are left out.
**What is there**: `hello.py`, one function that prints.
**Design**: the words move to `words.py`; `hello.py` takes `--lang`.
**Tests**: `python3 -c ...`, for each part.
"""
CHECKPOINTS = """
## Checkpoints

```yaml checkpoints
- id: words
  description: The words in both languages
  validate: python3 -c "from words import GREETINGS; assert set(GREETINGS) == {'en', 'ko'}"
  files: [words.py]
- id: guide
  description: A guide for users
  validate: grep -q -- '--lang ko' GUIDE.md
  files: [GUIDE.md]
- id: cli
  description: hello.py speaks the language that it is told
  VALIDATE
  depends: [words]
  files: [hello.py]
```
"""
VALIDATE = """validate: test "$(python3 hello.py --lang ko Segue)" = '안녕하세요, Segue!'"""
WORDS = 'GREETINGS = {"en": "Hello, {name}!", "ko": "안녕하세요, {name}!"}\n'
GUIDE = "# Guide\n\n    python3 hello.py --lang ko Segue\n"
HELLO = '''\
"""Says hello, in the language that it is told."""

import argparse

from words import GREETINGS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lang", choices=sorted(GREETINGS), default="en")
    parser.add_argument("name", nargs="?", default="world")
    asked = parser.parse_args()
    print(GREETINGS[asked.lang].format(name=asked.name))


if __name__ == "__main__":
    main()
'''


def reach_limit() -> None:
    print(f"Claude AI usage limit reached|{int(time.time()) + LIMIT_S}")
    sys.exit(1)


def review(target: Path, prompt: str) -> None:
    """The first time one checkpoint has no validation; Segue sends it back and says so."""
    validate = VALIDATE if "has no `validate`" in prompt else "# validate: later"
    target.write_text(DESIGN + CHECKPOINTS.replace("VALIDATE", validate), "utf-8")


def implement(checkpoint: str, iteration: int) -> None:
    if checkpoint == "words":
        text = WORDS if iteration > 1 else WORDS.replace("ko", "kr")
        Path("words.py").write_text(text, "utf-8")
    elif checkpoint == "guide":
        if not os.environ.get("SEGUE_RESUME"):
            reach_limit()
        Path("GUIDE.md").write_text(GUIDE, "utf-8")
    elif checkpoint == "cli":
        Path("hello.py").write_text(HELLO, "utf-8")


def main() -> None:
    prompt = sys.stdin.read()
    target = Path(os.environ["SEGUE_TARGET"])
    time.sleep(0.5)  # it thinks
    phase = os.environ["SEGUE_PHASE"]
    if phase == "DESIGN":
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(DESIGN, "utf-8")
    elif phase == "REVIEW":
        review(target, prompt)
    elif phase == "IMPLEMENT":
        implement(os.environ["SEGUE_CHECKPOINT"], int(os.environ["SEGUE_ITERATION"]))
    else:
        print("Everything is committed. Try: python3 hello.py --lang ko Segue")


main()
