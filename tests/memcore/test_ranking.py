"""The one ranking: BM25 of one owner's messages, with a share of the neighbours' scores."""

from __future__ import annotations

import math

import pytest

from memcore import Settings
from memcore.ranking import rank
from memcore.types import Matches, Posting


def posting(id: str, place: int, frequency: int = 1, thread: str = "t1", time: int = 0) -> Posting:
    return Posting(id, thread, place, time, frequency, 10, 50)


def test_a_score_is_bm25_with_lucenes_idf() -> None:
    found = Matches(20, 12.5, {"rose": [posting("a", 0, 3), posting("b", 1)]})
    settings = Settings(bm25_k1=1.2, bm25_b=0.75)
    idf = math.log(1 + (20 - 2 + 0.5) / (2 + 0.5))
    expected = idf * 3 * 2.2 / (3 + 1.2 * (1 - 0.75 + 0.75 * 10 / 12.5))
    first, _ = rank(found, settings)
    assert first.id == "a"
    assert first.score == pytest.approx(expected)


def test_a_score_is_never_negative_even_for_a_word_in_every_message() -> None:
    found = Matches(3, 10, {"rose": [posting(id, place) for place, id in enumerate("abc")]})
    assert all(one.score > 0 for one in rank(found, Settings()))


def test_equal_scores_are_ordered_by_newer_then_by_id() -> None:
    postings = [posting("b", 0, time=5), posting("a", 1, time=5), posting("c", 2, time=9)]
    ranked = rank(Matches(9, 10, {"rose": postings}), Settings())
    assert [one.id for one in ranked] == ["c", "a", "b"]


def test_the_order_of_postings_changes_nothing() -> None:
    postings = [posting(id, place, 1 + place % 3) for place, id in enumerate("abcdefg")]
    one, other = {"x": postings}, {"x": postings[::-1]}
    for neighbours in (False, True):
        first = rank(Matches(9, 10, one), Settings(), neighbours=neighbours)
        assert rank(Matches(9, 10, other), Settings(), neighbours=neighbours) == first


def test_neighbours_in_the_thread_lend_shares_that_halve_with_the_distance() -> None:
    postings = [posting("a", 5), posting("b", 6), posting("c", 8), posting("d", 6, thread="t2")]
    found = Matches(9, 10, {"x": postings})
    settings = Settings(neighbour_weight=0.4, neighbour_reach=2)
    own = rank(found, settings)[0].score
    scores = {one.id: one.score / own for one in rank(found, settings, neighbours=True)}
    assert scores == pytest.approx({"a": 1.4, "b": 1.6, "c": 1.2, "d": 1.0})


@pytest.mark.parametrize("off", [{"neighbour_weight": 0}, {"neighbour_reach": 0}])
def test_neighbours_can_be_switched_off(off: dict[str, int]) -> None:
    found = Matches(9, 10, {"x": [posting("a", 5), posting("b", 6)]})
    settings = Settings().vary(**off)
    assert rank(found, settings, neighbours=True) == rank(found, settings)


def test_a_boost_multiplies_a_messages_own_score() -> None:
    found = Matches(9, 10, {"x": [posting("a", 0), posting("b", 50)]})
    plain = rank(found, Settings())
    boosted = rank(found, Settings(), lambda one: 3.0 if one.id == "a" else 1.0)
    assert boosted[0].id == "a"
    assert boosted[0].score == pytest.approx(3 * plain[0].score)
