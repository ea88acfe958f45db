"""The pictures of a night."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

from segue.work.report import picture
from segue.work.report.facts import Report, Row, Span, WorkReport

NOW = datetime(2026, 11, 18, 8, tzinfo=UTC)
BEGIN = NOW - timedelta(hours=10)


def report(*rows: Row) -> Report:
    return Report(BEGIN, NOW, [WorkReport("tasklist", "PLAN.md", "finished", rows=list(rows))])


def test_a_bar_for_each_span_in_its_colour() -> None:
    row = Row("T-1", "<Build>", (Span("run", BEGIN, NOW), Span("park", BEGIN, NOW)))
    image = ET.fromstring(picture.night(report(row)))
    bars = [e.get("fill") for e in image.iter() if e.tag.endswith("rect")]
    assert bars == [picture.COLOURS["run"], picture.COLOURS["park"]]


def test_a_moment_can_be_seen() -> None:
    image = ET.fromstring(picture.night(report(Row("T-1", "", (Span("run", NOW, NOW),)))))
    [bar] = [e for e in image.iter() if e.tag.endswith("rect")]
    assert float(bar.get("width") or 0) >= 1


def test_a_night_without_anything_has_no_picture() -> None:
    assert (picture.night(report()), picture.cost(report())) == ("", "")


def test_costs_add_up() -> None:
    found = report(Row("T-1", "", (Span("run", BEGIN, NOW),)))
    found.costs = [(NOW, 0.5), (BEGIN, 1.0)]
    assert "$1.50" in picture.cost(found)
    ET.fromstring(picture.cost(found))
