"""The vectors of a store in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memcore import matrix
from memcore.errors import InvalidInput
from memcore.types import Matrix, Near, Owner, PassageKind, ProviderIdentity

Spaces = dict[tuple[ProviderIdentity, PassageKind], dict[str, tuple[int, Matrix]]]
"""By namespace and item: the item's revision, and the vectors of its passages."""


class InMemoryVectors:
    """The vectors of a store in memory. `read` and `write` give what an owner has."""

    def __init__(self, read: Callable[[Owner], Spaces], write: Callable[[Owner], Spaces]) -> None:
        self._read = read
        self._write = write

    def put(
        self,
        owner: Owner,
        identity: ProviderIdentity,
        kind: PassageKind,
        item: str,
        revision: int,
        vectors: Matrix,
    ) -> None:
        storable(item)
        rows = matrix.check(vectors, identity.width, item).copy()
        space = self._write(owner).setdefault((identity, kind), {})
        space[item] = (revision, rows)

    def remove(self, owner: Owner, kind: PassageKind, item: str) -> None:
        storable(item)
        for (_, of_kind), space in self._write(owner).items():
            if of_kind == kind:
                space.pop(item, None)

    def nearest(
        self,
        owner: Owner,
        identity: ProviderIdentity,
        kind: PassageKind,
        query: Matrix,
        limit: int,
        among: Sequence[str] = (),
    ) -> list[Near]:
        [wanted] = matrix.check(query[np.newaxis], identity.width, "the query")
        space = self._read(owner).get((identity, kind), {})
        passages = matrix.Passages(identity.width, sum(len(rows) for _, rows in space.values()))
        for item, (_, rows) in space.items():
            passages.add([item] * len(rows), rows)
        return passages.nearest(wanted, limit, among)

    def revisions(
        self, owner: Owner, identity: ProviderIdentity, kind: PassageKind
    ) -> dict[str, int]:
        space = self._read(owner).get((identity, kind), {})
        return {item: revision for item, (revision, _) in space.items()}

    def counts(self, owner: Owner) -> dict[tuple[ProviderIdentity, PassageKind], int]:
        spaces = self._read(owner)
        found = {name: sum(len(rows) for _, rows in one.values()) for name, one in spaces.items()}
        return {name: count for name, count in found.items() if count}

    def drop(self, owner: Owner, identity: ProviderIdentity) -> int:
        held = self.counts(owner)
        spaces = self._write(owner)
        for name in [name for name in spaces if name[0] == identity]:
            del spaces[name]
        return sum(count for (one, _), count in held.items() if one == identity)


def storable(*texts: str) -> None:
    """Raises `InvalidInput` for a lone surrogate, which no store can hold."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"a lone surrogate cannot be stored: {text!a}") from None
