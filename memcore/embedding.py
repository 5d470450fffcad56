"""Asking a provider for the vectors of queued items, and finding out which texts it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memcore import matrix
from memcore.errors import InvalidInput, ProviderAnswer, ProviderError, ProviderUnavailable
from memcore.ports import Embedder
from memcore.types import EmbedRole, Matrix, ProviderIdentity, QueuedPassage

_LONGEST_ERROR = 300


@dataclass(slots=True)
class Work:
    """A queued item while it is embedded. `revision` is the item's, `texts` its passages; None
    where the item is gone. Afterwards it has `vectors`, or the `error` with which it was refused.
    """

    queued: QueuedPassage
    revision: int
    texts: list[str] | None
    vectors: Matrix | None = None
    error: str = ""


def identity_of(embedder: Embedder) -> ProviderIdentity:
    """Raises `ProviderError`, whatever it was that the provider failed with."""
    try:
        return embedder.identity
    except ProviderError:
        raise
    except Exception as error:
        raise ProviderUnavailable(f"{type(error).__name__}: {error}") from error


def ask(embedder: Embedder, texts: Sequence[str], role: EmbedRole) -> Matrix:
    """A vector for each text `[n, width]`, not looked at yet.

    Raises `InvalidInput` and `ProviderError`; what else a provider fails with is as if it were
    unavailable.
    """
    try:
        vectors = embedder.embed(texts, role)
    except (ProviderError, InvalidInput):
        raise
    except Exception as error:
        raise ProviderUnavailable(f"{type(error).__name__}: {error}") from error
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise ProviderAnswer(f"{len(texts)} texts gave vectors of shape {list(vectors.shape)}")
    return vectors


def embed(embedder: Embedder, identity: ProviderIdentity, works: list[Work]) -> None:
    """Gives each its vectors, or the error with which its text was refused.

    Raises `ProviderError` where the provider fails altogether; nothing has vectors then.
    """
    for work in works:
        if work.texts == []:
            work.vectors = matrix.none(identity.width)
    works = [work for work in works if work.texts]
    while works:
        try:
            vectors = ask(
                embedder, [text for work in works for text in work.texts or ()], "passage"
            )
        except (ProviderAnswer, InvalidInput) as error:
            positions = error.refused if isinstance(error, ProviderAnswer) else ()
            if positions:
                works = _left(works, positions, error)
            elif len(works) > 1:
                _embed_singly(embedder, identity, works)
                return
            elif isinstance(error, InvalidInput):
                _refuse(works[0], error)
                return
            else:
                raise
        else:
            _share(vectors, identity, works)
            return


def _embed_singly(embedder: Embedder, identity: ProviderIdentity, works: list[Work]) -> None:
    """For an answer that does not say which text it is about: one item at a time shows that."""
    failed: ProviderAnswer | None = None
    for work in works:
        try:
            embed(embedder, identity, [work])
        except ProviderAnswer as error:
            failed = error
            _refuse(work, error)
    if failed is not None and not any(work.vectors is not None for work in works):
        raise failed


def _left(works: list[Work], refused: Sequence[int], error: Exception) -> list[Work]:
    """Those none of whose texts stand at a refused position; the others get the error."""
    left, at, places = [], 0, set(refused)
    for work in works:
        after = at + len(work.texts or ())
        if places.isdisjoint(range(at, after)):
            left.append(work)
        else:
            _refuse(work, error)
        at = after
    if len(left) == len(works):  # positions that no text has: it is about none of them
        raise error
    return left


def _share(vectors: Matrix, identity: ProviderIdentity, works: list[Work]) -> None:
    """Gives each item its rows; one whose rows are no directions is refused."""
    if vectors.shape[1] != identity.width:
        raise ProviderAnswer(f"the vectors of {identity} came {vectors.shape[1]} wide")
    try:
        vectors, sound = matrix.check(vectors, identity.width, "any"), True
    except InvalidInput:
        sound = False
    at = 0
    for work in works:
        after = at + len(work.texts or ())
        try:
            rows = vectors[at:after]
            item = work.queued.item
            work.vectors = rows if sound else matrix.check(rows, identity.width, item)
        except InvalidInput as error:
            _refuse(work, error)
        at = after


def _refuse(work: Work, error: Exception) -> None:
    work.error = f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
