"""Evidence recall of a run: by age of the answer, kind, language; the funnel; the ranking.

Measured on answerable questions that name their evidence. `some`: at least one evidence message is
in the prompt; `all`: every one is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import ir_measures
import pandas as pd
from ir_measures import MRR, R, nDCG

from eval.answers import answers, failures, reasons, summary
from eval.evidence import CITING, Stage
from eval.explain import source_in_words
from eval.runs import Tables, records
from eval.stats import Share, share
from memcore import MnemoscopeError

DAYS = 12
"""From this age in days on, an answer counts as old."""

CURVE_EDGES = (2, 7, 12, 20, 30, 45, 60, 90, 180, 365)
"""Edges of the curve's bands of answer age, in days; finer than the report's, older ones too."""

MEASURES = (R @ 4, R @ 10, MRR @ 10, nDCG @ 10)


def questions(run: Tables) -> pd.DataFrame:
    """The run's questions, in the order asked in each conversation."""
    return run.query("SELECT * FROM {questions} ORDER BY conversation, turn")


def measured(asked: pd.DataFrame) -> pd.DataFrame:
    """The questions that recall can be measured on."""
    return asked[asked["answerable"] & (asked["evidence"].map(len) > 0)]


def age_bands(days: int = DAYS) -> list[tuple[str, float, float]]:
    """The bands of answer age as (name, from, to) in days, `to` excluded; the last from `days` on.

    The usual edges below 12 are 2 and 7; those not below `days` are left out.
    """
    if days < 1:
        raise MnemoscopeError(f"the age from which an answer is old must be at least 1, not {days}")
    return _bands([0, *(edge for edge in (2, 7, 12, 30, 60) if edge < days), days])


def _bands(edges: list[int]) -> list[tuple[str, float, float]]:
    bands = [
        (f"{low}–{high - 1}" if high - low > 1 else f"{low}", float(low), float(high))
        for low, high in pairwise(edges)
    ]
    return [*bands, (f"≥ {edges[-1]}", float(edges[-1]), float("inf"))]


def by_age(asked: pd.DataFrame, days: int = DAYS) -> pd.DataFrame:
    """A row for each band of answer age: name, some and all with Wilson intervals."""
    return _in_bands(asked, age_bands(days))


def age_curve(asked: pd.DataFrame, days: int = DAYS) -> pd.DataFrame:
    """As `by_age`, in finer bands, and with the answers of `days` and older in bands too.

    `days` is always the edge of a band; the last band is the oldest with an answer in it.
    """
    ages = measured(asked)["age_days"]
    oldest = float(ages.max()) if len(ages) else 0.0
    further = [edge for edge in CURVE_EDGES if days < edge <= oldest]
    lower = [edge for edge in CURVE_EDGES if edge < days]
    return _in_bands(asked, _bands([0, *lower, days, *further]))


def _in_bands(asked: pd.DataFrame, bands: list[tuple[str, float, float]]) -> pd.DataFrame:
    counted = measured(asked)
    rows = []
    for name, low, high in bands:
        band = counted[(counted["age_days"] >= low) & (counted["age_days"] < high)]
        rows.append({"age": name, "from": low, "to": high, **_shares(band)})
    return pd.DataFrame(rows)


def by_group(asked: pd.DataFrame, column: str) -> pd.DataFrame:
    """A row for each value of a column (`kind`, `language`, `paraphrased`), with intervals."""
    counted = measured(asked)
    rows = [
        {column: value, **_shares(counted[counted[column] == value])}
        for value in sorted(counted[column].unique(), key=str)
    ]
    return pd.DataFrame(rows, columns=[column, *_COLUMNS])


def older_than(asked: pd.DataFrame, days: int = DAYS) -> pd.DataFrame:
    """The measured questions whose answer is at least `days` old."""
    counted = measured(asked)
    return counted[counted["age_days"] >= days]


def only_cited(asked: pd.DataFrame) -> int:
    """How many of the measured questions count as reached by a note or summary alone: it cites
    their evidence and has the answer's words that the evidence has."""
    counted = measured(asked)
    return int((counted["some"] & counted["layers"].map(CITING.issuperset)).sum())


