"""Vectors in a SQLite file: the copies in memory that searches run over, other processes, and what
a delete leaves behind."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from memcore import PAGE, Memory, Settings
from memcore.errors import LayerTimeout, StoreError
from memcore.stores.sqlite import SqliteStore
from memcore.stores.sqlite import vectors as module
from memcore.stores.sqlite.statements import migrations
from memcore.testing import PredictableEmbedder, SettableClock
from memcore.types import Matrix, ProviderIdentity
from tests.support import ANNA, START, say

ROOT = Path(__file__).parents[2]
IDENTITY = ProviderIdentity("p", "m", "r", 8)
X = np.eye(8, dtype=np.float32)[0]


class Killed(Exception):
    """In the middle of a transaction."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path, durable=False)) as opened:
        yield opened


def rows(count: int, seed: int = 1) -> Matrix:
    found = np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)
    normalised: Matrix = found / np.linalg.norm(found, axis=1, keepdims=True)
    return normalised


def put(store: SqliteStore, *items: str, seed: int = 1) -> None:
    with store.transaction() as tx:
        for item, row in zip(items, rows(len(items), seed), strict=True):
            tx.vectors.put(ANNA, IDENTITY, "note", item, 1, row[np.newaxis])


def remove(store: SqliteStore, *items: str) -> None:
    with store.transaction() as tx:
        for item in items:
            tx.vectors.remove(ANNA, "note", item)


def nearest(store: SqliteStore, limit: int = 9_999) -> list[tuple[str, float]]:
    with store.reading() as parts:
        near = parts.vectors.nearest(ANNA, IDENTITY, "note", X, limit)
    return [(one.item, one.cosine) for one in near]


def items(store: SqliteStore) -> list[str]:
    return sorted(item for item, _ in nearest(store))


def test_opening_a_store_reads_no_vectors(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "a")

    def read(*_: object) -> None:
        raise AssertionError("vectors were read")

    monkeypatch.setattr(module._Mirror, "follow", read)
    with closing(SqliteStore(path, durable=False)) as again:
        mind = Memory(again, Settings(), SettableClock(START))
        mind.compose(ANNA, "t1", "hello there", "p")
        with pytest.raises(AssertionError, match="were read"):
            nearest(again)


def test_another_connections_writes_are_seen_at_the_next_search(
    path: Path, store: SqliteStore
) -> None:
    with closing(SqliteStore(path, durable=False)) as other:
        put(store, "a", "b", "c")
        assert items(other) == ["a", "b", "c"]
        remove(store, "b")
        put(store, "d", "a", seed=2)
        assert nearest(other) == nearest(store)
        assert items(other) == ["a", "c", "d"]
        with store.transaction() as tx:
            tx.vectors.drop(ANNA, IDENTITY)
        assert items(other) == []
        put(store, "a", seed=3)
        assert nearest(other) == nearest(store) != []


WRITER = """
import sys
import numpy as np
from contextlib import closing
from pathlib import Path
from memcore.stores.sqlite import SqliteStore
from tests.memcore.test_sqlite_vectors import put, remove
with closing(SqliteStore(Path(sys.argv[1]), durable=False)) as store:
    for number in range(60):
        put(store, f"n{number:02}", f"passing{number:02}", seed=number)
        remove(store, f"passing{number:02}")
"""


def test_one_process_writes_while_another_searches(path: Path, store: SqliteStore) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=ROOT)
    seen = 0
    while writer.poll() is None:
        with store.reading() as parts:
            found = parts.vectors.nearest(ANNA, IDENTITY, "note", X, 999)
            current = parts.vectors.revisions(ANNA, IDENTITY, "note")
        assert {one.item for one in found} == current.keys()
        assert len(found) >= seen
        seen = max(seen, len(found) - 1)
    assert writer.returncode == 0
    assert items(store) == [f"n{number:02}" for number in range(60)]
    with closing(SqliteStore(path, durable=False)) as fresh:
        assert nearest(fresh) == nearest(store)


def test_a_search_of_an_older_moment_spoils_nothing_for_later_ones(
    path: Path, store: SqliteStore
) -> None:
    put(store, "a", "b")
    with closing(SqliteStore(path, durable=False)) as other, store.reading() as older:
        assert older.vectors.counts(ANNA) == {(IDENTITY, "note"): 2}  # its moment is now
        found: list[list[str]] = []

        def write_and_search() -> None:
            put(other, "c", "a", seed=2)
            remove(other, "b")
            found.append(items(store))  # the copy is brought up to this newer moment

        thread = threading.Thread(target=write_and_search)
        thread.start()
        thread.join()
        assert found == [["a", "c"]]
        older.vectors.nearest(ANNA, IDENTITY, "note", X, 9)
        assert older.vectors.revisions(ANNA, IDENTITY, "note") == {"a": 1, "b": 1}
    assert items(store) == ["a", "c"]


