"""The first box of the Turn page, in words: what was asked, when it was answered, whether that is
in the prompt, and what lost it."""

from __future__ import annotations

import streamlit as st

from eval.evidence import Fate
from eval.evidence_path import State, path, ways
from eval.explain import LAYER_NAMES, search_in_words, verdict
from eval.meaning import degraded, meant
from eval.turn_list import Standing, standing
from eval.turns import TurnView
from memcore import Layer
from pages.shared import turn_data, workbench
from pages.shared import wording_turn as wording
from pages.shared.html import Html, chip, join, tag, words

_SHOWN_AT_ONCE = 2


def standing_of(view: TurnView) -> Standing:
    """How the turn fared."""
    question = view.question or {"stage": None, "some": False}
    return standing({"is_question": view.row["is_question"], **question})


def show(view: TurnView) -> None:
    """The box, and below it the way of each piece of evidence."""
    st.html(_box(view))
    failed = [row["layer"] for _, row in view.layers.iterrows() if row["status"] == "failed"]
    if failed:
        names = ", ".join(LAYER_NAMES[Layer(name)] for name in failed)
        st.error(wording.FAILED_LAYERS.format(layers=names))
    meaning(view)
    fates = sorted(view.fates, key=lambda fate: fate.reached)
    for fate in fates[:_SHOWN_AT_ONCE]:
        _evidence(view, fate)
    if rest := fates[_SHOWN_AT_ONCE:]:
        with st.expander(wording.MORE_EVIDENCE.format(count=len(rest))):
            for fate in rest:
                _evidence(view, fate)


def meaning(view: TurnView) -> None:
    """What meaning could do for the turn, in one line, and what it could not."""
    found = meant(view)
    if found is not None:
        st.html(tag("div", tag("b", wording.MEANING), found.words, cls="m-quiet-text"))
    problem = found.error if found is not None else ""
    if problem:
        workbench.failure(wording.PROVIDER_FAILED, problem, warning=True)
    elif notes := degraded(view):
        workbench.failure(wording.DEGRADED, "\n".join(notes), warning=True)


def in_words(view: TurnView) -> str:
    """The sentences of the box."""
    if not view.row["is_question"]:
        return search_in_words(view.layer(Layer.EXCERPTS), view.offered)
    if view.fates:
        return verdict(view.talk, view.messages, view.row["time"], view.fates)
    if view.question is not None and not view.question["answerable"]:
        spent = view.layer(Layer.EXCERPTS)["received"]
        return wording.UNANSWERABLE.format(characters=f"{spent:,}")
    return wording.NO_EVIDENCE


def _box(view: TurnView) -> Html:
    row, fared = view.row, standing_of(view)
    heading = wording.ASKED if row["is_question"] else wording.SAID
    head = heading.format(
        time=turn_data.moment(row["time"], view.talk.timezone),
        zone=view.talk.timezone,
        person=_speaker(view),
    )
    cited = fared == "reached" and any(fate.only_cited for fate in view.fates)
    mark = wording.CITED_MARK if cited else wording.ANSWER_MARKS[fared]
    sentence = f"{mark} {in_words(view)}" if view.fates else in_words(view)
    total, persona = int(row["total"]), int(view.layer(Layer.PERSONA)["received"])
    price = wording.PRICE.format(total=total, tokens=wording.tokens(total))
    price += wording.PERSONA.format(persona=persona) if persona else ""
    answer = view.question["answer"] if view.question is not None else None
    gold = tag("span", wording.GOLD, tag("bdi", str(answer)), " · ") if answer else Html("")
    return tag(
        "div",
        tag("div", head, cls="m-quiet-text"),
        words(str(row["text"]), "m-question" if len(row["text"]) < 160 else "m-said"),
        tag("div", *_emphasised(sentence), cls="m-verdict"),
        tag("div", gold, price, cls="m-quiet-text"),
        cls=f"m-answer m-{_colour(view, fared)}",
    )


def _emphasised(sentence: str) -> list[str]:
    for strong in ("It is NOT in this prompt", "It is NOT QUOTED whole", "It IS in this prompt"):
        before, found, after = sentence.partition(strong)
        if found:
            return [before, tag("b", found), after]
    return [sentence]


def _colour(view: TurnView, fared: Standing) -> str:
    """Of the layer that has the answer, or of loss: never by itself, the words say it too."""
    if fared in ("lost", "partly"):
        return "lost"
    reached = [layer for fate in view.fates for layer in fate.layers]
    return str(reached[0]) if reached else "quiet"


def _speaker(view: TurnView) -> str:
    own = view.messages.get(str(view.row["id"]))
    if own is not None and not view.row["is_question"]:
        return own.speaker
    people = [one.speaker for one in view.messages.values() if one.role == "user"]
    return people[0] if people else view.talk.person


def _evidence(view: TurnView, fate: Fate) -> None:
    said = view.messages.get(fate.message)
    text, buttons = st.columns([10, 3], vertical_alignment="center")
    with text:
        head = ""
        if said is not None:
            time = turn_data.moment(said.time, view.talk.timezone)
            head = wording.EVIDENCE.format(time=time, speaker=said.speaker)
        quoted = turn_data.one_line(said.text, 320) if said is not None else fate.message
        st.html(tag("div", tag("b", head), words(quoted), cls="m-piece"))
    with buttons, st.container(horizontal=True, horizontal_alignment="right"):
        with st.popover(wording.WHY_NOT, key=f"turn_ways_{fate.message}"):
            st.html(_ways(view, fate))
        st.button(
            wording.SHOW_IT,
            key=f"turn_show_{fate.message}",
            help=wording.SHOW_IT_HELP,
            type="primary" if not fate.reached else "secondary",
            on_click=lambda: show_message(fate.message),
        )
    st.html(_path(view, fate))


def show_message(message: str) -> None:
    """Opens the timeline at a message; the address says so."""
    workbench.remember(message=message, timeline="all")


def _path(view: TurnView, fate: Fate) -> Html:
    pieces: list[str] = []
    for step in path(view, fate):
        mark = wording.STEP_MARKS[step.state]
        detail = tag("small", f" {step.detail}") if step.detail else Html("")
        colour = " m-lost" if step.state is State.LOST else ""
        cls = f"m-step m-{step.state.replace(' ', '-')}{colour}"
        if pieces:
            pieces.append(tag("span", "→", cls="m-arrow"))
        pieces.append(tag("span", f"{mark} {step.name}".strip(), detail, cls=cls))
    return tag("div", *pieces, cls="m-path")


def _ways(view: TurnView, fate: Fate) -> Html:
    lines = []
    for way in ways(view, fate):
        mark = "✓" if way.has else "✗"
        why = way.why or wording.HAS_IT
        lines.append(tag("div", chip(f"{mark} {LAYER_NAMES[way.layer]}", way.layer), why))
    return join(lines)
