"""What a package holds, as records, and the events that belong to a store and not to the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memcore.notes import NOTE_IMPORTED
from memcore.types import Event, Message, Note, Owner, Summary

PACKAGE_IMPORTED = "package imported"
"""The action of the event that an import leaves."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each; `revisions` are those of all notes together, the newest included."""

    notes: int = 0
    revisions: int = 0
    messages: int = 0
    summaries: int = 0
    events: int = 0


@dataclass(frozen=True, slots=True)
class Package:
    """All of one owner's memory. `histories` are the notes by key, each with its revisions, oldest
    first; messages are by thread, time, id, summaries by thread, events oldest first. `sha256` is
    that of the file, empty where there is none."""

    owner: Owner
    histories: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    summaries: tuple[Summary, ...] = ()
    events: tuple[Event, ...] = ()
    sha256: str = ""

    @property
    def counts(self) -> Counts:
        return Counts(
            len(self.histories),
            sum(map(len, self.histories.values())),
            len(self.messages),
            len(self.summaries),
            len(self.events),
        )


def of_the_store(event: Event) -> bool:
    """Whether an event tells of an import into this store: such ones are in no package, so that a
    package taken in and made again is the same."""
    return event.actor == "import" and event.action in (NOTE_IMPORTED, PACKAGE_IMPORTED)
