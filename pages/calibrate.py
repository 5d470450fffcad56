"""Calibrate: from which score on is a passage relevant, and does any cutoff separate?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from eval.calibration import Calibration, calibrate
from eval.calibration_job import seconds_expected, texts_to_embed
from eval.noise_floor import NoiseFloor
from eval.pairs import Material, Texts
from eval.score_column import ScoreColumn, only_language
from memcore import InvalidInput, MnemoscopeError
from pages.shared import (
    calibrate_answer,
    calibrate_choice,
    calibrate_floor,
    calibrate_jobs,
    calibrate_result,
    calibrate_saved,
    door,
    workbench,
)
from pages.shared import wording_calibrate as wording
from pages.shared.calibrate_choice import Choice
from pages.shared.html import styles

QUICK_SECONDS = 10


def show() -> None:
    """The page."""
    st.html(styles())
    st.caption(wording.QUESTION)
    answer = st.container()
    choice, place = calibrate_choice.choose()
    if choice.found is None:
        _say(answer, wording.BAD_SOURCE_LINE)
        workbench.failure(wording.BAD_SOURCE, choice.error)
        calibrate_saved.show(None)
        return
    scored = _scored(choice, answer, place)
    if isinstance(scored, NoiseFloor):
        calibrate_floor.show(scored, answer)
    elif scored is not None:
        made = _calibrated(choice, scored, answer)
        if made is not None:
            with answer:
                calibrate_answer.show(made)
            calibrate_result.show(made)
    calibrate_saved.show(scored if isinstance(scored, ScoreColumn) else None)


def _scored(choice: Choice, answer: Any, place: Any) -> ScoreColumn | NoiseFloor | None:
    """What is to be calibrated on; where that is not there yet, what to do, and the button."""
    found = choice.found
    if isinstance(found, ScoreColumn):
        place.caption(wording.READY_COLUMN)
        kind = calibrate_choice.passage_kind(choice.kind)
        return replace(found, kind=kind) if kind and not found.kind else found
    assert found is not None
    scored = calibrate_jobs.result(found, choice.provider)
    own, going = calibrate_jobs.of(found, choice.provider), calibrate_jobs.running()
    if scored is None and own is None and going is None and _is_quick(found, choice.provider):
        calibrate_jobs.begin(found, choice.provider)
        own = going = calibrate_jobs.of(found, choice.provider)
    _button(found, choice.provider, scored is not None, going is not None, place)
    if scored is not None and going is None:
        return scored
    about = {
        "data": workbench.escaped(choice.data),
        "kind": f"{found.kind}s",
        "provider": workbench.escaped(choice.provider),
    }
    if going is not None:
        if going is own:
            _say(answer, wording.WAITING_LINE.format(**about))
            with answer:
                if choice.is_first:
                    st.markdown(wording.FIRST_TIME)
                calibrate_jobs.watch()
            return None
        with answer:
            says = {"provider": workbench.escaped(going.provider), "data": going.found.name}
            st.markdown(wording.OTHER_RUNS.format(**says))
            calibrate_jobs.watch()
        return scored
    if own is not None and own.error is not None:
        _say(answer, wording.BAD_PROVIDER_LINE)
        calibrate_jobs.failed(own)
    elif own is not None and own.stopped:
        _say(answer, wording.STOPPED_LINE, wording.STOPPED)
    else:
        _say(answer, wording.NOT_YET_LINE.format(**about), wording.NOT_YET)
    return None


def _is_quick(found: Material | Texts, provider: str) -> bool:
    """Whether it is done in seconds on this machine, so that nobody need press for it."""
    seconds = seconds_expected(texts_to_embed(found), provider)
    return seconds is not None and seconds <= QUICK_SECONDS


def _button(found: Material | Texts, provider: str, there: bool, busy: bool, place: Any) -> None:
    """The button that embeds, and how much that is."""
    texts = texts_to_embed(found)
    time = "" if there else wording.expected(seconds_expected(texts, provider))
    with place, st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            wording.AGAIN if there else wording.START,
            key="calibrate_start",
            type="secondary" if there else "primary",
            disabled=busy,
            icon=":material/refresh:" if there else ":material/play_arrow:",
            help=wording.AGAIN_HELP if there else None,
        ):
            calibrate_jobs.begin(found, provider)
            st.rerun()
        if not there:
            st.caption(wording.TO_EMBED.format(texts=f"{texts:,}", time=time))


def _calibrated(choice: Choice, column: ScoreColumn, answer: Any) -> Calibration | None:
    """The calibration, None where there is none to make, after a message that says why."""
    try:
        if choice.language != calibrate_choice.ALL:
            column = only_language(column, choice.language)
    except InvalidInput as error:
        _say(answer, wording.BAD_CHOICE_LINE)
        workbench.failure(wording.BAD_LANGUAGE, error)
        return None
    try:
        with st.spinner(wording.CALCULATING):
            return _made(_key(column), choice.objective, column)
    except InvalidInput as error:
        _say(answer, wording.BAD_CHOICE_LINE)
        workbench.failure(wording.BAD_OBJECTIVE, error)
    except MnemoscopeError as error:
        _say(answer, wording.BAD_CHOICE_LINE)
        workbench.failure(wording.BAD_COLUMN, error)
    return None


def _key(column: ScoreColumn) -> tuple[str, ...]:
    """What tells one column from another."""
    total = repr(float(column.frame["score"].sum()))
    return column.name, column.data, str(column.identity), str(column.kind), total


@st.cache_resource(max_entries=12, show_spinner=False)
def _made(key: tuple[str, ...], objective: str, _column: ScoreColumn) -> Calibration:  # noqa: ARG001
    return calibrate(_column, objective)


def _say(answer: Any, line: str, more: str = "") -> None:
    with answer:
        st.markdown(f"### {line}")
        if more:
            st.markdown(more)


door.enter()
show()
