"""The arms side by side, on the Recall page: a sentence, two figures, tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from eval import figures
from eval import recall as measures
from eval.arms_report import ArmsReport, rows_of
from eval.arms_table import arms_table
from eval.errors import RunError
from eval.figures_arms import arms_by_layer, arms_reached
from eval.loaders import bundled
from eval.overview import changed_in_words, comparable, of_same_settings
from eval.runs import Run, RunInfo
from eval.stats import percent
from pages.shared import recall_arms_tables, workbench
from pages.shared import wording_arms as wording
from pages.shared.workbench import escaped

MOST = 12


def show(run: Run, days: int) -> None:
    """The newest run of each arm beside `run`: first those of the same settings, then all by
    age."""
    st.subheader(wording.TITLE)
    found = comparable(workbench.runs(), run.name)
    same = of_same_settings(found)
    others = [info for info in found if info not in same]
    opened = _readable([*same, *others][:MOST], days)
    runs = [one for info, one in opened if info in same]
    if len(runs) > 1:
        _compare(workbench.arms_of(runs, days), run, same[0])
    else:
        st.markdown(_what_to_run(run, found))
    if len(opened) > 1:
        _by_age(opened, run, days, alone=len(runs) < 2, others=len(opened) > len(runs))
        if len(found) > MOST:
            st.caption(wording.AGES_MORE.format(count=len(found) - MOST))


def sentences(report: ArmsReport) -> list[str]:
    """What the arms reached, in one sentence; where a brain answered, how it fared in another."""
    told = [wording.SENTENCE.format(days=f"{report.days:,}", arms=_told(report, "some"))]
    old = [row for row in rows_of(report.answers) if row["ages"] == "old" and row["count"]]
    if len(old) > 1:
        by = " / ".join(dict.fromkeys(wording.ANSWERED_BY[row["right_by"]] for row in old))
        told.append(wording.ANSWERED.format(by=by, arms=_told(report, "right")))
    return told


def _told(report: ArmsReport, measure: str) -> str:
    table = arms_table(report)
    table = table[table[f"{measure}_value"].notna()]
    headline = table[table["arm"].isin(wording.HEADLINE)]
    parts = []
    for row in rows_of(headline if len(headline) > 1 else table):
        first = measure == "some" and not parts
        words = wording.SENTENCE_FIRST if first else wording.SENTENCE_NEXT
        name = escaped(wording.NAMES.get(row["arm"], row["arm"]))
        told = words.format(arm=name, share=escaped(percent(row[f"{measure}_value"])))
        parts.append(told + _by_call(report, row["run"], measure))
    return ", ".join(parts)


def _by_call(report: ArmsReport, run: str, measure: str) -> str:
    """How an arm fared apart by whether the search tool was called; nothing where it always was,
    or cannot be."""
    found = {row["called"]: row for row in rows_of(report.called) if row["run"] == run}
    if not found or not found[False]["count"]:
        return ""
    if not found[True]["count"]:
        return wording.SENTENCE_NEVER
    yes, no = (escaped(percent(found[called][f"{measure}_value"])) for called in (True, False))
    return wording.SENTENCE_CALLED.format(called=yes, not_called=no)


def _readable(found: list[RunInfo], days: int) -> list[tuple[RunInfo, Run]]:
    """The runs that can be measured; a message for each that cannot."""
    opened = []
    for info in found:
        try:
            run = workbench.open_run(info)
            workbench.arms_of([run], days)
        except RunError as error:
            workbench.failure(wording.SKIPPED, error, warning=True)
            continue
        opened.append((info, run))
    return opened


def _what_to_run(run: Run, found: list[RunInfo]) -> str:
    dataset = str(run.manifest["dataset"].get("name"))
    settings = wording.ALONE_SETTINGS if found and changed_in_words(found[0]) else ""
    return wording.ALONE.format(
        arm=escaped(run.manifest["arm"]),
        dataset=dataset if dataset in bundled() else wording.ANY_DATASET,
        settings=settings,
    )


def _compare(report: ArmsReport, run: Run, info: RunInfo) -> None:
    name, table = f"{run.name}-arms-{report.days}", arms_table(report)
    if not table["count"].any():
        st.markdown(wording.NO_OLD)
        return
    for says in sentences(report):
        st.markdown(f"**{says}**")
    others = table[table["run"] != run.name]  # of the run itself it is said above the page
    for row in rows_of(others[others["inconclusive"] != ""]):
        says = wording.INCONCLUSIVE.format(
            arm=escaped(row["arm"]), why=escaped(row["inconclusive"])
        )
        st.warning(says, icon=":material/warning:")
    changed = changed_in_words(info)
    settings = wording.CAPTION_SETTINGS if changed else ""
    st.caption(wording.CAPTION.format(settings=settings))
    workbench.figure(arms_reached(table, run.name, report.days), name, wording.FIGURE_ALT)
    if not report.layers.empty:
        st.markdown(wording.BY_LAYER)
        st.caption(wording.BY_LAYER_CAPTION)
        made = arms_by_layer(report.layers, table, run.name)
        workbench.figure(made, f"{name}-layers", wording.BY_LAYER_ALT)
    recall_arms_tables.arms(table, report, changed, name)
    recall_arms_tables.called(report, name)
    recall_arms_tables.answers(table, name)


def _by_age(
    opened: list[tuple[RunInfo, Run]], run: Run, days: int, alone: bool, others: bool
) -> None:
    """Every run of the same dataset in a small picture of its own."""
    panels = [_panel(info, one, days, chosen=one.name == run.name) for info, one in opened]
    title = wording.AGES_OTHERS if others else wording.AGES
    with st.expander(title, expanded=alone):
        st.caption(wording.AGES_CAPTION)
        made, name = figures.arms(panels, days), f"{run.name}-arms-{days}-by-age"
        workbench.figure(made, name, wording.AGES_ALT)


def _panel(info: RunInfo, run: Run, days: int, chosen: bool) -> figures.Panel:
    asked: pd.DataFrame = workbench.questions_of(run)
    old: dict[str, Any] = measures.overall(measures.older_than(asked, days))
    price = measures.characters_per_question(asked)
    bands = measures.by_age(asked, days)
    arm, changed = str(run.manifest["arm"]), changed_in_words(info)
    return figures.Panel(arm, changed, bands, old, price, chosen)
