"""Leaving a provider in peace that does not answer, for a while that doubles."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from datetime import datetime, timedelta

from memcore.errors import ProviderAnswer, ProviderError, ProviderUnavailable
from memcore.ports import Clock

FIRST = 2.0
LONGEST = 300.0
"""Seconds of the first and of the longest pause."""

FIRST_PASS = 60.0
LONGEST_PASS = 3_600.0
"""The same where nobody waits for the work, and each try may cost a turn its whole time limit."""

MOST_ASKED = 86_400.0
"""Seconds; a provider that asks for a longer pause is tried again after a day."""

_WORKS = 1_000


class Backoff:
    """When a provider that failed may be asked again. May be used from any thread."""

    def __init__(
        self, clock: Clock, first: float = FIRST, longest: float = LONGEST, least: float = 0.0
    ) -> None:
        """All in seconds; `least` is kept to even where the provider asks for a shorter pause."""
        self._clock = clock
        self._first, self._longest, self._least = first, longest, least
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
        """Pauses for `first` seconds, then twice as long each time up to `longest`, or for as long
        as the provider asked."""
        now = self._clock.now()
        with self._lock:
            self._failures += 1
            seconds = min(self._first * 2.0 ** min(self._failures - 1, 30), self._longest)
            if isinstance(error, ProviderUnavailable) and error.after is not None:
                seconds = min(max(error.after, self._least), MOST_ASKED)
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


class Attempts:
    """When a model that does many pieces of work may be asked for one of them.

    A provider that fails is left in peace by all of them; an answer that cannot be used delays
    only the work that it was for. Kept in the process; a new one begins without pauses, and since
    work that failed stays to be done, nothing is lost by that. May be used from any thread.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._provider = self._new()
        self._works: OrderedDict[Hashable, Backoff] = OrderedDict()

    def reason(self, work: Hashable) -> str:
        """Why the model is not to be asked for this work now; empty where it may be."""
        with self._lock:
            found = self._works.get(work)
        return self._provider.reason() or (found.reason() if found else "")

    def unfinished(self, work: Hashable) -> bool:
        """Whether this work failed when it was tried last."""
        with self._lock:
            return work in self._works

    def failed(self, work: Hashable, error: Exception) -> None:
        """Begins a pause of a minute, or twice the last one, at most an hour."""
        with self._lock:
            found = self._works.pop(work, None) or self._new()
            self._works[work] = found
            while len(self._works) > _WORKS:
                self._works.popitem(last=False)
        # Also where the provider failed: it may have done so at this very text, and will again.
        found.failed(error)
        if _of_provider(error):
            self._provider.failed(error)
        else:
            self._provider.succeeded()

    def succeeded(self, work: Hashable) -> None:
        """The model did this work."""
        self.forget(work)
        self._provider.succeeded()

    def forget(self, work: Hashable) -> None:
        """This work need not be done any more."""
        with self._lock:
            self._works.pop(work, None)

    def _new(self) -> Backoff:
        return Backoff(self._clock, FIRST_PASS, LONGEST_PASS, FIRST_PASS)


def _of_provider(error: Exception) -> bool:
    """Whether an error would have come whatever was asked."""
    return isinstance(error, ProviderError | OSError) and not isinstance(error, ProviderAnswer)
