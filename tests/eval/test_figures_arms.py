"""The arms side by side, as one table and as figures of it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest

from eval.arms import ARMS
from eval.arms_report import ArmsReport, compare_arms
from eval.arms_table import arms_table
from eval.explain import LAYER_NAMES
from eval.figures import LAYER_COLOURS
from eval.figures_arms import SOURCE_COLOURS, SOURCE_PATTERNS, arms_by_layer, arms_reached
from eval.replay import replay
from tests.small_run import SETTINGS, dataset


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ArmsReport:
    """Every arm, in an order that is not theirs."""
    out = tmp_path_factory.mktemp("arms")
    return compare_arms(
        [replay(dataset(), out, arm=arm, name=arm, changes=SETTINGS) for arm in reversed(ARMS)]
    )


def trace(figure: go.Figure, name: str) -> Any:
    (found,) = [one for one in figure.data if one.name == name]
    return found


def words(figure: go.Figure) -> str:
    return "\n".join(one.text or "" for one in figure.layout.annotations)


def test_the_table_has_the_arms_in_their_order_and_yardsticks_last(report: ArmsReport) -> None:
    table = arms_table(report)
    assert list(table["arm"]) == list(ARMS)
    assert list(table["yardstick"])[-2:] == [True, True]


def test_the_table_carries_what_the_report_measured(report: ArmsReport) -> None:
    table = arms_table(report).set_index("arm")
    paired = report.paired.set_index(["arm", "measure"])
    for arm in ARMS:
        if arm == "first-search":
            assert pd.isna(table.loc[arm, "some_pairs"])
            continue
        for measure in ("some", "all"):
            row = paired.loc[(arm, measure)]
            assert table.loc[arm, f"{measure}_pairs"] == row["count"]
            for name in ("gained", "lost", "difference", "p"):
                assert table.loc[arm, f"{measure}_{name}"] == row[name]
    assert table["answers"].isna().all()


def test_the_figure_carries_shares_intervals_and_price(report: ArmsReport) -> None:
    table = arms_table(report)
    figure = arms_reached(table, "no-search", 12)
    main, yard = trace(figure, "some of it"), trace(figure, "some of it, a yardstick")
    own = table[~table["yardstick"]]
    assert list(main.x) == list(own["some_value"])
    high = [x + up for x, up in zip(main.x, main.error_x.array, strict=True)]
    assert high == pytest.approx(list(own["some_high"]))
    low = [x - down for x, down in zip(main.x, main.error_x.arrayminus, strict=True)]
    assert low == pytest.approx(list(own["some_low"]))
    assert list(yard.x) == list(table[table["yardstick"]]["some_value"])
    assert main.marker.symbol != yard.marker.symbol
    assert list(trace(figure, "all of it").x) == list(table["all_value"])
    prompt, tools = trace(figure, "prompt"), trace(figure, "returned by the search tool")
    total = [one + other for one, other in zip(prompt.x, tools.x, strict=True)]
    assert total == pytest.approx(list(table["per_question"]))


def test_the_chosen_run_and_the_yardsticks_are_marked(report: ArmsReport) -> None:
    figure = arms_reached(arms_table(report), "no-search", 12)
    labels = figure.layout.yaxis.ticktext
    assert [label for label in labels if "this run" in label] == ["<b>no-search</b> · this run  "]
    assert "yardsticks" in words(figure)
    places = figure.layout.yaxis.tickvals
    steps = [round(after - before, 2) for before, after in itertools.pairwise(places)]
    assert max(steps) == steps[-2] > 1


def test_layers_have_the_colours_they_have_everywhere(report: ArmsReport) -> None:
    figure = arms_by_layer(report.layers, arms_table(report), "no-search")
    assert {source: SOURCE_COLOURS[source] for source in LAYER_COLOURS} == LAYER_COLOURS
    assert len(set(SOURCE_COLOURS.values())) == len(SOURCE_PATTERNS) == len(LAYER_NAMES)
    shown = [one.text for one in figure.layout.annotations]
    by_title = dict(zip(shown, figure.data, strict=False))
    hits = report.layers.set_index(["run", "layer"])["value"]
    order = list(arms_table(report)["run"])
    for source, title in LAYER_NAMES.items():
        if source not in set(report.layers["layer"]):
            assert title not in by_title
            continue
        bar = by_title[title]
        assert bar.marker.color == SOURCE_COLOURS[source]
        assert list(bar.x) == [hits.get((run, str(source)), 0) for run in order]


def test_an_arm_without_an_old_answer_is_drawn(report: ArmsReport, tmp_path: Path) -> None:
    runs = [replay(dataset(), tmp_path, arm=arm, name=arm) for arm in ("no-search", "grep")]
    made = compare_arms(runs, days=400)
    table = arms_table(made)
    figure = arms_reached(table, "no-search", 400)
    assert "<b>–</b>" in words(figure)
    assert len(arms_by_layer(made.layers, table, "no-search").data) == 0


def test_a_name_never_becomes_markup(report: ArmsReport) -> None:
    table = arms_table(report).replace({"arm": {"no-search": "<i>no"}})
    figure = arms_reached(table, "grep", 12)
    assert not any("<i>" in label for label in figure.layout.yaxis.ticktext)


def test_an_inconclusive_run_is_marked(report: ArmsReport) -> None:
    table = arms_table(report)
    table.loc[1, "inconclusive"] = "inconclusive: 1 answers that the brain failed"
    labels = arms_reached(table, "grep", 12).layout.yaxis.ticktext
    assert [label.strip() for label in labels if "inconclusive" in label] == [
        "tool-only · inconclusive"
    ]


def test_figures_stand_on_light_and_dark(report: ArmsReport) -> None:
    table = arms_table(report)
    for figure in (arms_reached(table, "x", 12), arms_by_layer(report.layers, table, "x")):
        assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)"
        assert figure.layout.plot_bgcolor == "rgba(0, 0, 0, 0)"
