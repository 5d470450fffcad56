"""The notes layer: the curated page first, then dated notes, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memcore.composer import render
from memcore.ports import Transaction
from memcore.types import Owner


class Offer(NamedTuple):
    """A note offered to the layer. `piece` is its rendered text, None where it is not taken.

    `size` is that text's length; of a note that cannot fit, which is not read, its own length.
    """

    key: str
    size: int
    piece: str | None = None
    sources: tuple[str, ...] = ()


def take(parts: Transaction, owner: Owner, limit: int, overhead: int) -> list[Offer]:
    """Every note in the layer's order; whole ones are taken while they fit into `limit` characters,
    one that does not fit is passed over. `overhead` is what the layer costs beside its notes.

    Only notes that may fit are read, so that years of notes cost no more than what is shown.
    """
    offers = []
    left = limit - overhead
    for key, size in parts.notes.index(owner):
        note = parts.notes.get(owner, key) if size <= left else None
        if note is None:
            offers.append(Offer(key, size))
            continue
        piece = render.note(note)
        fits = len(piece) <= left
        offers.append(Offer(key, len(piece), piece if fits else None, note.sources))
        if fits:
            left -= len(piece) + 1
    return offers


def cost(offers: Sequence[Offer], overhead: int) -> int:
    """What the layer costs with the notes taken, in characters; 0 where none is."""
    sizes = [offer.size for offer in offers if offer.piece is not None]
    return overhead + sum(sizes) + len(sizes) - 1 if sizes else 0
