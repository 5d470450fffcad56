"""Messages and the inverted index of their stems."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from memcore.errors import Conflict
from memcore.stores.sqlite.owners import Owners
from memcore.stores.sqlite.statements import statements, to_microseconds, to_time
from memcore.types import LENGTH_BITS, LONGEST, Located, Matches, Message, Owner

_SQL = statements("messages")
_LAST = 2**63 - 1


class SqliteMessages:
    def __init__(self, connection: sqlite3.Connection, owners: Owners) -> None:
        self._connection = connection
        self._owners = owners

    def append(self, owner: Owner, message: Message, stems: Sequence[str]) -> Message:
        run, key, time = self._connection.execute, self._owners.ensure(owner), message.time
        moment = to_microseconds(time)
        newest = run(_SQL["newest"], (key, message.thread)).fetchone()
        if newest is None:
            place = 0
        elif (newest[0], newest[1]) < (moment, message.id):
            place = newest[2] + 1
        else:
            earlier = (key, message.thread, moment, message.id)
            place = run(_SQL["earlier"], earlier).fetchone()[0]
        last = run(_SQL["last_number"]).fetchone()[0] or 0
        number = ((last >> LENGTH_BITS) + 1) << LENGTH_BITS | min(len(stems), LONGEST)
        row = {
            "number": number,
            "owner": key,
            "thread": message.thread,
            "id": message.id,
            "role": message.role,
            "speaker": message.speaker,
            "time": moment,
            "place": place,
            "size": len(message.text),
            "text": message.text,
        }
        try:
            run(_SQL["insert"], row)
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise
            raise Conflict(f"message {message.id!r} is stored already") from error
        if newest is not None and place <= newest[2]:
            run(_SQL["shift"], (key, message.thread, place, number))
        run(_SQL["index"], (number, " ".join(f"{key}x{stem}" for stem in stems)))
        run(_SQL["count"], (min(len(stems), LONGEST), key))
        return _message(
            (message.id, message.thread, message.role, message.speaker, moment, message.text, place)
        )

    def get(self, owner: Owner, ids: Sequence[str]) -> list[Message]:
        key = self._owners.find(owner)
        rows = (self._connection.execute(_SQL["get"], (key, id)).fetchone() for id in ids)
        return [_message(row) for row in rows if row]

    def ids(self, owner: Owner, after: str, limit: int) -> list[str]:
        asked = (self._owners.find(owner), after, max(limit, 0))
        return [row[0] for row in self._connection.execute(_SQL["ids"], asked)]

    def recent(
        self, owner: Owner, thread: str, limit: int, before: int | None = None
    ) -> list[Message]:
        edge = _LAST if before is None else before
        key = self._owners.find(owner)
        rows = self._connection.execute(_SQL["recent"], (key, thread, edge, max(limit, 0)))
        return [_message(row) for row in rows]

    def span(self, owner: Owner, thread: str, first: int, last: int) -> list[Message]:
        key = self._owners.find(owner)
        rows = self._connection.execute(_SQL["span"], (key, thread, first, last))
        return [_message(row) for row in rows]

    def place_of(self, owner: Owner, thread: str, id: str) -> int | None:
        key = self._owners.find(owner)
        row = self._connection.execute(_SQL["place_of"], (key, id, thread)).fetchone()
        return None if row is None else int(row[0])

    def matches(self, owner: Owner, stems: Sequence[str]) -> Matches:
        key = self._owners.find(owner)
        if key is None:
            return Matches(0, 0.0, {stem: {} for stem in stems})
        documents, total = self._connection.execute(_SQL["totals"], (key,)).fetchone()
        postings = {}
        for stem in stems:
            rows = self._connection.execute(_SQL["postings"], (f"{key}x{stem}",)).fetchall()
            once = dict.fromkeys(chain.from_iterable(rows), 1)
            postings[stem] = once if len(once) == len(rows) else Counter(chain.from_iterable(rows))
        return Matches(documents, total / documents if documents else 0.0, postings)

    def located(self, owner: Owner, numbers: Sequence[int]) -> list[Located]:
        asked = (json.dumps(list(numbers)), self._owners.find(owner))
        return list(map(Located._make, self._connection.execute(_SQL["located"], asked)))

    def located_by_id(self, owner: Owner, ids: Sequence[str]) -> list[Located]:
        asked = (json.dumps(list(set(ids))), self._owners.find(owner))
        return list(map(Located._make, self._connection.execute(_SQL["located_by_id"], asked)))


def _message(row: tuple[str, str, str, str, int, str, int]) -> Message:
    id, thread, role, speaker, time, text, place = row
    return Message(id, thread, role, speaker, to_time(time), text, place)  # type: ignore[arg-type]
