"""A store in memory, behaving as the others do; gone with the process."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, get_args

from memcore.errors import Conflict, StoreError
from memcore.testing.vectors import InMemoryVectors, Spaces, storable
from memcore.types import (
    LENGTH_BITS,
    LONGEST,
    Cursor,
    Event,
    Located,
    Matches,
    Message,
    Note,
    Owner,
    QueuedPassage,
    Role,
    Summary,
    Unread,
    Writer,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ANY = 2**63 - 1
Dated = TypeVar("Dated", Note, Summary)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A stored message and how often each stem stands in it. Its place is the thread's matter."""

    message: Message
    stems: Counter[str]
    number: int

    @property
    def order(self) -> tuple[datetime, str]:
        return self.message.time, self.message.id


@dataclass(slots=True)
class _Shelf:
    """What is stored of one owner: dictionaries of values that never change, so a copy is cheap."""

    entries: dict[str, _Entry] = field(default_factory=dict)
    threads: dict[str, tuple[tuple[datetime, str], ...]] = field(default_factory=dict)
    notes: dict[str, tuple[Note, ...]] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)
    journal: tuple[Event, ...] = ()
    queue: dict[tuple[str, str], QueuedPassage] = field(default_factory=dict)
    summaries: dict[str, Summary] = field(default_factory=dict)
    cursors: dict[tuple[str, str], Cursor] = field(default_factory=dict)
    learnt: dict[str, bytes] = field(default_factory=dict)
    vectors: Spaces = field(default_factory=dict)

    def copy(self) -> _Shelf:
        return _Shelf(
            dict(self.entries),
            dict(self.threads),
            dict(self.notes),
            dict(self.revisions),
            self.journal,
            dict(self.queue),
            dict(self.summaries),
            dict(self.cursors),
            dict(self.learnt),
            {name: dict(vectors) for name, vectors in self.vectors.items()},
        )


class _Parts:
    """The parts over one committed state. What is written stays in `changed` until it commits."""

    def __init__(self, committed: dict[Owner, _Shelf]) -> None:
        self._committed = committed
        self.changed: dict[Owner, _Shelf] = {}
        self.messages = _Messages(self)
        self.notes = _Notes(self)
        self.journal = _Journal(self)
        self.queue = _Queue(self)
        self.vectors = InMemoryVectors(
            lambda owner: self.read(owner).vectors, lambda owner: self.write(owner).vectors
        )
        self.state = _State(self)

    def read(self, owner: Owner) -> _Shelf:
        storable(owner.team, owner.agent, owner.person)
        return self.changed.get(owner) or self._committed.get(owner) or _Shelf()

    def write(self, owner: Owner) -> _Shelf:
        if owner not in self.changed:
            self.changed[owner] = self.read(owner).copy()
        return self.changed[owner]


class InMemoryStore:
    """A store of plain dictionaries, behaving as the SQLite store does; gone with the process.

    One thread writes at a time; readers see what was committed when they began and never wait.
    """

    def __init__(self) -> None:
        self._shelves: dict[Owner, _Shelf] = {}
        self._writing = threading.Lock()
        self._local = threading.local()
        self._closed = False

    @contextmanager
    def transaction(self) -> Iterator[_Parts]:
        """A write transaction. Raises `StoreError` where this thread has one open already."""
        self._check_open()
        if getattr(self._local, "parts", None) is not None:
            raise StoreError("a transaction is open already in this thread")
        with self._writing, self._using() as parts:
            yield parts
            self._shelves = {**self._shelves, **parts.changed}

    keeps_time = True

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[_Parts]:  # noqa: ARG002 (never waits)
        """The parts as committed last; this thread's open transaction where there is one."""
        self._check_open()
        current: _Parts | None = getattr(self._local, "parts", None)
        if current is not None:
            yield current
            return
        with self._using() as parts:
            yield parts

    def owners(self) -> list[Owner]:
        self._check_open()
        return sorted(self._shelves, key=lambda owner: (owner.team, owner.agent, owner.person))

    def close(self) -> None:
        """Ends the store's use; later calls raise `StoreError`."""
        self._closed = True

    @contextmanager
    def _using(self) -> Iterator[_Parts]:
        self._local.parts = _Parts(self._shelves)
        try:
            yield self._local.parts
        finally:
            self._local.parts = None

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed")


class _Part:
    def __init__(self, parts: _Parts) -> None:
        self._parts = parts


