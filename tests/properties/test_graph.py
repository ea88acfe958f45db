"""Globs and graphs against the simplest thing that could be right."""

from __future__ import annotations

import fnmatch
import re
from itertools import combinations, pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from segue.core.globs import globs_meet, literal_prefix
from segue.core.graph import Graph, conflicts, find_cycle, overlaps
from segue.core.plan import Task

# Two patterns of two characters each, with stars between, share a name of four if any.
NAMES = ["".join(text) for size in (1, 2, 3, 4) for text in product("abc", repeat=size)]
PATHS = [
    path
    for depth in (1, 2, 3)
    for path in product(["a", "b", "ab", "ba", "aa", "bb", "aab"], repeat=depth)
]

characters = st.sampled_from(["a", "b", "?", "[ab]", "[!a]", "[b-c]", "*a", "b*", "*?", "[!b]*"])
one_segment = st.lists(characters, min_size=1, max_size=2).map("".join)


def matches(glob: str, path: tuple[str, ...]) -> bool:
    """The meaning of a glob by a regular expression of its own."""
    parts = glob.split("/")
    if not set("*?[") & set(parts[-1]):
        parts.append("**")
    text = "/" + "/".join(path)
    patterns = [
        "(?:/[^/]+)*" if part == "**" else "/" + fnmatch.translate(part)[4:-3].replace(".", "[^/]")
        for part in parts
    ]
    return re.fullmatch("".join(patterns), text, re.DOTALL) is not None


@given(one_segment, one_segment)
def test_segments_meet_if_some_name_matches_both(a: str, b: str) -> None:
    """A name that two patterns of one segment share is found, and none is made up."""
    shared = [n for n in NAMES if fnmatch.fnmatchcase(n, a) and fnmatch.fnmatchcase(n, b)]
    assert globs_meet(a, b) == bool(shared)


glob_parts = st.sampled_from(["a", "b", "ab", "**", "*", "a*", "?", "[!a]"])
globs = st.lists(glob_parts, min_size=1, max_size=3).map("/".join)


@given(globs, globs)
def test_globs_meet_if_some_path_matches_both(a: str, b: str) -> None:
    """Among all short paths, one matches both exactly when the globs are said to meet."""
    witness = next((p for p in PATHS if matches(a, p) and matches(b, p)), None)
    assert globs_meet(a, b) == globs_meet(b, a)
    if witness is not None:
        assert globs_meet(a, b), witness
    else:
        assert not globs_meet(a, b) or a.count("/") + b.count("/") > 2


@given(globs, globs)
def test_prefixes_that_part_ways_never_meet(a: str, b: str) -> None:
    """Comparing literal prefixes alone never hides a conflict."""
    if any(x != y for x, y in zip(literal_prefix(a), literal_prefix(b), strict=False)):
        assert not globs_meet(a, b)


@st.composite
def plans(draw: st.DrawFn, *, with_waves: bool | None = None) -> list[Task]:
    count = draw(st.integers(0, 12))
    waved = draw(st.booleans()) if with_waves is None else with_waves
    waves = sorted(draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)))
    shuffled = draw(st.permutations(range(count)))
    tasks = []
    for at in range(count):
        earlier = [f"T-{shuffled[n]}" for n in range(at)]
        blockers = draw(st.lists(st.sampled_from(earlier), max_size=3)) if earlier else []
        files = draw(st.lists(globs, max_size=2))
        wave = waves[at] if waved else None
        tasks.append(
            Task(
                f"T-{shuffled[at]}",
                "",
                wave=wave,
                blocked_by=tuple(blockers),
                files=tuple(files),
            )
        )
    return draw(st.permutations(tasks)) if tasks else tasks


def reaches(graph: Graph, a: str, b: str) -> bool:
    return b in graph.all_dependants(a)


@given(plans())
def test_conflicts_equal_those_of_all_pairs(tasks: list[Task]) -> None:
    """Buckets and bits find the same pairs as comparing everything with everything."""
    graph = Graph(tasks)
    expected = [
        (a.id, b.id)
        for a, b in combinations(tasks, 2)
        if a.wave == b.wave
        and not reaches(graph, a.id, b.id)
        and not reaches(graph, b.id, a.id)
        and overlaps(a.files, b.files)
    ]
    assert [(a, b) for a, b, _ in conflicts(tasks)] == expected


@given(plans())
def test_the_order_puts_blockers_and_waves_first(tasks: list[Task]) -> None:
    """In dependency order nothing comes before what it waits for."""
    graph = Graph(tasks)
    place = {id: at for at, id in enumerate(graph.in_dependency_order())}
    assert set(place) == {task.id for task in tasks}
    assert all(place[b] < place[t.id] for t in tasks for b in t.blocked_by)
    assert [id for wave in graph.waves() for id in wave] != [] or not tasks
    if graph.has_waves:
        waves = [graph.wave_of(id) for id in graph.in_dependency_order()]
        assert waves == sorted(waves)


def longest(graph: Graph, tasks: list[Task]) -> int:
    """The length of the longest chain, by trying every next task."""

    def follows(a: Task, b: Task) -> bool:
        numbers = sorted({t.wave or 0 for t in tasks})
        is_next = numbers.index(b.wave or 0) == numbers.index(a.wave or 0) + 1
        return a.id in b.blocked_by or (graph.has_waves and is_next)

    lengths: dict[str, int] = {}
    for id in graph.in_dependency_order():
        task = graph.task(id)
        before = [lengths[t.id] for t in tasks if t.id in lengths and follows(t, task)]
        lengths[id] = 1 + max(before, default=0)
    return max(lengths.values(), default=0)


@given(plans())
def test_the_critical_path_is_a_chain_and_none_is_longer(tasks: list[Task]) -> None:
    """Each task of the path waits for the one before it, by dependency or by wave."""
    graph = Graph(tasks)
    path = graph.critical_path()
    for a, b in pairwise(path):
        waves = [graph.task(id).wave for id in (a, b)]
        assert a in graph.blockers(b) or (graph.has_waves and waves[0] != waves[1])
    assert len(path) == longest(graph, tasks)


edges_of_ids = st.dictionaries(
    st.sampled_from("ABCDEF"), st.lists(st.sampled_from("ABCDEFX"), max_size=3)
)


@settings(max_examples=300)
@given(edges_of_ids)
def test_a_cycle_is_found_exactly_where_there_is_one(edges: dict[str, list[str]]) -> None:
    """The chain is real; without one, taking away free ids again and again leaves nothing."""
    chain = find_cycle(edges)
    left = dict(edges)
    while free := [id for id, needs in left.items() if not any(n in left for n in needs)]:
        for id in free:
            del left[id]
    assert (chain is None) == (not left)
    if chain is not None:
        assert chain[0] == chain[-1]
        assert len(set(chain)) == len(chain) - 1
        assert all(b in edges[a] for a, b in pairwise(chain))
