"""From the queue to vectors: what a provider may do, what may happen meanwhile, and the doctor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memcore import PAGE, Memory, Message, Owner, Settings, open_memory
from memcore.backoff import FIRST, LONGEST
from memcore.doctor import ATTEMPTS
from memcore.errors import (
    InvalidInput,
    LayerTimeout,
    MissingPackage,
    NotFound,
    ProviderAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from memcore.indexing import BATCH, Drained
from memcore.learning import LEARN_UP_TO
from memcore.ports import Embedder, Store
from memcore.stores.sqlite import SqliteStore
from memcore.testing import (
    InMemoryStore,
    PredictableEmbedder,
    PredictableLearner,
    SettableClock,
)
from memcore.types import EmbedRole, Matrix, ProviderIdentity, QueuedPassage
from tests.support import ANNA, START, say

Open = Callable[..., Memory]
DOWN = ProviderUnavailable("no route to host")


@pytest.fixture(params=["in memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens a memory over one store; each call is as if by another process."""
    store: Store = InMemoryStore()
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "memory.db", durable=False)

    def make(embedder: Embedder | None = None, **changes: Any) -> Memory:
        settings = Settings(layer_seconds=None).vary(**changes)
        return Memory(store, settings, SettableClock(START), embedder)

    with closing(store):
        yield make


def write(mind: Memory, text: str, key: str = PAGE, expected: int = 0, owner: Owner = ANNA) -> None:
    mind.notes.write(owner, key, text, writer="remember", expected_revision=expected)


def found(mind: Memory, text: str, kind: Any = "note", owner: Owner = ANNA) -> list[str]:
    """What is nearest to a text, if it shares a word with it at all."""
    query = mind.index.query(owner, text)
    with mind.store.reading() as parts:
        hits = parts.vectors.nearest(owner, query.identity, kind, query.vector, 9)
    return [one.item for one in hits if one.cosine > 0.01]


def waiting(mind: Memory, owner: Owner = ANNA) -> list[QueuedPassage]:
    with mind.store.reading() as parts:
        return parts.queue.waiting(owner, 999)


def counts(mind: Memory, owner: Owner = ANNA) -> dict[str, int]:
    with mind.store.reading() as parts:
        held = parts.vectors.counts(owner)
    return {
        f"{identity.model} {identity.revision} {kind}": n for (identity, kind), n in held.items()
    }


def later(mind: Memory, seconds: float) -> None:
    mind.clock.advance(timedelta(seconds=seconds))  # type: ignore[attr-defined]


# ---- what a write leaves behind


def test_what_is_written_is_embedded_at_once_and_found(opened: Open) -> None:
    mind = opened(PredictableEmbedder())
    write(mind, "roses bloom\n- tulips too")
    mind.conversation.append(ANNA, say("m1", "about lilies"))
    assert waiting(mind) == []
    assert found(mind, "tulips") == [PAGE]
    assert found(mind, "lilies", "message") == ["m1"]
    assert counts(mind) == {"words 1 note": 2, "words 1 message": 1}
    assert mind.index.health(ANNA).ok


def test_stored_and_incoming_text_are_embedded_alike(opened: Open) -> None:
    mind = opened(PredictableEmbedder())
    write(mind, "Roses bloom in June")
    query = mind.index.query(ANNA, "Roses bloom in June")
    with mind.store.reading() as parts:
        [hit] = parts.vectors.nearest(ANNA, query.identity, "note", query.vector, 1)
    assert (hit.item, hit.cosine) == (PAGE, pytest.approx(1, abs=1e-6))


def test_a_rewritten_note_is_found_by_its_new_text_alone(opened: Open) -> None:
    mind = opened(PredictableEmbedder())
    write(mind, "roses")
    write(mind, "tulips", expected=1)
    assert found(mind, "roses") == []
    assert found(mind, "tulips") == [PAGE]
    mind.notes.delete(ANNA, PAGE, actor="anna")
    assert found(mind, "tulips") == []
    assert counts(mind) == {}
    write(mind, "lilies")
    assert found(mind, "tulips roses") == []