class _Messages(_Part):
    def append(self, owner: Owner, message: Message, stems: Sequence[str]) -> Message:
        storable(message.id, message.thread, message.speaker, message.text, *stems)
        if message.role not in get_args(Role):
            raise StoreError(f"there is no role {message.role!r}")
        shelf = self._parts.write(owner)
        if message.id in shelf.entries:
            raise Conflict(f"message {message.id!r} is stored already")
        number = (len(shelf.entries) + 1) << LENGTH_BITS | min(len(stems), LONGEST)
        entry = _Entry(replace(message, time=_utc(message.time), place=-1), Counter(stems), number)
        thread = shelf.threads.get(message.thread, ())
        place = bisect_left(thread, entry.order)
        shelf.threads[message.thread] = (*thread[:place], entry.order, *thread[place:])
        shelf.entries[message.id] = entry
        return replace(entry.message, place=place)

    def get(self, owner: Owner, ids: Sequence[str]) -> list[Message]:
        storable(*ids)
        shelf = self._parts.read(owner)
        return [_placed(shelf, id) for id in ids if id in shelf.entries]

    def ids(self, owner: Owner, after: str, limit: int) -> list[str]:
        storable(after)
        behind = sorted(id for id in self._parts.read(owner).entries if id > after)
        return behind[: max(limit, 0)]

    def recent(
        self, owner: Owner, thread: str, limit: int, before: int | None = None
    ) -> list[Message]:
        shelf, order = self._thread(owner, thread)
        edge = len(order) if before is None else min(max(before, 0), len(order))
        first = max(edge - max(limit, 0), 0)
        return [
            replace(shelf.entries[order[place][1]].message, place=place)
            for place in reversed(range(first, edge))
        ]

    def span(self, owner: Owner, thread: str, first: int, last: int) -> list[Message]:
        shelf, order = self._thread(owner, thread)
        return [
            replace(shelf.entries[order[place][1]].message, place=place)
            for place in range(max(first, 0), min(last + 1, len(order)))
        ]

    def place_of(self, owner: Owner, thread: str, id: str) -> int | None:
        storable(id)
        shelf, order = self._thread(owner, thread)
        entry = shelf.entries.get(id)
        if entry is None or entry.message.thread != thread:
            return None
        return bisect_left(order, entry.order)

    def matches(self, owner: Owner, stems: Sequence[str]) -> Matches:
        storable(*stems)
        shelf = self._parts.read(owner)
        postings: dict[str, dict[int, int]] = {stem: {} for stem in stems}
        total = 0
        for entry in shelf.entries.values():
            total += entry.number & LONGEST
            for stem in postings.keys() & entry.stems.keys():
                postings[stem][entry.number] = entry.stems[stem]
        documents = len(shelf.entries)
        return Matches(documents, total / documents if documents else 0.0, postings)

    def located(self, owner: Owner, numbers: Sequence[int]) -> list[Located]:
        shelf, wanted = self._parts.read(owner), set(numbers)
        return [_located(shelf, one) for one in shelf.entries.values() if one.number in wanted]

    def located_by_id(self, owner: Owner, ids: Sequence[str]) -> list[Located]:
        storable(*ids)
        shelf = self._parts.read(owner)
        return [_located(shelf, shelf.entries[id]) for id in set(ids) if id in shelf.entries]

    def _thread(self, owner: Owner, thread: str) -> tuple[_Shelf, tuple[tuple[datetime, str], ...]]:
        storable(thread)
        shelf = self._parts.read(owner)
        return shelf, shelf.threads.get(thread, ())


class _Notes(_Part):
    def get(self, owner: Owner, key: str) -> Note | None:
        return next(iter(self.history(owner, key)), None)

    def all(self, owner: Owner) -> list[Note]:
        notes = self._parts.read(owner).notes
        return [self.history(owner, key)[0] for key in sorted(notes, reverse=True)]

    def index(self, owner: Owner) -> list[tuple[str, int]]:
        return [(note.key, len(note.text)) for note in self.all(owner)]

    def last_revision(self, owner: Owner, key: str) -> int:
        return self._parts.read(owner).revisions.get(key, 0)

    def put(self, owner: Owner, note: Note) -> None:
        storable(note.key, note.text)
        if note.writer not in get_args(Writer):
            raise StoreError(f"there is no writer {note.writer!r}")
        shelf = self._parts.write(owner)
        earlier = shelf.notes.get(note.key, ())
        if any(one.revision == note.revision for one in earlier):
            raise StoreError(f"note {note.key!r} has a revision {note.revision} already")
        shelf.notes[note.key] = (*earlier, _written(note))
        shelf.revisions[note.key] = note.revision

    def delete(self, owner: Owner, key: str) -> bool:
        storable(key)
        return self._parts.write(owner).notes.pop(key, None) is not None

    def history(self, owner: Owner, key: str) -> list[Note]:
        storable(key)
        revisions = self._parts.read(owner).notes.get(key, ())
        return sorted(revisions, key=lambda note: -note.revision)


