"""What providers answered, kept on disk: the same text is asked for once on a machine.

One SQLite file in WAL mode, for any number of processes and threads. It holds no text: a vector,
float32 little-endian, stands under the provider's identity, the role and the SHA-256 of the text.
Errors are never kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from memcore.embedders.checked import prepared
from memcore.errors import ProviderAnswer
from memcore.matrix import TOLERANCE, pack, unpack
from memcore.ports import Embedder
from memcore.types import EmbedRole, Matrix, ProviderIdentity

FILE = "embeddings.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS widths (
    provider TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL, width INTEGER NOT NULL,
    PRIMARY KEY (provider, model, revision)
);
CREATE TABLE IF NOT EXISTS identities (
    id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL,
    width INTEGER NOT NULL, UNIQUE (provider, model, revision, width)
);
CREATE TABLE IF NOT EXISTS vectors (
    identity INTEGER NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (identity, role, text)
);
"""
_WIDTH = "SELECT width FROM widths WHERE provider = ? AND model = ? AND revision = ?"
_PUT_WIDTH = "INSERT OR REPLACE INTO widths VALUES (?, ?, ?, ?)"
_DROP_WIDTH = "DELETE FROM widths WHERE provider = ? AND model = ? AND revision = ?"
_IDENTITY = (
    "SELECT id FROM identities WHERE provider = ? AND model = ? AND revision = ? AND width = ?"
)
_PUT_IDENTITY = (
    "INSERT OR IGNORE INTO identities (provider, model, revision, width) VALUES (?, ?, ?, ?)"
)
_VECTORS = (
    "SELECT text, vector FROM vectors WHERE identity = ? AND role = ? "
    "AND text IN (SELECT value FROM json_each(?))"
)
_PUT_VECTOR = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)"
_DROP_TEXTS = "DELETE FROM vectors WHERE text IN (SELECT value FROM json_each(?))"

_BROKEN = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
T = TypeVar("T")


@runtime_checkable
class _LateWidth(Protocol):
    """An embedder that must ask or load something before it knows its width."""

    @property
    def known_as(self) -> tuple[str, str, str]: ...
    def expect(self, width: int) -> None: ...


class CachedEmbedder:
    """An embedder that asks another one only for what is not in its file.

    `calls` counts how often the other one was asked, its width included, `hits` the texts that came
    from the file. A file that is broken or held by another process is passed by, and `problem` says
    so; it is empty while all is well.
    """

    def __init__(self, embedder: Embedder, path: Path, patience: float = 1.0) -> None:
        """`path` is the file, made where there is none; `patience` in seconds is how long another
        process may hold it."""
        self.embedder = embedder
        self.calls = 0
        self.hits = 0
        self._identity: ProviderIdentity | None = None
        self._file = _File(path, patience)

    @property
    def problem(self) -> str:
        """Why the file was not used last time, empty where it was."""
        return self._file.problem

    @property
    def identity(self) -> ProviderIdentity:
        """The other embedder's. What it had to ask for, it has to ask for once on a machine."""
        if self._identity is None:
            self._identity = self._found_identity()
        return self._identity

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        """The vectors of the texts, `[n, width]`; what is not in the file is asked for in one call,
        each text once. Raises what the other embedder raises."""
        ready = prepared(texts)
        identity = self.identity
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in ready]
        found = self._file.vectors(identity, role, keys)
        missing: dict[str, int] = {}
        for position, key in enumerate(keys):
            if key not in found:
                missing.setdefault(key, position)
        self.hits += sum(key in found for key in keys)
        if missing:
            found |= self._asked(ready, list(missing.values()), list(missing), role)
        rows = np.empty((len(keys), identity.width), np.float32)
        for row, key in zip(rows, keys, strict=True):
            row[:] = found[key]
        return rows

    def forget(self, texts: Sequence[str]) -> int:
        """Takes the vectors of these texts out of the file, whoever made them; returns how many.

        Raises `OSError` where the file cannot be written, so that nobody believes it was done.
        """
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in prepared(texts)]
        return self._file.forget(keys)

    def _asked(
        self, texts: list[str], positions: list[int], keys: list[str], role: EmbedRole
    ) -> dict[str, Matrix]:
        identity = self.identity
        self.calls += 1
        try:
            vectors = self.embedder.embed([texts[position] for position in positions], role)
        except ProviderAnswer as error:
            if error.refused:
                refused = [positions[place] for place in error.refused]
                told = {texts[position] for position in refused}
                every = [place for place, text in enumerate(texts) if text in told]
                raise ProviderAnswer(str(error), every) from error
            if isinstance(self.embedder, _LateWidth):
                # It may be another model by now: the next process has to find out again.
                self._file.forget_width(self.embedder.known_as)
            raise
        answered = dict(zip(keys, vectors, strict=True))
        self._file.put(identity, role, answered)
        return answered

    def _found_identity(self) -> ProviderIdentity:
        if not isinstance(self.embedder, _LateWidth):
            return self.embedder.identity
        known = self.embedder.known_as
        width = self._file.width(known)
        if width is not None:
            self.embedder.expect(width)
            return ProviderIdentity(*known, width)
        self.calls += 1
        identity = self.embedder.identity
        self._file.put_width(identity)
        return identity


