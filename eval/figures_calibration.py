"""Figures of a calibration: what the scores are like, and what each cutoff would do.

In the style of `eval.figures`: transparent, the same on light and dark, no colour without a label
or a pattern. A `cutoff` may be any that somebody tries; the interval is the recommended one's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from eval.calibration import Verdict
from eval.figures import (
    GRID,
    LOST_COLOUR,
    LOST_PATTERN,
    QUIET_COLOUR,
    REACHED_COLOUR,
    base_layout,
    percent_axis,
)
from eval.objective import Floats
from eval.stats import percent

RELEVANT_COLOUR, IRRELEVANT_COLOUR = REACHED_COLOUR, LOST_COLOUR
F_COLOUR = "#009E73"

_LEGEND = {"orientation": "h", "x": 0, "y": 1.1, "xanchor": "left", "yanchor": "bottom"}
"""Higher than elsewhere: the cutoff's name stands beneath it."""


def distributions(
    histogram: pd.DataFrame,
    cutoff: float | None = None,
    low: float | None = None,
    high: float | None = None,
) -> go.Figure:
    """Relevant and irrelevant scores over one axis, each as shares of its class, so that the few
    relevant ones are seen beside the many others. `histogram` is `Calibration.histogram`; the
    cutoff is a line, its interval a band."""
    middle = (histogram["from"] + histogram["to"]) / 2
    width = histogram["to"] - histogram["from"]
    bars = []
    for name, colour in (("irrelevant", IRRELEVANT_COLOUR), ("relevant", RELEVANT_COLOUR)):
        share, count = histogram[f"{name}_share"], histogram[name]
        bars.append(
            go.Bar(
                x=middle, y=share, width=width, name=name, opacity=0.7,
                marker={"color": colour, "line": {"width": 0}}
                | ({"pattern": LOST_PATTERN} if name == "irrelevant" else {}),
                hovertext=[
                    f"{name}, score {a:.3f} to {b:.3f}<br>{n:,} pairs, {percent(s)} of them"
                    for a, b, n, s in zip(
                        histogram["from"], histogram["to"], count, share, strict=True
                    )
                ],
                hoverinfo="text",
            )
        )  # fmt: skip
    figure = go.Figure(bars)
    _mark_cutoff(figure, cutoff, low, high)
    figure.update_layout(
        **base_layout(
            height=380,
            barmode="overlay",
            legend=_LEGEND,
            margin={"l": 8, "r": 8, "t": 56, "b": 8},
            bargap=0,
            xaxis=_score_axis("score"),
            yaxis={
                "gridcolor": GRID, "zerolinecolor": GRID, "automargin": True, "tickformat": ".0%",
                "rangemode": "tozero", "title": "share of its class",
            },
        )
    )  # fmt: skip
    return figure


def noise(scores: Floats, p95: float, p99: float) -> go.Figure:
    """The scores of random pairs, with the two percentiles below which most of them lie."""
    counts, edges = np.histogram(scores, 60)
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2, y=counts / max(len(scores), 1), width=np.diff(edges),
            name="random pairs", opacity=0.7,
            marker={"color": IRRELEVANT_COLOUR, "line": {"width": 0}, "pattern": LOST_PATTERN},
            hovertemplate="score %{x:.3f}: %{y:.1%} of random pairs<extra></extra>",
        )
    )  # fmt: skip
    for value, name, side in ((p95, "95% below", "right"), (p99, "99% below", "left")):
        figure.add_vline(x=value, line={"color": QUIET_COLOUR, "width": 2, "dash": "dash"})
        figure.add_annotation(
            x=value, y=1, yref="paper", text=f" {name} {value:.3f} ", showarrow=False,
            xanchor=side, yanchor="bottom", font_size=13,
        )  # fmt: skip
    shares = {"gridcolor": GRID, "zerolinecolor": GRID, "automargin": True, "tickformat": ".0%"}
    figure.update_layout(
        **base_layout(
            height=340,
            bargap=0,
            xaxis=_score_axis("score"),
            yaxis={**shares, "title": "share of random pairs"},
        )
    )
    return figure


