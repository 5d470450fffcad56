"""Small things that many tests need."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memcore import Memory, Message, Owner, Settings
from memcore.testing import InMemoryStore, SettableClock

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ANNA = Owner("home", "helper", "anna")


def at(minutes: float) -> datetime:
    """A moment so many minutes after `START`."""
    return START + timedelta(minutes=minutes)


def say(
    id: str,
    text: str,
    minutes: float = 0,
    role: Any = "user",
    thread: str = "t1",
    speaker: str = "",
) -> Message:
    """A message; its speaker is Anna or the helper unless named."""
    name = speaker or {"user": "Anna", "assistant": "Helper", "tool": "weather"}[role]
    return Message(id, thread, role, name, at(minutes), text)


def memory(store: Any = None, now: datetime = START, **changes: Any) -> Memory:
    """A memory over a store in memory, at a fixed moment, with some settings changed."""
    settings = Settings(layer_seconds=None).vary(**changes)
    return Memory(store or InMemoryStore(), settings, SettableClock(now))
