"""Figures as pure functions of tables, for screens and for files.

Nothing here knows the dashboard. Backgrounds are transparent and lines half-grey, so that a figure
stands on light and on dark alike. Colour never stands alone: a label or a pattern goes with it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from eval.evidence import Stage
from eval.explain import STAGE_WORDS
from eval.stats import interval, percent
from memcore import Layer

LAYER_COLOURS: dict[Layer, str] = {
    Layer.PERSONA: "#7F7F7F",
    Layer.LAST_EXCHANGE: "#0072B2",
    Layer.SUMMARY: "#CC79A7",
    Layer.NOTES: "#009E73",
    Layer.EXCERPTS: "#E69F00",
    Layer.WINDOW: "#56B4E9",
}
"""A layer's colour, the same everywhere (Okabe and Ito 2008, safe for the colour-blind)."""

LAYER_PATTERNS: dict[Layer, str] = {
    Layer.PERSONA: "",
    Layer.LAST_EXCHANGE: "/",
    Layer.SUMMARY: "x",
    Layer.NOTES: "-",
    Layer.EXCERPTS: "\\",
    Layer.WINDOW: ".",
}
"""The pattern that goes with it in a filled area, as plotly names it (`marker.pattern.shape`)."""

LOST_COLOUR = "#D55E00"
LOST_PATTERN = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255, 255, 255, 0.45)"}
"""Goes with it in filled areas (`marker.pattern`)."""
REACHED_COLOUR = "#5A62D6"
"""Of no layer, so that it is not taken for one."""
QUIET_COLOUR = "#7F7F7F"
"""For what is beside the point: axes, intervals, what is asked but not received."""

GRID = "rgba(127, 127, 127, 0.25)"


def base_layout(**more: Any) -> dict[str, Any]:
    """The layout that every figure starts from, for `figure.update_layout(**base_layout(…))`."""
    layout: dict[str, Any] = {
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "margin": {"l": 8, "r": 8, "t": 32, "b": 8},
        "font": {"size": 14},
        "hoverlabel": {"font": {"size": 13}},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "xaxis": {"gridcolor": GRID, "zerolinecolor": GRID, "automargin": True},
        "yaxis": {"gridcolor": GRID, "zerolinecolor": GRID, "automargin": True},
    }
    return {**layout, **more}


def recall_by_age(bands: pd.DataFrame, days: int) -> go.Figure:
    """The share of questions that reached the prompt over the age of their answer.

    `bands` is `age_curve`'s table. Both shares have their Wilson intervals; a line stands where
    answers begin to count as old.
    """
    figure = go.Figure(
        [
            _shares(bands, "some", -0.05, "some evidence in the prompt", REACHED_COLOUR, "solid"),
            _shares(bands, "all", 0.05, "all of it", QUIET_COLOUR, "dot", "diamond-open"),
        ]
    )
    _mark_old(figure, bands, days)
    figure.update_layout(
        **base_layout(
            height=400,
            xaxis=_ages(bands, per_band=True) | {"title": "age of the answer, days"},
            yaxis=percent_axis() | {"title": "reached the prompt"},
            hovermode="closest",
        )
    )
    return figure


@dataclass(frozen=True, slots=True)
class Panel:
    """One arm beside the others: `bands` is `by_age`'s table, `old` the row of its old answers."""

    arm: str
    changed: str
    bands: pd.DataFrame
    old: Mapping[str, Any]
    characters: float | None
    chosen: bool = False


def arms(panels: Sequence[Panel], days: int, columns: int = 4) -> go.Figure:
    """Each arm's recall by age in a small picture of its own, on the same axes.

    Above each stands the share of old answers that it reached and its characters a question.
    """
    columns = max(1, min(columns, len(panels)))
    rows = max(1, math.ceil(len(panels) / columns))
    figure = make_subplots(
        rows,
        columns,
        shared_yaxes=True,
        subplot_titles=[_panel_title(panel, days) for panel in panels],
        horizontal_spacing=0.04,
        vertical_spacing=_BETWEEN / _height(rows) if rows > 1 else 0,
    )
    for number, panel in enumerate(panels):
        row, column = number // columns + 1, number % columns + 1
        colour = REACHED_COLOUR if panel.chosen else QUIET_COLOUR
        trace = _shares(panel.bands, "some", 0, panel.arm, colour, "solid")
        figure.add_trace(trace.update(showlegend=False), row=row, col=column)
        figure.update_xaxes(_ages(panel.bands) | {"gridcolor": GRID}, row=row, col=column)
    figure.update_annotations(font_size=13, xanchor="left", align="left", yshift=8)
    for number, title in enumerate(figure.layout.annotations):
        axis = figure.layout[f"xaxis{number + 1 if number else ''}"]
        title.x = axis.domain[0]
    figure.update_yaxes(percent_axis() | {"gridcolor": GRID, "zerolinecolor": GRID})
    layout = base_layout(height=_height(rows) + 140, hovermode="closest")
    layout["margin"] = layout["margin"] | {"t": 92, "b": 48}
    del layout["xaxis"], layout["yaxis"]
    figure.update_layout(**layout)
    return figure


