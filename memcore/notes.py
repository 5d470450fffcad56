"""Notes, and the one gate through which all of them are written.

Three writers and no fourth: `import`, `remember`, `curator`. The gate checks the size, scans for
secrets, and writes the note, its history, its journal entry and its place in the index queue in
one transaction; `Notes.restore` does so for the notes of a memory package, within its import's.
Nothing else may write to the notes table; a test reads the code for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import get_args

from memcore.errors import Conflict, InvalidInput, NoteTooLong, NotFound, StaleRevision
from memcore.indexing import Index
from memcore.ports import Clock, Store, Transaction
from memcore.screening import refuse_secrets
from memcore.settings import Settings
from memcore.text import clean, local_day
from memcore.types import PAGE, Draft, Event, Note, Owner, QueuedPassage, Writer

NOTE_IMPORTED = "note imported"
"""The action of the event that a restored note leaves."""

_APPENDS = 50
"""Tries to append to a note that others go on writing to; each writer that wins had one."""


class Notes:
    """The curated page and the dated notes of every owner, over one store.

    What a write leaves in the index queue is embedded after its commit, where there is an `index`.
    """

    def __init__(
        self, store: Store, settings: Settings, clock: Clock, index: Index | None = None
    ) -> None:
        self._store = store
        self._index = index
        self._settings = settings
        self._clock = clock

    def write(
        self,
        owner: Owner,
        key: str,
        text: str,
        *,
        writer: Writer,
        expected_revision: int,
        sources: Sequence[str] = (),
    ) -> Note:
        """Writes the page (`PAGE`) or the note of a day (`YYYY-MM-DD`); returns its new revision.

        `expected_revision` is the revision that the writer has read, 0 where there was none. The
        revisions of a key go on rising after a delete. Raises
        `NoteTooLong`, `SecretFound`, `StaleRevision` or `InvalidInput`; nothing is written then,
        and nothing is ever trimmed.
        """
        draft = Draft(key, text, expected_revision, tuple(sources))
        return self.write_together(owner, [draft], writer=writer)[0]

    def write_together(
        self,
        owner: Owner,
        drafts: Sequence[Draft],
        *,
        writer: Writer,
        also: Callable[[Transaction], None] | None = None,
    ) -> list[Note]:
        """Writes several notes as `write` does, all or none; returns them at their new revisions.

        `also` is called in the same transaction before anything is written: where it raises,
        nothing is. It may be called where there is no draft at all.
        """
        limit = self._settings.note_size
        ready = [replace(one, text=checked(one.key, one.text, writer, limit)) for one in drafts]
        now, written = self._clock.now(), []
        with self._store.transaction() as tx:
            if also is not None:
                also(tx)
            for draft in ready:
                current = tx.notes.get(owner, draft.key)
                revision = current.revision if current else 0
                if revision != draft.expected_revision:
                    raise StaleRevision(draft.key, draft.expected_revision, revision)
                newest = tx.notes.last_revision(owner, draft.key) + 1
                note = Note(draft.key, draft.text, newest, now, writer, draft.sources)
                detail = f"revision {newest}, {len(note.text)} characters"
                event = Event(now, writer, "note written", note.key, note.sources, detail)
                _put(tx, owner, [note], event)
                written.append(note)
        if written:
            self._keep_up(owner)
        return written

    def restore(self, tx: Transaction, owner: Owner, revisions: Sequence[Note]) -> None:
        """Writes a note of a memory package with its history, as a part of the caller's
        transaction: by whom and when it was written stays, the event says that it was imported.

        `revisions` are all of one key, oldest first. Raises what `write` does for each text, and
        `Conflict` where there is a note of that key or ever was; roll back then. Embed what was
        queued after the commit.
        """
        newest = revisions[-1]
        if tx.notes.last_revision(owner, newest.key):
            raise Conflict(f"there is a note {newest.key!r} of {owner}, or was")
        kept = [
            replace(one, text=checked(one.key, one.text, one.writer, self._settings.note_size))
            for one in revisions
        ]
        detail = f"revision {newest.revision}, {len(newest.text)} characters"
        now, actor = self._clock.now(), "import"
        event = Event(now, actor, NOTE_IMPORTED, newest.key, newest.sources, detail)
        _put(tx, owner, kept, event)

    def remember(
        self,
        owner: Owner,
        text: str,
        page: bool = False,
        *,
        expected_revision: int | None = None,
        sources: Sequence[str] = (),
    ) -> Note:
        """Appends a line to today's note, or rewrites the page; returns the note as it is now.

        Where another wrote to today's note in between, it is read again and the line appended to
        that; a line that stands in it already is not written twice. `expected_revision` is the one
        that a rewritten page was read at, the present one if not given. Raises what `write` raises,
        `StaleRevision` for the page alone.
        """
        if len(text) > self._settings.note_size:
            raise NoteTooLong(len(text), self._settings.note_size)
        refuse_secrets(text)  # first, so that its place is told in this text and not in the note's
        if page:
            if expected_revision is None:
                found = self.get(owner, PAGE)
                expected_revision = found.revision if found else 0
            return self.write(
                owner, PAGE, text, writer="remember",
                expected_revision=expected_revision, sources=sources,
            )  # fmt: skip
        line = clean(text).strip()
        for tried in range(1, _APPENDS + 1):
            key = self.today()
            found = self.get(owner, key)
            if found and line and f"\n{line}\n" in f"\n{found.text}\n":
                return found
            try:
                return self.write(
                    owner,
                    key,
                    f"{found.text.rstrip()}\n{line}" if found and line else line,
                    writer="remember",
                    expected_revision=found.revision if found else 0,
                    sources=tuple(dict.fromkeys([*(found.sources if found else ()), *sources])),
                )
            except StaleRevision:
                if tried == _APPENDS:
                    raise
        raise AssertionError("the last try returns or raises")

    def delete(self, owner: Owner, key: str, *, actor: str) -> None:
        """Removes a note, its earlier revisions and what is queued or indexed of it, at once.

        The journal keeps that it happened and who did it, not what it said. Raises `NotFound`.
        """
        with self._store.transaction() as tx:
            if not tx.notes.delete(owner, key):
                raise NotFound(f"there is no note {key!r} of {owner}")
            tx.queue.remove(owner, "note", key)
            tx.vectors.remove(owner, "note", key)
            tx.journal.append(owner, Event(self._clock.now(), actor, "note deleted", key))
        self._keep_up(owner)

    def get(self, owner: Owner, key: str) -> Note | None:
        """The newest revision of a note, None where there is none."""
        with self._store.reading() as parts:
            return parts.notes.get(owner, key)

    def all(self, owner: Owner) -> list[Note]:
        """The page first, then dated notes, newest day first."""
        with self._store.reading() as parts:
            return parts.notes.all(owner)

    def history(self, owner: Owner, key: str) -> list[Note]:
        """All revisions of a note, newest first; empty once it is deleted."""
        with self._store.reading() as parts:
            return parts.notes.history(owner, key)

    def today(self) -> str:
        """The key of today's dated note: the owner's local day."""
        return local_day(self._clock.now(), self._settings.zone).isoformat()

    def _keep_up(self, owner: Owner) -> None:
        if self._index is not None:
            self._index.keep_up(owner)


def checked(key: str, text: str, writer: str, limit: int) -> str:
    """A note's text as it may be stored; `limit` is in characters.

    Raises `NoteTooLong`, `SecretFound`, or `InvalidInput` for an empty text, a key that is neither
    `PAGE` nor a day, and an unknown writer.
    """
    if key != PAGE:
        try:
            valid = date.fromisoformat(key).isoformat() == key
        except ValueError:
            valid = False
        if not valid:
            raise InvalidInput(f"a note's key is {PAGE!r} or a day as YYYY-MM-DD, not {key!r}")
    if writer not in get_args(Writer):
        raise InvalidInput(
            f"{writer!r} is no writer of notes; there are {', '.join(get_args(Writer))}"
        )
    if not text.strip():
        raise InvalidInput(f"note {key!r} would be empty; delete it instead")
    if len(text) > limit:
        raise NoteTooLong(len(text), limit)
    refuse_secrets(text)
    return clean(text)


def _put(tx: Transaction, owner: Owner, revisions: Sequence[Note], event: Event) -> None:
    for note in revisions:
        tx.notes.put(owner, note)
    newest = revisions[-1]
    tx.queue.add(owner, QueuedPassage("note", newest.key, newest.revision))
    tx.journal.append(owner, event)
