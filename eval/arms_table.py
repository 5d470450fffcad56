"""Arms side by side as one table, a row an arm: what a screen shows and a file holds."""

from __future__ import annotations

import pandas as pd

from eval.arms import ARMS
from eval.arms_report import ArmsReport

_PAIRED = ("gained", "lost", "difference", "p")
_SHARES = ("exact_match", "judged", "right", "both")
_ANSWERS = [
    "right_by", "f1", "failed",
    *(f"{name}_{part}" for name in _SHARES for part in ("hits", "value", "low", "high")),
    "in_prompt_right", "in_prompt_wrong", "absent_right", "absent_wrong",
]  # fmt: skip


def arms_table(report: ArmsReport) -> pd.DataFrame:
    """A row an arm, in the order of `ARMS`, which has the yardsticks last.

    The columns of `report.arms`, and beside them, missing where they cannot be told:

    - against the first search, for the measures `some`, `all` and `right`: `some_pairs` (questions
      that both have), `some_gained`, `some_lost`, `some_difference`, `some_p`;
    - of the answers of a brain, to old questions: `answers` (how many are measured), `right_by`,
      `f1`, `failed`, `exact_match_`, `judged_`, `right_` and `both_` with `hits`, `value`, `low`,
      `high`, and the four counts `in_prompt_right`, `in_prompt_wrong`, `absent_right`,
      `absent_wrong`.
    """
    table = report.arms
    for measure in ("some", "all", "right"):
        part = report.paired[report.paired["measure"] == measure]
        names = {"count": f"{measure}_pairs"} | {name: f"{measure}_{name}" for name in _PAIRED}
        table = table.merge(part[["run", *names]].rename(columns=names), how="left", on="run")
    table = table.merge(_old_answers(report), how="left", on="run")
    order = list(ARMS)
    place = table["arm"].map(lambda arm: order.index(arm) if arm in order else len(order))
    place += len(order) * table["yardstick"].astype(int)
    return table.loc[place.sort_values(kind="stable").index].reset_index(drop=True)


def _old_answers(report: ArmsReport) -> pd.DataFrame:
    given = report.answers
    if given.empty:
        return pd.DataFrame(columns=["run", "answers", *_ANSWERS])
    old = given[given["ages"] == "old"].rename(columns={"count": "answers"})
    return old.reindex(columns=["run", "answers", *_ANSWERS])
