"""A package as records, every one of them checked, before any store is asked."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from memcore import conversation, notes, summary
from memcore.errors import InvalidInput, PackageRefused
from memcore.package.archive import read_members
from memcore.package.content import Counts, Package, of_the_store
from memcore.package.format import (
    FORMAT,
    JOURNAL,
    LINE_BYTES,
    MANIFEST,
    MESSAGES,
    NOTES,
    RESERVED,
    ROWS,
    SUMMARIES,
    EventRow,
    Manifest,
    ManifestHead,
    MessageRow,
    NoteRow,
    SummaryRow,
    fault,
)
from memcore.screening import refuse_secrets
from memcore.types import Event, Message, Note, Summary

AnyRow = TypeVar("AnyRow", bound=BaseModel)
T = TypeVar("T")


def read_package(path: str | Path, note_size: int) -> Package:
    """The content of a package file; `note_size` is how many characters a note may have.

    Raises `NotFound` where there is no file, and `PackageRefused` with the member and line where
    anything in it may not be stored.
    """
    members, sha256 = read_members(Path(path))
    manifest = _manifest(members.pop(MANIFEST))
    _check_sums(manifest, members)
    for name in RESERVED:
        if members.get(name):
            raise PackageRefused(f"{name} is not empty, and format {FORMAT} cannot take it in")
    package = Package(
        manifest.owner.owner(),
        _notes(members.get(NOTES, b""), note_size),
        _messages(members.get(MESSAGES, b"")),
        _summaries(members.get(SUMMARIES, b"")),
        _events(members.get(JOURNAL, b"")),
        sha256,
    )
    if package.counts != Counts(**manifest.counts.model_dump()):
        raise PackageRefused(
            f"the package is damaged: {MANIFEST} counts {manifest.counts}, there are "
            + ", ".join(f"{count} {what}" for what, count in asdict(package.counts).items())
        )
    return package


def _manifest(data: bytes) -> Manifest:
    try:
        data.decode()
        head = ManifestHead.model_validate_json(data)
        if head.format > FORMAT:
            raise PackageRefused(
                f"the package has format {head.format}, this version reads up to {FORMAT}: "
                "upgrade Mnemoscope"
            )
        return Manifest.model_validate_json(data)
    except UnicodeDecodeError as error:
        raise PackageRefused(f"{MANIFEST} is not UTF-8") from error
    except ValidationError as error:
        raise PackageRefused(f"{MANIFEST}: {fault(error)}") from error


def _check_sums(manifest: Manifest, members: dict[str, bytes]) -> None:
    if missing := sorted(manifest.members.keys() ^ members.keys()):
        raise PackageRefused(
            f"the package is damaged: {missing[0][:80]!a} is in one of {MANIFEST} and the zip alone"
        )
    for name, data in members.items():
        told = manifest.members[name]
        if len(data) != told.bytes or hashlib.sha256(data).hexdigest() != told.sha256:
            raise PackageRefused(f"the package is damaged: {name} is not what {MANIFEST} says")


def _notes(data: bytes, size: int) -> dict[str, tuple[Note, ...]]:
    found: dict[str, dict[int, Note]] = {}
    for where, row in _rows(NOTES, data, NoteRow):
        with _at(where):
            notes.checked(row.key, row.text, row.writer, size)
        revisions = found.setdefault(row.key, {})
        if row.revision in revisions:
            raise PackageRefused(
                f"{where}: two notes of {row.key}, both of revision {row.revision}"
            )
        revisions[row.revision] = row.note()
    return {
        key: tuple(one for _, one in sorted(revisions.items()))
        for key, revisions in sorted(found.items())
    }


def _messages(data: bytes) -> tuple[Message, ...]:
    found = _unlike(
        MESSAGES,
        data,
        MessageRow,
        lambda row: conversation.checked(row.message()),
        lambda one: one.id,
        "two messages of id",
    )
    return tuple(sorted(found, key=lambda one: (one.thread, one.time, one.id)))


def _summaries(data: bytes) -> tuple[Summary, ...]:
    found = _unlike(
        SUMMARIES,
        data,
        SummaryRow,
        lambda row: summary.checked(row.summary()),
        lambda one: one.thread,
        "two summaries of thread",
    )
    return tuple(sorted(found, key=lambda one: one.thread))


def _events(data: bytes) -> tuple[Event, ...]:
    found = []
    for where, row in _rows(JOURNAL, data, EventRow):
        event = row.event()
        with _at(where):
            for field in ("actor", "action", "subject", "detail"):
                refuse_secrets(getattr(event, field), field)
        if of_the_store(event):
            raise PackageRefused(f"{where}: {event.action!r} is the event of an import itself")
        found.append(event)
    return tuple(found)


def _unlike(
    name: str,
    data: bytes,
    model: type[AnyRow],
    record: Callable[[AnyRow], T],
    key: Callable[[T], str],
    twice: str,
) -> list[T]:
    """The records of a member, no two of one key."""
    found: dict[str, T] = {}
    for where, row in _rows(name, data, model):
        with _at(where):
            one = record(row)
        if key(one) in found:
            raise PackageRefused(f"{where}: {twice} {key(one)[:80]!a}")
        found[key(one)] = one
    return list(found.values())


def _rows(name: str, data: bytes, model: type[AnyRow]) -> Iterator[tuple[str, AnyRow]]:
    """Each line's place, for messages, and its record."""
    stream, number = io.BytesIO(data), 0
    while line := stream.readline(LINE_BYTES + 1):
        number += 1
        where = f"{name} line {number}"
        if len(line) > LINE_BYTES:
            raise PackageRefused(f"{where} has more than {LINE_BYTES} bytes")
        if number > ROWS:
            raise PackageRefused(f"{name} has more than {ROWS} lines")
        try:
            line.decode()
            row = model.model_validate_json(line)
        except UnicodeDecodeError as error:
            raise PackageRefused(f"{where} is not UTF-8") from error
        except ValidationError as error:
            raise PackageRefused(f"{where}: {fault(error)}") from error
        yield where, row


@contextmanager
def _at(where: str) -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        raise PackageRefused(f"{where}: {error}") from error