def by_layer(asked: pd.DataFrame) -> pd.DataFrame:
    """How many questions have evidence in the prompt by each layer; one may count for several."""
    counted = measured(asked)
    exploded = counted.explode("layers")["layers"].dropna()
    counts = exploded.value_counts().sort_index()
    return pd.DataFrame(
        [{"layer": name, **_share_columns("", share(int(hits), len(counted)))}
         for name, hits in counts.items()],
        columns=["layer", "hits", "count", "value", "low", "high"],
    )  # fmt: skip


def funnel(asked: pd.DataFrame) -> pd.DataFrame:
    """How many questions are left after each stage at which evidence can be lost.

    A row a stage, in order: `lost` there and `left` after it. A question stands at the earliest
    stage at which a piece of its evidence was lost.
    """
    counted = measured(asked)
    rows, left = [], len(counted)
    for stage in Stage:
        if stage is Stage.REACHED:
            continue
        lost = int((counted["stage"] == stage).sum())
        left -= lost
        rows.append({"stage": str(stage), "lost": lost, "left": left})
    return pd.DataFrame(rows)


def lost(asked: pd.DataFrame) -> pd.DataFrame:
    """The measured questions of which some evidence is not in the prompt, in the funnel's order.

    As `questions`, with `of` (how many evidence messages there are) added.
    """
    counted = measured(asked)
    counted = counted[~counted["all"]]
    order = {str(stage): number for number, stage in enumerate(Stage)}
    return (
        counted.assign(of=counted["evidence"].map(len), order=counted["stage"].map(order))
        .sort_values(["order", "lost_by", "age_days"], kind="stable")
        .drop(columns="order")
        .reset_index(drop=True)
    )


def losers(asked: pd.DataFrame) -> dict[str, str]:
    """The layer that lost evidence, in words, by the stage at which it was lost; several joined."""
    found: dict[str, list[str]] = {}
    for stage, layer in lost(asked)[["stage", "lost_by"]].drop_duplicates().itertuples(index=False):
        if isinstance(layer, str):
            found.setdefault(str(stage), []).append(source_in_words(layer))
    return {stage: ", ".join(names) for stage, names in found.items()}


def overall(asked: pd.DataFrame) -> dict[str, Any]:
    """`some` and `all` of the measured questions among these, as the rows of the tables have it."""
    return _shares(measured(asked))


def ranking(run: Tables, asked: pd.DataFrame) -> dict[str, float]:
    """recall@k, MRR and nDCG of the search's ranking, over the measured questions, by ir_measures.

    A question that was not searched or found nothing counts as 0. Ties are broken by rank.
    """
    counted = measured(asked)
    if counted.empty:
        return {}
    names = set(counted["conversation"] + "\t" + counted["question"])
    qrels = [
        ir_measures.Qrel(f"{row['conversation']}\t{row['question']}", id, 1)
        for row in records(counted)
        for id in row["evidence"]
    ]
    scored = run.query(
        "SELECT conversation || '\t' || question AS query, message, rank FROM {scores} "
        "ORDER BY conversation, question, rank"
    )
    hits = [
        ir_measures.ScoredDoc(row["query"], row["message"], -float(row["rank"]))
        for row in records(scored)
        if row["query"] in names
    ]
    values = ir_measures.calc_aggregate(MEASURES, qrels, hits)
    return {str(measure): round(float(values[measure]), 6) for measure in MEASURES}


def irrelevant(asked: pd.DataFrame) -> dict[str, float]:
    """On unanswerable questions: how many there are, and how much text the search brought along."""
    empty = asked[~asked["answerable"]]
    mean = float(empty["excerpt_characters"].mean()) if len(empty) else 0.0
    return {"questions": len(empty), "excerpt_characters_mean": round(mean, 1)}


def characters_per_question(asked: pd.DataFrame) -> float:
    """The whole prompt of a question with what tools returned, on average; 0 where there is
    none."""
    return round(float(asked["characters"].mean()), 1) if len(asked) else 0.0


def tool_characters_per_question(asked: pd.DataFrame) -> float:
    """What tools returned for a question, on average; 0 where there is none."""
    return round(float(asked["tool_characters"].mean()), 1) if len(asked) else 0.0


