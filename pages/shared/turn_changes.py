"""What a prompt has that another has not: items by layer, and the text line by line."""

from __future__ import annotations

import streamlit as st

from eval.differences import items_changed, lines_changed, unchanged
from eval.explain import LAYER_NAMES
from eval.turns import TurnView, records
from memcore import Layer
from pages.shared import turn_data
from pages.shared import wording_turn as wording
from pages.shared.html import Html, chip, tag
from pages.shared.turn_prompt import raw


def panel(view: TurnView) -> None:
    """The difference from the turn before in the same thread."""
    earlier = turn_data.before(view)
    if earlier is None:
        st.info(wording.NO_PREVIOUS_TURN)
        return
    same, total = (
        unchanged(earlier, view),
        len(view.system) + sum(len(turn.content) for turn in view.turns),
    )
    st.text(
        wording.UNCHANGED.format(
            unchanged=same, total=total, number=earlier.number + 1, share=same / max(total, 1)
        )
    )
    st.html(items(earlier, view))
    st.html(lines(earlier, view))


def items(before: TurnView, after: TurnView) -> Html:
    """What entered and what left, per layer, with the beginning of its text."""
    found = records(items_changed(before, after))
    if not found:
        return tag("div", wording.NO_CHANGE, cls="m-quiet-text")
    texts = {**turn_data.item_texts(before), **turn_data.item_texts(after)}
    rows = []
    for row in found:
        layer, change = Layer(row["layer"]), str(row["change"])
        text = turn_data.one_line(texts.get((layer, row["id"]), row["id"]), 150)
        rows.append(
            tag(
                "div",
                tag("span", wording.CHANGES[change], style="min-width: 4.6rem"),
                tag("span", chip(LAYER_NAMES[layer], layer)),
                tag("span", tag("bdi", text), cls="m-words"),
                cls=f"m-line m-piece m-{change}",
            )
        )
    return tag("div", *rows, cls="m-diff m-box")


def lines(before: TurnView, after: TurnView) -> Html:
    """The two prompts' texts, line by line, what is the same left out."""
    rows: list[str] = [tag("b", wording.DIFFERENCE)]
    changed = lines_changed(raw(before), raw(after))
    if not changed:
        return tag("div", wording.NO_LINES, cls="m-quiet-text")
    for line in changed:
        if line.skipped:
            skipped = wording.same_lines(line.skipped)
            rows.append(tag("div", skipped, cls="m-line m-skip"))
            continue
        cls = {"+": "m-line m-entered", "-": "m-line m-left"}.get(line.sign, "m-line")
        text = tag("div", line.text, cls="m-words m-mono", dir="auto")
        rows.append(
            tag("div", tag("span", line.sign.replace("-", "−"), cls="m-mono"), text, cls=cls)
        )
    return tag("div", rows[0], tag("div", *rows[1:], cls="m-diff m-box"))
