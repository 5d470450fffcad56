"""The one place where what is stored becomes vectors: drained from the queue, or re-indexed.

Embedding never happens within a write transaction: texts are read, then embedded, then one
transaction stores the vectors and takes out of the queue what has not changed meanwhile. Whatever a
provider does, what it failed at stays queued and is reported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from memcore import doctor, matrix, passages
from memcore.backoff import Backoff
from memcore.doctor import ATTEMPTS, KINDS, PAGE_OF_IDS, Health
from memcore.embedding import Work, ask, embed, identity_of
from memcore.errors import (
    LayerTimeout,
    ProviderAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    StoreError,
)
from memcore.learning import Learning
from memcore.ports import Clock, Embedder, Store, Transaction
from memcore.settings import Settings
from memcore.types import Matrix, Owner, ProviderIdentity, QueuedPassage

T = TypeVar("T")
BATCH = 100
"""Items that are embedded and stored at once."""

NO_PROVIDER = "no provider is set: name one, for example packaged or tfidf"
_LOCKS = 64


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain did, in items. `waiting` are still queued, refused ones among them; `error` says
    why it ended before the queue did."""

    embedded: int = 0
    refused: int = 0
    waiting: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a re-index did: owners and items looked at, items embedded and refused, items that still
    wait, passages of other identities dropped, the error that ended it, if any, and why the first
    of those refused was."""

    owners: int = 0
    items: int = 0
    embedded: int = 0
    refused: int = 0
    waiting: int = 0
    dropped: int = 0
    error: str = ""
    why_refused: str = ""


class QueryVector(NamedTuple):
    """An incoming text as a vector `[width]`, and the identity whose vectors it may be compared
    with."""

    identity: ProviderIdentity
    vector: Matrix


Progress = Callable[[Owner, int, int], None]
"""Is told the owner, how many of its items are done, and of how many."""


class Within(Protocol):
    """Runs a job and raises `LayerTimeout` after a number of seconds; the job goes on then."""

    def __call__(self, job: Callable[[], T], seconds: float | None) -> T: ...


@dataclass(slots=True)
class _Turnstile:
    """Lets one drain at a time embed for an owner. `late` is one that nobody waits for any more."""

    lock: threading.Lock
    late: threading.Event | None = None


def _at_once(job: Callable[[], T], seconds: float | None) -> T:  # noqa: ARG001
    return job()


class Index:
    """The vectors of every owner over one store, by one embedder or none. Any thread may use it."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        embedder: Embedder | None = None,
        within: Within = _at_once,
    ) -> None:
        self.embedder = embedder
        self._store = store
        self._settings = settings
        self._within = within
        # apart, for a provider may be too busy for hundreds of passages and not for one query
        self._backoff, self._query_backoff = Backoff(clock), Backoff(clock)
        self._learning = Learning(store, embedder)
        self._turnstiles = [_Turnstile(threading.Lock()) for _ in range(_LOCKS)]

    @property
    def last_error(self) -> str:
        """What the provider failed with last; empty since it answered."""
        return self._backoff.last_error or self._query_backoff.last_error

    def embedder_for(self, owner: Owner) -> Embedder | None:
        """What embeds this owner's texts: for one that learns, with what it knows of them."""
        return self._learning.known(owner).embedder

    def identity(self, owner: Owner, seconds: float | None = None) -> ProviderIdentity:
        """Who embeds this owner's texts. Raises `ProviderError`, also while a provider that failed
        at a query is left in peace, and `LayerTimeout` after `seconds`."""
        return self._within_peace(lambda: identity_of(self._embedder(owner)), seconds)

    def query(self, owner: Owner, text: str, seconds: float | None = None) -> QueryVector:
        """The vector of an incoming text, and what it may be compared with.

        Raises what `identity` does, and `InvalidInput` for a text without anything to embed.
        """

        def job() -> QueryVector:
            embedder = self._embedder(owner)
            identity = identity_of(embedder)
            vectors = ask(embedder, [passages.of_query(text)], "query")
            self._query_backoff.succeeded()
            return QueryVector(identity, matrix.check(vectors, identity.width, "the query")[0])

        return self._within_peace(job, seconds)

    def keep_up(self, owner: Owner) -> Drained:
        """Drains for as long as a layer may take; called after every write and before a turn."""
        return self.drain(owner, seconds=self._settings.layer_seconds)

    def drain(
        self, owner: Owner, limit: int | None = None, seconds: float | None = None
    ) -> Drained:
        """Embeds what waits, oldest first: at most `limit` items, no new batch after `seconds`.

        Never raises for a provider or a store that fails: what was not embedded stays queued, and
        the error is returned. Nothing is asked of a provider that failed until its pause is over.
        """
        if self.embedder is None:
            return Drained()
        turnstile = self._turnstiles[hash(owner) % _LOCKS]
        ended = threading.Event()

        def job() -> Drained:
            if not turnstile.lock.acquire(timeout=-1 if seconds is None else seconds):
                ended.set()
                raise LayerTimeout(f"another thread embeds for longer than {seconds:g} seconds")
            try:
                return self._drain(owner, limit, seconds)
            finally:
                turnstile.lock.release()
                ended.set()

        try:
            if error := self._backoff.reason():
                return Drained(waiting=self._count(owner), error=error)
            if turnstile.late is not None and not turnstile.late.is_set():
                return Drained(waiting=self._count(owner), error="the provider is still busy")
            return self._within(job, seconds)
        except LayerTimeout as error:
            turnstile.late = ended
            return Drained(waiting=self._count(owner), error=f"{type(error).__name__}: {error}")
        except StoreError as error:
            return Drained(error=f"{type(error).__name__}: {error}")

    def reindex(
        self,
        owner: Owner | None = None,
        *,
        drop_others: bool = False,
        on_progress: Progress | None = None,
    ) -> Reindexed:
        """Embeds every note and message that has no current vectors, of one owner or of all.

        Each batch is a transaction of its own, so that what was killed goes on where it was. An
        embedder that learns learns afresh. Vectors of other identities stay unless `drop_others`.
        Raises `ProviderRefused` where no provider is set, and `StoreError`; a provider that fails
        ends it, and the error is returned.
        """
        if self.embedder is None:
            raise ProviderRefused(NO_PROVIDER)
        report = Reindexed()
        for one in self._store.owners() if owner is None else [owner]:
            with self._turnstiles[hash(one) % _LOCKS].lock:
                done = self._reindex(one, drop_others, on_progress or (lambda *_: None))
            report = Reindexed(
                report.owners + 1,
                report.items + done.items,
                report.embedded + done.embedded,
                report.refused + done.refused,
                report.waiting + done.waiting,
                report.dropped + done.dropped,
                done.error,
                report.why_refused or done.why_refused,
            )
            if report.error:
                break
        return report

    def health(self, owner: Owner) -> Health:
        """The state of an owner's index. Raises `ProviderError` where the provider cannot say who
        it is."""
        embedder = self.embedder_for(owner)
        identity = identity_of(embedder) if embedder else None
        return doctor.examine(self._store, owner, identity)

    def _within_peace(self, job: Callable[[], T], seconds: float | None) -> T:
        """What the job returns, unless queries are in a pause; a failure begins one."""
        if self.embedder is None:
            raise ProviderRefused(NO_PROVIDER)
        if reason := self._query_backoff.reason():
            raise ProviderUnavailable(reason)
        try:
            return self._within(job, seconds)
        except ProviderAnswer:
            raise  # that may well be about this text alone
        except (ProviderError, LayerTimeout) as error:
            self._query_backoff.failed(error)
            raise

    def _embedder(self, owner: Owner) -> Embedder:
        embedder = self.embedder_for(owner)
        if embedder is None:
            raise ProviderRefused(NO_PROVIDER)
        return embedder

    # ---- what the above are made of; the owner's turnstile is held

    def _drain(self, owner: Owner, limit: int | None, seconds: float | None) -> Drained:
        ends = None if seconds is None else time.monotonic() + seconds
        embedded = refused = 0
        error = ""
        try:
            self._learning.learn_if_due(owner)
            for works in self._batches(owner, limit):
                embedded += sum(work.vectors is not None for work in works)
                refused += sum(bool(work.error) for work in works)
                if ends is not None and time.monotonic() >= ends:
                    break
            self._learning.forget_replaced(owner)
        except ProviderError as caught:
            self._backoff.failed(caught)
            error = self._backoff.reason() or self._backoff.last_error
        return Drained(embedded, refused, self._count(owner), error)

    def _reindex(self, owner: Owner, drop_others: bool, on_progress: Progress) -> Reindexed:
        items = embedded = refused = done = dropped = 0
        error = why = ""
        try:
            self._learning.learn(owner)
            identity = identity_of(self._embedder(owner))
            items = self._queue_what_lacks(owner, identity)
            of = self._count(owner)
            on_progress(owner, 0, of)
            for works in self._batches(owner, None):
                done += len(works)
                embedded += sum(work.vectors is not None for work in works)
                refused += sum(bool(work.error) for work in works)
                why = why or next((work.error for work in works if work.error), "")
                on_progress(owner, done, max(of, done))
            self._learning.forget_replaced(owner)
            dropped = self._drop_others(owner, identity) if drop_others else 0
        except ProviderError as caught:
            self._backoff.failed(caught)
            error = self._backoff.last_error
        waiting = self._count(owner)
        return Reindexed(1, items, embedded, refused, waiting, dropped, error, why)

    def _batches(self, owner: Owner, limit: int | None) -> Iterator[list[Work]]:
        """Embeds and stores what waits, a batch at a time, each item once. Raises `ProviderError`;
        the batches before are stored then."""
        done = 0
        left: set[tuple[str, str]] = set()  # tried already, and still in the queue
        while limit is None or done < limit:
            size = BATCH if limit is None else min(BATCH, limit - done)
            known = self._learning.known(owner)
            with self._store.reading() as parts:
                queue = parts.queue.waiting(owner, size + len(left), ATTEMPTS)
                fresh = [one for one in queue if (one.kind, one.item) not in left][:size]
                works = [_read(parts, owner, one) for one in fresh]
            if not works or known.embedder is None:
                return
            identity = identity_of(known.embedder)
            embed(known.embedder, identity, works)
            self._backoff.succeeded()
            with self._store.transaction() as tx:
                # where it was learnt afresh meanwhile, all wait again, to be known anew
                still = self._learning.still(tx, owner, known)
                for work in works:
                    if not (still and _keep(tx, owner, identity, work)):
                        left.add((work.queued.kind, work.queued.item))
            done += len(works)
            yield works
            if len(works) < size:
                return

    def _queue_what_lacks(self, owner: Owner, identity: ProviderIdentity) -> int:
        """Queues the items without current vectors, and the vectors without an item, which are
        taken out where they would be embedded; returns how many items there are."""
        count = 0
        for kind in KINDS:
            with self._store.reading() as parts:
                items = doctor.revisions(parts, owner, kind)
                have = parts.vectors.revisions(owner, identity, kind)
                gone = sorted(doctor.orphans(parts, owner, kind, items))
            count += len(items)
            lacking = [key for key in items if have.get(key) != items[key]] + gone
            for first in range(0, len(lacking), PAGE_OF_IDS):
                with self._store.transaction() as tx:
                    for item in lacking[first : first + PAGE_OF_IDS]:
                        newest = _read(tx, owner, QueuedPassage(kind, item, 0)).revision
                        tx.queue.add(owner, QueuedPassage(kind, item, newest))
        return count

    def _drop_others(self, owner: Owner, identity: ProviderIdentity) -> int:
        with self._store.transaction() as tx:
            others = {one for one, _ in tx.vectors.counts(owner)} - {identity}
            return sum(tx.vectors.drop(owner, one) for one in others)

    def _count(self, owner: Owner) -> int:
        with self._store.reading() as parts:
            return parts.queue.count(owner)


def _read(parts: Transaction, owner: Owner, queued: QueuedPassage) -> Work:
    """A queued item with its texts as they are now."""
    if queued.kind == "note":
        note = parts.notes.get(owner, queued.item)
        if note is not None:
            return Work(queued, note.revision, passages.of_note(note))
    else:
        for message in parts.messages.get(owner, [queued.item]):
            return Work(queued, 1, passages.of_message(message))
    return Work(queued, queued.revision, None)


def _keep(tx: Transaction, owner: Owner, identity: ProviderIdentity, work: Work) -> bool:
    """Stores what became of an item, unless it was written anew, deleted or done meanwhile.

    Returns whether it was taken out of the queue.
    """
    kind, item, revision = work.queued.kind, work.queued.item, work.queued.revision
    if work.error:
        tx.queue.refused(owner, work.queued, work.error)
        return False
    if not tx.queue.remove(owner, kind, item, revision):
        return False
    if work.vectors is not None:
        tx.vectors.put(owner, identity, kind, item, work.revision, work.vectors)
    else:
        tx.vectors.remove(owner, kind, item)
    return True
