"""A replay in a thread of its own, so that whoever started it may look elsewhere meanwhile."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.errors import RunError
from eval.loaders import AUTO, load
from eval.replay import Progress, replay, run_name
from eval.runs import RunInfo
from memcore import MnemoscopeError


class _Stopped(Exception):
    """Somebody asked for it."""


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What is to be replayed, and how. `name` is that of an unfinished run to go on with, `judge`
    the model that grades answers."""

    dataset: str
    format: str = AUTO
    arm: str = "first-search"
    changes: dict[str, str] = field(default_factory=dict)
    limit: int | None = None
    name: str | None = None
    judge: str | None = None


def request_to_resume(info: RunInfo, source: str | None = None) -> ReplayRequest:
    """What goes on with an unfinished run, with the arm, settings and limit that it was begun with.

    `source` is where its dataset is now, if that has moved. Raises `RunError` where there is
    nothing to go on with.
    """
    if not info.problem.startswith("unfinished"):
        why = info.problem or "it is complete"
        raise RunError(f"run {info.name} cannot be resumed ({why}); replay the dataset again")
    manifest, dataset, limit = info.manifest, info.manifest["dataset"], info.manifest.get("limit")
    judge = manifest.get("judge")
    source = source or dataset.get("source")
    if not isinstance(source, str) or not source:
        raise RunError(
            f"run {info.name} cannot be resumed, it does not say where its dataset is; "
            "replay the dataset again"
        )
    return ReplayRequest(
        source,
        str(dataset.get("format", AUTO)),
        manifest["arm"],
        {str(name): str(value) for name, value in manifest["changed_settings"].items()},
        limit if isinstance(limit, int) else None,
        info.name,
        judge.get("name") if isinstance(judge, dict) else None,
    )


class ReplayJob:
    """One replay that runs by itself. Its attributes may be read at any time.

    `run` is the run's name, known once the dataset is read. When `active` is over, either the run
    is complete (`done`), or `error` says why not, or it was `stopped`; in the last two cases the
    conversations that were replayed are kept, and the run can be resumed. `told` is for whoever
    shows its end once.
    """

    def __init__(self, request: ReplayRequest, out: Path) -> None:
        self.request = request
        self.out = out
        self.progress: Progress | None = None
        self.run: str | None = None
        self.counts: dict[str, int] = {}
        self.repairs: Sequence[str] = ()
        self.error: Exception | None = None
        self.trace = ""
        self.done = self.stopped = self.told = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="replay", daemon=True)

    @property
    def active(self) -> bool:
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def start(self) -> ReplayJob:
        """Begins; returns itself."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Asks it to end at the next opportunity; what is replayed is kept."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Waits until it is over, at most that long."""
        self._thread.join(seconds)

    def _work(self) -> None:
        asked = self.request
        try:
            dataset = load(asked.dataset, asked.format, asked.limit)
            self.counts = dataset.counts
            self.repairs = [f"{one.where}: {one.what}" for one in dataset.repairs]
            self.run = asked.name or run_name(dataset, asked.arm, datetime.now(UTC))
            replay(
                dataset,
                self.out,
                arm=asked.arm,
                changes=dict[str, Any](asked.changes),
                name=self.run,
                on_progress=self._report,
                limit=asked.limit,
                judge=asked.judge,
            )
            self.done = True
        except _Stopped:
            self.stopped = True
        except MnemoscopeError as error:
            self.error = error
        except Exception as error:  # whatever it is must be shown, for nobody else sees this thread
            self.error, self.trace = error, traceback.format_exc()

    def _report(self, progress: Progress) -> None:
        self.progress = progress
        if self._stop.is_set():
            raise _Stopped
