"""Dated conversations as retrieval material: what was known when each question was asked.

A group is a conversation. Relevant are the messages that a question names as its evidence, and the
notes and facts whose sources are among them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from eval.dataset import NOTE_SIZE, ConversationRecord, Dataset
from eval.errors import DatasetError, Fault
from eval.pairs import Group, Material, Passage, Query, Texts, make_material, make_texts
from memcore import PAGE, Note, PassageKind, local_day, passages

GROUPED_BY = "conversation"


class _Known(NamedTuple):
    """A passage that is there from one moment until another, and the messages that it carries."""

    passage: Passage
    sources: frozenset[str]
    since: datetime
    until: datetime | None = None


def material(dataset: Dataset, kind: PassageKind = "message") -> Material:
    """The questions of a dataset with the passages of that kind known at their time.

    Unanswerable questions without evidence are there with irrelevant passages only; those that
    cannot be labelled are left out and counted in the remarks. Raises `DatasetError`.
    """
    groups, left_out = [], 0
    for talk in dataset.conversations:
        known = [one for one in _KNOWN[kind](talk) if one.passage.texts]
        queries = [
            query for query in (_query(talk, n, known) for n in range(len(talk.questions))) if query
        ]
        left_out += len(talk.questions) - len(queries)
        groups.append(Group(talk.id, tuple(one.passage for one in known), tuple(queries)))
    source = dataset.source or dataset.name
    if not any(group.passages for group in groups):
        reason = f"there are no {kind}s in this dataset; calibrate another kind of passage"
        raise DatasetError([Fault(source, 0, f"{kind}s", reason)])
    remarks = []
    if left_out:
        what = "questions" if left_out > 1 else "question"
        remarks.append(
            f"{left_out:,} {what} left out: no {kind} is known to answer them, or they are "
            "unanswerable and name evidence all the same"
        )
    return make_material(dataset.name, kind, GROUPED_BY, groups, remarks, source)


def texts(dataset: Dataset, kind: PassageKind = "message") -> Texts:
    """What was said or noted in each conversation, without labels. Raises `DatasetError`."""
    found = [
        (talk.id, text)
        for talk in dataset.conversations
        for known in _KNOWN[kind](talk)
        for text in known.passage.texts
    ]
    return make_texts(dataset.name, kind, GROUPED_BY, found, dataset.source or dataset.name)


def has_questions(dataset: Dataset) -> bool:
    """Whether anything is asked that names its evidence."""
    return any(asked.evidence for talk in dataset.conversations for asked in talk.questions)


def _query(talk: ConversationRecord, number: int, known: list[_Known]) -> Query | None:
    """A question as a query; None where its passages cannot be labelled."""
    asked = talk.questions[number]
    evidence = set(asked.evidence)
    if bool(evidence) != asked.answerable:
        return None
    candidates = _known_at(known, asked.asked_at)
    relevant = frozenset(place for place in candidates if known[place].sources & evidence)
    if not candidates or bool(relevant) != asked.answerable:
        return None
    language = asked.language or talk.language
    return Query(asked.id, asked.text, language, candidates, relevant)


def _known_at(known: list[_Known], moment: datetime) -> range | tuple[int, ...]:
    """The places of what was there just before a moment; `known` is in the order of `since`."""
    count = bisect_left(known, moment, key=lambda one: one.since)
    if all(one.until is None for one in known):
        return range(count)
    return tuple(
        place for place in range(count) if (until := known[place].until) is None or until >= moment
    )


def _messages(talk: ConversationRecord) -> Iterator[_Known]:
    for one in talk.messages():
        yield _Known(
            Passage(one.id, tuple(passages.of_message(one))), frozenset([one.id]), one.time
        )


def _notes(talk: ConversationRecord) -> Iterator[_Known]:
    """Each state of each note. A page is replaced, a dated note joined to what its day has, and
    what grows too long is refused: as a replay writes them."""
    zone = ZoneInfo(talk.timezone)
    states: list[_Known] = []
    last: dict[str, tuple[int, Note]] = {}
    for record in sorted(talk.notes, key=lambda one: one.time):
        key = PAGE if record.kind == "page" else local_day(record.time, zone).isoformat()
        text, sources, revision = record.text, tuple(record.sources), 1
        if key in last:
            place, before = last[key]
            revision = before.revision + 1
            if key != PAGE:
                text, sources = f"{before.text}\n{text}", (*before.sources, *sources)
            if len(text) > NOTE_SIZE:
                continue
            states[place] = states[place]._replace(until=record.time)
        note = Note(key, text, revision, record.time, "import", sources)
        last[key] = len(states), note
        passage = Passage(f"{key} (revision {revision})", tuple(passages.of_note(note)))
        states.append(_Known(passage, frozenset(sources), record.time))
    return iter(states)


def _facts(talk: ConversationRecord) -> Iterator[_Known]:
    for one in sorted(talk.facts, key=lambda fact: (fact.time, fact.id)):
        yield _Known(Passage(one.id, (one.text,)), frozenset(one.sources), one.time)


_KNOWN: dict[PassageKind, Callable[[ConversationRecord], Iterator[_Known]]] = {
    "message": _messages,
    "note": _notes,
    "fact": _facts,
}
