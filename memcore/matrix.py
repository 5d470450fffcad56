"""Vectors as numbers: how they are kept, what is accepted, and the exact search over many of them.

A vector is L2-normalised float32; in a store it is its little-endian bytes, four a number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memcore.errors import InvalidInput
from memcore.types import Matrix, Near

Numbers = NDArray[np.float64]
Floats = TypeVar("Floats", Matrix, Numbers)

TOLERANCE = 1e-5
"""How far from 1 the length of a vector may be."""

BLOCK = 4_096
"""Rows that are allocated at once. Pages that no row has reached take no memory."""

_FEW = 20
"""Passages from which on their mean says more than nothing: it counts by `n / (n + _FEW)`."""

_ALIKE = 1e-5
"""Below it a length or a spread is what rounding left of zero."""

_SLACK = 1e-5
"""More than a float32 product of unit vectors can be off by. What comes within it of the last
place wanted is scored again in float64, so that no rounding of the product decides an order."""


def pack(vector: Matrix) -> bytes:
    """The bytes of a vector `[width]`: float32, little-endian."""
    return vector.astype("<f4", copy=False).tobytes()


def unpack(data: bytes) -> Matrix:
    """The vector `[width]` of its bytes; of several one after another, all in one row."""
    return np.frombuffer(data, "<f4").astype(np.float32, copy=False)


def none(width: int) -> Matrix:
    """No vector at all `[0, width]`, for an item with nothing to embed."""
    return np.empty((0, width), np.float32)


def check(vectors: Matrix, width: int, item: str) -> Matrix:
    """The vectors of an item as float32 `[n, width]`; `n` may be 0.

    Raises `InvalidInput`, naming the item, for a vector of another width, one that is not finite,
    or one whose length is not 1 ± 1e-5, zero among them.
    """
    rows = np.asarray(vectors, np.float32)
    if rows.size == 0 and rows.ndim <= 2:
        return none(width)
    if rows.ndim != 2 or rows.shape[1] != width:
        raise InvalidInput(
            f"the vectors of {item!r} have the shape {list(rows.shape)}, not [n, {width}]; "
            "nothing was written"
        )
    exact = rows.astype(np.float64)
    with np.errstate(invalid="ignore"):
        lengths = np.sqrt(np.vecdot(exact, exact))
        good = np.abs(lengths - 1) <= TOLERANCE
    if not good.all():
        length = float(lengths[~good][0])
        fault = f"has the length {length:.6g}, not 1 ± {TOLERANCE:g}"
        if not np.isfinite(length):
            fault = "is not finite"
        raise InvalidInput(f"a vector of {item!r} {fault}; nothing was written")
    return rows


class Passages:
    """Vectors of items in memory, searched exactly. Not for several threads at once.

    Rows stand in blocks, so that growing never copies what is there.
    """

    def __init__(self, width: int, expected: int = 0) -> None:
        """`expected` rows are allocated at once, to the row; more are allocated as they come."""
        self.width = width
        self._blocks: list[Matrix] = []
        self._starts: list[int] = []
        self._room = 0  # rows allocated
        self._items: list[str | None] = []  # by row; None where it is free
        self._rows: dict[str, tuple[int, ...]] = {}
        self._free: list[int] = []
        self._total = np.zeros(width)  # the sum of all vectors here
        self._common: _Common | None = None  # while no row comes or goes
        if expected > 0:
            self._grow(expected)

    def __len__(self) -> int:
        """How many passages there are."""
        return len(self._items) - len(self._free)

    @property
    def nbytes(self) -> int:
        """Bytes allocated for vectors."""
        return self._room * self.width * 4

    def add(self, items: Sequence[str], vectors: Matrix) -> list[int]:
        """Adds a passage of each item named, with its vector in `vectors` `[n, width]`.

        Returns the row that each was given.
        """
        given: list[int] = []
        self._total += vectors[: len(items)].sum(axis=0, dtype=np.float64)
        self._common = None
        at = 0
        while at < len(items) and self._free:
            row = self._free.pop()
            self._place(row, vectors[at])
            self._items[row] = items[at]
            given.append(row)
            at += 1
        while at < len(items):
            first = len(self._items)
            if first == self._room:
                self._grow(BLOCK)
            count = min(len(items) - at, self._room - first)
            start = self._starts[-1]
            self._blocks[-1][first - start : first - start + count] = vectors[at : at + count]
            self._items += items[at : at + count]
            given += range(first, first + count)
            at += count
        for item, row in zip(items, given, strict=True):
            self._rows[item] = (*self._rows.get(item, ()), row)
        return given

    def remove(self, rows: Sequence[int]) -> None:
        """Takes passages out by the rows that `add` gave them; the rows are used again."""
        for row in rows:
            item = self._items[row]
            if item is None:
                continue
            self._total -= self._vector(row)
            self._common = None
            self._place(row, 0)  # what is deleted does not stay in memory
            left = tuple(other for other in self._rows[item] if other != row)
            if left:
                self._rows[item] = left
            else:
                del self._rows[item]
            self._items[row] = None
            self._free.append(row)

    def nearest(self, query: Matrix, limit: int, among: Sequence[str] = ()) -> list[Near]:
        """Items by their best passage's cosine to the query `[width]`, best first, ties by item:
        the best `limit`, and besides them those of `among` that are here.

        A cosine depends on the two vectors alone, not on what else is here or in which row.
        """
        query = np.ascontiguousarray(query, np.float32)
        asked = [row for item in set(among) for row in self._rows.get(item, ())]
        if len(self) == 0 or (limit <= 0 and not asked):
            return []
        cosines = self._products(query)
        if self._common is None:
            mean = self._total / (len(self) + _FEW)
            self._common = _Common(mean, self._products(mean.astype(np.float32)), self._free)
        spread = _Spread(query, cosines, self._common, len(self))
        best: dict[str, Near] = {}
        if limit > 0:
            cosines[self._free] = -np.inf
            found = self._score(self._candidates(cosines, limit), query, spread)
            best = {one.item: one for one in _ordered(found)[:limit]}
        return _ordered({**best, **self._score(asked, query, spread)})

    def _products(self, vector: Matrix) -> Matrix:
        """The product of every row with a vector; 0 in rows that are free."""
        found = np.empty(len(self._items), np.float32)
        for start, block in zip(self._starts, self._blocks, strict=True):
            used = min(len(found) - start, len(block))
            if used > 0:
                np.matmul(block[:used], vector, out=found[start : start + used])
        return found

    def _candidates(self, scores: Matrix, limit: int) -> list[int]:
        """The rows among which the best passages of the best `limit` items are."""
        wanted, here = limit, len(self)
        while True:
            if wanted >= here:
                return np.flatnonzero(scores > -np.inf).tolist()
            bar = np.partition(scores, len(scores) - wanted)[len(scores) - wanted] - _SLACK
            rows: list[int] = np.flatnonzero(scores >= bar).tolist()
            if len({self._items[row] for row in rows}) >= limit:
                return rows
            wanted = max(2 * wanted, len(rows) + 1)

    def _score(self, rows: Sequence[int], query: Matrix, spread: _Spread) -> dict[str, Near]:
        """Each row's item by its best passage, in float64."""
        best: dict[str, Near] = {}
        exact = query.astype(np.float64)
        for first in range(0, len(rows), BLOCK):
            some = rows[first : first + BLOCK]
            gathered = np.stack([self._vector(row) for row in some]).astype(np.float64)
            scores: Numbers = (gathered * exact).sum(axis=1)
            contrasts = spread.contrast(scores, (gathered * spread.mean).sum(axis=1))
            for row, score, contrast in zip(some, scores.tolist(), contrasts.tolist(), strict=True):
                item = self._items[row]
                if item is not None and (item not in best or score > best[item].cosine):
                    best[item] = Near(item, score, contrast)
        return best

    def _grow(self, rows: int) -> None:
        self._starts.append(self._room)
        self._blocks.append(np.empty((rows, self.width), np.float32))
        self._room += rows

    def _vector(self, row: int) -> Matrix:
        block = bisect_right(self._starts, row) - 1
        vector: Matrix = self._blocks[block][row - self._starts[block]]
        return vector

    def _place(self, row: int, vector: Matrix | int) -> None:
        self._vector(row)[:] = vector


