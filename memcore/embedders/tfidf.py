"""The provider that needs nothing: hashed words and pieces of words, weighed by how rare they are.

A text's features are its words and their character n-grams (`<word>`, 3 to 5 long), hashed with
CRC-32; each falls into one of 512 dimensions with a sign (feature hashing, Weinberger et al. 2009),
with the weight (1 + ln tf) · idf. A text without a word has its characters as features.

What is learnt of a corpus is how many of its texts each feature stands in, from which comes
idf = ln((1 + n) / (1 + df)) + 1. It is kept as: the magic `tfidf1\\n`, the number of texts
(uint32), the slots that occur (uint16 each) and behind them the number of texts of each (uint32),
all little-endian. A feature's slot is the low 16 bits of its hash.
"""

from __future__ import annotations

import hashlib
import re
import struct
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memcore.embedders.checked import checked, prepared
from memcore.errors import InvalidInput
from memcore.types import EmbedRole, Matrix, ProviderIdentity

WIDTH = 512
FEATURES = "1"
"""Version of the features; any change of them that changes a vector changes it too."""

_SLOTS = 1 << 16
_MAGIC = b"tfidf1\n"
_HEAD = struct.Struct("<I")
_WORDS = re.compile(r"\w+")
_LONGEST_WORD = 40  # characters; what is longer is no word, and its pieces would be very many

Hashes = NDArray[np.uint32]


class TfidfEmbedder:
    """TF-IDF, 512 dimensions. Without anything learnt every feature has the idf 1.

    The same text has the same vector, in every process. Query and passage are embedded alike.
    """

    def __init__(self, learnt: bytes = b"") -> None:
        """Raises `InvalidInput` for bytes that `learn` never made."""
        self._idf = _idf(learnt) if learnt else np.ones(_SLOTS, np.float64)
        known = f"-{hashlib.sha256(learnt).hexdigest()[:16]}" if learnt else ""
        self.identity = ProviderIdentity("tfidf", "tfidf", FEATURES + known, WIDTH)

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:  # noqa: ARG002 (both alike)
        """The vectors of the texts, `[n, 512]`. Raises `InvalidInput` for a blank one."""
        ready = prepared(texts)
        rows = np.empty((len(ready), WIDTH))
        for row, text in zip(rows, ready, strict=True):
            row[:] = self._vector(text)
        return checked(rows, len(ready), WIDTH, "tfidf")

    def learn(self, texts: Sequence[str]) -> bytes:
        """How many of these texts each feature stands in, in the format described above.

        Blank texts are left out; the order of the texts does not matter.
        """
        counts = np.zeros(_SLOTS, np.uint32)
        known = [text for text in texts if text.strip()]
        for text in prepared(known):
            counts[np.unique(_features(text) & np.uint32(_SLOTS - 1))] += np.uint32(1)
        slots = np.flatnonzero(counts)
        return b"".join(
            (
                _MAGIC,
                _HEAD.pack(len(known)),
                slots.astype("<u2").tobytes(),
                counts[slots].astype("<u4").tobytes(),
            )
        )

    def knowing(self, learnt: bytes) -> TfidfEmbedder:
        """The embedder that knows this. Raises `InvalidInput` for bytes that `learn` never made."""
        if not learnt:
            raise InvalidInput("nothing was learnt: these are no bytes")
        return TfidfEmbedder(learnt)

    def _vector(self, text: str) -> NDArray[np.float64]:
        features, counts = np.unique(_features(text), return_counts=True)
        weights = (1 + np.log(counts)) * self._idf[features & np.uint32(_SLOTS - 1)]
        vector = _folded(features, weights)
        if not np.abs(vector).max() > 1e-6:
            # The few features of a tiny text took one another away: the whole text is its feature.
            vector = _folded(np.array([crc32(text.encode())], np.uint32), np.ones(1))
        return vector


def _folded(features: Hashes, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights, each with its feature's sign in its feature's dimension."""
    signed = np.where(features >> np.uint32(31), weights, -weights)
    dimensions = ((features >> np.uint32(16)) & np.uint32(WIDTH - 1)).astype(np.intp)
    return np.bincount(dimensions, signed, WIDTH).astype(np.float64, copy=False)


def _features(text: str) -> Hashes:
    """The hash of each occurrence of a feature."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    words = _WORDS.findall(plain)
    if not words:
        words = [c for c in plain if not c.isspace()] or [plain]
    return np.concatenate([_of_word(word[:_LONGEST_WORD]) for word in words])


@lru_cache(maxsize=50_000)
def _of_word(word: str) -> Hashes:
    """A word's features: itself, and the n-grams of it between its bounds."""
    bounded = f"<{word}>"
    grams = (
        bounded[start : start + size]
        for size in (3, 4, 5)
        for start in range(len(bounded) - size + 1)
    )
    return np.array([crc32(piece.encode()) for piece in (bounded, *grams)], np.uint32)


def _idf(learnt: bytes) -> NDArray[np.float64]:
    """The idf of each slot. Raises `InvalidInput` for bytes that `learn` never made."""
    start = len(_MAGIC) + _HEAD.size
    size, rest = divmod(len(learnt) - start, 6)
    if not learnt.startswith(_MAGIC) or size < 0 or rest:
        raise InvalidInput("these bytes are not what a tfidf provider learnt: learn again")
    (texts,) = _HEAD.unpack_from(learnt, len(_MAGIC))
    slots = np.frombuffer(learnt, "<u2", size, start)
    counts = np.frombuffer(learnt, "<u4", size, start + 2 * size)
    rising = (np.diff(slots.astype(np.int64)) > 0).all()
    if not rising or ((counts < 1) | (counts > texts)).any():
        raise InvalidInput("what a tfidf provider learnt is damaged: learn again")
    idf = np.full(_SLOTS, np.log(1 + texts) + 1)
    idf[slots] = np.log((1 + texts) / (1 + counts.astype(np.float64))) + 1
    return idf
