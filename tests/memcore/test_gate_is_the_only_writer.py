"""Reads the code: nothing but the gate writes notes, so that no note escapes the index queue, and
nothing but the index stores vectors, so that none is there without its item."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memcore import Memory, Settings
from memcore.stores.sqlite import SqliteStore
from memcore.testing import InMemoryStore, PredictableEmbedder, SettableClock
from tests.support import ANNA, START

ROOT = Path(__file__).parents[2]
GATE = "memcore/notes.py"
IMPORT = "memcore/package/import_.py"  # restores notes through the gate, within its transaction
STORE = "memcore/testing/store.py"  # the store in memory
INDEX = "memcore/indexing.py"
LEARNING = "memcore/learning.py"
CACHE = "memcore/embedders/cache.py"  # a database of its own
SQL_OF_VECTORS = re.compile(r"memcore/stores/\w+/sql/vectors\.sql")
PART_OF_VECTORS = re.compile(r"memcore/stores/\w+/vectors\.py")
SQL_OF_NOTES = re.compile(r"memcore/stores/\w+/sql/notes\.sql")
PART_OF_NOTES = re.compile(r"memcore/stores/\w+/notes\.py")

THROUGH_THE_GATE = {"write", "write_together", "delete"}
"""What the gate offers; its `delete` says who did it, that of a store's part does not."""

VECTORS = {"put": {INDEX}, "remove": {GATE, INDEX}, "drop": {INDEX, LEARNING}}
"""Who may do what with vectors: the index stores them and clears away those whose item is gone
already, the gate removes a note's."""

WRITES_TO = (
    r"\b(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|REPLACE\s+INTO|UPDATE(?:\s+OR\s+\w+)?|DELETE\s+FROM"
    r"|TRUNCATE(?:\s+TABLE)?|MERGE\s+INTO|COPY)\s+(?:\w+\.)?[\"`\[]?"
)
WRITES = re.compile(WRITES_TO + r"notes\b", re.IGNORECASE)
WRITES_VECTORS = re.compile(WRITES_TO + r"vectors\b", re.IGNORECASE)


def violations(root: Path) -> list[str]:
    """Where the code under `root` writes notes past the gate, as `file:line: what`."""
    found = []
    for folder in ("memcore", "eval", "pages"):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix == ".sql" and not SQL_OF_NOTES.fullmatch(name):
                found += [f"{name}: {match[0]}" for match in WRITES.finditer(path.read_text())]
            if path.suffix == ".sql" and not SQL_OF_VECTORS.fullmatch(name):
                found += [f"{name}: {one[0]}" for one in WRITES_VECTORS.finditer(path.read_text())]
            if path.suffix == ".py":
                found += [f"{name}:{line}: {what}" for line, what in in_code(path, name)]
    return found


