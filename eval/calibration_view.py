"""A calibration as the tables and sentences that a person reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from eval.calibration import Calibration
from eval.calibration_records import Record, record_of
from eval.calibration_text import headline, report
from eval.drift import drift
from eval.held_out import Estimate
from eval.objective import SEPARATION
from eval.score_column import ScoreColumn
from eval.stats import interval, percent
from memcore import InvalidInput

LEARNS = ("tfidf",)
"""Providers that learn of each owner's texts: its vectors have an identity of their own then."""


class Case(NamedTuple):
    """What a cutoff does to one kind of pair: how many, of how many, and the pairs nearest to it,
    each as score, query and passage."""

    name: str
    pairs: int
    of: int
    nearest: list[tuple[str, str, str]]

    @property
    def share(self) -> str:
        return percent(self.pairs / self.of if self.of else None)


def start_of(made: Calibration) -> float:
    """The cutoff to begin with: the objective's, else the one that separates best."""
    if made.cutoff is not None:
        return made.cutoff
    return float(made.counts.cutoffs[max(int(made.counts.chosen(SEPARATION)[0]), 0)])


def nearest_cutoff(made: Calibration, value: float) -> float:
    """The round cutoff that is nearest to a number."""
    cutoffs = made.counts.cutoffs
    return float(cutoffs[int(np.abs(cutoffs - value).argmin())])


def cases(made: Calibration, cutoff: float, n: int = 3) -> list[Case]:
    """What a cutoff does to the four kinds of pairs."""
    said = made.verdict(cutoff)
    relevant, irrelevant = said.kept + said.lost, said.let_through + said.held_back
    counts = {
        "relevant kept": (said.kept, relevant),
        "relevant lost": (said.lost, relevant),
        "irrelevant let through": (said.let_through, irrelevant),
        "irrelevant held back": (said.held_back, irrelevant),
    }
    found = made.examples(cutoff, n)
    return [
        Case(name, *counts[name], _shown(made, found[found["case"] == name])) for name in counts
    ]


def best_four(made: Calibration, cutoff: float) -> str:
    """What a cutoff means for the four best passages of each query; empty where no query is
    named."""
    shown = made.shown(cutoff)
    if shown is None:
        return ""
    passing = "nothing passes"
    if shown.precision is not None:
        passing = f"{percent(shown.precision)} of what passes is relevant"
    return (
        f"Of the best four of each query, {passing} ({percent(shown.precision_without)} without a "
        f"cutoff). They hold {percent(shown.recall)} of all that is relevant "
        f"({percent(shown.recall_without)} without)."
    )


def held_out_table(made: Calibration) -> pd.DataFrame:
    """The objective's cutoff on all pairs, and chosen and tried on different groups: `figure`,
    `here`, `elsewhere`, `interval`, `means`."""
    said = None if made.cutoff is None else made.verdict(made.cutoff)
    held = made.held_out
    none = Estimate(None)
    rows = [
        ("relevant kept (recall)", said and said.recall, held.recall,
         "share of the relevant that passes"),
        ("relevant of what passes (precision)", said and said.precision, held.precision,
         "share of what passes that is relevant"),
        ("irrelevant let through", said and said.let_through_share, held.let_through,
         "share of the irrelevant that passes"),
        ("separation (Youden's J)", None, made.separation.separation,
         "recall less what is let through, at the cutoff that separates best; 50% is needed"),
    ]  # fmt: skip
    return pd.DataFrame(
        [
            {
                "figure": name,
                "here": percent(here),
                "elsewhere": percent((found or none).value),
                "interval": interval((found or none).low, (found or none).high),
                "means": means,
            }
            for name, here, found, means in rows
        ]
    )