def test_an_item_with_nothing_to_embed_is_current_and_asks_nothing(opened: Open) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    mind.conversation.append(ANNA, say("m1", "👍"))
    write(mind, "---")
    assert embedder.calls == 0
    health = mind.index.health(ANNA)
    assert [(one.items, one.current, one.missing) for one in health.kinds] == [(1, 1, ())] * 2


def test_without_a_provider_everything_waits_and_nothing_is_asked(opened: Open) -> None:
    mind = opened()
    write(mind, "roses")
    assert mind.index.drain(ANNA) == Drained()
    assert mind.index.embedder_for(ANNA) is None
    assert len(waiting(mind)) == 1
    health = mind.index.health(ANNA)
    assert (health.identity, health.ok) == (None, True)
    with pytest.raises(ProviderRefused, match="no provider is set"):
        mind.index.query(ANNA, "roses")
    with pytest.raises(ProviderRefused, match="no provider is set"):
        mind.index.reindex()


def test_a_turn_drains_what_waits(opened: Open) -> None:
    write(opened(), "roses")
    mind = opened(PredictableEmbedder())
    mind.compose(ANNA, "t1", "hello there", "p")
    assert waiting(mind) == []


def test_a_drain_goes_in_batches_up_to_its_limit(opened: Open) -> None:
    mind = opened()
    for number in range(BATCH + 20):
        mind.conversation.append(ANNA, say(f"m{number}", f"word{number}", number))
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    assert mind.index.drain(ANNA, limit=7) == Drained(embedded=7, waiting=BATCH + 13)
    assert [one.item for one in waiting(mind)][:1] == ["m7"]
    assert mind.index.drain(ANNA, seconds=60) == Drained(embedded=BATCH + 13)
    assert embedder.calls == 3
    assert mind.index.drain(ANNA) == Drained()
    assert embedder.calls == 3


# ---- a provider that fails


def test_once_a_provider_that_failed_returns_everything_is_indexed(opened: Open) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    embedder.fail(DOWN)
    write(mind, "roses")
    for number in range(5):
        mind.conversation.append(ANNA, say(f"m{number}", f"about {number}", number))
    assert len(waiting(mind)) == 6
    health = mind.index.health(ANNA)
    assert health.ok
    assert [(one.waiting, one.missing) for one in health.kinds] == [(1, ()), (5, ())]
    assert "no route to host" in mind.index.last_error
    embedder.recover()
    later(mind, LONGEST)
    mind.compose(ANNA, "t1", "hello there", "p")
    assert waiting(mind) == []
    assert mind.index.last_error == ""
    health = mind.index.health(ANNA)
    assert [(one.items, one.current) for one in health.kinds] == [(1, 1), (5, 5)]
    assert health.ok


def test_pauses_double_up_to_a_bound_and_start_again_after_a_success(opened: Open) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    embedder.fail(DOWN)
    write(mind, "roses")
    pause = FIRST
    for calls in range(1, 12):
        later(mind, pause - 0.001)
        assert "not asked again before" in mind.index.drain(ANNA).error
        assert embedder.calls == calls
        later(mind, 0.001)
        assert "no route to host" in mind.index.drain(ANNA).error
        assert embedder.calls == calls + 1
        pause = min(2 * pause, LONGEST)
    assert pause == LONGEST
    embedder.recover()
    later(mind, LONGEST)
    assert mind.index.drain(ANNA) == Drained(embedded=1)
    embedder.fail(DOWN)
    write(mind, "tulips", expected=1)
    calls = embedder.calls
    later(mind, FIRST)
    mind.index.drain(ANNA)
    assert embedder.calls == calls + 1


