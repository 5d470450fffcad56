"""What can be calibrated on, by name or recognised: labelled material, a ready score column, or
text without labels, of which there is only a noise floor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from eval.dataset import Dataset, read_json, read_text
from eval.errors import DatasetError, Fault
from eval.loaders import AUTO, FORMATS, load, locate
from eval.loaders import pairs_dataset as dataset
from eval.loaders import pairs_madial as madial
from eval.loaders import pairs_table as table
from eval.loaders import pairs_xquad as xquad
from eval.pairs import Material, Texts, make_texts
from eval.score_column import ScoreColumn
from memcore import PassageKind

Source = Material | ScoreColumn | Texts
LOOKS_TEXT = "a .txt with one text a line"


class _Format(NamedTuple):
    loads: Callable[[Path, PassageKind | None], Source]
    looks: str


def load_source(source: str | Path, kind: PassageKind | None = None, format: str = AUTO) -> Source:
    """What a file, folder or bundled dataset gives to calibrate on.

    `kind` is the kind of passage; where none is given, messages of conversations and sentences,
    notes of tables and memories. Raises `DatasetError` with every fault that was found.
    """
    path = locate(source)
    name = _recognise(path) if format == AUTO else format
    if name in FORMATS or name == AUTO:
        return _of_dataset(load(source, name), kind or "message")
    if name not in PAIR_FORMATS:
        known = ", ".join((AUTO, *FORMATS, *PAIR_FORMATS))
        reason = f"{name!r} is no format; there are {known}"
        raise DatasetError([Fault(str(source), 0, "format", reason)])
    return PAIR_FORMATS[name].loads(path, kind)


def _recognise(path: Path) -> str:
    """The format of a file or folder; `auto` leaves it to the loaders of datasets."""
    columns = table.columns_of(path)
    if "score" in columns:
        return "scores"
    if "passage" in columns and "query" in columns:
        return "pairs"
    if path.suffix.lower() in (".csv", ".parquet"):
        needed = f"{', '.join(columns[:10]) or 'no columns'}"
        reason = f"has {needed}; give {table.LOOKS_PAIRS}; or {table.LOOKS_SCORES}"
        raise DatasetError([Fault(str(path), 1, "", reason)])
    if path.suffix.lower() == ".txt":
        return "text"
    if madial.recognises(path):
        return "madial"
    if path.is_dir():
        return "xquad" if xquad.recognises(path, None) else AUTO
    if path.suffix.lower() == ".json" and xquad.recognises(path, read_json(path)):
        return "xquad"
    return AUTO


def _of_dataset(found: Dataset, kind: PassageKind) -> Source:
    if not dataset.has_questions(found):
        return dataset.texts(found, kind)
    return dataset.material(found, kind)


def _xquad(path: Path, kind: PassageKind | None) -> Source:
    return xquad.load(path, kind or "message")


def _madial(path: Path, kind: PassageKind | None) -> Source:
    return madial.load(path, kind or "note")


def _pairs(path: Path, kind: PassageKind | None) -> Source:
    return table.load_pairs(path, kind or "note")


def _scores(path: Path, kind: PassageKind | None) -> Source:
    column = table.load_scores(path)
    if kind and column.kind and kind != column.kind:
        reason = f"the column is of {column.kind}s, not of {kind}s"
        raise DatasetError([Fault(str(path), 0, "kind", reason)])
    return column


def _text(path: Path, kind: PassageKind | None) -> Source:
    lines = [line.strip() for line in read_text(path).split("\n")]
    texts = [(f"line {number:07d}", line) for number, line in enumerate(lines, 1) if line]
    return make_texts(path.stem, kind or "message", "line", texts, str(path))


PAIR_FORMATS = {
    "xquad": _Format(_xquad, xquad.LOOKS),
    "madial": _Format(_madial, madial.LOOKS),
    "pairs": _Format(_pairs, table.LOOKS_PAIRS),
    "scores": _Format(_scores, table.LOOKS_SCORES),
    "text": _Format(_text, LOOKS_TEXT),
}
