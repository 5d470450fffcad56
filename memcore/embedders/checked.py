"""What goes into a provider and what comes out of it, the same for every provider."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcore.errors import InvalidInput, ProviderAnswer
from memcore.types import Matrix

LONGEST = 8_000
"""Characters; of a longer text the beginning is embedded. Most models read less than that anyway
(512 tokens are about 2,000 characters), and it bounds the time that one text can take."""


def prepared(texts: Sequence[str], longest: int = LONGEST) -> list[str]:
    """The texts as a provider gets them: lone surrogates as U+FFFD, of a text longer than `longest`
    that many characters.

    Raises `InvalidInput`, naming the position, for a text that is empty or blank.
    """
    ready = []
    for position, text in enumerate(texts):
        if not text or text.isspace():
            raise InvalidInput(f"text {position} of {len(texts)} is blank: nothing to embed")
        ready.append(_encodable(text if len(text) <= longest else text.lstrip()[:longest]))
    return ready


def checked(vectors: ArrayLike, count: int, width: int, provider: str) -> Matrix:
    """What a provider returned, as float32 `[count, width]` with rows of length 1.

    Raises `ProviderAnswer` for another number or width of vectors, and, with their positions as
    `refused`, for vectors that are zero or not finite.
    """
    try:
        rows = np.asarray(vectors, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ProviderAnswer(f"{provider} returned something else than rows of numbers") from None
    if count == 0 and rows.size == 0:
        return np.empty((0, width), np.float32)
    if rows.ndim != 2 or len(rows) != count:
        raise ProviderAnswer(f"{provider} returned {_shape(rows)} for {count} texts")
    if rows.shape[1] != width:
        raise ProviderAnswer(
            f"{provider} returned vectors {rows.shape[1]} wide, not {width}: is it another model?"
        )
    # By its largest number first, so that neither tiny nor huge ones lose their direction.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    usable = np.isfinite(largest) & (largest > 0)
    if not usable.all():
        refused = np.flatnonzero(~usable[:, 0]).tolist()
        raise ProviderAnswer(
            f"{provider} returned a vector without a direction: zero, infinite or no numbers",
            refused,
        )
    rows = rows / largest
    unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # Pairs of surrogates become the character that they stand for, lone ones U+FFFD.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _shape(rows: NDArray[np.float64]) -> str:
    return f"{len(rows)} vectors" if rows.ndim == 2 else f"an array of shape {list(rows.shape)}"
