"""The first lines of the Calibrate page: what the cutoff does, or why there is none; and Save."""

from __future__ import annotations

import streamlit as st

from eval.calibration import Calibration
from eval.calibration_records import record_of, save_record
from eval.calibration_view import LEARNS, first_line, not_saved
from memcore import MnemoscopeError
from pages.shared import calibrate_saved, workbench
from pages.shared import wording_calibrate as wording
from pages.shared.workbench import escaped

_SAVED = "calibrate_saved_record"


def show(made: Calibration) -> None:
    """The answer in words, what it rests on, and the button that saves the cutoff."""
    st.markdown(f"### {escaped(first_line(made))}")
    identity = made.column.identity
    by = wording.SCORED_BY.format(provider=escaped(identity)) if identity else wording.SCORED_READY
    about = {
        "groups": f"{made.counts.groups:,}",
        "grouped": f"{made.column.grouped_by}s",
        "relevant": f"{len(made.scores[0]):,}",
        "irrelevant": f"{len(made.scores[1]):,}",
        "by": by,
    }
    if made.recommended is not None and made.low is not None and made.high is not None:
        cutoff, low, high = map(made.written, (made.recommended, made.low, made.high))
        st.markdown(
            wording.DETAIL.format(
                cutoff=escaped(cutoff), low=escaped(low), high=escaped(high),
                objective=escaped(made.objective), **about,
            )
        )  # fmt: skip
    else:
        st.markdown(f"{wording.DETAIL_NONE.format(**about)} {wording.WHAT_NOW[made.reason]}")
    if made.warnings:
        st.caption(wording.WARNING.format(text=escaped("; ".join(made.warnings))))
    _save(made)


def _save(made: Calibration) -> None:
    why = not_saved(made)
    if why:
        unnamed = made.recommended is not None
        st.caption(wording.UNNAMED_SAVED if unnamed else wording.NOTHING_SAVED.format(why=made.why))
        return
    path = calibrate_saved.path()
    chosen = made.written(made.cutoff) if made.cutoff is not None else "–"
    if st.button(
        wording.SAVE.format(cutoff=chosen),
        key="calibrate_save",
        type="primary",
        icon=":material/save:",
        help=wording.SAVE_HELP.format(path=escaped(path)),
    ):
        try:
            record = record_of(made)
            path.parent.mkdir(parents=True, exist_ok=True)
            st.session_state[_SAVED] = (record.data, record.objective, save_record(record, path))
        except (MnemoscopeError, OSError) as error:
            workbench.failure(wording.SAVE_FAILED, error)
    told = st.session_state.get(_SAVED)
    if told is not None and told[:2] == (made.column.data, str(made.objective)):
        says = wording.REPLACED if told[2] else wording.SAVED
        st.success(says.format(cutoff=chosen, path=escaped(path)), icon=":material/check:")
        st.markdown(wording.SAVED_USE)
        provider = workbench.parameter("provider") or "auto"
        st.code(wording.COMMAND.format(provider=provider, path=path), language=None)
    if made.column.identity is not None and made.column.identity.provider in LEARNS:
        st.caption(wording.WARNING.format(text=wording.LEARNS))
