"""What `memcore` needs of the outside, as small protocols.

A store is a handful of parts, each with a few verbs, joined by a transaction. A backend implements
each part in a file of its own; callers know only these names.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from memcore.types import (
    Event,
    Located,
    Matches,
    Message,
    Note,
    Owner,
    QueuedPassage,
    Summary,
)


class Clock(Protocol):
    """Where time comes from; never the wall clock inside `memcore`."""

    def now(self) -> datetime:
        """The present moment, aware."""
        ...


class Messages(Protocol):
    """Append-only messages, ordered in each thread by (time, id)."""

    def append(self, owner: Owner, message: Message, stems: Sequence[str]) -> Message:
        """Stores the message and its stems; returns it with its place in the thread.

        Raises `Conflict` where the owner has a message of that id.
        """
        ...

    def get(self, owner: Owner, ids: Sequence[str]) -> list[Message]:
        """The messages of these ids that exist, in the order asked."""
        ...

    def recent(
        self, owner: Owner, thread: str, limit: int, before: int | None = None
    ) -> list[Message]:
        """The newest messages of a thread, newest first; `before` is a place, exclusive."""
        ...

    def span(self, owner: Owner, thread: str, first: int, last: int) -> list[Message]:
        """The messages of a thread at places `first` to `last`, both included, oldest first."""
        ...

    def place_of(self, owner: Owner, thread: str, id: str) -> int | None:
        """Where in its thread a message stands, None where it is not stored."""
        ...

    def matches(self, owner: Owner, stems: Sequence[str]) -> Matches:
        """Every message of the owner in which a stem stands."""
        ...

    def located(self, owner: Owner, numbers: Sequence[int]) -> list[Located]:
        """Where the messages of these numbers stand, in any order."""
        ...


class Notes(Protocol):
    """Notes and their earlier revisions. Only the write gate of `memcore.notes` writes here."""

    def get(self, owner: Owner, key: str) -> Note | None: ...

    def all(self, owner: Owner) -> list[Note]:
        """The page first, then dated notes, newest day first."""
        ...

    def index(self, owner: Owner) -> list[tuple[str, int]]:
        """The key and the number of characters of each note, in the order of `all`."""
        ...

    def put(self, owner: Owner, note: Note) -> None:
        """Stores a note, keeping what it replaces as history."""
        ...

    def delete(self, owner: Owner, key: str) -> bool:
        """Removes a note and all its revisions; False where there was none."""
        ...

    def history(self, owner: Owner, key: str) -> list[Note]:
        """All revisions, newest first."""
        ...

    def last_revision(self, owner: Owner, key: str) -> int:
        """The highest revision the key ever had, deleted ones included; 0 where it had none."""
        ...


class Journal(Protocol):
    """What was done, in order. Holds no text of notes or messages."""

    def append(self, owner: Owner, event: Event) -> None: ...

    def events(self, owner: Owner, limit: int) -> list[Event]:
        """Newest first."""
        ...


class Queue(Protocol):
    """Passages that wait to be embedded."""

    def add(self, owner: Owner, passage: QueuedPassage) -> None:
        """Queues an item, in place of an earlier revision of it that waits."""
        ...

    def remove(self, owner: Owner, kind: str, item: str) -> None: ...

    def waiting(self, owner: Owner, limit: int) -> list[QueuedPassage]:
        """Oldest first."""
        ...


class State(Protocol):
    """Small records that are overwritten: a thread's summary."""

    def summary(self, owner: Owner, thread: str) -> Summary | None: ...

    def put_summary(self, owner: Owner, summary: Summary) -> None: ...


class Transaction(Protocol):
    """The parts of a store, joined: what is written commits together or not at all."""

    @property
    def messages(self) -> Messages: ...
    @property
    def notes(self) -> Notes: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def queue(self) -> Queue: ...
    @property
    def state(self) -> State: ...


class Store(Protocol):
    """A place where memory is kept."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A write transaction: commits when the block ends, rolls back when it raises."""
        ...

    def reading(self, seconds: float | None = None) -> AbstractContextManager[Transaction]:
        """The parts for reading only, as of one moment; may be used from any thread.

        A store that `keeps_time` ends what takes longer than `seconds` with `LayerTimeout`.
        """
        ...

    @property
    def keeps_time(self) -> bool:
        """Whether `reading` keeps to its time limit by itself; else a thread watches over it."""
        ...

    def close(self) -> None: ...
