"""What `memcore` needs of the outside, as small protocols.

A store is a handful of parts, each with a few verbs, joined by a transaction. A backend implements
each part in a file of its own; callers know only these names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from memcore.dialogue import Outcome, Reply, Spoken, ToolSpec
from memcore.types import (
    Cursor,
    EmbedRole,
    Event,
    Located,
    Matches,
    Matrix,
    Message,
    Near,
    Note,
    Owner,
    PassageKind,
    ProviderIdentity,
    QueuedPassage,
    Summary,
    Unread,
)


class Clock(Protocol):
    """Where time comes from; never the wall clock inside `memcore`."""

    def now(self) -> datetime:
        """The present moment, aware."""
        ...


class Embedder(Protocol):
    """What turns text into vectors. May be called from any thread."""

    @property
    def identity(self) -> ProviderIdentity:
        """What its vectors are known by. May ask the provider once; raises `ProviderError`."""
        ...

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        """A vector for each text, float32 `[n, width]`, each of length 1 ± 1e-5.

        `role` says whether the texts are what is searched for or what is searched, for models that
        tell them apart. Raises `InvalidInput` for a text without any character to embed and
        `ProviderError`.
        """
        ...


@runtime_checkable
class LearningEmbedder(Embedder, Protocol):
    """An embedder that learns from an owner's own texts. What it learnt is stored beside the
    vectors and is part of its identity's revision."""

    def learn(self, texts: Sequence[str]) -> bytes:
        """What there is to know of these texts."""
        ...

    def knowing(self, learnt: bytes) -> Embedder:
        """The embedder that knows this. Raises `InvalidInput` for bytes that `learn` never made."""
        ...


class Proposer(Protocol):
    """What proposes lines for notes: a model behind a prompt. May be called from any thread."""

    def propose(self, messages: Sequence[Message], page: Note | None) -> str:
        """Lines that deserve to outlive what was said, as JSON text:

            {"lines": [{"text": "…", "sources": ["m1"], "lasting": true, "updates": "…"}]}

        `sources` are ids of the messages given, `lasting` lines belong on the page (false where
        it is left out), `updates` is the line of the page that is out of date now (may be left
        out). No lines are a valid answer. Whatever it raises leaves everything as it was.
        """
        ...


class Brain(Protocol):
    """A model that answers. May be called from any thread."""

    @property
    def name(self) -> str:
        """What it is known by in runs and errors; never holds a key."""
        ...

    def complete(
        self,
        system: str,
        messages: Sequence[Spoken],
        tools: Sequence[ToolSpec] = (),
        *,
        seconds: float | None = None,
    ) -> Reply:
        """The model's reply to the last of `messages`. Without `tools` it calls none.

        Takes at most `seconds`, retries included, where that is less than its own limit. Raises
        `InvalidRequest` and `ProviderError`.
        """
        ...


class Summarizer(Protocol):
    """What sums a conversation up: a model behind a prompt. May be called from any thread."""

    def summarize(self, messages: Sequence[Message], limit: int) -> str:
        """What these messages say, in at most `limit` characters, as lines of the JSON text that
        `Proposer.propose` returns. Whatever it raises leaves the earlier summary as it was."""
        ...


