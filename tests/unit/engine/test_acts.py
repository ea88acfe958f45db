"""Acts as rows: checked when they are added, taken in once, refused with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.core.machines import ActState, GateState, Trigger
from segue.engine import acts
from segue.engine.acts import CannotError, Verb, Wanted
from segue.errors import UserError
from segue.store.actors import Actor, current
from segue.store.changes import Add, Change, Move, Note
from segue.store.rows import ActRow
from segue.store.sqlite import Store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
KIM, LEE = Actor("kim (pts/1)", "terminal"), Actor("lee", "mcp")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = Store.open(tmp_path / "segue.db")
    found.move(
        Add("work", "w", "pending", {"kind": "tasklist", "path": "/p/PLAN.md"}),
        Add("task", "w/T-1", "failed", {"work": "w", "key": "T-1", "title": "Build"}),
        Add("gate", "g1", GateState.PENDING, {"work": "w", "kind": "question", "text": "Which?"}),
        at=NOW,
    )
    yield found
    found.close()


def answer(text: str = "SQLite", actor: Actor = KIM, gate: str = "g1") -> Wanted:
    return Wanted(Verb.ANSWER, "w", actor, gate=gate, data={"answer": text})


def settle(store: Store) -> Move:
    return Move("gate", "g1", GateState.PENDING, GateState.ANSWERED, Trigger.ANSWER)


# --- adding -----------------------------------------------------------------------------------


def test_an_act_waits_with_its_actor_until_it_is_taken_in(store: Store) -> None:
    """The row has the words, the journal who wants what and by which way."""
    id = acts.add(store, answer(), NOW)
    (act,) = acts.waiting(store, "w")
    assert (act.id, act.verb, act.gate, act.data) == (id, "answer", "g1", {"answer": "SQLite"})
    row = store.one("SELECT * FROM journal WHERE entity = 'act'")
    assert row is not None
    assert row["work"] == "w"
    assert '"actor": "kim (pts/1)"' in row["data"]
    assert "SQLite" not in row["data"]


def test_the_second_answer_says_who_was_first(store: Store) -> None:
    """Also while the first one still waits for the owner; nothing is added."""
    acts.add(store, answer(), NOW)
    with pytest.raises(UserError, match=r"g1 is already answered: by kim \(pts/1\)"):
        acts.add(store, answer("PostgreSQL", LEE), NOW)
    assert len(acts.waiting(store, "w")) == 1


def test_what_was_settled_in_another_way_is_named(store: Store) -> None:
    """A terminal of the run, the page, a deadline: no act says who."""
    store.move(settle(store), at=NOW)
    with pytest.raises(UserError, match="g1 is already answered"):
        acts.add(store, answer(), NOW)


def test_a_gate_that_is_not_there_is_refused(store: Store) -> None:
    """Nothing is added."""
    with pytest.raises(UserError) as caught:
        acts.add(store, answer(gate="g9"), NOW)
    assert caught.value.problem.code == "unknown_gate"
    assert acts.waiting(store, "w") == []


def test_a_refused_answer_does_not_bar_the_next(store: Store) -> None:
    """The gate still waits."""
    acts.add(store, answer(), NOW)
    (act,) = acts.waiting(store, "w")
    store.move(acts.refused(act, "not now"), at=NOW)
    acts.add(store, answer("PostgreSQL", LEE), NOW)
    assert len(acts.waiting(store, "w")) == 1


def test_a_retry_is_asked_for_once(store: Store) -> None:
    """Whoever asks again learns that somebody did; another verb is another matter."""
    acts.add(store, Wanted(Verb.RETRY, "w", KIM, "w/T-1"), NOW)
    with pytest.raises(UserError, match="kim"):
        acts.add(store, Wanted(Verb.RETRY, "w", LEE, "w/T-1"), NOW)
    acts.add(store, Wanted(Verb.SKIP, "w", LEE, "w/T-1"), NOW)


# --- taking in --------------------------------------------------------------------------------


def test_an_act_is_taken_in_once(store: Store) -> None:
    """Of two who try, one commits what follows; the other one's transaction changes nothing."""
    acts.add(store, answer(), NOW)
    (act,) = acts.waiting(store, "w")
    assert store.move(acts.taken(act), settle(store), at=NOW)
    renamed = Note("task", "w/T-1", {"title": "twice"})
    assert not store.move(acts.taken(act), renamed, at=NOW)
    task = store.one("SELECT title FROM tasks WHERE id = 'w/T-1'")
    assert task is not None
    assert task["title"] == "Build"
    assert acts.waiting(store, "w") == []


def test_what_cannot_follow_leaves_the_act_waiting(store: Store) -> None:
    """A consequence that lost its race takes the act's own move back with it."""
    id = acts.add(store, answer(), NOW)
    (act,) = acts.waiting(store, "w")
    store.move(settle(store), at=NOW)
    assert not store.move(acts.taken(act), settle(store), at=NOW)
    assert acts.outcome(store, id).state is ActState.WAITING


def test_an_act_that_is_done_at_once_is_one_transaction(store: Store) -> None:
    """A failure in what follows leaves no act behind."""

    def broken() -> list[Change]:
        raise RuntimeError("killed")

    wanted = Wanted(Verb.WAKE, "w", KIM, "w/T-1")
    with pytest.raises(RuntimeError):
        acts.done(store, wanted, NOW, then=broken)
    assert store.all("SELECT * FROM acts") == []
    id = acts.done(store, wanted, NOW, then=lambda: [Note("task", "w/T-1", {"title": "x"})])
    assert acts.outcome(store, id).state is ActState.TAKEN


# --- the outcome ------------------------------------------------------------------------------


