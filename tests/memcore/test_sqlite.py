"""What is SQLite's own: the file, its pragmas, its errors, other processes and sudden death."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memcore import PAGE, Memory, MnemoscopeError, Settings, open_memory
from memcore.errors import (
    InvalidInput,
    LayerTimeout,
    NewerSchema,
    StoreBusy,
    StoreDamaged,
    StoreError,
)
from memcore.stores.sqlite import SqliteStore
from memcore.stores.sqlite.statements import migrations, statements, to_microseconds, to_time
from memcore.testing import SettableClock
from memcore.types import QueuedPassage
from tests.support import ANNA, START, at, say

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@contextmanager
def opened(path: Path, **options: float) -> Iterator[Memory]:
    with closing(SqliteStore(path, durable=False, **options)) as store:
        yield Memory(store, Settings(layer_seconds=None), SettableClock(START))


def pragma(store: SqliteStore, name: str) -> object:
    with store.reading() as parts:
        return parts.connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_foreign_keys_wal_and_the_chosen_durability_hold_in_every_thread(
    path: Path, durable: bool, level: int
) -> None:
    found: list[tuple[object, ...]] = []
    with closing(SqliteStore(path, durable)) as store:

        def look() -> None:
            names = ("foreign_keys", "journal_mode", "synchronous")
            found.append(tuple(pragma(store, name) for name in names))

        look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert found == [(1, "wal", level)] * 2


def test_what_was_written_is_there_after_opening_again(path: Path) -> None:
    with opened(path) as mind:
        stored = mind.conversation.append(ANNA, say("m1", "Roses bloom."))
        note = mind.notes.write(ANNA, PAGE, "x", writer="remember", expected_revision=0)
    with opened(path) as mind:
        assert mind.conversation.recent(ANNA, "t1", 9) == [stored]
        assert [hit.message for hit in mind.conversation.search(ANNA, "rose", 9)] == [stored]
        assert mind.notes.all(ANNA) == [note]


def test_an_address_opens_the_file_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    clock = SettableClock(START)
    for address, name in (
        (tmp_path / "a.db", "a.db"),
        (str(tmp_path / "b.db"), "b.db"),
        (f"sqlite:///{tmp_path}/c.db", "c.db"),
        ("sqlite:///d.db", "d.db"),
    ):
        with closing(open_memory(address, clock, durable=False)):
            assert (tmp_path / name).is_file()
    with pytest.raises(InvalidInput, match="no store for mysql"):
        open_memory("mysql://host/db", clock)


# ---- files that are no store


def test_a_newer_schema_is_refused_and_left_untouched(path: Path) -> None:
    with opened(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match=r"schema 999.*upgrade"):
        SqliteStore(path)
    gc.collect()
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_no_database_is_refused_and_left_untouched(path: Path) -> None:
    path.write_bytes(b"This is a diary, not a database. " * 100)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match=r"memory\.db"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_refused_and_left_untouched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title)")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="something else"):
        SqliteStore(path)
    assert path.read_bytes() == before


def read_all(path: Path) -> None:
    with opened(path) as mind:
        mind.conversation.recent(ANNA, "t1", 99)
        mind.conversation.search(ANNA, "roses", 99)


@pytest.mark.parametrize("damage", ["overwritten", "cut off"])
def test_a_damaged_file_says_so(path: Path, damage: str) -> None:
    with opened(path) as mind:
        for number in range(50):
            mind.conversation.append(ANNA, say(f"m{number}", "Roses bloom. " * 50, number))
    whole = path.read_bytes()
    size = 8 * 4096
    if damage == "overwritten":
        path.write_bytes(whole[:size] + b"\xa5" * (len(whole) - size))
    else:
        path.write_bytes(whole[:size])
    with pytest.raises(StoreDamaged):
        read_all(path)


def test_a_folder_that_is_not_there_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open"):
        SqliteStore(tmp_path / "no" / "memory.db")


def test_a_failed_migration_leaves_an_empty_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = ((1, "CREATE TABLE one (x);"), (2, "CREATE TABLE two (x);\nNONSENSE;"))
    monkeypatch.setattr("memcore.stores.sqlite.store.migrations", lambda: broken)
    with pytest.raises(StoreError, match="NONSENSE"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
        assert connection.execute("PRAGMA user_version").fetchone() == (0,)


def test_a_later_migration_is_applied_to_a_store_that_holds_something(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path) as mind:
        mind.conversation.append(ANNA, say("m1", "Roses"))
    later = (*migrations(), (len(migrations()) + 1, "CREATE TABLE later (x);"))
    monkeypatch.setattr("memcore.stores.sqlite.store.migrations", lambda: later)
    with opened(path) as mind, mind.store.reading() as parts:
        assert len(parts.messages.recent(ANNA, "t1", 9)) == 1
        assert pragma(mind.store, "user_version") == len(later)  # type: ignore[arg-type]


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


# ---- errors


def test_another_process_that_holds_the_store_makes_it_busy(path: Path) -> None:
    with opened(path, busy_seconds=0.01) as mind:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusy, match=r"0\.01 seconds"):
                mind.conversation.append(ANNA, say("m1", "x"))
            assert mind.conversation.recent(ANNA, "t1", 9) == []
            other.execute("ROLLBACK")
        assert mind.conversation.append(ANNA, say("m1", "x")).place == 0


DRIVER_ERRORS = [
    sqlite3.Error, sqlite3.DatabaseError, sqlite3.OperationalError, sqlite3.IntegrityError,
    sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError, sqlite3.InternalError,
    sqlite3.NotSupportedError,
]  # fmt: skip


@pytest.mark.parametrize("error", DRIVER_ERRORS, ids=lambda error: error.__name__)
def test_every_driver_error_is_translated(path: Path, error: type[sqlite3.Error]) -> None:
    with opened(path) as mind:
        with pytest.raises(StoreError, match="from the driver") as caught, mind.store.reading():
            raise error("from the driver")
        assert isinstance(caught.value.__cause__, error)
        with pytest.raises(StoreError), mind.store.transaction():
            raise error("from the driver")
        assert mind.conversation.append(ANNA, say("m1", "x")).place == 0


def test_every_error_of_the_driver_is_in_the_list() -> None:
    kinds = {
        one for one in vars(sqlite3).values()
        if isinstance(one, type) and issubclass(one, sqlite3.Error)
    }  # fmt: skip
    assert kinds == set(DRIVER_ERRORS)


def test_a_broken_statement_is_a_store_error_that_names_the_file(path: Path) -> None:
    named = pytest.raises(MnemoscopeError, match=r"memory\.db: .*no_such_table")
    with opened(path) as mind, named, mind.store.reading() as parts:
        parts.connection.execute("SELECT * FROM no_such_table")  # type: ignore[attr-defined]


# ---- threads and processes


def test_connections_of_threads_that_are_gone_are_closed(path: Path) -> None:
    with opened(path) as mind:
        for _ in range(30):
            thread = threading.Thread(target=mind.conversation.recent, args=(ANNA, "t1", 1))
            thread.start()
            thread.join()
        gc.collect()
        files = [
            one for one in Path("/proc/self/fd").iterdir()
            if os.path.exists(one) and os.path.realpath(one).startswith(str(path))
        ] if Path("/proc/self/fd").is_dir() else []  # fmt: skip
        assert len(files) <= 4


def test_a_new_file_opened_by_many_at_once_is_made_once(path: Path) -> None:
    failures: list[Exception] = []
    together = threading.Barrier(8)

    def use(number: int) -> None:
        try:
            together.wait()
            with opened(path) as mind:
                mind.conversation.append(ANNA, say(f"m{number}", "x"))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with opened(path) as mind:
        assert len(mind.conversation.recent(ANNA, "t1", 99)) == 8


WRITER = """
import sys
from tests.memcore.test_sqlite import ANNA, opened, say
from pathlib import Path
path, writer, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with opened(path) as mind:
    for number in range(count):
        mind.conversation.append(ANNA, say(f"{writer}-{number:05}", f"Roses {writer}", number))
        print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def check_whole(mind: Memory) -> list[str]:
    """Every message has its place, its search entry and its place in the queue; returns the ids."""
    with mind.store.reading() as parts:
        messages = parts.messages.span(ANNA, "t1", 0, 10**6)
        matches = parts.messages.matches(ANNA, ["rose"])
        found = parts.messages.located(ANNA, list(matches.postings["rose"]))
        queued = parts.queue.waiting(ANNA, 10**6)
    ids = [one.id for one in messages]
    assert [one.place for one in messages] == list(range(len(messages)))
    assert messages == sorted(messages, key=lambda one: (one.time, one.id))
    assert matches.documents == len(messages)
    assert {one.id for one in found} == set(ids)
    assert set(queued) == {QueuedPassage("message", id, 1) for id in ids}
    return ids


