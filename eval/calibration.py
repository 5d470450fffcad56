"""From a score column to a cutoff: how well any could tell the relevant from the irrelevant, where
the objective puts it, and what it does on groups that it was not chosen on.

Nothing depends on the order of the rows: all is counted over round cutoffs (`eval.score_counts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from eval import calibration_tables as tables
from eval.errors import DatasetError, Fault
from eval.held_out import HeldOut, held_out
from eval.objective import NONE, SEPARATION, Floats, Objective, parse_objective
from eval.pairs import faults_of_counts
from eval.score_column import ScoreColumn, groups_of, only_language
from eval.score_counts import Counts, counted, place_of
from eval.stats import percent

SEPARATES = 0.5
"""A cutoff separates where held-out recall less the share let through (Youden's J) is at least
this, with 95% confidence: where the two distributions are more apart than shared. Deciding between
one relevant and one irrelevant passage then errs in at most a quarter of cases, half as often as a
coin. Why this and not another measure, with figures: `docs/decisions/0009-calibration.md`."""

DEFAULT_OBJECTIVE = "recall>=0.9"
FEW = 8
"""Fewer groups than this make a rough interval: there is little to draw again from."""

RARELY = 0.025
"""The share of resamples that may be without a cutoff that meets the objective."""

Reason = Literal["", "identical", "overlap", "uncertain", "objective"]
REASONS: dict[Reason, str] = {
    "identical": "all scores are identical",
    "overlap": "no cutoff separates",
    "objective": "no cutoff meets the objective reliably",
    "uncertain": "too little data to say that a cutoff separates",
}
"""Why no cutoff is recommended."""


class Verdict(NamedTuple):
    """What a cutoff does to the pairs it is looked at on, in counts, shares and words;
    `precision` is None where nothing passes."""

    words: str
    cutoff: float
    kept: int
    lost: int
    let_through: int
    held_back: int
    recall: float
    precision: float | None
    let_through_share: float


class Shown(NamedTuple):
    """Of what each query would be shown, its best four: how much is relevant, and how much of all
    that is relevant is among it, with the cutoff and without."""

    precision: float | None
    recall: float
    precision_without: float
    recall_without: float


@dataclass(frozen=True)
class Calibration:
    """Everything that is known of a cutoff for one column.

    `cutoff` is where the objective puts it, with the 95% interval `low`–`high` of choosing it again
    on resampled groups; None where no cutoff meets the objective. `recommended` is None besides
    where no cutoff separates, and `reason` says why. `separation` are the held-out figures of the
    cutoff that separates best, `held_out` those of the objective's. `undecided` is the share of
    resamples without a cutoff. `scores` holds both classes ascending.
    """

    column: ScoreColumn
    objective: Objective
    counts: Counts
    cutoff: float | None
    low: float | None
    high: float | None
    undecided: float
    held_out: HeldOut
    separation: HeldOut
    auc: float
    average_precision: float
    reason: Reason
    scores: tuple[Floats, Floats] = field(repr=False)
    languages: dict[str, Calibration] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def recommended(self) -> float | None:
        """The cutoff where one may be used, else None."""
        return None if self.reason else self.cutoff

    @property
    def why(self) -> str:
        """Why none is recommended, in a few words; empty where one is."""
        return REASONS[self.reason] if self.reason else ""

    @property
    def overlap(self) -> float:
        """How much of the two distributions is shared: 1 less the held-out Youden's J, which is
        their overlapping coefficient where they cross once. Where too little could be held out to
        tell, of these very pairs."""
        value = self.separation.separation.value
        if value is None or (self.disjoint and self.reason == "uncertain"):
            value = float((self.curve["recall"] - self.curve["let_through"]).max())
        return min(max(1 - value, 0.0), 1.0)

    @property
    def disjoint(self) -> bool:
        """Whether every relevant score is above every irrelevant one."""
        yes, no = self.scores
        return bool(yes[0] > no[-1])

    def verdict(self, cutoff: float) -> Verdict:
        """What any cutoff does to the pairs of this column."""
        yes, no = self.scores
        lost, held_back = place_of(yes, cutoff), place_of(no, cutoff)
        kept, let_through = len(yes) - lost, len(no) - held_back
        recall, passing = kept / len(yes), let_through / len(no)
        words = (
            f"{self.written(cutoff)} keeps {percent(recall)} of relevant {self.noun} and lets "
            f"through {percent(passing)} of irrelevant ones"
        )
        precision = kept / (kept + let_through) if kept + let_through else None
        return Verdict(
            words, cutoff, kept, lost, let_through, held_back, recall, precision, passing
        )

    @property
    def noun(self) -> str:
        """What the passages are, in the plural."""
        return f"{self.column.kind}s" if self.column.kind else "passages"

    def written(self, score: float) -> str:
        """A score with as many decimals as cutoffs have."""
        step = self.counts.resolution
        return f"{score:.{max(-math.floor(math.log10(step)), 0)}f}" if step else f"{score:g}"

    def examples(self, cutoff: float, n: int = 3) -> pd.DataFrame:
        """The `n` pairs nearest to a cutoff of each `case`: `relevant kept`, `relevant lost`,
        `irrelevant let through`, `irrelevant held back`; with the columns of the score column."""
        return tables.examples(self.column.frame, cutoff, n)

    @cached_property
    def curve(self) -> pd.DataFrame:
        """`cutoff`, `recall`, `precision`, `let_through`, `f1`, `f0.5`, cutoffs ascending."""
        return tables.curve(self.counts)

    @cached_property
    def histogram(self) -> pd.DataFrame:
        """Both distributions: `from`, `to`, `relevant`, `irrelevant` (counts), and
        `relevant_share`, `irrelevant_share` of their class."""
        return tables.histogram(*self.scores)

    @cached_property
    def percentiles(self) -> pd.DataFrame:
        """The percentiles 0 to 100 of `relevant` and `irrelevant` scores."""
        yes, no = map(tables.percentiles, self.scores)
        return pd.DataFrame({"percentile": range(101), "relevant": yes, "irrelevant": no})

    @cached_property
    def best(self) -> pd.DataFrame:
        """The best four passages of each query: `query`, `score`, `relevant`, `rank`; empty where
        the column names no queries."""
        return tables.best(self.column.frame)

    @cached_property
    def risk_coverage(self) -> pd.DataFrame:
        """`cutoff`, `coverage`, `risk` of the queries; of the pairs where none are named."""
        first = self.best[self.best["rank"] == 1] if len(self.best) else self.column.frame
        return tables.risk_coverage(first)

    def shown(self, cutoff: float) -> Shown | None:
        """What each query's best four are worth, with a cutoff and without; None where the column
        names no queries."""
        if not len(self.best):
            return None
        passes = tables.passing(self.best["score"], cutoff)
        yes, total = self.best["relevant"].to_numpy(bool), len(self.scores[0])
        kept = int((yes & passes).sum())
        return Shown(
            kept / int(passes.sum()) if passes.any() else None,
            kept / total,
            float(yes.mean()),
            int(yes.sum()) / total,
        )


def calibrate(
    column: ScoreColumn, objective: str | Objective = DEFAULT_OBJECTIVE, by_language: bool = True
) -> Calibration:
    """Chooses the cutoff of a labelled column, and reports it on groups held out.

    Raises `InvalidInput` for an objective that is none, `DatasetError` for a column on which
    nothing can be calibrated.
    """
    aim = parse_objective(objective) if isinstance(objective, str) else objective
    check_column(column)
    scores, labels, groups = _parts(column)
    counts = counted(scores, labels, groups)
    apart = held_out(counts, SEPARATION)
    yes, no = np.sort(scores[labels]), np.sort(scores[~labels])
    place, again = int(counts.chosen(aim)[0]), counts.resampled(aim)
    undecided = float((again == NONE).mean())
    made = Calibration(
        column,
        aim,
        counts,
        *_with_interval(counts, place, again),
        undecided,
        held_out(counts, aim),
        apart,
        float(roc_auc_score(labels, scores)),
        float(average_precision_score(labels, scores)),
        _reason(counts, apart, place, undecided, bool(yes[0] > no[-1])),
        (yes, no),
        _by_language(column, aim) if by_language else {},
    )
    return replace(made, warnings=_warnings(made)) if by_language else made


def check_column(column: ScoreColumn) -> None:
    """Raises `DatasetError` with what keeps a column from being calibrated on."""
    if not column.labelled:
        raise DatasetError([Fault(column.name, 0, "relevant", "is missing: nothing is labelled")])
    frame = column.frame
    groups = frame["group"].nunique() if "group" in frame.columns else len(frame)
    faults = faults_of_counts(groups, len(frame), int(frame["relevant"].sum()), column.grouped_by)
    if faults:
        raise DatasetError([Fault(column.name, 0, *fault) for fault in faults])


def _parts(column: ScoreColumn) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]:
    """Scores, labels, and the group of each pair as a number."""
    frame = column.frame
    scores, labels = frame["score"].to_numpy(np.float64), frame["relevant"].to_numpy(bool)
    if "group" in frame.columns:
        return scores, labels, groups_of(frame)
    return scores, labels, np.arange(len(frame))


def _with_interval(
    counts: Counts, place: int, again: NDArray[np.intp]
) -> tuple[float | None, float | None, float | None]:
    """The cutoff at a place and the bounds of the middle 95% of those chosen again: cutoffs too."""
    found = again[again != NONE]
    if place == NONE or not len(found):
        return None, None, None
    low, high = np.percentile(found, [2.5, 97.5], method="nearest")
    cutoff, lower, upper = (float(counts.cutoffs[at]) for at in (place, low, high))
    return cutoff, lower, upper


def _reason(counts: Counts, apart: HeldOut, place: int, undecided: float, disjoint: bool) -> Reason:
    separation = apart.separation
    if counts.resolution == 0:
        return "identical"
    if separation.value is None:
        return "uncertain"
    if separation.value < SEPARATES:
        return "uncertain" if disjoint else "overlap"
    if place == NONE or undecided > RARELY:
        return "objective"
    if separation.low is None or separation.low < SEPARATES:
        return "uncertain"
    return ""


def _by_language(column: ScoreColumn, objective: Objective) -> dict[str, Calibration]:
    """A calibration for each language, where there are several; without those too small for it."""
    found = {}
    for language in column.languages if len(column.languages) > 1 else ():
        try:
            found[language] = calibrate(only_language(column, language), objective, False)
        except DatasetError:  # too little of that language; a warning says so
            continue
    return found


def _warnings(made: Calibration) -> tuple[str, ...]:
    warnings = []
    for language in made.column.languages if len(made.column.languages) > 1 else ():
        one = made.languages.get(language)
        if one is None:
            warnings.append(f"{language}: too little to calibrate on by itself")
        elif one.reason:
            warnings.append(f"{language}: {REASONS[one.reason]}")
    for (name, one), (other, another) in combinations(made.languages.items(), 2):
        if _apart(one, another):
            warnings.append(
                f"the cutoffs of {name} ({one.cutoff:g}) and {other} ({another.cutoff:g}) "
                "differ by more than their intervals: one for both suits neither"
            )
    groups = made.counts.groups
    if groups < FEW:
        warnings.append(
            f"only {groups} {made.column.grouped_by}s: the intervals are rough, and more likely "
            "too narrow than too wide"
        )
    return tuple(warnings)


def _apart(one: Calibration, other: Calibration) -> bool:
    """Whether two intervals of a cutoff have nothing in common."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.high < other.low or other.high < one.low
