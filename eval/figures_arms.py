"""Figures of arms side by side: what each reached at what price, and by which layer."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from eval.evidence import Beside, Source
from eval.explain import LAYER_NAMES, source_in_words
from eval.figures import (
    GRID,
    LAYER_COLOURS,
    LAYER_PATTERNS,
    QUIET_COLOUR,
    REACHED_COLOUR,
    base_layout,
)
from eval.runs import records
from eval.stats import interval, percent

SOURCE_COLOURS: Mapping[Source, str] = LAYER_COLOURS | {
    Beside.TOOLS: "#8C510A",
    Beside.GREP: "#A6A6A6",
}
"""A layer's colour, and those of the ways beside the layers."""

SOURCE_PATTERNS: Mapping[Source, str] = LAYER_PATTERNS | {Beside.TOOLS: "|", Beside.GREP: "+"}
"""The pattern that goes with it in a filled area."""

_ROW = 40
_GAP = 0.7
"""Between the arms and the yardsticks, in rows."""


def arms_reached(table: pd.DataFrame, chosen: str, days: int) -> go.Figure:
    """Each arm's share of old answers with its 95% interval, and its characters a question.

    `table` is `arms_table`'s; `chosen` is the run that is marked. Yardsticks stand apart, with
    another mark.
    """
    rows, places = records(table), _places(table)
    figure = make_subplots(
        1, 2, shared_yaxes=True, column_widths=[0.66, 0.34], horizontal_spacing=0.02,
        subplot_titles=[
            f"evidence of answers {days:,} days or older in what the model is sent",
            "characters a question",
        ],
    )  # fmt: skip
    for yardstick in (False, True):
        part = [(row, at) for row, at in zip(rows, places, strict=True)
                if bool(row["yardstick"]) is yardstick]  # fmt: skip
        if part:
            figure.add_trace(_some(part, yardstick), 1, 1)
    figure.add_trace(_all(list(zip(rows, places, strict=True))), 1, 1)
    for row, at in zip(rows, places, strict=True):
        figure.add_annotation(
            x=1.04, y=at, xref="x", yref="y", showarrow=False, xanchor="left", font_size=13,
            text=f"<b>{percent(row['some_value'])}</b> · all of it {percent(row['all_value'])}",
        )  # fmt: skip
    for bar in _characters(rows, places):
        figure.add_trace(bar, 1, 2)
    figure.update_layout(**_layout(rows, places, chosen))
    figure.update_xaxes(
        range=[0, 1.34],
        showgrid=True,
        tickformat=".0%",
        tickvals=[0, 0.25, 0.5, 0.75, 1],
        row=1,
        col=1,
    )
    most = max((row["per_question"] for row in rows), default=0)
    figure.update_xaxes(
        range=[0, 1.25 * most or 1], showgrid=False, nticks=4, tickformat=",.0f", row=1, col=2
    )
    return _finished(figure, places, int(table["yardstick"].sum()))


def arms_by_layer(layers: pd.DataFrame, table: pd.DataFrame, chosen: str) -> go.Figure:
    """By what each arm reached old answers: a column for each layer, search tool and grep.

    `layers` is an arms report's, `table` is `arms_table`'s. An answer may be reached by several, so
    the columns stand beside one another and are not stacked.
    """
    rows, places = records(table), _places(table)
    found = set(layers["layer"])
    sources = [one for one in LAYER_NAMES if str(one) in found]
    values = {(row["run"], row["layer"]): row for row in records(layers)}
    figure = make_subplots(
        1, max(1, len(sources)), shared_yaxes=True, horizontal_spacing=0.015,
        subplot_titles=[source_in_words(str(one)) for one in sources],
    )  # fmt: skip
    for column, source in enumerate(sources, 1):
        hits = [values.get((row["run"], str(source))) for row in rows]
        figure.add_trace(_by_source(source, rows, places, hits), 1, column)
        figure.update_xaxes(
            range=[0, 1.3],
            showgrid=False,
            tickformat=".0%",
            tickvals=[0, 0.5, 1],
            row=1,
            col=column,
        )
    figure.update_layout(**_layout(rows, places, chosen, legend=False))
    return _finished(figure, places, int(table["yardstick"].sum()))


def _places(table: pd.DataFrame) -> list[float]:
    """The row of each arm, yardsticks a gap beneath the others."""
    apart = table["yardstick"].any() and not table["yardstick"].all()
    return [
        number + (_GAP if apart and yardstick else 0)
        for number, yardstick in enumerate(table["yardstick"])
    ]


def _some(part: list[tuple[dict[str, Any], float]], yardstick: bool) -> go.Scatter:
    colour = QUIET_COLOUR if yardstick else REACHED_COLOUR
    values = [row["some_value"] for row, _ in part]
    return go.Scatter(
        x=values,
        y=[at for _, at in part],
        name="some of it, a yardstick" if yardstick else "some of it",
        mode="markers",
        cliponaxis=False,
        marker={"size": 13, "symbol": "triangle-up" if yardstick else "circle", "color": colour},
        error_x=_bars(part, "some", colour, 2.5),
        hovertext=[_hover(row, "some") for row, _ in part],
        hoverinfo="text",
    )


def _all(part: list[tuple[dict[str, Any], float]]) -> go.Scatter:
    return go.Scatter(
        x=[row["all_value"] for row, _ in part],
        y=[at + 0.27 for _, at in part],
        name="all of it",
        mode="markers",
        cliponaxis=False,
        marker={"size": 8, "symbol": "diamond-open", "color": QUIET_COLOUR},
        error_x=_bars(part, "all", QUIET_COLOUR, 1),
        opacity=0.75,
        hovertext=[_hover(row, "all") for row, _ in part],
        hoverinfo="text",
    )


