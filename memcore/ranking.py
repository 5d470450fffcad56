"""The one ranking: BM25 over one owner's messages, from what any store counts.

Computed here and not in a store, so that every store ranks alike and no other tenant's text moves a
score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memcore.ports import Messages
from memcore.settings import Settings
from memcore.types import LONGEST, Located, Matches, Owner

_CANDIDATES = 3
"""How many times as many messages as are wanted have their neighbours weighed."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Ranked(NamedTuple):
    """A found message: where it stands, its number of characters, and its score."""

    id: str
    thread: str
    place: int
    size: int
    score: float


class Ranking(NamedTuple):
    """The best messages, best first, and how many hold a word of the query at all."""

    best: list[Ranked]
    found: int


def rank(
    messages: Messages,
    owner: Owner,
    stems: Sequence[str],
    settings: Settings,
    count: int,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    admit: Callable[[Located], bool] = lambda _: True,
    boost: Callable[[Located], float] | None = None,
    neighbours: bool = False,
) -> Ranking:
    """At most `count` messages of an owner by their score for the stems, best first; ties by newer,
    then by id.

    `since` and `until` are included; `admit` leaves messages out. `boost` multiplies a message's
    own score. With `neighbours`, shares of the scores around it in its thread are added: what is
    asked about often stands beside what answers it. Of the messages found, the best `count` times
    three by their own score are considered for that.
    """
    found = messages.matches(owner, stems)
    scores = bm25(found, settings)
    first = -math.inf if since is None else (since - _EPOCH) // _MICROSECOND
    last = math.inf if until is None else (until - _EPOCH) // _MICROSECOND
    wanted = count * _CANDIDATES if neighbours or boost else count
    candidates: list[Located] = []
    # equal scores: the one stored later first, so that a cut-off is the same every time
    order = sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)
    for start in range(0, len(order), max(wanted, 1)):
        located = messages.located(owner, order[start : start + wanted])
        candidates += [one for one in located if first <= one.time <= last and admit(one)]
        if len(candidates) >= wanted:
            break
    own = {one.number: scores[one.number] for one in candidates}
    if boost is not None:
        own = {one.number: own[one.number] * boost(one) for one in candidates}
    total = _with_neighbours(candidates, own, settings) if neighbours else own
    best = sorted([(-total[one.number], -one.time, one.id, one) for one in candidates])[:count]
    return Ranking(
        [Ranked(id, one.thread, one.place, one.size, -score) for score, _, id, one in best],
        len(scores),
    )


def relevant(score: float, cutoff: float | None) -> bool:
    """Whether a score counts as relevant: the one comparison with a cutoff; None cuts nothing."""
    return cutoff is None or score >= cutoff


def bm25(found: Matches, settings: Settings) -> dict[int, float]:
    """BM25 scores by message number: Robertson and Zaragoza 2009, with Lucene's idf, which is
    never negative: `ln(1 + (N - n + 0.5) / (n + 0.5))`.
    """
    k1, b, count = settings.bm25_k1, settings.bm25_b, found.documents
    base, slope = k1 * (1 - b), k1 * b / max(found.mean_length, 1e-9)
    scores: dict[int, float] = {}
    score_of = scores.get
    for frequencies in found.postings.values():
        if not frequencies:
            continue
        holding = len(frequencies)
        idf = math.log(1 + (count - holding + 0.5) / (holding + 0.5)) * (k1 + 1)
        for number, frequency in frequencies.items():
            weight = frequency + base + slope * (number & LONGEST)
            scores[number] = score_of(number, 0.0) + idf * frequency / weight
    return scores


def _with_neighbours(
    candidates: Sequence[Located], own: dict[int, float], settings: Settings
) -> dict[int, float]:
    """Each score and `neighbour_weight` of the next and previous message's, half of that of those
    two places away, and so on up to `neighbour_reach`."""
    reach = settings.neighbour_reach if settings.neighbour_weight else 0
    shares = [
        (step, settings.neighbour_weight / 2 ** (abs(step) - 1))
        for step in range(-reach, reach + 1)
        if step != 0
    ]
    by_thread: dict[str, dict[int, float]] = {}
    for one in candidates:
        by_thread.setdefault(one.thread, {})[one.place] = own[one.number]
    total = {}
    for one in candidates:
        score, place, at = own[one.number], one.place, by_thread[one.thread].get
        for step, part in shares:
            if beside := at(place + step):
                score += part * beside
        total[one.number] = score
    return total
