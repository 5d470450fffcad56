"""Everything of one owner into a package file."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Protocol

from memcore.errors import InvalidInput, NotFound, PackageRefused
from memcore.package import format
from memcore.package.archive import write_members
from memcore.package.content import Counts, Package, of_the_store
from memcore.package.reading import read_package
from memcore.ports import Store, Transaction
from memcore.types import Message, Owner

_ALL = 2**62
_PAGE = 1_000


class HasStore(Protocol):
    """A memory, as far as an export needs it."""

    store: Store


_ZIP = b"PK\x03\x04"
"""What a package begins with."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and the SHA-256 of the file."""

    counts: Counts
    sha256: str


def export_package(
    memory: HasStore, owner: Owner, path: str | Path, *, force: bool = False
) -> Exported:
    """Writes an owner's notes with their history, messages, summaries and journal to a file.

    The same memory gives the same bytes. The file appears whole or not at all, readable for nobody
    else; one that is there is replaced with `force` alone. Raises `NotFound` where nothing is
    stored under the owner, `InvalidInput` where the file is there or cannot be written, and
    `PackageRefused` where the memory holds what an import would refuse.
    """
    target = Path(path)
    if os.path.lexists(target):
        if not force:
            raise _there_already(target)
        _check_replaceable(target)
    content = _content(memory.store, owner)
    with _placed(target, force) as file:
        write_members(file, _members(content))
        file.flush()
        try:
            written = read_package(file.name, note_size=format.LINE_BYTES)
        except PackageRefused as error:
            raise PackageRefused(f"{owner} cannot be packed: {error}") from error
        os.fsync(file.fileno())
    return Exported(written.counts, written.sha256)


def _content(store: Store, owner: Owner) -> Package:
    with store.reading() as parts:
        if owner not in store.owners():
            raise NotFound(f"nothing is stored under {owner}")
        keys = sorted(key for key, _ in parts.notes.index(owner))
        return Package(
            owner,
            {key: tuple(reversed(parts.notes.history(owner, key))) for key in keys},
            tuple(sorted(_messages(parts, owner), key=lambda one: (one.thread, one.time, one.id))),
            tuple(sorted(parts.state.summaries(owner), key=lambda one: one.thread)),
            tuple(
                event
                for event in reversed(parts.journal.events(owner, _ALL))
                if not of_the_store(event)
            ),
        )


def _messages(parts: Transaction, owner: Owner) -> Iterator[Message]:
    after = ""
    while ids := parts.messages.ids(owner, after, _PAGE):
        yield from parts.messages.get(owner, ids)
        after = ids[-1]


def _members(content: Package) -> dict[str, bytes]:
    members = {
        format.JOURNAL: format.lines(content.events),
        format.MESSAGES: format.lines(content.messages),
        format.NOTES: format.lines(note for notes in content.histories.values() for note in notes),
        format.SUMMARIES: format.lines(content.summaries),
    }
    sums = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
    }
    manifest = format.manifest(content.owner, asdict(content.counts), sums)
    return {format.MANIFEST: manifest, **members}


@contextmanager
def _placed(target: Path, force: bool) -> Iterator[IO[bytes]]:
    """A file beside the target that takes its place once the block has ended well."""
    try:
        file = tempfile.NamedTemporaryFile(  # noqa: SIM115 (it outlives the handle)
            prefix=f".{target.name[:50]}.", suffix=".part", dir=target.parent, delete=False
        )
        try:
            with file:
                yield file
            if force:
                os.replace(file.name, target)
            else:
                _take_place(file.name, target)
        finally:
            Path(file.name).unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror or error}") from error


def _take_place(name: str, target: Path) -> None:
    """Gives the file the target's name, unless another has it by now."""
    try:
        os.link(name, target)
    except FileExistsError as error:
        raise _there_already(target) from error
    except OSError as error:  # a file system without links
        if os.path.lexists(target):
            raise _there_already(target) from error
        os.replace(name, target)


def _check_replaceable(target: Path) -> None:
    """Refuses to replace what is no package: a store, say, named twice by mistake."""
    try:
        with target.open("rb") as file:
            begins = file.read(len(_ZIP))
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror or error}") from error
    if begins not in (b"", _ZIP):
        raise InvalidInput(
            f"{target} is no package and is not replaced; give another name, or delete it first"
        )


def _there_already(target: Path) -> InvalidInput:
    return InvalidInput(f"{target} is there already; it is replaced only where you force it")
