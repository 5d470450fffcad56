"""Tables that anybody can write: labelled pairs, and ready score columns.

    query,passage,relevant[,group][,language]          as CSV or JSON lines
    score,relevant[,group][,language][,query][,passage]  as CSV, JSON lines or Parquet

`relevant` is true or false, 1 or 0, yes or no. Rows with the same `group` are held out together.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from eval.dataset import LARGEST_FILE, read_text
from eval.errors import DatasetError, Fault
from eval.pairs import Group, Material, Passage, Query, faults_of_counts, make_material
from eval.score_column import ScoreColumn, about_column, categorical, read_column, read_parquet
from memcore import PassageKind

LOOKS_PAIRS = "a .csv or .jsonl with query, passage, relevant, and if you like group, language"
LOOKS_SCORES = "a .csv, .jsonl or .parquet with score, relevant, and if you like group, language"
PAIRS, SCORES = ("query", "passage", "relevant"), ("score", "relevant")
_NAMES = ("group", "language", "query", "passage")
INDEPENDENT = (
    "no column group: pairs are taken as independent; where several belong together the intervals "
    "are too narrow"
)
_YES, _NO = ("true", "1", "yes"), ("false", "0", "no")
_MOST_FAULTS = 1_000
TWICE = "the column is there twice"
_LONE = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which JSON can hold and no store can."""
_Row = tuple[int, Mapping[str, Any]]


def columns_of(path: Path) -> tuple[str, ...]:
    """The columns that a table begins with; empty where it is no table.

    Raises `DatasetError` for a damaged Parquet file and a CSV that is not UTF-8.
    """
    if not path.is_file() or path.suffix.lower() not in (".csv", ".jsonl", ".parquet"):
        return ()
    if path.suffix.lower() == ".parquet":
        about_column(path)  # raises where it is damaged
        return tuple(str(name) for name in pq.read_schema(path).names)
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = next((line for line in file if line.strip()), "")
        if "\0" in first:  # as in UTF-16 without a byte order mark
            reason = "holds NUL characters in its first line: a file must be UTF-8"
            raise DatasetError([Fault(str(path), 1, "", reason)])
        if path.suffix.lower() == ".csv":
            return tuple(name.strip() for name in next(csv.reader([first]), []))
        value = json.loads(first)
        return tuple(value) if isinstance(value, dict) else ()
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8, and a file must be UTF-8: {error.reason}"
        raise DatasetError([Fault(str(path), 0, "", reason)]) from error
    except (OSError, ValueError, RecursionError, csv.Error):
        return ()