class _File:
    """The SQLite file. What fails in it is told by `problem` and otherwise as if it were empty."""

    def __init__(self, path: Path, patience: float) -> None:
        self._path = path
        self._patience = patience
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self.problem = ""
        self._was_broken = ""

    def width(self, known: tuple[str, str, str]) -> int | None:
        row = self._tried(lambda db: db.execute(_WIDTH, known).fetchone(), None)
        return row[0] if row and isinstance(row[0], int) and row[0] > 0 else None

    def put_width(self, identity: ProviderIdentity) -> None:
        self._tried(lambda db: db.execute(_PUT_WIDTH, _fields(identity)), None)

    def forget_width(self, known: tuple[str, str, str]) -> None:
        self._tried(lambda db: db.execute(_DROP_WIDTH, known), None)

    def vectors(
        self, identity: ProviderIdentity, role: EmbedRole, keys: Sequence[str]
    ) -> dict[str, Matrix]:
        """The vectors that are there and sound, by key."""
        asked = json.dumps(sorted(set(keys)))

        def read(db: sqlite3.Connection) -> list[tuple[str, bytes]]:
            row = db.execute(_IDENTITY, _fields(identity)).fetchone()
            return db.execute(_VECTORS, (row[0], role, asked)).fetchall() if row else []

        none: list[tuple[str, bytes]] = []
        rows = [
            (key, data)
            for key, data in self._tried(read, none)
            if isinstance(data, bytes) and len(data) == 4 * identity.width
        ]
        if not rows:
            return {}
        matrix = unpack(b"".join(data for _, data in rows)).reshape(len(rows), identity.width)
        with np.errstate(over="ignore", invalid="ignore"):
            sound = np.abs(np.linalg.norm(matrix.astype(np.float64), axis=1) - 1) <= TOLERANCE
        return {key: matrix[place] for place, (key, _) in enumerate(rows) if sound[place]}

    def put(self, identity: ProviderIdentity, role: EmbedRole, vectors: dict[str, Matrix]) -> None:
        rows = [(key, pack(vector)) for key, vector in vectors.items()]

        def write(db: sqlite3.Connection) -> None:
            with db:
                db.execute("BEGIN IMMEDIATE")
                db.execute(_PUT_IDENTITY, _fields(identity))
                (number,) = db.execute(_IDENTITY, _fields(identity)).fetchone()
                db.executemany(_PUT_VECTOR, [(number, role, *row) for row in rows])

        self._tried(write, None)

    def forget(self, keys: Sequence[str]) -> int:
        def write(db: sqlite3.Connection) -> int:
            count = db.execute(_DROP_TEXTS, (json.dumps(list(keys)),)).rowcount
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return count

        removed = self._tried(write, -1)
        if removed < 0:
            raise OSError(self.problem)
        return removed

    def _tried(self, use: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        with self._lock:
            try:
                answer = use(self._opened())
            except (sqlite3.Error, OSError) as error:
                self.problem = f"the cache {self._path} was not used: {error}"
                if not isinstance(error, sqlite3.OperationalError):
                    self._drop()
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN:
                    self._set_aside()
                return otherwise
            self.problem = self._was_broken
            return answer

    def _set_aside(self) -> None:
        """Gives a broken file another name, so that the next call begins a new one."""
        aside = self._path.with_name(f"{self._path.name}.broken")
        try:
            self._path.replace(aside)
        except OSError:
            return
        for ending in ("-wal", "-shm"):  # they belong to what was set aside
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
        self._was_broken = f"the cache {self._path} was broken; it is set aside as {aside.name}"

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._connection = None  # a connection must not be used across a fork
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._path,
                timeout=self._patience,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")
                connection.executescript(_SCHEMA)
            except sqlite3.Error:
                connection.close()
                raise
            weakref.finalize(self, connection.close)
            self._connection, self._process = connection, os.getpid()
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _fields(identity: ProviderIdentity) -> tuple[str, str, str, int]:
    return identity.provider, identity.model, identity.revision, identity.width