class _Common:
    """What passages have in common: their mean vector, and what it takes out of each row.

    What vectors of one corpus have in common says nothing about any of them, and for some models
    that is most of the cosine (Mu and Viswanath 2018). Of few passages the mean says little, so it
    counts by `n / (n + _FEW)`.
    """

    def __init__(self, mean: Numbers, products: Matrix, free: Sequence[int]) -> None:
        self.mean = mean
        self.square = float(mean @ mean)
        self.products = products  # of every row with the mean
        self.inverse = _inverse_lengths(products, self.square)  # of every row without the mean
        self.inverse[free] = 0


class _Spread:
    """How the passages lie around a query once the mean is taken out of them and of it:
    `(v - m)·(q - m) / (|v - m| |q - m|)`, by their mean and deviation over all passages."""

    def __init__(self, query: Matrix, cosines: Matrix, common: _Common, count: int) -> None:
        """`cosines` are those of all rows, of which `count` are in use."""
        self.mean = common.mean
        self._square = common.square
        exact = query.astype(np.float64)
        self._query = float(exact @ self.mean)
        self._length = max(float(np.linalg.norm(exact - self.mean)), _ALIKE)
        found = self._centred(cosines, common.products, common.inverse).astype(np.float64)
        middle = float(found.sum()) / count
        # np.square and not BLAS's dot, whose threads cost more than it takes
        deviation = max(float(np.square(found).sum()) / count - middle**2, 0.0) ** 0.5
        # what the order of the rows does to a sum is rounded away
        self._middle, self._deviation = float(f"{middle:.5e}"), float(f"{deviation:.5e}")

    def contrast(self, cosines: Numbers, products: Numbers) -> Numbers:
        """In standard deviations above the mean, of passages by their cosine to the query and their
        product with the mean; 0 where all are alike."""
        if self._deviation < _ALIKE:
            return np.zeros(len(cosines))
        inverse = _inverse_lengths(products, self._square)
        return (self._centred(cosines, products, inverse) - self._middle) / self._deviation

    def _centred(self, cosines: Floats, products: Floats, inverse: Floats) -> Floats:
        found = cosines - products
        found += self._square - self._query
        found *= inverse
        found /= self._length
        return found


def _inverse_lengths(products: Floats, square: float) -> Floats:
    """1 over the length of each unit vector once a mean is taken out of it, from its product with
    that mean and the mean's square; 0 where nothing is left."""
    squares = 1 + square - 2 * products
    alike = squares < _ALIKE
    squares[alike] = 1
    inverse: Floats = 1 / np.sqrt(squares)
    inverse[alike] = 0
    return inverse


def _ordered(scored: dict[str, Near]) -> list[Near]:
    """Best first, ties by item."""
    return sorted(scored.values(), key=lambda one: (-one.cosine, one.item))
