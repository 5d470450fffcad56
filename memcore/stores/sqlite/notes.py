"""Notes with their revisions."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from memcore.stores.sqlite.owners import Owners
from memcore.stores.sqlite.statements import statements, to_microseconds, to_time
from memcore.types import Note, Owner

_SQL = statements("notes")


class SqliteNotes:
    def __init__(self, connection: sqlite3.Connection, owners: Owners) -> None:
        self._connection = connection
        self._owners = owners

    def get(self, owner: Owner, key: str) -> Note | None:
        found = (self._owners.find(owner), key)
        row = self._connection.execute(_SQL["get"], found).fetchone()
        return _note(row) if row else None

    def all(self, owner: Owner) -> list[Note]:
        rows = self._connection.execute(_SQL["all"], (self._owners.find(owner),))
        return [_note(row) for row in rows]

    def index(self, owner: Owner) -> list[tuple[str, int]]:
        return self._connection.execute(_SQL["index"], (self._owners.find(owner),)).fetchall()

    def history(self, owner: Owner, key: str) -> list[Note]:
        rows = self._connection.execute(_SQL["history"], (self._owners.find(owner), key))
        return [_note(row) for row in rows]

    def last_revision(self, owner: Owner, key: str) -> int:
        found = (self._owners.find(owner), key)
        row = self._connection.execute(_SQL["last_revision"], found).fetchone()
        return int(row[0]) if row else 0

    def put(self, owner: Owner, note: Note) -> None:
        row = (
            self._owners.ensure(owner),
            note.key,
            note.text,
            note.revision,
            to_microseconds(note.written),
            note.writer,
            json.dumps(note.sources),
        )
        self._connection.execute(_SQL["put"], row)
        head = (row[0], note.key, note.revision, len(note.text))
        self._connection.execute(_SQL["put_head"], head)

    def delete(self, owner: Owner, key: str) -> bool:
        found = (self._owners.find(owner), key)
        self._connection.execute(_SQL["delete_head"], found)
        return self._connection.execute(_SQL["delete"], found).rowcount > 0


def _note(row: tuple[Any, ...]) -> Note:
    key, text, revision, written, writer, sources = row
    return Note(key, text, revision, to_time(written), writer, tuple(json.loads(sources)))
