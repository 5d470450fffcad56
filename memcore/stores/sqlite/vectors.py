"""Vectors in their namespaces, and copies of them in memory that searches run over."""

from __future__ import annotations

import sqlite3
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memcore import matrix
from memcore.stores.sqlite.owners import Owners
from memcore.stores.sqlite.statements import statements
from memcore.types import Matrix, Near, Owner, PassageKind, ProviderIdentity

_SQL = statements("vectors")
_ROWS = 1_024
"""Rows read from the file at once."""

MOST = 2**30
"""Bytes of vectors that a store keeps in memory before it lets go of those searched longest ago."""


class _Space(NamedTuple):
    """A namespace as one snapshot has it."""

    key: int
    version: int
    removals: int
    passages: int


class _Mirror:
    """The vectors of one namespace in memory. Holds every row up to a number that the snapshots
    seen so far had; a reading that was interrupted goes on from there."""

    def __init__(self, width: int) -> None:
        self.lock = threading.Lock()
        self.nbytes = 0
        self._width = width
        self._passages: matrix.Passages | None = None
        self._numbers = array("q")  # by row of the passages; 0 where the row is free
        self._last = 0
        self._version = -1
        self._removals = -1

    def follow(self, connection: sqlite3.Connection, space: _Space) -> matrix.Passages:
        """The passages, brought up to a snapshot that is newer than all before it.

        For an older snapshot they are left as they are: a search may then return items that it does
        not hold yet, or miss one that is gone meanwhile, and who cannot read an item drops it.
        """
        if self._passages is None:
            self._passages = matrix.Passages(self._width, space.passages)
            self._removals = space.removals
        if space.version > self._version:
            rows = connection.execute(_SQL["rows"], (space.key, self._last))
            while some := rows.fetchmany(_ROWS):
                self._add(some, self._passages)
            if space.removals != self._removals:
                self._drop(connection, space.key, self._passages)
            self._version, self._removals = space.version, space.removals
        return self._passages

    def _add(self, rows: list[tuple[int, str, bytes]], passages: matrix.Passages) -> None:
        numbers, items, data = zip(*rows, strict=True)
        vectors = matrix.unpack(b"".join(data)).reshape(len(rows), self._width)
        for row, number in zip(passages.add(items, vectors), numbers, strict=True):
            if row < len(self._numbers):
                self._numbers[row] = number
            else:
                self._numbers.append(number)
        self._last = numbers[-1]
        self.nbytes = passages.nbytes

    def _drop(self, connection: sqlite3.Connection, key: int, passages: matrix.Passages) -> None:
        """Takes out what the snapshot does not hold."""
        here = array("q", (row[0] for row in connection.execute(_SQL["numbers"], (key,))))
        held = np.array(self._numbers)
        gone = np.flatnonzero((held > 0) & ~np.isin(held, np.array(here))).tolist()
        passages.remove(gone)
        for row in gone:
            self._numbers[row] = 0
        # Rows newer than the snapshot, left by an interrupted reading of a newer one, went too.
        self._last = max(here, default=0)


