"""Figures of a calibration carry its numbers, and never rely on colour alone."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from eval import figures_calibration as figures
from eval.calibration import Calibration, calibrate
from tests.eval.columns import column, normal


@pytest.fixture(scope="module")
def made() -> Calibration:
    return calibrate(column(normal(0.8, 0.05, 200), normal(0.4, 0.1, 2_000, 1), 10))


def words(figure: go.Figure) -> str:
    return "\n".join(one.text or "" for one in figure.layout.annotations)


def test_both_distributions_stand_over_one_axis_as_shares_of_their_class(made: Calibration) -> None:
    figure = figures.distributions(made.histogram, made.cutoff, made.low, made.high)
    irrelevant, relevant = figure.data
    assert sum(relevant.y) == pytest.approx(1)
    assert sum(irrelevant.y) == pytest.approx(1)
    assert list(relevant.x) == list(irrelevant.x)
    assert irrelevant.marker.pattern.shape == "/"  # not by colour alone
    assert f"cutoff {made.cutoff:g}" in words(figure)
    band, line = figure.layout.shapes
    assert (band.x0, band.x1) == (made.low, made.high)
    assert line.x0 == made.cutoff


def test_without_a_cutoff_there_is_no_line(made: Calibration) -> None:
    for figure in (figures.distributions(made.histogram), figures.by_cutoff(made.curve)):
        assert not figure.layout.shapes
        assert words(figure) == ""


def test_the_chosen_point_lies_on_the_curve(made: Calibration) -> None:
    assert made.cutoff is not None
    said = made.verdict(made.cutoff)
    curve, point = figures.precision_recall(made.curve, said).data
    assert (point.x[0], point.y[0]) == (said.recall, said.precision)
    assert len(curve.x) == len(made.curve)
    assert len(figures.precision_recall(made.curve, made.verdict(9.0)).data) == 1


def test_each_line_over_the_cutoff_has_a_dash_and_a_name_of_its_own(made: Calibration) -> None:
    lines = figures.by_cutoff(made.curve, made.cutoff, made.low, made.high).data
    assert [line.name for line in lines] == ["recall", "precision", "F1", "irrelevant let through"]
    assert len({line.line.dash for line in lines}) == 4


def test_risk_is_drawn_over_coverage_up_to_all_queries(made: Calibration) -> None:
    figure = figures.risk_coverage(made.risk_coverage, 0.0)
    curve, point = figure.data
    assert curve.x[-1] == point.x[0] == 1
    assert len(figures.risk_coverage(made.risk_coverage, 5.0).data) == 1  # nothing passes


def test_figures_stand_on_light_and_dark(made: Calibration) -> None:
    for figure in (
        figures.distributions(made.histogram, 0.6),
        figures.precision_recall(made.curve, made.verdict(0.6)),
        figures.by_cutoff(made.curve, 0.6),
        figures.risk_coverage(made.risk_coverage, 0.6),
    ):
        assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)"
        assert figure.layout.plot_bgcolor == "rgba(0, 0, 0, 0)"


def test_a_column_of_identical_scores_has_figures_too() -> None:
    made = calibrate(column([0.5] * 4, [0.5] * 4, 2))
    assert figures.distributions(made.histogram).data
    assert figures.precision_recall(made.curve, made.verdict(0.5)).data
