"""Recall: does an old answer still reach the prompt, and where is it lost?"""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from eval import figures
from eval import recall as measures
from eval.answers import failures, failures_in_words
from eval.cutoff_turn import MODES
from eval.errors import RunError
from eval.evidence import Stage
from eval.explain import STAGE_WORDS, source_in_words
from eval.runs import Run
from eval.stats import interval, percent
from pages.shared import door, recall_arms, recall_tables, wording, workbench
from pages.shared.workbench import escaped

LARGEST_DAYS = 3_650
FEW = 20


def show() -> None:
    """The page."""
    st.caption(wording.RECALL_QUESTION)
    answer_place = st.container()
    chooser, days_place, scope_place = st.columns([4, 1.4, 1.8], vertical_alignment="bottom")
    with chooser:
        run = workbench.choose_run()
    if run is None:
        return
    try:
        asked = workbench.questions_of(run)
        days = _choose_days(days_place)
        whole = _choose_scope(scope_place, days)
        with answer_place:
            inconclusive(run)
            if not answer(asked, days):
                st.page_link(
                    "pages/turn.py", label=wording.OPEN_TURN, query_params={"run": run.name}
                )
                return
        curve(asked, days, run.name)
        recall_arms.show(run, days)
        scope = asked if whole else measures.older_than(asked, days)
        name = f"{run.name}-{'all' if whole else f'{days}-days'}"
        lost_answers(run, scope, name)
        groups(scope, name)
        rest(run, asked, days)
    except RunError as error:
        workbench.failure(wording.RECALL_BROKEN, error)


def inconclusive(run: Run) -> None:
    """Says, before anything else, that calls failed in this run."""
    if why := failures_in_words(failures(run)):
        says = wording.RUN_INCONCLUSIVE.format(why=escaped(why))
        st.warning(says, icon=":material/warning:")


def answer(asked: pd.DataFrame, days: int) -> bool:
    """The page's question, answered in words; whether there is anything to show beneath."""
    measured = measures.measured(asked)
    if measured.empty:
        st.markdown(f"### {wording.RECALL_NOTHING}")
        st.markdown(wording.RECALL_NOTHING_DETAIL.format(count=f"{len(asked):,}"))
        return False
    older = measures.older_than(asked, days)
    old = measures.overall(older)
    if not old["count"]:
        st.markdown(f"### {wording.RECALL_NO_OLD.format(days=days)}")
        oldest = int(measured["age_days"].max())
        st.markdown(wording.RECALL_NO_OLD_DETAIL.format(oldest=f"{oldest:,}"))
        return True
    says = wording.RECALL_HEADLINE.format(
        share=escaped(percent(old["some_value"])),
        days=f"{days:,}",
        hits=f"{old['some_hits']:,}",
        count=f"{old['count']:,}",
    )
    st.markdown(f"### {says}", help=wording.RUNS_REACHED_HELP)
    more = wording.RECALL_DETAIL.format(
        interval=escaped(interval(old["some_low"], old["some_high"])),
        all_share=escaped(percent(old["all_value"])),
        characters=f"{measures.characters_per_question(asked):,.0f}",
    )
    few = wording.RECALL_FEW.format(count=old["count"]) if old["count"] < FEW else ""
    st.markdown(f"{more} {few}")
    if cited := measures.only_cited(older):
        st.caption(wording.RECALL_ONLY_CITED.format(count=cited, hits=old["some_hits"]))
    return True


def curve(asked: pd.DataFrame, days: int, name: str) -> None:
    """Recall over the age of the answer."""
    st.subheader(wording.RECALL_CURVE)
    bands = measures.age_curve(asked, days)
    st.caption(wording.RECALL_CURVE_CAPTION)
    workbench.figure(figures.recall_by_age(bands, days), f"{name}-by-age", wording.RECALL_CURVE_ALT)
    with st.expander(wording.AS_TABLE):
        recall_tables.shares_table(bands, "age", f"{name}-by-age-table")


