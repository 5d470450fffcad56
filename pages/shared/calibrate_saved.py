"""The cutoffs that are saved beside the runs, and whether the scores have moved since."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from eval.calibration_records import Record, load_records
from eval.calibration_view import drift_of, saved_table
from eval.errors import DatasetError
from eval.score_column import ScoreColumn
from pages.shared import wording_calibrate as wording
from pages.shared import workbench

FILE = "cutoffs.json"


def path() -> Path:
    """Where cutoffs are saved: beside the runs, where the replay form finds them."""
    return workbench.folder() / FILE


def records() -> tuple[Record, ...]:
    """The saved cutoffs. Raises `DatasetError` where the file is none of ours."""
    return load_records(path()) if path().exists() else ()


def show(column: ScoreColumn | None) -> None:
    """The table of them, and the drift of the column that is on the screen."""
    st.subheader(wording.SAVED_TITLE)
    try:
        found = records()
    except DatasetError as error:
        workbench.failure(wording.SAVED_BROKEN, error)
        return
    if not found:
        st.caption(wording.SAVED_NONE)
        return
    moved = drift_of(found, column) if column is not None else None
    if moved is not None:
        record, has_moved, words = moved
        if has_moved:
            workbench.failure(wording.DRIFTED.format(date=record.date), words, warning=True)
        else:
            st.caption(wording.NOT_DRIFTED.format(date=record.date))
    table = saved_table(found)
    st.dataframe(table, hide_index=True, column_config=wording.SAVED_COLUMNS)
    workbench.download(wording.SAVED_DOWNLOAD, table, "cutoffs")
