"""A model's reply to a turn: what it said, whether the answer was before it, and what it called."""

from __future__ import annotations

import json

import streamlit as st

from eval.asking import Source, exchange, holds, shown, shown_in_words
from eval.asking_job import AskJob
from eval.turns import TurnView
from memcore import Answer, CallRecord
from pages.shared import turn_data, workbench
from pages.shared import wording_turn as wording
from pages.shared.html import Html, chip, tag, words
from pages.shared.turn_prompt import marked

_LONGEST = 20_000
"""Characters of a reply that are shown: a browser stands still over hundreds of thousands."""


def show(view: TurnView, job: AskJob) -> None:
    """All that came of an answer that is over."""
    answer = job.answer
    if answer is None:
        _not_asked(job)
        return
    _trouble(job, answer)
    if answer.text.strip() or answer.calls:
        st.html(_box(view, job, answer))
        st.html(_calls(view, job, answer))
    st.download_button(
        wording.ASK_DOWNLOAD,
        lambda: json.dumps(
            exchange(view, job.brain, job.tools, answer), ensure_ascii=False, indent=2
        ).encode(),
        file_name=f"exchange-{view.talk.id}-{view.number}.json",
        mime="application/json",
        key="turn_ask_download",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def _not_asked(job: AskJob) -> None:
    if job.error is None:
        st.info(wording.ASK_STOPPED)
        return
    workbench.failure(wording.ASK_BROKE, job.error)
    if job.trace:
        with st.expander(wording.ASK_TRACE):
            st.code(job.trace, language=None)


def _trouble(job: AskJob, answer: Answer) -> None:
    """What went wrong and what to do; nothing where the model answered."""
    if answer.stopped == "done":
        if answer.error:
            workbench.failure(wording.ASK_CUT, answer.error, warning=True)
        return
    if answer.stopped == "too many calls":
        says, warning = wording.ASK_ENDLESS, True
    elif answer.stopped == "too slow":
        says, warning = wording.ASK_SLOW.format(limit=job.limit), False
    else:
        kind = answer.error.partition(":")[0]
        says, warning = wording.ASK_FAILED.get(kind, wording.ASK_FAILED_OTHERWISE), False
    if answer.error:
        workbench.failure(says, answer.error, warning)
    else:
        st.warning(says, icon=":material/warning:")


def _box(view: TurnView, job: AskJob, answer: Answer) -> Html:
    """The reply, what was expected, and whether the model had that before it."""
    tools = wording.ASK_TOOLS_ARE["on" if job.tools else "off"].lower()
    whole = answer.stopped in ("done", "too many calls")
    head = wording.ASK_REPLY if whole else wording.ASK_LAST_WORDS
    ended = wording.ASK_PRICE.format(
        ended=wording.ASK_DONE[answer.stopped],
        requests=wording.requests(answer.rounds),
        calls=wording.tool_calls(len(answer.calls)),
        seconds=job.seconds,
    )
    if answer.tokens_in is not None or answer.tokens_out is not None:
        ended += wording.ASK_TOKENS.format(
            tokens_in=_counted(answer.tokens_in), tokens_out=_counted(answer.tokens_out)
        )
    gold = view.question["answer"] if view.question is not None else None
    expected = tag("div", wording.ASK_EXPECTED, tag("b", tag("bdi", str(gold)))) if gold else ""
    source = shown_in_words(view, answer, job.tools)
    return tag(
        "div",
        tag("div", head.format(brain=job.brain, tools=tools), cls="m-quiet-text"),
        words(_shortened(answer.text.strip()) or wording.ASK_NO_REPLY, "m-reply"),
        expected,
        tag("div", f"{_mark(view, answer)} {source}".strip(), cls="m-verdict") if source else "",
        tag("div", f"{ended}.", cls="m-quiet-text"),
        cls=f"m-answer m-{_colour(view, answer)}",
    )


def _shortened(text: str) -> str:
    """A reply as far as a page can show it."""
    more = len(text) - _LONGEST
    if more <= 0:
        return text
    return f"{text[:_LONGEST]}\n\n{wording.ASK_CUT_SHORT.format(count=more)}"


def _counted(tokens: int | None) -> str:
    return wording.ASK_UNCOUNTED if tokens is None else f"{tokens:,}"


def _colour(view: TurnView, answer: Answer) -> str:
    """Of loss where the model lacked a message; sentence and mark say it too."""
    sources = {one.source for one in shown(view, answer)}
    if not sources:
        return "quiet"
    return "lost" if sources & {Source.NOWHERE, Source.PART} else "reached"


def _mark(view: TurnView, answer: Answer) -> str:
    sources = {one.source for one in shown(view, answer)}
    if not sources:
        return ""
    if sources <= {Source.PROMPT, Source.TOOL}:
        return wording.ANSWER_MARKS["reached"]
    if sources == {Source.NOWHERE}:
        return wording.ANSWER_MARKS["lost"]
    return wording.CITED_MARK if sources == {Source.CITED} else wording.ANSWER_MARKS["partly"]


def _calls(view: TurnView, job: AskJob, answer: Answer) -> Html:
    if not answer.calls:
        return tag(
            "div",
            wording.ASK_NO_CALLS if job.tools else wording.ASK_NO_TOOLS,
            cls="m-quiet-text",
        )
    rows = [_call(view, place, call) for place, call in enumerate(answer.calls, 1)]
    return tag("div", tag("b", wording.ASK_CALLS), *rows)


def _call(view: TurnView, place: int, call: CallRecord) -> Html:
    """One call: its line, and folded in it the arguments and all that the model was told."""
    given = json.dumps(call.arguments, ensure_ascii=False)
    evidence = [view.messages[f.message] for f in view.fates if f.message in view.messages]
    has = any(holds(call.result, message) for message in evidence)
    line = tag(
        "summary",
        tag("b", f"{place}. {turn_data.one_line(call.name, 60)} "),
        chip(wording.ASK_EVIDENCE_CALL, kind="reached") if has else "",
        chip(f"✗ {wording.ASK_CALL_ERROR}", kind="lost")
        if call.error
        else chip(f"✓ {wording.ASK_CALL_OK}"),
        tag("span", wording.ASK_CALL_TIME.format(milliseconds=call.milliseconds), cls="m-head"),
        tag("div", turn_data.one_line(given, 160), cls="m-words m-mono", dir="auto"),
    )
    told = marked(view, call.result)
    body = [
        tag("div", wording.ASK_RESULT, cls="m-quiet-text"),
        tag("div", told, cls="m-words m-mono m-told", dir="auto", tabindex="0"),
    ]
    if len(given) > 160:
        body = [
            tag("div", wording.ASK_ARGUMENTS, cls="m-quiet-text"),
            tag("div", given, cls="m-words m-mono m-told", dir="auto", tabindex="0"),
            *body,
        ]
    kind = "lost" if call.error else "reached" if has else "quiet"
    opened = {"open": "open"} if has or call.error else {}
    return tag("details", line, *body, cls=f"m-call m-{kind}", **opened)