def lost_answers(run: Run, scope: pd.DataFrame, name: str) -> None:
    """The funnel, and each lost answer with the way to its turn."""
    st.subheader(wording.RECALL_FUNNEL)
    counted, lost = len(measures.measured(scope)), measures.lost(scope)
    if not counted:
        st.markdown(wording.RECALL_EMPTY)
        return
    stages, losers = measures.funnel(scope), measures.losers(scope)
    st.caption(wording.RECALL_FUNNEL_CAPTION)
    workbench.figure(
        figures.funnel(stages, counted, losers), f"{name}-funnel", wording.RECALL_FUNNEL_ALT
    )
    quiet = [STAGE_WORDS[Stage(row.stage)] for row in stages.itertuples() if not row.lost]
    if quiet and not lost.empty:
        st.caption(wording.RECALL_FUNNEL_NOWHERE.format(stages="; ".join(quiet)))
    st.subheader(wording.RECALL_LOST)
    if lost.empty:
        st.markdown(wording.RECALL_LOST_NONE)
        return
    for (stage, layer), part in lost.groupby(["stage", "lost_by"], sort=False, dropna=False):
        words = STAGE_WORDS[Stage(stage)]
        if isinstance(layer, str):
            by = source_in_words(layer)
            words = wording.RECALL_LOST_BY.format(layer=by, words=words)
        st.markdown(f"**{wording.RECALL_LOST_GROUP.format(words=words, count=len(part))}**")
        st.caption(_what_to_try(run, str(stage)))
        recall_tables.lost_table(run, part)
    recall_tables.download_lost(lost, name)


def _what_to_try(run: Run, stage: str) -> str:
    by_meaning = run.manifest["settings"].get("search_mode") in MODES
    if by_meaning and stage in wording.RECALL_TRY_MEANING:
        return wording.RECALL_TRY_MEANING[stage]
    return wording.RECALL_TRY[stage]


def groups(scope: pd.DataFrame, name: str) -> None:
    """By language, kind and wording."""
    st.subheader(wording.RECALL_GROUPS)
    if measures.measured(scope).empty:
        st.markdown(wording.RECALL_EMPTY)
        return
    for column, title in wording.RECALL_GROUP_NAMES.items():
        table = measures.by_group(scope, column)
        if column == "paraphrased":
            table[column] = table[column].astype(bool).map(wording.RECALL_PARAPHRASED)
        recall_tables.shares_table(
            table.rename(columns={column: title}), title, f"{name}-by-{column}"
        )


def rest(run: Run, asked: pd.DataFrame, days: int) -> None:
    """What could not be measured, the ranking, and everything as a file."""
    about, silent = measures.coverage(asked), measures.irrelevant(asked)
    st.divider()
    st.caption(
        wording.RECALL_UNANSWERABLE.format(
            all=f"{about['all']:,}",
            measured=f"{about['measured']:,}",
            unanswerable=f"{about['unanswerable']:,}",
            silent=f"{about['without_evidence']:,}",
            characters=f"{silent['excerpt_characters_mean']:,.0f}",
        )
    )
    ranking = workbench.ranking_of(run)
    if any(ranking.values()):
        values = ", ".join(
            f"{wording.RANKING_NAMES.get(name, name)} {value:.2f}"
            for name, value in ranking.items()
        )
        st.caption(wording.RECALL_RANKING.format(measures=values))
    st.download_button(
        wording.RECALL_DOWNLOAD_ALL,
        lambda: json.dumps(measures.report(run, days), ensure_ascii=False, indent=1).encode(),
        file_name=f"{run.name}-recall.json",
        mime="application/json",
        on_click="ignore",
        icon=":material/download:",
    )


def _choose_days(place: Any) -> int:
    start = workbench.number_parameter("days", measures.DAYS, 1, LARGEST_DAYS)
    days = place.number_input(
        wording.RECALL_DAYS, 1, LARGEST_DAYS, start, help=wording.RECALL_DAYS_HELP
    )
    workbench.remember(days=None if days == measures.DAYS else days)
    return int(days)


def _choose_scope(place: Any, days: int) -> bool:
    """Whether all ages are counted, and not the old answers alone."""
    names = list(wording.RECALL_SCOPES)
    start = workbench.parameter("ages")
    chosen = place.segmented_control(
        wording.RECALL_SCOPE,
        names,
        default=start if start in names else names[0],
        required=True,
        format_func=lambda name: wording.RECALL_SCOPES[name].format(days=days),
        help=wording.RECALL_SCOPE_HELP,
    )
    workbench.remember(ages=None if chosen == names[0] else chosen)
    return chosen != names[0]


door.enter()
show()
