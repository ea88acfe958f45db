"""docs/benchmarks.md: what is measured and how, from the benchmarks' own words, and the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measure import Figure

Results = Mapping[str, list[Figure] | str]  # by benchmark; a text: why there is no figure

HEAD = """# Benchmarks

`make bench` measures, prints a table, writes this page and exits with 1 if a target was missed;
`benchmarks/run.py NAME…` measures only some and leaves this page alone. Every figure compares
Segue with what people would use instead, both measured in the same run on the same machine. The
absolute numbers say little about another machine; the ratios should carry over.
"""

NOISE = """## How far to trust them

Rounds are short and few. On a machine that does other things at the same time, figures that wait
for the disk or start processes have differed by a factor of two and more from one run to the next,
in either direction: noise that hits one side of a ratio in all its rounds shifts the ratio.
Differences of times move by some tens of milliseconds; processor time is steadier, yet not exact.
All rounds are listed so that the spread can be seen, and the load (processes that wanted to run,
over a minute) is given from before and after: with more of it than cores, measure again on a quiet
machine. A target missed or reached by less than the spread of the rounds is neither.
"""


def page(
    results: Results, words: Mapping[str, str], machine: Sequence[tuple[str, str]], date: str
) -> str:
    """The whole page; `words` is how each benchmark describes itself."""
    parts = [HEAD, "## Figures of the last run\n", f"{date}\n", table(results)]
    parts += ["## Machine\n", "\n".join(f"- {name}: {value}" for name, value in machine) + "\n"]
    parts += [NOISE, "## What is measured\n"]
    for name, result in results.items():
        parts += [f"### {name}\n", words[name].strip() + "\n", _details(result)]
    return "\n".join(parts)


def table(results: Results) -> str:
    """All figures as a Markdown table, which reads well on a terminal, too."""
    rows = [("benchmark", "figure", "measured", "target", "")]
    for name, result in results.items():
        if isinstance(result, str):
            rows.append((name, "", "not measured", "", "missed"))
            continue
        for figure in result:
            verdict = "reached" if figure.is_reached else "missed"
            rows.append((name, figure.name, figure.value_text, figure.target_text, verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def _details(result: list[Figure] | str) -> str:
    if isinstance(result, str):
        return f"Not measured: {result.splitlines()[-1]}\n"  # a traceback belongs on the terminal
    lines = list(dict.fromkeys(detail for figure in result for detail in figure.details))
    return "\n".join(f"- {line}" for line in lines) + "\n"
