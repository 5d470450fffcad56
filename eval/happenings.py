"""What happens in a conversation, in time order, and how it is brought into the memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from eval.arms import Arm
from eval.curating import Host
from eval.dataset import ConversationRecord, NoteRecord, QuestionRecord, SummaryRecord
from memcore import PAGE, InvalidInput, Memory, Message, Summary, local_day

Happening = Message | NoteRecord | SummaryRecord | QuestionRecord


class VirtualClock:
    """A clock that stands where the replay has come to."""

    def __init__(self) -> None:
        self.time = datetime(1970, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


@dataclass(slots=True)
class Replayed:
    """The memory as a conversation left it, what the gate refused on the way, and what the curator
    did."""

    memory: Memory
    host: Host
    refused: list[str] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)


def happenings(talk: ConversationRecord) -> Iterator[Happening]:
    """Everything that happens in a conversation, in time order: at one moment messages come before
    notes, notes before questions."""
    found: list[tuple[datetime, int, str, Happening]] = [
        *((one.time, 0, one.id, one) for one in talk.messages()),
        *((one.time, 1, f"{n:06d}", one) for n, one in enumerate(talk.notes)),
        *((one.time, 2, f"{n:06d}", one) for n, one in enumerate(talk.summaries)),
        *((one.asked_at, 3, one.id, one) for one in talk.questions),
    ]
    return (one for _, _, _, one in sorted(found, key=lambda row: row[:3]))


def happen(
    state: Replayed, clock: VirtualClock, talk: ConversationRecord, happening: Happening
) -> None:
    """Moves the clock to what happens and brings it into the memory.

    Before the person speaks again, the exchange that has ended is followed up, at the time it
    ended: so a question, which is said to nobody, leaves no trace in what is written.
    """
    speaks = isinstance(happening, QuestionRecord) or (
        isinstance(happening, Message) and happening.role == "user"
    )
    if speaks and (ended := state.host.ended):
        clock.time = ended.time
        state.host.follow_up()
    clock.time = _moment(happening)
    apply(state, talk, happening)


def apply(state: Replayed, talk: ConversationRecord, happening: Happening) -> None:
    """Brings what happened into the memory; a question leaves it as it is."""
    try:
        if isinstance(happening, Message):
            stored = state.memory.conversation.append(talk.owner, happening)
            state.messages[stored.id] = stored
            state.host.said(stored)
        elif isinstance(happening, NoteRecord):
            _write_note(state.memory, talk, happening)
        elif isinstance(happening, SummaryRecord):
            summary = Summary(
                happening.thread, happening.text, happening.time, tuple(happening.sources)
            )
            state.memory.summaries.save(talk.owner, summary)
    except InvalidInput as error:
        state.refused.append(f"{talk.id}, {_moment(happening).isoformat()}: {error}")


def _write_note(memory: Memory, talk: ConversationRecord, record: NoteRecord) -> None:
    """Writes a dated note to its day, joined to what that day has; the page is replaced."""
    day = local_day(record.time, memory.settings.zone).isoformat()
    key = PAGE if record.kind == "page" else day
    current = memory.notes.get(talk.owner, key)
    text, sources = record.text, tuple(record.sources)
    if current is not None and key != PAGE:
        text, sources = f"{current.text}\n{text}", (*current.sources, *sources)
    memory.notes.write(
        talk.owner,
        key,
        text,
        writer="import",
        expected_revision=current.revision if current else 0,
        sources=sources,
    )


def turn_message(talk: ConversationRecord, happening: Happening, arm: Arm) -> Message | None:
    """The message of the turn that a happening begins, None where it begins none.

    A question's has no id: it is never stored, and a message may have the question's id.
    """
    if isinstance(happening, QuestionRecord):
        thread = talk.asked_in(happening)
        return Message("", thread, "user", talk.person, happening.asked_at, happening.text)
    if isinstance(happening, Message) and happening.role == "user" and not arm.questions_only:
        return happening
    return None


def _moment(happening: Happening) -> datetime:
    return happening.asked_at if isinstance(happening, QuestionRecord) else happening.time
