"""Calibrated cutoffs as a file: what `memcore` needs of each, and what a later column is held
against.

    {"format": 1, "cutoffs": [{"identity": …, "kind": "note", "cutoff": 0.83, "low": …, …}]}

One record for each provider identity and kind of passage; a newer one replaces the older.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from eval.dataset import read_json, validate
from eval.errors import DatasetError, Fault, RunError
from eval.runs import write_json
from memcore import Cutoff, InvalidInput, PassageKind, ProviderIdentity

if TYPE_CHECKING:  # who only reads cutoffs need not load what calculates them
    from eval.calibration import Calibration
    from eval.held_out import Estimate
    from eval.score_column import ScoreColumn

FORMAT = 1
"""Of the file. A reader opens its own format only."""

NOT_CALIBRATED = "not calibrated"
Share = Annotated[float, Field(ge=0, le=1)]
Named = Annotated[str, Field(min_length=1)]
Percentiles = Annotated[list[float], Field(min_length=101, max_length=101)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Identity(_Part):
    """`memcore`'s provider identity."""

    provider: Named
    model: Named
    revision: str
    width: Annotated[int, Field(ge=1)]

    @property
    def value(self) -> ProviderIdentity:
        return ProviderIdentity(self.provider, self.model, self.revision, self.width)


class Interval(_Part):
    """A held-out share with its 95% interval."""

    value: Share
    low: Share
    high: Share


class Record(_Part):
    """A cutoff with where it comes from, its held-out figures, and the percentiles 0 to 100 of both
    classes' scores. `kept` is the share of all pairs at or above the cutoff, `kept_relevant` and
    `kept_irrelevant` that of each class: None in records of before they were kept."""

    identity: Identity
    kind: Literal["note", "message", "fact"]
    cutoff: float
    low: float
    high: float
    objective: Named
    data: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    date: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    name: str
    groups: Annotated[int, Field(ge=2)]
    relevant_pairs: Annotated[int, Field(ge=1)]
    irrelevant_pairs: Annotated[int, Field(ge=1)]
    kept: Share
    kept_relevant: Share | None = None
    kept_irrelevant: Share | None = None
    recall: Interval
    precision: Interval | None
    relevant: Percentiles
    irrelevant: Percentiles

    @property
    def value(self) -> Cutoff:
        """What `Settings.cutoffs` takes."""
        return Cutoff(
            self.identity.value, self.kind, self.cutoff, self.low, self.high, self.objective,
            self.data, self.date,
        )  # fmt: skip


class _File(_Part):
    format: Literal[1]
    cutoffs: list[Record]


_SHAPE = TypeAdapter(_File)


def record_of(made: Calibration, date: str | None = None) -> Record:
    """The record of a recommended cutoff; `date` is today (UTC) where it is not given.

    Raises `InvalidInput` where none is recommended, and where the provider or the kind of passage
    is not known, for then nothing tells what it may be used for.
    """
    column, identity, kind = made.column, made.column.identity, made.column.kind
    if made.recommended is None or made.low is None or made.high is None:
        raise InvalidInput(f"no cutoff is recommended ({made.why}), so that none is saved")
    if identity is None or kind is None:
        raise _unknown(column)
    recall = _interval(made.held_out.recall)
    if recall is None:
        raise InvalidInput("no held-out group has anything relevant, so that nothing is saved")
    said = made.verdict(made.recommended)
    return Record(
        identity=Identity(
            provider=identity.provider, model=identity.model, revision=identity.revision,
            width=identity.width,
        ),
        kind=kind,
        cutoff=made.recommended,
        low=made.low,
        high=made.high,
        objective=str(made.objective),
        data=column.data,
        date=date or f"{datetime.now(UTC):%Y-%m-%d}",
        name=column.name,
        groups=made.counts.groups,
        relevant_pairs=said.kept + said.lost,
        irrelevant_pairs=said.let_through + said.held_back,
        kept=(said.kept + said.let_through) / len(column.frame),
        kept_relevant=said.recall,
        kept_irrelevant=said.let_through_share,
        recall=recall,
        precision=_interval(made.held_out.precision),
        relevant=[float(one) for one in made.percentiles["relevant"]],
        irrelevant=[float(one) for one in made.percentiles["irrelevant"]],
    )  # fmt: skip


