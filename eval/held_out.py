"""What a cutoff does on groups that it was not chosen on: grouped cross-validation.

The cutoff is chosen on all other groups and applied to those left out; the counts of all are put
together. The interval resamples the groups (a bootstrap clustered by group), with the cutoffs as
they were chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

from eval.objective import NONE, Floats, Objective
from eval.score_counts import MOST_FOLDS, Counts, Integers, resampled_sums
from eval.stats import percent


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share, or a difference of shares, with its 95% interval; None where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return percent(self.value)
        half = max(self.high - self.value, self.value - self.low)
        return f"{percent(self.value)} ± {100 * half:.0f}"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """On groups that the cutoff was not chosen on. `let_through` is the share of the irrelevant
    that passes, `separation` recall less that share (Youden's J).

    `undecided` of the `folds` had no cutoff that meets the objective on the other groups; their
    groups are not counted.
    """

    recall: Estimate
    precision: Estimate
    let_through: Estimate
    separation: Estimate
    folds: int
    undecided: int


def held_out(counts: Counts, objective: Objective) -> HeldOut:
    """The cutoff's figures on groups left out in turn."""
    fold_of = _folds(counts)
    folds = int(fold_of.max()) + 1
    weights = np.stack([(fold_of != fold) * counts.multiplicity for fold in range(folds)])
    places = counts.chosen(objective, weights.astype(np.float64))
    decided = places[fold_of] != NONE
    values = counts.at(np.maximum(places[fold_of], 0)) * decided[:, None]
    found = values.T @ counts.multiplicity
    again = resampled_sums(values, counts.multiplicity)
    recall, precision, through, separation = (
        _estimate(of(found[None, :]), of(again))
        for of in (_recall, _precision, _let_through, _separation)
    )
    undecided = int((places == NONE).sum())
    return HeldOut(recall, precision, through, separation, folds, undecided)


def _folds(counts: Counts) -> Integers:
    """The fold of each group: one each where there are few, else ten of about equal size."""
    count = len(counts.multiplicity)
    fold_of = np.zeros(count, dtype=np.intp)
    if counts.fold is not None:
        return counts.fold
    if count <= MOST_FOLDS:
        names = np.arange(count)
        splits = LeaveOneGroupOut().split(names, groups=names)
    else:
        sizes = np.asarray((counts.kept + counts.let_through).sum(axis=1)).ravel().astype(int)
        names = np.repeat(np.arange(count), sizes)
        rows = GroupKFold(MOST_FOLDS).split(names, groups=names)
        splits = ((names[train], names[test]) for train, test in rows)
    for fold, (_, test) in enumerate(splits):
        fold_of[test] = fold
    return fold_of


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return share


def _recall(sums: Floats) -> Floats:
    return _share(sums[:, 0], sums[:, 2])


def _let_through(sums: Floats) -> Floats:
    return _share(sums[:, 1], sums[:, 3])


def _precision(sums: Floats) -> Floats:
    return _share(sums[:, 0], sums[:, 0] + sums[:, 1])


def _separation(sums: Floats) -> Floats:
    return _recall(sums) - _let_through(sums)


def _estimate(value: Floats, again: NDArray[np.float64]) -> Estimate:
    if np.isnan(value[0]):
        return Estimate(None)
    low, high = np.nanpercentile(again, [2.5, 97.5])
    return Estimate(float(value[0]), float(low), float(high))
