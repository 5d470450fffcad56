"""Paired tests."""

from __future__ import annotations

import pytest

from eval.stats import mcnemar


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (0, 1, 1.0), (0, 5, 2 * 0.5**5), (1, 8, 2 * 10 * 0.5**9)],
)
def test_mcnemar_is_the_binomial_test_of_the_pairs_that_differ(
    one: int, other: int, p: float
) -> None:
    assert mcnemar(one, other) == pytest.approx(p)
    assert mcnemar(other, one) == pytest.approx(p)