class _Journal(_Part):
    def append(self, owner: Owner, event: Event) -> None:
        storable(event.actor, event.action, event.subject, event.detail)
        shelf = self._parts.write(owner)
        kept = replace(event, time=_utc(event.time), sources=tuple(event.sources))
        shelf.journal = (*shelf.journal, kept)

    def events(self, owner: Owner, limit: int) -> list[Event]:
        return list(reversed(self._parts.read(owner).journal))[: max(limit, 0)]


class _Queue(_Part):
    def add(self, owner: Owner, passage: QueuedPassage) -> None:
        storable(passage.kind, passage.item)
        self._parts.write(owner).queue[passage.kind, passage.item] = passage

    def remove(self, owner: Owner, kind: str, item: str, revision: int | None = None) -> bool:
        storable(kind, item)
        waits = self._parts.read(owner).queue.get((kind, item))
        if waits is None or revision not in (None, waits.revision):
            return False
        del self._parts.write(owner).queue[kind, item]
        return True

    def refused(self, owner: Owner, passage: QueuedPassage, error: str) -> None:
        key = (passage.kind, passage.item)
        storable(*key, error)
        waits = self._parts.read(owner).queue.get(key)
        if waits is not None and waits.revision == passage.revision:
            again = replace(waits, attempts=waits.attempts + 1, error=error)
            self._parts.write(owner).queue[key] = again

    def waiting(self, owner: Owner, limit: int, attempts: int | None = None) -> list[QueuedPassage]:
        fewer = _ANY if attempts is None else attempts
        queue = self._parts.read(owner).queue.values()
        return [one for one in queue if one.attempts < fewer][: max(limit, 0)]

    def count(self, owner: Owner) -> int:
        return len(self._parts.read(owner).queue)


class _State(_Part):
    def summary(self, owner: Owner, thread: str) -> Summary | None:
        storable(thread)
        return self._parts.read(owner).summaries.get(thread)

    def summaries(self, owner: Owner) -> list[Summary]:
        return [one for _, one in sorted(self._parts.read(owner).summaries.items())]

    def put_summary(self, owner: Owner, summary: Summary) -> None:
        storable(summary.thread, summary.text)
        self._parts.write(owner).summaries[summary.thread] = _written(summary)

    def remove_summary(self, owner: Owner, thread: str) -> None:
        self._parts.write(owner).summaries.pop(thread, None)

    def cursor(self, owner: Owner, thread: str, reader: str) -> Cursor | None:
        storable(thread, reader)
        return self._parts.read(owner).cursors.get((thread, reader))

    def advance(
        self, owner: Owner, thread: str, reader: str, expected: Cursor | None, cursor: Cursor
    ) -> bool:
        storable(cursor.message)
        if self.cursor(owner, thread, reader) != expected:
            return False
        moved = Cursor(_utc(cursor.time), cursor.message)
        self._parts.write(owner).cursors[thread, reader] = moved
        return True

    def unread(self, owner: Owner, thread: str, reader: str) -> list[Unread]:
        cursor = self.cursor(owner, thread, reader)
        shelf = self._parts.read(owner)
        order = shelf.threads.get(thread, ())
        first = bisect_right(order, tuple(cursor)) if cursor else 0
        behind = (shelf.entries[id].message for _, id in order[first:])
        return [Unread(first + n, one.role, len(one.text)) for n, one in enumerate(behind)]

    def learnt(self, owner: Owner, provider: str) -> bytes | None:
        return self._parts.read(owner).learnt.get(provider)

    def put_learnt(self, owner: Owner, provider: str, learnt: bytes) -> None:
        self._parts.write(owner).learnt[provider] = learnt


def _located(shelf: _Shelf, entry: _Entry) -> Located:
    return Located(
        entry.number,
        entry.message.id,
        entry.message.thread,
        bisect_left(shelf.threads[entry.message.thread], entry.order),
        (entry.message.time - _EPOCH) // _MICROSECOND,
        len(entry.message.text),
    )


def _placed(shelf: _Shelf, id: str) -> Message:
    entry = shelf.entries[id]
    place = bisect_left(shelf.threads[entry.message.thread], entry.order)
    return replace(entry.message, place=place)


def _written(record: Dated) -> Dated:
    changes: dict[str, Any] = {"written": _utc(record.written), "sources": tuple(record.sources)}
    return replace(record, **changes)


def _utc(time: datetime) -> datetime:
    """The moment in UTC. Raises `TypeError` for a time without a zone, as SQLite's part does."""
    return _EPOCH + (time - _EPOCH)
