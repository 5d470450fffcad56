"""Whether a later score column still has the distribution that a cutoff was calibrated on.

Measured by the two-sample Kolmogorov–Smirnov distance: the largest difference between the shares of
scores below any value, from 0 to 1. It is compared with a fixed distance and not with a p-value,
since with half a million pairs every difference is significant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import ks_2samp

from eval.calibration_records import Record
from eval.calibration_tables import passing
from eval.objective import Floats
from eval.score_column import ScoreColumn
from eval.stats import percent
from memcore import InvalidInput

MOVED = 0.1
"""From this distance on a distribution has moved, a tenth of all pairs lie elsewhere; ten times
what reading 101 percentiles instead of the scores can be off by. Few pairs differ so much by
chance: for them it takes the distance that chance exceeds in one case of twenty."""

_CHANCE = 1.358
"""Of the distance times √(n m / (n + m)), the 95th percentile (Kolmogorov 1933, Smirnov 1948)."""

_STEPS = 20_001
"""Scores that stand for the recorded percentiles, interpolated between them."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One distribution then and now. `distance` is the Kolmogorov–Smirnov distance and
    `threshold` that from which on it has moved; `median_then`
    and `median_now` are scores, `kept_then` and `kept_now` the shares at or above the cutoff."""

    scores: str
    pairs: int
    distance: float
    threshold: float
    median_then: float
    median_now: float
    kept_then: float
    kept_now: float

    @property
    def moved(self) -> bool:
        return self.distance >= self.threshold

    def __str__(self) -> str:
        share = f"the cutoff keeps {percent(self.kept_now)} of them, {percent(self.kept_then)} then"
        if self.distance == 0:
            return f"{self.scores} scores are identical; {share}"
        by = self.median_now - self.median_then
        how = f"moved by {by:+.3f} (median)" if self.moved else "have not moved"
        distance = f"distance {self.distance:.2f} of {self.threshold:.2f} allowed"
        return f"{self.scores} scores {how}, {distance}; {share}"


def drift(record: Record, column: ScoreColumn) -> tuple[Drift, ...]:
    """The column against the record: relevant and irrelevant scores where it is labelled, else all
    scores together.

    Raises `InvalidInput` for a column of another provider identity or kind of passage, or one that
    does not say: their scores cannot be compared.
    """
    if column.identity is None or column.kind is None:
        raise InvalidInput(
            f"{column.name} does not say which provider and kind of passage it is of; it cannot be "
            "compared with a record"
        )
    if column.identity != record.identity.value or column.kind != record.kind:
        raise InvalidInput(
            f"{column.name} is of {column.kind}s by {column.identity}, the record of "
            f"{record.kind}s by {record.identity.value}: their scores cannot be compared"
        )
    scores = column.frame["score"].to_numpy(np.float64)
    classes = {"relevant": record.relevant, "irrelevant": record.irrelevant}
    if not column.labelled:
        weights = [record.relevant_pairs, record.irrelevant_pairs]
        then = np.concatenate(
            [
                _sample(percentiles, max(round(_STEPS * weight / sum(weights)), 1))
                for percentiles, weight in zip(classes.values(), weights, strict=True)
            ]
        )
        return (_compare("all", then, sum(weights), scores, record.cutoff, record.kept),)
    labels = column.frame["relevant"].to_numpy(bool)
    found = []
    for name, pairs, now, kept in (
        ("relevant", record.relevant_pairs, scores[labels], record.kept_relevant),
        ("irrelevant", record.irrelevant_pairs, scores[~labels], record.kept_irrelevant),
    ):
        if len(now):
            then = _sample(classes[name], _STEPS)
            found.append(_compare(name, then, pairs, now, record.cutoff, kept))
    return tuple(found)


def record_for(records: tuple[Record, ...], column: ScoreColumn) -> Record:
    """The record of the column's provider and kind of passage. Raises `InvalidInput` for none."""
    for one in records:
        if (one.identity.value, one.kind) == (column.identity, column.kind):
            return one
    if len(records) == 1:
        return records[0]  # `drift` says in what it differs
    of = f"{column.kind}s by {column.identity}" if column.identity else "a column that says neither"
    known = "; ".join(f"{one.kind}s by {one.identity.value}" for one in records) or "none"
    raise InvalidInput(f"there is no record of {of}; there are records of {known}")


def _compare(
    name: str, then: Floats, pairs: int, now: Floats, cutoff: float, kept_then: float | None = None
) -> Drift:
    """`kept_then` is interpolated where the record does not have it."""
    kept = [float(passing(scores, cutoff).mean()) for scores in (then, now)]
    return Drift(
        name,
        len(now),
        _distance(then, now),
        max(MOVED, _CHANCE * math.sqrt(1 / pairs + 1 / len(now))),
        float(np.median(then)),
        float(np.median(now)),
        kept[0] if kept_then is None else kept_then,
        kept[1],
    )


def _distance(then: Floats, now: Floats) -> float:
    """0 where both hold one and the same score, or the same percentiles."""
    steps = np.linspace(0, 100, 101)
    if np.array_equal(np.percentile(then, steps).round(9), np.percentile(now, steps).round(9)):
        return 0.0
    return float(ks_2samp(then, now, method="asymp").statistic)


def _sample(percentiles: list[float], count: int) -> Floats:
    """Scores spread as the percentiles are."""
    return np.interp(np.linspace(0, 100, count), np.arange(101), percentiles)
