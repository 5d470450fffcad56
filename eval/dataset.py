"""The native dataset: dated conversations with questions, one a line, validated whole.

A line of the file is one conversation as JSON. `read_native` checks every line and every reference
and reports all faults at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from reprlib import Repr
from typing import Annotated, Any, Literal, TypeVar
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from eval.errors import DatasetError, Fault
from memcore import Message, Owner, Settings

NOTE_SIZE = int(Settings.model_fields["note_size"].default)
LARGEST_FILE = 1 << 30
"""Bytes; a larger file is refused before it is read."""


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name!r}, give an IANA name") from None
    return name


def _written(value: object) -> object:
    # Pydantic would read a number as seconds or milliseconds since 1970, by its size: a guess.
    if isinstance(value, datetime) or (isinstance(value, str) and value[4:5] == "-"):
        return value
    raise ValueError("is no time; write for example 2026-03-12T14:02:00+03:00")


def in_utc(value: datetime) -> datetime:
    """The time in UTC. Raises `ValueError` outside the years that are accepted."""
    # The bounds leave room to add to a time, and every table format can hold them.
    if not FIRST_YEAR < value.year < LAST_YEAR:
        raise ValueError(f"is not between the years {FIRST_YEAR} and {LAST_YEAR}")
    return value.astimezone(UTC)


FIRST_YEAR, LAST_YEAR = 1700, 2200
Time = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(in_utc)]
Text = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(min_length=1, max_length=200)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)


class MessageRecord(_Record):
    """One utterance; `time` carries its zone."""

    id: Id
    role: Literal["user", "assistant", "tool"]
    speaker: str
    time: Time
    text: Text


class ThreadRecord(_Record):
    id: Id
    messages: list[MessageRecord]


class NoteRecord(_Record):
    """A note that somebody wrote at `time`; a dated one belongs to that local day."""

    kind: Literal["page", "dated"]
    time: Time
    text: Annotated[str, Field(min_length=1, max_length=NOTE_SIZE)]
    sources: list[Id] = []


class SummaryRecord(_Record):
    """The summary of a thread as it stood from `time` on."""

    thread: Id
    time: Time
    text: Annotated[str, Field(min_length=1, max_length=2_000)]
    sources: list[Id] = []


class FactRecord(_Record):
    """A statement for the archive. Kept with the dataset; a replay does not absorb it yet."""

    id: Id
    time: Time
    text: Annotated[str, Field(min_length=3, max_length=5_000)]
    tags: list[str] = []
    sources: list[Id] = []


class QuestionRecord(_Record):
    """Something asked at `asked_at`, with the ids of the messages that answer it.

    `kind` is free text by which results are grouped; `paraphrased` says that question and evidence
    share no content word. A question without evidence is replayed but cannot be measured.
    """

    id: Id
    text: Text
    asked_at: Time
    thread: Id | None = None
    answer: str | None = None
    evidence: list[Id] = []
    kind: str = "single"
    answerable: bool = True
    language: str | None = None
    paraphrased: bool = False


class ConversationRecord(_Record):
    """All that an agent and a person said, what was noted, and what is asked about it."""

    id: Id
    title: str = ""
    language: str = "en"
    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    team: str = "demo"
    agent: str = "assistant"
    person: str = "person"
    persona: str = ""
    threads: Annotated[list[ThreadRecord], Field(min_length=1)]
    notes: list[NoteRecord] = []
    summaries: list[SummaryRecord] = []
    facts: list[FactRecord] = []
    questions: list[QuestionRecord] = []

    @property
    def owner(self) -> Owner:
        return Owner(self.team, self.agent, self.person)

    def messages(self) -> Iterator[Message]:
        """All messages of all threads, by (time, id)."""
        found = [
            Message(one.id, thread.id, one.role, one.speaker, one.time, one.text)
            for thread in self.threads
            for one in thread.messages
        ]
        return iter(sorted(found, key=lambda one: (one.time, one.id)))

    def asked_in(self, question: QuestionRecord) -> str:
        """The thread in which a question is asked: its own, else the last one."""
        return question.thread or self.threads[-1].id


CONVERSATION = TypeAdapter(ConversationRecord)
Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True)
class Repair:
    """Something a loader changed, assumed or left out, and where."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """Conversations, where they come from, and everything that was repaired on loading.

    `sha256` is of the conversations in native form, so that the same content has the same hash in
    whatever format it came. `source` is the path or name that loads it again.
    """

    name: str
    format: str
    conversations: tuple[ConversationRecord, ...]
    repairs: tuple[Repair, ...] = ()
    sha256: str = ""
    source: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many conversations, messages and questions there are."""
        talks = self.conversations
        return {
            "conversations": len(talks),
            "messages": sum(len(thread.messages) for talk in talks for thread in talk.threads),
            "questions": sum(len(talk.questions) for talk in talks),
        }


