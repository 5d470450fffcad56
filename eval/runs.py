"""A run: an immutable folder of a manifest and Parquet tables, written once, read by anyone.

    runs/shop-first-search-20261130-174000/
        manifest.json      what was replayed, how, with what result in short
        turns.parquet …    one file a table (`eval.tables`)
        parts/             while the replay goes on: the finished conversations

The manifest says `running` until everything is there, so that an interrupted replay is seen as such
and is no result. Reading goes through DuckDB in memory over the Parquet files: nothing ever opens a
shared database for writing.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eval.errors import RunDamaged, RunError, RunFormat, RunUnfinished
from eval.tables import SCHEMAS

FORMAT = 1
"""Of the run folder. A reader opens its own format only."""

MANIFEST = "manifest.json"
_PARTS = "parts"
_local = threading.local()


class RunWriter:
    """Writes a run part by part. A part is a conversation; it is there wholly or not at all."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Begins a run, or goes on with an unfinished one of the same input.

        Raises `RunError` where the folder holds a complete run or one of other input.
        """
        self.folder = folder
        self._manifest = {"format": FORMAT, "status": "running", **manifest}
        if (folder / MANIFEST).exists():
            _check_same(inspect_run(folder), self._manifest)
        (folder / _PARTS).mkdir(parents=True, exist_ok=True)
        write_json(folder / MANIFEST, self._manifest)

    def done(self) -> set[int]:
        """The numbers of the parts that are written."""
        return {int(p.name) for p in (self.folder / _PARTS).iterdir() if p.name.isdigit()}

    def write_part(self, number: int, tables: dict[str, pa.Table]) -> None:
        """Writes one conversation's tables."""
        final = self.folder / _PARTS / f"{number:06d}"
        scratch = final.with_suffix(f".{os.getpid()}.tmp")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        for name, table in tables.items():
            _write(scratch / f"{name}.parquet", [table])
        scratch.rename(final)

    def join(self) -> None:
        """Joins the parts into one file a table."""
        parts = [self.folder / _PARTS / f"{number:06d}" for number in sorted(self.done())]
        for name in SCHEMAS:
            target = self.folder / f"{name}.parquet"
            scratch = target.with_suffix(".tmp")
            _write(scratch, (pq.read_table(part / f"{name}.parquet") for part in parts), name)
            scratch.replace(target)

    def finish(self, results: dict[str, Any]) -> None:
        """Marks the run as complete, with its results in short; the parts are removed."""
        self._manifest |= {**results, "status": "complete"}
        write_json(self.folder / MANIFEST, self._manifest)
        shutil.rmtree(self.folder / _PARTS, ignore_errors=True)


def _check_same(found: RunInfo, manifest: dict[str, Any]) -> None:
    if found.complete:
        raise RunError(f"run {found.name} is complete already; choose another name")
    if not found.problem.startswith("unfinished"):
        raise _error_of(found)
    for what in ("arm", "settings", "versions"):
        if found.manifest.get(what) != manifest[what]:
            raise RunError(f"run {found.name} was begun with other {what}; choose another name")
    if found.manifest.get("dataset", {}).get("sha256") != manifest["dataset"]["sha256"]:
        raise RunError(f"run {found.name} was begun on other data; choose another name")


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows as mappings."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON file whole or not at all, its keys sorted."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str)
    scratch.write_text(text + "\n", encoding="utf-8")
    scratch.replace(path)


