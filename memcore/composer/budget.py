"""Budget arithmetic, in characters, without any text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fit:
    """Which items a limit admits (`kept`, by number, rising) and what they cost together."""

    kept: tuple[int, ...]
    cost: int


def fit(sizes: Sequence[int], limit: int, overhead: int, separator: int) -> Fit:
    """Takes whole items in order while they fit; one that does not is passed over.

    `overhead` is paid once, with the first item kept, `separator` between two items.
    """
    kept: list[int] = []
    cost = 0
    for number, size in enumerate(sizes):
        price = size + (separator if kept else overhead)
        if cost + price <= limit:
            kept.append(number)
            cost += price
    return Fit(tuple(kept), cost)


def left(ceiling: int, *spent: int) -> int:
    """What remains of a ceiling, never below 0: what cannot be cut may overdraw it."""
    return max(ceiling - sum(spent), 0)
