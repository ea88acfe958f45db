"""A report as one HTML file: pictures inside, nothing fetched, everything escaped."""

from __future__ import annotations

from html import escape

from segue.i18n import _, language
from segue.work.report import picture
from segue.work.report.facts import Report
from segue.work.report.markdown import headline, local, usage, work_lines

STYLE = """\
:root { color-scheme: light dark; --fg: #1d2329; --bg: #fbfbfa; --soft: #66707a; --line: #d9dcdf; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e6e8ea; --bg: #16191c; --soft: #98a1aa; --line: #33383d; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg);
  max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.span, .state { color: var(--soft); font-weight: normal; } .head { font-size: 1.15rem; }
ul { padding-left: 1.2rem; } li { margin: .15rem 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
svg { display: block; margin: .5rem 0; } svg text { font: 11px system-ui, sans-serif;
  fill: var(--fg); } svg .tick { fill: var(--soft); text-anchor: middle; }
svg .grid { stroke: var(--line); stroke-width: 1; }
.key span { display: inline-block; width: .8em; height: .8em; border-radius: 2px;
  margin: 0 .3em 0 1em; }
"""


def page(report: Report) -> str:
    title = _("Report")
    parts = [
        "<!doctype html>",
        f'<html lang="{language()}"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'\">",
        f"<title>Segue: {escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="span">{escape(local(report.since))} – {escape(local(report.until))}</p>',
        f'<p class="head">{escape(headline(report))}</p>',
        *_pictures(report),
    ]
    for work in report.works:
        parts.append(
            f'<h2>{escape(work.path)} <span class="state">{escape(work.state)}</span></h2>'
        )
        parts.append("<ul>")
        parts += [f"<li>{escape(line)}</li>" for line in work_lines(work)]
        parts.append("</ul>")
    parts += [*_used(report), *_commits(report), "</body></html>", ""]
    return "\n".join(parts)


def _pictures(report: Report) -> list[str]:
    night, cost = picture.night(report), picture.cost(report)
    parts = []
    if night:
        names = {"run": _("worked"), "check": _("checked"), "park": _("waited for a limit"),
                 "gate": _("waited for a person")}  # fmt: skip
        key = "".join(
            f'<span style="background:{picture.COLOURS[what]}"></span>{escape(name)}'
            for what, name in names.items()
        )
        parts += [f"<h2>{escape(_('The night'))}</h2>", f'<p class="key">{key}</p>', night]
    if cost:
        parts += [f"<h2>{escape(_('Cost'))}</h2>", cost]
    return parts


def _used(report: Report) -> list[str]:
    if not report.used.input_tokens and report.used.cost_usd is None:
        return []
    rows = [(_("all"), report.used), *report.by_agent.items()]
    cells = [
        f"<tr><th>{escape(name)}</th><td>{escape(usage(used))}</td></tr>" for name, used in rows
    ]
    return [f"<h2>{escape(_('Usage'))}</h2>", "<table>", *cells, "</table>"]


def _commits(report: Report) -> list[str]:
    if not report.commits:
        return []
    cells = []
    for commit in report.commits:
        files = ", ".join(f.path for f in sorted(commit.files, key=lambda f: -f.risk)[:8])
        size = f"+{commit.additions} −{commit.deletions}"
        cells.append(
            f"<tr><td><code>{escape(commit.hash)}</code></td><td>{escape(commit.subject)}</td>"
            f"<td>{escape(size)}</td><td>{escape(files)}</td></tr>"
        )
    title = escape(_("Commits, riskiest first"))
    return [f"<h2>{title}</h2>", "<table>", *cells, "</table>"]
