"""Paired tests, and how their outcome is told."""

from __future__ import annotations

import pytest

from eval.stats import mcnemar, p_value


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (0, 1, 1.0), (0, 5, 2 * 0.5**5), (1, 8, 2 * 10 * 0.5**9)],
)
def test_mcnemar_is_the_binomial_test_of_the_pairs_that_differ(
    one: int, other: int, p: float
) -> None:
    assert mcnemar(one, other) == pytest.approx(p)
    assert mcnemar(other, one) == pytest.approx(p)


@pytest.mark.parametrize(
    ("p", "told"),
    [
        (1.0, "1"),
        (0.0390625, "0.039"),
        (0.00024, "0.00024"),
        (1e-13, "<0.0001"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_a_p_is_told_in_two_figures(p: float | None, told: str) -> None:
    assert p_value(p) == told