def test_a_first_search_that_ran_out_of_time_is_gone_on_with(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ROWS", 10)
    names = [f"n{number:03}" for number in range(100)]
    put(store, *names)
    mirrors: list[module._Mirror] = []
    add, broken = module._Mirror._add, iter([False, False, True])

    def interrupted(mirror: module._Mirror, *given: object) -> None:
        if next(broken, False):
            mirrors.append(mirror)
            raise LayerTimeout("no time left")
        add(mirror, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(module._Mirror, "_add", interrupted)
    with pytest.raises(LayerTimeout):
        nearest(store)
    remove(store, "n005", "n050")
    put(store, "n007", seed=5)
    assert items(store) == sorted(set(names) - {"n005", "n050"})
    assert store._mirrors.get(1, 8) is mirrors[0]
    with closing(SqliteStore(store._path, durable=False)) as fresh:
        assert nearest(fresh) == nearest(store)


def test_copies_searched_longest_ago_are_let_go_of(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 8 * 4 * 3)
    for number in range(4):
        identity = ProviderIdentity("p", "m", f"{number}", 8)
        with store.transaction() as tx:
            for item, row in zip("ab", rows(2), strict=True):
                tx.vectors.put(ANNA, identity, "note", item, 1, row[np.newaxis])
        with store.reading() as parts:
            assert len(parts.vectors.nearest(ANNA, identity, "note", X, 9)) == 2
    assert len(store._mirrors._kept) <= 2


def test_a_key_of_a_namespace_that_was_rolled_back_is_not_taken_for_another(
    store: SqliteStore,
) -> None:

    def write_search_and_fail() -> None:
        with store.transaction() as tx:
            tx.vectors.put(ANNA, IDENTITY, "message", "m", 1, rows(1))
            assert len(tx.vectors.nearest(ANNA, IDENTITY, "message", X, 9)) == 1
            raise Killed

    with pytest.raises(Killed):
        write_search_and_fail()
    put(store, "a")
    assert items(store) == ["a"]


def test_a_delete_in_a_new_process_leaves_no_row_of_the_note_anywhere(path: Path) -> None:
    embedder = PredictableEmbedder()
    with closing(SqliteStore(path, durable=False)) as store:
        mind = Memory(store, Settings(), SettableClock(START), embedder)
        for text, expected in (("first quixotic", 0), ("second quixotic", 1)):
            mind.notes.write(ANNA, PAGE, text, writer="remember", expected_revision=expected)
        mind.conversation.append(ANNA, say("m1", "stays"))
    code = (
        "import sys; from tests.memcore.test_sqlite_vectors import *\n"
        "with closing(SqliteStore(Path(sys.argv[1]), durable=False)) as store:\n"
        "    mind = Memory(store, Settings(), SettableClock(START))\n"
        "    mind.notes.delete(ANNA, PAGE, actor='anna')\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=True)
    with closing(sqlite3.connect(path)) as connection:
        run = connection.execute
        assert run("PRAGMA foreign_key_check").fetchall() == []
        assert run("SELECT item FROM vectors").fetchall() == [("m1",)]
        tables = [name for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table in ("note_heads", "journal", "message_postings"):
                continue  # that there was a note, and who deleted it
            for row in run(f'SELECT * FROM "{table}"'):
                assert not any(str(cell) == PAGE or "quixotic" in str(cell) for cell in row), table
    with closing(SqliteStore(path, durable=False)) as store:
        mind = Memory(store, Settings(), SettableClock(START), embedder)
        mind.notes.write(ANNA, PAGE, "lilies", writer="remember", expected_revision=0)
        query = mind.index.query(ANNA, "quixotic")
        with store.reading() as parts:
            hits = parts.vectors.nearest(ANNA, query.identity, "note", query.vector, 9)
        assert [(one.item, one.cosine) for one in hits] == [(PAGE, pytest.approx(0))]


def test_vectors_hang_on_their_namespace_and_that_on_its_owner(store: SqliteStore) -> None:
    put(store, "a")
    for sql in ("DELETE FROM namespaces", "DELETE FROM owners"):
        with pytest.raises(StoreError, match="FOREIGN KEY"), store.transaction() as tx:
            tx.connection.execute(sql)
    with store.reading() as parts:
        data = parts.connection.execute("SELECT vector FROM vectors").fetchone()[0]
    assert data == rows(1)[0].astype("<f4").tobytes()


def test_a_store_of_the_first_schema_is_brought_up_to_this_one(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(migrations()[0][1])
        connection.execute(
            "INSERT INTO owners (team, agent, person) VALUES ('home', 'helper', 'anna')"
        )
        connection.execute(
            "INSERT INTO queue (owner, kind, item, revision) VALUES (1, 'note', 'page', 2)"
        )
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    with closing(SqliteStore(path, durable=False)) as store:
        assert store.owners() == [ANNA]
        with store.reading() as parts:
            [queued] = parts.queue.waiting(ANNA, 9)
        assert (queued.item, queued.revision, queued.attempts, queued.error) == ("page", 2, 0, "")
        put(store, "a")
        assert items(store) == ["a"]


def test_closing_waits_for_what_other_threads_have_under_way(path: Path) -> None:
    store = SqliteStore(path, durable=False)
    began, faults = threading.Event(), list[Exception]()

    def write() -> None:
        try:
            number = 0
            while True:
                with store.transaction() as tx:
                    began.set()
                    for _ in range(50):
                        number += 1
                        tx.messages.append(ANNA, say(f"m{number}", "x", number), ["x"] * 20)
        except Exception as error:
            faults.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    began.wait()
    time.sleep(0.02)
    store.close()
    thread.join()
    assert [type(fault) for fault in faults] == [StoreError]
    with closing(SqliteStore(path, durable=False)) as again, again.reading() as parts:
        assert len(parts.messages.recent(ANNA, "t1", 10**6)) % 50 == 0