def to_line(conversation: ConversationRecord) -> str:
    """A conversation as one line of a native file, without the line end."""
    return conversation.model_dump_json(exclude_defaults=True)


def from_line(line: str) -> ConversationRecord:
    """The conversation of a line that `to_line` wrote."""
    return ConversationRecord.model_validate_json(line)


def make_dataset(
    name: str,
    format: str,
    conversations: Iterable[ConversationRecord],
    repairs: Iterable[Repair] = (),
    source: str = "",
) -> Dataset:
    """A dataset of validated conversations. Every loader ends here.

    Raises `DatasetError` with all faults of references: ids used twice, evidence that names no
    message, a question asked before its evidence, an empty dataset. `source` names the file.
    """
    talks = tuple(conversations)
    faults = list(_faults_between(source or name, [(0, talk) for talk in talks]))
    if not talks:
        faults.append(Fault(source or name, 0, "", "there is no conversation in it"))
    if faults:
        raise DatasetError(faults)
    digest = hashlib.sha256("\n".join(to_line(talk) for talk in talks).encode()).hexdigest()
    return Dataset(name, format, talks, tuple(repairs), digest, source)


def read_native(path: Path) -> Dataset:
    """Reads a native JSON-lines file. Raises `DatasetError` with every fault of every line."""
    faults: list[Fault] = []
    talks: list[tuple[int, ConversationRecord]] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            talks.append((number, _parse(str(path), number, line)))
        except DatasetError as error:
            faults += error.faults
    faults += _faults_between(str(path), talks)
    if faults:
        raise DatasetError(sorted(faults, key=lambda fault: fault.line))
    return make_dataset(path.stem, "native", [talk for _, talk in talks], source=str(path))


def read_text(path: Path) -> str:
    """A file's text. Raises `DatasetError` where it is missing, too large or not UTF-8."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DatasetError([Fault(str(path), 0, "", f"larger than {LARGEST_FILE} bytes")])
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        raise DatasetError([Fault(str(path), 0, "", reason)]) from error
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        raise DatasetError([Fault(str(path), 0, "", reason)]) from error


def read_json(path: Path) -> Any:
    """A file's JSON. Raises `DatasetError` as `read_text` does, and where it is not JSON."""
    text = read_text(path)
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError([_not_json(str(path), 0, error)]) from error


def parse_json(text: str) -> Any:
    """Raises `ValueError` or `RecursionError` for what is no JSON or holds a lone surrogate."""
    value = json.loads(text)
    if "\\ud" in text or "\\uD" in text:
        # An escaped half of a surrogate pair is no text: no file, store or model would take it.
        json.dumps(value, ensure_ascii=False).encode()
    return value


def validate(
    file: str, shape: TypeAdapter[Shape], value: Any, where: str = "", line: int = 0
) -> Shape:
    """The value in that shape. Raises `DatasetError` with all faults, `where` before them."""
    try:
        return shape.validate_python(value)
    except ValidationError as error:
        faults = [
            Fault(file, line, _path(where, fault["loc"]), _reason(fault))
            for fault in error.errors(include_url=False)
        ]
        raise DatasetError(faults) from error