def funnel(stages: pd.DataFrame, total: int, layers: Mapping[str, str]) -> go.Figure:
    """How many questions are left after each stage that lost any, from all that were asked.

    `stages` is `funnel`'s table, `layers` the name of the layer that lost them, by stage.
    """
    kept, lost, names = [total], [0], ["asked"]
    for row in stages.to_dict(orient="records"):
        if row["lost"]:
            kept.append(int(row["left"]))
            lost.append(int(row["lost"]))
            names.append(_stage_name(str(row["stage"]), layers))
    kept.append(kept[-1])
    lost.append(0)
    names.append("all evidence in the prompt")
    text = [f"{count:,} left" for count in kept]
    share = percent(kept[-1] / total if total else None)
    text[0], text[-1] = f"{total:,}", f"{kept[-1]:,} ({share})"
    places = list(range(len(names)))
    figure = go.Figure(
        [
            go.Bar(
                y=places, x=kept, orientation="h", name="still there", text=text,
                textposition="inside", insidetextanchor="start", insidetextfont_color="#FFFFFF",
                marker_color=REACHED_COLOUR, hoverinfo="skip",
            ),
            go.Bar(
                y=places, x=lost, orientation="h", name="lost here",
                text=[f"−{count:,} lost" if count else "" for count in lost], textposition="auto",
                insidetextfont_color="#000000",
                marker={"color": LOST_COLOUR, "pattern": LOST_PATTERN},
                hoverinfo="skip",
            ),
        ]
    )  # fmt: skip
    figure.update_layout(
        **base_layout(
            barmode="stack",
            legend_traceorder="normal",
            height=90 + 46 * len(names),
            xaxis={"gridcolor": GRID, "title": "questions", "rangemode": "tozero"},
            yaxis={
                "tickvals": places, "ticktext": names, "autorange": "reversed", "automargin": True,
            },
        )
    )  # fmt: skip
    return figure


def _shares(
    bands: pd.DataFrame,
    which: str,
    offset: float,
    name: str,
    colour: str,
    dash: str,
    symbol: str = "circle",
) -> go.Scatter:
    value, low, high = (bands[f"{which}_{part}"].astype(float) for part in ("value", "low", "high"))
    hits, count = bands[f"{which}_hits"], bands["count"]
    return go.Scatter(
        x=[place + offset for place in range(len(bands))],
        y=value,
        name=name,
        mode="lines+markers",
        line={"color": colour, "width": 2.5, "dash": dash},
        marker={"size": 9, "symbol": symbol, "color": colour},
        error_y={
            "type": "data", "array": high - value, "arrayminus": value - low,
            "color": colour, "thickness": 1.2, "width": 4,
        },
        hovertext=[
            f"{name}<br>{html.escape(str(age))} days: {percent(v)} ({h:,} of {n:,})"
            f"<br>95% interval {interval(a, b)}"
            for age, v, h, n, a, b in zip(bands["age"], value, hits, count, low, high, strict=True)
        ],
        hoverinfo="text",
    )  # fmt: skip


def _mark_old(figure: go.Figure, bands: pd.DataFrame, days: int) -> None:
    place = int((bands["from"] < days).sum()) - 0.5
    figure.add_vrect(
        x0=place, x1=len(bands) - 0.5, fillcolor=QUIET_COLOUR, opacity=0.1, line_width=0
    )
    figure.add_vline(x=place, line={"color": QUIET_COLOUR, "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=place, y=0.02, yref="paper", text=f"old: {days:,} days or more →", showarrow=False,
        xanchor="left", yanchor="bottom", xshift=6, font_size=13,
    )  # fmt: skip


def _ages(bands: pd.DataFrame, per_band: bool = False) -> dict[str, Any]:
    def label(age: str, count: int) -> str:
        noun = "question" if count == 1 else "questions"
        return f"{age}<br>{count:,} {noun}" if per_band else f"{age}<br>({count:,})"

    return {
        "tickvals": list(range(len(bands))),
        "ticktext": [label(*row) for row in zip(bands["age"], bands["count"], strict=True)],
        "range": [-0.5, len(bands) - 0.5],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def percent_axis() -> dict[str, Any]:
    """An axis of shares from 0% to 100%."""
    return {
        "range": [0, 1.04],
        "tickformat": ".0%",
        "tickvals": [0, 0.25, 0.5, 0.75, 1],
        "gridcolor": GRID,
        "zerolinecolor": GRID,
        "automargin": True,
    }


_BETWEEN = 145
"""Pixels between two rows of panels: the ages of the upper and the titles of the lower."""


def _height(rows: int) -> int:
    return 190 * rows + _BETWEEN * (rows - 1)


def _panel_title(panel: Panel, days: int) -> str:
    mark = " · this run" if panel.chosen else ""
    changed = html.escape(_short(panel.changed)) if panel.changed else "default settings"
    price = "–" if panel.characters is None else f"{panel.characters:,.0f}"
    return (
        f"<b>{html.escape(panel.arm)}</b>{mark}<br>{changed}<br>"
        f"{percent(panel.old['some_value'])} at {days:,} days or older<br>"
        f"{price} characters a question"
    )


def _stage_name(stage: str, layers: Mapping[str, str]) -> str:
    words = STAGE_WORDS.get(Stage(stage), stage)
    by = layers.get(stage)
    return f"{by}: {words}" if by else words


def _short(text: str, most: int = 38) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
