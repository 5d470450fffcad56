"""Writes a run: part by part while the replay goes on, then joined into one file a table."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from eval.errors import RunDamaged, RunError
from eval.runs import FORMAT, MANIFEST, PARTS, RunInfo, error_of, inspect_run, parts_of, write_json
from eval.tables import SCHEMAS

_REFUSED = "refused.json"
_COUNTS = "counts.json"


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
                (folder / PARTS).mkdir(exist_ok=True)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def done(self) -> set[int]:
        """The numbers of the parts that are written."""
        return {int(part.name) for part in parts_of(self.folder)}

    def forget(self, stopped: Iterable[str]) -> None:
        """Removes the parts in which an answer ended so: they are made again, and asked again."""
        ended = set(stopped)
        for part in parts_of(self.folder):
            answers = _read_part(part, "answers")
            if any(ended.intersection(one.column("stopped").to_pylist()) for one in answers):
                with _to_disk(self.folder):
                    shutil.rmtree(part)

    def write_part(
        self,
        number: int,
        pieces: Iterable[dict[str, pa.Table]],
        refused: list[str],
        counts: Callable[[], dict[str, int]] = dict,
    ) -> None:
        """Writes one conversation's tables piece by piece, and what was refused and counted in it,
        which may be known only after the last piece."""
        final = self.folder / PARTS / f"{number:06d}"
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
        parts = parts_of(self.folder)
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
        for part in parts_of(self.folder):
            try:
                yield json.loads((part / name).read_text(encoding="utf-8"))
            except (OSError, ValueError, TypeError) as error:
                raise _broken_part(part, error) from error

    def finish(self, results: dict[str, Any]) -> None:
        """Marks the run as complete, with its results in short; the parts are removed."""
        self._manifest |= {**results, "status": "complete"}
        with _to_disk(self.folder):
            write_json(self.folder / MANIFEST, self._manifest)
        shutil.rmtree(self.folder / PARTS, ignore_errors=True)


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
        raise error_of(found)
    if other := difference(found, manifest):
        raise RunError(f"run {found.name} was begun {other}; choose another name")


def difference(found: RunInfo, manifest: dict[str, Any]) -> str:
    """In what a run's input is not what a manifest says, as `with other settings` or `on other
    data`; empty where it is the same."""
    for what in ("arm", "settings", "versions", "judge"):
        if found.manifest.get(what) != manifest.get(what):
            return f"with other {what}" if what != "judge" else "with another judge"
    dataset = found.manifest["dataset"]
    return "" if dataset.get("sha256") == manifest["dataset"]["sha256"] else "on other data"


def _writer(path: Path, name: str) -> pq.ParquetWriter:
    return pq.ParquetWriter(path, SCHEMAS[name], compression="zstd")


def _append(writer: pq.ParquetWriter, table: pa.Table) -> None:
    if table.num_rows:
        writer.write_table(table, row_group_size=20_000)
