"""The conversation as it stood at a turn: what was said until then, and where the prompt has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from eval.evidence import Fate
from eval.turns import TurnView
from memcore import Layer, Message, local_day


@dataclass(frozen=True, slots=True)
class Entry:
    """A message that was said before the turn.

    `place` counts from 0 in the conversation, `local` is its time and `day` its day where the
    owner lives. `held` are the layers of the prompt that have it or cite it, each with the item
    that does; `part` says that only a part of it is quoted. `fate` is there for evidence.
    """

    message: Message
    place: int
    local: datetime
    day: date
    held: tuple[tuple[Layer, str], ...]
    part: bool
    fate: Fate | None


def said_before(view: TurnView) -> list[Message]:
    """The messages that were there when the turn was composed, oldest first, its own not among
    them."""
    messages = list(view.messages.values())
    if not view.row["is_question"]:
        own = next((n for n, one in enumerate(messages) if one.id == view.row["id"]), len(messages))
        return messages[:own]
    return [one for one in messages if one.time <= view.row["time"]]


def entries(view: TurnView) -> list[Entry]:
    """What was said before the turn, oldest first, with what the prompt has of it."""
    zone = ZoneInfo(view.talk.timezone)
    fates = {fate.message: fate for fate in view.fates}
    held: dict[str, list[tuple[Layer, str]]] = {}
    parts: set[str] = set()
    for item in view.offered:
        for id in item.covers if item.kept else ():
            held.setdefault(id, []).append((item.layer, item.id))
            if item.cut:
                parts.add(id)
    return [
        Entry(
            message,
            place,
            message.time.astimezone(zone),
            local_day(message.time, zone),
            tuple(held.get(message.id, ())),
            message.id in parts,
            fates.get(message.id),
        )
        for place, message in enumerate(said_before(view))
    ]


def what_matters(all_entries: Sequence[Entry], reach: int = 1, last: int = 4) -> list[range]:
    """The stretches of a conversation that explain a turn, as ranges of places.

    These are what is quoted, the evidence with `reach` messages on either side, and the `last` ones
    before the turn. Stretches that touch are one.
    """
    count, wanted = len(all_entries), set[int]()
    for one in all_entries:
        if one.fate is not None:
            wanted.update(range(max(one.place - reach, 0), min(one.place + reach + 1, count)))
        elif any(layer is Layer.EXCERPTS for layer, _ in one.held):
            wanted.add(one.place)
    return _stretches(wanted | set(range(max(count - last, 0), count)))


def page_around(all_entries: Sequence[Entry], place: int | None, size: int = 40) -> range:
    """A page of at most `size` messages. It opens at the day of `place`, or near before it where
    that day is long; without a place it ends with the newest message."""
    count = len(all_entries)
    if place is None or not 0 <= place < count:
        return range(max(count - size, 0), count)
    day = all_entries[place].day
    first = place
    while first > 0 and all_entries[first - 1].day == day and place - first < size // 4:
        first -= 1
    return range(first, min(first + size, count))


def place_of(all_entries: Iterable[Entry], message: str) -> int | None:
    """The place of a message, None where it was not said before the turn."""
    return next((one.place for one in all_entries if one.message.id == message), None)


def _stretches(places: Iterable[int]) -> list[range]:
    found: list[range] = []
    for place in sorted(places):
        if found and found[-1].stop == place:
            found[-1] = range(found[-1].start, place + 1)
        else:
            found.append(range(place, place + 1))
    return found
