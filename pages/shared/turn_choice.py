"""The head of the Turn page: which run, conversation and turn; the address names them all.

`turn` in the address counts from 0 as the tables do; on the screen turns count from 1.
"""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from eval.runs import Run
from eval.turn_list import Which, most_telling, standing, turns_of
from eval.turns import records
from pages.shared import turn_data, workbench
from pages.shared import wording_turn as wording
from pages.shared.url_choice import choose_one

_LAST = "turn_last_address"
_PARAMETERS = ("run", "conversation", "turn")


def choose() -> tuple[Run, str, int] | None:
    """The run, conversation and turn that the address or the person names; None where there is
    nothing to open, after a message that says what to do."""
    _return_to_last()
    left, middle, right = st.columns([4, 5, 4], vertical_alignment="bottom")
    with left:
        run = workbench.choose_run()
    if run is None:
        return None
    with middle:
        conversation = _conversation(run)
    if conversation is None:
        return None
    listed = turn_data.all_turns(run, conversation)
    if listed.empty:
        st.info(wording.NO_TURNS)
        return None
    number = _number_wanted(listed)
    with right:
        which = cast(
            Which,
            choose_one(
                "show", wording.SHOW, wording.SHOWN, help=wording.MARKS_HELP, width="stretch"
            ),
        )
    number = _step(run, conversation, listed, number, which)
    workbench.remember(turn=number)
    st.session_state[_LAST] = {name: workbench.parameter(name) for name in _PARAMETERS}
    return run, conversation, number


def _return_to_last() -> None:
    """The page opened without an address shows what it showed last."""
    if not workbench.parameter("run") and _LAST in st.session_state:
        workbench.remember(**st.session_state[_LAST])


def _conversation(run: Run) -> str | None:
    found = turn_data.all_conversations(run)
    if found.empty:
        st.info(wording.NO_CONVERSATIONS)
        return None
    rows = {str(row["conversation"]): row for row in records(found)}
    wanted = workbench.parameter("conversation")
    if wanted and wanted not in rows:
        workbench.failure(wording.UNKNOWN_CONVERSATION, wanted, warning=True)
    telling = next((name for name, row in rows.items() if row["lost"]), next(iter(rows)))
    current = wanted if wanted in rows else telling
    if wanted != current:
        workbench.remember(turn=None, message=None)

    def label(name: str) -> str:
        row = rows[name]
        return wording.CONVERSATION_OPTION.format(
            title=turn_data.one_line(row["title"] or name, 60),
            questions=row["questions"],
            lost=int(row["lost"]),
        )

    key = f"turn_conversation_{run.name}"
    st.session_state[key] = current
    st.selectbox(
        wording.CONVERSATION,
        list(rows),
        format_func=label,
        key=key,
        on_change=lambda: _open(conversation=st.session_state[key], turn=None),
    )
    workbench.remember(conversation=current)
    return current


def _number_wanted(listed: pd.DataFrame) -> int:
    wanted = workbench.parameter("turn")
    if wanted.isascii() and wanted.isdigit() and int(wanted) in set(listed["turn"]):
        return int(wanted)
    if wanted:
        last = int(listed["turn"].max())
        workbench.failure(wording.UNKNOWN_TURN.format(last=last), wanted, warning=True)
    return most_telling(listed)


def _step(run: Run, conversation: str, listed: pd.DataFrame, number: int, which: Which) -> int:
    """The row with previous, next and the list to jump in."""
    rows = {int(row["turn"]): row for row in records(listed)}
    shown = turns_of(listed, which)
    if not shown:
        st.info(wording.NONE_SUCH[which])
        shown = list(rows)
    earlier = [turn for turn in shown if turn < number]
    later = [turn for turn in shown if turn > number]
    zone = turn_data.turn(run, conversation, number).talk.timezone

    def label(turn: int) -> str:
        row: dict[str, Any] = rows[turn]
        return wording.TURN_OPTION.format(
            number=turn + 1,
            count=len(rows),
            time=turn_data.moment(row["time"], zone),
            mark=wording.MARKS[standing(row)],
            text=turn_data.one_line(row["text"]),
        )

    back, jump, forth, link = st.columns([2, 12, 2, 2], vertical_alignment="bottom")
    back.button(
        wording.PREVIOUS,
        icon=":material/chevron_left:",
        key="turn_previous",
        disabled=not earlier,
        help=None if earlier else wording.NO_PREVIOUS,
        width="stretch",
        on_click=lambda: _open(turn=earlier[-1]),
    )
    forth.button(
        wording.NEXT,
        icon=":material/chevron_right:",
        icon_position="right",
        key="turn_next",
        disabled=not later,
        help=None if later else wording.NO_NEXT,
        width="stretch",
        on_click=lambda: _open(turn=later[0]),
    )
    key = f"turn_jump_{run.name}_{conversation}"
    st.session_state[key] = number
    jump.selectbox(
        wording.TURN,
        sorted({*shown, number}),
        format_func=label,
        key=key,
        label_visibility="collapsed",
        on_change=lambda: _open(turn=st.session_state[key]),
    )
    with link.popover(wording.LINK, icon=":material/link:", width="stretch"):
        st.caption(wording.LINK_HELP)
        st.code(address(), language=None, wrap_lines=True)
    return number


def address() -> str:
    """The address that opens what is on the screen."""
    base = str(st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(st.query_params.to_dict())}"


def _open(**values: Any) -> None:
    workbench.remember(message=None, **values)
