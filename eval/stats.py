"""Intervals and paired tests, over scipy."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True, slots=True)
class Share:
    """A share of `hits` in `count` with its Wilson 95% interval; all None where count is 0."""

    hits: int
    count: int
    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.value is None:
            return "– (0 of 0)"
        return f"{self.value:.1%} [{self.low:.1%}, {self.high:.1%}] ({self.hits} of {self.count})"


def share(hits: int, count: int) -> Share:
    """A share with its Wilson score interval (Wilson 1927), as scipy computes it."""
    if count == 0:
        return Share(0, 0, None, None, None)
    interval = binomtest(hits, count).proportion_ci(0.95, method="wilson")
    return Share(hits, count, hits / count, float(interval.low), float(interval.high))


def mcnemar(only_first: int, only_second: int) -> float:
    """The p of McNemar's exact test: how likely pairs that differ would be split so unevenly, or
    more so, were both sides as good. 1 where no pair differs.

    Two-sided binomial test of the discordant pairs (McNemar 1947, exact form).
    """
    differing = only_first + only_second
    return float(binomtest(only_first, differing, 0.5).pvalue) if differing else 1.0


def percent(value: float | None) -> str:
    """A share in whole percent; never `100%` or `0%` for what is not quite all or nothing."""
    if value is None or value != value:
        return "–"
    if 0 < value < 0.005:
        return "<1%"
    if 0.995 <= value < 1:
        return ">99%"
    return f"{value:.0%}"


def p_value(p: float | None) -> str:
    """A p as it is told: two figures, and nothing below one in ten thousand."""
    if p is None or p != p:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


def interval(low: float | None, high: float | None) -> str:
    """An interval of shares in whole percent: `56–73%`."""
    if low is None or high is None or low != low or high != high:
        return "–"
    return f"{low:.0%}".rstrip("%") + f"–{high:.0%}"