def precision_recall(curve: pd.DataFrame, chosen: Verdict | None = None) -> go.Figure:
    """Precision over recall with the chosen point, where anything passes. `curve` is
    `Calibration.curve`, `chosen` is `Calibration.verdict(…)`."""
    figure = go.Figure(
        go.Scatter(
            x=curve["recall"], y=curve["precision"], mode="lines", name="every cutoff",
            line={"color": REACHED_COLOUR, "width": 2.5},
            hovertext=[
                f"cutoff {c:g}<br>recall {percent(r)}, precision {percent(p)}"
                for c, r, p in zip(
                    curve["cutoff"], curve["recall"], curve["precision"], strict=True
                )
            ],
            hoverinfo="text",
        )
    )  # fmt: skip
    if chosen is not None and chosen.precision is not None:
        name = f"cutoff {chosen.cutoff:g}"
        figure.add_trace(_point(chosen.recall, chosen.precision, name))
    figure.update_layout(
        **base_layout(
            height=380,
            xaxis=percent_axis() | {"title": "recall"},
            yaxis=percent_axis() | {"title": "precision"},
            hovermode="closest",
        )
    )
    return figure


def by_cutoff(
    curve: pd.DataFrame,
    cutoff: float | None = None,
    low: float | None = None,
    high: float | None = None,
) -> go.Figure:
    """Recall, precision, F1 and what is let through against the cutoff."""
    lines = (
        ("recall", "recall", RELEVANT_COLOUR, "solid"),
        ("precision", "precision", QUIET_COLOUR, "dash"),
        ("f1", "F1", F_COLOUR, "dashdot"),
        ("let_through", "irrelevant let through", IRRELEVANT_COLOUR, "dot"),
    )
    figure = go.Figure(
        [
            go.Scatter(
                x=curve["cutoff"], y=curve[column], name=name, mode="lines",
                line={"color": colour, "width": 2.5, "dash": dash},
                hovertemplate=f"{name} %{{y:.1%}} at %{{x}}<extra></extra>",
            )
            for column, name, colour, dash in lines
        ]
    )  # fmt: skip
    _mark_cutoff(figure, cutoff, low, high)
    figure.update_layout(
        **base_layout(
            height=380,
            legend=_LEGEND,
            margin={"l": 8, "r": 8, "t": 56, "b": 8},
            xaxis=_score_axis("cutoff"),
            yaxis=percent_axis(),
            hovermode="closest",
        )
    )
    return figure


def risk_coverage(table: pd.DataFrame, cutoff: float | None = None) -> go.Figure:
    """Of the queries that a cutoff shows something for, the share whose best passage is wrong.
    `table` is `Calibration.risk_coverage`."""
    figure = go.Figure(
        go.Scatter(
            x=table["coverage"], y=table["risk"], mode="lines", name="every cutoff",
            line={"color": LOST_COLOUR, "width": 2.5},
            hovertext=[
                f"cutoff {c:g}<br>{percent(v)} covered, {percent(r)} of them wrong"
                for c, v, r in zip(table["cutoff"], table["coverage"], table["risk"], strict=True)
            ],
            hoverinfo="text",
        )
    )  # fmt: skip
    passing = table[table["cutoff"] >= cutoff] if cutoff is not None else table[:0]
    if len(passing):
        at = passing.iloc[-1]
        figure.add_trace(_point(at["coverage"], at["risk"], f"cutoff {cutoff:g}"))
    figure.update_layout(
        **base_layout(
            height=380,
            xaxis=percent_axis() | {"title": "queries with a passage above the cutoff"},
            yaxis=percent_axis() | {"title": "best passage irrelevant"},
            hovermode="closest",
        )
    )
    return figure


def _point(x: float, y: float, name: str) -> go.Scatter:
    return go.Scatter(
        x=[x], y=[y], mode="markers+text", name=name, text=[name],
        textposition=f"{'bottom' if y > 0.15 else 'top'} {'left' if x > 0.3 else 'right'}",
        marker={"size": 13, "symbol": "diamond", "color": QUIET_COLOUR, "line": {"width": 2}},
        hovertemplate=f"{name}: %{{x:.1%}}, %{{y:.1%}}<extra></extra>", showlegend=False,
    )  # fmt: skip


def _mark_cutoff(
    figure: go.Figure, cutoff: float | None, low: float | None, high: float | None
) -> None:
    if low is not None and high is not None:
        figure.add_vrect(x0=low, x1=high, fillcolor=QUIET_COLOUR, opacity=0.2, line_width=0)
    if cutoff is not None:
        figure.add_vline(x=cutoff, line={"color": QUIET_COLOUR, "width": 2, "dash": "dash"})
        figure.add_annotation(
            x=cutoff, y=1, yref="paper", text=f"cutoff {cutoff:g}: relevant →", showarrow=False,
            xanchor="left", yanchor="bottom", font_size=13,
        )  # fmt: skip


def _score_axis(title: str) -> dict[str, Any]:
    return {"gridcolor": GRID, "zeroline": False, "automargin": True, "title": title}
