"""The tables behind a calibration: distributions, curves, examples. None depends on row order."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval.objective import Floats
from eval.score_counts import Counts, place_of

SHOWN = 4
"""How many passages a query is shown at most: the default of `Settings.excerpts_limit`."""

POINTS = 500
"""Rows of a curve at most."""

CASES = ("relevant kept", "relevant lost", "irrelevant let through", "irrelevant held back")


def histogram(relevant: Floats, irrelevant: Floats, steps: int = 60) -> pd.DataFrame:
    """Counts of both classes over equal steps from the lowest score to the highest, and the share
    of each class that they are: `from`, `to`, `relevant`, `irrelevant`, `relevant_share`, …"""
    edges = np.histogram_bin_edges(np.concatenate([relevant, irrelevant]), steps)
    yes, no = (np.histogram(scores, edges)[0] for scores in (relevant, irrelevant))
    return pd.DataFrame(
        {
            "from": edges[:-1],
            "to": edges[1:],
            "relevant": yes,
            "irrelevant": no,
            "relevant_share": yes / max(len(relevant), 1),
            "irrelevant_share": no / max(len(irrelevant), 1),
        }
    )


def percentiles(scores: Floats) -> list[float]:
    """The percentiles 0 to 100 of ascending scores."""
    return [float(one) for one in np.percentile(scores, np.arange(101))]


def curve(counts: Counts) -> pd.DataFrame:
    """A row for each cutoff: `cutoff`, `recall`, `precision`, `let_through`, `f1`, `f0.5`."""
    kept, through = (found[0] for found in counts.totals())
    yes, no = kept[0], through[0]
    places = _thin(len(kept))
    kept, through = kept[places], through[places]
    passing = kept + through
    table = {
        "cutoff": counts.cutoffs[places],
        "recall": kept / yes,
        "precision": np.divide(kept, passing, out=np.full(len(kept), np.nan), where=passing > 0),
        "let_through": through / no,
    }
    for name, beta in (("f1", 1.0), ("f0.5", 0.5)):
        table[name] = (1 + beta**2) * kept / (passing + beta**2 * yes)
    return pd.DataFrame(table)


def risk_coverage(first: pd.DataFrame) -> pd.DataFrame:
    """Risk over coverage (El-Yaniv and Wiener 2010) as the `cutoff` falls, from each query's best
    passage: the share of queries whose best passes (`coverage`), and of these the share whose best
    is irrelevant (`risk`)."""
    values, back = np.unique(-first["score"].to_numpy(np.float64), return_inverse=True)
    wrong = np.cumsum(np.bincount(back, ~first["relevant"].to_numpy(bool)))
    count = np.cumsum(np.bincount(back))
    table = {"cutoff": -values, "coverage": count / len(first), "risk": wrong / count}
    return pd.DataFrame(table).iloc[_thin(len(values))].reset_index(drop=True)


def best(frame: pd.DataFrame) -> pd.DataFrame:
    """The best passages of each query, at most four, best first: `query` (a number), `score`,
    `relevant`, `rank` from 1; empty where the column names no queries."""
    columns = ["query", "score", "relevant", "rank"]
    if "query" not in frame.columns:
        return pd.DataFrame(columns=columns)
    codes = {name: _codes(frame[name]) for name in _names(frame)}
    of_query = codes["query"]
    if "group" in codes:
        of_query = codes["group"] * (int(of_query.max()) + 1) + of_query
    # equal scores: the irrelevant one first, so that no tie flatters
    order = np.lexsort((frame["relevant"].to_numpy(bool), -frame["score"].to_numpy(), of_query))
    ordered = of_query[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    ranks = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)])) + 1
    kept = order[ranks <= SHOWN]
    found = frame.iloc[kept][["score", "relevant"]].reset_index(drop=True)
    return found.assign(query=of_query[kept], rank=ranks[ranks <= SHOWN])[columns]


def examples(frame: pd.DataFrame, cutoff: float, n: int) -> pd.DataFrame:
    """The `n` pairs of each of `CASES` nearest to a cutoff, with the column `case`."""
    yes, passes = frame["relevant"].to_numpy(bool), passing(frame["score"], cutoff)
    names, parts = _names(frame), []
    for case, mask in zip(CASES, (yes & passes, yes & ~passes, ~yes & passes, ~yes & ~passes),
                          strict=True):  # fmt: skip
        of = frame[mask]
        distance = (of["score"] - cutoff).abs()
        # what ties with the last is ordered by name, so that no order of rows matters
        nearest = of[distance <= distance.nsmallest(n).max()]
        keys = nearest[names].astype(str).assign(distance=distance[nearest.index])
        order = keys.sort_values(["distance", *names], kind="stable").index[:n]
        parts.append(of.loc[order].assign(case=case))
    nearest_of_each: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return nearest_of_each


def passing(scores: pd.Series[float] | Floats, cutoff: float) -> NDArray[np.bool_]:
    """Which scores the cutoff lets pass, by the one comparison."""
    given = np.asarray(scores, dtype=np.float64)
    values = np.unique(given)
    first = place_of(values, cutoff)
    return given >= values[first] if first < len(values) else np.zeros(len(given), dtype=bool)


def _names(frame: pd.DataFrame) -> list[str]:
    return [name for name in ("group", "query", "passage") if name in frame.columns]


def _codes(column: pd.Series[str]) -> NDArray[np.intp]:
    """A number for each value, in the order of the values."""
    return np.asarray(column.astype(str).factorize(sort=True)[0])


def _thin(count: int) -> NDArray[np.intp]:
    """At most `POINTS` places from first to last."""
    return np.unique(np.linspace(0, count - 1, POINTS).round().astype(np.intp))