def test_whoever_added_it_learns_why_it_was_refused(store: Store) -> None:
    """Without waiting any longer."""
    id = acts.add(store, answer(), NOW)
    (act,) = acts.waiting(store, "w")
    store.move(acts.refused(act, "too late"), at=NOW)
    found = acts.wait_for(store, id, 60, lambda: True)
    assert (found.state, found.reason) == (ActState.REFUSED, "too late")


@pytest.mark.parametrize(("wait_s", "is_owned"), [(0.0, True), (60.0, False)])
def test_the_wait_for_an_outcome_is_bounded(store: Store, wait_s: float, is_owned: bool) -> None:
    """By time, and by the life of the owner."""
    id = acts.add(store, answer(), NOW)
    assert acts.wait_for(store, id, wait_s, lambda: is_owned).state is ActState.WAITING


# --- the words --------------------------------------------------------------------------------

OPTIONS = ("PostgreSQL", "SQLite")


@pytest.mark.parametrize(
    ("text", "own_words", "taken"),
    [
        ("SQLite", False, "SQLite"),
        (" sqlite ", None, "SQLite"),
        ("Sqlitee", True, "Sqlitee"),
        ("neither of them", None, "neither of them"),
        ("neither of them", True, "neither of them"),
    ],
)
def test_an_answer_is_an_option_or_own_words(text: str, own_words: bool | None, taken: str) -> None:
    """Exact, by other capitals, or as the person says."""
    assert acts.chosen(text, OPTIONS, own_words=own_words) == taken


@pytest.mark.parametrize(
    ("text", "own_words", "said"),
    [
        ("Postgres", None, "did you mean `PostgreSQL`"),
        ("neither of them", False, "not one of the options"),
        ("  ", None, "enter an answer"),
        ("x" * 70_000, True, "too long"),
    ],
)
def test_what_is_no_answer_is_refused(text: str, own_words: bool | None, said: str) -> None:
    """With the option that may be meant."""
    with pytest.raises(UserError, match=said):
        acts.chosen(text, OPTIONS, own_words=own_words)


def test_free_answers_are_taken_as_they_are() -> None:
    """Where there is nothing to choose from, the text is the answer."""
    assert acts.chosen("Whatever", ()) == "Whatever"


# --- taking in --------------------------------------------------------------------------------


def taking(
    store: Store, handlers: dict[Verb, acts.Handler], *, survives: bool = True
) -> dict[str, str]:
    """Take in all that waits; what was refused, by verb, with the reason."""
    refused: dict[str, str] = {}

    def refuse(act: ActRow, why: str) -> None:
        refused[act.verb] = why

    acts.Intake(handlers, refuse, survives=survives).take(acts.waiting(store, "w"))
    return refused


def add_all(store: Store, *verbs: Verb) -> None:
    for verb in verbs:
        acts.add(store, Wanted(verb, "w", KIM, "w/T-1"), NOW)


def test_each_act_goes_to_the_handler_of_its_verb(store: Store) -> None:
    """In the name of whoever wanted it."""
    add_all(store, Verb.PAUSE, Verb.RESUME)
    seen: list[tuple[str, Actor]] = []

    def handle(act: ActRow) -> bool:
        seen.append((act.verb, current()))
        return True

    assert taking(store, {Verb.PAUSE: handle, Verb.RESUME: handle}) == {}
    assert seen == [("pause", KIM), ("resume", KIM)]


def test_what_a_kind_of_work_does_not_know_is_refused(store: Store) -> None:
    """In words, and so is what cannot be done."""
    add_all(store, Verb.PAUSE, Verb.STOP)

    def cannot(_act: ActRow) -> bool:
        raise CannotError("not now")

    found = taking(store, {Verb.PAUSE: cannot})
    assert found == {
        "pause": "not now",
        "stop": "`stop` is not possible for this kind of work",
    }


def test_an_error_of_a_handler_is_for_whoever_can_be_sure_that_nothing_is_half_done(
    store: Store,
) -> None:
    """There the act is refused, and the others are taken in; else it is raised."""
    add_all(store, Verb.PAUSE, Verb.RESUME)
    taken: list[str] = []

    def breaks(_act: ActRow) -> bool:
        raise KeyError("unforeseen")

    def handle(act: ActRow) -> bool:
        taken.append(act.verb)
        return True

    handlers: dict[Verb, acts.Handler] = {Verb.PAUSE: breaks, Verb.RESUME: handle}
    assert taking(store, handlers) == {"pause": "KeyError('unforeseen')"}
    assert taken == ["resume"]
    with pytest.raises(KeyError):
        taking(store, handlers, survives=False)


def test_a_full_disk_refuses_nothing(store: Store) -> None:
    """The act waits until it can be taken in."""
    add_all(store, Verb.PAUSE)

    def full(_act: ActRow) -> bool:
        raise UserError("disk_full", "no space")

    with pytest.raises(UserError, match="no space"):
        taking(store, {Verb.PAUSE: full})


@pytest.mark.parametrize(("text", "why"), [(None, "requires `until`"), ("soon", "is not a time")])
def test_what_an_act_must_bring_along_is_checked(store: Store, text: str | None, why: str) -> None:
    """By whoever takes it in: a newer Segue may have added it."""
    data = {} if text is None else {"until": text}
    acts.add(store, Wanted(Verb.PARK, "w", KIM, "w/T-1", data=data), NOW)
    (act,) = acts.waiting(store, "w")
    with pytest.raises(CannotError, match=why):
        acts.until(act)


def test_every_verb_has_a_meaning() -> None:
    """One table says which gate it settles, and whether a second one counts."""
    assert set(acts.VERBS) == set(Verb)
