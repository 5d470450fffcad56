"""Datasets of every format that is known, as one model.

Each format has a module with `load`, `recognises` and a line on what it looks like; a new one is
entered in `FORMATS`. Whatever a loader changes, assumes or leaves out is in the `repairs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from eval.dataset import Dataset, make_dataset, read_json, read_native
from eval.errors import DatasetError, Fault
from eval.loaders import beam, locomo, longmemeval, native
from memcore import InvalidInput

AUTO = "auto"
BUNDLED = Path(__file__).resolve().parents[2] / "datasets"


class Format(NamedTuple):
    """`recognises` is given the path and, of a file, its JSON (None where it has none)."""

    loads: Callable[[Path], Dataset]
    recognises: Callable[[Path, Any], bool]
    looks: str


FORMATS = {
    "native": Format(read_native, native.recognises, native.LOOKS),
    "locomo": Format(locomo.load, locomo.recognises, locomo.LOOKS),
    "longmemeval": Format(longmemeval.load, longmemeval.recognises, longmemeval.LOOKS),
    "beam": Format(beam.load, beam.recognises, beam.LOOKS),
}


def load(source: str | Path, format: str = AUTO, limit: int | None = None) -> Dataset:
    """The dataset in a file or folder, or the bundled one of that name.

    `auto` recognises the format by content. `limit` keeps the first conversations, after all have
    been checked. Raises `DatasetError` with every fault that was found, also where the source does
    not exist, no format recognises it or the format is unknown; `InvalidInput` for a limit below 1.
    """
    if limit is not None and limit < 1:
        raise InvalidInput(f"limit must be at least 1, got {limit}")
    if format != AUTO and format not in FORMATS:
        reason = f"{format!r} is no format; give {AUTO} or {_formats()}"
        raise DatasetError([Fault(str(source), 0, "format", reason)])
    path = locate(source)
    dataset = FORMATS[_recognise(path) if format == AUTO else format].loads(path)
    return dataset if limit is None else _first(dataset, limit, path)


def bundled() -> tuple[str, ...]:
    """The names of the datasets that come with the project."""
    return tuple(sorted(path.stem for path in BUNDLED.glob("*.jsonl")))


def locate(source: str | Path) -> Path:
    """The path of a file, a folder or a bundled dataset. Raises `DatasetError` for none of them."""
    name = str(source)
    try:
        if name and Path(source).exists():
            return Path(source)
    except (OSError, ValueError):  # too long for a path, or with a NUL in it
        pass
    if re.fullmatch(r"[\w-]{1,100}", name) and (BUNDLED / f"{name}.jsonl").is_file():
        return BUNDLED / f"{name}.jsonl"
    known = ", ".join(bundled()) or "none"
    reason = f"is no file or folder, and no bundled dataset; bundled are: {known}"
    raise DatasetError([Fault(name[:200], 0, "", reason)])


def _recognise(path: Path) -> str:
    faults: list[Fault] = []
    content = None
    if native.recognises(path):
        return "native"
    if path.is_file():
        try:
            content = read_json(path)
        except DatasetError as error:
            faults += error.faults
    for name, format in FORMATS.items():
        if format.recognises(path, content):
            return name
    reason = f"none recognises it; give the format by name, or correct it to be {_formats()}"
    raise DatasetError([*faults, Fault(str(path), 0, "format", reason)])


def _formats() -> str:
    return "; or ".join(f"{name}: {format.looks}" for name, format in FORMATS.items())


def _first(dataset: Dataset, limit: int, path: Path) -> Dataset:
    """The first conversations alone, without the repairs of the others."""
    dropped = {talk.id for talk in dataset.conversations[limit:]}
    return make_dataset(
        dataset.name,
        dataset.format,
        dataset.conversations[:limit],
        [one for one in dataset.repairs if one.where.partition(": ")[0] not in dropped],
        str(path),
    )
