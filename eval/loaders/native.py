"""How the native form is recognised, and what other loaders share on their way to it.

A loader describes the file it expects with `SourceRecord`s, reads it through `validate`, and builds
its conversations through `Building`, which collects faults and repairs until all have been seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from eval.dataset import (
    CONVERSATION,
    ConversationRecord,
    Dataset,
    Repair,
    Shape,
    in_utc,
    make_dataset,
    read_json,
    validate,
)
from eval.errors import DatasetError, Fault

LOOKS = 'a .jsonl file with one conversation a line: {"id": …, "threads": [{"id": …, "messages": …'
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
Answer = str | int | float | None
_LINES_TRIED = 10


def recognises(path: Path, _content: Any = None) -> bool:
    """Whether one of the first lines is a conversation. Broken lines before it do not matter."""
    if not path.is_file():
        return False
    tried = 0
    with path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            tried += 1
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict) and (
                value.keys() & {"threads"} or {"id", "questions"} <= value.keys()
            ):
                return True
            if tried == _LINES_TRIED:
                return False
    return False


class SourceRecord(BaseModel):
    """What a loader expects in a foreign file: exact types; further fields are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


def date_reader(form: str, example: str) -> BeforeValidator:
    """For a field that holds a date in this `strptime` form without a zone; it is taken as UTC."""

    def read(value: object) -> object:
        if value is None or isinstance(value, datetime):
            return value
        try:
            if not isinstance(value, str) or len(value) > 100:
                raise ValueError
            found = datetime.strptime(value.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            raise ValueError(f"is no date such as {example!r}") from None
        return in_utc(found)

    return BeforeValidator(read)


def following(start: datetime, last: datetime | None) -> datetime:
    """When a session's first message is: at its start, else one second after the `last` before."""
    return start if last is None or start > last else last + SECOND


def late_start(date: datetime) -> str:
    """The repair to list where a session does not begin at its own date."""
    return f"dated {date:%Y-%m-%d %H:%M}, before the last message; begins one second after that"


def answer_text(answer: Answer) -> str | None:
    """An answer as text; sources give numbers too."""
    return None if answer is None else str(answer)


def distinct(ids: Iterable[str]) -> list[str]:
    """The ids without repetition, in their order."""
    return list(dict.fromkeys(ids))


class Building:
    """Conversations, repairs and faults of one source, gathered until all of it has been read."""

    def __init__(self, path: Path, format: str) -> None:
        self.path = path
        self.format = format
        self.faults: list[Fault] = []
        self._repairs: list[Repair] = []
        self._talks: list[ConversationRecord] = []

    def repair(self, conversation: str, what: str, part: str = "") -> None:
        """Lists something changed, assumed or left out in a conversation, or in a part of it."""
        self._repairs.append(Repair(f"{conversation}: {part}" if part else conversation, what))

    def fault(self, field: str, reason: str, file: Path | None = None) -> None:
        self.faults.append(Fault(str(file or self.path), 0, field, reason))

    def read(
        self, shape: TypeAdapter[Shape], value: Any, where: str = "", file: Path | None = None
    ) -> Shape | None:
        """The value in that shape; None where it has faults."""
        try:
            return validate(str(file or self.path), shape, value, where)
        except DatasetError as error:
            self.faults += error.faults
            return None

    def content(self, file: Path) -> Any:
        """The file's JSON; None where it has faults."""
        try:
            return read_json(file)
        except DatasetError as error:
            self.faults += error.faults
            return None

    def add(self, conversation: dict[str, Any], file: Path | None = None) -> None:
        """Takes a conversation in native form; what is wrong with it becomes faults."""
        where = f"{conversation['id']}: "[:200]
        talk = self.read(CONVERSATION, conversation, where, file)
        if talk is not None:
            self._talks.append(talk)

    def dataset(self) -> Dataset:
        """The dataset. Raises `DatasetError` with every fault that was gathered."""
        if self.faults:
            raise DatasetError(self.faults)
        name = self.path.resolve().stem
        return make_dataset(name, self.format, self._talks, self._repairs, str(self.path))
