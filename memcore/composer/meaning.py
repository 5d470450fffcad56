"""What the turn's message means: asked of the provider once, before any layer is read."""

from __future__ import annotations

import time as clocks
from collections.abc import Mapping
from dataclasses import dataclass, field

from memcore.errors import MnemoscopeError
from memcore.indexing import Index
from memcore.ports import Store, Transaction
from memcore.settings import Settings
from memcore.types import (
    Cutoff,
    Matrix,
    Near,
    Owner,
    PassageKind,
    ProviderIdentity,
    VectorAccount,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The message as a vector, and which kinds of passages it can be compared with.

    `vector` is None where there is none: no provider is set, it failed, or it was not asked. `lack`
    says which, for the account.
    """

    vector: Matrix | None = None
    identity: ProviderIdentity | None = None
    kinds: frozenset[PassageKind] = field(default_factory=frozenset)
    lack: str = "no provider is set"
    account: VectorAccount | None = None

    def reaches(self, kind: PassageKind) -> bool:
        """Whether anything of that kind can be found by it."""
        return self.vector is not None and kind in self.kinds

    def why_not(self, kind: PassageKind) -> str:
        """Why nothing of that kind can be found by it."""
        return self.lack or f"no {kind} has a vector of {self.identity} yet"

    def near(
        self,
        parts: Transaction,
        owner: Owner,
        kind: PassageKind,
        limit: int,
        among: tuple[str, ...],
    ) -> list[Near]:
        """The best `limit` items of a kind and those of `among`; nothing where it reaches none."""
        if self.vector is None or self.identity is None or kind not in self.kinds:
            return []
        return parts.vectors.nearest(owner, self.identity, kind, self.vector, limit, among)

    def cutoff(self, settings: Settings, kind: PassageKind) -> Cutoff | None:
        """The cutoff that was calibrated for exactly these vectors."""
        return settings.cutoff(self.identity, kind) if self.identity else None


def ask(
    store: Store, index: Index | None, owner: Owner, text: str, words: int, settings: Settings
) -> Meaning:
    """The meaning of a message with so many real words; too few are not worth asking about.

    Never raises for a provider or a store that fails or hangs: the turn is then composed without,
    and the account says why.
    """
    if index is None or index.embedder is None:
        return Meaning()
    began = clocks.perf_counter()
    vector, lack, error = None, "", ""
    identity: ProviderIdentity | None = None
    counts: dict[tuple[ProviderIdentity, PassageKind], int] = {}
    waiting = 0
    try:
        with store.reading(settings.layer_seconds) as parts:
            counts = parts.vectors.counts(owner)
            waiting = parts.queue.count(owner)
    except MnemoscopeError as problem:
        lack = error = _told(problem)
    try:
        if not lack and words >= settings.min_real_words and _needed(settings, counts):
            identity, vector = index.query(owner, text, settings.layer_seconds)
        else:
            lack = lack or "the message has too few real words"
            identity = index.identity(owner, settings.layer_seconds)
    except Exception as problem:  # whatever a provider does, the turn is composed
        lack = error = _told(problem)
    kinds = frozenset(kind for one, kind in counts if one == identity)
    others = sum(held for (one, _), held in counts.items() if one != identity)
    spent = (clocks.perf_counter() - began) * 1000
    account = VectorAccount(identity, others if identity else 0, waiting, error, spent)
    return Meaning(vector, identity, kinds, lack, account)


def _needed(settings: Settings, counts: Mapping[tuple[ProviderIdentity, PassageKind], int]) -> bool:
    """Whether a layer can use the message's vector at all; asking a provider is not free."""
    searches = settings.search_mode != "lexical" and min(
        settings.excerpts_cap, settings.excerpts_limit
    )
    return bool(searches) or (settings.notes_cap > 0 and any(kind == "note" for _, kind in counts))


def told(cutoff: Cutoff | None) -> str:
    """A cutoff in words."""
    return f"cutoff {cutoff.cutoff:.4g}" if cutoff else "cutoff not calibrated"


def _told(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"