def test_a_pause_is_as_long_as_the_provider_asked_and_ends_when_the_clock_goes_back(
    opened: Open,
) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    embedder.fail(ProviderUnavailable("too many requests", after=1_000))
    write(mind, "roses")
    later(mind, 999)
    mind.index.drain(ANNA)
    assert embedder.calls == 1
    later(mind, -2_000)
    mind.index.drain(ANNA)
    assert embedder.calls == 2


@pytest.mark.parametrize(
    "error",
    [
        ProviderRefused("wrong key"),
        MissingPackage("torch", "it"),
        ProviderAnswer("not JSON"),
        RuntimeError("out of memory"),
        KeyError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_error_of_a_provider_reaches_who_writes(opened: Open, error: Exception) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    embedder.fail(error)
    write(mind, "roses")
    assert mind.notes.get(ANNA, PAGE) is not None
    assert type(error).__name__ in mind.index.last_error
    assert len(waiting(mind)) == 1
    calls = embedder.calls
    mind.conversation.append(ANNA, say("m1", "x"))
    assert embedder.calls == calls
    with pytest.raises(ProviderError):  # a query is asked all the same: it may be answered
        mind.index.query(ANNA, "roses")
    embedder.recover()
    later(mind, FIRST)
    assert mind.index.query(ANNA, "roses").identity == embedder.identity


class Nameless(PredictableEmbedder):
    """Does not even know who it is."""

    @property
    def identity(self) -> ProviderIdentity:
        raise ConnectionError("who am I")

    @identity.setter
    def identity(self, value: ProviderIdentity) -> None: ...


def test_a_provider_without_identity_fails_as_one_that_is_not_there(opened: Open) -> None:
    mind = opened(Nameless())
    write(mind, "roses")
    assert "ConnectionError: who am I" in mind.index.last_error
    later(mind, LONGEST)
    for ask in (lambda: mind.index.query(ANNA, "x"), lambda: mind.index.health(ANNA)):
        with pytest.raises(ProviderError, match="who am I"):
            ask()
    assert "who am I" in mind.index.reindex().error


def test_a_failing_query_begins_a_pause_and_a_query_of_nothing_does_not(opened: Open) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    with pytest.raises(InvalidInput):
        mind.index.query(ANNA, "!")
    assert mind.index.query(ANNA, "roses").vector.shape == (64,)
    embedder.fail(RuntimeError("boom"), calls=1)
    with pytest.raises(ProviderUnavailable, match="RuntimeError: boom"):
        mind.index.query(ANNA, "roses")
    with pytest.raises(ProviderUnavailable, match="not asked again before"):
        mind.index.query(ANNA, "roses")
    later(mind, FIRST)
    assert mind.index.query(ANNA, "roses").identity == embedder.identity


def test_a_query_that_takes_too_long_is_given_up_and_begins_a_pause(opened: Open) -> None:
    embedder, go_on = Meanwhile(), threading.Event()
    mind = opened(embedder)
    embedder.then = lambda: go_on.wait(20)
    with pytest.raises(LayerTimeout, match=r"within 0\.05 seconds"):
        mind.index.query(ANNA, "roses", 0.05)
    go_on.set()
    with pytest.raises(ProviderUnavailable, match="LayerTimeout"):
        mind.index.identity(ANNA)
    later(mind, FIRST)
    assert mind.index.identity(ANNA, 5) == embedder.identity
    assert mind.index.query(ANNA, "roses", 5).identity == embedder.identity


def test_a_refused_text_is_tried_thrice_and_again_by_a_reindex_while_others_pass(
    opened: Open,
) -> None:
    embedder = PredictableEmbedder()
    embedder.refused_word = "poison"
    mind = opened()
    for number, text in enumerate(["one", "a poison", "two"]):
        mind.conversation.append(ANNA, say(f"m{number}", text, number))
    write(mind, "fine\npoison line")
    mind = opened(embedder)
    assert mind.index.drain(ANNA) == Drained(embedded=2, refused=2, waiting=2)
    assert {(one.item, one.attempts) for one in waiting(mind)} == {("m1", 1), (PAGE, 1)}
    assert all("'poison' is not embedded" in one.error for one in waiting(mind))
    assert mind.index.last_error == ""
    for _ in range(5):
        mind.index.drain(ANNA)
    assert {one.attempts for one in waiting(mind)} == {ATTEMPTS}
    calls = embedder.calls
    mind.index.drain(ANNA)
    assert embedder.calls == calls
    health = mind.index.health(ANNA)
    assert health.ok
    assert [one.refused for one in health.kinds] == [1, 1]
    embedder.refused_word = ""
    done = mind.index.reindex()
    assert (done.embedded, done.refused, done.waiting) == (2, 0, 0)
    assert found(mind, "poison") == [PAGE]


class Odd(PredictableEmbedder):
    """Answers wrongly for texts with a certain word, without saying for which."""

    def __init__(self, answer: Callable[[Matrix], Matrix]) -> None:
        super().__init__()
        self.answer = answer

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        vectors = super().embed(texts, role)
        for row, text in enumerate(texts):
            if "odd" in text:
                vectors[row] = self.answer(vectors[row])
        return vectors


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), 0, 2])
def test_vectors_that_are_no_directions_are_refused_by_item_and_never_stored(
    opened: Open, factor: float
) -> None:
    mind = opened()
    write(mind, "an odd one")
    mind.conversation.append(ANNA, say("m1", "fine"))
    mind = opened(Odd(lambda vector: vector * np.float32(factor)))
    with np.errstate(invalid="ignore"):
        assert mind.index.drain(ANNA) == Drained(embedded=1, refused=1, waiting=1)
    assert f"'{PAGE}'" in waiting(mind)[0].error
    assert counts(mind) == {"words 1 message": 1}


