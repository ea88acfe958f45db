"""Pictures of a night as SVG: who ran, waited and was parked; what it cost over time."""

from __future__ import annotations

from datetime import datetime, timedelta
from html import escape

from segue.work.report.facts import Report, Row

WIDTH, LABEL, ROW_H, PLOT_H = 960, 220, 18, 120
ROWS_MAX = 200
COLOURS = {"run": "#2f7d4f", "check": "#3a6ea5", "park": "#d39b2a", "gate": "#a14fb0"}
STEPS_S = (300, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400)
TICKS_MAX = 12


def night(report: Report) -> str:
    """A row for each task, a bar for each span; empty where nothing happened."""
    rows = [row for work in report.works for row in work.rows][:ROWS_MAX]
    if not rows:
        return ""
    begin, end = _bounds(report, rows)
    height = ROW_H * len(rows) + 40
    parts = [_open(height), *_axis(begin, end, height)]
    for number, row in enumerate(rows):
        y = 30 + number * ROW_H
        name = escape(f"{row.name} {row.title}"[:34])
        parts.append(f'<text x="4" y="{y + 12}" class="label">{name}</text>')
        for span in row.spans:
            left, right = (_x(at, begin, end) for at in (span.begin, span.end))
            width = max(1.5, right - left)
            title = escape(f"{row.name}: {span.what} {span.begin.astimezone():%H:%M:%S}")
            parts.append(
                f'<rect x="{left:.1f}" y="{y + 2}" width="{width:.1f}" height="{ROW_H - 5}"'
                f' rx="2" fill="{COLOURS[span.what]}"><title>{title}</title></rect>'
            )
    return "\n".join([*parts, "</svg>"])


def cost(report: Report) -> str:
    """What was spent up to each moment; empty where no agent reports a cost."""
    if not report.costs:
        return ""
    spent = sorted(report.costs)
    rows = [row for work in report.works for row in work.rows]
    begin, end = _bounds(report, rows) if rows else (report.since, report.until)
    total = sum(dollars for _at, dollars in spent)
    points, so_far = [(float(LABEL), float(PLOT_H))], 0.0
    for at, dollars in spent:
        x = _x(at, begin, end)
        points.append((x, points[-1][1]))
        so_far += dollars
        points.append((x, PLOT_H - (PLOT_H - 20) * so_far / total))
    points.append((WIDTH - 10, points[-1][1]))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return "\n".join(
        [
            _open(PLOT_H + 30),
            *_axis(begin, end, PLOT_H + 30),
            f'<polyline points="{line}" fill="none" stroke="#2f7d4f" stroke-width="2"/>',
            f'<text x="4" y="24" class="label">${total:,.2f}</text>',
            "</svg>",
        ]
    )


def _bounds(report: Report, rows: list[Row]) -> tuple[datetime, datetime]:
    begin = min(span.begin for row in rows for span in row.spans)
    end = max(span.end for row in rows for span in row.spans)
    return max(begin, report.since), max(end, begin + timedelta(seconds=1))


def _open(height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' width="100%">'
    )


def _x(at: datetime, begin: datetime, end: datetime) -> float:
    share = (at - begin).total_seconds() / max(1.0, (end - begin).total_seconds())
    return LABEL + (WIDTH - LABEL - 10) * min(1.0, max(0.0, share))


def _axis(begin: datetime, end: datetime, height: int) -> list[str]:
    """A line for every full step of the clock that leaves room for its label."""
    length_s = (end - begin).total_seconds()
    step_s = next((s for s in STEPS_S if length_s / s <= TICKS_MAX), STEPS_S[-1])
    first_s = (begin.timestamp() // step_s + 1) * step_s
    parts = []
    while first_s < end.timestamp():
        at = datetime.fromtimestamp(first_s, begin.tzinfo)
        x = _x(at, begin, end)
        label = f"{at.astimezone():%H:%M}"
        parts.append(f'<line x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{height}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="14" class="tick">{label}</text>')
        first_s += step_s
    return parts
