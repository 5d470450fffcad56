"""A turn asked of a model in a thread of its own, so that the page stays alive meanwhile."""

from __future__ import annotations

import threading
import time as clocks
import traceback
from dataclasses import dataclass

from eval.asking import ask, asking_settings, brain_for
from eval.turns import TurnView
from memcore import Answer, MnemoscopeError


class _Stopped(Exception):
    """Somebody asked for it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request under way: its number, 0 while the memory is built, and the calls made so far."""

    request: int = 0
    calls: int = 0


class AskJob:
    """One answer that is waited for. Its attributes may be read at any time.

    When `active` is over, either `answer` is there, which says itself what went wrong with the
    model, or `error` says why it was not asked, or it was `stopped`. `limit` is the most seconds
    that the answer may take, the building of the memory apart.
    """

    def __init__(self, view: TurnView, brain: str, tools: bool) -> None:
        """Raises `InvalidInput` for a brain that is none, and `InvalidSettings`."""
        self.view = view
        self.tools = tools
        self.limit = asking_settings(view).agent_seconds
        self.progress = Asked()
        self.answer: Answer | None = None
        self.error: Exception | None = None
        self.trace = ""
        self.stopped = False
        self._brain = brain_for(view, brain)
        self._began: float | None = None
        self._ended: float | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="asking", daemon=True)

    @property
    def brain(self) -> str:
        return self._brain.name

    @property
    def active(self) -> bool:
        return self._thread.is_alive()

    @property
    def seconds(self) -> float:
        """How long the model has been asked, or was, until it was over."""
        if self._began is None:
            return 0.0
        return (self._ended or clocks.monotonic()) - self._began

    def start(self) -> AskJob:
        """Begins; returns itself."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """No further request is made; what the last one brings is thrown away."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Waits until it is over, at most that long."""
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            found = ask(self.view, self._brain, self.tools, self._report)
            self._ended = clocks.monotonic()
            self.stopped = self._stop.is_set()
            self.answer = None if self.stopped else found
        except _Stopped:
            self.stopped = True
        except MnemoscopeError as error:
            self.error = error
        except Exception as error:  # whatever it is must be shown, for nobody else sees this thread
            self.error, self.trace = error, traceback.format_exc()

    def _report(self, request: int, calls: int) -> None:
        if self._stop.is_set():
            raise _Stopped
        if self._began is None:
            self._began = clocks.monotonic()
        self.progress = Asked(request, calls)
