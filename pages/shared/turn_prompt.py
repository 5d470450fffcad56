"""The exact prompt of a turn: coloured by layer, as each kind of provider gets it, and as text."""

from __future__ import annotations

import json

import streamlit as st

from eval.explain import LAYER_NAMES
from eval.renderings import Rendering, rendering
from eval.turns import SYSTEM_LAYERS, TurnView
from memcore import Layer
from pages.shared import wording_turn as wording
from pages.shared.html import Html, chip, join, tag
from pages.shared.url_choice import choose_one

_HEIGHT = 620


def panel(view: TurnView) -> None:
    """The prompt in the form that is chosen, with its download."""
    form = choose_one("form", wording.FORM_LABEL, wording.FORMS, label_visibility="collapsed")
    name = f"prompt-{view.talk.id}-{view.number}"
    if form in ("openai", "anthropic"):
        made = rendering(view, "openai" if form == "openai" else "anthropic")
        st.html(taken(made, wording.FORMS[form]))
        text = json.dumps(made.sent, ensure_ascii=False, indent=2)
        st.download_button(wording.DOWNLOAD_JSON, text, f"{name}-{form}.json", "application/json")
        st.code(text, language="json", wrap_lines=True, height=_HEIGHT)
        return
    text = raw(view)
    st.download_button(wording.DOWNLOAD_PROMPT, text, f"{name}.txt", "text/plain")
    if form == "raw":
        st.code(text, language=None, wrap_lines=True, height=_HEIGHT)
    else:
        st.html(coloured(view))


def taken(made: Rendering, api: str) -> Html:
    """Whether an API takes the prompt, and why, or what it would refuse."""
    if made.fault:
        words = wording.NOT_TAKEN.format(api=api, fault=made.fault)
        return tag("div", f"✗ {words}", cls="m-answer m-lost")
    return tag("div", tag("b", f"✓ {wording.TAKEN.format(api=api)}"), made.words + ".")


def raw(view: TurnView) -> str:
    """The prompt as text: the system prompt to the character, then each message by its role."""
    history = "\n\n".join(f"[{turn.role}]\n{turn.content}" for turn in view.turns)
    return f"{view.system}\n\n{history}" if view.system else history


def coloured(view: TurnView) -> Html:
    """The prompt by layers, each with its name and size; the answer's messages underlined."""
    pieces: list[str] = []
    empty = [layer for layer in Layer if not view.text(layer)]
    if empty:
        names = ", ".join(LAYER_NAMES[layer] for layer in empty)
        pieces.append(tag("div", wording.EMPTY_LAYERS.format(layers=names), cls="m-quiet-text"))
    if any(fate.reached for fate in view.fates):
        pieces.append(tag("div", wording.FOUND_IN_PROMPT, cls="m-quiet-text"))
    pieces.append(_title(wording.SYSTEM_TITLE, len(view.system)))
    for layer in SYSTEM_LAYERS:
        if text := view.text(layer):
            pieces.append(_block(layer, len(text), marked(view, text.lstrip("\n"))))
    history = sum(len(turn.content) for turn in view.turns)
    pieces.append(_title(wording.HISTORY_TITLE, history))
    for layer, message in view.history:
        role = "user" if message.role == "user" else "assistant"
        pieces.append(_block(layer, len(message.text), marked(view, message.text), role))
    text = str(view.row["text"])
    pieces.append(
        tag(
            "div",
            tag("div", tag("span", tag("b", "user"), f" · {wording.NEW_MESSAGE}"), cls="m-head"),
            tag("div", text, cls="m-words m-mono", dir="auto"),
            cls="m-layer m-quiet",
        )
    )
    return tag("div", *pieces, cls="m-box", tabindex="0")


def _title(text: str, size: int) -> Html:
    count = tag("span", f" {wording.CHARACTERS.format(count=size)}", cls="m-quiet-text")
    return tag("div", tag("b", text), count)


def _block(layer: Layer, size: int, text: Html, role: str = "") -> Html:
    head = tag(
        "div",
        tag("span", chip(LAYER_NAMES[layer], layer), tag("b", role) if role else ""),
        tag("span", wording.CHARACTERS.format(count=size), cls="m-quiet-text"),
        cls="m-head",
    )
    body = tag("div", text, cls="m-words m-mono", dir="auto")
    return tag("div", head, body, cls=f"m-layer m-{layer}")


def marked(view: TurnView, text: str) -> Html:
    """The text with the answer's messages marked where they stand in it."""
    wanted = [view.messages[f.message].text for f in view.fates if f.message in view.messages]
    wanted += [one.strip().replace("\n", "\n    ") for one in wanted]
    for one in wanted:
        before, there, after = text.partition(one)
        if there:
            return join([marked(view, before), tag("mark", there, cls="m-found"), after])
    return join([text])
