"""What a learning embedder knows of each owner's texts: when it learns, and what follows from that.

It learns of each owner apart, so that no tenant's texts move another's vectors.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import cast

from memcore import doctor, passages
from memcore.embedding import identity_of
from memcore.errors import InvalidInput, ProviderError, ProviderUnavailable
from memcore.ports import Embedder, LearningEmbedder, Store, Transaction
from memcore.types import Owner, QueuedPassage

LEARN_UP_TO = 4_096
"""Items. It learns afresh when an owner has 1, 2, 4 … as many; beyond that at a re-index alone."""

_REMEMBERED = 1_000
_COUNT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Known:
    """An embedder with what it knows of an owner. `kept` is that as it is stored: the number of
    items that it learnt from, then what it learnt."""

    embedder: Embedder | None
    kept: bytes | None = None

    @property
    def items(self) -> int:
        return int.from_bytes(self.kept[:_COUNT_BYTES]) if self.kept else 0


class Learning:
    """The embedder for each owner, over one store. One that does not learn is the same for all."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self._embedder = embedder
        self._learner: LearningEmbedder | None = None
        if hasattr(type(embedder), "learn") and hasattr(type(embedder), "knowing"):
            self._learner = cast(LearningEmbedder, embedder)
        self._known: OrderedDict[Owner, Known] = OrderedDict()

    def known(self, owner: Owner) -> Known:
        """The embedder with what is stored for this owner; as it came where nothing is, or where
        what is stored is none of its own. Raises `ProviderError`."""
        if self._learner is None:
            return Known(self._embedder)
        with self._store.reading() as parts:
            kept = parts.state.learnt(owner, identity_of(self._learner).provider)
        known = self._known.get(owner)
        if known is None or known.kept != kept:
            known = Known(self._learner)
            if kept is not None:
                try:
                    known = Known(self._learner.knowing(kept[_COUNT_BYTES:]), kept)
                except InvalidInput:  # of another version of it: learnt again at the next drain
                    known = Known(self._learner)
            self._known[owner] = known
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known

    def still(self, tx: Transaction, owner: Owner, known: Known) -> bool:
        """Whether nobody has learnt afresh since; all items were queued again then."""
        if self._learner is None:
            return True
        return tx.state.learnt(owner, identity_of(self._learner).provider) == known.kept

    def learn_if_due(self, owner: Owner) -> None:
        """Learns afresh when the number of items has come to the next power of two."""
        if self._learner is None:
            return
        due = 1 << self.known(owner).items.bit_length()
        if due > LEARN_UP_TO:
            return
        with self._store.reading() as parts:
            items = parts.messages.matches(owner, ()).documents + len(parts.notes.index(owner))
        if items >= due:
            self.learn(owner)

    def learn(self, owner: Owner) -> None:
        """Learns from all texts of the owner. Where that changes what it knows, every item is
        queued again in the same transaction. Raises `ProviderError`."""
        if self._learner is None:
            return
        provider = identity_of(self._learner).provider
        with self._store.reading() as parts:
            before = parts.state.learnt(owner, provider)
            texts, count = _texts(parts, owner)
        if count == 0:
            return
        try:
            learnt = self._learner.learn(texts)
        except ProviderError:
            raise
        except Exception as error:
            raise ProviderUnavailable(f"{type(error).__name__}: {error}") from error
        with self._store.transaction() as tx:
            if tx.state.learnt(owner, provider) != before:
                return  # another process was quicker
            tx.state.put_learnt(owner, provider, count.to_bytes(_COUNT_BYTES) + learnt)
            if before is None or before[_COUNT_BYTES:] != learnt:
                for kind in doctor.KINDS:
                    for item, revision in doctor.revisions(tx, owner, kind).items():
                        tx.queue.add(owner, QueuedPassage(kind, item, revision))

    def forget_replaced(self, owner: Owner) -> None:
        """Drops the vectors of what it knew before, once nothing waits any more."""
        if self._learner is None:
            return
        known = self.known(owner)
        if known.embedder is None:
            return
        now = identity_of(known.embedder)
        with self._store.reading() as parts:
            if parts.queue.waiting(owner, 1, doctor.ATTEMPTS):
                return
            old = {one for one, _ in parts.vectors.counts(owner) if one.provider == now.provider}
        if old := old - {now}:
            with self._store.transaction() as tx:
                for one in old:
                    tx.vectors.drop(owner, one)


def _texts(parts: Transaction, owner: Owner) -> tuple[list[str], int]:
    """The passages of every item of the owner, in a fixed order, and the number of items."""
    texts: list[str] = []
    notes = parts.notes.all(owner)
    for note in notes:
        texts += passages.of_note(note)
    count, last = len(notes), ""
    while ids := parts.messages.ids(owner, last, doctor.PAGE_OF_IDS):
        for message in parts.messages.get(owner, ids):
            texts += passages.of_message(message)
        count, last = count + len(ids), ids[-1]
    return texts, count
