"""A clock to set."""

from __future__ import annotations

from datetime import datetime, timedelta

from memcore.errors import InvalidInput


class SettableClock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, now: datetime) -> None:
        self.set(now)

    def now(self) -> datetime:
        """The moment that was set, aware."""
        return self._now

    def set(self, now: datetime) -> None:
        """Makes it another moment. Raises `InvalidInput` for a time without a zone."""
        if now.tzinfo is None:
            raise InvalidInput("a clock needs an aware time")
        self._now = now

    def advance(self, by: timedelta) -> None:
        """Moves the clock by an amount of time, which may be negative."""
        self.set(self._now + by)
