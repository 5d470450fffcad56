"""The notes layer: the curated page first, then dated notes: those that are near to the message by
meaning, nearest first, and all others after them, newest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from memcore.composer import render
from memcore.ports import Transaction
from memcore.ranking import relevant
from memcore.types import PAGE, Cutoff, Item, Layer, Owner, Reason


class Taken(NamedTuple):
    """A note that the layer has room for. `place` counts from 1 in the layer's order."""

    place: int
    key: str
    piece: str
    sources: tuple[str, ...]


class Choice(NamedTuple):
    """The notes taken, and the key and size in characters of every note that was offered, in the
    layer's order; the cosine of those that have one."""

    taken: list[Taken]
    offered: list[tuple[str, int]]
    cosines: Mapping[str, float]

    def cost(self, overhead: int) -> int:
        """What the layer costs with the notes taken, in characters; 0 where none is."""
        if not self.taken:
            return 0
        return overhead + sum(len(one.piece) for one in self.taken) + len(self.taken) - 1


NONE = Choice([], [], {})


def take(
    parts: Transaction,
    owner: Owner,
    limit: int,
    overhead: int,
    cosines: Mapping[str, float],
    cutoff: Cutoff | None,
) -> Choice:
    """Every note in the layer's order; whole ones are taken while they fit into `limit` characters,
    one that does not fit is passed over. `overhead` is what the layer costs beside its notes.

    Only notes that may fit are read, so that years of notes cost no more than what is shown. A note
    below the cutoff or without a cosine is not left out: it comes after those that are ranked.
    """
    offered = _ordered(parts.notes.index(owner), cosines, cutoff)
    taken: list[Taken] = []
    left = limit - overhead
    for place, (key, size) in enumerate(offered, start=1):
        if size <= left and (note := parts.notes.get(owner, key)) is not None:
            piece = render.note(note)
            offered[place - 1] = key, len(piece)
            if len(piece) <= left:
                taken.append(Taken(place, key, piece, note.sources))
                left -= len(piece) + 1
    return Choice(taken, offered, cosines)


def _ordered(
    offered: list[tuple[str, int]], cosines: Mapping[str, float], cutoff: Cutoff | None
) -> list[tuple[str, int]]:
    """The page, then ranked notes by cosine, then the others; equal ones stay newest first."""
    if not cosines:
        return offered
    bar = cutoff.cutoff if cutoff else None

    def place(one: tuple[str, int]) -> tuple[int, float]:
        score = cosines.get(one[0])
        if one[0] == PAGE:
            return 0, 0.0
        return (1, -score) if score is not None and relevant(score, bar) else (2, 0.0)

    return sorted(offered, key=place)


def items(choice: Choice, why: Callable[[int], tuple[Reason, str]]) -> list[Item]:
    """Each note offered, with what became of it; `why(spent)` tells why one did not fit."""
    made: list[Item] = []
    spent, start = 0, 0
    offered, cosines = choice.offered, choice.cosines
    for one in [*choice.taken, None]:
        end = one.place - 1 if one else len(offered)
        reason, detail = why(spent)
        made += [
            Item(Layer.NOTES, key, "note", size, False, place, reason, detail, cosines.get(key))
            for place, (key, size) in enumerate(offered[start:end], start=start + 1)
        ]
        if one is not None:
            size = len(one.piece)
            made.append(
                Item(Layer.NOTES, one.key, "note", size, True, one.place,
                     score=cosines.get(one.key), covers=one.sources)
            )  # fmt: skip
            spent += size + 1
            start = one.place
    return made