def in_code(path: Path, name: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    continued = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    in_memcore = name.startswith("memcore/") and name not in (GATE, STORE)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for sql in (WRITES,) if name == CACHE else (WRITES, WRITES_VECTORS):
                yield from ((node.lineno, match[0]) for match in sql.finditer(node.value))
        loads_sql = isinstance(node, ast.Call) and ast.unparse(node) == "statements('notes')"
        if loads_sql and not PART_OF_NOTES.fullmatch(name):
            yield node.lineno, "the SQL of notes outside the store's notes part"  # type: ignore[attr-defined]
        loads_sql = isinstance(node, ast.Call) and ast.unparse(node) == "statements('vectors')"
        if loads_sql and not PART_OF_VECTORS.fullmatch(name):
            yield node.lineno, "the SQL of vectors outside the store's vectors part"  # type: ignore[attr-defined]
        touches = isinstance(node, ast.Attribute) and named(node.value).lower().endswith("vectors")
        if touches and name not in VECTORS.get(node.attr, {name}):  # type: ignore[attr-defined]
            yield node.lineno, f"vectors.{node.attr}"  # type: ignore[attr-defined]
        if isinstance(node, ast.Attribute) and name != GATE and is_notes(node.value):
            call = called.get(id(node))
            names = {word.arg for word in call.keywords} if call else set()
            gated = node.attr in THROUGH_THE_GATE and {"writer", "actor"} & names
            if node.attr == "restore" and name == IMPORT:
                continue
            if node.attr in {"put", "restore", *THROUGH_THE_GATE} and not gated:
                yield node.lineno, f"notes.{node.attr}"
        is_handed_on = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        if in_memcore and is_handed_on and node.attr == "notes" and id(node) not in continued:  # type: ignore[attr-defined]
            yield node.lineno, "the notes part is handed on"  # type: ignore[attr-defined]


def named(node: ast.expr) -> str:
    name: str = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name


def is_notes(node: ast.expr) -> bool:
    return "notes" in named(node).lower()


def within_a_transaction(code: str, call: str) -> list[set[str]]:
    """The calls that stand in one transaction with each call of that name: in the block that opens
    it, or in a function that is given one."""
    blocks = [
        {ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
        for node in ast.walk(ast.parse(code))
        if (isinstance(node, ast.With) and ".transaction()" in ast.unparse(node.items[0]))
        or (isinstance(node, ast.FunctionDef) and "tx" in [one.arg for one in node.args.args])
    ]
    return [calls for calls in blocks if call in calls]


def test_nothing_but_the_gate_writes_notes_and_nothing_but_the_index_vectors() -> None:
    assert violations(ROOT) == []


def test_the_gate_does_write_through_the_stores_notes_part() -> None:
    code = (ROOT / GATE).read_text(encoding="utf-8")
    assert code.count("tx.notes.put(") == code.count("tx.notes.delete(") == 1
    assert WRITES.search((ROOT / "memcore/stores/sqlite/sql/notes.sql").read_text())


def test_the_index_does_store_vectors_through_the_stores_part_at_one_place() -> None:
    code = (ROOT / INDEX).read_text(encoding="utf-8")
    assert code.count("vectors.put(") == code.count("vectors.remove(") == 1
    assert WRITES_VECTORS.search((ROOT / "memcore/stores/sqlite/sql/vectors.sql").read_text())


def test_a_note_is_queued_and_its_vectors_go_in_the_transaction_that_writes_or_deletes_it() -> None:
    code = (ROOT / GATE).read_text(encoding="utf-8")
    [write] = within_a_transaction(code, "tx.notes.put")
    assert {"tx.queue.add", "tx.journal.append"} <= write
    [delete] = within_a_transaction(code, "tx.notes.delete")
    assert {"tx.queue.remove", "tx.vectors.remove", "tx.journal.append"} <= delete


class Broken(Exception):
    """A part of the store fails."""


@pytest.mark.parametrize("kind", ["in memory", "sqlite"])
def test_a_note_that_cannot_be_queued_is_not_written_and_one_with_vectors_not_half_deleted(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = InMemoryStore()
    if kind == "sqlite":
        store = SqliteStore(tmp_path / "memory.db", durable=False)

    def fail(*_: object) -> None:
        raise Broken

    with closing(store):
        mind = Memory(store, Settings(), SettableClock(START), PredictableEmbedder())
        mind.notes.write(ANNA, "page", "roses", writer="remember", expected_revision=0)
        with store.reading() as parts:
            monkeypatch.setattr(type(parts.queue), "add", fail)
            monkeypatch.setattr(type(parts.vectors), "remove", fail)
        with pytest.raises(Broken):
            mind.notes.write(ANNA, "page", "tulips", writer="curator", expected_revision=1)
        with pytest.raises(Broken):
            mind.notes.delete(ANNA, "page", actor="anna")
        assert [note.text for note in mind.notes.history(ANNA, "page")] == ["roses"]
        assert mind.index.health(ANNA).kinds[0].current == 1


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("memcore/curator.py", "def f(tx, o, n):\n    tx.notes.put(o, n)\n"),
        ("memcore/curator.py", "def f(tx, o):\n    tx.notes.delete(o, 'page')\n"),
        ("memcore/curator.py", "def f(tx, o):\n    tx.notes.write_together(o, [])\n"),
        ("memcore/curator.py", "def f(tx):\n    part = tx.notes\n    part.put(1, 2)\n"),
        ("memcore/curator.py", "def f(tx):\n    write = tx.notes.put\n    write(1, 2)\n"),
        ("memcore/composer/x.py", "def f(notes):\n    notes.put(1, 2)\n"),
        ("eval/replay.py", "def f(m):\n    with m.tx() as t:\n        t.notes.put(1, 2)\n"),
        ("pages/turn.py", "def f(tx):\n    tx.notes.delete(1, 'page')\n"),
        ("memcore/curator.py", "def f(m, tx, o):\n    m.notes.restore(tx, o, [])\n"),
        (IMPORT, "def f(tx, o, n):\n    tx.notes.put(o, n)\n"),
        ("memcore/package.py", "SQL = 'INSERT INTO notes (key) VALUES (1)'\n"),
        ("memcore/package.py", "SQL = 'update notes set text = 1'\n"),
        ("memcore/stores/sqlite/records.py", "SQL = statements('notes')\n"),
        ("memcore/stores/sqlite/sql/records.sql", "-- name: x\nDELETE\n FROM notes;\n"),
        ("memcore/stores/postgres/sql/records.sql", 'insert into "notes" values (1);'),
        ("memcore/stores/postgres/sql/records.sql", "INSERT OR REPLACE INTO notes VALUES (1);"),
        ("memcore/curator.py", "def f(tx, o):\n    tx.vectors.put(o, 1, 'note', 'a', 1, 2)\n"),
        ("memcore/notes.py", "def f(tx, o):\n    tx.vectors.put(o, 1, 'note', 'a', 1, 2)\n"),
        ("memcore/package.py", "def f(vectors):\n    vectors.remove(1, 'note', 'page')\n"),
        ("memcore/composer/x.py", "def f(parts, o, i):\n    parts.vectors.drop(o, i)\n"),
        ("eval/x.py", "def f(tx):\n    tx.vectors.put(1)\n"),
        ("memcore/package.py", "SQL = 'DELETE FROM vectors'\n"),
        ("memcore/stores/sqlite/records.py", "SQL = statements('vectors')\n"),
        ("memcore/stores/sqlite/sql/records.sql", "INSERT INTO vectors VALUES (1);"),
    ],
)  # fmt: skip
def test_the_check_finds_a_planted_violation(tmp_path: Path, file: str, code: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True)
    planted.write_text(code)
    assert len(violations(tmp_path)) >= 1


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (GATE, "def f(tx, o, n):\n    tx.notes.put(o, n)\n"),
        (
            "memcore/curator.py",
            "def f(m, o):\n    m.notes.write(o, 'page', 'x', writer='curator')\n",
        ),
        (
            "memcore/curator.py",
            "def f(m, o, a):\n    m.notes.write_together(o, [], writer='curator', also=a)\n",
        ),
        (IMPORT, "def f(m, tx, o):\n    m.notes.restore(tx, o, [])\n"),
        ("memcore/tools.py", "def f(m, o):\n    m.notes.delete(o, 'page', actor='anna')\n"),
        ("memcore/composer/x.py", "def f(parts, o):\n    return parts.notes.all(o)\n"),
        (GATE, "def f(tx, o):\n    tx.vectors.remove(o, 'note', 'page')\n"),
        (INDEX, "def f(tx, o):\n    tx.vectors.put(o)\n    tx.vectors.drop(o, 1)\n"),
        ("memcore/composer/x.py", "def f(parts, o):\n    return parts.vectors.counts(o)\n"),
        ("memcore/stores/sqlite/sql/vectors.sql", "DELETE FROM vectors;"),
        ("memcore/stores/sqlite/sql/notes.sql", "DELETE FROM notes;"),
        ("memcore/stores/sqlite/sql/migrations/0001_x.sql", "CREATE TABLE notes (x);"),
        ("eval/x.py", "def f(queue):\n    queue.put(1)\n"),
    ],
)
def test_the_check_lets_the_gate_and_readers_be(tmp_path: Path, file: str, code: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True)
    planted.write_text(code)
    assert violations(tmp_path) == []