class Mirrors:
    """What a store keeps of its namespaces in memory, for all its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Mirror] = OrderedDict()

    def get(self, key: int, width: int) -> _Mirror:
        with self._lock:
            mirror = self._kept.setdefault(key, _Mirror(width))
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(one.nbytes for one in self._kept.values()) > MOST:
                self._kept.popitem(last=False)
            return mirror

    def forget(self, key: int) -> None:
        with self._lock:
            self._kept.pop(key, None)


class SqliteVectors:
    def __init__(self, connection: sqlite3.Connection, owners: Owners, mirrors: Mirrors) -> None:
        self._connection = connection
        self._owners = owners
        self._mirrors = mirrors
        self._unsettled = False
        self._written: dict[tuple[int, ProviderIdentity, PassageKind], int] = {}

    def settle(self) -> None:
        """Call it at the end of a transaction or a reading: what was written is kept or gone."""
        self._unsettled = False
        self._written.clear()

    def put(
        self,
        owner: Owner,
        identity: ProviderIdentity,
        kind: PassageKind,
        item: str,
        revision: int,
        vectors: Matrix,
    ) -> None:
        rows = matrix.check(vectors, identity.width, item)
        self._unsettled = True
        run, key = self._connection.execute, self._key(self._owners.ensure(owner), identity, kind)
        gone = self._remove(key, item)
        if len(rows):
            self._connection.executemany(
                _SQL["insert"],
                [(key, item, part, revision, matrix.pack(row)) for part, row in enumerate(rows)],
            )
        else:
            run(_SQL["insert"], (key, item, -1, revision, None))
        run(_SQL["changed"], (int(gone > 0), len(rows) - gone, key))

    def remove(self, owner: Owner, kind: PassageKind, item: str) -> None:
        run = self._connection.execute
        for (key,) in run(_SQL["of_kind"], (self._owners.find(owner), kind)).fetchall():
            if gone := self._remove(key, item):
                run(_SQL["changed"], (1, -gone, key))
                self._unsettled = True

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
        space = self._space(self._owners.find(owner), identity, kind)
        if space is None:
            return []
        if self._unsettled:  # what this transaction wrote may be rolled back: nobody else sees it
            return self._read(space, identity.width).nearest(wanted, limit, among)
        mirror = self._mirrors.get(space.key, identity.width)
        with mirror.lock:
            return mirror.follow(self._connection, space).nearest(wanted, limit, among)

    def revisions(
        self, owner: Owner, identity: ProviderIdentity, kind: PassageKind
    ) -> dict[str, int]:
        space = self._space(self._owners.find(owner), identity, kind)
        if space is None:
            return {}
        return dict(self._connection.execute(_SQL["revisions"], (space.key,)).fetchall())

    def counts(self, owner: Owner) -> dict[tuple[ProviderIdentity, PassageKind], int]:
        rows = self._connection.execute(_SQL["counts"], (self._owners.find(owner),))
        return {(ProviderIdentity(*row[:4]), row[4]): row[5] for row in rows}

    def drop(self, owner: Owner, identity: ProviderIdentity) -> int:
        run, dropped = self._connection.execute, 0
        named = (identity.provider, identity.model, identity.revision, identity.width)
        asked = (self._owners.find(owner), *named)
        for key, passages in run(_SQL["of_identity"], asked).fetchall():
            self._unsettled = True
            run(_SQL["remove_all"], (key,))
            run(_SQL["changed"], (1, -passages, key))
            self._mirrors.forget(key)
            dropped += passages
        return dropped

    def _key(self, owner: int, identity: ProviderIdentity, kind: PassageKind) -> int:
        """The key of a namespace, new where needed; remembered while the transaction lasts."""
        key = self._written.get((owner, identity, kind))
        if key is None:
            space = self._space(owner, identity, kind)
            if space is not None:
                key = space.key
            else:
                named = (identity.provider, identity.model, identity.revision, identity.width)
                row = (owner, kind, *named)
                key = self._connection.execute(_SQL["new_namespace"], row).lastrowid or 0
            self._written[owner, identity, kind] = key
        return key

    def _space(
        self, owner: int | None, identity: ProviderIdentity, kind: PassageKind
    ) -> _Space | None:
        named = (kind, identity.provider, identity.model, identity.revision, identity.width)
        row = self._connection.execute(_SQL["namespace"], (owner, *named)).fetchone()
        return None if row is None else _Space(*row)

    def _remove(self, key: int, item: str) -> int:
        """Removes an item's vectors from a namespace; returns how many passages that were."""
        rows = self._connection.execute(_SQL["remove"], (key, item)).fetchall()
        return sum(part >= 0 for (part,) in rows)

    def _read(self, space: _Space, width: int) -> matrix.Passages:
        mirror = _Mirror(width)
        return mirror.follow(self._connection, space)
