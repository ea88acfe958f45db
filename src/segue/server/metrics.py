"""Figures for Prometheus, in its text format."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
Labels = Mapping[str, str]


class Requests:
    """How many requests, how they ended, how long they took: by route, never by path."""

    def __init__(self) -> None:
        self._total: Counter[tuple[str, str, int]] = Counter()
        self._buckets = [0] * (len(BUCKETS_S) + 1)
        self._sum_s = 0.0

    def done(self, method: str, route: str, status: int, duration_s: float) -> None:
        self._total[method, route, status] += 1
        self._buckets[bisect_left(BUCKETS_S, duration_s)] += 1
        self._sum_s += duration_s

    def lines(self) -> Iterator[str]:
        yield from counter(
            "segue_http_requests_total",
            "Requests that were answered.",
            (
                ({"method": method, "route": route, "status": str(status)}, count)
                for (method, route, status), count in sorted(self._total.items())
            ),
        )
        name = "segue_http_request_seconds"
        yield f"# HELP {name} How long requests took."
        yield f"# TYPE {name} histogram"
        count = 0
        for bound, each in zip((*map(str, BUCKETS_S), "+Inf"), self._buckets, strict=True):
            count += each
            yield f'{name}_bucket{{le="{bound}"}} {count}'
        yield f"{name}_sum {self._sum_s:.6f}"
        yield f"{name}_count {count}"


def gauge(name: str, words: str, values: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    return _series(name, "gauge", words, values)


def counter(name: str, words: str, values: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    return _series(name, "counter", words, values)


def _series(
    name: str, kind: str, words: str, values: Iterable[tuple[Labels, float]]
) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        number = repr(value).removesuffix(".0")
        yield f"{name}{{{inside}}} {number}" if inside else f"{name} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
