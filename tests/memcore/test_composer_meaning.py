"""What meaning does for a turn: the order of notes, excerpts that share no word, the cutoff; and
the turn composed all the same where there are no vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from memcore import Layer, Memory, Message, ProviderIdentity, Reason, Settings
from memcore.errors import InvalidInput, ProviderRefused, ProviderUnavailable
from memcore.testing import InMemoryStore, PredictableEmbedder, SettableClock
from memcore.types import Cutoff, EmbedRole, Matrix
from tests.composing import ASKED, ask, chat, check, fill, items, kept, text_of, write
from tests.support import ANNA, START, at, say

DAYS = ["2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08"]


class Topics:
    """An embedder for which texts are near when they are about one thing, whatever their words."""

    THINGS = (("flower", "roses", "bloom"), ("dog", "puppy", "pet"), ("rain", "storm", "weather"))

    def __init__(self, model: str = "topics", width: int = 4) -> None:
        self.identity = ProviderIdentity("test", model, "1", width)
        self.calls = 0

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        self.calls += 1
        rows = np.full((len(texts), self.identity.width), 0.1, np.float32)
        for (row, text), (thing, words) in product(enumerate(texts), enumerate(self.THINGS)):
            rows[row, thing] += sum(word in text.casefold() for word in words)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def mind(embedder: Any, store: Any = None, **changes: Any) -> Memory:
    settings = Settings(layer_seconds=None).vary(**changes)
    return Memory(store or InMemoryStore(), settings, SettableClock(at(ASKED)), embedder)


def cutoff(value: float, kind: Any = "message", identity: ProviderIdentity | None = None) -> Cutoff:
    identity = identity or Topics().identity
    return Cutoff(identity, kind, value, value, value, "f1", "a" * 64, "2026-01-01")


PETS = say("pets", "Our puppy chewed a slipper again", 10, thread="t2")
STORM = say("storm", "The storm took the fence down", 2000, thread="t2")
LATER = say("later", "Nothing of note here at all", 4000, thread="t2")


def asked_about_a_dog(**changes: Any) -> Memory:
    memory = mind(Topics(), window_cap=0, **changes)
    fill(memory, PETS, STORM, LATER)
    return memory


# ---- notes in order of meaning


def test_notes_are_ordered_by_their_best_line() -> None:
    memory = mind(Topics())
    write(memory, "page", "The page comes first")
    write(memory, DAYS[0], "Something else\nThe dog is called Rex")
    for day in DAYS[1:]:
        write(memory, day, "The weather was grey")
    composition = ask(memory, "What is the name of our pet animal?")
    assert kept(composition, Layer.NOTES)[:2] == ["page", DAYS[0]]
    assert composition.account.row(Layer.NOTES).order == (
        "the page, then by meaning (cutoff not calibrated), then newest first"
    )
    check(composition)


def test_notes_that_the_budget_cannot_hold_are_the_least_near() -> None:
    memory = mind(Topics(), notes_cap=400)
    for day in DAYS:
        write(memory, day, "The weather was grey " * 7)
    write(memory, DAYS[0], "The dog is called Rex " * 7)
    composition = ask(memory, "What is the name of our pet animal?")
    assert DAYS[0] in kept(composition, Layer.NOTES)
    assert composition.account.row(Layer.NOTES).cap == 400


def test_a_note_without_a_vector_is_not_left_out_but_comes_after_the_ranked_newest_first() -> None:
    store = InMemoryStore()
    memory = mind(Topics(), store)
    write(memory, DAYS[0], "The weather was grey")
    without = mind(None, store)
    for day in DAYS[1:3]:
        write(without, day, "The dog is called Rex")
    broken = Topics()
    broken.embed = _raise_for_passages(broken)  # type: ignore[method-assign]
    composition = ask(mind(broken, store), "What is the name of our pet animal?")
    assert kept(composition, Layer.NOTES) == [DAYS[0], DAYS[2], DAYS[1]]


def _raise_for_passages(embedder: Topics) -> Any:
    embed = embedder.embed

    def only_queries(texts: Sequence[str], role: EmbedRole) -> Matrix:
        if role == "passage":
            raise ProviderUnavailable("overloaded")
        return embed(texts, role)

    return only_queries


def test_notes_below_the_cutoff_count_as_unranked_and_keep_their_place_by_date() -> None:
    memory = mind(Topics(), cutoffs=(cutoff(0.9, "note"),))
    write(memory, DAYS[0], "The dog is called Rex")
    write(memory, DAYS[1], "The weather was grey, and so was the dog")
    write(memory, DAYS[2], "The weather was grey")
    composition = ask(memory, "What is the name of our pet animal?")
    assert kept(composition, Layer.NOTES) == [DAYS[0], DAYS[2], DAYS[1]]
    assert "cutoff 0.9" in composition.account.row(Layer.NOTES).order


def test_what_the_notes_layer_asks_for_does_not_depend_on_the_order() -> None:
    for embedder in (None, Topics()):
        memory = mind(embedder)
        for day in DAYS:
            write(memory, day, "The dog is called Rex")
        ranked = ask(memory, "What is the name of our pet animal?").account.row(Layer.NOTES)
        assert ranked.asked == (
            ask(mind(None, memory.store), "Hello there my friend").account.row(Layer.NOTES).asked
        )


# ---- excerpts by meaning


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_message_that_shares_no_word_is_found_by_meaning(mode: str) -> None:
    composition = ask(asked_about_a_dog(search_mode=mode), "What does the dog get up to?")
    quoted = [item for item in items(composition, Layer.EXCERPTS) if item.kept]
    assert quoted[0].id == "pets"
    assert quoted[0].detail.startswith("cosine 1.000")
    assert "no word" in quoted[0].detail
    check(composition)
    lexical = ask(asked_about_a_dog(), "What does the dog get up to?")
    assert not kept(lexical, Layer.EXCERPTS)


def test_hybrid_still_finds_an_identifier_that_means_nothing_to_the_model() -> None:
    memory = asked_about_a_dog(search_mode="hybrid")
    fill(memory, say("order", "Your number is AB-1234", 6000, thread="t2"))
    composition = ask(memory, "And what about AB-1234 then, please tell")
    assert kept(composition, Layer.EXCERPTS)[0] == "order"


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_the_first_search_by_meaning_never_quotes_the_window_nor_the_message_itself(
    mode: str,
) -> None:
    memory = mind(Topics(), search_mode=mode)
    pets = say("pets", PETS.text, ASKED - 10)
    fill(memory, *chat(4), pets, say("new", "What does the dog get up to?", ASKED))
    composition = ask(memory, "What does the dog get up to?")
    hits = {item.id: item.reason for item in items(composition, Layer.EXCERPTS)}
    assert "new" not in hits
    assert hits["pets"] is Reason.IN_WINDOW


def test_what_is_said_later_is_invisible_to_meaning_too() -> None:
    memory = asked_about_a_dog(search_mode="semantic")
    fill(memory, say("future", "The dog ran away", ASKED + 60))
    composition = ask(memory, "What does the dog get up to?")
    assert "future" not in [item.id for item in items(composition, Layer.EXCERPTS)]


# ---- the cutoff


def _cosine_of(memory: Memory, question: str, id: str) -> float:
    found = items(ask(memory, question), Layer.EXCERPTS)
    return float(next(one for one in found if one.id == id).detail.split()[1].rstrip(","))


def test_an_unset_cutoff_cuts_nothing_and_is_shown_as_not_calibrated() -> None:
    composition = ask(asked_about_a_dog(search_mode="semantic"), "What does the dog get up to?")
    assert "cutoff not calibrated" in composition.account.row(Layer.EXCERPTS).order
    reasons = {item.reason for item in items(composition, Layer.EXCERPTS)}
    assert Reason.BELOW_CUTOFF not in reasons


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_excerpts_found_by_meaning_alone_are_not_shown_below_the_cutoff(mode: str) -> None:
    memory = asked_about_a_dog(search_mode=mode, cutoffs=(cutoff(0.9),))
    composition = ask(memory, "What does the dog get up to?")
    assert kept(composition, Layer.EXCERPTS) == ["pets"]
    dropped = {item.id: item.reason for item in items(composition, Layer.EXCERPTS)}
    assert dropped["storm"] is Reason.BELOW_CUTOFF
    assert "STORM" not in text_of(composition, Layer.EXCERPTS).upper()


def test_a_score_equal_to_the_cutoff_is_relevant() -> None:
    embedder = Topics()
    vectors = embedder.embed([f"Anna: {PETS.text}"], "passage").astype(np.float64)
    query = embedder.embed(["What does the dog get up to?"], "query").astype(np.float64)
    score = float((vectors[0] * query[0]).sum())
    just_above = float(np.nextafter(score, 2))
    for value, shown in ((score, ["pets"]), (just_above, [])):
        memory = asked_about_a_dog(search_mode="semantic", cutoffs=(cutoff(value),))
        assert kept(ask(memory, "What does the dog get up to?"), Layer.EXCERPTS) == shown


@pytest.mark.parametrize(
    "other",
    [
        ProviderIdentity("other", "topics", "1", 4),
        ProviderIdentity("test", "other", "1", 4),
        ProviderIdentity("test", "topics", "2", 4),
        ProviderIdentity("test", "topics", "1", 5),
    ],
)
def test_a_cutoff_of_another_provider_model_revision_or_width_is_not_applied(
    other: ProviderIdentity,
) -> None:
    memory = asked_about_a_dog(search_mode="semantic", cutoffs=(cutoff(2.0, identity=other),))
    composition = ask(memory, "What does the dog get up to?")
    assert "pets" in kept(composition, Layer.EXCERPTS)
    assert "not calibrated" in composition.account.row(Layer.EXCERPTS).order


def test_a_cutoff_of_another_kind_of_passage_is_not_applied() -> None:
    memory = asked_about_a_dog(search_mode="semantic", cutoffs=(cutoff(2.0, "note"),))
    assert "pets" in kept(ask(memory, "What does the dog get up to?"), Layer.EXCERPTS)


def test_the_cutoff_of_words_does_not_cut_what_meaning_found() -> None:
    memory = asked_about_a_dog(search_mode="semantic", excerpts_cutoff=1000)
    assert "pets" in kept(ask(memory, "What does the dog get up to?"), Layer.EXCERPTS)


# ---- without vectors


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_without_a_provider_meaning_behaves_as_words_and_says_so(mode: str) -> None:
    memory = mind(None, search_mode=mode, window_cap=0)
    fill(memory, PETS)
    row = ask(memory, "Which slipper was it that got chewed?").account.row(Layer.EXCERPTS)
    assert row.kept == 1
    assert row.note.startswith(f"degraded: {mode} was asked, no provider is set")


@pytest.mark.parametrize(
    "error", [ProviderUnavailable("overloaded"), ProviderRefused("wrong key"), OSError("gone")]
)
def test_a_provider_that_fails_costs_the_turn_its_order_and_not_the_turn(error: Exception) -> None:
    embedder = PredictableEmbedder()
    memory = mind(embedder, search_mode="hybrid", window_cap=0)
    fill(memory, PETS)
    write(memory, DAYS[0], "Rex is a dog")
    embedder.fail(error)
    composition = ask(memory, "Which slipper was it that got chewed?")
    check(composition)
    assert kept(composition, Layer.EXCERPTS) == ["pets"]
    assert kept(composition, Layer.NOTES) == [DAYS[0]]
    account = composition.account
    assert account.vectors is not None
    assert str(error) in account.vectors.error
    for layer in (Layer.NOTES, Layer.EXCERPTS):
        assert account.row(layer).status == "ok"
        assert account.row(layer).note.startswith("degraded: ")
        assert str(error) in account.row(layer).note


def test_a_provider_that_hangs_costs_no_more_than_a_layer_may_take() -> None:
    answer = threading.Event()

    class Hanging(Topics):
        def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
            answer.wait(60)
            return super().embed(texts, role)

    memory = mind(Hanging(), search_mode="hybrid", window_cap=0, layer_seconds=0.05)
    try:
        fill(memory, PETS)
        composition = ask(memory, "Which slipper was it that got chewed?")
    finally:
        answer.set()
    check(composition)
    assert kept(composition, Layer.EXCERPTS) == ["pets"]
    assert composition.account.vectors is not None
    assert composition.account.vectors.error
    assert composition.account.vectors.waiting == 1


def test_a_message_of_too_few_words_is_not_asked_about() -> None:
    embedder = Topics()
    memory = mind(embedder, search_mode="hybrid")
    fill(memory, PETS)
    write(memory, DAYS[0], "Rex is a dog")
    before = embedder.calls
    composition = ask(memory, "ok thanks")
    assert embedder.calls == before
    assert composition.account.row(Layer.NOTES).order == "the page, then newest first"
    assert composition.account.vectors is not None
    assert composition.account.vectors.error == ""


@pytest.mark.parametrize("off", [{}, {"search_mode": "hybrid", "excerpts_cap": 0}])
def test_the_provider_is_not_asked_where_no_layer_can_use_the_answer(off: dict[str, Any]) -> None:
    embedder = Topics()
    memory = mind(embedder, **off)
    fill(memory, PETS)
    before = embedder.calls
    ask(memory, "What does the dog get up to?")
    assert embedder.calls == before


def test_the_provider_is_asked_once_a_turn() -> None:
    embedder = Topics()
    memory = mind(embedder, search_mode="hybrid", window_cap=0)
    fill(memory, PETS)
    write(memory, DAYS[0], "Rex is a dog")
    before = embedder.calls
    ask(memory, "What does the dog get up to?")
    assert embedder.calls == before + 1


def test_the_account_counts_what_another_model_embedded_and_what_waits() -> None:
    store = InMemoryStore()
    old = mind(Topics("old"), store)
    fill(old, PETS, STORM)
    memory = mind(Topics("new"), store, search_mode="hybrid", window_cap=0)
    composition = ask(memory, "What does the dog get up to?")
    vectors = composition.account.vectors
    assert vectors is not None
    assert (str(vectors.identity), vectors.invisible) == ("test:new 1, 4 wide", 2)
    row = composition.account.row(Layer.EXCERPTS)
    assert "no message has a vector of test:new 1, 4 wide yet" in row.note
    memory.index.reindex(ANNA)
    again = ask(memory, "What does the dog get up to?")
    assert kept(again, Layer.EXCERPTS)[0] == "pets"


def test_a_text_that_cannot_be_embedded_is_composed_by_words() -> None:
    class Blank(Topics):
        def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
            if role == "query":
                raise InvalidInput("there is nothing to embed in it")
            return super().embed(texts, role)

    memory = mind(Blank(), search_mode="hybrid", window_cap=0)
    fill(memory, PETS)
    composition = ask(memory, "Which slipper was it that got chewed?")
    assert kept(composition, Layer.EXCERPTS) == ["pets"]


def test_the_same_store_settings_and_message_give_the_same_bytes() -> None:
    prompts = set()
    for _ in range(3):
        memory = asked_about_a_dog(search_mode="hybrid")
        for day in DAYS:
            write(memory, day, "The dog is called Rex")
        prompts.add(ask(memory, "What does the dog get up to?").system)
    assert len(prompts) == 1


def test_one_owner_never_moves_anothers_ranking_by_meaning() -> None:
    from memcore import Owner

    other = Owner("other-team", "helper", "anna")
    question = "What does the dog get up to?"
    alone = ask(asked_about_a_dog(search_mode="hybrid"), question)
    memory = asked_about_a_dog(search_mode="hybrid")
    fill(memory, *(Message(f"x{n}", "t1", "user", "Anna", START, "dog dog") for n in range(30)),
         owner=other)  # fmt: skip
    both = ask(memory, question)
    assert both.system == alone.system
    assert items(both, Layer.EXCERPTS) == items(alone, Layer.EXCERPTS)
