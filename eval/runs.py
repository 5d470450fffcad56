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

import glob
import json
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from eval.errors import RunDamaged, RunError, RunFormat, RunUnfinished
from eval.tables import SCHEMAS

FORMAT = 3
"""Of the run folder. A reader opens its own format only."""

MANIFEST = "manifest.json"
PARTS = "parts"
# What a manifest must hold for its readers, and what besides when the run is complete.
_FIELDS: dict[str, type] = {
    "dataset": dict, "counts": dict, "arm": str, "settings": dict, "changed_settings": dict,
    "started": str,
}  # fmt: skip
_RESULTS: dict[str, type] = {"results": dict, "refused": list}
_local = threading.local()


def parts_of(folder: Path) -> list[Path]:
    """The parts that are written, in order; none where another process has just removed them."""
    with suppress(OSError):
        return sorted(path for path in (folder / PARTS).iterdir() if path.name.isdigit())
    return []


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows as mappings."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON file whole or not at all, its keys sorted."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str)
    scratch.write_text(text + "\n", encoding="utf-8")
    scratch.replace(path)


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
        except duckdb.ParserException:  # the query's own fault
            raise
        except (duckdb.Error, UnicodeDecodeError) as error:  # the latter from an error's own text
            reason = str(error).partition("\n")[0]
            raise RunDamaged(
                f"run {self.name} is damaged: a table cannot be read ({reason}); replay again"
            ) from error

    def table(self, name: str, conversation: str | None = None) -> pd.DataFrame:
        """A whole table, or one conversation's rows of it, in the order written."""
        if conversation is None:
            return self.query(f"SELECT * FROM {{{name}}}")
        return self.query(f"SELECT * FROM {{{name}}} WHERE conversation = ?", [conversation])

    def _source(self, name: str) -> str:
        # DuckDB would take `*` in a folder's name for many files, and `a=b` for a column
        path = glob.escape(str(self.folder / f"{name}.parquet")).replace("'", "''")
        columns = ", ".join(f'"{column}"' for column in SCHEMAS[name].names)
        return f"(SELECT {columns} FROM read_parquet('{path}', hive_partitioning = false))"


class Run(Tables):
    """A complete run. Raises a `RunError` where it is damaged, unfinished or of another format."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        info = inspect_run(folder)
        if info.problem:
            raise error_of(info)
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
    if type(found) is not int:
        problem = f"damaged: {MANIFEST} does not say which format it has"
    elif found != FORMAT:
        age = "an older" if found < FORMAT else "a newer"
        problem = f"format: written by {age} version (format {found}, this one reads {FORMAT})"
    elif broken := _broken(manifest):
        problem = f"damaged: {MANIFEST} has no usable {', '.join(broken)}"
    elif manifest["status"] != "complete":
        total = manifest["counts"].get("conversations", "?")
        done = len(parts_of(folder))
        problem = f"unfinished: {done} of {total} conversations are replayed; no result yet"
    elif missing := [n for n in SCHEMAS if not (folder / f"{n}.parquet").is_file()]:
        problem = f"damaged: {', '.join(missing)}.parquet missing"
    else:
        problem = ""
    return RunInfo(folder.name, folder, manifest, problem)


def _broken(manifest: dict[str, Any]) -> list[str]:
    """The fields of a manifest that are missing or are not what they must be."""
    status = manifest.get("status")
    fields = _FIELDS | _RESULTS if status == "complete" else _FIELDS
    broken = [name for name, kind in fields.items() if not isinstance(manifest.get(name), kind)]
    return broken if status in ("complete", "running") else ["status", *broken]


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
    candidates = (folder / str(name), Path(name))
    for candidate in candidates:
        if os.path.exists(candidate / MANIFEST):  # unlike Path's, for any name
            return candidate
    names = [run.name for run in list_runs(folder)]
    for candidate in candidates:
        if candidate.parent == folder and candidate.name in names:
            return candidate
    there = (
        f"there are {', '.join(names[:10])}" if names else "there are none; make one with replay"
    )
    raise RunError(f"no run {str(name)!r} in {folder} nor at that path; {there}")


def error_of(info: RunInfo) -> RunError:
    kind, _, rest = info.problem.partition(": ")
    if kind == "unfinished":
        return RunUnfinished(
            f"run {info.name} is unfinished: {rest}; resume it with "
            f"python -m eval replay --resume {info.folder}"
        )
    if kind == "format":
        return RunFormat(f"run {info.name} was {rest}; replay the dataset again")
    return RunDamaged(f"run {info.name} is damaged: {rest}; replay the dataset again")
