"""Composing a turn in a test, and what holds for every composition."""

from __future__ import annotations

from itertools import pairwise

from memcore import Composition, Item, Layer, Memory, Message, Owner
from tests.support import ANNA, say

ROSES = "When do roses bloom in the garden?"
PERSONA = "You are a helper."
ASKED = 10_000
"""The minute in which the new message is said."""


def ask(memory: Memory, text: str, minutes: float = ASKED, persona: str = PERSONA) -> Composition:
    return memory.compose(ANNA, "t1", say("new", text, minutes), persona)


def fill(memory: Memory, *messages: Message, owner: Owner = ANNA) -> None:
    for message in messages:
        memory.conversation.append(owner, message)


def chat(count: int, size: int = 40, start: float = 5_000, thread: str = "t1") -> list[Message]:
    """Alternating messages of one size, a minute apart, that hold none of the words asked for."""
    roles = ("user", "assistant")
    return [
        say(f"{thread}-{n:03}", f"{n:03} ".ljust(size, "x"), start + n, roles[n % 2], thread)
        for n in range(count)
    ]


def write(memory: Memory, key: str, text: str) -> None:
    found = memory.notes.get(ANNA, key)
    revision = found.revision if found else 0
    memory.notes.write(ANNA, key, text, writer="remember", expected_revision=revision)


def items(composition: Composition, layer: Layer) -> list[Item]:
    return [item for item in composition.items if item.layer is layer]


def text_of(composition: Composition, layer: Layer) -> str:
    return next(one.text for one in composition.layers if one.layer is layer)


def kept(composition: Composition, layer: Layer) -> list[str]:
    return [item.id for item in items(composition, layer) if item.kept]


def check(composition: Composition) -> None:
    """What holds for every composition."""
    account = composition.account
    received = {row.layer: row.received for row in account.layers}
    assert list(received) == list(Layer)
    history = "".join(turn.content for turn in composition.prefix)
    assert sum(received.values()) == account.total == len(composition.system) + len(history)
    assert received == {
        layer: sum(len(one.text) for one in composition.layers if one.layer is layer)
        for layer in Layer
    }
    in_system = (Layer.PERSONA, Layer.SUMMARY, Layer.NOTES, Layer.EXCERPTS)
    assert composition.system == "".join(text_of(composition, layer) for layer in in_system)
    before_last, last = (
        text_of(composition, Layer.WINDOW),
        text_of(composition, Layer.LAST_EXCHANGE),
    )
    turns = "".join(turn.content for turn in composition.prefix)
    assert turns == before_last + last

    assert account.spent == account.total - received[Layer.PERSONA]
    exchange = account.row(Layer.LAST_EXCHANGE)
    assert account.spent <= max(account.ceiling, exchange.received)
    assert exchange.asked == exchange.granted == exchange.received
    for row in account.layers:
        assert 0 <= row.received <= row.granted <= row.asked
        assert row.cap is None or row.asked <= row.cap
        assert row.offered == row.kept + row.dropped == len(items(composition, row.layer))
        assert row.kept == len(kept(composition, row.layer))
        assert row.status in ("ok", "empty", "skipped", "failed")
        assert (row.received > 0) == (row.status == "ok")
    for item in composition.items:
        assert (item.reason is None) == item.kept
    roles = [turn.role for turn in composition.messages]
    assert roles[0] == roles[-1] == "user"
    assert all(one != other for one, other in pairwise(roles))
    assert composition.messages[-1].content.endswith(composition.message)