def _write(path: Path, tables: Iterator[pa.Table] | Sequence[pa.Table], name: str = "") -> None:
    writer = None
    try:
        for table in tables:
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema, compression="zstd")
            if table.num_rows:
                writer.write_table(table, row_group_size=20_000)
        if writer is None:
            writer = pq.ParquetWriter(path, SCHEMAS[name], compression="zstd")
    finally:
        if writer is not None:
            writer.close()


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as a list shows it: its manifest, or what is wrong with it. Loads no table."""

    name: str
    folder: Path
    manifest: dict[str, Any]
    problem: str = ""

    @property
    def complete(self) -> bool:
        return not self.problem


class Tables:
    """The tables of a run's folder, open for reading. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """The result of a query in which each table stands by its name in braces.

        `run.query("SELECT * FROM {turns} WHERE conversation = ?", ["ru-marina"])`. Raises
        `RunDamaged` where a table cannot be read.
        """
        names = {name: self._source(name) for name in SCHEMAS}
        try:
            result = _cursor().execute(sql.format(**names), list(parameters))
            return result.df()
        except (duckdb.IOException, duckdb.InvalidInputException, duckdb.BinderException) as error:
            raise RunDamaged(
                f"run {self.name}: a table cannot be read ({str(error).splitlines()[0]}); "
                "replay again"
            ) from error

    def table(self, name: str, conversation: str | None = None) -> pd.DataFrame:
        """A whole table, or one conversation's rows of it, in the order written."""
        if conversation is None:
            return self.query(f"SELECT * FROM {{{name}}}")
        return self.query(f"SELECT * FROM {{{name}}} WHERE conversation = ?", [conversation])

    def _source(self, name: str) -> str:
        path = str(self.folder / f"{name}.parquet").replace("'", "''")
        return f"read_parquet('{path}')"


class Run(Tables):
    """A complete run. Raises a `RunError` where it is damaged, unfinished or of another format."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        info = inspect_run(folder)
        if info.problem:
            raise _error_of(info)
        self.manifest = info.manifest


def _cursor() -> duckdb.DuckDBPyConnection:
    """A DuckDB connection in memory, one a thread."""
    connection: duckdb.DuckDBPyConnection | None = getattr(_local, "connection", None)
    if connection is None:
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        _local.connection = connection
    return connection


def inspect_run(folder: Path) -> RunInfo:
    """What a run's manifest says, or what is wrong with the run; opens no table."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = manifest["format"]
    except FileNotFoundError:
        return RunInfo(folder.name, folder, {}, f"damaged: there is no {MANIFEST}")
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return RunInfo(folder.name, folder, {}, f"damaged: {MANIFEST} cannot be read")
    if found != FORMAT:
        age = "an older" if isinstance(found, int) and found < FORMAT else "a newer"
        problem = f"format: written by {age} version (format {found}, this one reads {FORMAT})"
    elif manifest.get("status") != "complete":
        total = manifest.get("counts", {}).get("conversations", "?")
        parts = folder / _PARTS
        done = sum(p.name.isdigit() for p in parts.iterdir()) if parts.is_dir() else 0
        problem = f"unfinished: {done} of {total} conversations are replayed; no result yet"
    elif missing := [n for n in SCHEMAS if not (folder / f"{n}.parquet").is_file()]:
        problem = f"damaged: {', '.join(missing)}.parquet missing"
    else:
        problem = ""
    return RunInfo(folder.name, folder, manifest, problem)


def list_runs(folder: Path) -> list[RunInfo]:
    """The runs of a folder, newest first by their start; what is no run folder is left out."""
    if not folder.is_dir():
        return []
    found = [
        inspect_run(path)
        for path in folder.iterdir()
        if path.is_dir() and not path.name.startswith(".")
    ]
    return sorted(
        found, key=lambda run: (str(run.manifest.get("started", "")), run.name), reverse=True
    )


def find_run(name: str | Path, folder: Path) -> Path:
    """The folder of a run given by path or by name in `folder`. Raises `RunError`."""
    for candidate in (folder / str(name), Path(name)):
        if (candidate / MANIFEST).exists():
            return candidate
    names = [run.name for run in list_runs(folder)][:10]
    there = f"there are {', '.join(names)}" if names else "there are none; make one with replay"
    raise RunError(f"no run {str(name)!r} in {folder} nor at that path; {there}")


def _error_of(info: RunInfo) -> RunError:
    kind, _, rest = info.problem.partition(": ")
    if kind == "unfinished":
        return RunUnfinished(
            f"run {info.name} is unfinished: {rest}; resume it with "
            f"python -m eval replay --resume {info.folder}"
        )
    if kind == "format":
        return RunFormat(f"run {info.name} was {rest}; replay the dataset again")
    return RunDamaged(f"run {info.name} is damaged: {rest}; replay the dataset again")
