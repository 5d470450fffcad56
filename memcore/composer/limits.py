"""A time limit for reading one layer, so that a store that hangs costs a layer and not the turn."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from memcore.errors import LayerTimeout

T = TypeVar("T")
_Job = tuple[Callable[[], Any], SimpleQueue[tuple[bool, Any]]]


class _Worker:
    """A thread that runs one job at a time; a daemon, so that one that hangs holds no exit."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        threading.Thread(target=self._run, name="memcore-layer", daemon=True).start()

    def submit(self, job: Callable[[], Any]) -> SimpleQueue[tuple[bool, Any]]:
        answer: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        self._jobs.put((job, answer))
        return answer

    def leave(self) -> None:
        """Lets the thread end once it is done with what it has."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (task := self._jobs.get()) is not None:
            job, answer = task
            try:
                answer.put((True, job()))
            except BaseException as error:  # handed to the caller, who raises it
                answer.put((False, error))


class TimeLimit:
    """Runs a job in another thread and gives up waiting after a number of seconds.

    Threads are reused; one that did not answer in time is left behind and ends with its job.
    """

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()

    def run(self, job: Callable[[], T], seconds: float | None) -> T:
        """What the job returns or raises; `LayerTimeout` after `seconds`. None: no limit."""
        if seconds is None:
            return job()
        with self._lock:
            worker = self._idle.pop() if self._idle else _Worker()
        answer = worker.submit(job)
        try:
            succeeded, value = answer.get(timeout=seconds)
        except Empty:
            worker.leave()
            raise LayerTimeout(f"no answer within {seconds:g} seconds") from None
        with self._lock:
            self._idle.append(worker)
        if not succeeded:
            raise value
        return value  # type: ignore[no-any-return]
