"""Counts of a score column at each of a few thousand cutoffs, by group, and resampled by group.

All that calibration needs is how many relevant and irrelevant scores each group has at or above
each cutoff, so that a thousand resamples of half a million pairs are one product of matrices.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from eval.objective import Floats, Objective
from memcore import relevant

FINEST = 10_000
"""At most so many steps of the cutoff from the lowest score to the highest, and at least a tenth
of that."""

RESAMPLES, SEED = 1_000, 0
MOST_FOLDS = 10
"""With so many groups or fewer, each is left out in turn."""

_AT_ONCE = 200
Integers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Counts:
    """`kept` and `let_through` `[G, K]`, sparse: how many relevant and irrelevant scores of each
    group lie between a cutoff and the next. `multiplicity` `[G]` is how often a group with these
    counts is there. `cutoffs` ascend by `resolution`; the lowest keeps every score. `fold` `[G]` is
    the fold in which single pairs were put before equal ones were counted together.
    """

    cutoffs: Floats
    resolution: float
    kept: csr_matrix
    let_through: csr_matrix
    multiplicity: Integers
    fold: Integers | None = None

    @property
    def groups(self) -> int:
        return int(self.multiplicity.sum())

    def totals(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Relevant and irrelevant scores at or above each cutoff `[B, K]`, for groups weighted by
        `[B, G]`; as they are where no weights are given."""
        if weights is None:
            weights = self.multiplicity[None, :].astype(np.float64)
        return _from_above(weights @ self.kept), _from_above(weights @ self.let_through)

    def chosen(self, objective: Objective, weights: Floats | None = None) -> Integers:
        """Where the objective puts the cutoff, for groups weighted by `[B, G]`: places `[B]`."""
        kept, let_through = self.totals(weights)
        return objective.choose(kept, let_through, kept[:, 0], let_through[:, 0])

    def resampled(self, objective: Objective) -> Integers:
        """Where it puts the cutoff when groups are drawn again with replacement; seeded."""
        return np.concatenate(
            [self.chosen(objective, weights) for weights in draws(self.multiplicity)]
        )

    def at(self, places: Integers) -> NDArray[np.float64]:
        """Of each group at the place of its own cutoff: relevant kept, irrelevant let through,
        all relevant, all irrelevant `[G, 4]`."""
        columns = np.arange(len(self.cutoffs))
        rows = []
        for matrix in (self.kept, self.let_through):
            dense = matrix.tocoo()
            above = dense.col >= places[dense.row]
            rows.append(np.bincount(dense.row[above], dense.data[above], len(places)))
            rows.append(matrix @ np.ones(len(columns)))
        return np.column_stack([rows[0], rows[2], rows[1], rows[3]])


def counted(scores: Floats, labels: NDArray[np.bool_], groups: Integers) -> Counts:
    """The counts of a column. Where every pair is a group of its own, equal pairs are counted
    together, so that any number of them can be resampled."""
    cutoffs, resolution = grid(scores)
    bins = _bins(scores, cutoffs)
    count = int(groups.max()) + 1 if len(groups) else 0
    fold = None
    if count == len(scores) and count:
        # dealt out by chance, but to pairs in order of score: no order of rows changes it
        dealt = np.empty(count, dtype=np.intp)
        dealt[np.lexsort((labels, bins))] = np.random.default_rng(SEED).permutation(count)
        rows = np.column_stack([bins, labels, dealt % MOST_FOLDS])
        cells, multiplicity = np.unique(rows, axis=0, return_counts=True)
        bins, labels, fold = cells[:, 0], cells[:, 1].astype(bool), cells[:, 2]
        groups, count = np.arange(len(cells)), len(cells)
    else:
        multiplicity = np.ones(count, dtype=np.intp)
    shape = (count, len(cutoffs))
    kept, through = (
        csr_matrix((np.ones(int(of.sum())), (groups[of], bins[of])), shape=shape)
        for of in (labels, ~labels)
    )
    return Counts(cutoffs, resolution, kept, through, multiplicity, fold)


def grid(scores: Floats) -> tuple[Floats, float]:
    """Round cutoffs from the lowest score to the highest, and the step between them.

    The step is a power of ten, such that there are 1,000 to 10,000 steps. One cutoff where all
    scores are identical.
    """
    low, high = float(scores.min()), float(scores.max())
    spread = high - low
    if spread <= 1e-12 * max(abs(low), abs(high), 1e-300):
        return np.array([low]), 0.0
    power = math.ceil(math.log10(spread / FINEST))
    first, last = (math.floor(end / 10.0**power) for end in (low, high))
    steps = np.arange(first - 1, last + 2, dtype=np.float64)
    # dividing by a power of ten gives the float that the decimal is written as
    cutoffs = steps / 10.0**-power if power < 0 else steps * 10.0**power
    reached = int(np.flatnonzero(cutoffs <= low)[-1])
    return cutoffs[reached : int(np.flatnonzero(cutoffs <= high)[-1]) + 1], 10.0**power


def place_of(ordered: Floats, cutoff: float) -> int:
    """Where in ascending scores the relevant ones begin: found by the one comparison."""
    return bisect_left(ordered, True, key=lambda score: relevant(score, cutoff))


def _bins(scores: Floats, cutoffs: Floats) -> Integers:
    """The highest cutoff at which each score still counts as relevant, as a place."""
    values, back = np.unique(scores, return_inverse=True)
    edges = [place_of(values, float(cutoff)) for cutoff in cutoffs]
    return np.searchsorted(edges, np.arange(len(values)), side="right")[back] - 1


def draws(multiplicity: Integers) -> Iterator[Floats]:
    """How often each group is drawn, `[≤ 200, G]` at a time, 1,000 in all: as many as there are,
    with replacement."""
    chance = np.random.default_rng(SEED)
    count = int(multiplicity.sum())
    for start in range(0, RESAMPLES, _AT_ONCE):
        size = min(_AT_ONCE, RESAMPLES - start)
        yield chance.multinomial(count, multiplicity / count, size=size).astype(np.float64)


def resampled_sums(values: Floats, multiplicity: Integers) -> Floats:
    """The sums of `values` `[G, n]` over groups that are drawn again: `[1000, n]`; seeded."""
    rows = np.column_stack([values])
    cells, back = np.unique(rows, axis=0, return_inverse=True)
    together = np.bincount(back.ravel(), multiplicity, len(cells)).astype(np.intp)
    return np.concatenate([weights @ cells for weights in draws(together)])


def _from_above(counts: Floats) -> Floats:
    return np.cumsum(np.asarray(counts)[:, ::-1], axis=1)[:, ::-1]
