"""What if: the same turn composed again at once with other numbers, beside the run's."""

from __future__ import annotations

from typing import Any

import streamlit as st

from eval.cutoff_turn import MODES
from eval.explain import LAYER_NAMES, loss_in_words
from eval.figures_turn import is_bounded
from eval.turns import MemoryAt, TurnView, recomposed, settings_of
from eval.whatif import PROVIDERS, embed_first
from memcore import MnemoscopeError
from pages.shared import (
    turn_answer,
    turn_changes,
    turn_choice,
    turn_data,
    turn_prompt,
    workbench,
)
from pages.shared import wording_turn as wording
from pages.shared.html import tag
from pages.shared.turn_answer import standing_of
from pages.shared.turn_layers import budget_of, picture
from pages.shared.url_choice import choose_one

_SCALES = {
    "ceiling": (30_000, 250),
    "excerpts_limit": (20, 1),
    "excerpts_cap": (10_000, 100),
    "notes_cap": (12_000, 100),
    "window_cap": (30_000, 250),
}


@st.fragment
def panel(view: TurnView) -> None:
    """The sliders, and what comes of them."""
    st.caption(wording.WHAT_IF)
    searched = _search(view)
    changes = _sliders(view, bool(searched)) | searched
    if not changes:
        st.info(wording.SAME_NUMBERS)
        return
    try:
        with st.spinner(wording.BUILDING):
            at = turn_data.memory(view)
        if "provider" in changes and not _embedded(at, changes["provider"]):
            return
        with st.spinner(wording.BUILDING):
            other = recomposed(view, at, changes)
    except MnemoscopeError as error:
        workbench.failure(wording.REFUSED, error)
        return
    _outcome(view, other)
    turn_answer.meaning(other)
    picture(
        [budget_of(wording.RUN_NAME, view), budget_of(wording.WHAT_IF_NAME, other)],
        key="turn_whatif_budget",
    )
    st.html(tag("b", wording.WHAT_IF_DIFFERENCE))
    st.html(turn_changes.items(view, other))
    st.html(turn_changes.lines(view, other))
    with st.expander(wording.WHAT_IF_LINK, icon=":material/link:"):
        st.code(turn_choice.address(), language=None, wrap_lines=True)
    with st.expander(wording.WHAT_IF_PROMPT):
        st.html(turn_prompt.coloured(other))


def _search(view: TurnView) -> dict[str, str]:
    """Another way of searching than the run's, and the provider that it takes where the run has
    none."""
    settings = settings_of(view.run, view.talk)
    own = settings.search_mode
    options = {own: wording.OWN_MODE.format(mode=wording.MODES[own])}
    options |= {name: words for name, words in wording.MODES.items() if name != own}
    mode = choose_one("mode", wording.MODE, options, help=wording.MODE_HELP, width="stretch")
    changes = {"search_mode": mode} if mode != own else {}
    if mode in MODES and not settings.provider:
        changes["provider"] = _provider()
    return changes


def _provider() -> str:
    wanted = workbench.parameter("provider")
    current = wanted if wanted in PROVIDERS else PROVIDERS[0]
    st.session_state["turn_provider"] = current
    st.selectbox(
        wording.PROVIDER,
        PROVIDERS,
        format_func=lambda name: wording.PROVIDERS[name],
        key="turn_provider",
        help=wording.PROVIDER_HELP,
        on_change=lambda: workbench.remember(provider=st.session_state["turn_provider"]),
    )
    return current


def _embedded(at: MemoryAt, provider: str) -> bool:
    """Embeds the conversation, with progress; False after a message where that does not go."""
    bar = st.empty()

    def report(done: int, of: int) -> None:
        says = wording.EMBEDDING.format(done=f"{done:,}", of=f"{of:,}")
        bar.progress(done / of if of else 1.0, says)

    try:
        embed_first(at, provider, report)
    except MnemoscopeError as error:
        workbench.failure(wording.NO_PROVIDER, error)
        return False
    finally:
        bar.empty()
    return True


def _back(starts: dict[str, int]) -> None:
    st.session_state.update(starts)
    workbench.remember(mode=None, provider=None)


def _sliders(view: TurnView, searched: bool) -> dict[str, Any]:
    """The settings that were moved away from the run's."""
    settings = settings_of(view.run, view.talk)
    own = {name: int(getattr(settings, name)) for name in _SCALES}
    starts: dict[str, int] = {}
    changes: dict[str, Any] = {}
    columns = st.columns(2)
    for number, (name, (largest, step)) in enumerate(_SCALES.items()):
        bounded = is_bounded(own[name])
        start = min(own[name], largest) if not bounded else own[name]
        starts[name] = start
        value = columns[number % 2].slider(
            wording.SLIDERS[name],
            0,
            max(largest, start),
            start,
            step,
            key=name,
            bind="query-params",
            help=wording.SLIDER_HELP.format(value=own[name]) if bounded else wording.NO_BOUND,
        )
        if value != start:
            changes[name] = value
    columns[1].button(
        wording.RESET,
        key="turn_reset",
        icon=":material/restart_alt:",
        disabled=not changes and not searched,
        width="stretch",
        on_click=lambda: _back(starts),
    )
    return changes


def _outcome(view: TurnView, other: TurnView) -> None:
    fared, before = standing_of(other), standing_of(view)
    reached = [fate for fate in other.fates if fate.reached]
    layers = ", ".join(
        dict.fromkeys(LAYER_NAMES[layer] for fate in reached for layer in fate.layers)
    )
    if fared == "reached":
        words, colour = wording.IS_REACHED.format(layers=layers), str(reached[0].layers[0])
    elif fared == "partly":
        words = wording.IS_PARTLY.format(
            reached=len(reached), count=len(other.fates), layers=layers
        )
        colour = "lost"
    elif fared == "lost":
        reason = loss_in_words(next(fate for fate in other.fates if not fate.reached))
        words, colour = wording.IS_LOST.format(reason=reason), "lost"
    else:
        words, colour = wording.NOT_MEASURED, "quiet"
    if before in wording.VERDICTS:
        words += wording.BEFORE.format(verdict=wording.VERDICTS[before])
    total = int(other.row["total"])
    spent = wording.CHARACTERS_CHANGE.format(
        total=total, tokens=wording.tokens(total), change=total - int(view.row["total"])
    )
    mark = wording.ANSWER_MARKS[fared]
    st.html(
        tag(
            "div",
            tag("div", f"{mark} {words}", cls="m-verdict"),
            tag("div", spent, cls="m-quiet-text"),
            cls=f"m-answer m-{colour}",
        )
    )
