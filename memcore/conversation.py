"""What was said: appended, read back, searched, and quoted as excerpts.

There is one ranking, BM25 over the owner's own messages, computed here from what any store counts,
so that every store ranks alike and no tenant's text moves another's scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from memcore import text as analysis
from memcore.errors import InvalidInput
from memcore.ports import Store
from memcore.settings import Settings
from memcore.types import Matches, Message, MessageHit, Owner, Posting, QueuedPassage

_ROLES = ("user", "assistant", "tool")
SNIPPET = 160
"""Characters of a search hit's snippet."""


class Ranked(NamedTuple):
    """A found message and its score."""

    id: str
    thread: str
    place: int
    size: int
    score: float


class Conversation:
    """Messages of every owner, over one store."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def append(self, owner: Owner, message: Message) -> Message:
        """Stores a message with its search entry, in one transaction; returns it with its place.

        Raises `InvalidInput` for a message without id or text, with an unknown role or a time
        without zone, and `Conflict` where the owner has a message of that id. Lone surrogates in
        the text and the speaker's name become U+FFFD.
        """
        message = _checked(message)
        with self._store.transaction() as tx:
            stored = tx.messages.append(owner, message, analysis.stems(message.text))
            tx.queue.add(owner, QueuedPassage("message", message.id, 1))
        return stored

    def recent(
        self, owner: Owner, thread: str, limit: int, before: str | None = None
    ) -> list[Message]:
        """The last messages of a thread, newest first; `before` is the id to page back from.

        Returns an empty list where `before` is not a message of that thread.
        """
        with self._store.reading() as parts:
            place = None
            if before is not None:
                place = parts.messages.place_of(owner, thread, before)
                if place is None:
                    return []
            return parts.messages.recent(owner, thread, max(limit, 0), place)

    def search(
        self,
        owner: Owner,
        query: str,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[MessageHit]:
        """Ranked full-text search over all the owner's threads, best first.

        A query is data: nothing in it acts as an operator, nothing raises. Returns at most `limit`
        hits, each with a snippet of at most `SNIPPET` characters. `since` and `until` are included;
        raises `InvalidInput` where one has no zone.
        """
        for name, time in (("since", since), ("until", until)):
            if time is not None and time.tzinfo is None:
                raise InvalidInput(f"{name} is a time without a zone; give an aware time")
        wanted = analysis.query_stems(query)
        with self._store.reading() as parts:
            found = parts.messages.matches(owner, wanted, since, until)
            ranked = rank(found, self._settings)[: max(limit, 0)]
            messages = parts.messages.get(owner, [one.id for one in ranked])
        return [
            MessageHit(message, one.score, _snippet(message.text, wanted))
            for one, message in zip(ranked, messages, strict=True)
        ]


def _snippet(text: str, wanted: Sequence[str]) -> str:
    if len(text) <= SNIPPET:
        return text
    start, end = analysis.cut_around(text, wanted, SNIPPET)
    return text[start:end]


def _checked(message: Message) -> Message:
    if message.role not in _ROLES:
        raise InvalidInput(
            f"message {message.id!r} has role {message.role!r}; use one of {', '.join(_ROLES)}"
        )
    if message.time.tzinfo is None:
        raise InvalidInput(f"message {message.id!r} has a time without a zone; give an aware time")
    if not message.id:
        raise InvalidInput(f"a message of thread {message.thread!r} has no id; give it one")
    if not message.text.strip():
        raise InvalidInput(f"message {message.id!r} has no text; leave it out")
    text, speaker = analysis.clean(message.text), analysis.clean(message.speaker)
    return replace(message, text=text, speaker=speaker)


def bm25(found: Matches, settings: Settings) -> dict[str, float]:
    """BM25 scores by message id: Robertson and Zaragoza 2009, with Lucene's idf, which is never
    negative: `ln(1 + (N - n + 0.5) / (n + 0.5))`.
    """
    k1, b, count = settings.bm25_k1, settings.bm25_b, found.documents
    base, slope = k1 * (1 - b), k1 * b / max(found.mean_length, 1e-9)
    scores: dict[str, float] = {}
    for postings in found.postings.values():
        if not postings:
            continue
        idf = math.log(1 + (count - len(postings) + 0.5) / (len(postings) + 0.5)) * (k1 + 1)
        for id, _, _, _, frequency, length, _ in postings:
            gain = idf * frequency / (frequency + base + slope * length)
            scores[id] = scores.get(id, 0.0) + gain
    return scores


def rank(
    found: Matches, settings: Settings, boost: Callable[[Posting], float] | None = None
) -> list[Ranked]:
    """The messages found, best first; ties by newer, then by id. `boost` multiplies a score."""
    scores = bm25(found, settings)
    where = {posting.id: posting for one in found.postings.values() for posting in one}
    if boost is not None:
        scores = {id: score * boost(where[id]) for id, score in scores.items()}
    order = sorted(scores, key=lambda id: (-scores[id], -where[id].time, id))
    return [
        Ranked(id, where[id].thread, where[id].place, where[id].size, scores[id]) for id in order
    ]


def weigh_neighbours(ranked: Sequence[Ranked], weight: float) -> list[Ranked]:
    """The ranking with a share of each message's next and previous message's score added.

    What is asked about often stands beside what answers it.
    """
    if weight == 0:
        return list(ranked)
    score_at = {(one.thread, one.place): one.score for one in ranked}

    def beside(one: Ranked) -> float:
        before = score_at.get((one.thread, one.place - 1), 0.0)
        return before + score_at.get((one.thread, one.place + 1), 0.0)

    weighed = [one._replace(score=one.score + weight * beside(one)) for one in ranked]
    weighed.sort(key=lambda one: -one.score)
    return weighed
