"""Writes a chapter without any model: the prompt on standard input, the file in SEGUE_TARGET.

It does what the judge asked for, in the prompt of a revision or in what was learnt before, and
nothing that nobody asked for. In the third chapter it hits a limit, as writers do.
"""

import os
import sys
import time
from pathlib import Path

LIMIT_S = 4
WEATHER = [
    "A thin rain hung over the roofs, too lazy to fall.",
    "The wind had gone to bed early and left its coat on the chimneys.",
    "Fog came up the steps from the sea, one stair at a time.",
    "The sky had been swept, and somebody had forgotten one star.",
]
ODA = [
    "Oda the lamplighter carried her ladder as others carry a tune.",
    "Oda counted the wicks twice, and the second time there was one fewer.",
    "Oda had lit nine hundred lamps a week and had never once been thanked by a moth.",
    "Oda put down her ladder, which she never did.",
]
CAT = [
    "Her cat, Tinder, washed a paw and gave the matter no thought at all.",
    "Tinder sat on the top rung, where a ladder is warmest, and looked wise.",
    "Tinder had opinions about herring, thunder and doors, and kept them to herself.",
    "Tinder walked as one walks who has been out for a reason.",
]
MORE = [
    "People put their heads out and asked one another for a light, and all of them were asking.",
    "The baker rose at three by the glow of his own oven and burnt only the small loaves.",
    "The night watch said that all was well, but they said it closer together than usual.",
    "A child on the third floor drew a lamp on the window pane, and for a while it helped.",
    "On the corner stood the oldest lamp of the town, which had never been lit and never said why.",
    "The postman, who knows every door, knocked at two that had not been there on Monday.",
    "Far down, the harbour bell rang once for the tide and once for company.",
    "A sailor who had come home that day walked past his own door three times.",
    "Under the pier the water kept a row of little lights, folded, as one keeps linen.",
    "Somebody played a fiddle in the dark, badly, and then better, since nobody could see.",
    "One after the other the lamps remembered what they were for.",
    "The clock struck twelve and was surprised to find everybody waiting for it.",
]
TALK = [
    ("Is it the oil?", "Tinder sneezed, and it was not the oil."),
    ("Is it you who takes them?", "Tinder yawned, and in the yawn there was a very small spark."),
    ("Shall I follow you?", "Tinder was already at the corner, which is where cats say yes."),
    ("Did you bring it all this way?", "Tinder looked at the moon, which is an answer."),
]
END = [
    "They went home together, and the street kept its light.",
    "The lamps of Tanner Street have burnt ever since, all but one, and that one is hers.",
]


def remembered(notes: Path) -> str:
    """The prompt. Who goes on after a limit gets a word to go on and must know the rest."""
    return notes.read_text("utf-8") if os.environ.get("SEGUE_RESUME") else sys.stdin.read()


def outline(prompt: str) -> tuple[str, str]:
    """The chapter's title and what happens in it: the first part of the prompt has them."""
    lines = iter(prompt.splitlines())
    for line in lines:
        if line.startswith("## "):
            break
    title, happens, *_rest = [line for line in lines if line]
    return title, happens


def chapter_text(prompt: str, number: int) -> str:
    at = (number - 1) % len(ODA)
    title, opening = outline(prompt)
    parts = [f"{opening} {WEATHER[at]}", f"{ODA[at]} {CAT[at]}"]
    if "too short" in prompt:
        parts.append(" ".join(MORE[3 * at : 3 * at + 3]))
    if "nobody speaks" in prompt:
        asked, answer = TALK[at]
        parts.append(f"“{asked}” said Oda.\n\n{answer}")
    if "no end" in prompt:
        parts += [" ".join(END), "*The end.*"]
    return f"# {title}\n\n" + "\n\n".join(parts) + "\n"


def main() -> None:
    number = int(os.environ["SEGUE_CHAPTER"])
    notes = Path(".writer-notes")
    prompt = remembered(notes)
    time.sleep(0.6)  # it thinks
    if number == 3 and not os.environ.get("SEGUE_RESUME"):
        notes.write_text(prompt, "utf-8")
        print(f"Claude AI usage limit reached|{int(time.time()) + LIMIT_S}")
        sys.exit(1)
    Path(os.environ["SEGUE_TARGET"]).write_text(chapter_text(prompt, number), "utf-8")
    print(f"{outline(prompt)[1]} Oda and Tinder look for the lights.")


main()
