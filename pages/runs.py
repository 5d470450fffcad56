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
from eval.stats import interval, percent
from pages.shared import replays, wording, workbench
from pages.shared.workbench import escaped

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
        says = wording.RUNS_BEST.format(**in_words(best))
        more = wording.RUNS_BEST_DETAIL.format(**in_words(best))
    elif yardsticks:
        says = wording.RUNS_ONLY_YARDSTICK.format(**in_words(yardsticks[0]))
        more = ""
    else:
        says = wording.RUNS_NOTHING_MEASURED
        more = wording.RUNS_NOTHING_MEASURED_DETAIL.format(days=DAYS)
    for row in yardsticks:
        more += " " + wording.RUNS_YARDSTICK.format(**in_words(row))
    st.markdown(f"### {says}", help=wording.RUNS_REACHED_HELP)
    if more:
        st.markdown(more)


def choose(table: pd.DataFrame, first: str | None) -> int:
    """The table; returns the place of the chosen run, which the address keeps by name."""
    names = list(table["run"])
    wanted = workbench.parameter("run")
    if wanted and wanted not in names:
        workbench.failure(wording.RUNS_UNKNOWN, wanted, warning=True)
    start = wanted if wanted in names else first
    place = names.index(start) if start in names else 0
    shown = as_shown(table)
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
    event = st.dataframe(
        shown,
        key=f"runs-{digest}",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [place]}},
        height="content" if len(table) <= MOST_ROWS else 36 * MOST_ROWS,
        column_config=_columns(),
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


def as_shown(table: pd.DataFrame) -> pd.DataFrame:
    """The overview in the words and the order of the screen."""
    replaying = replays.current(workbench.folder())
    busy = replaying.run if replaying else None
    rows = [
        {
            wording.COLUMN_MARK: _mark(row),
            wording.COLUMN_ARM: row["arm"] or "–",
            wording.COLUMN_CHANGED: row["changed"] or wording.NO_CHANGES,
            wording.COLUMN_REACHED: row["reached"] * 100,
            wording.COLUMN_INTERVAL: _interval(row),
            wording.COLUMN_CHARACTERS: _characters(row),
            wording.COLUMN_STATE: (
                wording.STATE_REPLAYING if row["run"] == busy else wording.STATE[row["state"]]
            ),
            wording.COLUMN_ERRORS: _errors(row),
            wording.COLUMN_ASKED: f"{_count(row['questions'])} / {_count(row['turns'])}",
            wording.COLUMN_DATASET: row["data"] or "–",
            wording.COLUMN_PROVIDER: row["provider"] or "–",
            wording.COLUMN_STARTED: row["started"],
            wording.COLUMN_RUN: row["run"],
        }
        for row in table.to_dict(orient="records")
    ]
    return pd.DataFrame(rows)


def details(info: RunInfo, row: pd.Series[Any]) -> None:
    """The chosen run in words, the ways on from it, or what is wrong and what to do."""
    with st.container(border=True):
        st.caption(wording.CHOSEN)
        st.text(info.name)
        if info.complete:
            measured = row["reached"] == row["reached"]
            says = wording.CHOSEN_WORDS if measured else wording.CHOSEN_UNMEASURED
            st.markdown(says.format(**in_words(row)))
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


def in_words(row: dict[str, Any] | pd.Series[Any]) -> dict[str, str]:
    """The pieces of a sentence about a run, ready for Markdown."""
    days = row["days"]
    return {
        "arm": escaped(row["arm"] or "?"),
        "dataset": escaped(row["data"] or "?"),
        "changed": f" ({escaped(row['changed'])})" if row["changed"] else "",
        "provider": escaped(_provider(row["provider"])),
        "share": escaped(percent(row["reached"])),
        "interval": escaped(interval(row["low"], row["high"])),
        "days": str(int(days) if days == days else DAYS),
        "hits": _count(row["hits"]),
        "count": _count(row["count"]),
        "characters": _count(row["characters"]),
        "per": str(row["per"]),
    }


def _mark(row: dict[str, Any]) -> str:
    marks = [(row["best"], wording.MARK_BEST), (row["newest"], wording.MARK_NEWEST)]
    return ", ".join(mark for holds, mark in marks if holds)


def _interval(row: dict[str, Any]) -> str:
    if row["reached"] != row["reached"]:
        return "–"
    of = wording.HITS_OF_COUNT.format(hits=_count(row["hits"]), count=_count(row["count"]))
    return f"{interval(row['low'], row['high'])} ({of})"


def _characters(row: dict[str, Any]) -> str:
    return _count(row["characters"]) + (" (q)" if row["per"] == "question" else "")


def _errors(row: dict[str, Any]) -> str:
    if row["state"] != "complete":
        return "–"
    found = []
    if row["failed_layers"] > 0:
        one = row["failed_layers"] == 1
        words = wording.ONE_FAILED_LAYER if one else wording.FAILED_LAYERS
        found.append(words.format(count=_count(row["failed_layers"])))
    if row["refused"] > 0:
        found.append(wording.REFUSED.format(count=_count(row["refused"])))
    return ", ".join(found) or wording.NO_ERRORS


def _provider(provider: str) -> str:
    name, _, mode = provider.partition(": ")
    return wording.NO_PROVIDER.format(mode=mode) if name == "none" else provider or "?"


def _count(value: float) -> str:
    return "–" if value != value else f"{value:,.0f}"


def _columns() -> dict[str, Any]:
    column = st.column_config
    return {
        wording.COLUMN_REACHED: column.ProgressColumn(
            min_value=0, max_value=100, format="%.0f%%", help=wording.HELP_REACHED, width=150
        ),
        wording.COLUMN_INTERVAL: column.TextColumn(help=wording.HELP_INTERVAL),
        wording.COLUMN_CHARACTERS: column.TextColumn(
            help=wording.HELP_CHARACTERS, alignment="right"
        ),
        wording.COLUMN_MARK: column.TextColumn(width=84),
        wording.COLUMN_CHANGED: column.TextColumn(width=190),
        wording.COLUMN_ERRORS: column.TextColumn(help=wording.HELP_ERRORS),
        wording.COLUMN_PROVIDER: column.TextColumn(help=wording.HELP_PROVIDER),
        wording.COLUMN_STARTED: column.DatetimeColumn(format="D MMM YY, HH:mm", timezone="UTC"),
    }


show()
