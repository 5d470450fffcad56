"""The one ranking: BM25 over one owner's messages, from what any store counts.

Computed here and not in a store, so that every store ranks alike and no other tenant's text moves a
score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from memcore.settings import Settings
from memcore.types import Matches, Posting

_CANDIDATES = 5


class Ranked(NamedTuple):
    """A found message: where it stands, its number of characters, and its score."""

    id: str
    thread: str
    place: int
    size: int
    score: float


def rank(
    found: Matches,
    settings: Settings,
    boost: Callable[[Posting], float] | None = None,
    neighbours: bool = False,
) -> list[Ranked]:
    """The messages found, best first; ties by newer, then by id.

    `boost` multiplies a message's own score. With `neighbours`, shares of the scores around it in
    its thread are added: what is asked about often stands beside what answers it. That is done for
    the best by their own score, `search_depth` times `_CANDIDATES` of them, and only they return.
    """
    scores, where = bm25(found, settings)
    if boost is not None:
        scores = {id: score * boost(where[id]) for id, score in scores.items()}
    if neighbours and settings.neighbour_weight and settings.neighbour_reach:
        scores = _weigh_neighbours(scores, where, settings)
    order = sorted([(-score, -where[id][3], id) for id, score in scores.items()])
    ranked = []
    for minus_score, _, id in order:
        _, thread, place, _, _, _, size = where[id]
        ranked.append(Ranked(id, thread, place, size, -minus_score))
    return ranked


def bm25(found: Matches, settings: Settings) -> tuple[dict[str, float], dict[str, Posting]]:
    """BM25 scores and one posting by message id: Robertson and Zaragoza 2009, with Lucene's idf,
    which is never negative: `ln(1 + (N - n + 0.5) / (n + 0.5))`.
    """
    k1, b, count = settings.bm25_k1, settings.bm25_b, found.documents
    base, slope = k1 * (1 - b), k1 * b / max(found.mean_length, 1e-9)
    scores: dict[str, float] = {}
    where: dict[str, Posting] = {}
    score_of = scores.get
    for postings in found.postings.values():
        if not postings:
            continue
        idf = math.log(1 + (count - len(postings) + 0.5) / (len(postings) + 0.5)) * (k1 + 1)
        for posting in postings:
            id, _, _, _, frequency, length, _ = posting
            gain = idf * frequency / (frequency + base + slope * length)
            scores[id] = score_of(id, 0.0) + gain
            where[id] = posting
    return scores, where


def _weigh_neighbours(
    scores: dict[str, float], where: dict[str, Posting], settings: Settings
) -> dict[str, float]:
    """Each score and `neighbour_weight` of the next and previous message's, half of that of those
    two places away, and so on up to `neighbour_reach`."""
    shares = [
        (step, settings.neighbour_weight / 2 ** (abs(step) - 1))
        for step in range(-settings.neighbour_reach, settings.neighbour_reach + 1)
        if step != 0
    ]
    by_thread: dict[str, dict[int, float]] = {}
    for id, score in scores.items():
        _, thread, place, _, _, _, _ = where[id]
        if thread not in by_thread:
            by_thread[thread] = {}
        by_thread[thread][place] = score
    count = settings.search_depth * _CANDIDATES
    enough = sorted(scores.values(), reverse=True)[count - 1] if len(scores) > count else 0.0
    weighed = {}
    for id, score in scores.items():
        if score < enough:
            continue
        _, thread, place, _, _, _, _ = where[id]
        at = by_thread[thread].get
        for step, part in shares:
            if beside := at(place + step):
                score += part * beside
        weighed[id] = score
    return weighed
