"""Figures as pure functions of tables, for screens and for files.

Nothing here knows the dashboard. Backgrounds are transparent and lines half-grey, so that a figure
stands on light and on dark alike. Colour never stands alone: a label or a pattern goes with it.
"""

from __future__ import annotations

from typing import Any

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
REACHED_COLOUR = "#0072B2"
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
