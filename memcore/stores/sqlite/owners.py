"""The number that stands for an owner in every other table."""

from __future__ import annotations

import sqlite3

from memcore.stores.sqlite.statements import statements
from memcore.types import Owner

_SQL = statements("records")


class Owners:
    """Looks owners up over one connection, and remembers those it has seen committed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[Owner, int] = {}

    def find(self, owner: Owner) -> int | None:
        """The owner's number, None where nothing was ever stored under it."""
        key = self._known.get(owner)
        if key is None:
            names = (owner.team, owner.agent, owner.person)
            row = self._connection.execute(_SQL["owner_key"], names).fetchone()
            if row is None:
                return None
            key = self._known[owner] = row[0]
        return key

    def ensure(self, owner: Owner) -> int:
        """The owner's number, new where needed. Call it in a transaction."""
        key = self.find(owner)
        if key is None:
            names = (owner.team, owner.agent, owner.person)
            cursor = self._connection.execute(_SQL["new_owner"], names)
            key = self._known[owner] = int(cursor.lastrowid or 0)
        return key

    def forget(self) -> None:
        """Drops what is remembered; for a transaction that was rolled back."""
        self._known.clear()