class Unsaid(PredictableEmbedder):
    """Refuses a whole call over one text, without saying which."""

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        if any("odd" in text for text in texts):
            self.calls += 1
            raise ProviderAnswer("no number")
        return super().embed(texts, role)


def test_an_answer_that_does_not_say_what_is_wrong_is_asked_for_item_by_item(
    opened: Open,
) -> None:
    mind = opened()
    write(mind, "an odd one")
    for number in range(3):
        mind.conversation.append(ANNA, say(f"m{number}", "fine", number))
    mind = opened(Unsaid())
    assert mind.index.drain(ANNA) == Drained(embedded=3, refused=1, waiting=1)
    assert mind.index.last_error == ""


class Short(PredictableEmbedder):
    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        return super().embed(texts, role)[:-1]


class Narrow(PredictableEmbedder):
    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        return super().embed(texts, role)[:, :3]


@pytest.mark.parametrize("kind", [Short, Narrow])
def test_answers_that_are_always_wrong_are_the_providers_fault_and_no_texts(
    opened: Open, kind: type[PredictableEmbedder]
) -> None:
    mind = opened()
    write(mind, "roses")
    mind.conversation.append(ANNA, say("m1", "fine"))
    mind = opened(kind())
    done = mind.index.drain(ANNA)
    assert (done.embedded, done.refused, done.waiting) == (0, 0, 2)
    assert "ProviderAnswer" in done.error
    assert [one.attempts for one in waiting(mind)] == [0, 0]


# ---- what happens while texts are embedded


class Meanwhile(PredictableEmbedder):
    """Lets something happen while it embeds, once."""

    def __init__(self) -> None:
        super().__init__()
        self.then: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        then, self.then = self.then, None
        if then is not None:
            then()
        return super().embed(texts, role)


