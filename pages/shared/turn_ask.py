"""Ask a model: the turn's prompt sent to a brain, in the background, and the reply to just that.

Which brain is asked never stands in the address: a link must not make whoever opens it send a
prompt, and a key with it, to a server that somebody else chose.
"""

from __future__ import annotations

import streamlit as st

from eval.asking import brain_for, usual_brain
from eval.asking_job import AskJob
from eval.turns import TurnView
from memcore import MnemoscopeError
from pages.shared import turn_data, turn_reply, workbench
from pages.shared import wording_turn as wording
from pages.shared.url_choice import choose_one

_FIELD, _NAMED, _JOBS = "turn_ask_model", "turn_ask_named", "turn_ask_jobs"
_KEPT = 32

Key = tuple[turn_data.Key, str, int, str, bool]


def panel(view: TurnView) -> None:
    """Whom to ask and with what, and below it what came of it, if it was asked."""
    st.caption(wording.ASK)
    try:
        usual = usual_brain(view)
    except MnemoscopeError as error:
        workbench.failure(wording.ASK_BAD_SETTINGS, error)
        return
    name = _named(usual)
    if not name:
        st.info(wording.ASK_NO_MODEL, icon=":material/info:")
        st.code(wording.ASK_EXAMPLES, language=None, wrap_lines=True)
        return
    try:
        brain = brain_for(view, name).name
    except MnemoscopeError as error:
        workbench.failure(wording.ASK_BAD_MODEL, f"{wording.ASK_FORMS}\n\n{error}", warning=True)
        return
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        tools = _tools()
    key = _key(view, brain, tools)
    job = _jobs().get(key)
    with right:
        _button(view, tools, job)
    if job is not None and job.active:
        _watch(key)
    elif job is not None:
        turn_reply.show(view, job)


def _key(view: TurnView, brain: str, tools: bool) -> Key:
    return turn_data.key_of(view.run), view.talk.id, view.number, brain, tools


def _named(usual: str) -> str:
    """The name in the field, which outlives the field: Streamlit forgets what is not shown."""
    st.session_state[_FIELD] = st.session_state.get(_NAMED, usual)

    def put_aside() -> None:
        st.session_state[_NAMED] = st.session_state[_FIELD]

    given = st.text_input(
        wording.ASK_MODEL,
        key=_FIELD,
        help=wording.ASK_MODEL_HELP,
        placeholder=wording.ASK_MODEL_EXAMPLE,
        max_chars=500,
        on_change=put_aside,
    )
    return str(given).strip()


def _tools() -> bool:
    given = wording.ASK_TOOLS_ARE
    chosen = choose_one(
        "tools", wording.ASK_TOOLS, given, help=wording.ASK_TOOLS_HELP, width="stretch"
    )
    return chosen == "on"


def _button(view: TurnView, tools: bool, job: AskJob | None) -> None:
    total = int(view.row["total"]) + len(str(view.row["text"]))
    price = wording.ASK_NOW_HELP.format(characters=total, tokens=wording.tokens(total))
    label = wording.ASK_NOW if job is None else wording.ASK_AGAIN
    st.button(
        wording.ASK_ASKING if job is not None and job.active else label,
        key="turn_ask",
        type="primary" if job is None else "secondary",
        icon=":material/send:",
        help=price,
        width="stretch",
        disabled=job is not None and job.active,
        on_click=lambda: _begin(view, tools),
    )


def _jobs() -> dict[Key, AskJob]:
    """What this visitor asked; nobody else sees it."""
    jobs: dict[Key, AskJob] = st.session_state.setdefault(_JOBS, {})
    return jobs


def _begin(view: TurnView, tools: bool) -> None:
    """Asks whom the field names now: a name typed just before the click comes along with it."""
    try:
        job = AskJob(view, str(st.session_state[_FIELD]).strip(), tools)
    except MnemoscopeError:  # the page says what is wrong with it
        return
    jobs, key = _jobs(), _key(view, job.brain, tools)
    jobs.pop(key, None)
    for old in [one for one in jobs if not jobs[one].active][: max(len(jobs) + 1 - _KEPT, 0)]:
        del jobs[old]
    jobs[key] = job.start()


@st.fragment(run_every=0.5)
def _watch(key: Key) -> None:
    """Progress of an answer; loads the page again when it is there."""
    job = _jobs().get(key)
    if job is None or not job.active:
        st.rerun()
        return
    where = st.container(border=True)
    now = job.progress
    if not now.request:
        where.progress(0.0, wording.ASK_BUILDING)
    else:
        says = wording.ASK_WAITING.format(request=now.request, seconds=job.seconds, limit=job.limit)
        if now.calls:
            says += wording.ASK_CALLED.format(calls=wording.tool_calls(now.calls))
        where.progress(min(job.seconds / job.limit, 1.0), says)
    where.caption(wording.ASK_RUNS_ON)
    if where.button(wording.ASK_STOP, key="turn_ask_stop", icon=":material/stop:"):
        job.stop()
        del _jobs()[key]
        st.rerun()
