"""The journal, the index queue, and the small records that are overwritten."""

from __future__ import annotations

import json
import sqlite3

from memcore.stores.sqlite.owners import Owners
from memcore.stores.sqlite.statements import statements, to_microseconds, to_time
from memcore.types import Cursor, Event, Owner, QueuedPassage, Summary, Unread

_SQL = statements("records")
_ANY = 2**63 - 1


class _Part:
    def __init__(self, connection: sqlite3.Connection, owners: Owners) -> None:
        self._connection = connection
        self._owners = owners


class SqliteJournal(_Part):
    def append(self, owner: Owner, event: Event) -> None:
        row = (
            self._owners.ensure(owner),
            to_microseconds(event.time),
            event.actor,
            event.action,
            event.subject,
            json.dumps(event.sources),
            event.detail,
        )
        self._connection.execute(_SQL["journal_append"], row)

    def events(self, owner: Owner, limit: int) -> list[Event]:
        found = (self._owners.find(owner), max(limit, 0))
        return [
            Event(to_time(time), actor, action, subject, tuple(json.loads(sources)), detail)
            for time, actor, action, subject, sources, detail in self._connection.execute(
                _SQL["journal_events"], found
            )
        ]


class SqliteQueue(_Part):
    def add(self, owner: Owner, passage: QueuedPassage) -> None:
        kind, item, revision = passage.kind, passage.item, passage.revision
        row = (self._owners.ensure(owner), kind, item, revision, passage.attempts, passage.error)
        self._connection.execute(_SQL["queue_add"], row)

    def remove(self, owner: Owner, kind: str, item: str, revision: int | None = None) -> bool:
        found: tuple[object, ...] = (self._owners.find(owner), kind, item)
        if revision is None:
            return self._connection.execute(_SQL["queue_remove"], found).rowcount > 0
        return self._connection.execute(_SQL["queue_done"], (*found, revision)).rowcount > 0

    def refused(self, owner: Owner, passage: QueuedPassage, error: str) -> None:
        found = (self._owners.find(owner), passage.kind, passage.item, passage.revision)
        self._connection.execute(_SQL["queue_refused"], (error, *found))

    def waiting(self, owner: Owner, limit: int, attempts: int | None = None) -> list[QueuedPassage]:
        fewer = _ANY if attempts is None else attempts
        found = (self._owners.find(owner), fewer, max(limit, 0))
        rows = self._connection.execute(_SQL["queue_waiting"], found)
        return [QueuedPassage(*row) for row in rows]

    def count(self, owner: Owner) -> int:
        found = (self._owners.find(owner),)
        return int(self._connection.execute(_SQL["queue_count"], found).fetchone()[0])


class SqliteState(_Part):
    def summary(self, owner: Owner, thread: str) -> Summary | None:
        found = (self._owners.find(owner), thread)
        row = self._connection.execute(_SQL["summary"], found).fetchone()
        return None if row is None else _summary(row)

    def summaries(self, owner: Owner) -> list[Summary]:
        found = (self._owners.find(owner),)
        return [_summary(row) for row in self._connection.execute(_SQL["summaries"], found)]

    def put_summary(self, owner: Owner, summary: Summary) -> None:
        row = (
            self._owners.ensure(owner),
            summary.thread,
            summary.text,
            to_microseconds(summary.written),
            json.dumps(summary.sources),
        )
        self._connection.execute(_SQL["put_summary"], row)

    def remove_summary(self, owner: Owner, thread: str) -> None:
        found = (self._owners.find(owner), thread)
        self._connection.execute(_SQL["remove_summary"], found)

    def cursor(self, owner: Owner, thread: str, reader: str) -> Cursor | None:
        found = (self._owners.find(owner), thread, reader)
        row = self._connection.execute(_SQL["cursor"], found).fetchone()
        return None if row is None else Cursor(to_time(row[0]), row[1])

    def advance(
        self, owner: Owner, thread: str, reader: str, expected: Cursor | None, cursor: Cursor
    ) -> bool:
        where = (self._owners.ensure(owner), thread, reader)
        row = (to_microseconds(cursor.time), cursor.message, *where)
        if expected is None:
            return self._connection.execute(_SQL["first_cursor"], row).rowcount > 0
        moved = (*row, to_microseconds(expected.time), expected.message)
        return self._connection.execute(_SQL["move_cursor"], moved).rowcount > 0

    def unread(self, owner: Owner, thread: str, reader: str) -> list[Unread]:
        found = {"owner": self._owners.find(owner), "thread": thread, "reader": reader}
        return list(map(Unread._make, self._connection.execute(_SQL["unread"], found)))

    def learnt(self, owner: Owner, provider: str) -> bytes | None:
        found = (self._owners.find(owner), provider)
        row = self._connection.execute(_SQL["learnt"], found).fetchone()
        return None if row is None else bytes(row[0])

    def put_learnt(self, owner: Owner, provider: str, learnt: bytes) -> None:
        row = (self._owners.ensure(owner), provider, learnt)
        self._connection.execute(_SQL["put_learnt"], row)


def _summary(row: tuple[str, str, int, str]) -> Summary:
    thread, text, written, sources = row
    return Summary(thread, text, to_time(written), tuple(json.loads(sources)))
