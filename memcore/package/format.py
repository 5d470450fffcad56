"""The form of a package: its members, its limits, and each line as a record that is checked."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memcore.types import Event, Message, Note, Owner, Role, Summary, Writer

FORMAT = 1
"""The newest format that this version writes and reads."""

KIND = "mnemoscope memory package"
MANIFEST = "manifest.json"
NOTES, MESSAGES = "notes.jsonl", "messages.jsonl"
SUMMARIES, JOURNAL = "summaries.jsonl", "journal.jsonl"
WRITTEN = (JOURNAL, MESSAGES, NOTES, SUMMARIES)
RESERVED = ("edges.jsonl", "entities.jsonl", "facts.jsonl", "profile.jsonl", "skills.jsonl")
"""Members of later formats. They may be absent, and hold nothing in this one."""

MIB = 1 << 20
PACKAGE_BYTES = 512 * MIB
"""The most that a package may have as a file, and all its members together unpacked."""
MEMBER_BYTES = 256 * MIB
"""The most that a member may have unpacked."""
MANIFEST_BYTES = 64 << 10
DIRECTORY_BYTES = 64 << 10
"""The most that the list of members at the zip's end may have."""
LINE_BYTES = 4 * MIB
ROWS = 1_000_000
"""The most lines of a member."""
RATIO = 100
"""The most bytes that one packed byte may become, in members of more than a MiB."""
SOURCES = 10_000
"""The most sources of one item."""
LARGEST = 2**31 - 1
"""The highest revision."""


def _plain(name: str) -> str:
    if any(unicodedata.category(one) in ("Cc", "Zl", "Zp") for one in name):
        raise ValueError("an id or a name has a control character")
    return name


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("a time is text in ISO 8601")
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is None:
            raise ValueError("the time has no zone")
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the time is out of range") from error


Name = Annotated[str, AfterValidator(_plain)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Sources = Annotated[tuple[Name, ...], Field(max_length=SOURCES)]
Size = Annotated[int, Field(ge=0, le=PACKAGE_BYTES)]


class Row(BaseModel):
    """One JSON object of a package: no other keys than these, no value of another type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class NoteRow(Row):
    key: Name
    revision: Annotated[int, Field(ge=1, le=LARGEST)]
    written: Moment
    writer: Writer
    sources: Sources
    text: str

    def note(self) -> Note:
        return Note(self.key, self.text, self.revision, self.written, self.writer, self.sources)


class MessageRow(Row):
    thread: Name
    time: Moment
    id: Name
    role: Role
    speaker: str
    text: str

    def message(self) -> Message:
        return Message(self.id, self.thread, self.role, self.speaker, self.time, self.text)


class SummaryRow(Row):
    thread: Name
    written: Moment
    sources: Sources
    text: str

    def summary(self) -> Summary:
        return Summary(self.thread, self.text, self.written, self.sources)


class EventRow(Row):
    time: Moment
    actor: str
    action: str
    subject: Name
    sources: Sources
    detail: str

    def event(self) -> Event:
        return Event(self.time, self.actor, self.action, self.subject, self.sources, self.detail)


class OwnerRow(Row):
    team: Name
    agent: Name
    person: Name

    def owner(self) -> Owner:
        return Owner(self.team, self.agent, self.person)


class CountsRow(Row):
    notes: Size
    revisions: Size
    messages: Size
    summaries: Size
    events: Size


class MemberRow(Row):
    bytes: Size
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Manifest(Row):
    kind: Literal["mnemoscope memory package"]
    format: Annotated[int, Field(ge=1, le=FORMAT)]
    owner: OwnerRow
    counts: CountsRow
    members: dict[str, MemberRow]


class ManifestHead(BaseModel):
    """What every format's manifest has, whatever else is in it."""

    model_config = ConfigDict(strict=True)

    kind: Literal["mnemoscope memory package"]
    format: Annotated[int, Field(ge=1)]


def line(record: Note | Message | Summary | Event) -> bytes:
    """A record as a line: JSON in UTF-8 with its keys in order, times in UTC."""
    values = asdict(record)
    values.pop("place", None)
    return _json(values) + b"\n"


def lines(records: Iterable[Note | Message | Summary | Event]) -> bytes:
    """A member: a line for each record."""
    return b"".join(map(line, records))


def manifest(owner: Owner, counts: Mapping[str, int], members: Mapping[str, Any]) -> bytes:
    """The manifest's bytes; `members` has size and sum of each."""
    return _json({
        "kind": KIND,
        "format": FORMAT,
        "owner": asdict(owner),
        "counts": dict(counts),
        "members": dict(members),
    }, indent=1) + b"\n"  # fmt: skip


def fault(error: ValidationError) -> str:
    """What is wrong, in one short line, without the value itself."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])[:60]
    told = first["msg"].removeprefix("Value error, ")
    return f"{place!a}: {told}" if place else told


def _json(value: object, indent: int | None = None) -> bytes:
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(
        value,
        ensure_ascii=False,
        sort_keys=True,
        indent=indent,
        separators=separators,
        default=_in_utc,
    ).encode()


def _in_utc(time: datetime) -> str:
    return time.astimezone(UTC).isoformat()