def in_another_thread(job: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        thread = threading.Thread(target=job)
        thread.start()
        thread.join(20)
        assert not thread.is_alive(), "the store is held while texts are embedded"

    return run


def test_nothing_is_embedded_within_a_write_transaction(opened: Open) -> None:
    embedder = Meanwhile()
    mind, other = opened(embedder), opened()
    embedder.then = in_another_thread(lambda: write(other, "lilies", "2026-03-02"))
    write(mind, "roses")
    assert embedder.seen
    assert [one.item for one in waiting(mind)] == ["2026-03-02"]
    mind.index.drain(ANNA)
    assert found(mind, "lilies") == ["2026-03-02"]


def test_a_note_rewritten_while_it_is_embedded_stays_queued(opened: Open) -> None:
    embedder = Meanwhile()
    mind, other = opened(embedder), opened()
    embedder.then = in_another_thread(lambda: write(other, "tulips", expected=1))
    write(mind, "roses")
    assert waiting(mind) == [QueuedPassage("note", PAGE, 2)]
    assert counts(mind) == {}
    assert mind.index.drain(ANNA) == Drained(embedded=1)
    assert found(mind, "tulips") == [PAGE]
    assert found(mind, "roses") == []


def test_a_note_deleted_while_it_is_embedded_leaves_no_vectors(opened: Open) -> None:
    embedder = Meanwhile()
    mind, other = opened(embedder), opened()
    embedder.then = in_another_thread(lambda: other.notes.delete(ANNA, PAGE, actor="anna"))
    write(mind, "roses")
    assert waiting(mind) == []
    with mind.store.reading() as parts:
        assert parts.vectors.revisions(ANNA, embedder.identity, "note") == {}
    assert mind.index.health(ANNA).ok


def test_a_note_deleted_and_written_anew_meanwhile_is_embedded_as_the_new_one(
    opened: Open,
) -> None:
    embedder = Meanwhile()
    mind, other = opened(embedder), opened()

    def replace() -> None:
        other.notes.delete(ANNA, PAGE, actor="anna")
        write(other, "lilies")

    embedder.then = in_another_thread(replace)
    write(mind, "roses")
    assert waiting(mind) == [QueuedPassage("note", PAGE, 2)]
    mind.index.drain(ANNA)
    assert (found(mind, "roses"), found(mind, "lilies")) == ([], [PAGE])


def test_a_queued_item_that_is_gone_is_taken_out(opened: Open) -> None:
    mind = opened(PredictableEmbedder())
    with mind.store.transaction() as tx:
        tx.queue.add(ANNA, QueuedPassage("note", "2026-03-02", 1))
        tx.queue.add(ANNA, QueuedPassage("message", "m9", 1))
    assert mind.index.drain(ANNA) == Drained()


class Killed(BaseException):
    """The process dies."""


def test_what_dies_between_embedding_and_storing_is_done_at_the_next_start(opened: Open) -> None:
    embedder = Meanwhile()
    mind = opened(embedder)

    def die() -> None:
        raise Killed

    embedder.then = die
    with pytest.raises(Killed):
        write(mind, "roses")
    assert waiting(mind) == [QueuedPassage("note", PAGE, 1)]
    again = opened(PredictableEmbedder())
    assert again.index.health(ANNA).ok
    again.index.drain(ANNA)
    assert found(again, "roses") == [PAGE]


def test_a_provider_that_hangs_holds_up_neither_a_write_nor_a_turn_for_long(
    opened: Open,
) -> None:
    embedder, go_on = Meanwhile(), threading.Event()
    mind = opened(embedder, layer_seconds=0.2)
    embedder.then = lambda: go_on.wait(20)
    write(mind, "roses")
    assert mind.notes.get(ANNA, PAGE) is not None
    assert mind.index.keep_up(ANNA).error == "the provider is still busy"
    mind.compose(ANNA, "t1", "hello there", "p")
    assert len(waiting(mind)) == 1
    go_on.set()
    while waiting(mind):  # what was late is not lost: it is stored once it is there
        threading.Event().wait(0.01)
    assert found(mind, "roses") == [PAGE]


def test_threads_that_write_at_once_leave_nothing_behind(opened: Open) -> None:
    mind = opened(PredictableEmbedder())

    def talk(number: int) -> None:
        for turn in range(10):
            mind.conversation.append(ANNA, say(f"w{number}-{turn}", f"word{number}", turn))

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mind.index.drain(ANNA)
    assert waiting(mind) == []
    assert counts(mind) == {"words 1 message": 40}


# ---- another model


def test_another_model_of_the_same_width_sees_nothing_until_reindexed(opened: Open) -> None:
    first = opened(PredictableEmbedder(revision="1"))
    write(first, "roses\ntulips")
    first.conversation.append(ANNA, say("m1", "lilies"))
    second = opened(PredictableEmbedder(revision="2"))
    assert found(second, "roses") == []
    health = second.index.health(ANNA)
    assert not health.ok
    assert [(one.kind, one.current, one.missing) for one in health.kinds] == [
        ("note", 0, (PAGE,)),
        ("message", 0, ("m1",)),
    ]
    assert [(one.revision, kind, n) for one, kind, n in health.invisible] == [
        ("1", "message", 1),
        ("1", "note", 2),
    ]
    told: list[tuple[int, int]] = []
    done = second.index.reindex(on_progress=lambda _, at, of: told.append((at, of)))
    assert (done.owners, done.items, done.embedded, done.error) == (1, 2, 2, "")
    assert told == [(0, 2), (2, 2)]
    assert found(second, "roses") == [PAGE]
    assert second.index.health(ANNA).ok
    assert counts(second)["words 1 note"] == 2  # the old ones stay, invisible
    assert found(first, "roses") == [PAGE]
    again = second.index.reindex(drop_others=True)
    assert (again.embedded, again.dropped) == (0, 3)
    assert second.index.health(ANNA).invisible == ()
    assert found(first, "roses") == []


def test_a_reindex_that_was_killed_goes_on_where_it_was(opened: Open) -> None:
    mind = opened()
    for number in range(2 * BATCH + 10):
        mind.conversation.append(ANNA, say(f"m{number:03}", f"word{number}", number))
    embedder = PredictableEmbedder()
    mind = opened(embedder)

    def die(owner: Owner, done: int, of: int) -> None:
        if done == BATCH:
            raise Killed

    with pytest.raises(Killed):
        mind.index.reindex(on_progress=die)
    seen = len(embedder.seen)
    assert seen == BATCH
    done = opened(embedder).index.reindex()
    assert done.embedded == BATCH + 10
    assert len(embedder.seen) == 2 * BATCH + 10
    assert mind.index.health(ANNA).ok


def test_a_provider_that_fails_ends_a_reindex_which_says_so(opened: Open) -> None:
    mind = opened()
    for owner in (ANNA, Owner("work", "helper", "anna")):
        write(mind, "roses", owner=owner)
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    embedder.fail(DOWN, calls=1)
    done = mind.index.reindex(drop_others=True)
    assert (done.owners, done.embedded, done.waiting) == (1, 0, 1)
    assert done.error == "ProviderUnavailable: no route to host"
    done = mind.index.reindex()
    assert (done.owners, done.embedded, done.waiting, done.error) == (2, 2, 0, "")


def test_a_reindex_of_one_owner_touches_no_other(opened: Open) -> None:
    mind, other = opened(), Owner("work", "helper", "anna")
    for owner in (ANNA, other):
        write(mind, "roses", owner=owner)
    mind = opened(PredictableEmbedder())
    assert mind.index.reindex(ANNA).owners == 1
    assert (len(waiting(mind)), len(waiting(mind, other))) == (0, 1)


# ---- the doctor


def test_the_doctor_names_what_is_missing_stale_and_orphaned_and_a_reindex_cures_it(
    opened: Open,
) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    for key in (PAGE, "2026-03-01", "2026-03-02"):
        write(mind, "roses", key)
    vector = embedder.embed(["x"], "passage")
    with mind.store.transaction() as tx:  # as a writer would that passes the gate by
        tx.vectors.remove(ANNA, "note", "2026-03-01")
        tx.vectors.put(ANNA, embedder.identity, "note", PAGE, 7, vector)
        tx.vectors.put(ANNA, embedder.identity, "note", "2020-01-01", 1, vector)
        tx.vectors.put(ANNA, embedder.identity, "message", "gone", 1, vector)
    health = mind.index.health(ANNA)
    notes, messages = health.kinds
    assert notes.missing == ("2026-03-01", PAGE)
    assert (notes.items, notes.current, notes.stale) == (3, 1, 1)
    assert (notes.orphans, messages.orphans) == (("2020-01-01",), ("gone",))
    assert not health.ok
    without = opened().index.health(ANNA)
    assert [one.orphans for one in without.kinds] == [("2020-01-01",), ("gone",)]
    assert ([one.missing for one in without.kinds], without.ok) == ([(), ()], False)
    mind.index.reindex()
    health = mind.index.health(ANNA)
    assert health.ok
    assert [(one.items, one.current, one.stale) for one in health.kinds] == [(3, 3, 0), (0, 0, 0)]


# ---- an embedder that learns


def test_a_learning_embedder_learns_at_powers_of_two_and_old_vectors_go(opened: Open) -> None:
    mind = opened(PredictableLearner())
    revisions: list[str] = []
    for number in range(9):
        mind.conversation.append(ANNA, say(f"m{number}", f"word{number}", number))
        revisions.append(mind.index.embedder_for(ANNA).identity.revision)  # type: ignore[union-attr]
        assert waiting(mind) == []
        assert counts(mind) == {f"words {revisions[-1]} message": number + 1}
    changes = [n + 1 for n in range(1, 9) if revisions[n] != revisions[n - 1]]
    assert changes == [2, 4, 8]
    assert revisions[0] != ""
    assert found(mind, "word0", "message") == ["m0"]
    assert mind.index.health(ANNA).ok


def test_what_is_learnt_of_one_owner_moves_no_other(opened: Open) -> None:
    both, other = opened(PredictableLearner()), Owner("work", "helper", "anna")
    alone = Memory(InMemoryStore(), both.settings, SettableClock(START), PredictableLearner())
    for number in range(5):
        both.conversation.append(ANNA, say(f"m{number}", f"word{number}", number))
        both.conversation.append(other, say(f"m{number}", f"another{number}", number))
        alone.conversation.append(other, say(f"m{number}", f"another{number}", number))
    assert both.index.embedder_for(other).identity == alone.index.embedder_for(other).identity  # type: ignore[union-attr]
    assert both.index.embedder_for(ANNA).identity != alone.index.embedder_for(other).identity  # type: ignore[union-attr]
    assert counts(both, other) == counts(alone, other)


def test_what_was_learnt_is_known_after_opening_again(opened: Open) -> None:
    mind = opened(PredictableLearner())
    for number in range(3):
        mind.conversation.append(ANNA, say(f"m{number}", f"word{number}", number))
    again = opened(PredictableLearner())
    assert again.index.embedder_for(ANNA).identity == mind.index.embedder_for(ANNA).identity  # type: ignore[union-attr]
    assert found(again, "word1", "message") == ["m1"]
    assert again.index.health(ANNA).ok


def test_a_reindex_learns_afresh_and_twice_changes_nothing(opened: Open) -> None:
    mind = opened(PredictableLearner())
    for number in range(3):
        mind.conversation.append(ANNA, say(f"m{number}", f"word{number}", number))
    before = mind.index.embedder_for(ANNA).identity  # type: ignore[union-attr]
    assert mind.index.reindex().embedded == 3
    after = mind.index.embedder_for(ANNA).identity  # type: ignore[union-attr]
    assert after != before
    assert counts(mind) == {f"words {after.revision} message": 3}
    assert mind.index.reindex().embedded == 0
    assert mind.index.embedder_for(ANNA).identity == after  # type: ignore[union-attr]


def test_beyond_the_last_power_of_two_only_a_reindex_learns(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LEARN_UP_TO == 4096
    monkeypatch.setattr("memcore.learning.LEARN_UP_TO", 2)
    mind = opened(PredictableLearner())
    seen = set()
    for number in range(9):
        mind.conversation.append(ANNA, say(f"m{number}", f"word{number}", number))
        seen.add(mind.index.embedder_for(ANNA).identity.revision)  # type: ignore[union-attr]
    assert len(seen) == 2
    mind.index.reindex()
    assert mind.index.embedder_for(ANNA).identity.revision not in seen  # type: ignore[union-attr]


class Forgetful(PredictableLearner):
    """Does not know what it learnt in an earlier version."""

    def knowing(self, learnt: bytes) -> PredictableLearner:
        if learnt == b"old":
            raise InvalidInput("not mine")
        return super().knowing(learnt)


def test_what_a_learner_no_longer_understands_is_learnt_again(opened: Open) -> None:
    mind = opened(Forgetful())
    with mind.store.transaction() as tx:
        tx.state.put_learnt(ANNA, "learner", (1).to_bytes(8) + b"old")
    write(mind, "roses")
    assert waiting(mind) == []
    assert found(mind, "roses") == [PAGE]


class LearntMeanwhile(PredictableLearner):
    """Another process learns afresh while this one embeds."""

    store: Store | None = None

    def knowing(self, learnt: bytes) -> PredictableLearner:
        known = LearntMeanwhile(64, super().knowing(learnt).identity.revision)
        known.store = self.store
        return known

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        if self.store is not None:
            store, LearntMeanwhile.store, self.store = self.store, None, None
            mind = Memory(store, Settings(layer_seconds=None), SettableClock(START), None)
            other = PredictableLearner()

            def learn() -> None:
                with mind.store.transaction() as tx:
                    learnt = (2).to_bytes(8) + other.learn(["roses", "more"])
                    tx.state.put_learnt(ANNA, "learner", learnt)
                    tx.queue.add(ANNA, QueuedPassage("note", PAGE, 1))

            in_another_thread(learn)()
        return super().embed(texts, role)


def test_vectors_of_what_was_known_before_are_not_taken_for_what_is_known_now(
    opened: Open,
) -> None:
    embedder = LearntMeanwhile()
    mind = opened(embedder)
    embedder.store = mind.store
    write(mind, "roses")
    assert waiting(mind) == [QueuedPassage("note", PAGE, 1)]
    assert counts(mind) == {}
    embedder.store = None
    mind = opened(PredictableLearner())
    mind.index.drain(ANNA)
    assert found(mind, "roses") == [PAGE]
    assert mind.index.health(ANNA).ok


# ---- opening


def test_a_memory_takes_its_provider_from_the_settings(tmp_path: Path) -> None:
    settings = Settings(provider="tfidf")
    with closing(open_memory(tmp_path / "m.db", SettableClock(START), settings)) as mind:
        write(mind, "roses bloom")
        query = mind.index.query(ANNA, "roses")
        assert query.identity.provider == "tfidf"
        assert found(mind, "roses") == [PAGE]
    given = PredictableEmbedder()
    with closing(
        open_memory(tmp_path / "m.db", SettableClock(START), settings, embedder=given)
    ) as mind:
        assert mind.index.embedder_for(ANNA) is given


def test_deleting_what_is_not_there_asks_nothing_of_the_provider(opened: Open) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    with pytest.raises(NotFound):
        mind.notes.delete(ANNA, PAGE, actor="anna")
    assert embedder.calls == 0


def test_a_message_is_what_it_says_and_who_says_it(opened: Open) -> None:
    embedder = PredictableEmbedder()
    mind = opened(embedder)
    mind.conversation.append(ANNA, Message("m1", "t1", "user", "Anna", START, "Roses"))
    assert embedder.seen == ["Anna: Roses"]
