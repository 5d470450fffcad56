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

import fcntl
import glob
import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eval.errors import RunDamaged, RunError, RunFormat, RunUnfinished
from eval.tables import SCHEMAS

FORMAT = 2
"""Of the run folder. A reader opens its own format only."""

MANIFEST = "manifest.json"
_PARTS = "parts"
_REFUSED = "refused.json"
_COUNTS = "counts.json"
# What a manifest must hold for its readers, and what besides when the run is complete.
_FIELDS: dict[str, type] = {
    "dataset": dict, "counts": dict, "arm": str, "settings": dict, "changed_settings": dict,
    "started": str,
}  # fmt: skip
_RESULTS: dict[str, type] = {"results": dict, "refused": list}
_local = threading.local()


class RunWriter:
    """Writes a run part by part. A part is a conversation; it is there wholly or not at all.

    Use it with `with`: one process at a time writes a run, and another is refused meanwhile. Every
    method raises `RunError` where the disk does not take what is written.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Begins a run, or goes on with an unfinished one of the same input.

        Raises `RunError` where the folder holds a complete run, one of other input, one that is
        being written, or something that is no run.
        """
        self.folder = folder
        self._manifest = {"format": FORMAT, "status": "running", **manifest}
        with _to_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder)
        try:
            if (folder / MANIFEST).exists():
                _check_same(inspect_run(folder), self._manifest)
            elif any(not path.name.startswith(".") for path in folder.iterdir()):
                raise RunError(f"{folder} is there already and is no run; choose another name")
            with _to_disk(folder):
                write_json(folder / MANIFEST, self._manifest)
                (folder / _PARTS).mkdir(exist_ok=True)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def done(self) -> set[int]:
        """The numbers of the parts that are written."""
        return {int(part.name) for part in _parts(self.folder)}

    def write_part(
        self,
        number: int,
        pieces: Iterable[dict[str, pa.Table]],
        refused: list[str],
        counts: Callable[[], dict[str, int]] = dict,
    ) -> None:
        """Writes one conversation's tables piece by piece, and what was refused and counted in it,
        which may be known only after the last piece."""
        final = self.folder / _PARTS / f"{number:06d}"
        scratch = final.with_suffix(".tmp")
        shutil.rmtree(scratch, ignore_errors=True)
        with ExitStack() as files:
            with _to_disk(self.folder):
                scratch.mkdir()
                writers = {
                    name: files.enter_context(_writer(scratch / f"{name}.parquet", name))
                    for name in SCHEMAS
                }
            for tables in pieces:
                with _to_disk(self.folder):
                    for name, table in tables.items():
                        _append(writers[name], table)
        with _to_disk(self.folder):
            write_json(scratch / _REFUSED, refused)
            write_json(scratch / _COUNTS, counts())
            scratch.rename(final)

    def join(self) -> None:
        """Joins the parts into one file a table."""
        parts = _parts(self.folder)
        for name in SCHEMAS:
            target = self.folder / f"{name}.parquet"
            scratch = target.with_suffix(".tmp")
            with _to_disk(self.folder):
                with _writer(scratch, name) as writer:
                    for part in parts:
                        for table in _read_part(part, name):
                            _append(writer, table)
                scratch.replace(target)

    def refused(self) -> list[str]:
        """What was refused in all parts that are written."""
        found: list[str] = []
        for refused in self._of_parts(_REFUSED):
            found += refused
        return found

    def counts(self) -> dict[str, int]:
        """What was counted in all parts that are written, added up by name."""
        found: Counter[str] = Counter()
        for counts in self._of_parts(_COUNTS):
            found.update(counts)
        return dict(found)

    def _of_parts(self, name: str) -> Iterator[Any]:
        for part in _parts(self.folder):
            try:
                yield json.loads((part / name).read_text(encoding="utf-8"))
            except (OSError, ValueError, TypeError) as error:
                raise _broken_part(part, error) from error

    def finish(self, results: dict[str, Any]) -> None:
        """Marks the run as complete, with its results in short; the parts are removed."""
        self._manifest |= {**results, "status": "complete"}
        with _to_disk(self.folder):
            write_json(self.folder / MANIFEST, self._manifest)
        shutil.rmtree(self.folder / _PARTS, ignore_errors=True)


def _parts(folder: Path) -> list[Path]:
    """The parts that are written, in order; none where another process has just removed them."""
    with suppress(OSError):
        return sorted(path for path in (folder / _PARTS).iterdir() if path.name.isdigit())
    return []


def _read_part(part: Path, name: str) -> Iterator[pa.Table]:
    try:
        with pq.ParquetFile(part / f"{name}.parquet") as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group)
    except (OSError, pa.ArrowException) as error:
        raise _broken_part(part, error) from error


def _broken_part(part: Path, error: Exception) -> RunDamaged:
    return RunDamaged(
        f"{part} is damaged ({str(error).partition(chr(10))[0]}); "
        "remove it and resume, or replay under another name"
    )


def _locked(folder: Path) -> int:
    """The open folder, locked until it is closed or the process ends, however it ends."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        reason = "is being written by another process; wait for it or choose another name"
        raise RunError(f"run {folder.name} {reason}") from None
    except OSError:  # a file system without locks: then nobody watches over it
        pass
    return opened


@contextmanager
def _to_disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror or error}") from error


def _check_same(found: RunInfo, manifest: dict[str, Any]) -> None:
    if found.complete:
        raise RunError(f"run {found.name} is complete already; choose another name")
    if not found.problem.startswith("unfinished"):
        raise _error_of(found)
    for what in ("arm", "settings", "versions"):
        if found.manifest.get(what) != manifest[what]:
            raise RunError(f"run {found.name} was begun with other {what}; choose another name")
    if found.manifest["dataset"].get("sha256") != manifest["dataset"]["sha256"]:
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


def _writer(path: Path, name: str) -> pq.ParquetWriter:
    return pq.ParquetWriter(path, SCHEMAS[name], compression="zstd")


def _append(writer: pq.ParquetWriter, table: pa.Table) -> None:
    if table.num_rows:
        writer.write_table(table, row_group_size=20_000)


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
    if type(found) is not int:
        problem = f"damaged: {MANIFEST} does not say which format it has"
    elif found != FORMAT:
        age = "an older" if found < FORMAT else "a newer"
        problem = f"format: written by {age} version (format {found}, this one reads {FORMAT})"
    elif broken := _broken(manifest):
        problem = f"damaged: {MANIFEST} has no usable {', '.join(broken)}"
    elif manifest["status"] != "complete":
        total = manifest["counts"].get("conversations", "?")
        done = len(_parts(folder))
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
