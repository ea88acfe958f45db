"""Figures in the text format of Prometheus."""

from __future__ import annotations

from segue.server.metrics import Requests, counter, gauge


def test_a_gauge_has_its_words_its_kind_and_a_line_for_each_value() -> None:
    lines = list(gauge("segue_tasks", "Tasks by state.", [({"status": "draft"}, 2), ({}, 0.5)]))
    assert lines == [
        "# HELP segue_tasks Tasks by state.",
        "# TYPE segue_tasks gauge",
        'segue_tasks{status="draft"} 2',
        "segue_tasks 0.5",
    ]


def test_whole_numbers_have_no_fraction() -> None:
    assert list(counter("n", "N.", [({}, 3.0)]))[-1] == "n 3"


def test_a_label_cannot_break_out_of_its_quotes() -> None:
    """A name of a user's account may have anything in it; each figure stays on its line."""
    line = list(gauge("n", "N.", [({"account": 'a"} 1\nevil{b="\\'}, 1)]))[-1]
    assert line == 'n{account="a\\"} 1\\nevil{b=\\"\\\\"} 1'


def test_requests_are_counted_by_route_and_status() -> None:
    requests = Requests()
    requests.done("GET", "/api/tasks/{id}", 404, 0.2)
    requests.done("GET", "/api/tasks/{id}", 200, 0.2)
    requests.done("GET", "/api/tasks/{id}", 200, 0.2)
    found = [line for line in requests.lines() if line.startswith("segue_http_requests_total")]
    assert found == [
        'segue_http_requests_total{method="GET",route="/api/tasks/{id}",status="200"} 2',
        'segue_http_requests_total{method="GET",route="/api/tasks/{id}",status="404"} 1',
    ]


def test_the_histogram_counts_up_and_its_bounds_are_inclusive() -> None:
    """`le` means at most; the last bucket holds all, as many as were counted."""
    requests = Requests()
    for duration_s in (0.0005, 0.001, 0.0011, 60.0):
        requests.done("GET", "/", 200, duration_s)
    lines = list(requests.lines())
    buckets = [line for line in lines if "_bucket" in line]
    assert buckets[0] == 'segue_http_request_seconds_bucket{le="0.001"} 2'
    assert buckets[1] == 'segue_http_request_seconds_bucket{le="0.005"} 3'
    assert buckets[-1] == 'segue_http_request_seconds_bucket{le="+Inf"} 4'
    assert lines[-2:] == [
        "segue_http_request_seconds_sum 60.002600",
        "segue_http_request_seconds_count 4",
    ]


def test_a_server_that_was_never_asked_has_figures_too() -> None:
    lines = list(Requests().lines())
    assert "# TYPE segue_http_requests_total counter" in lines
    assert lines[-1] == "segue_http_request_seconds_count 0"
