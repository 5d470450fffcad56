"""The tables of the Recall page: shares with their intervals, and the lost answers."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from eval.runs import Run
from eval.stats import interval
from pages.shared import wording, workbench


def shares_table(table: pd.DataFrame, first: str, name: str) -> None:
    """A table of shares with their intervals and counts; `first` names its rows."""
    shown = {first: table[first], "count": table["count"]}
    for which in ("some", "all"):
        shown[which] = table[f"{which}_value"].astype(float) * 100
        pairs = zip(table[f"{which}_low"], table[f"{which}_high"], strict=True)
        shown[f"{which}_interval"] = [interval(*pair) for pair in pairs]
    shown["characters"] = table["characters"]
    column = st.column_config
    share = {"min_value": 0, "max_value": 100, "format": "%.0f%%", "width": 150}
    st.dataframe(
        pd.DataFrame(shown),
        hide_index=True,
        key=f"table-{name}",
        placeholder="–",
        column_config={
            "age": wording.GROUP_AGE,
            "count": column.NumberColumn(wording.GROUP_QUESTIONS, format="localized"),
            "some": column.ProgressColumn(wording.GROUP_SOME, **share),
            "some_interval": wording.COLUMN_INTERVAL,
            "all": column.ProgressColumn(wording.GROUP_ALL, color="gray", **share),
            "all_interval": f"{wording.COLUMN_INTERVAL} ",
            "characters": column.NumberColumn(wording.GROUP_CHARACTERS, format="%,.0f"),
        },
    )
    workbench.download(wording.RUNS_DOWNLOAD, table, name)


def lost_table(run: Run, part: pd.DataFrame) -> None:
    shown = pd.DataFrame(
        {
            wording.LOST_OPEN: [
                workbench.link("turn", run=run.name, conversation=row.conversation, turn=row.turn)
                for row in part.itertuples()
            ],
            wording.LOST_COLUMNS["text"]: part["text"],
            wording.LOST_COLUMNS["answer"]: part["answer"],
            wording.LOST_COLUMNS["age"]: part["age_days"] // 1,
            wording.LOST_COLUMNS["in_prompt"]: [
                f"{row.reached} of {row.of}" for row in part.itertuples()
            ],
            wording.LOST_COLUMNS["detail"]: part["detail"],
            wording.LOST_COLUMNS["kind"]: part["kind"],
            wording.LOST_COLUMNS["language"]: part["language"],
            wording.LOST_COLUMNS["conversation"]: part["conversation"],
        }
    )
    column = st.column_config
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            wording.LOST_OPEN: column.LinkColumn(display_text=wording.LOST_OPEN_TEXT, width=60),
            wording.LOST_COLUMNS["text"]: column.TextColumn(width=360),
            wording.LOST_COLUMNS["answer"]: column.TextColumn(width=230),
            wording.LOST_COLUMNS["age"]: column.NumberColumn(format="%.0f", width=80),
            wording.LOST_COLUMNS["detail"]: column.TextColumn(width=225),
        },
    )


def download_lost(lost: pd.DataFrame, name: str) -> None:
    table = lost.assign(
        evidence=lost["evidence"].map(" ".join), layers=lost["layers"].map(" ".join)
    )
    workbench.download(wording.RECALL_LOST_DOWNLOAD, table, f"{name}-lost")
