"""By what a cutoff is chosen: recall at least r, precision at least p, or the best F-beta."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memcore import InvalidInput

Floats = NDArray[np.float64]
NONE = -1
"""Where no cutoff meets the objective."""

_AT_LEAST = re.compile(r"(recall|precision)\s*>=\s*(\d*\.?\d+)", re.ASCII)
_F_BETA = re.compile(r"f(\d*\.?\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Objective:
    """`value` is the share that is asked for, or beta. `str` of it can be parsed again."""

    kind: Literal["recall", "precision", "f", "separation"]
    value: float = 0.0

    def __str__(self) -> str:
        if self.kind == "separation":
            return "separation"
        return f"f{self.value:g}" if self.kind == "f" else f"{self.kind}>={self.value:g}"

    def choose(
        self, kept: Floats, let_through: Floats, relevant: Floats, irrelevant: Floats
    ) -> NDArray[np.intp]:
        """The best of K ascending cutoffs for each of B samples, as a place; `NONE` where none is.

        `kept` and `let_through` `[B, K]` count the relevant and the irrelevant at or above each
        cutoff, `relevant` and `irrelevant` `[B]` all of them. Recall at least r takes the highest
        cutoff that keeps so much; precision at least p the lowest, which keeps the most; the best
        F-beta, and the widest separation, the middle of the first cutoffs that are equally good.
        """
        if self.kind == "recall":
            enough = kept >= self.value * relevant[:, None] - 1e-9
            return np.where(relevant > 0, enough.sum(axis=1) - 1, NONE)
        if self.kind == "precision":
            good = (kept > 0) & (kept >= self.value * (kept + let_through) - 1e-9)
            return np.where(good.any(axis=1), good.argmax(axis=1), NONE)
        if self.kind == "f":
            squared = self.value**2
            # F-beta as van Rijsbergen (1979) gives it, from counts
            below = kept + let_through + squared * relevant[:, None]
            value = (1 + squared) * kept / np.maximum(below, 1e-12)
            possible = relevant > 0
        else:
            value = (
                kept / np.maximum(relevant, 1e-12)[:, None]
                - let_through / np.maximum(irrelevant, 1e-12)[:, None]
            )
            possible = (relevant > 0) & (irrelevant > 0)
        return np.where(possible, _middle_of_best(value), NONE)


SEPARATION = Objective("separation")
"""Youden's J (1950): the share of the relevant that is kept less that of the irrelevant let
through."""


def parse_objective(text: str) -> Objective:
    """`recall>=0.9`, `precision>=0.8`, `f1`, `f0.5`. Raises `InvalidInput` for anything else."""
    given = text.strip().lower()
    if found := _AT_LEAST.fullmatch(given):
        share = float(found[2])
        if not 0 < share <= 1:
            raise InvalidInput(f"objective {text!r}: {found[1]} is above 0 and at most 1")
        return Objective(cast(Any, found[1]), share)
    if found := _F_BETA.fullmatch(given):
        beta = float(found[1])
        if not 0 < beta <= 10:
            raise InvalidInput(f"objective {text!r}: beta is above 0 and at most 10")
        return Objective("f", beta)
    raise InvalidInput(
        f"there is no objective {text[:60]!r}; there are recall>=0.9, precision>=0.8, f1, f0.5, "
        "with any number"
    )


def _middle_of_best(value: Floats) -> NDArray[np.intp]:
    """In each row, the middle of the first run of places that hold the highest value."""
    best = value >= value.max(axis=1, keepdims=True) - 1e-12
    first = best.argmax(axis=1)
    after = ~best & (np.arange(value.shape[1]) > first[:, None])
    last = np.where(after.any(axis=1), after.argmax(axis=1) - 1, value.shape[1] - 1)
    return np.asarray((first + last) // 2, dtype=np.intp)