def _parse(file: str, number: int, line: str) -> ConversationRecord:
    try:
        value = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise DatasetError([_not_json(file, number, error)]) from error
    return validate(file, CONVERSATION, value, line=number)


def _not_json(file: str, number: int, error: Exception) -> Fault:
    if isinstance(error, json.JSONDecodeError):
        return Fault(
            file, number or error.lineno, "", f"not JSON: {error.msg}, column {error.colno}"
        )
    kind = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return Fault(file, number, "", f"not JSON: {kind}")


def _path(where: str, location: tuple[int | str, ...]) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return where + (steps.removeprefix(".") if not where or where.endswith(" ") else steps)


# What was given may be huge or nested deeply, and `repr` would follow it down.
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 1, 60, 40, 60


def _reason(fault: Any) -> str:
    given = _SHORT.repr(fault["input"])
    given = given if len(given) <= 60 else given[:57] + "…"
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is no field of the format; remove it or correct its name"
        case "timezone_aware":
            return f"{given} has no time zone; write for example 2026-03-12T14:02:00+03:00"
        case _:
            return f"{fault['msg'].removeprefix('Value error, ')}, got {given}"


def _faults_between(file: str, talks: list[tuple[int, ConversationRecord]]) -> Iterator[Fault]:
    """Faults that only a whole conversation, or a whole file, shows."""
    seen: dict[str, int] = {}
    for line, talk in talks:
        if talk.id in seen:
            where = f"already in line {seen[talk.id]}" if line else "twice"
            yield Fault(file, line, "id", f"{talk.id!r} is used {where}")
        seen[talk.id] = line
        for field_name, reason in _faults_within(talk):
            yield Fault(file, line, f"{talk.id}: {field_name}", reason)


def _faults_within(talk: ConversationRecord) -> Iterator[tuple[str, str]]:
    times: dict[str, datetime] = {}
    threads: set[str] = set()
    for t, thread in enumerate(talk.threads):
        if thread.id in threads:
            yield f"threads[{t}].id", f"{thread.id!r} is used twice"
        threads.add(thread.id)
        for m, message in enumerate(thread.messages):
            if message.id in times:
                yield f"threads[{t}].messages[{m}].id", f"{message.id!r} is used twice"
            if not message.text.strip():
                yield f"threads[{t}].messages[{m}].text", "holds nothing but white space"
            times[message.id] = message.time
    asked: set[str] = set()
    for q, question in enumerate(talk.questions):
        name = f"questions[{q}]"
        if question.id in asked:
            yield f"{name}.id", f"{question.id!r} is used twice"
        asked.add(question.id)
        if question.thread is not None and question.thread not in threads:
            yield f"{name}.thread", f"{question.thread!r} is no thread of the conversation"
        for id in question.evidence:
            if id not in times:
                yield f"{name}.evidence", f"{id!r} names no message"
            elif question.asked_at <= times[id]:
                asked_at, said = question.asked_at.isoformat(), times[id].isoformat()
                reason = f"{asked_at} is not after its evidence {id!r} ({said})"
                yield f"{name}.asked_at", reason
    yield from _faults_of_writings(talk, times, threads)


def _faults_of_writings(
    talk: ConversationRecord, times: dict[str, datetime], threads: set[str]
) -> Iterator[tuple[str, str]]:
    writings: list[tuple[str, NoteRecord | SummaryRecord | FactRecord]] = [
        *((f"notes[{n}]", note) for n, note in enumerate(talk.notes)),
        *((f"summaries[{n}]", summary) for n, summary in enumerate(talk.summaries)),
        *((f"facts[{n}]", fact) for n, fact in enumerate(talk.facts)),
    ]
    for name, writing in writings:
        if isinstance(writing, SummaryRecord) and writing.thread not in threads:
            yield f"{name}.thread", f"{writing.thread!r} is no thread of the conversation"
        for id in writing.sources:
            if id not in times:
                yield f"{name}.sources", f"{id!r} names no message"
            elif times[id] > writing.time:
                yield f"{name}.time", f"is before its source {id!r} ({times[id].isoformat()})"
