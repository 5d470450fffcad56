"""The sentences that stand for a conversation: the most central ones, without a model.

A sentence is a vector of its stems by tf-idf; the most central is nearest to the mean of all
(Radev et al., "Centroid-based summarization of multiple documents", 2004), and each next one is
held back by how much it repeats those chosen (Carbonell and Goldstein, "The use of MMR", 1998).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from memcore.text import query_stems
from memcore.types import Matrix

_NOVELTY = 0.4
"""Share of what a sentence repeats that counts against it."""

_MISSES = 20
"""Texts in a row of centrality that may not fit before the choice is taken for full."""


def central(texts: Sequence[str], fits: Callable[[list[int]], bool]) -> list[int]:
    """Numbers of the most central texts, in their order. `fits` tells whether a choice does, given
    in order too; a text with which it does not is passed over. Ties: the later text first."""
    vectors = _vectors([query_stems(text) for text in texts])
    if not vectors.size:
        return []
    centre = vectors.mean(axis=0)
    score = vectors @ (centre / max(float(np.linalg.norm(centre)), 1e-9))
    score = np.round(score, 6)
    repeats = np.zeros(len(texts), np.float32)
    left = np.asarray(vectors.any(axis=1))
    chosen: list[int] = []
    misses = 0
    while left.any() and misses < _MISSES:
        value = np.where(left, np.round(score - _NOVELTY * repeats, 6), -np.inf)
        best = len(texts) - 1 - int(np.argmax(value[::-1]))
        left[best] = False
        if fits(sorted([*chosen, best])):
            chosen.append(best)
            repeats = np.maximum(repeats, vectors @ vectors[best])
        else:
            misses += 1
    return sorted(chosen)


def _vectors(stems: Sequence[Sequence[str]]) -> Matrix:
    """A tf-idf vector for each text, of length 1; zeros for one of fewer than three stems."""
    spread = Counter(stem for one in stems for stem in one)
    column = {stem: at for at, stem in enumerate(spread)}
    made = np.zeros((len(stems), len(column)), np.float32)
    for row, one in enumerate(stems):
        for stem in one if len(one) >= 3 else ():
            made[row, column[stem]] = 1 + math.log(1 + len(stems) / spread[stem])
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made / np.maximum(lengths, 1e-9), np.float32)