def coverage(asked: pd.DataFrame) -> dict[str, int]:
    """How many questions there are, can be measured, are unanswerable, name no evidence."""
    answerable = asked["answerable"].astype(bool)
    return {
        "all": len(asked),
        "measured": len(measured(asked)),
        "unanswerable": int((~answerable).sum()),
        "without_evidence": int((answerable & (asked["evidence"].map(len) == 0)).sum()),
    }


def headline(run: Tables, failed_passes: int = 0) -> dict[str, Any]:
    """What a list of runs shows: old answers reached, characters a turn, layers that failed, turns
    that the provider failed, how a brain's answers fared, and whether calls that failed make the
    run inconclusive. `failed_passes` are the curator's."""
    asked, failed = questions(run), failures(run, failed_passes)
    old = older_than(asked)
    turns = run.query(
        "SELECT count(*) AS turns, coalesce(avg(total + tool_characters), 0) AS characters, "
        "coalesce(sum(failed_layers), 0) AS failed, "
        "count(*) FILTER (WHERE provider_error <> '') AS without FROM {turns}"
    ).iloc[0]
    return {
        "old_answers_some": asdict(share(int(old["some"].sum()), len(old))),
        "old_answers_all": asdict(share(int(old["all"].sum()), len(old))),
        "days": DAYS,
        "turns": int(turns["turns"]),
        "characters_per_turn": round(float(turns["characters"]), 1),
        "failed_layers": int(turns["failed"]),
        "provider_errors": int(turns["without"]),
        "answers": summary(answers(run)),
        "inconclusive": bool(failed),
        "failures": failed,
    }


def report(run: Tables, days: int = DAYS) -> dict[str, Any]:
    """Everything this module measures of a run, as plain values for JSON."""
    asked, given = questions(run), answers(run)
    old = older_than(asked, days)
    counted = measured(asked)
    failed = failures(run)
    return {
        "run": run.name,
        "days": days,
        "inconclusive": bool(failed),
        "failures": failed,
        "failure_reasons": reasons(run),
        "questions": coverage(asked),
        "overall": _shares(counted),
        "old": _shares(old),
        "old_only_cited": only_cited(old),
        "old_by_language": _records(by_group(old, "language")),
        "old_by_kind": _records(by_group(old, "kind")),
        "old_paraphrased": _records(by_group(old, "paraphrased")),
        "by_age": _records(by_age(asked, days).drop(columns=["from", "to"])),
        "by_kind": _records(by_group(asked, "kind")),
        "by_language": _records(by_group(asked, "language")),
        "by_paraphrased": _records(by_group(asked, "paraphrased")),
        "by_layer": _records(by_layer(asked)),
        "funnel": _records(funnel(asked)),
        "ranking": ranking(run, asked),
        "unanswerable": irrelevant(asked),
        "characters_per_question": characters_per_question(asked),
        "tool_characters_per_question": tool_characters_per_question(asked),
        "answers": summary(given),
        "old_answers": summary(given[given["age_days"] >= days]),
    }


_COLUMNS = [
    f"{name}_{part}" for name in ("some", "all") for part in ("hits", "value", "low", "high")
] + ["count", "cut", "characters"]


def _shares(asked: pd.DataFrame) -> dict[str, Any]:
    """`some` and `all` of these questions with intervals, how many had a message only cut, and the
    characters of their prompts on average."""
    count = len(asked)
    row: dict[str, Any] = {}
    for name in ("some", "all"):
        row |= _share_columns(f"{name}_", share(int(asked[name].sum()), count))
        del row[f"{name}_count"]
    row["count"] = count
    row["cut"] = int((asked["cut"] > 0).sum())
    row["characters"] = round(float(asked["characters"].mean()), 1) if count else None
    return row


def _share_columns(prefix: str, value: Share) -> dict[str, Any]:
    return {f"{prefix}{name}": one for name, one in asdict(value).items()}


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: _plain(value) for name, value in row.items()} for row in records(frame)]


def _plain(value: Any) -> Any:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return list(value)
    return None if value is None or value != value else getattr(value, "item", lambda: value)()
