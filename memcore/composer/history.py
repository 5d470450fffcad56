"""The history that goes with a turn: the last exchange, never cut, and the window before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from memcore.composer.render import SEPARATOR
from memcore.ports import Transaction
from memcore.types import Item, Layer, Message, Owner, PromptLayer, Reason, Turn

_PAGE = 64


@dataclass(frozen=True)
class History:
    """What a thread has before the new message, newest first.

    `exchange` reaches back to the newest user message; `deeper` is what was read before that;
    `older` is how many messages lie before those; `unsent` are tool messages among them, which are
    no turn of a history, and replies to nobody where the thread has no user message.
    """

    exchange: tuple[Message, ...] = ()
    deeper: tuple[Message, ...] = ()
    unsent: tuple[tuple[Message, Reason], ...] = ()
    older: int = 0

    @cached_property
    def exchange_size(self) -> int:
        return sum(_sizes(self.exchange, None))

    @cached_property
    def costs(self) -> tuple[int, ...]:
        """What the newest 0, 1, 2 … messages of `deeper` cost, in characters of the prefix."""
        sizes = _sizes(self.deeper, self.exchange[-1] if self.exchange else None)
        return tuple(accumulate(sizes, initial=0))

    def plan(self, limit: int, blocked: Callable[[Message], bool] | None = None) -> int:
        """How many of `deeper` fit into `limit` characters: contiguous, from a user message on.

        Stops before the first message for which `blocked` holds.
        """
        count = bisect_right(self.costs, limit) - 1
        if blocked is not None:
            stop = (at for at, one in enumerate(self.deeper[:count]) if blocked(one))
            count = next(stop, count)
        while count and self.deeper[count - 1].role != "user":
            count -= 1
        return count


def read(parts: Transaction, owner: Owner, thread: str, message: Message, cap: int) -> History:
    """Reads a thread backwards from the new message until `cap` characters are passed."""
    before = parts.messages.place_of(owner, thread, message.id)
    sent: list[Message] = []
    unsent: list[tuple[Message, Reason]] = []
    size, older, found_user = 0, 0, False
    while True:
        page = parts.messages.recent(owner, thread, _PAGE, before)
        for one in page:
            older = before = one.place
            if one.id == message.id or one.time > message.time:
                continue
            if one.role == "tool":
                unsent.append((one, Reason.TOOL_OUTPUT))
                continue
            sent.append(one)
            size += len(one.text)
            found_user = found_user or one.role == "user"
            if found_user and size > cap:
                break
        else:
            if len(page) == _PAGE:
                continue
        break
    if not found_user:
        return History((), (), (*unsent, *((one, Reason.NOT_FIRST) for one in sent)), older)
    edge = next(at for at, one in enumerate(sent) if one.role == "user") + 1
    return History(tuple(sent[:edge]), tuple(sent[edge:]), tuple(unsent), older)


def prefix(history: History, count: int) -> tuple[tuple[Turn, ...], list[PromptLayer]]:
    """The turns to send, oldest first, and the text of both layers as it stands in them."""
    turns: list[Turn] = []
    texts: dict[Layer, list[str]] = {Layer.WINDOW: [], Layer.LAST_EXCHANGE: []}
    pieces = [(Layer.WINDOW, one) for one in reversed(history.deeper[:count])]
    pieces += [(Layer.LAST_EXCHANGE, one) for one in reversed(history.exchange)]
    for number, (layer, one) in enumerate(pieces):
        following = pieces[number + 1][1] if number + 1 < len(pieces) else None
        joined = following is not None and following.role == one.role
        texts[layer].append(one.text + (SEPARATOR if joined else ""))
        role: Literal["user", "assistant"] = "user" if one.role == "user" else "assistant"
        if turns and turns[-1].role == role:
            turns[-1] = Turn(role, turns[-1].content + SEPARATOR + one.text)
        else:
            turns.append(Turn(role, one.text))
    return tuple(turns), [PromptLayer(layer, "".join(parts)) for layer, parts in texts.items()]


def items(history: History, count: int, limit: int, blocked: bool) -> list[Item]:
    """Every message that was offered, with what became of it; places count from the newest.

    `limit` is what cap and ceiling left the window.
    """
    made = [
        Item(Layer.LAST_EXCHANGE, one.id, "message", len(one.text), True, place, covers=(one.id,))
        for place, one in enumerate(history.exchange, start=1)
    ]
    for place, one in enumerate(history.deeper, start=1):
        kept = place <= count
        reason = detail = None
        if not kept:
            reason, detail = _why_dropped(history, place, count, limit, blocked)
        made.append(
            Item(Layer.WINDOW, one.id, "message", len(one.text), kept, place, reason, detail or "",
                 None, (one.id,))
        )  # fmt: skip
    for place, (one, why) in enumerate(history.unsent, start=len(history.deeper) + 1):
        size = len(one.text)
        made.append(
            Item(Layer.WINDOW, one.id, "message", size, False, place, why, covers=(one.id,))
        )
    return made


def _why_dropped(
    history: History, place: int, count: int, limit: int, blocked: bool
) -> tuple[Reason, str]:
    one = history.deeper[place - 1]
    if history.costs[place] <= limit:
        if blocked:
            return Reason.DUPLICATE, "from here on the conversation is quoted as excerpts"
        return Reason.NOT_FIRST, "a history begins with a user message"
    older = history.older if place == len(history.deeper) else one.place
    return Reason.OVER_BUDGET, (
        f"{limit - history.costs[count]} characters were left; the window ends here, "
        f"{older} older messages were not offered"
    )


def _sizes(messages: Sequence[Message], newer: Message | None) -> list[int]:
    """What each message adds to the prefix; one joined to the next newer also pays a separator."""
    sizes = []
    for one in messages:
        joined = newer is not None and newer.role == one.role
        sizes.append(len(one.text) + (len(SEPARATOR) if joined else 0))
        newer = one
    return sizes
