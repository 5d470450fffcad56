"""How a brain's answers fared, beside whether their evidence was in what it was sent.

Measured on answerable questions that have a gold answer and name their evidence; questions that
cannot be answered stand apart. A call that failed stays in every denominator, as a wrong answer,
and makes the run inconclusive.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd

from eval.grading import FAILED
from eval.runs import Run, Tables
from eval.stats import share


def answers(run: Tables) -> pd.DataFrame:
    """The run's answers, each with its question: the columns of `answers`, and of `questions`
    `text` (as `asked`), `answer` (as `gold`), `answerable`, `evidence`, `age_days`, `kind`,
    `language`, `some`, `all`, `characters`, `tool_characters`. Empty where no brain was asked."""
    return run.query(
        "SELECT a.*, q.text AS asked, q.answer AS gold, q.answerable, q.evidence, q.age_days, "
        'q.kind, q.language, q."some", q."all", q.characters, q.tool_characters '
        "FROM {answers} AS a JOIN {questions} AS q USING (conversation, turn) "
        "ORDER BY a.conversation, a.turn"
    )


def failed(given: pd.DataFrame) -> pd.Series[bool]:
    """Which answers failed: the provider did not answer in time or at all, or the model refused."""
    return given["stopped"].isin(FAILED)


def failures(run: Tables, failed_passes: int = 0) -> dict[str, int]:
    """What makes a run inconclusive: calls that failed, by who failed; empty where none did.

    `failed_passes` are the curator's; a complete run knows them itself.
    """
    given = answers(run)
    if isinstance(run, Run):
        failed_passes = (run.manifest.get("curator") or {}).get("failed", 0)
    turns = run.query("SELECT count(*) AS n FROM {turns} WHERE provider_error <> ''")["n"].iloc[0]
    counts = {
        "answers that the brain failed": int(failed(given).sum()),
        "answers that the judge failed": int((given["judge_error"] != "").sum()),
        "turns that the embedding provider failed": int(turns),
        "passes that the curator failed": failed_passes,
    }
    return {what: count for what, count in counts.items() if count}


def reasons(run: Tables) -> list[str]:
    """The commonest reason that the brain failed with, and the judge's; none where none did."""
    given = answers(run)
    said = (given.loc[failed(given), "error"], given.loc[given["judge_error"] != "", "judge_error"])
    return [str(one.value_counts(sort=True).index[0]) for one in said if len(one)]


def failures_in_words(found: dict[str, int]) -> str:
    """`inconclusive: 3 answers that the brain failed`; empty where nothing did."""
    told = ", ".join(f"{count:,} {what}" for what, count in found.items())
    return f"inconclusive: {told}" if told else ""


def measured_answers(given: pd.DataFrame) -> pd.DataFrame:
    """The answers that are measured, with `right` and `in_prompt` added.

    `right` is by the judge where any was asked, else by exact match; `in_prompt` is whether all
    evidence was in what the brain was sent.
    """
    kept = given[given["answerable"] & given["gold"].notna() & (given["evidence"].map(len) > 0)]
    return kept.assign(right=_right(kept, right_by(given)), in_prompt=kept["all"].astype(bool))


def right_by(given: pd.DataFrame) -> str:
    """By what an answer is called right: `judge` or `exact match`."""
    judged = given["judged"].notna() | (given["judge_error"] != "")
    return "judge" if judged.any() else "exact match"


def _right(given: pd.DataFrame, by: str) -> pd.Series[bool]:
    column = given["judged" if by == "judge" else "exact_match"]
    return pd.Series([not pd.isna(one) and bool(one) for one in column], given.index, dtype=bool)


def summary(given: pd.DataFrame) -> dict[str, Any] | None:
    """What is measured of these answers, as plain values; None where there are none.

    `exact_match`, `judged` (None without a judge), `in_prompt`, `right` and `both` are shares with
    Wilson intervals of the same `count`; `table` has the four counts of evidence in the prompt and
    answer right. `f1` is the mean. `abstained` is of unanswerable questions, by the judge.
    """
    if given.empty:
        return None
    counted, by = measured_answers(given), right_by(given)
    count = len(counted)
    right, there = counted["right"], counted["in_prompt"]
    empty = given[~given["answerable"].astype(bool)]
    return {
        "count": count,
        "failed": int(failed(counted).sum()),
        "right_by": by,
        "exact_match": _share(_right(counted, "exact match")),
        "f1": round(float(counted["f1"].mean()), 4) if count else None,
        "judged": _share(_right(counted, "judge")) if by == "judge" else None,
        "in_prompt": _share(there),
        "right": _share(right),
        "both": _share(there & right),
        "table": {
            "in_prompt_right": int((there & right).sum()),
            "in_prompt_wrong": int((there & ~right).sum()),
            "absent_right": int((~there & right).sum()),
            "absent_wrong": int((~there & ~right).sum()),
        },
        "unanswerable": {
            "count": len(empty),
            "failed": int(failed(empty).sum()),
            "abstained": _share(_right(empty, "judge")) if by == "judge" else None,
        },
        "tokens_in": _total(given, "tokens_in"),
        "tokens_out": _total(given, "tokens_out"),
    }


def _share(which: pd.Series[bool]) -> dict[str, Any]:
    return asdict(share(int(which.sum()), len(which)))


def _total(given: pd.DataFrame, column: str) -> int | None:
    """The sum over the answers whose provider counted; None where none did."""
    counted = given[column].dropna()
    return int(counted.sum()) if len(counted) else None
