"""The score column: each query with each passage it could have found, their score, relevant or not.

    group  query  passage  score  relevant  language  query_text  passage_text

Kept as Parquet, with what made it (provider identity, kind of passage, hash of the data) in the
file's metadata. Texts are there for people to look at and are cut.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from eval.errors import DatasetError, Fault, RunError
from eval.pairs import Group, Material
from memcore import (
    Embedder,
    EmbedRole,
    InvalidInput,
    Matrix,
    PassageKind,
    ProviderIdentity,
    passages,
)

FORMAT = 1
"""Of the metadata in a column's file. A reader opens its own format only."""

SHOWN = 300
"""Characters of a text that are kept."""

DECIMALS = 6
"""Of a score: float32 has no more, and what lies beyond differs from machine to machine."""

BATCH = 64
"""Texts that are handed to a provider at once."""

_KEY = b"mnemoscope.column"
_CATEGORIES = ("group", "query", "passage", "language", "query_text", "passage_text")
Report = Callable[[int, int], None]
"""Is told how many texts of how many are embedded."""


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A score column with what made it. `relevant` is missing from `frame` where nothing is
    labelled; `identity` and `kind` are None where they are not known; `grouped_by` is what a group
    is, in one word; `data` the SHA-256 of what was scored."""

    name: str
    frame: pd.DataFrame
    data: str
    grouped_by: str
    identity: ProviderIdentity | None = None
    kind: PassageKind | None = None
    remarks: tuple[str, ...] = ()

    @property
    def labelled(self) -> bool:
        return "relevant" in self.frame.columns

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in it; empty where none is given."""
        if "language" not in self.frame.columns:
            return ()
        return tuple(sorted(map(str, self.frame["language"].dropna().unique())))


def score_column(
    material: Material, embedder: Embedder, report: Report = lambda _done, _all: None
) -> ScoreColumn:
    """Scores the material with a provider; each distinct text is embedded once.

    An item's score is the cosine of its best passage. Raises `ProviderError`.
    """
    queries = _distinct(
        passages.of_query(one.text) for group in material.groups for one in group.queries
    )
    texts = _distinct(
        text for group in material.groups for one in group.passages for text in one.texts
    )
    total = len(queries) + len(texts)
    asked = _embed(embedder, list(queries), "query", lambda done: report(done, total))
    held = _embed(embedder, list(texts), "passage", lambda done: report(len(queries) + done, total))
    parts = [_scored(group, queries, asked, texts, held) for group in material.groups]
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    return ScoreColumn(
        material.name,
        categorical(frame),
        material.sha256,
        material.grouped_by,
        embedder.identity,
        material.kind,
        material.remarks,
    )


def embedded(
    embedder: Embedder, texts: list[str], role: EmbedRole, report: Report = lambda _done, _all: None
) -> Matrix:
    """A vector for each text, float32 `[n, width]`, each distinct one embedded once."""
    places = _distinct(texts)
    vectors = _embed(embedder, list(places), role, lambda done: report(done, len(places)))
    return vectors[[places[text] for text in texts]]


def _distinct(texts: Iterator[str] | list[str]) -> dict[str, int]:
    """Each text once, with its place."""
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}


def _embed(
    embedder: Embedder, texts: list[str], role: EmbedRole, report: Callable[[int], None]
) -> Matrix:
    if not texts:
        return np.zeros((0, embedder.identity.width), dtype=np.float32)
    parts = []
    for start in range(0, len(texts), BATCH):
        parts.append(embedder.embed(texts[start : start + BATCH], role))
        report(min(start + BATCH, len(texts)))
    return np.concatenate(parts)


