"""What every page starts from: the runs folder, opened runs, and the view that a URL names.

A view is a handful of query parameters (run, conversation, turn, days …), so that a link opens what
its sender saw. Caches are keyed by folder and hold only what is immutable.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from eval.demo import ensure_demo
from eval.errors import RunError
from eval.runs import Run, RunInfo, list_runs
from eval.workplace import runs_folder
from memcore import MnemoscopeError
from pages.shared import wording


def folder() -> Path:
    """Where the runs are."""
    return runs_folder()


def runs() -> list[RunInfo]:
    """All runs, newest first; reads manifests only."""
    return list_runs(folder())


@st.cache_resource(max_entries=16, show_spinner=False)
def _open(path: str, modified: float) -> Run:
    return Run(Path(path))


def open_run(info: RunInfo) -> Run:
    """An opened run; raises `RunError` where it cannot be used."""
    return _open(str(info.folder), (info.folder / "manifest.json").stat().st_mtime)


def make_demo() -> None:
    """Makes the demo runs on first start, with progress; says what to do where that fails."""
    if st.session_state.get("demo_ready"):
        return
    bar = st.empty()
    try:
        ensure_demo(
            folder(),
            lambda share, arm: bar.progress(share, wording.DEMO_PROGRESS.format(arm=arm)),
        )
    except (MnemoscopeError, OSError) as error:
        st.error(wording.DEMO_FAILED.format(error=error))
    finally:
        bar.empty()
    st.session_state["demo_ready"] = True


def parameter(name: str, default: str = "") -> str:
    """A query parameter of the address."""
    return str(st.query_params.get(name, default))


def remember(**values: Any) -> None:
    """Puts values into the address, and takes out those that are None."""
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != str(value):
            st.query_params[name] = str(value)


def choose_run() -> Run | None:
    """The run that the address or the person names; a message instead where there is none to open."""
    found = runs()
    usable = [info for info in found if info.complete]
    if not usable:
        st.info(wording.NO_RUNS)
        return None
    names = [info.name for info in usable]
    wanted = parameter("run")
    if wanted and wanted not in names:
        broken = next((info for info in found if info.name == wanted), None)
        problem = broken.problem if broken else wording.UNKNOWN_RUN
        st.warning(wording.RUN_NOT_USABLE.format(run=wanted, problem=problem))
    index = names.index(wanted) if wanted in names else 0
    name = st.selectbox(wording.RUN, names, index=index)
    remember(run=name)
    try:
        return open_run(next(info for info in usable if info.name == name))
    except RunError as error:
        st.error(str(error))
        return None


def download(label: str, table: pd.DataFrame, name: str) -> None:
    """A button that downloads a table as CSV."""
    text = table.to_csv(index=False).encode("utf-8-sig")
    st.download_button(label, text, file_name=f"{name}.csv", mime="text/csv")
