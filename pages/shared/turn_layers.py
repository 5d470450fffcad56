"""The budget as a picture and a table, and the items of each layer, kept and dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from eval.explain import LAYER_NAMES
from eval.figures_turn import COUNTED, Budget, budget_figure, is_bounded
from eval.turns import TurnView, records
from memcore import Item, Layer, Reason
from pages.shared import turn_data, workbench
from pages.shared import wording_turn as wording
from pages.shared.html import Html, chip, tag
from pages.shared.turn_answer import show_message

PLOTLY = {"displayModeBar": False}
_NUMBERS = ("asked", "cap", "granted", "received", "kept", "dropped")


def budget_of(name: str, view: TurnView) -> Budget:
    return Budget(name, view.layers, int(view.row["ceiling"]), int(view.row["spent"]))


def picture(budgets: Sequence[Budget], key: str) -> None:
    """Requested against received."""
    with st.container(gap=None):
        title = tag("b", wording.BUDGET_TITLE)
        st.html(tag("div", title, f" · {wording.BUDGET_LEGEND}", cls="m-quiet-text"))
        st.plotly_chart(budget_figure(budgets), key=key, config=PLOTLY, alt=wording.BUDGET_ALT)


def panel(view: TurnView) -> None:
    """The account as a table, and the items of one layer."""
    table = view.layers.assign(layer=[LAYER_NAMES[Layer(name)] for name in view.layers["layer"]])[
        list(wording.LAYER_COLUMNS)
    ]
    st.html(_account(view))
    workbench.download(wording.DOWNLOAD_LAYERS, table, f"layers-{view.talk.id}-{view.number}")
    _items(view)


def _account(view: TurnView) -> Html:
    """The account, a row a layer, and the total that is the length of the prompt."""
    titles = [tag("th", title, cls=_side(name)) for name, title in wording.ACCOUNT.items()]
    rows = [tag("tr", *titles)]
    for row in records(view.layers):
        layer = Layer(row["layer"])
        cells = [tag("td", chip(LAYER_NAMES[layer], layer))]
        cells += [tag("td", _number(row[name])) for name in _NUMBERS]
        status = row["status"] if row["status"] != "ok" else ""
        words = "; ".join(str(one) for one in (status, row["note"], row["ordering"]) if one)
        rows.append(tag("tr", *cells, tag("td", words, cls="m-to-left")))
    total = {"layer": wording.TOTAL, "received": f"{int(view.row['total']):,}"}
    rows.append(tag("tr", *(tag("td", total.get(name, "")) for name in wording.ACCOUNT)))
    return tag("table", *rows, cls="m-table")


def _side(column: str) -> str:
    return "" if column in _NUMBERS else "m-to-left"


def _number(value: Any) -> str:
    if pd.isna(value):
        return "–"
    return f"{int(value):,}" if is_bounded(int(value)) else "∞"


def _items(view: TurnView) -> None:
    by_layer = {layer: [i for i in view.offered if i.layer is layer] for layer in COUNTED}

    def label(layer: Layer) -> str:
        items = by_layer[layer]
        return wording.ITEMS_COUNT.format(
            layer=LAYER_NAMES[layer], kept=sum(i.kept for i in items), offered=len(items)
        )

    chosen = st.segmented_control(
        wording.ITEMS_OF,
        list(COUNTED),
        default=_layer_to_open(view),
        required=True,
        format_func=label,
        key=f"turn_layer_{view.talk.id}_{view.number}",
    )
    layer = Layer(chosen or Layer.EXCERPTS)
    items = by_layer[layer]
    if not items:
        note = str(view.layer(layer)["note"]) or wording.NOTHING
        st.info(wording.NO_ITEMS.format(note=workbench.escaped(note)))
        return
    texts = turn_data.item_texts(view)
    table = _table(view, items, texts)
    titles = dict(wording.ITEM_COLUMNS)
    if any(item.kept and item.detail for item in items):
        titles["reason"] = titles["detail"]
    st.caption(wording.ITEM_HINT)
    event = st.dataframe(
        table.rename(columns=titles),
        hide_index=True,
        width="stretch",
        height=min(38 + 35 * len(items), 390),
        on_select="rerun",
        selection_mode="single-row",
        key=f"turn_items_{view.talk.id}_{view.number}_{layer}",
        column_config={
            wording.ITEM_COLUMNS["kept"]: st.column_config.TextColumn(width=78),
            wording.ITEM_COLUMNS["place"]: st.column_config.NumberColumn(width=55),
            wording.ITEM_COLUMNS["score"]: st.column_config.NumberColumn(format="%.2f", width=60),
            wording.ITEM_COLUMNS["size"]: st.column_config.NumberColumn(width=55),
            titles["reason"]: st.column_config.TextColumn(width=250),
            wording.ITEM_COLUMNS["text"]: st.column_config.TextColumn(width="large"),
        },
    )
    rows = event["selection"]["rows"]
    if rows:
        _one(view, items[rows[0]], texts.get((layer, items[rows[0]].id), wording.NO_TEXT))
    workbench.download(wording.DOWNLOAD_ITEMS, table, f"items-{layer}-{view.talk.id}-{view.number}")


def _layer_to_open(view: TurnView) -> Layer:
    lost = [fate for fate in view.fates if not fate.reached and fate.layers]
    reached = [fate for fate in view.fates if fate.reached]
    sources = [source for fate in (*lost, *reached) for source in fate.layers[:1]]
    first = sources[0] if sources else Layer.EXCERPTS
    return first if isinstance(first, Layer) else Layer.EXCERPTS


def _table(
    view: TurnView, items: Sequence[Item], texts: dict[tuple[Layer, str], str]
) -> pd.DataFrame:
    evidence = {fate.message for fate in view.fates}
    rows = []
    for item in items:
        said = view.messages.get(item.id)
        reason = "" if item.reason in (None, Reason.OVER_LIMIT) else str(item.reason)
        mark = "◆ " if evidence.intersection(item.covers) else ""
        rows.append(
            {
                "kept": f"✓ {wording.ITEM_KEPT}" if item.kept else f"✗ {wording.ITEM_DROPPED}",
                "place": item.place,
                "score": item.score,
                "size": item.size,
                "reason": ": ".join(one for one in (reason, item.detail) if one),
                "text": mark + turn_data.one_line(texts.get((item.layer, item.id), ""), 200),
                "said": turn_data.moment(said.time, view.talk.timezone) if said else item.id,
                "id": item.id,
            }
        )
    table = pd.DataFrame(rows, columns=[*rows[0]])
    empty = [name for name in ("score", "reason") if not table[name].astype(bool).any()]
    if table["score"].isna().all():
        empty.append("score")
    return table.drop(columns=sorted(set(empty)))


def _one(view: TurnView, item: Item, text: str) -> None:
    st.caption(wording.ITEM_TEXT.format(id=workbench.escaped(item.id)))
    st.code(text, language=None, wrap_lines=True)
    message = next((id for id in (item.id, *item.covers) if id in view.messages), None)
    if message is not None:
        st.button(
            wording.ITEM_SHOW,
            key=f"turn_item_show_{item.layer}_{item.id}",
            on_click=lambda: show_message(message),
        )
