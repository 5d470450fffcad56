"""Score columns of a test's own, and an embedder whose scores can be worked out by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pandas as pd

from eval.score_column import ScoreColumn, categorical
from memcore import EmbedRole, Matrix, PassageKind, ProviderError, ProviderIdentity

IDENTITY = ProviderIdentity("made", "words", "1", 64)


class WordEmbedder:
    """Each word is a direction: texts with the same words have a cosine of 1, with none in common
    about 0. Counts its calls; raises what `failing` is after so many."""

    identity = IDENTITY

    def __init__(self, failing: ProviderError | None = None, after: int = 0) -> None:
        self.calls: list[tuple[int, EmbedRole]] = []
        self.texts: list[str] = []
        self._failing, self._after = failing, after

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        if self._failing is not None and len(self.calls) >= self._after:
            raise self._failing
        self.calls.append((len(texts), role))
        self.texts += texts
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Matrix:
        vector = np.zeros(self.identity.width, dtype=np.float32)
        for word in text.lower().split():
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % len(vector)] += 1
        return vector / np.linalg.norm(vector)


def column(
    relevant: Sequence[float],
    irrelevant: Sequence[float],
    groups: int = 5,
    kind: PassageKind | None = "note",
    identity: ProviderIdentity | None = IDENTITY,
    language: str = "en",
) -> ScoreColumn:
    """These scores, dealt out to so many groups in turn; a query a group."""
    frame = pd.DataFrame(
        {
            "score": [*relevant, *irrelevant],
            "relevant": [True] * len(relevant) + [False] * len(irrelevant),
        }
    )
    turn = [
        *(n % groups for n in range(len(relevant))),
        *(n % groups for n in range(len(irrelevant))),
    ]
    frame["group"] = [f"g{number:03d}" for number in turn]
    frame["query"] = [f"q{number:03d}" for number in turn]
    frame["passage"] = [f"p{number:05d}" for number in range(len(frame))]
    frame["language"] = language
    frame["query_text"], frame["passage_text"] = "asked", "found"
    return ScoreColumn("made", categorical(frame), "0" * 64, "conversation", identity, kind)


def normal(mean: float, spread: float, count: int, seed: int = 0) -> list[float]:
    """Scores of a normal distribution, rounded as a column's are."""
    chance = np.random.default_rng(seed)
    return [round(float(one), 6) for one in chance.normal(mean, spread, count)]