def _bars(
    part: list[tuple[dict[str, Any], float]], which: str, colour: str, thickness: float
) -> dict[str, Any]:
    shares = [[row[f"{which}_{name}"] for name in ("value", "low", "high")] for row, _ in part]
    known = [not any(one is None or one != one for one in share) for share in shares]
    return {
        "type": "data",
        "array": [s[2] - s[0] if ok else 0 for s, ok in zip(shares, known, strict=True)],
        "arrayminus": [s[0] - s[1] if ok else 0 for s, ok in zip(shares, known, strict=True)],
        "color": colour,
        "thickness": thickness,
        "width": 4,
    }


def _hover(row: dict[str, Any], which: str) -> str:
    share = percent(row[f"{which}_value"])
    return (
        f"<b>{html.escape(row['arm'])}</b><br>{which} of the evidence: {share} "
        f"({row[f'{which}_hits']:,} of {row['count']:,})"
        f"<br>95% interval {interval(row[f'{which}_low'], row[f'{which}_high'])}"
    )


def _characters(rows: list[dict[str, Any]], places: list[float]) -> list[go.Bar]:
    tools = [row["tools_per_question"] for row in rows]
    prompt = [row["per_question"] - tool for row, tool in zip(rows, tools, strict=True)]
    totals = [f"{row['per_question']:,.0f}" for row in rows]
    shared = {"y": places, "orientation": "h", "width": 0.5, "hovertext": [
        f"{total} characters, {tool:,.0f} of them what tools returned"
        for total, tool in zip(totals, tools, strict=True)
    ], "hoverinfo": "text"}  # fmt: skip
    bars = [go.Bar(x=prompt, name="prompt", marker_color=QUIET_COLOUR, **shared)]
    if any(tools):
        name = "returned by the search tool"
        bars.append(go.Bar(x=tools, name=name, marker=_fill(Beside.TOOLS), **shared))
    # Plotly would put a text outside the last part of a stack that may be of length 0.
    bars.append(
        go.Bar(
            x=[0] * len(rows), y=places, orientation="h", text=totals, textposition="outside",
            cliponaxis=False, hoverinfo="skip", showlegend=False, marker_color=QUIET_COLOUR,
        )
    )  # fmt: skip
    return bars


def _by_source(
    source: Source,
    rows: list[dict[str, Any]],
    places: list[float],
    found: list[dict[str, Any] | None],
) -> go.Bar:
    return go.Bar(
        x=[one["value"] if one else 0 for one in found],
        y=places,
        orientation="h",
        width=0.6,
        marker=_fill(source),
        text=[percent(one["value"]) if one else "" for one in found],
        textposition="outside",
        cliponaxis=False,
        hovertext=[
            f"<b>{html.escape(row['arm'])}</b>, {source_in_words(str(source))}: "
            + (f"{one['hits']:,} of {one['count']:,}" if one else "none")
            for row, one in zip(rows, found, strict=True)
        ],
        hoverinfo="text",
        showlegend=False,
    )


def _fill(source: Source) -> dict[str, Any]:
    pattern = {"shape": SOURCE_PATTERNS[source], "size": 5, "solidity": 0.16, "fgcolor": "#FFFFFF"}
    return {"color": SOURCE_COLOURS[source], "pattern": pattern | {"fillmode": "overlay"}}


def _layout(
    rows: list[dict[str, Any]], places: list[float], chosen: str, legend: bool = True
) -> dict[str, Any]:
    layout = base_layout(barmode="stack", hovermode="closest", bargap=0.3)
    del layout["xaxis"], layout["yaxis"]
    high = _ROW if legend else _ROW * 0.75
    layout["height"] = int(110 + high * ((max(places) if places else 0) + 1))
    layout["margin"] = {"l": 8, "r": 8, "t": 62 if legend else 34, "b": 8}
    layout["yaxis"] = {
        "tickvals": places,
        "ticktext": [_label(row, chosen) for row in rows],
        "range": [(max(places) if places else 0) + 0.6, -0.6],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }
    if legend:
        layout["legend"] = layout["legend"] | {
            "y": 1, "yref": "container", "yanchor": "top", "traceorder": "normal"
        }  # fmt: skip
    return layout


def _label(row: dict[str, Any], chosen: str) -> str:
    name = html.escape(row["arm"])
    marks = [
        words
        for words, holds in (
            ("this run", row["run"] == chosen),
            ("inconclusive", bool(row["inconclusive"])),
        )
        if holds
    ]
    told = " · ".join([f"<b>{name}</b>" if row["run"] == chosen else name, *marks])
    return told + "  "


def _finished(figure: go.Figure, places: list[float], yardsticks: int) -> go.Figure:
    """With titles at the left of their columns, a grid, and a line above the yardsticks."""
    titles = [one for one in figure.layout.annotations if one.xref == "paper"]
    for number, title in enumerate(titles):
        axis = figure.layout[f"xaxis{number + 1 if number else ''}"]
        title.update(x=axis.domain[0], xanchor="left", font_size=13)
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=GRID, automargin=True)
    figure.update_yaxes(showgrid=False, zeroline=False)
    if 0 < yardsticks < len(places):
        between = (places[-yardsticks - 1] + places[-yardsticks]) / 2
        figure.add_hline(y=between, line={"color": QUIET_COLOUR, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=1, xref="paper", y=between, yref="y", text="yardsticks ↓", showarrow=False,
            xanchor="right", yanchor="bottom", font={"size": 12, "color": QUIET_COLOUR},
        )  # fmt: skip
    return figure
