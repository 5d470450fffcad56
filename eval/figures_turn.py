"""Pictures of one turn's budget: what each layer asked for and received, against its cap and the
ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from eval.arms import UNBOUNDED
from eval.explain import LAYER_NAMES
from eval.figures import GRID, LAYER_COLOURS, LAYER_PATTERNS, QUIET_COLOUR, base_layout
from memcore import Layer

COUNTED = (Layer.LAST_EXCHANGE, Layer.SUMMARY, Layer.NOTES, Layer.EXCERPTS, Layer.WINDOW)
"""The layers that count against the ceiling, in the order in which they keep their place."""

_ROW = 34
_FAINT = 0.28


class Budget(NamedTuple):
    """One composition of a turn: its name, its rows of `layers`, its ceiling, what was spent."""

    name: str
    layers: pd.DataFrame
    ceiling: int
    spent: int


def budget_figure(budgets: Sequence[Budget]) -> go.Figure:
    """Requested against received, in characters, of one composition or of several side by side.

    Above, a bar to the ceiling, filled by layer; below, a row a layer: what was asked is faint,
    what was received is solid, the cap is a stroke; the numbers stand at the right.
    """
    several = len(budgets) > 1
    figure = make_subplots(
        rows=2,
        cols=1,
        row_heights=[len(budgets) + 0.35, len(budgets) * len(COUNTED)],
        vertical_spacing=0.16 / len(budgets) ** 0.5,
    )
    reach = max(_reach(budget) for budget in budgets)
    total = max(max(_bounded(b.ceiling) or 0, b.spent) for b in budgets) or 1
    for budget in budgets:
        _add_total(figure, budget, several, total)
        _add_layers(figure, budget, several)
    names = [_label(layer, one, several) for layer in COUNTED for one in budgets]
    rows = len(budgets) * (len(COUNTED) + 1)
    figure.update_layout(
        **base_layout(
            barmode="overlay",
            height=95 + rows * (_ROW if not several else 26),
            margin={"l": 8, "r": 190, "t": 4, "b": 8},
            showlegend=False,
            bargap=0.3,
        )
    )
    axis = {"gridcolor": GRID, "zerolinecolor": GRID, "fixedrange": True, "tickformat": ",d"}
    figure.update_xaxes(**axis, range=[0, total * 1.004], nticks=7, row=1, col=1)
    figure.update_xaxes(**axis, range=[0, reach * 1.02], nticks=7, row=2, col=1)
    figure.update_yaxes(fixedrange=True, automargin=True, showgrid=False)
    figure.update_yaxes(autorange="reversed")
    figure.update_yaxes(categoryorder="array", categoryarray=names, row=2, col=1)
    return figure


def _add_total(figure: go.Figure, budget: Budget, several: bool, scale: int) -> None:
    name, start = budget.name if several else "spent", 0
    for layer, row in _rows(budget):
        received = int(row["received"])
        if not received:
            continue
        figure.add_trace(
            go.Bar(
                x=[received],
                y=[name],
                base=[start],
                orientation="h",
                marker=_fill(layer),
                text=[LAYER_NAMES[layer] if received > 0.12 * scale else ""],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": "#111111", "size": 12},
                hovertemplate=f"{LAYER_NAMES[layer]}: {received:,}<extra></extra>",
            ),
            row=1,
            col=1,
        )
        start += received
    ceiling = _bounded(budget.ceiling)
    if ceiling is not None:
        figure.add_trace(_stroke([ceiling], [name], f"ceiling {ceiling:,}", 26), row=1, col=1)
    words = f"{budget.spent:,} of {ceiling:,}" if ceiling is not None else f"{budget.spent:,}"
    _note(figure, words, name, "y", bold=True)


def _add_layers(figure: go.Figure, budget: Budget, several: bool) -> None:
    for layer, row in _rows(budget):
        label = _label(layer, budget, several)
        asked, received, cap = int(row["asked"]), int(row["received"]), _cap(row)
        faint = {**_fill(layer), "opacity": _FAINT, "line": {"width": 0}}
        words = f"{LAYER_NAMES[layer]}: asked {asked:,}, received {received:,}"
        for size, marker, width in ((asked, faint, 0.82), (received, _fill(layer), 0.5)):
            figure.add_trace(
                go.Bar(
                    x=[size],
                    y=[label],
                    orientation="h",
                    width=width,
                    marker=marker,
                    hovertemplate=f"{words}<extra></extra>",
                ),
                row=2,
                col=1,
            )
        if cap is not None:
            figure.add_trace(_stroke([cap], [label], f"cap {cap:,}", 20), row=2, col=1)
        _note(figure, _numbers(row, received, asked, cap), label, "y2")


def _label(layer: Layer, budget: Budget, several: bool) -> str:
    return f"{LAYER_NAMES[layer]} · {budget.name}" if several else LAYER_NAMES[layer]


def _numbers(row: Mapping[str, Any], received: int, asked: int, cap: int | None) -> str:
    if row["status"] == "failed":
        return f"{received:,} · failed"
    if row["status"] == "skipped":
        return "not searched" if row["note"] else "off"
    bound = f" / {cap:,}" if cap is not None else ""
    dropped = f", {int(row['dropped'])} dropped" if row["dropped"] else ""
    less = f" (asked {asked:,})" if asked > received else f" · {int(row['kept'])} kept{dropped}"
    return f"{received:,}{bound}{less}"


def _note(figure: go.Figure, text: str, at: str, axis: str, bold: bool = False) -> None:
    figure.add_annotation(
        text=f"<b>{text}</b>" if bold else text,
        x=1.015,
        xref="paper",
        xanchor="left",
        y=at,
        yref=axis,
        showarrow=False,
        align="left",
        font={"size": 12},
    )


def _stroke(x: list[int], y: list[str], words: str, size: int) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": size,
            "color": QUIET_COLOUR,
            "line": {"width": 3, "color": QUIET_COLOUR},
        },
        cliponaxis=False,
        hovertemplate=f"{words}<extra></extra>",
    )


def _fill(layer: Layer) -> dict[str, Any]:
    return {
        "color": LAYER_COLOURS[layer],
        "pattern": {
            "shape": LAYER_PATTERNS[layer],
            "size": 5,
            "solidity": 0.16,
            "fgcolor": "#FFFFFF",
            "fillmode": "overlay",
        },
    }


def _rows(budget: Budget) -> list[tuple[Layer, dict[str, Any]]]:
    by_name = {row["layer"]: row for _, row in budget.layers.iterrows()}
    return [(layer, dict(by_name[layer])) for layer in COUNTED if layer in by_name]


def _reach(budget: Budget) -> int:
    rows = [row for _, row in _rows(budget)]
    sizes = [max(int(r["asked"]), int(r["received"]), _cap(r) or 0) for r in rows]
    return max([*sizes, 1])


def _cap(row: Mapping[str, Any]) -> int | None:
    return None if pd.isna(row["cap"]) else _bounded(int(row["cap"]))


def _bounded(size: int) -> int | None:
    """None for what no conversation can reach, so that a yardstick's caps leave the scale alone."""
    return size if is_bounded(size) else None


def is_bounded(size: int) -> bool:
    """Whether a cap or ceiling is one that a conversation can reach."""
    return size < UNBOUNDED / 2
