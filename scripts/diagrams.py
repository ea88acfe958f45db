"""Draw the state diagrams of docs/architecture.md from the tables.

python scripts/diagrams.py            write them
python scripts/diagrams.py --check    exit 1 if they are stale
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from segue.core.machines import MACHINES
from segue.core.serving import AGENT

DOCUMENT = Path(__file__).parent.parent / "docs" / "architecture.md"
START, END = "<!-- diagrams -->", "<!-- /diagrams -->"


def diagrams() -> str:
    """Every machine's diagram, as Markdown."""
    return "\n".join(
        f"### {machine.name}\n\n```mermaid\n{machine.diagram()}```\n"
        for machine in (*MACHINES.values(), AGENT)
    )


def with_diagrams(text: str) -> str:
    """The document with the part between the markers drawn anew."""
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        raise SystemExit(f"{DOCUMENT.name}: needs {START} and {END}, once each")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    return f"{before}{START}\n{diagrams()}{END}{after}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="State diagrams of docs/architecture.md")
    parser.add_argument("--check", action="store_true", help="exit 1 if they are stale")
    parser.add_argument("--document", type=Path, default=DOCUMENT, help="another document")
    options = parser.parse_args(arguments)
    old = options.document.read_text(encoding="utf-8")
    new = with_diagrams(old)
    if options.check and new != old:
        sys.stderr.write(f"{options.document.name}: stale; run scripts/diagrams.py\n")
        return 1
    if new != old:
        options.document.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