def _scored(
    group: Group, queries: Mapping[str, int], asked: Matrix, texts: Mapping[str, int], held: Matrix
) -> pd.DataFrame:
    """The pairs of one group; no loop goes over pairs."""
    rows = [texts[text] for passage in group.passages for text in passage.texts]
    starts = np.cumsum([0, *(len(passage.texts) for passage in group.passages[:-1])])
    cosines = asked[[queries[passages.of_query(one.text)] for one in group.queries]] @ held[rows].T
    scores = np.maximum.reduceat(cosines, starts, axis=1)  # [queries, passages]
    counts = [len(one.candidates) for one in group.queries]
    of_pair = np.repeat(np.arange(len(group.queries)), counts)
    places = np.concatenate([np.asarray(one.candidates, dtype=np.intp) for one in group.queries])
    relevant = np.zeros(scores.shape, dtype=bool)
    for number, one in enumerate(group.queries):
        relevant[number, list(one.relevant)] = True
    asked_texts = [_cut(one.text) for one in group.queries]
    languages = [one.language for one in group.queries]
    found_texts = [_cut("\n".join(one.texts)) for one in group.passages]
    return pd.DataFrame(
        {
            "group": group.id,
            "query": np.array([one.id for one in group.queries], dtype=object)[of_pair],
            "passage": np.array([one.id for one in group.passages], dtype=object)[places],
            "score": np.round(scores[of_pair, places].astype(np.float64), DECIMALS),
            "relevant": relevant[of_pair, places],
            "language": np.array(languages, dtype=object)[of_pair],
            "query_text": np.array(asked_texts, dtype=object)[of_pair],
            "passage_text": np.array(found_texts, dtype=object)[places],
        }
    )


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def write_column(column: ScoreColumn, path: Path) -> None:
    """Writes a column as Parquet, whole or not at all. Raises `RunError` where it cannot."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        scratch.write_bytes(as_parquet(column))
        scratch.replace(path)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise RunError(f"{path} cannot be written: {error.strerror or error}") from error


def as_parquet(column: ScoreColumn) -> bytes:
    """A column as a Parquet file."""
    identity = column.identity
    about = {
        "format": FORMAT,
        "name": column.name,
        "data": column.data,
        "grouped_by": column.grouped_by,
        "kind": column.kind,
        "identity": identity
        and [identity.provider, identity.model, identity.revision, identity.width],
        "remarks": list(column.remarks),
    }
    table = pa.Table.from_pandas(column.frame, preserve_index=False)
    metadata = {**(table.schema.metadata or {}), _KEY: json.dumps(about, sort_keys=True).encode()}
    made = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), made, compression="zstd")
    return made.getvalue()


def read_column(path: Path) -> ScoreColumn:
    """Reads a column that `write_column` wrote. Raises `DatasetError` with every fault."""
    about = about_column(path)
    if about is None:
        reason = "does not say what made it; it was not written by calibrate --column"
        raise DatasetError([Fault(str(path), 0, "", reason)])
    if about.get("format") != FORMAT:
        reason = f"has format {about.get('format')}, this version reads {FORMAT}; build it again"
        raise DatasetError([Fault(str(path), 0, "format", reason)])
    frame = cast(pd.DataFrame, read_parquet(path).to_pandas())
    kind = about.get("kind")
    try:
        identity = ProviderIdentity(*about["identity"]) if about.get("identity") else None
        return ScoreColumn(
            str(about["name"]),
            frame,
            str(about["data"]),
            str(about["grouped_by"]),
            identity,
            kind if kind in ("note", "message", "fact") else None,
            tuple(about["remarks"]),
        )
    except (KeyError, TypeError) as error:
        reason = f"its metadata is damaged ({error}); build it again"
        raise DatasetError([Fault(str(path), 0, "", reason)]) from error


def about_column(path: Path) -> dict[str, Any] | None:
    """What the metadata of a Parquet file say of a column, None where they say nothing.

    Raises `DatasetError` where it is no Parquet file.
    """
    try:
        found = (pq.read_schema(path).metadata or {}).get(_KEY)
        value = None if found is None else json.loads(found)
    except (OSError, pa.ArrowException, ValueError) as error:
        raise _damaged(path, error) from error
    return value if isinstance(value, dict) else None


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file's table. Raises `DatasetError` where it is damaged."""
    try:
        table = pq.read_table(path)
        table.validate(full=True)
    except (OSError, pa.ArrowException, ValueError) as error:
        raise _damaged(path, error) from error
    return table


def _damaged(path: Path, error: Exception) -> DatasetError:
    cause = str(error).partition("\n")[0][:200]
    reason = f"no Parquet file that can be read, it is damaged or cut off: {cause}"
    return DatasetError([Fault(str(path), 0, "", reason)])


def only_language(column: ScoreColumn, language: str) -> ScoreColumn:
    """The pairs of one language. Raises `InvalidInput` where there is none."""
    if language not in column.languages:
        known = ", ".join(column.languages) or "none"
        raise InvalidInput(f"there is no pair in language {language!r}; there are {known}")
    frame = column.frame[column.frame["language"] == language].reset_index(drop=True)
    for name in _CATEGORIES:
        if name in frame.columns:
            frame[name] = frame[name].cat.remove_unused_categories()
    data = hashlib.sha256(f"{column.data} {language}".encode()).hexdigest()
    return replace(column, name=f"{column.name} ({language})", frame=frame, data=data)


def categorical(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its names and texts as categories, which repeat at no cost."""
    return frame.astype({name: "category" for name in _CATEGORIES if name in frame.columns})


def groups_of(frame: pd.DataFrame) -> NDArray[np.intp]:
    """The group of each row as a number, numbered in the order of their names."""
    names = frame["group"].astype("str")
    return cast("NDArray[np.intp]", names.factorize(sort=True)[0])
