"""Embedders that are known beforehand: near is what shares words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from memcore.errors import InvalidInput, ProviderAnswer
from memcore.types import EmbedRole, Matrix, ProviderIdentity

_WORD = re.compile(r"\w+")


class PredictableEmbedder:
    """Each word, case-folded, adds one to a number that its hash chooses; then the length is 1.

    `calls` counts what was asked of it, `seen` holds every text that it was given, in order.
    """

    def __init__(
        self,
        width: int = 64,
        *,
        provider: str = "predictable",
        model: str = "words",
        revision: str = "1",
    ) -> None:
        self.identity = ProviderIdentity(provider, model, revision, width)
        self.calls = 0
        self.seen: list[str] = []
        self.refused_word = ""
        self._error: Exception | None = None
        self._failures: float = 0

    def fail(self, error: Exception, calls: float = float("inf")) -> None:
        """Raises this error for the next so many calls; without a number for all of them."""
        self._error, self._failures = error, calls

    def recover(self) -> None:
        """Answers again."""
        self._failures = 0

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:  # noqa: ARG002 (as the port)
        """Float32 `[n, width]`, the same for both roles.

        Raises `InvalidInput` for a text without a word, `ProviderAnswer` with the positions of
        texts in which `refused_word` stands, and what it was told to raise.
        """
        self.calls += 1
        self.seen += texts
        if self._failures > 0 and self._error is not None:
            self._failures -= 1
            raise self._error
        words = [_WORD.findall(text.casefold()) for text in texts]
        if bare := [text for text, found in zip(texts, words, strict=True) if not found]:
            raise InvalidInput(f"there is nothing to embed in {bare[0]!r}")
        if refused := [at for at, found in enumerate(words) if self.refused_word in found]:
            raise ProviderAnswer(f"{self.refused_word!r} is not embedded", refused)
        width = self.identity.width
        vectors = np.zeros((len(texts), width), np.float32)
        for row, found in zip(vectors, words, strict=True):
            for word in found:
                row[int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % width] += 1
            row /= np.linalg.norm(row)
        return vectors


class PredictableLearner(PredictableEmbedder):
    """One that learns how many texts there are and which words, which makes its revision."""

    def __init__(self, width: int = 64, revision: str = "") -> None:
        super().__init__(width, provider="learner", revision=revision)

    def learn(self, texts: Sequence[str]) -> bytes:
        """The number of texts and their words."""
        words = sorted({word for text in texts for word in _WORD.findall(text.casefold())})
        return json.dumps([len(texts), words]).encode()

    def knowing(self, learnt: bytes) -> PredictableLearner:
        """The embedder whose revision is the hash of what was learnt."""
        return PredictableLearner(self.identity.width, blake2b(learnt, digest_size=6).hexdigest())