def test_two_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    count = 150
    writers = [writer(path, name, count) for name in ("a", "b")]
    results = [one.communicate() for one in writers]
    assert [one.returncode for one in writers] == [0, 0], results
    with opened(path) as mind:
        ids = check_whole(mind)
    assert sorted(ids) == [f"{name}-{n:05}" for name in ("a", "b") for n in range(count)]


def test_a_process_killed_while_writing_leaves_whole_messages_and_all_it_acknowledged(
    path: Path,
) -> None:
    with writer(path, "a", 1_000_000) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(40)]
        process.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in process.stdout.read().split("\n")[:-1]]
    assert process.returncode == -signal.SIGKILL
    with opened(path) as mind:
        ids = check_whole(mind)
        assert {f"a-{number:05}" for number in acknowledged} <= set(ids)
        assert len(ids) <= len(acknowledged) + 1
        assert mind.conversation.append(ANNA, say("z", "Roses", 10**6)).place == len(ids)


# ---- small parts


def test_times_are_exact_to_the_microsecond() -> None:
    for moment in (at(0), at(-(10**9)), START.replace(microsecond=999_999)):
        assert to_time(to_microseconds(moment)) == moment
    assert to_microseconds(to_time(-1)) == -1


def test_statements_are_read_by_name() -> None:
    assert set(statements("notes")) >= {"get", "all", "history", "put", "delete"}
    assert statements("notes")["delete"].startswith("DELETE FROM notes")


ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def test_a_statement_that_takes_too_long_is_ended_and_the_store_goes_on(path: Path) -> None:
    with opened(path) as mind:
        mind.conversation.append(ANNA, say("m1", "A rose."))
        with (
            pytest.raises(LayerTimeout, match=r"within 0\.01 seconds"),
            mind.store.reading(0.01) as parts,
        ):
            parts.connection.execute(ENDLESS).fetchall()
        with mind.store.reading() as parts:
            assert len(parts.messages.recent(ANNA, "t1", 9)) == 1
        mind.conversation.append(ANNA, say("m2", "Another.", 1))
