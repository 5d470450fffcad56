"""What every store does alike with vectors, the index queue and what was learnt."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memcore import Memory, Note, Owner, Settings
from memcore.errors import InvalidInput
from memcore.matrix import _FEW, BLOCK, Passages, check, pack, unpack
from memcore.ports import Store, Transaction
from memcore.testing import InMemoryStore, PredictableEmbedder, SettableClock
from memcore.types import Matrix, ProviderIdentity, QueuedPassage
from tests.conformance.test_stores import OWNERS, Boom, add
from tests.support import ANNA, START, at, say

MakeStore = Callable[[], Store]
WIDTH = 4
IDENTITY = ProviderIdentity("p", "m", "r", WIDTH)


def unit(*numbers: float) -> Matrix:
    """A vector in this direction."""
    wide = np.zeros(WIDTH, np.float32)
    wide[: len(numbers)] = numbers
    return wide / np.linalg.norm(wide)


X, Y, Z, W = (unit(*row) for row in np.eye(WIDTH).tolist())


def put(store: Store, item: str, *vectors: Matrix, owner: Owner = ANNA, **more: Any) -> None:
    with store.transaction() as tx:
        put_in(tx, item, *vectors, owner=owner, **more)


def put_in(
    tx: Transaction,
    item: str,
    *vectors: Matrix,
    owner: Owner = ANNA,
    identity: ProviderIdentity = IDENTITY,
    kind: Any = "note",
    revision: int = 1,
) -> None:
    rows = np.stack(vectors) if vectors else np.empty((0, identity.width), np.float32)
    tx.vectors.put(owner, identity, kind, item, revision, rows)


def nearest(
    store: Store,
    query: Matrix = X,
    limit: int = 99,
    among: tuple[str, ...] = (),
    owner: Owner = ANNA,
    identity: ProviderIdentity = IDENTITY,
    kind: Any = "note",
) -> list[tuple[str, float]]:
    with store.reading() as parts:
        near = parts.vectors.nearest(owner, identity, kind, query, limit, among)
    return [(one.item, one.cosine) for one in near]


def items(found: Iterable[tuple[Any, ...]]) -> list[str]:
    return [one[0] for one in found]


def held(store: Store, owner: Owner = ANNA) -> dict[str, object]:
    """All that an owner has of vectors."""
    with store.reading() as parts:
        counts = parts.vectors.counts(owner)
        return {
            "counts": counts,
            "revisions": {
                name: parts.vectors.revisions(owner, *name) for name in sorted(counts, key=str)
            },
            "nearest": {
                name: parts.vectors.nearest(owner, *name, X, 99)
                for name in sorted(counts, key=str)
                if name[0].width == WIDTH
            },
        }


# ---- search


def test_items_come_best_first_with_the_cosine_of_their_best_passage(store: Store) -> None:
    put(store, "b", Y, unit(1, 1))
    put(store, "a", X)
    put(store, "c", -X)
    put(store, "several", Z, X, W)
    found = nearest(store)
    assert items(found) == ["a", "several", "b", "c"]
    assert [score for _, score in found] == pytest.approx([1, 1, 0.5**0.5, -1])
    assert items(nearest(store, limit=2)) == ["a", "several"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_gives_what_was_asked_among_alone(store: Store, limit: int) -> None:
    put(store, "a", X)
    put(store, "b", Y)
    assert nearest(store, limit=limit) == []
    assert nearest(store, limit=limit, among=("b", "unknown", "b")) == [("b", pytest.approx(0))]


def test_among_adds_items_that_are_not_among_the_best(store: Store) -> None:
    for number in range(5):
        put(store, f"n{number}", unit(1, number / 10))
    found = nearest(store, limit=2, among=("n4", "n0"))
    assert items(found) == ["n0", "n1", "n4"]
    assert dict(found) == {one: score for one, score in nearest(store) if one in dict(found)}


def test_ties_are_broken_by_item_however_they_were_put(store: Store) -> None:
    vectors = {"é": X, "b": X, "10": X, "9": X, "a": X, "Z": X}
    for item, vector in vectors.items():
        put(store, item, vector, Y)
    expected = sorted(vectors)
    assert items(nearest(store)) == expected
    assert items(nearest(store, limit=3)) == expected[:3]
    put(store, "b", X)  # a new row, and a free one
    assert items(nearest(store)) == expected


def test_a_score_does_not_depend_on_what_else_is_there(make_store: MakeStore) -> None:
    chance = np.random.default_rng(7)
    rows = [unit(*row) for row in chance.standard_normal((200, WIDTH)).tolist()]
    forward, backward = make_store(), make_store()
    for number, row in enumerate(rows):
        put(forward, f"n{number:03}", row)
    for number, row in reversed(list(enumerate(rows))):
        put(backward, f"n{number:03}", row)
    query = unit(0.3, -1, 2, 0.1)
    assert nearest(forward, query, 50) == nearest(backward, query, 50)
    alone = make_store()
    put(alone, "n007", rows[7])
    assert nearest(alone, query)[0] in nearest(forward, query, 200)


def test_many_passages_of_one_item_do_not_take_the_places_of_others(store: Store) -> None:
    put(store, "long", *[unit(1, number / 1000) for number in range(50)])
    for number in range(5):
        put(store, f"n{number}", unit(1, 1 + number))
    assert items(nearest(store, limit=3)) == ["long", "n0", "n1"]


def test_contrast_is_how_far_an_item_stands_out_from_what_all_have_in_common(
    store: Store,
) -> None:
    chance = np.random.default_rng(3)
    rows = chance.standard_normal((40, WIDTH)) * [1, 1, 1, 0.3] + [0, 0, 0, 2]
    stored = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    for number, row in enumerate(stored):
        put(store, f"n{number:02}", row)
    put(store, "gone", X, Y)
    nearest(store)
    with store.transaction() as tx:
        tx.vectors.remove(ANNA, "note", "gone")
    query = unit(0.5, -0.2, 0.1, 1)
    mean = stored.astype(np.float64).sum(axis=0) / (len(stored) + _FEW)
    centred, asked = stored - mean, query - mean
    cosines = centred @ asked / np.linalg.norm(centred, axis=1) / np.linalg.norm(asked)
    expected = (cosines - cosines.mean()) / cosines.std()
    with store.reading() as parts:
        found = parts.vectors.nearest(ANNA, IDENTITY, "note", query, 5, ("n07", "n39"))
    assert len(found) >= 5
    for one in found:
        assert one.contrast == pytest.approx(expected[int(one.item[1:])], abs=1e-4)


def test_nothing_stands_out_where_all_are_alike(store: Store) -> None:
    put(store, "a", X)
    with store.reading() as parts:
        assert parts.vectors.nearest(ANNA, IDENTITY, "note", X, 9)[0].contrast == 0
    for item in ("b", "c"):
        put(store, item, X)
    for query in (X, Y):
        with store.reading() as parts:
            near = parts.vectors.nearest(ANNA, IDENTITY, "note", query, 9)
        assert [one.contrast for one in near] == [0, 0, 0]


def test_a_namespace_without_anything_finds_nothing(store: Store) -> None:
    assert nearest(store) == []
    assert held(store) == {"counts": {}, "revisions": {}, "nearest": {}}
    with store.reading() as parts:
        assert parts.vectors.revisions(ANNA, IDENTITY, "note") == {}


# ---- what is put, replaced and removed


def test_putting_again_replaces_an_items_vectors_of_that_identity(store: Store) -> None:
    other = replace(IDENTITY, revision="2")
    put(store, "a", X, Y)
    put(store, "a", X, identity=other)
    assert items(nearest(store)) == ["a"]
    put(store, "a", Z, revision=2)
    assert nearest(store) == [("a", pytest.approx(0))]
    assert nearest(store, Z) == [("a", pytest.approx(1))]
    assert nearest(store, identity=other) == [("a", pytest.approx(1))]
    with store.reading() as parts:
        assert parts.vectors.revisions(ANNA, IDENTITY, "note") == {"a": 2}
        assert parts.vectors.counts(ANNA) == {(IDENTITY, "note"): 1, (other, "note"): 1}


def test_an_item_without_passages_is_known_and_never_found(store: Store) -> None:
    put(store, "empty")
    assert nearest(store, among=("empty",)) == []
    with store.reading() as parts:
        assert parts.vectors.revisions(ANNA, IDENTITY, "note") == {"empty": 1}
        assert parts.vectors.counts(ANNA) == {}
    put(store, "empty", X, revision=2)
    assert items(nearest(store)) == ["empty"]
    put(store, "empty", revision=3)
    assert nearest(store) == []
    with store.reading() as parts:
        assert parts.vectors.revisions(ANNA, IDENTITY, "note") == {"empty": 3}


def test_removing_an_item_takes_its_vectors_of_every_identity(store: Store) -> None:
    identities = [IDENTITY, replace(IDENTITY, model="n"), replace(IDENTITY, width=2)]
    for identity in identities:
        for item in ("a", "b"):
            put(store, item, unit(1)[: identity.width], identity=identity)
    put(store, "a", X, kind="message")
    nearest(store)
    with store.transaction() as tx:
        tx.vectors.remove(ANNA, "note", "a")
        tx.vectors.remove(ANNA, "note", "unknown")
        tx.vectors.remove(Owner("no", "such", "owner"), "note", "b")
    for identity in identities:
        with store.reading() as parts:
            assert parts.vectors.revisions(ANNA, identity, "note") == {"b": 1}
    assert items(nearest(store, among=("a",))) == ["b"]
    assert items(nearest(store, kind="message")) == ["a"]


def test_a_key_that_is_used_again_never_matches_the_old_text(store: Store) -> None:
    put(store, "page", X)
    put(store, "other", Y)
    assert nearest(store)[0] == ("page", pytest.approx(1))
    with store.transaction() as tx:
        tx.vectors.remove(ANNA, "note", "page")
    put(store, "page", Z, revision=2)
    assert dict(nearest(store)) == {"page": pytest.approx(0), "other": pytest.approx(0)}


def test_dropping_an_identity_leaves_the_others(store: Store) -> None:
    other = replace(IDENTITY, provider="q")
    put(store, "a", X, Y)
    put(store, "m", X, kind="message")
    put(store, "a", X, identity=other)
    nearest(store)
    with store.transaction() as tx:
        assert tx.vectors.drop(ANNA, IDENTITY) == 3
        assert tx.vectors.drop(ANNA, IDENTITY) == 0
    assert nearest(store) == []
    with store.reading() as parts:
        assert parts.vectors.counts(ANNA) == {(other, "note"): 1}
    put(store, "b", X)
    assert items(nearest(store)) == ["b"]


# ---- identities and owners apart


@pytest.mark.parametrize(
    "change", [{"provider": "q"}, {"model": "q"}, {"revision": "q"}, {"width": 2}]
)
def test_another_identity_sees_nothing_and_counts_what_it_does_not_see(
    store: Store, change: dict[str, Any]
) -> None:
    put(store, "a", X)
    other = replace(IDENTITY, **change)
    query = np.array([1, 0], np.float32) if other.width == 2 else X
    assert nearest(store, query, among=("a",), identity=other) == []
    with store.reading() as parts:
        assert parts.vectors.revisions(ANNA, other, "note") == {}
        assert parts.vectors.counts(ANNA) == {(IDENTITY, "note"): 1}


def test_kinds_are_apart(store: Store) -> None:
    put(store, "a", X)
    assert nearest(store, kind="message", among=("a",)) == []


def test_owners_with_like_names_see_no_vectors_of_one_another(store: Store) -> None:
    for number, owner in enumerate(OWNERS):
        put(store, f"of {number}", unit(1, number), owner=owner)
        with store.transaction() as tx:
            tx.state.put_learnt(owner, "p", f"{number}".encode())
            tx.queue.add(owner, QueuedPassage("note", "a", number))
    for number, owner in enumerate(OWNERS):
        others = tuple(f"of {other}" for other in range(len(OWNERS)))
        assert items(nearest(store, owner=owner, among=others)) == [f"of {number}"]
        with store.reading() as parts:
            assert parts.vectors.counts(owner) == {(IDENTITY, "note"): 1}
            assert parts.state.learnt(owner, "p") == f"{number}".encode()
            assert parts.queue.count(owner) == 1
    before = {owner: held(store, owner) for owner in OWNERS}
    gone = Owner("home", "helper", "%")
    with store.transaction() as tx:
        tx.vectors.drop(gone, IDENTITY)
        tx.vectors.remove(Owner("%", "%", "%"), "note", "of 0")
    for owner in OWNERS:
        if owner != gone:
            assert held(store, owner) == before[owner]


# ---- what is refused


BAD: dict[str, list[float]] = {
    "not a number": [float("nan"), 0, 0, 1],
    "infinite": [float("inf"), 0, 0, 0],
    "zero": [0, 0, 0, 0],
    "too long": [1.0001, 0, 0, 0],
    "too short": [0.9999, 0, 0, 0],
    "too wide": [1, 0, 0, 0, 0],
    "too narrow": [1, 0],
    "huge": [3e38, 3e38, 0, 0],
}


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
def test_what_is_no_direction_is_refused_by_name_and_nothing_is_written(
    store: Store, bad: list[float]
) -> None:
    put(store, "page", X)
    before = held(store)
    rows = np.array([bad], np.float32)
    with pytest.raises(InvalidInput, match="'2026-03-02'"), store.transaction() as tx:
        tx.vectors.put(ANNA, IDENTITY, "note", "2026-03-02", 1, rows)
    with store.transaction() as tx, pytest.raises(InvalidInput, match="'page'"):
        tx.vectors.put(ANNA, IDENTITY, "note", "page", 2, rows)  # caught: the rest commits
    assert held(store) == before
    with pytest.raises(InvalidInput, match="the query"):
        nearest(store, rows[0])


def test_a_length_within_the_tolerance_passes(store: Store) -> None:
    put(store, "a", X * np.float32(1 + 9e-6), X * np.float32(1 - 9e-6))
    assert items(nearest(store)) == ["a"]


# ---- transactions


def test_a_transaction_that_raises_leaves_no_vectors_behind(store: Store) -> None:
    put(store, "a", X)
    put(store, "b", Y)
    nearest(store)
    before = held(store)

    def write_and_fail(search: bool) -> None:
        with store.transaction() as tx:
            put_in(tx, "a", Z, revision=2)
            put_in(tx, "new", X)
            put_in(tx, "a", X, identity=replace(IDENTITY, model="new"))
            tx.vectors.remove(ANNA, "note", "b")
            tx.state.put_learnt(ANNA, "p", b"x")
            if search:
                assert items(tx.vectors.nearest(ANNA, IDENTITY, "note", X, 9)) == ["new", "a"]
            tx.vectors.drop(ANNA, IDENTITY)
            raise Boom

    for search in (True, False):
        with pytest.raises(Boom):
            write_and_fail(search)
        assert held(store) == before
    with store.reading() as parts:
        assert parts.state.learnt(ANNA, "p") is None
    put(store, "c", unit(1, 1))
    assert items(nearest(store)) == ["a", "c", "b"]


def test_a_transaction_sees_the_vectors_that_it_wrote_and_others_do_not(store: Store) -> None:
    put(store, "a", Y)
    seen: list[list[str]] = []

    def look() -> None:
        thread = threading.Thread(target=lambda: seen.append(items(nearest(store))))
        thread.start()
        thread.join()

    with store.transaction() as tx:
        assert items(tx.vectors.nearest(ANNA, IDENTITY, "note", X, 9)) == ["a"]
        put_in(tx, "b", X)
        tx.vectors.remove(ANNA, "note", "a")
        assert items(tx.vectors.nearest(ANNA, IDENTITY, "note", X, 9)) == ["b"]
        look()
    look()
    assert seen == [["a"], ["b"]]


def test_vectors_written_while_reading_are_not_kept(store: Store) -> None:
    put(store, "a", X)
    with store.reading() as parts:
        put_in(parts, "b", X)
        assert items(parts.vectors.nearest(ANNA, IDENTITY, "note", X, 9)) == ["a", "b"]
    assert items(nearest(store)) == ["a"]


def test_a_note_and_its_vectors_go_in_one_transaction(store: Store) -> None:
    memory = Memory(store, Settings(), SettableClock(START), PredictableEmbedder(8))
    memory.notes.write(ANNA, "page", "roses", writer="remember", expected_revision=0)
    memory.notes.write(ANNA, "2026-03-02", "tulips", writer="remember", expected_revision=0)
    with store.reading() as parts:
        assert sum(parts.vectors.counts(ANNA).values()) == 2
    memory.notes.delete(ANNA, "page", actor="anna")
    identity = memory.index.embedder_for(ANNA).identity  # type: ignore[union-attr]
    with store.reading() as parts:
        assert parts.vectors.revisions(ANNA, identity, "note") == {"2026-03-02": 1}

    def delete_and_fail() -> None:
        with store.transaction() as tx:
            tx.notes.delete(ANNA, "2026-03-02")
            tx.vectors.remove(ANNA, "note", "2026-03-02")
            raise Boom

    with pytest.raises(Boom):
        delete_and_fail()
    with store.reading() as parts:
        assert parts.vectors.revisions(ANNA, identity, "note") == {"2026-03-02": 1}


def test_threads_that_write_and_search_at_once_lose_nothing(store: Store) -> None:
    faults: list[Exception] = []
    done = threading.Event()

    def write(writer: int) -> None:
        for number in range(25):
            put(store, f"w{writer}-{number:02}", unit(1, writer, number))
            if number % 5 == 4:
                with store.transaction() as tx:
                    tx.vectors.remove(ANNA, "note", f"w{writer}-{number - 1:02}")

    def search() -> None:
        try:
            while not done.is_set():
                found = nearest(store, unit(1, 1, 1), limit=10)
                assert found == sorted(found, key=lambda one: (-one[1], one[0]))
        except Exception as error:
            faults.append(error)

    searchers = [threading.Thread(target=search) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(2)]
    for thread in searchers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in searchers:
        thread.join()
    assert faults == []
    expected = {f"w{w}-{n:02}" for w in range(2) for n in range(25) if n % 5 != 3}
    assert set(items(nearest(store))) == expected


# ---- queue, ids, what was learnt, owners


def test_a_queued_item_counts_its_refusals_and_says_the_last_error(store: Store) -> None:
    first, second = QueuedPassage("note", "page", 3), QueuedPassage("message", "m1", 1)
    with store.transaction() as tx:
        tx.queue.add(ANNA, first)
        tx.queue.add(ANNA, second)
        tx.queue.refused(ANNA, first, "too long")
        tx.queue.refused(ANNA, first, "still too long")
        tx.queue.refused(ANNA, replace(second, revision=2), "of another revision")
        tx.queue.refused(ANNA, QueuedPassage("note", "unknown", 1), "x")
    refused = replace(first, attempts=2, error="still too long")
    with store.reading() as parts:
        assert parts.queue.waiting(ANNA, 9) == [refused, second]
        assert parts.queue.waiting(ANNA, 9, attempts=3) == [refused, second]
        assert parts.queue.waiting(ANNA, 9, attempts=2) == [second]
        assert parts.queue.waiting(ANNA, 1, attempts=2) == [second]
        assert parts.queue.count(ANNA) == 2
        assert parts.queue.count(Owner("no", "such", "owner")) == 0
    with store.transaction() as tx:
        tx.queue.add(ANNA, replace(first, revision=4))
    with store.reading() as parts:
        assert parts.queue.waiting(ANNA, 1) == [QueuedPassage("note", "page", 4)]


def test_an_item_is_taken_out_of_the_queue_only_at_the_revision_named(store: Store) -> None:
    with store.transaction() as tx:
        tx.queue.add(ANNA, QueuedPassage("note", "page", 2))
        assert tx.queue.remove(ANNA, "note", "page", 1) is False
        assert tx.queue.remove(ANNA, "message", "page", 2) is False
        assert tx.queue.count(ANNA) == 1
        assert tx.queue.remove(ANNA, "note", "page", 2) is True
        assert tx.queue.remove(ANNA, "note", "page", 2) is False
        assert tx.queue.remove(ANNA, "note", "page") is False


def test_ids_are_paged_in_order_without_gap_or_repetition(store: Store) -> None:
    ids = ["b", "a", "10", "9", "é", "я", "\U0001f600", "Z"]
    add(store, ANNA, *(say(id, "x", number) for number, id in enumerate(ids)))
    add(store, Owner("home", "helper", "other"), say("c", "x"))
    seen: list[str] = []
    with store.reading() as parts:
        while page := parts.messages.ids(ANNA, seen[-1] if seen else "", 3):
            seen += page
        assert parts.messages.ids(ANNA, "", 0) == []
        assert parts.messages.ids(Owner("no", "such", "owner"), "", 9) == []
    assert seen == sorted(ids)


def test_messages_are_located_by_id_under_their_owner_alone(store: Store) -> None:
    add(store, ANNA, say("m2", "second", 2), say("m1", "first", 1))
    add(store, Owner("work", "helper", "anna"), say("m3", "x"))
    with store.reading() as parts:
        found = parts.messages.located_by_id(ANNA, ["m2", "m3", "unknown", "m1", "m2"])
        numbers = [one.number for one in found]
        assert sorted(found) == sorted(parts.messages.located(ANNA, numbers))
        assert parts.messages.located_by_id(ANNA, []) == []
        assert parts.messages.located_by_id(Owner("no", "such", "owner"), ["m1"]) == []
    assert {(one.id, one.place) for one in found} == {("m1", 0), ("m2", 1)}


def test_what_was_learnt_is_kept_by_provider_to_the_byte(store: Store) -> None:
    learnt = bytes(range(256)) * 3
    with store.transaction() as tx:
        assert tx.state.learnt(ANNA, "tfidf") is None
        tx.state.put_learnt(ANNA, "tfidf", b"old")
        tx.state.put_learnt(ANNA, "tfidf", learnt)
        tx.state.put_learnt(ANNA, "other", b"")
    with store.reading() as parts:
        assert parts.state.learnt(ANNA, "tfidf") == learnt
        assert parts.state.learnt(ANNA, "other") == b""
        assert parts.state.learnt(Owner("no", "such", "owner"), "tfidf") is None


def test_owners_are_listed_in_order(store: Store) -> None:
    assert store.owners() == []
    for owner in reversed(OWNERS):
        with store.transaction() as tx:
            tx.notes.put(owner, Note("page", "x", 1, at(0), "import"))
    assert store.owners() == sorted(OWNERS, key=lambda one: (one.team, one.agent, one.person))


# ---- properties


numbers = st.floats(-1, 1, width=32).filter(lambda one: one == 0 or abs(one) > 1e-3)
directions = st.lists(numbers, min_size=WIDTH, max_size=WIDTH).filter(any)


@given(st.lists(st.floats(width=32), max_size=20))
def test_packing_and_unpacking_gives_the_same_bits(given_numbers: list[float]) -> None:
    vector = np.array(given_numbers, np.float32)
    data = pack(vector)
    assert data == np.array(given_numbers, "<f4").tobytes()
    assert len(data) == 4 * len(given_numbers)
    assert unpack(data).dtype == np.float32
    assert pack(unpack(data)) == data


@given(
    st.lists(st.tuples(st.integers(0, 5), st.lists(directions, max_size=3)), max_size=20),
    directions,
    st.integers(0, 8),
    st.sets(st.integers(0, 6)),
)
@settings(max_examples=60)
def test_a_search_equals_scoring_everything(
    writes: list[tuple[int, list[list[float]]]],
    asked: list[float],
    limit: int,
    among: set[int],
) -> None:
    store, query = InMemoryStore(), unit(*asked)
    passages, rows = Passages(WIDTH), dict[str, list[int]]()
    stored: dict[str, list[Matrix]] = {}
    for number, vectors in writes:
        item = f"item{number}"
        stored[item] = [unit(*vector) for vector in vectors]
        put(store, item, *stored[item])
        passages.remove(rows.pop(item, []))
        if vectors:
            rows[item] = passages.add([item] * len(vectors), np.stack(stored[item]))
    scores = {
        item: max(cosine(one, query) for one in vectors)
        for item, vectors in stored.items()
        if vectors
    }
    expected = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
    extra = {f"item{number}" for number in among}
    wanted = expected[:limit] + [one for one in expected[limit:] if one[0] in extra]
    asked_for = tuple(sorted(extra))
    assert [one[:2] for one in passages.nearest(query, limit, asked_for)] == wanted
    assert nearest(store, query, limit, asked_for) == wanted
    assert len(passages) == sum(map(len, stored.values()))


def cosine(one: Matrix, other: Matrix) -> float:
    exact: NDArray[np.float64] = one.astype(np.float64) * other.astype(np.float64)
    return float(exact.sum())


def test_more_rows_than_a_block_holds_are_all_found() -> None:
    chance = np.random.default_rng(1)
    rows = chance.standard_normal((2 * BLOCK + 10, WIDTH)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    names = [f"n{number:05}" for number in range(len(rows))]
    passages = Passages(WIDTH, 7)
    given_rows = passages.add(names, rows)
    assert given_rows == list(range(len(rows)))
    for number in (0, 6, 7, 8, BLOCK, len(rows) - 1):
        [found] = passages.nearest(rows[number], 1)
        assert (found.item, found.cosine) == (names[number], pytest.approx(1, abs=1e-5))
    passages.remove([3, BLOCK + 3])
    assert sorted(passages.add(["again", "more"], rows[:2])) == [3, BLOCK + 3]
    assert len(passages) == len(rows)


def test_rows_of_any_precision_are_checked_as_float32() -> None:
    rows = check(np.eye(2, dtype=np.float64), 2, "x")  # type: ignore[arg-type]
    assert rows.dtype == np.float32
    assert check(np.empty((0, 0), np.float32), 2, "x").shape == (0, 2)