class Toolbox(Protocol):
    """The tools of one turn, bound to its owner: no argument of theirs can widen that."""

    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    def run(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """What the call gave. Never raises: what is wrong is an outcome that the model can act on.

        An unknown name and arguments of any kind are answered too.
        """
        ...


class Verdict(Protocol):
    """Whether messages support a line, and why not."""

    @property
    def ok(self) -> bool: ...
    @property
    def reason(self) -> str: ...


Check = Callable[[str, Sequence[Message]], Verdict]
"""Tells whether the messages that a line cites support it."""


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

    def ids(self, owner: Owner, after: str, limit: int) -> list[str]:
        """Ids of the owner's messages in rising order, from the first behind `after` on; "" is
        before all."""
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

    def located_by_id(self, owner: Owner, ids: Sequence[str]) -> list[Located]:
        """Where the messages of these ids stand that exist, in any order."""
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

    def remove(
        self, owner: Owner, kind: PassageKind, item: str, revision: int | None = None
    ) -> bool:
        """Takes an item out; with `revision` only where that revision of it waits. Returns whether
        it was taken out."""
        ...

    def refused(self, owner: Owner, passage: QueuedPassage, error: str) -> None:
        """Notes that a provider refused this revision of an item: one more attempt, and why."""
        ...

    def waiting(self, owner: Owner, limit: int, attempts: int | None = None) -> list[QueuedPassage]:
        """Oldest first. With `attempts`, only those that were refused fewer times than that."""
        ...

    def count(self, owner: Owner) -> int:
        """How many items wait."""
        ...


class Vectors(Protocol):
    """Vectors of passages, apart by owner (with its team), kind and identity: in a namespace.

    A vector is L2-normalised float32, little-endian. Another identity's vectors are invisible.
    """

    def put(
        self,
        owner: Owner,
        identity: ProviderIdentity,
        kind: PassageKind,
        item: str,
        revision: int,
        vectors: Matrix,
    ) -> None:
        """Stores the vectors of an item's passages `[n, width]`, in place of those it had of this
        identity. None at all (`n` = 0) is kept too: the item has nothing to embed.

        Raises `InvalidInput`, naming the item, for a vector whose length is not 1 ± 1e-5, one that
        is not finite, or one of another width than the identity's.
        """
        ...

    def remove(self, owner: Owner, kind: PassageKind, item: str) -> None:
        """Removes an item's vectors of every identity."""
        ...

    def nearest(
        self,
        owner: Owner,
        identity: ProviderIdentity,
        kind: PassageKind,
        query: Matrix,
        limit: int,
        among: Sequence[str] = (),
    ) -> list[Near]:
        """Items by their best passage's cosine to the query `[width]`, best first, ties by item:
        the best `limit`, and besides them those of `among` that have a vector.
        """
        ...

    def revisions(
        self, owner: Owner, identity: ProviderIdentity, kind: PassageKind
    ) -> dict[str, int]:
        """The revision of each item that has vectors of this identity."""
        ...

    def counts(self, owner: Owner) -> dict[tuple[ProviderIdentity, PassageKind], int]:
        """How many passages each namespace of the owner holds; those with none are left out."""
        ...

    def drop(self, owner: Owner, identity: ProviderIdentity) -> int:
        """Removes all vectors of an identity; returns how many passages."""
        ...


class State(Protocol):
    """Small records that are overwritten: a thread's summary, how far it has been read."""

    def summary(self, owner: Owner, thread: str) -> Summary | None: ...

    def summaries(self, owner: Owner) -> list[Summary]:
        """The summaries of all the owner's threads, by thread."""
        ...

    def put_summary(self, owner: Owner, summary: Summary) -> None: ...

    def remove_summary(self, owner: Owner, thread: str) -> None:
        """Removes a thread's summary, where there is one."""
        ...

    def cursor(self, owner: Owner, thread: str, reader: str) -> Cursor | None:
        """How far a reader has come in a thread, None where it has not begun."""
        ...

    def advance(
        self, owner: Owner, thread: str, reader: str, expected: Cursor | None, cursor: Cursor
    ) -> bool:
        """Moves a reader's cursor where it stands at `expected`; returns whether it did."""
        ...

    def unread(self, owner: Owner, thread: str, reader: str) -> list[Unread]:
        """What stands in a thread behind a reader's cursor, oldest first.

        A message that is stored late, dated before the cursor, is not among it. A cursor whose
        message is gone stands where that was.
        """
        ...

    def learnt(self, owner: Owner, provider: str) -> bytes | None:
        """What a learning embedder knows of the owner's texts."""
        ...

    def put_learnt(self, owner: Owner, provider: str, learnt: bytes) -> None: ...


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
    def vectors(self) -> Vectors: ...
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

    def owners(self) -> list[Owner]:
        """Everybody whose memory is here, by team, agent, person."""
        ...

    def close(self) -> None: ...
