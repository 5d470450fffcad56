"""What a replay's host does once a reply has been sent: the curator's pass and the summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from memcore import PAGE, Memory, Message, Note, Owner, Report


class CuratedLine(NamedTuple):
    """A line that a pass proposed: written to the note `key` and citing `sources`, or `refused` and
    why, secrets in it masked. `time` is the moment of the pass."""

    time: datetime
    thread: str
    key: str | None
    line: str
    sources: tuple[str, ...]
    refused: str | None


@dataclass(slots=True)
class Passes:
    """What the curator did in a conversation, counted, and its lines until they are taken. `notes`
    are writes of a note, `failed` the passes that ended with an error and left everything as it
    was, `waiting` the times that a model was left in peace because it had failed lately."""

    passes: int = 0
    notes: int = 0
    lines: int = 0
    refused: int = 0
    failed: int = 0
    waiting: int = 0
    _lines: list[CuratedLine] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {
            "passes": self.passes,
            "notes": self.notes,
            "lines": self.lines,
            "refused": self.refused,
            "failed": self.failed,
            "waiting": self.waiting,
        }

    def add(self, report: Report, thread: str, time: datetime) -> None:
        """Counts a pass over a thread that was made at that moment, and keeps its lines."""
        self.passes += not report.waiting
        self.waiting += report.waiting
        self.notes += len({one.key for one in report.written})
        self.lines += len(report.written)
        self.refused += len(report.refused)
        self.failed += bool(report.error) and not report.waiting
        self._lines += [
            CuratedLine(time, thread, one.key, one.line, one.sources, None)
            for one in report.written
        ]
        self._lines += [
            CuratedLine(time, thread, None, line, (), why)
            for line, why in (*report.refused, *report.summary_refused)
        ]

    def take(self) -> list[CuratedLine]:
        """The lines since the last call."""
        taken, self._lines = self._lines, []
        return taken


class RecordedLines:
    """Proposes what a run's curator wrote, instead of the model that had proposed it: a turn that
    is looked at again asks no model. A `memcore.ports.Proposer`."""

    def __init__(self, written: Sequence[CuratedLine]) -> None:
        self._written = written

    def propose(self, messages: Sequence[Message], page: Note | None) -> str:  # noqa: ARG002
        """The lines that cite these messages, as JSON text."""
        shown = {one.id for one in messages}
        return json.dumps(
            {
                "lines": [
                    {"text": one.line, "sources": one.sources, "lasting": one.key == PAGE}
                    for one in self._written
                    if shown.issuperset(one.sources)
                ]
            }
        )


class Host:
    """Calls `Memory.after_turn` for each exchange that has ended, as of the moment it ended."""

    def __init__(self, memory: Memory, owner: Owner, passes: Passes) -> None:
        self._memory = memory
        self._owner = owner
        self._passes = passes
        self._last: Message | None = None

    @property
    def ended(self) -> Message | None:
        """The last message that was said, where it has not been followed up yet."""
        return self._last if self._memory.settings.curator else None

    def said(self, message: Message) -> None:
        self._last = message

    def follow_up(self) -> None:
        """Follows the exchange up that ended with the last message. Does nothing where none did."""
        last, self._last = self._last, None
        if last is None:
            return
        report = self._memory.after_turn(self._owner, last.thread)
        if report is not None:
            self._passes.add(report, last.thread, self._memory.clock.now())
