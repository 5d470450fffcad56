"""Connections, transactions, migrations, and the one place where driver errors are translated."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memcore.errors import (
    InvalidInput,
    LayerTimeout,
    NewerSchema,
    StoreBusy,
    StoreDamaged,
    StoreError,
)
from memcore.stores.sqlite.messages import SqliteMessages
from memcore.stores.sqlite.notes import SqliteNotes
from memcore.stores.sqlite.owners import Owners
from memcore.stores.sqlite.records import SqliteJournal, SqliteQueue, SqliteState
from memcore.stores.sqlite.statements import migrations, statements
from memcore.stores.sqlite.vectors import Mirrors, SqliteVectors
from memcore.types import Owner

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_STEPS = 20_000
"""Steps of SQLite's machine (well under a millisecond) between two looks at the clock."""


class Parts:
    """The parts of the store over one connection."""

    def __init__(self, connection: sqlite3.Connection, mirrors: Mirrors) -> None:
        self.connection = connection
        self.owners = Owners(connection)
        self.messages = SqliteMessages(connection, self.owners)
        self.notes = SqliteNotes(connection, self.owners)
        self.journal = SqliteJournal(connection, self.owners)
        self.queue = SqliteQueue(connection, self.owners)
        self.vectors = SqliteVectors(connection, self.owners, mirrors)
        self.state = SqliteState(connection, self.owners)
        self.deadline = _Deadline()
        connection.set_progress_handler(self.deadline.is_over, _STEPS)


class _Deadline:
    """When the statement that runs has to end. Apart from `Parts`, which the connection would
    otherwise keep alive for ever."""

    def __init__(self) -> None:
        self._moment = math.inf

    def is_over(self) -> bool:
        return time.monotonic() > self._moment

    @contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """Raises `LayerTimeout` for a statement that runs past `seconds` from now."""
        earlier = self._moment
        if seconds is not None:
            self._moment = min(earlier, time.monotonic() + seconds)
        try:
            yield
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                raise LayerTimeout(f"no answer within {seconds or 0:g} seconds") from error
            raise
        finally:
            self._moment = earlier


class SqliteStore:
    """A store in one file, with a connection a thread; several processes may use it at once.

    `durable` waits for the disk at each commit (`synchronous=FULL`); without it a commit survives
    the death of the process but not a power cut. `busy_seconds` is how long to wait for another
    process. Raises `StoreDamaged` where the file is not a store, `NewerSchema` where a newer
    version wrote it, `StoreBusy` where another process holds it.
    """

    def __init__(self, path: str | Path, durable: bool = True, busy_seconds: float = 30.0) -> None:
        self._path = Path(path)
        self._durable = durable
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: weakref.WeakSet[Parts] = weakref.WeakSet()
        self._mirrors = Mirrors()
        self._closed = False
        self._users: Counter[int] = Counter()  # by thread: transactions and readings under way
        self._left = threading.Condition()
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[Parts]:
        with self._use() as parts, self._translated():
            if parts.connection.in_transaction:
                raise StoreError("a transaction is open already in this thread")
            parts.connection.execute("BEGIN IMMEDIATE")
            try:
                yield parts
                parts.connection.execute("COMMIT")
            except BaseException:
                if parts.connection.in_transaction:
                    parts.connection.execute("ROLLBACK")
                parts.owners.forget()
                raise
            finally:
                parts.vectors.settle()

    keeps_time = True

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[Parts]:
        """One snapshot for reading. A statement that runs past `seconds` is interrupted; a disk
        that does not answer is not."""
        with self._use() as parts, self._translated(), parts.deadline.within(seconds):
            if parts.connection.in_transaction:  # what is read belongs together already
                yield parts
                return
            parts.connection.execute("BEGIN")
            try:
                yield parts
            finally:
                if parts.connection.in_transaction:
                    parts.connection.execute("ROLLBACK")
                parts.vectors.settle()

    def owners(self) -> list[Owner]:
        with self.reading() as parts:
            rows = parts.connection.execute(statements("records")["owners"])
            return [Owner(*row) for row in rows]

    def close(self) -> None:
        """Ends the store's use; later calls raise `StoreError`.

        Waits for what other threads have under way, `busy_seconds` at most: a connection must not
        be closed under a statement that runs.
        """
        me = threading.get_ident()
        with self._left:
            self._closed = True
            if not self._left.wait_for(lambda: not self._users.keys() - {me}, self._busy_seconds):
                return
        with self._lock:
            for parts in list(self._open):
                parts.connection.close()

    @contextmanager
    def _use(self) -> Iterator[Parts]:
        parts, thread = self._parts(), threading.get_ident()
        with self._left:
            if self._closed:
                raise StoreError(f"the store {self._path} is closed")
            self._users[thread] += 1
        try:
            yield parts
        finally:
            with self._left:
                self._users[thread] -= 1
                if not self._users[thread]:
                    del self._users[thread]
                    self._left.notify_all()

    def _parts(self) -> Parts:
        parts: Parts | None = getattr(self._local, "parts", None)
        if parts is None:
            with self._lock:
                if self._closed:
                    raise StoreError(f"the store {self._path} is closed")
                parts = Parts(self._connect(), self._mirrors)
                weakref.finalize(parts, parts.connection.close)  # when its thread is gone
                self._open.add(parts)
            self._local.parts = parts
        return parts

    def _connect(self) -> sqlite3.Connection:
        with self._translated():
            connection = sqlite3.connect(
                self._path,
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
            try:
                self._refuse_strangers(connection)
                connection.execute("PRAGMA journal_mode = WAL")
                level = "FULL" if self._durable else "NORMAL"
                connection.execute(f"PRAGMA synchronous = {level}")
                connection.execute("PRAGMA foreign_keys = ON")
            except BaseException:
                connection.close()
                raise
            return connection

    def _refuse_strangers(self, connection: sqlite3.Connection) -> None:
        """Raises, before anything is written, where this version does not know the file."""
        newest = migrations()[-1][0]
        connection.execute("BEGIN")  # both readings of one state, while others may be migrating
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        strange = found == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        connection.execute("ROLLBACK")
        if found > newest:
            raise NewerSchema(
                f"{self._path} has schema {found}, this version knows up to {newest}: "
                "upgrade Mnemoscope"
            )
        if strange:
            raise StoreDamaged(f"{self._path} is a database of something else")

    def _migrate(self) -> None:
        parts = self._parts()
        with self._translated():
            newest = migrations()[-1][0]
            if parts.connection.execute("PRAGMA user_version").fetchone()[0] == newest:
                return
            parts.connection.execute("BEGIN IMMEDIATE")
            try:
                found = parts.connection.execute("PRAGMA user_version").fetchone()[0]
                for number, script in migrations():
                    if number > found:
                        for statement in _split(script):
                            parts.connection.execute(statement)
                parts.connection.execute(f"PRAGMA user_version = {newest:d}")
                parts.connection.execute("COMMIT")
            except BaseException:
                if parts.connection.in_transaction:
                    parts.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            raise InvalidInput(f"a lone surrogate cannot be stored: {error.object!a}") from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
            if code in _BUSY:
                raise StoreBusy(
                    f"{self._path} was locked by another process for {self._busy_seconds:g} seconds"
                ) from error
            kind = StoreDamaged if code in _DAMAGED else StoreError
            raise kind(f"{self._path}: {error}") from error


def _split(script: str) -> Iterator[str]:
    """The single statements of a script; `executescript` would commit the open transaction."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