def languages_table(made: Calibration) -> pd.DataFrame:
    """A row a language: `language`, `groups`, `relevant`, `cutoff`, `interval`, `recall`,
    `let_through`, `verdict`; empty where there is one only."""
    rows = []
    for language, one in made.languages.items():
        cutoff = "–" if one.cutoff is None else one.written(one.cutoff)
        bounds = "–"
        if one.low is not None and one.high is not None:
            bounds = f"{one.written(one.low)}–{one.written(one.high)}"
        rows.append(
            {
                "language": language,
                "groups": one.counts.groups,
                "relevant": len(one.scores[0]),
                "cutoff": cutoff,
                "interval": bounds,
                "recall": str(one.held_out.recall),
                "let_through": str(one.held_out.let_through),
                "verdict": one.why or "recommended",
            }
        )
    return pd.DataFrame(rows)


def origin_table(column: ScoreColumn) -> pd.DataFrame:
    """Where a column came from: `what`, `value`."""
    frame, identity = column.frame, column.identity
    relevant = f"{int(frame['relevant'].sum()):,}" if column.labelled else "not labelled"
    groups = frame["group"].nunique() if "group" in frame.columns else len(frame)
    rows = [
        ("data", column.name),
        ("SHA-256 of the data", column.data),
        ("provider", str(identity) if identity else "not named"),
        ("passages", f"{column.kind}s" if column.kind else "not named"),
        (f"{column.grouped_by}s", f"{groups:,}"),
        ("pairs", f"{len(frame):,}"),
        ("relevant pairs", relevant),
        ("languages", ", ".join(column.languages) or "not named"),
        *((f"note {number}", text) for number, text in enumerate(column.remarks, 1)),
    ]
    return pd.DataFrame(rows, columns=["what", "value"])


def saved_table(records: Sequence[Record]) -> pd.DataFrame:
    """Saved cutoffs: `provider`, `kind`, `cutoff`, `interval`, `objective`, `recall`, `data`,
    `date`."""
    return pd.DataFrame(
        [
            {
                "provider": str(one.identity.value),
                "kind": f"{one.kind}s",
                "cutoff": f"{one.cutoff:g}",
                "interval": f"{one.low:g}–{one.high:g}",
                "objective": one.objective,
                "recall": f"{percent(one.recall.value)} "
                f"({interval(one.recall.low, one.recall.high)})",
                "data": one.name,
                "date": one.date,
            }
            for one in records
        ]
    )


def drift_of(records: Sequence[Record], column: ScoreColumn) -> tuple[Record, bool, str] | None:
    """The saved record of the column's provider and kind, whether scores have moved since, and how
    in words; None where there is no such record."""
    for record in records:
        if (record.identity.value, record.kind) != (column.identity, column.kind):
            continue
        found = drift(record, column)
        return record, any(one.moved for one in found), "\n".join(map(str, found))
    return None


def not_saved(made: Calibration) -> str:
    """Why there is nothing to save; empty where there is."""
    try:
        record_of(made)
    except InvalidInput as error:
        return str(error)
    return ""


def record_json(made: Calibration) -> str:
    """The record as it is saved. Raises `InvalidInput` where there is none."""
    return json.dumps(record_of(made).model_dump(mode="json"), ensure_ascii=False, indent=1)


def report_json(made: Calibration) -> str:
    """Everything measured."""
    return json.dumps(report(made), ensure_ascii=False, indent=1)


def first_line(made: Calibration) -> str:
    """The result in one sentence that begins as a sentence does."""
    said = headline(made)
    return f"{said[0].upper()}{said[1:]}."


def _shown(made: Calibration, pairs: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Score, query and passage of pairs: their texts, or else their names."""
    return [
        (
            made.written(float(row["score"])),
            _text(row, "query_text", "query"),
            _text(row, "passage_text", "passage"),
        )
        for row in pairs.to_dict(orient="records")
    ]


def _text(row: dict[Any, Any], *names: str) -> str:
    found = (row.get(name) for name in names)
    return next((str(one) for one in found if isinstance(one, str) and one), "")
