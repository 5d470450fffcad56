"""What a cutoff does: both distributions, the line that can be moved, and the pairs beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pandas as pd
import streamlit as st

from eval import figures_calibration as figures
from eval.calibration import Calibration
from eval.calibration_view import (
    best_four,
    cases,
    held_out_table,
    languages_table,
    nearest_cutoff,
    not_saved,
    origin_table,
    record_json,
    report_json,
    start_of,
)
from eval.score_column import as_parquet
from pages.shared import calibrate_turn, workbench
from pages.shared import wording_calibrate as wording
from pages.shared.html import Html, tag, words
from pages.shared.workbench import escaped

_PICTURE = "calibrate-distributions"


@st.fragment
def show(made: Calibration) -> None:
    """Everything beneath the answer, for the cutoff that the line stands at."""
    left, right = st.columns([5, 6], gap="medium")
    with left:
        above = st.container(gap=None)
        cutoff = _line(made)
        pair = figures.distributions(made.histogram, cutoff, made.low, made.high)
        with above:
            st.html(tag("div", tag("b", wording.PICTURE), f" · {wording.PICTURE_LEGEND}",
                        cls="m-quiet-text"))  # fmt: skip
            workbench.picture(pair, _PICTURE, wording.PICTURE_ALT)
        workbench.download_figure(pair, _PICTURE)
    with right:
        st.markdown(f"**{escaped(made.verdict(cutoff).words)}.**")
        if four := best_four(made, cutoff):
            st.caption(escaped(four))
        st.html(_cases(made, cutoff))
    _elsewhere(made)
    _curves(made, cutoff)
    calibrate_turn.show(made, cutoff)
    _origin(made)


def _line(made: Calibration) -> float:
    """The cutoff that the line stands at, and what it is; the address keeps one moved by hand."""
    cutoffs, start = made.counts.cutoffs, start_of(made)
    if made.counts.resolution == 0:
        return start
    key = f"calibrate_cutoff_{_digest(made)}"
    low, high = float(cutoffs[0]), float(cutoffs[-1])
    value = nearest_cutoff(made, _wanted(start))

    def put_into_address() -> None:
        moved = nearest_cutoff(made, float(st.session_state[key]))
        workbench.remember(cutoff=None if moved == start else made.written(moved))

    st.session_state[key] = value
    decimals = len(made.written(start).partition(".")[2])
    st.slider(
        wording.CUTOFF,
        low,
        high,
        step=made.counts.resolution,
        format=f"%.{decimals}f",
        key=key,
        on_change=put_into_address,
        help=wording.CUTOFF_HELP,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_standing(made, value, start))
        if value != start:
            st.button(
                wording.BACK.format(cutoff=escaped(made.written(start))),
                key="calibrate_back",
                icon=":material/restart_alt:",
                on_click=lambda: workbench.remember(cutoff=None),
            )
    return value


def _wanted(start: float) -> float:
    try:
        wanted = float(workbench.parameter("cutoff"))
    except ValueError:
        return start
    return wanted if abs(wanted) < float("inf") else start


def _standing(made: Calibration, value: float, start: float) -> str:
    if value != start:
        return wording.BY_HAND
    if made.recommended is not None:
        return wording.CHOSEN
    return wording.SEPARATES_BEST if made.cutoff is None else wording.NOT_RECOMMENDED


def _digest(made: Calibration) -> str:
    column = made.column
    told = f"{column.data} {column.identity} {column.kind} {column.name} {made.objective}"
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def _cases(made: Calibration, cutoff: float) -> Html:
    """The four kinds of pairs, each with those nearest to the line."""
    boxes, found = [], cases(made, cutoff)
    for case in found:
        mark, name, colour = wording.CASES[case.name]
        count = wording.CASE_COUNT.format(
            count=f"{case.pairs:,}", of=f"{case.of:,}", share=case.share
        )
        rows = [
            tag(
                "div",
                tag("span", score, cls="m-score"),
                tag("div", words(query, "m-asked"), words(passage, "m-scored")),
                cls="m-pair",
                title=f"{query}\n\n{passage}",
            )
            for score, query, passage in case.nearest
        ]
        head = tag("div", tag("b", f"{mark} {name}"), tag("span", count), cls="m-head")
        rows = rows or [tag("div", wording.NO_SUCH, cls="m-quiet-text")]
        boxes.append(tag("div", head, *rows, cls=f"m-case m-{colour}"))
    told = any(query or passage for case in found for _, query, passage in case.nearest)
    says = wording.EXAMPLES_HINT if told else wording.EXAMPLES_WITHOUT_TEXTS
    hint = tag("div", tag("b", wording.EXAMPLES_TITLE), f" · {says}",
               cls="m-quiet-text")  # fmt: skip
    return tag("div", hint, tag("div", *boxes, cls="m-cases"))


def _elsewhere(made: Calibration) -> None:
    """What to expect of new data, and of each language."""
    grouped = f"{made.column.grouped_by}s"
    st.subheader(wording.ELSEWHERE.format(grouped=grouped))
    st.caption(wording.ELSEWHERE_CAPTION.format(folds=made.held_out.folds))
    st.html(_table(held_out_table(made), wording.ELSEWHERE_COLUMNS))
    languages = languages_table(made)
    if len(languages):
        st.markdown(f"**{wording.LANGUAGES}**")
        st.html(_table(languages, wording.LANGUAGE_COLUMNS))


def _table(table: pd.DataFrame, titles: dict[str, str]) -> Html:
    rows = [tag("tr", *(tag("th", titles[name], cls="m-to-left") for name in table.columns))]
    rows += [
        tag("tr", *(tag("td", str(value), cls="m-to-left") for value in row))
        for row in table.itertuples(index=False)
    ]
    return tag("table", *rows, cls="m-table m-plain")


def _curves(made: Calibration, cutoff: float) -> None:
    st.subheader(wording.CURVES)
    left, right = st.columns(2, gap="medium")
    with left:
        workbench.figure(
            figures.precision_recall(made.curve, made.verdict(cutoff)),
            "calibrate-precision-recall",
            wording.CURVE_ALT,
        )
    with right:
        workbench.figure(
            figures.by_cutoff(made.curve, cutoff, made.low, made.high),
            "calibrate-by-cutoff",
            wording.BY_CUTOFF_ALT,
        )
    with st.expander(wording.RISK):
        workbench.figure(
            figures.risk_coverage(made.risk_coverage, cutoff), "calibrate-risk", wording.RISK_ALT
        )
    with st.expander(wording.AS_TABLES), st.container(horizontal=True):
        for label, table, name in (
            (wording.TABLE_CURVE, made.curve, "every-cutoff"),
            (wording.TABLE_HISTOGRAM, made.histogram, "distributions"),
            (wording.TABLE_PERCENTILES, made.percentiles, "percentiles"),
            (wording.TABLE_RISK, made.risk_coverage, "risk-coverage"),
            (wording.TABLE_BEST, made.best, "best-four"),
            (wording.TABLE_EXAMPLES, made.examples(cutoff), "examples"),
        ):
            workbench.download(label, table, f"calibrate-{name}")


def _origin(made: Calibration) -> None:
    """Where the column came from, and all of it as files."""
    with st.expander(wording.ORIGIN, icon=":material/download:"):
        st.dataframe(origin_table(made.column), hide_index=True, height="content")
        name, column = "score-column", made.column
        with st.container(horizontal=True):
            _file(wording.DOWNLOAD_PARQUET, lambda: as_parquet(column), f"{name}.parquet")
            _file(
                wording.DOWNLOAD_CSV,
                lambda: column.frame.to_csv(index=False).encode("utf-8-sig"),
                f"{name}.csv",
            )
            if not not_saved(made):
                _file(wording.DOWNLOAD_RECORD, lambda: record_json(made).encode(), "cutoff.json")
            _file(wording.DOWNLOAD_REPORT, lambda: report_json(made).encode(), "calibration.json")


def _file(label: str, content: Callable[[], bytes], name: str) -> None:
    st.download_button(
        label,
        content,
        name,
        key=f"download-calibrate-{name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )
