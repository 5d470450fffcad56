"""Leaving a provider in peace that does not answer, for a while that doubles."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from memcore.errors import ProviderUnavailable
from memcore.ports import Clock

FIRST = 2.0
LONGEST = 300.0
"""Seconds of the first and of the longest pause."""


class Backoff:
    """When a provider that failed may be asked again. May be used from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._pause: tuple[datetime, datetime] | None = None
        self._error = ""

    def reason(self) -> str:
        """Why the provider is not to be asked now; empty where it may be."""
        now = self._clock.now()
        with self._lock:
            # a clock that was set back, as between two replays, ends the pause
            if self._pause is None or not self._pause[0] <= now < self._pause[1]:
                return ""
            return f"{self._error}; not asked again before {self._pause[1].isoformat()}"

    def failed(self, error: Exception) -> None:
        """Pauses for 2, 4, 8 … at most 300 seconds, or for as long as the provider asked."""
        now = self._clock.now()
        with self._lock:
            self._failures += 1
            seconds = min(FIRST * 2.0 ** min(self._failures - 1, 30), LONGEST)
            if isinstance(error, ProviderUnavailable) and error.after is not None:
                seconds = max(error.after, 0.0)
            self._error = f"{type(error).__name__}: {error}"
            self._pause = (now, now + timedelta(seconds=seconds))

    def succeeded(self) -> None:
        """The next failure is the first again."""
        with self._lock:
            self._failures, self._pause, self._error = 0, None, ""

    @property
    def last_error(self) -> str:
        """What failed last, empty since the provider answered."""
        with self._lock:
            return self._error
