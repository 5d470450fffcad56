"""What a replay's host does once a reply has been sent: the curator's pass and the summary."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from memcore import Memory, Message, Owner


@dataclass(slots=True)
class Passes:
    """What the curator did in a conversation, counted. `notes` are writes of a note, `failed` the
    passes that ended with an error and left everything as it was."""

    passes: int = 0
    notes: int = 0
    lines: int = 0
    refused: int = 0
    failed: int = 0

    def counts(self) -> dict[str, int]:
        return asdict(self)


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
            counted = self._passes
            counted.passes += 1
            counted.notes += len({one.key for one in report.written})
            counted.lines += len(report.written)
            counted.refused += len(report.refused)
            counted.failed += bool(report.error)