def check_known(column: ScoreColumn) -> None:
    """Raises `InvalidInput` where a cutoff of the column could not be saved: where its provider or
    its kind of passage is not known."""
    if column.identity is None or column.kind is None:
        raise _unknown(column)


def _unknown(column: ScoreColumn) -> InvalidInput:
    return InvalidInput(
        f"{column.name}: the column does not say which provider (name, model, revision, width) and "
        "which kind of passage it is of; a cutoff that may not be known by them counts as "
        f"{NOT_CALIBRATED}, so that it is not saved"
    )


def check_target(path: Path) -> None:
    """Raises `RunError` where something is there that is no regular file: a folder, a device."""
    if path.exists() and not path.is_file():
        raise RunError(f"{path} cannot be written: it is no regular file")


def save_record(record: Record, path: Path) -> bool:
    """Writes the record into a file of them, whole or not at all; True where it replaced one.

    Raises `DatasetError` where the file is there and is none of ours, `RunError` where it cannot be
    written.
    """
    check_target(path)
    before = load_records(path) if path.exists() else ()
    kept = [one for one in before if (one.identity, one.kind) != (record.identity, record.kind)]
    together = sorted([*kept, record], key=lambda one: (str(one.identity.value), one.kind))
    try:
        content = {"format": FORMAT, "cutoffs": [one.model_dump(mode="json") for one in together]}
        write_json(path, content)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror or error}") from error
    return len(kept) < len(before)


def load_records(path: Path) -> tuple[Record, ...]:
    """The records of a file. Raises `DatasetError` for one that is broken, or newer, or that holds
    a cutoff without provenance: that one is not calibrated."""
    try:
        return _records(path)
    except DatasetError as error:
        raise DatasetError(error.faults, "the cutoffs file") from error


def _records(path: Path) -> tuple[Record, ...]:
    if path.is_char_device() or path.is_block_device():
        raise DatasetError([Fault(str(path), 0, "", "is a device, which may have no end")])
    value = read_json(path)
    found = value.get("format") if isinstance(value, dict) else None
    if isinstance(found, int) and not isinstance(found, bool) and found != FORMAT:
        age = "a newer" if found > FORMAT else "an older"
        reason = f"written by {age} version (format {found}, this one reads {FORMAT})"
        raise DatasetError([Fault(str(path), 0, "format", reason)])
    try:
        records = validate(str(path), _SHAPE, value).cutoffs
    except DatasetError as error:
        raise DatasetError([_not_calibrated(fault) for fault in error.faults]) from error
    faults: list[Fault] = []
    seen: set[tuple[Identity, PassageKind]] = set()
    for number, one in enumerate(records):
        if (one.identity, one.kind) in seen:
            reason = "there is another for the same provider and kind"
            faults.append(Fault(str(path), 0, f"cutoffs[{number}]", reason))
        if not one.low <= one.cutoff <= one.high:
            reason = f"{one.cutoff:g} is not between low and high"
            faults.append(Fault(str(path), 0, f"cutoffs[{number}].cutoff", reason))
        seen.add((one.identity, one.kind))
    if faults:
        raise DatasetError(faults)
    return tuple(records)


def load_cutoffs(path: Path) -> tuple[Cutoff, ...]:
    """What `Settings(cutoffs=…)` takes of a file. Raises as `load_records` does."""
    return tuple(one.value for one in load_records(path))


def cutoffs_as_text(cutoffs: Sequence[Cutoff]) -> str:
    """The cutoffs as `Settings.vary(cutoffs=…)` takes them: a JSON list, always the same text."""
    return json.dumps([asdict(one) for one in cutoffs], ensure_ascii=False, sort_keys=True)


def _not_calibrated(fault: Fault) -> Fault:
    of_cutoff = fault.field.startswith("cutoffs[") and fault.reason == "is missing"
    return fault._replace(reason=f"is missing: {NOT_CALIBRATED}") if of_cutoff else fault


def _interval(estimate: Estimate) -> Interval | None:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return Interval(value=estimate.value, low=estimate.low, high=estimate.high)
