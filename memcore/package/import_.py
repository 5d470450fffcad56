"""A package into a store: all of it or nothing, and what is there already is left as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from memcore.conversation import Conversation
from memcore.errors import PackageRefused
from memcore.indexing import Index
from memcore.notes import Notes
from memcore.package.content import PACKAGE_IMPORTED, Counts, Package
from memcore.package.reading import read_package
from memcore.ports import Clock, Store, Transaction
from memcore.settings import Settings
from memcore.summary import Summaries
from memcore.types import Event, Message, Note, Owner

LISTED = 20
"""Conflicts that the error's message names; the error has all."""

_ALL = 2**62


class TakesIn(Protocol):
    """A memory, as far as an import needs it."""

    store: Store
    settings: Settings
    clock: Clock
    index: Index
    conversation: Conversation
    notes: Notes
    summaries: Summaries


@dataclass(frozen=True, slots=True)
class Imported:
    """Under whom the package was taken in, how much was new, and how much was there already."""

    owner: Owner
    counts: Counts
    skipped: Counts


def import_package(
    memory: TakesIn, package: str | Path | Package, owner: Owner | None = None
) -> Imported:
    """Takes a package in, in one transaction, under its own owner or the one given.

    What is there already and equal is skipped. Raises `NotFound` where there is no such file, and
    `PackageRefused` where it may not be taken in, with the `conflicts` where an item is there and
    is not as in the package, or was deleted; nothing is written then. Notes keep who wrote them
    and when; they and the messages are queued to be embedded.
    """
    if not isinstance(package, Package):
        package = read_package(package, memory.settings.note_size)
    owner = owner or package.owner
    with memory.store.transaction() as tx:
        new = _new(tx, owner, package)
        _write(memory, tx, owner, new)
    memory.index.keep_up(owner)
    return Imported(owner, new.counts, _less(package.counts, new.counts))


def _new(tx: Transaction, owner: Owner, package: Package) -> Package:
    """What of the package is not there yet. Raises `PackageRefused` for what is and differs."""
    conflicts: list[str] = []
    new = Package(
        owner,
        {
            key: revisions
            for key, revisions in package.histories.items()
            if _is_new(f"note {key}", revisions, _history(tx, owner, key), conflicts)
        },
        tuple(
            message
            for message in package.messages
            if _is_new(f"message {message.id}", message, _message(tx, owner, message), conflicts)
        ),
        tuple(
            one
            for one in package.summaries
            if _is_new(
                f"summary of {one.thread}", one, tx.state.summary(owner, one.thread), conflicts
            )
        ),
        _missing(package.events, tx.journal.events(owner, _ALL)),
        package.sha256,
    )
    if conflicts:
        more = f" and {len(conflicts) - LISTED} more" if len(conflicts) > LISTED else ""
        raise PackageRefused(
            f"{len(conflicts)} of the package's items are not as they are here, nothing was "
            f"written: {'; '.join(conflicts[:LISTED])}{more}",
            conflicts,
        )
    return new


def _is_new(name: str, given: object, stored: object, conflicts: list[str]) -> bool:
    if stored is None:
        return True
    if stored == ():
        conflicts.append(f"{name} was deleted here")
    elif stored != given:
        conflicts.append(f"{name} differs")
    return False


def _history(tx: Transaction, owner: Owner, key: str) -> tuple[Note, ...] | None:
    """The revisions of a note, oldest first; empty for one that was deleted."""
    if not tx.notes.last_revision(owner, key):
        return None
    return tuple(reversed(tx.notes.history(owner, key)))


def _message(tx: Transaction, owner: Owner, message: Message) -> Message | None:
    found = tx.messages.get(owner, [message.id])
    return replace(found[0], place=message.place) if found else None


def _missing(given: Iterable[Event], there: Iterable[Event]) -> tuple[Event, ...]:
    """The events that are not there as often as they are given; a journal's entries have no ids."""
    left = Counter(there)
    missing = []
    for event in given:
        if left[event]:
            left[event] -= 1
        else:
            missing.append(event)
    return tuple(missing)


def _write(memory: TakesIn, tx: Transaction, owner: Owner, new: Package) -> None:
    if new.counts == Counts():
        return
    for event in new.events:
        tx.journal.append(owner, event)
    for message in new.messages:
        memory.conversation.restore(tx, owner, message)
    for summary in new.summaries:
        memory.summaries.restore(tx, owner, summary)
    for revisions in new.histories.values():
        memory.notes.restore(tx, owner, revisions)
    detail = ", ".join(f"{count} {what}" for what, count in asdict(new.counts).items())
    now = memory.clock.now()
    tx.journal.append(owner, Event(now, "import", PACKAGE_IMPORTED, new.sha256, (), detail))


def _less(all_of_it: Counts, new: Counts) -> Counts:
    return Counts(*(of - one for of, one in zip(_numbers(all_of_it), _numbers(new), strict=True)))


def _numbers(counts: Counts) -> tuple[int, ...]:
    return tuple(asdict(counts).values())
