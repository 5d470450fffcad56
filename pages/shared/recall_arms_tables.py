"""The tables of the arms side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from eval.arms_report import ArmsReport, rows_of
from eval.stats import interval, p_value, percent
from pages.shared import wording as common
from pages.shared import wording_arms as wording
from pages.shared import workbench


def arms(table: pd.DataFrame, report: ArmsReport, changed: str, name: str) -> None:
    """What each arm reached and cost, and how it differs from the first search."""
    shown = pd.DataFrame([_arm(row, changed, report.days) for row in rows_of(table)])
    against = list(dict.fromkeys(report.paired["against"]))
    first = table.loc[table["run"].isin(against), "arm"]
    words = wording.TABLE_CAPTION.format(arm=first.iloc[0]) if len(first) else wording.NO_FIRST
    st.caption(words)
    if not table["inconclusive"].any():
        shown = shown.drop(columns=wording.STATE)
    if not any(row["tools_per_question"] for row in rows_of(table)):
        shown = shown.drop(columns=[wording.TOOLS, wording.USED])
    _show(shown, f"{name}-table")
    workbench.download(common.RUNS_DOWNLOAD, table, f"{name}-table")


def called(report: ArmsReport, name: str) -> None:
    """Old answers apart by whether the search tool was called, where an arm can call it."""
    rows = [row for row in rows_of(report.called) if row["count"]]
    if not rows:
        return
    st.markdown(wording.CALLED)
    right = any(row.get("right_value") is not None for row in rows)
    shown = [
        {
            wording.ARM: row["arm"],
            wording.SEARCH_TOOL: wording.YES if row["called"] else wording.NO,
            **_share(row, "some", wording.SOME),
            **(_share(row, "right", wording.RIGHT) if right else {}),
        }
        for row in rows
    ]
    _show(pd.DataFrame(shown), f"{name}-called")
    workbench.download(common.RUNS_DOWNLOAD, report.called, f"{name}-called")


def answers(table: pd.DataFrame, name: str) -> None:
    """How a brain's answers fared beside their evidence; nothing where none was asked."""
    given = table[table["answers"].fillna(0) > 0]
    if given.empty:
        return
    by = " / ".join(dict.fromkeys(wording.ANSWERED_BY[one] for one in given["right_by"]))
    st.markdown(wording.ANSWERS)
    st.caption(wording.ANSWERS_CAPTION.format(by=by))
    _show(pd.DataFrame([_answers(row) for row in rows_of(given)]), f"{name}-answers")
    workbench.download(common.RUNS_DOWNLOAD, given, f"{name}-answers")


def _arm(row: dict[str, Any], changed: str, days: int) -> dict[str, Any]:
    return {
        wording.ARM: wording.YARDSTICK.format(arm=row["arm"]) if row["yardstick"] else row["arm"],
        wording.OPEN: workbench.link("recall", run=row["run"], days=days),
        **_share(row, "some", wording.SOME),
        **_share(row, "all", wording.ALL),
        wording.CHARACTERS: round(row["per_question"]),
        wording.TOOLS: row["tools_per_question"] or None,
        wording.USED: _of(row["searched"], row["questions"]) if row["searched"] else None,
        **_difference(row),
        wording.STATE: row["inconclusive"] or wording.CONCLUSIVE,
        wording.CHANGED: changed or common.NO_CHANGES,
        wording.ABOUT: row["about"],
        wording.RUN: row["run"],
    }


def _difference(row: dict[str, Any]) -> dict[str, Any]:
    if not row["some_pairs"]:
        return {wording.DIFFERENCE: None, wording.CHANGES: None, wording.P: None}
    points = wording.POINTS.format(points=row["some_difference"] * 100)
    changes = wording.GAINED_LOST.format(gained=int(row["some_gained"]), lost=int(row["some_lost"]))
    return {
        wording.DIFFERENCE: points.replace("-", "−"),
        wording.CHANGES: changes,
        wording.P: p_value(row["some_p"]),
    }


def _answers(row: dict[str, Any]) -> dict[str, Any]:
    count = int(row["answers"])
    judged = row["judged_value"] is not None
    return {
        wording.ARM: row["arm"],
        wording.COUNT: count,
        wording.EXACT: _told(row, "exact_match", count),
        wording.F1: row["f1"],
        wording.JUDGED: _told(row, "judged", count) if judged else wording.NO_JUDGE,
        wording.FAILED: int(row["failed"]),
        **{words: int(row[name]) for name, words in wording.TWO_BY_TWO.items()},
        wording.STATE: row["inconclusive"] or wording.CONCLUSIVE,
        wording.OPEN: workbench.link("recall", run=row["run"]),
    }


def _share(row: dict[str, Any], name: str, title: str) -> dict[str, Any]:
    """A share as a bar, and its interval and counts as words."""
    value = row[f"{name}_value"]
    return {
        title: None if value is None else value * 100,
        f"{title}: {wording.INTERVAL}": _interval(row, name, row["count"]),
    }


def _told(row: dict[str, Any], name: str, count: int) -> str:
    return f"{percent(row[f'{name}_value'])}, {_interval(row, name, count)}"


def _interval(row: dict[str, Any], name: str, count: int) -> str:
    if not count or row[f"{name}_value"] is None:
        return wording.NONE
    told = interval(row[f"{name}_low"], row[f"{name}_high"])
    return f"{told} ({_of(row[f'{name}_hits'], count)})"


def _of(hits: float, count: int) -> str:
    return wording.OF.format(hits=int(hits), count=count)


def _show(shown: pd.DataFrame, name: str) -> None:
    column = st.column_config
    bar = {"min_value": 0, "max_value": 100, "format": "%.0f%%", "width": 110}
    configured: dict[str, Any] = {
        wording.SOME: column.ProgressColumn(help=wording.HELP[wording.SOME], **bar),
        wording.ALL: column.ProgressColumn(help=wording.HELP[wording.ALL], color="gray", **bar),
        wording.RIGHT: column.ProgressColumn(**bar),
        wording.OPEN: column.LinkColumn(display_text=wording.OPEN_TEXT, width=62),
        wording.CHARACTERS: column.NumberColumn(
            format="%,.0f", help=wording.HELP[wording.CHARACTERS]
        ),
        wording.TOOLS: column.NumberColumn(format="%,.0f", help=wording.HELP[wording.TOOLS]),
        wording.F1: column.NumberColumn(format="%.2f"),
        wording.ABOUT: column.TextColumn(width=320),
    }
    for title in (wording.USED, wording.DIFFERENCE, wording.P, wording.STATE):
        configured[title] = column.TextColumn(help=wording.HELP[title])
    if wording.STATE in shown and shown[wording.STATE].ne(wording.CONCLUSIVE).any():
        configured[wording.STATE] = column.TextColumn(help=wording.HELP[wording.STATE], width=330)
    for title in (wording.SOME, wording.ALL, wording.RIGHT):
        configured[f"{title}: {wording.INTERVAL}"] = column.TextColumn(wording.INTERVAL)
    st.dataframe(
        shown,
        hide_index=True,
        key=f"table-{name}",
        height="content",
        placeholder=wording.NONE,
        column_config=configured,
    )
