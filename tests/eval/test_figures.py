"""Figures carry the numbers of their tables, and never rely on colour alone."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest

from eval import figures
from eval.recall import age_curve, by_age, funnel, losers, older_than, overall
from memcore import Layer


def question(age: float | None, some: bool = True, all: bool = True, **more: Any) -> dict[str, Any]:
    """A row of a run's questions."""
    return {
        "conversation": "c",
        "question": "q",
        "answerable": age is not None,
        "evidence": ["m1"] if age is not None else [],
        "age_days": age,
        "some": some,
        "all": all,
        "cut": 0,
        "characters": 1_000,
        "stage": "reached" if all else "not found",
        "lost_by": None if all else "excerpts",
        **more,
    }


@pytest.fixture
def asked() -> pd.DataFrame:
    """Fresh answers that are there, old ones of which half are lost."""
    rows = [
        *(question(1) for _ in range(4)),
        *(question(15, some=bool(n % 2), all=n == 1) for n in range(4)),
        question(50, some=False, all=False, stage="ranked too low"),
        question(None),
    ]
    return pd.DataFrame(rows)


def texts(figure: go.Figure) -> str:
    """All words on a figure."""
    return "\n".join(one.text or "" for one in figure.layout.annotations)


def test_the_layers_colours_are_those_agreed() -> None:
    assert figures.LAYER_COLOURS == {
        Layer.PERSONA: "#7F7F7F",
        Layer.LAST_EXCHANGE: "#0072B2",
        Layer.SUMMARY: "#CC79A7",
        Layer.NOTES: "#009E73",
        Layer.EXCERPTS: "#E69F00",
        Layer.WINDOW: "#56B4E9",
    }
    assert figures.LOST_COLOUR == "#D55E00"


def test_every_layer_has_a_pattern_of_its_own() -> None:
    assert set(figures.LAYER_PATTERNS) == set(Layer)
    assert len(set(figures.LAYER_PATTERNS.values())) == len(Layer)


def test_reached_and_lost_have_no_layers_colour() -> None:
    assert not {figures.REACHED_COLOUR, figures.LOST_COLOUR} & set(figures.LAYER_COLOURS.values())


def test_the_curve_carries_shares_intervals_and_counts(asked: pd.DataFrame) -> None:
    bands = age_curve(asked)
    assert list(bands["age"]) == ["0–1", "2–6", "7–11", "12–19", "20–29", "30–44", "≥ 45"]
    figure = figures.recall_by_age(bands, 12)
    some, all = figure.data
    assert some.y[0] == 1
    assert some.y[3] == 0.5
    assert all.y[3] == 0.25
    assert pd.isna(some.y[1])  # no question of that age: a gap, not a nought
    assert some.error_y.array[3] == pytest.approx(bands["some_high"][3] - 0.5)
    assert some.error_y.arrayminus[3] == pytest.approx(0.5 - bands["some_low"][3])
    assert figure.layout.xaxis.ticktext[0] == "0–1<br>4 questions"
    assert figure.layout.xaxis.ticktext[-1] == "≥ 45<br>1 question"
    assert "50% (2 of 4)" in some.hovertext[3]
    assert some.line.dash != all.line.dash
    assert some.marker.symbol != all.marker.symbol


@pytest.mark.parametrize("days", [1, 2, 5, 12, 45, 400])
def test_the_line_stands_where_answers_begin_to_be_old(asked: pd.DataFrame, days: int) -> None:
    bands = age_curve(asked, days)
    figure = figures.recall_by_age(bands, days)
    line = next(shape for shape in figure.layout.shapes if shape.type == "line")
    first_old = next(place for place, low in enumerate(bands["from"]) if low == days)
    assert line.x0 == first_old - 0.5
    assert f"old: {days} days or more" in texts(figure)
    assert bands["count"].sum() == 9


def test_bands_follow_one_another_without_gap(asked: pd.DataFrame) -> None:
    for days in (1, 3, 12, 31, 400):
        bands = age_curve(asked, days)
        assert list(bands["to"][:-1]) == list(bands["from"][1:])
        assert bands["from"][0] == 0
        assert bands["to"].iloc[-1] == float("inf")


def panel(arm: str, asked: pd.DataFrame, **more: Any) -> figures.Panel:
    old = overall(older_than(asked))
    return figures.Panel(arm, more.pop("changed", ""), by_age(asked), old, 11_704.2, **more)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
def test_arms_stand_side_by_side_with_their_price(asked: pd.DataFrame, count: int) -> None:
    panels = [panel(f"arm{n}", asked, chosen=n == 0) for n in range(count)]
    figure = figures.arms(panels, 12)
    assert len(figure.data) == count
    titles = [one.text for one in figure.layout.annotations]
    assert len(titles) == count
    assert "<b>arm0</b> · this run" in titles[0]
    assert "40% at 12 days or older" in titles[0]
    assert "11,704 characters a question" in titles[0]
    assert sum("this run" in title for title in titles) == 1


def test_a_title_never_becomes_markup(asked: pd.DataFrame) -> None:
    figure = figures.arms([panel("<i>arm", asked, changed="a=<b>x</b>")], 12)
    assert "<i>" not in texts(figure)
    assert "a=&lt;b&gt;x" in texts(figure)


def test_an_arm_without_old_answers_is_drawn(asked: pd.DataFrame) -> None:
    fresh = asked[asked["age_days"] < 12]
    assert "– at 12 days or older" in texts(figures.arms([panel("a", fresh)], 12))


def test_the_funnel_counts_down_to_what_is_reached(asked: pd.DataFrame) -> None:
    figure = figures.funnel(funnel(asked), 9, losers(asked))
    kept, lost = figure.data
    assert list(kept.x) == [9, 6, 5, 5]
    assert list(lost.x) == [0, 3, 1, 0]
    assert kept.text[-1] == "5 (56%)"
    assert lost.text[1] == "−3 lost"
    names = figure.layout.yaxis.ticktext
    assert names[1] == "excerpts: the search did not find it"
    assert lost.marker.pattern.shape
    assert not kept.marker.pattern.shape


def test_a_funnel_of_nothing_is_drawn() -> None:
    none = pd.DataFrame([question(1)])[:0]
    figure = figures.funnel(funnel(none), 0, losers(none))
    assert list(figure.data[0].x) == [0, 0]


def test_figures_stand_on_light_and_dark(asked: pd.DataFrame) -> None:
    for figure in (
        figures.recall_by_age(age_curve(asked), 12),
        figures.arms([panel("a", asked)], 12),
        figures.funnel(funnel(asked), 9, losers(asked)),
    ):
        assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)"
        assert figure.layout.plot_bgcolor == "rgba(0, 0, 0, 0)"
        assert figure.to_json()