def load_pairs(path: Path, kind: PassageKind = "note") -> Material:
    """Labelled pairs. Without a `group` each query is a group of its own.

    Raises `DatasetError` with every fault of every row.
    """
    faults: list[Fault] = []
    groups: dict[str, dict[tuple[str, str], dict[str, bool]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    grouped, repeated = False, 0
    for line, row in _rows(path, PAIRS, faults):
        query, passage = (_text(row, name, path, line, faults) for name in PAIRS[:2])
        label = _label(row, path, line, faults)
        if query is None or passage is None or label is None:
            continue
        grouped |= "group" in row
        group = _name(row, "group") if "group" in row else query
        labels = groups[group][query, _name(row, "language")]
        if passage not in labels:
            labels[passage] = label
        elif labels[passage] == label:
            repeated += 1
        else:
            reason = "the same pair was labelled otherwise before"
            faults.append(Fault(str(path), line, "relevant", reason))
    if faults:
        raise DatasetError(faults)
    remarks = [] if grouped else ["no column group: each query is a group of its own"]
    if repeated:
        rows = "row" if repeated == 1 else "rows"
        remarks.append(f"{repeated:,} {rows} left out: the same pair was there before")
    made = [_group(name, queries) for name, queries in groups.items()]
    by = "group" if grouped else "query"
    return make_material(path.stem, kind, by, made, remarks, str(path))


def load_scores(path: Path) -> ScoreColumn:
    """A ready score column, or one that `calibrate --column` wrote. A column without `relevant`
    can be compared with another, and not calibrated.

    Raises `DatasetError` with every fault of every row.
    """
    faults: list[Fault] = []
    found: dict[str, list[Any]] = defaultdict(list)
    if path.suffix.lower() == ".parquet":
        if about_column(path) is not None:
            return read_column(path)
        rows = _parquet_rows(path)
    else:
        rows = _rows(path, SCORES[:1], faults)
    for line, row in rows:
        score = _score(row, path, line, faults)
        found["score"].append(score)
        if "relevant" in row:
            found["relevant"].append(_label(row, path, line, faults))
        for name in _NAMES:
            if name in row:
                found[name].append(_name(row, name))
    _check_columns(path, found, faults)
    if faults:
        raise DatasetError(faults[:_MOST_FAULTS])
    grouped = "group" in found
    if "relevant" in found:
        count = len(found["score"])
        groups = len(set(found["group"])) if grouped else count
        by = "group" if grouped else "pair"
        reasons = faults_of_counts(groups, count, sum(found["relevant"]), by)
        if reasons:
            raise DatasetError([Fault(str(path), 0, *reason) for reason in reasons])
    remarks = () if grouped else (INDEPENDENT,)
    frame = categorical(pd.DataFrame(found))
    lines = sorted(zip(*(map(str, found[name]) for name in sorted(found)), strict=True))
    digest = hashlib.sha256(json.dumps([sorted(found), lines], ensure_ascii=False).encode())
    return ScoreColumn(
        path.stem, frame, digest.hexdigest(), "group" if grouped else "pair", remarks=remarks
    )


def _group(name: str, queries: Mapping[tuple[str, str], Mapping[str, bool]]) -> Group:
    """In the order of the texts, so that no order of rows matters."""
    texts = sorted({text for labels in queries.values() for text in labels})
    place = {text: number for number, text in enumerate(texts)}
    return Group(
        name,
        tuple(Passage(_short(text), (text,)) for text in texts),
        tuple(
            Query(
                _short(query),
                query,
                language,
                sorted(place[text] for text in labels),
                frozenset(place[text] for text, label in labels.items() if label),
            )
            for (query, language), labels in sorted(queries.items())
        ),
    )


def _short(text: str) -> str:
    """An id of a text: the same for the same text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _rows(path: Path, needed: Sequence[str], faults: list[Fault]) -> Iterator[_Row]:
    """Each row with its line; what is no row, and a missing column, become faults."""
    text = read_text(path)
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
        header = [name.strip() for name in reader.fieldnames or ()]
        if missing := [name for name in needed if name not in header]:
            reason = "the column is missing" if header else "the file is empty"
            faults += [Fault(str(path), 1, name, reason) for name in missing]
            return
        if twice := _twice(header):
            faults += [Fault(str(path), 1, name, TWICE) for name in twice]
            return
        reader.fieldnames = header
        try:
            for row in reader:
                if None in row or None in row.values():
                    reason = f"has another number of fields than the {len(header)} of the header"
                    faults.append(Fault(str(path), reader.line_num, "", reason))
                else:
                    yield reader.line_num, row
        except csv.Error as error:
            faults.append(Fault(str(path), reader.line_num, "", f"not CSV: {error}"))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(Fault(str(path), number, "", f"not JSON: {str(error)[:100]}"))
            continue
        if not isinstance(value, dict):
            faults.append(Fault(str(path), number, "", "is no JSON object"))
        elif missing := [name for name in needed if name not in value]:
            faults += [Fault(str(path), number, name, "is missing") for name in missing]
        else:
            yield number, value
    if not text.strip():
        faults.append(Fault(str(path), 0, "", "the file is empty"))


def _parquet_rows(path: Path) -> Iterator[_Row]:
    if path.stat().st_size > LARGEST_FILE:
        raise DatasetError([Fault(str(path), 0, "", f"larger than {LARGEST_FILE} bytes")])
    if twice := _twice(columns_of(path)):
        raise DatasetError([Fault(str(path), 0, name, TWICE) for name in twice])
    table = read_parquet(path)
    if "score" not in table.column_names:
        raise DatasetError([Fault(str(path), 0, "score", "the column is missing")])
    kept = [name for name in ("score", "relevant", *_NAMES) if name in table.column_names]
    return iter(enumerate(table.select(kept).to_pylist(), start=1))


def _twice(names: Sequence[str]) -> list[str]:
    """The columns that are there more than once; those without a name may be."""
    return sorted(name for name, count in Counter(names).items() if name and count > 1)


def _check_columns(path: Path, found: Mapping[str, list[Any]], faults: list[Fault]) -> None:
    """JSON lines may have a field here and not there."""
    if not faults and not found["score"]:
        faults.append(Fault(str(path), 0, "", "there is no row in it"))
    for name, values in found.items():
        if not faults and len(values) != len(found["score"]):
            faults.append(Fault(str(path), 0, name, "is there in some rows and missing in others"))


def _text(
    row: Mapping[str, Any], name: str, path: Path, line: int, faults: list[Fault]
) -> str | None:
    value = row.get(name)
    if isinstance(value, str) and value.strip():
        return _LONE.sub("\ufffd", value.strip())
    faults.append(Fault(str(path), line, name, "is empty" if not value else "is no text"))
    return None


def _name(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else _LONE.sub("\ufffd", str(value).strip())


def _label(row: Mapping[str, Any], path: Path, line: int, faults: list[Fault]) -> bool | None:
    given = str(row.get("relevant")).strip().lower().removesuffix(".0")
    if given in _YES or given in _NO:
        return given in _YES
    reason = f"{given[:40]!r} is neither true nor false (1 or 0, yes or no)"
    faults.append(Fault(str(path), line, "relevant", reason))
    return None


def _score(row: Mapping[str, Any], path: Path, line: int, faults: list[Fault]) -> float | None:
    given = row.get("score")
    try:
        if given is None or isinstance(given, bool):
            raise ValueError
        score = float(given)
        if math.isfinite(score):
            return score
        reason = f"{str(given)[:40]!r} is not finite"
    except (TypeError, ValueError, OverflowError):
        reason = f"{str(given)[:40]!r} is no number"
    faults.append(Fault(str(path), line, "score", reason))
    return None
