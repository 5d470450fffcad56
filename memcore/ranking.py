"""The one ranking of one owner's messages: BM25, meaning, or both, from what any store counts.

Computed here and not in a store, so that every store ranks alike and no other tenant's text moves a
score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memcore.ports import Messages
from memcore.settings import Settings
from memcore.types import LONGEST, Located, Matches, Near, Owner

_CANDIDATES = 3
"""How many times as many messages as are wanted have their neighbours weighed."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Ranked(NamedTuple):
    """A found message: where it stands, its number of characters, and its score.

    `words` is its own BM25 score, None where it has no word of the query; `cosine` is its nearness
    by meaning, None where that was not asked or it has no vector.
    """

    id: str
    thread: str
    place: int
    size: int
    score: float
    words: float | None = None
    cosine: float | None = None


class Ranking(NamedTuple):
    """The best messages, best first, and how many were found at all."""

    best: list[Ranked]
    found: int


Meant = Callable[[int, Sequence[str]], Sequence[Near]]
"""The given number of messages nearest by meaning, and besides them those of these ids."""


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
    meant: Meant | None = None,
) -> Ranking:
    """At most `count` messages of an owner by their score for the stems, best first; ties by newer,
    then by id.

    `since` and `until` are included; `admit` leaves messages out. `boost` multiplies a message's
    own score. With `neighbours`, shares of the scores around it in its thread are added: what is
    asked about often stands beside what answers it. With `meant`, nearness by meaning counts beside
    the words, or alone where no stems are given. Of the messages found in either way, the best
    `count` times three by that way's own score are considered for all this.
    """
    found = messages.matches(owner, stems) if stems or meant is None else Matches(0, 0.0, {})
    scores = bm25(found, settings)
    first = -math.inf if since is None else (since - _EPOCH) // _MICROSECOND
    last = math.inf if until is None else (until - _EPOCH) // _MICROSECOND
    wanted = count * _CANDIDATES if neighbours or boost or meant else count
    candidates: list[Located] = []
    # equal scores: the one stored later first, so that a cut-off is the same every time
    order = sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)
    for start in range(0, len(order), max(wanted, 1)):
        located = messages.located(owner, order[start : start + wanted])
        candidates += [one for one in located if first <= one.time <= last and admit(one)]
        if len(candidates) >= wanted:
            break
    own = {one.number: scores[one.number] for one in candidates}
    cosines: dict[str, float] = {}
    if meant is not None:
        near = meant(wanted, [one.id for one in candidates])
        cosines = {one.item: one.cosine for one in near}
        known = {one.id for one in candidates}
        others = messages.located_by_id(owner, [id for id in cosines if id not in known])
        candidates += [one for one in others if first <= one.time <= last and admit(one)]
        own = _fused(candidates, scores, found, near, settings)
    if boost is not None:
        own = {one.number: own[one.number] * boost(one) for one in candidates}
    total = _with_neighbours(candidates, own, settings) if neighbours else own
    best = sorted([(-total[one.number], -one.time, one.id, one) for one in candidates])[:count]
    return Ranking(
        [
            Ranked(id, one.thread, one.place, one.size, -score, scores.get(one.number),
                   cosines.get(id))
            for score, _, id, one in best
        ],
        max(len(scores), len(candidates)),
    )  # fmt: skip


def _fused(
    candidates: Sequence[Located],
    words: Mapping[int, float],
    found: Matches,
    near: Sequence[Near],
    settings: Settings,
) -> dict[int, float]:
    """Words and meaning in one score by message number, so that neither one's scale matters.

    BM25 in its standard deviations over all the owner's messages, and the contrast to the power
    `meaning_power`, nothing below the mean. `meaning_weight` is the share of the latter, all of
    it where no words count.
    """
    share = settings.meaning_weight if found.postings else 1.0
    count = max(found.documents, 1)
    mean = math.fsum(words.values()) / count
    variance = math.fsum(score * score for score in words.values()) / count - mean * mean
    by_words = (1 - share) / math.sqrt(variance) if variance > 0 else 0.0
    contrast = {one.item: max(one.contrast, 0.0) for one in near}
    return {
        one.number: by_words * words.get(one.number, 0.0)
        + share * contrast.get(one.id, 0.0) ** settings.meaning_power
        for one in candidates
    }


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
