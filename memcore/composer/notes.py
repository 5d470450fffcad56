"""The notes layer: the curated page first, then dated notes, newest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memcore.composer import render
from memcore.ports import Transaction
from memcore.types import Item, Layer, Owner, Reason


class Taken(NamedTuple):
    """A note that the layer has room for. `place` counts from 1 in the layer's order."""

    place: int
    key: str
    piece: str
    sources: tuple[str, ...]


class Choice(NamedTuple):
    """The notes taken, and the key and size in characters of every note that was offered."""

    taken: list[Taken]
    offered: list[tuple[str, int]]

    def cost(self, overhead: int) -> int:
        """What the layer costs with the notes taken, in characters; 0 where none is."""
        if not self.taken:
            return 0
        return overhead + sum(len(one.piece) for one in self.taken) + len(self.taken) - 1


def take(parts: Transaction, owner: Owner, limit: int, overhead: int) -> Choice:
    """Every note in the layer's order; whole ones are taken while they fit into `limit` characters,
    one that does not fit is passed over. `overhead` is what the layer costs beside its notes.

    Only notes that may fit are read, so that years of notes cost no more than what is shown.
    """
    offered = parts.notes.index(owner)
    taken: list[Taken] = []
    left = limit - overhead
    for place, (key, size) in enumerate(offered, start=1):
        if size <= left and (note := parts.notes.get(owner, key)) is not None:
            piece = render.note(note)
            offered[place - 1] = key, len(piece)
            if len(piece) <= left:
                taken.append(Taken(place, key, piece, note.sources))
                left -= len(piece) + 1
    return Choice(taken, offered)


def items(choice: Choice, why: Callable[[int], tuple[Reason, str]]) -> list[Item]:
    """Each note offered, with what became of it; `why(spent)` tells why one did not fit."""
    made: list[Item] = []
    spent, start = 0, 0
    offered = choice.offered
    for one in [*choice.taken, None]:
        end = one.place - 1 if one else len(offered)
        reason, detail = why(spent)
        made += [
            Item(Layer.NOTES, key, "note", size, False, place, reason, detail)
            for place, (key, size) in enumerate(offered[start:end], start=start + 1)
        ]
        if one is not None:
            size = len(one.piece)
            made.append(
                Item(Layer.NOTES, one.key, "note", size, True, one.place, covers=one.sources)
            )
            spent += size + 1
            start = one.place
    return made
