"""The one ranking: BM25 of one owner's messages, with a share of the neighbours' scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from memcore import Settings
from memcore.ranking import Ranked, bm25, rank
from memcore.testing import InMemoryStore
from memcore.types import Located, Matches
from tests.support import ANNA, say

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def ranked(
    stored: Sequence[tuple[str, float, str, Sequence[str]]],
    settings: Settings | None = None,
    count: int = 99,
    **more: Any,
) -> list[Ranked]:
    """What a search for the stem `x` gives over messages of (id, minute, thread, stems)."""
    store = InMemoryStore()
    with store.transaction() as tx:
        for id, minute, thread, stems in stored:
            tx.messages.append(ANNA, say(id, "text", minute, thread=thread), stems)
    with store.reading() as parts:
        return rank(parts.messages, ANNA, ["x"], settings or Settings(), count, **more).best


def test_a_score_is_bm25_with_lucenes_idf() -> None:
    found = Matches(20, 12.5, {"rose": {1 << 12 | 10: 3, 2 << 12 | 10: 1}})
    idf = math.log(1 + (20 - 2 + 0.5) / (2 + 0.5))
    expected = idf * 3 * 2.2 / (3 + 1.2 * (1 - 0.75 + 0.75 * 10 / 12.5))
    scores = bm25(found, Settings(bm25_k1=1.2, bm25_b=0.75))
    assert scores[1 << 12 | 10] == pytest.approx(expected)


def test_a_score_is_never_negative_even_for_a_word_in_every_message() -> None:
    stored = [(id, minute, "t1", ["x"]) for minute, id in enumerate("abc")]
    assert all(one.score > 0 for one in ranked(stored))


def test_equal_scores_are_ordered_by_newer_then_by_id() -> None:
    stored = [("b", 5, "t1", ["x"]), ("a", 5, "t1", ["x"]), ("c", 9, "t1", ["x"])]
    assert [one.id for one in ranked(stored)] == ["c", "a", "b"]


def test_the_order_in_which_messages_were_stored_changes_nothing() -> None:
    stored = [
        (id, minute, "t1", ["x"] * (1 + minute % 3) + WORDS[:minute])
        for minute, id in enumerate("abcdefg")
    ]
    for neighbours in (False, True):
        first = ranked(stored, neighbours=neighbours)
        assert ranked(stored[::-1], neighbours=neighbours) == first


def test_neighbours_in_the_thread_lend_shares_that_halve_with_the_distance() -> None:
    stored = [
        ("a", 5, "t1", ["x"]),
        ("b", 6, "t1", ["x"]),
        ("between", 7, "t1", ["y"]),
        ("c", 8, "t1", ["x"]),
        ("d", 6, "t2", ["x"]),
    ]
    settings = Settings(neighbour_weight=0.4, neighbour_reach=2)
    own = ranked(stored, settings)[0].score
    scores = {one.id: one.score / own for one in ranked(stored, settings, neighbours=True)}
    assert scores == pytest.approx({"a": 1.4, "b": 1.6, "c": 1.2, "d": 1.0})


@pytest.mark.parametrize("off", [{"neighbour_weight": 0}, {"neighbour_reach": 0}])
def test_neighbours_can_be_switched_off(off: dict[str, int]) -> None:
    stored = [("a", 5, "t1", ["x"]), ("b", 6, "t1", ["x"])]
    settings = Settings().vary(**off)
    assert ranked(stored, settings, neighbours=True) == ranked(stored, settings)


def test_a_boost_multiplies_a_messages_own_score() -> None:
    stored = [("a", 0, "t1", ["x"]), *((f"b{n}", 9 + n, "t1", WORDS) for n in range(9))]
    stored.append(("c", 50, "t1", ["x"]))

    def triple(one: Located) -> float:
        return 3.0 if one.id == "a" else 1.0

    plain, boosted = ranked(stored), ranked(stored, boost=triple)
    assert boosted[0].id == "a"
    assert boosted[0].score == pytest.approx(3 * plain[0].score)


def test_what_is_not_admitted_leaves_its_place_to_the_next() -> None:
    stored = [(f"m{minute}", minute, "t1", ["x"]) for minute in range(30)]
    best = ranked(stored, count=3, admit=lambda one: one.place < 10)
    assert [one.id for one in best] == ["m9", "m8", "m7"]


def test_a_count_of_none_ranks_nothing() -> None:
    assert ranked([("a", 0, "t1", ["x"])], count=0) == []
