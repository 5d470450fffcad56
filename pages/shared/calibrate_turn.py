"""A turn of a run, composed with the cutoff on the screen and without any."""

from __future__ import annotations

from typing import Any

import streamlit as st

from eval.calibration import Calibration
from eval.calibration_view import LEARNS
from eval.cutoff_turn import LAYER_OF, Tried, by_meaning, made_by, tried
from eval.differences import items_changed
from eval.runs import RunInfo, records
from eval.turn_list import standing
from memcore import MnemoscopeError
from pages.shared import turn_changes, turn_data, workbench
from pages.shared import wording_calibrate as wording
from pages.shared.turn_answer import standing_of
from pages.shared.workbench import escaped


def show(made: Calibration, cutoff: float) -> None:
    """Chooses a run and a question, and shows what the cutoff changes in its prompt."""
    st.subheader(wording.TURN)
    kind, identity = made.column.kind, made.column.identity
    if kind is None or identity is None:
        st.info(wording.TURN_UNNAMED)
        return
    if kind not in LAYER_OF:
        st.info(wording.TURN_KIND.format(kind=f"{kind}s"))
        return
    if identity.provider in LEARNS:
        st.info(wording.TURN_LEARNS)
        return
    found = by_meaning(workbench.runs())
    if not found:
        provider = workbench.parameter("provider") or "auto"
        st.info(wording.TURN_NO_RUNS.format(provider=escaped(provider)))
        st.page_link("pages/runs.py", label=workbench.wording.TO_RUNS)
        return
    st.caption(wording.TURN_HINT)
    left, right = st.columns([4, 7])
    with left:
        info = _run(found, made)
    try:
        if not made_by(info, identity):
            own = info.manifest["provider"].get("label") or info.manifest["provider"].get("name")
            st.warning(wording.TURN_OTHER.format(own=escaped(own), here=escaped(identity)))
            return
        with right:
            chosen = _question(info)
        if chosen is None:
            st.info(wording.TURN_NO_QUESTIONS)
            return
        run = workbench.open_run(info)
        view = turn_data.turn(run, *chosen)
        with st.spinner(wording.TURN_BUILDING):
            both = tried(view, turn_data.memory(view), identity, kind, cutoff)
    except MnemoscopeError as error:
        workbench.failure(wording.TURN_REFUSED, error)
        return
    _outcome(both, made, cutoff)
    st.page_link(
        "pages/turn.py",
        label=wording.TURN_OPEN,
        query_params={"run": info.name, "conversation": chosen[0], "turn": str(chosen[1])},
        icon=":material/frame_inspect:",
    )


def _run(found: list[RunInfo], made: Calibration) -> RunInfo:
    """The runs of this provider come first."""
    found = sorted(found, key=lambda one: not made_by(one, made.column.identity))
    infos = {one.name: one for one in found}

    def label(name: str) -> str:
        manifest = infos[name].manifest
        return wording.TURN_RUN_OPTION.format(
            provider=manifest["provider"].get("name"),
            mode=manifest["settings"].get("search_mode"),
            run=name,
        )

    return infos[_choose("run", wording.TURN_RUN, list(infos), label)]


def _question(info: RunInfo) -> tuple[str, int] | None:
    """The conversation and turn of a question."""
    asked = workbench.questions_of(workbench.open_run(info))
    rows = {f"{row['conversation']}/{row['turn']}": row for row in records(asked)}
    if not rows:
        return None

    def label(name: str) -> str:
        row = rows[name]
        mark = wording.MARKS[standing({"is_question": True, **row})]
        return wording.QUESTION_OPTION.format(mark=mark, text=turn_data.one_line(row["text"], 110))

    row: dict[str, Any] = rows[_choose("question", wording.TURN_QUESTION, list(rows), label)]
    return str(row["conversation"]), int(row["turn"])


def _choose(name: str, label: str, options: list[str], words: Any) -> str:
    wanted = workbench.parameter(name)
    current = wanted if wanted in options else options[0]
    key = f"calibrate_turn_{name}"
    st.session_state[key] = current
    st.selectbox(
        label,
        options,
        key=key,
        format_func=words,
        on_change=lambda: workbench.remember(**{name: st.session_state[key]}),
    )
    return current


def _outcome(both: Tried, made: Calibration, cutoff: float) -> None:
    changed = items_changed(both.without, both.held)["change"].value_counts()
    about = {
        "below": f"{both.below:,}",
        "kind": made.noun,
        "cutoff": escaped(made.written(cutoff)),
    }
    if not len(changed):
        st.markdown(wording.TURN_SAME.format(**about) + _answer(both))
    else:
        moved = int(changed.get("moved", 0))
        says = wording.TURN_CHANGED.format(
            left=changed.get("left", 0),
            entered=changed.get("entered", 0),
            moved=wording.TURN_MOVED.format(count=moved) if moved else "",
            **about,
        )
        st.markdown(f"{says} {wording.TURN_BELOW.format(**about)}{_answer(both)}")
        st.html(turn_changes.items(both.without, both.held))
    mode = both.held.run.manifest["settings"].get("search_mode")
    if made.column.kind == "note":
        st.caption(wording.TURN_NOTES)
    elif mode == "hybrid":
        st.caption(wording.TURN_WORDS)


def _answer(both: Tried) -> str:
    held, without = standing_of(both.held), standing_of(both.without)
    if held not in wording.TURN_VERDICTS or without not in wording.TURN_VERDICTS:
        return ""
    return wording.TURN_ANSWER.format(
        held=wording.TURN_VERDICTS[held], without=wording.TURN_VERDICTS[without]
    )
