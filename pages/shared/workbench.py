"""What every page starts from: the runs folder, opened runs, and the view that a URL names.

A view is a handful of query parameters (run, conversation, turn, days …), so that a link opens what
its sender saw. Caches are keyed by folder and hold only what is immutable. What people and prompts
say is never handed to anything that reads Markdown: `escaped` and `failure` are for that.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from eval import recall
from eval.arms_report import ArmsReport, compare_arms
from eval.demo import ensure_demo
from eval.errors import RunError
from eval.overview import changed_in_words, first_choice
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
def _open(path: str, modified: float) -> Run:  # noqa: ARG001 - a part of the cache's key
    return Run(Path(path))


def open_run(info: RunInfo) -> Run:
    """An opened run; raises `RunError` where it cannot be used."""
    return _open(str(info.folder), _written(info.folder))


@st.cache_data(max_entries=32, show_spinner=False)
def _questions(path: str, modified: float, _run: Run) -> pd.DataFrame:  # noqa: ARG001
    return recall.questions(_run)


def questions_of(run: Run) -> pd.DataFrame:
    """A run's questions; raises `RunError` where they cannot be read."""
    return _questions(str(run.folder), _written(run.folder), run)


@st.cache_data(max_entries=32, show_spinner=False)
def _ranking(path: str, modified: float, _run: Run) -> dict[str, float]:  # noqa: ARG001
    return recall.ranking(_run, recall.questions(_run))


def ranking_of(run: Run) -> dict[str, float]:
    """How well a run's search ranked; raises `RunError` where it cannot be read."""
    return _ranking(str(run.folder), _written(run.folder), run)


@st.cache_data(max_entries=32, show_spinner=False)
def _arms(key: tuple[tuple[str, float], ...], days: int, _runs: list[Run]) -> ArmsReport:  # noqa: ARG001
    return compare_arms(_runs, days)


def arms_of(runs: list[Run], days: int) -> ArmsReport:
    """Runs, one an arm, set side by side; raises `RunError` where one cannot be read."""
    return _arms(tuple((str(run.folder), _written(run.folder)) for run in runs), days, runs)


def _written(folder: Path) -> float:
    """When a run was written: with its folder, the key of whatever is cached of it."""
    try:
        return (folder / "manifest.json").stat().st_mtime
    except OSError:
        return 0.0


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
        failure(wording.DEMO_FAILED, error)
    finally:
        bar.empty()
    st.session_state["demo_ready"] = True


def parameter(name: str, default: str = "") -> str:
    """A query parameter of the address."""
    return str(st.query_params.get(name, default))


def number_parameter(name: str, default: int, low: int, high: int) -> int:
    """A whole number of the address, brought within bounds; the default where it is no number."""
    try:
        return min(max(int(parameter(name)), low), high)
    except ValueError:
        return default


def remember(**values: Any) -> None:
    """Puts values into the address, and takes out those that are None."""
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != str(value):
            st.query_params[name] = str(value)


def link(page: str, **values: Any) -> str:
    """The address of a page with a view, from the root of this server: `/turn?run=…&turn=4`."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{'/' + base if base else ''}/{page}?{urlencode(values)}"


def choose_run() -> Run | None:
    """The run that the address or the person names; a message where there is none to open."""
    found = runs()
    usable = [info for info in found if info.complete]
    if not usable:
        st.info(wording.NO_RUNS, icon=":material/info:")
        for info in found:
            failure(wording.RUN_UNUSABLE, f"{info.name}: {info.problem}", warning=True)
        st.page_link("pages/runs.py", label=wording.TO_RUNS)
        return None
    names = [info.name for info in usable]
    wanted = parameter("run")
    if wanted and wanted not in names:
        broken = next((info for info in found if info.name == wanted), None)
        problem = broken.problem if broken else wording.UNKNOWN_RUN
        failure(wording.RUN_NOT_USABLE, f"{wanted}: {problem}", warning=True)
        another: str | None = st.selectbox(
            wording.RUN, names, index=None, placeholder=wording.CHOOSE_RUN
        )
        if another is not None:
            remember(run=another, conversation=None, turn=None)
            st.rerun()
        return None
    start = wanted if wanted in names else first_choice(found)
    index = names.index(start) if start in names else 0
    labels = {info.name: _label(info) for info in usable}
    name = st.selectbox(wording.RUN, names, index=index, format_func=lambda one: labels[one])
    remember(run=name)
    try:
        return open_run(next(info for info in usable if info.name == name))
    except RunError as error:
        failure(wording.RUN_CANNOT_OPEN, error)
        return None


def _label(info: RunInfo) -> str:
    changed = changed_in_words(info)
    return wording.RUN_OPTION.format(run=info.name, changed=changed) if changed else info.name


def escaped(text: object) -> str:
    """Text that Markdown shows as it is. One line; for longer text use `st.code` or `st.text`."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$~|<>:=&\"'])", r"\\\1", " ".join(str(text).split()))


def failure(says: str, detail: object, warning: bool = False) -> None:
    """A message of ours, and beneath it the whole of what went wrong, as it is."""
    (st.warning if warning else st.error)(says, icon=":material/warning:")
    st.code(str(detail), language=None, wrap_lines=True)


def download(label: str, table: pd.DataFrame, name: str) -> None:
    """A button that downloads a table as CSV, made when it is pressed."""
    st.download_button(
        label,
        lambda: table.to_csv(index=False).encode("utf-8-sig"),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"download-{name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def figure(made: go.Figure, name: str, alt: str) -> None:
    """A figure as wide as the page, with what it shows in words, and a button that downloads it."""
    picture(made, name, alt)
    download_figure(made, name)


def picture(made: go.Figure, name: str, alt: str) -> None:
    """A figure alone; its own toolbar downloads it as a picture."""
    st.plotly_chart(
        made,
        key=f"figure-{name}",
        alt=alt,
        config={
            "displaylogo": False,
            "toImageButtonOptions": {"filename": name, "scale": 2},
            "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"],
        },
    )


def download_figure(made: go.Figure, name: str) -> None:
    """A button that downloads a figure as a page of its own."""
    st.download_button(
        wording.FIGURE_HTML,
        lambda: made.to_html(include_plotlyjs=True, full_html=True).encode(),
        file_name=f"{name}.html",
        mime="text/html",
        key=f"download-figure-{name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )
