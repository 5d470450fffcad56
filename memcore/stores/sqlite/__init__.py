"""The default store: one SQLite file, WAL and FTS5, nothing to start."""

from memcore.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
