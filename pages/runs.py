"""Runs: which way of remembering works best so far, what there is, and a new replay."""

from __future__ import annotations

import hashlib
from typing import Any

import pandas as pd
import streamlit as st

from eval.background import request_to_resume
from eval.errors import RunError
from eval.overview import compared, first_choice, overview, settings_of
from eval.recall import DAYS
from eval.runs import RunInfo
from pages.shared import door, replays, run_table, wording, workbench

MOST_ROWS = 10  # before the table scrolls


def show() -> None:
    """The page."""
    done = replays.finished_run()
    if done:
        workbench.remember(run=done)
    found = workbench.runs()
    table = overview(found)
    st.caption(wording.RUNS_QUESTION)
    answer(table)
    name = None
    if found:
        chosen = choose(table, first_choice(found))
        details(found[chosen], table.iloc[chosen])
        name = found[chosen].name
    if replays.current(workbench.folder()) is not None:
        replays.watch(workbench.folder())
    well = replays.outcome(name)
    opened = not found or not well
    with st.expander(wording.REPLAY, expanded=opened, icon=":material/play_arrow:"):
        replays.form(workbench.folder())


def answer(table: pd.DataFrame) -> None:
    """The page's question, answered in words."""
    best, yardsticks = compared(table)
    if table.empty:
        says, more = wording.RUNS_EMPTY, wording.RUNS_EMPTY_DETAIL
    elif best is not None:
        says = wording.RUNS_BEST.format(**run_table.in_words(best))
        more = wording.RUNS_BEST_DETAIL.format(**run_table.in_words(best))
    elif yardsticks:
        says = wording.RUNS_ONLY_YARDSTICK.format(**run_table.in_words(yardsticks[0]))
        more = ""
    else:
        says = wording.RUNS_NOTHING_MEASURED
        more = wording.RUNS_NOTHING_MEASURED_DETAIL.format(days=DAYS)
    for row in yardsticks:
        more += " " + wording.RUNS_YARDSTICK.format(
            what=wording.YARDSTICKS.get(row["arm"], ""), **run_table.in_words(row)
        )
    st.markdown(f"### {says}")
    if more:
        st.markdown(more, help=wording.RUNS_REACHED_HELP)


def choose(table: pd.DataFrame, first: str | None) -> int:
    """The table; returns the place of the chosen run, which the address keeps by name."""
    names = list(table["run"])
    wanted = workbench.parameter("run")
    if wanted and wanted not in names:
        workbench.failure(wording.RUNS_UNKNOWN, wanted, warning=True)
    start = wanted if wanted in names else first
    place = names.index(start) if start in names else 0
    replaying = replays.current(workbench.folder())
    shown = run_table.as_shown(table, replaying.run if replaying else None)
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
    event = st.dataframe(
        shown,
        key=f"runs-{digest}",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [place]}},
        height="content" if len(table) <= MOST_ROWS else 36 * MOST_ROWS,
        column_config=run_table.columns(shown),
        placeholder="–",
        alt=wording.RUNS_TABLE_ALT,
    )
    rows = event["selection"]["rows"]
    place = rows[0] if rows and rows[0] < len(names) else place
    workbench.remember(run=names[place])
    unusable = int((table["state"] != "complete").sum())
    if unusable:
        st.caption(wording.RUNS_UNUSABLE.format(count=unusable, total=len(table)))
    workbench.download(wording.RUNS_DOWNLOAD, table, "runs")
    return int(place)


def details(info: RunInfo, row: pd.Series[Any]) -> None:
    """The chosen run in words, the ways on from it, or what is wrong and what to do."""
    with st.container(border=True):
        st.caption(wording.CHOSEN)
        st.text(info.name)
        if info.complete:
            if row["inconclusive"]:
                says = wording.RUN_INCONCLUSIVE.format(why=workbench.escaped(row["inconclusive"]))
                st.warning(says, icon=":material/warning:")
            measured = row["reached"] == row["reached"]
            says = wording.CHOSEN_WORDS if measured else wording.CHOSEN_UNMEASURED
            st.markdown(says.format(**run_table.in_words(row)))
            one, two, _ = st.columns([1, 1, 3])
            view = {"run": info.name}
            one.page_link(
                "pages/recall.py",
                label=wording.OPEN_RECALL,
                query_params=view,
                icon=":material/show_chart:",
            )
            two.page_link(
                "pages/turn.py",
                label=wording.OPEN_TURN,
                query_params=view,
                icon=":material/frame_inspect:",
            )
        else:
            _broken(info, str(row["state"]))
        if info.manifest:
            with st.expander(wording.DETAILS):
                _manifest(info)


def _broken(info: RunInfo, state: str) -> None:
    running = replays.current(workbench.folder())
    if running is not None and running.run == info.name:
        st.info(wording.STATE_REPLAYING, icon=":material/hourglass_top:")
        return
    st.warning(wording.TO_DO[state], icon=":material/warning:")
    st.code(info.problem, language=None, wrap_lines=True)
    if state == "unfinished" and st.button(
        wording.RESUME, type="primary", disabled=running is not None, icon=":material/play_arrow:"
    ):
        try:
            replays.begin(request_to_resume(info), workbench.folder())
        except (RunError, OSError) as error:
            workbench.failure(wording.REPLAY_FAILED, error)
            return
        st.rerun()


def _manifest(info: RunInfo) -> None:
    provider = info.manifest.get("provider")
    if isinstance(provider, dict):
        st.caption(wording.DETAIL_PROVIDER)
        told = (provider.get("label") or provider.get("name"), provider.get("why"))
        st.text("\n".join(str(one) for one in told if one))
    st.caption(wording.DETAIL_SETTINGS)
    st.dataframe(settings_of(info), hide_index=True)
    repairs = info.manifest.get("dataset")
    lists = {
        wording.DETAIL_REPAIRS: repairs.get("repairs") if isinstance(repairs, dict) else None,
        wording.DETAIL_REFUSED: info.manifest.get("refused"),
    }
    for title, lines in lists.items():
        st.caption(title)
        text = "\n".join(map(str, lines)) if isinstance(lines, list) else ""
        st.code(text or wording.DETAIL_NONE, language=None, wrap_lines=True)
    st.caption(wording.DETAIL_MANIFEST)
    about = {name: info.manifest.get(name) for name in ("dataset", "counts", "versions", "seed")}
    if isinstance(about["dataset"], dict):
        about["dataset"] = {k: v for k, v in about["dataset"].items() if k != "repairs"}
    st.json(about, expanded=True)


door.enter()
show()
