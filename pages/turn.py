"""Turn: exactly what the model was shown at one turn, and why a known fact was not in it."""

import streamlit as st

from memcore import MnemoscopeError
from pages.shared import (
    door,
    turn_answer,
    turn_ask,
    turn_changes,
    turn_choice,
    turn_data,
    turn_layers,
    turn_prompt,
    turn_timeline,
    turn_whatif,
    workbench,
)
from pages.shared import wording_turn as wording
from pages.shared.html import styles
from pages.shared.url_choice import choose_one

PANELS = {
    "layers": turn_layers.panel,
    "prompt": turn_prompt.panel,
    "changes": turn_changes.panel,
    "whatif": turn_whatif.panel,
    "ask": turn_ask.panel,
}


def main() -> None:
    st.html(styles())
    with st.spinner(wording.LOADING):
        chosen = turn_choice.choose()
        if chosen is None:
            return
        view = turn_data.turn(*chosen)
    turn_answer.show(view)
    left, right = st.columns([5, 6], gap="medium")
    with left, st.container(key="turn_timeline"):
        turn_timeline.show(view)
    with right:
        turn_layers.picture([turn_layers.budget_of("run", view)], key="turn_budget")
        panel = choose_one(
            "panel",
            wording.PANEL_LABEL,
            wording.PANELS,
            width="stretch",
            label_visibility="collapsed",
        )
        PANELS[panel](view)


door.enter()
try:
    main()
except MnemoscopeError as error:
    workbench.failure(wording.DAMAGED, error)
    st.info(wording.REPLAY_AGAIN)
