"""Reads the code: nothing but the gate writes notes, so that no note escapes the index queue."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GATE = "memcore/notes.py"
STORE = "memcore/testing.py"  # the store in memory
SQL_OF_NOTES = re.compile(r"memcore/stores/\w+/sql/notes\.sql")
PART_OF_NOTES = re.compile(r"memcore/stores/\w+/notes\.py")

THROUGH_THE_GATE = {"write", "delete"}
"""What the gate offers; its `delete` says who did it, that of a store's part does not."""

WRITES = re.compile(
    r"\b(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|REPLACE\s+INTO|UPDATE(?:\s+OR\s+\w+)?|DELETE\s+FROM"
    r"|TRUNCATE(?:\s+TABLE)?|MERGE\s+INTO|COPY)\s+(?:\w+\.)?[\"`\[]?notes\b",
    re.IGNORECASE,
)


def violations(root: Path) -> list[str]:
    """Where the code under `root` writes notes past the gate, as `file:line: what`."""
    found = []
    for folder in ("memcore", "eval", "pages"):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix == ".sql" and not SQL_OF_NOTES.fullmatch(name):
                found += [f"{name}: {match[0]}" for match in WRITES.finditer(path.read_text())]
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
            yield from ((node.lineno, match[0]) for match in WRITES.finditer(node.value))
        loads_sql = isinstance(node, ast.Call) and ast.unparse(node) == "statements('notes')"
        if loads_sql and not PART_OF_NOTES.fullmatch(name):
            yield node.lineno, "the SQL of notes outside the store's notes part"  # type: ignore[attr-defined]
        if isinstance(node, ast.Attribute) and name != GATE and is_notes(node.value):
            call = called.get(id(node))
            names = {word.arg for word in call.keywords} if call else set()
            gated = node.attr in THROUGH_THE_GATE and {"writer", "actor"} & names
            if node.attr in {"put", "delete", "write"} and not gated:
                yield node.lineno, f"notes.{node.attr}"
        is_handed_on = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        if in_memcore and is_handed_on and node.attr == "notes" and id(node) not in continued:  # type: ignore[attr-defined]
            yield node.lineno, "the notes part is handed on"  # type: ignore[attr-defined]


def is_notes(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "notes" in name.lower()


def test_nothing_but_the_gate_writes_notes() -> None:
    assert violations(ROOT) == []


def test_the_gate_does_write_through_the_stores_notes_part() -> None:
    code = (ROOT / GATE).read_text(encoding="utf-8")
    assert code.count("tx.notes.put(") == code.count("tx.notes.delete(") == 1
    assert WRITES.search((ROOT / "memcore/stores/sqlite/sql/notes.sql").read_text())


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("memcore/curator.py", "def f(tx, o, n):\n    tx.notes.put(o, n)\n"),
        ("memcore/curator.py", "def f(tx, o):\n    tx.notes.delete(o, 'page')\n"),
        ("memcore/curator.py", "def f(tx):\n    part = tx.notes\n    part.put(1, 2)\n"),
        ("memcore/curator.py", "def f(tx):\n    write = tx.notes.put\n    write(1, 2)\n"),
        ("memcore/composer/x.py", "def f(notes):\n    notes.put(1, 2)\n"),
        ("eval/replay.py", "def f(m):\n    with m.tx() as t:\n        t.notes.put(1, 2)\n"),
        ("pages/turn.py", "def f(tx):\n    tx.notes.delete(1, 'page')\n"),
        ("memcore/package.py", "SQL = 'INSERT INTO notes (key) VALUES (1)'\n"),
        ("memcore/package.py", "SQL = 'update notes set text = 1'\n"),
        ("memcore/stores/sqlite/records.py", "SQL = statements('notes')\n"),
        ("memcore/stores/sqlite/sql/records.sql", "-- name: x\nDELETE\n FROM notes;\n"),
        ("memcore/stores/postgres/sql/records.sql", 'insert into "notes" values (1);'),
        ("memcore/stores/postgres/sql/records.sql", "INSERT OR REPLACE INTO notes VALUES (1);"),
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
        ("memcore/tools.py", "def f(m, o):\n    m.notes.delete(o, 'page', actor='anna')\n"),
        ("memcore/composer/x.py", "def f(parts, o):\n    return parts.notes.all(o)\n"),
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
