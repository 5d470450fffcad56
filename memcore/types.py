"""The nouns of the product, as frozen records without behaviour.

Times are aware and in UTC. Lengths are characters as `len` counts them. Scores: higher is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Role = Literal["user", "assistant", "tool"]
NoteKind = Literal["page", "dated"]
Writer = Literal["import", "remember", "curator"]
LayerStatus = Literal["ok", "empty", "skipped", "failed"]
SearchMode = Literal["lexical", "semantic", "hybrid"]
PassageKind = Literal["note", "message", "fact"]
EmbedRole = Literal["query", "passage"]
Matrix = NDArray[np.float32]
"""Vectors as rows: float32 `[n, width]`, each L2-normalised; or one of them, `[width]`."""

PAGE = "page"
"""Key of the curated page; a dated note's key is its day, `YYYY-MM-DD`."""


class Layer(StrEnum):
    """The layers of a prompt, in the order of the account."""

    PERSONA = "persona"
    LAST_EXCHANGE = "last_exchange"
    SUMMARY = "summary"
    NOTES = "notes"
    EXCERPTS = "excerpts"
    WINDOW = "window"


class Reason(StrEnum):
    """Why an item that was offered to a layer is not in the prompt."""

    OVER_BUDGET = "over budget"
    OVER_LIMIT = "over the number allowed"
    IN_WINDOW = "in window"
    DUPLICATE = "duplicate"
    BELOW_CUTOFF = "below cutoff"
    NOT_FIRST = "no user message before it"
    TOOL_OUTPUT = "tool output"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory it is. Nothing crosses teams, and no other agent or person reads it."""

    team: str
    agent: str
    person: str


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance. `place` is its position in its thread from 0, given by the store."""

    id: str
    thread: str
    role: Role
    speaker: str
    time: datetime
    text: str
    place: int = -1


@dataclass(frozen=True, slots=True)
class Note:
    """A line of durable memory, written on purpose.

    `key` is `PAGE` or a day (`YYYY-MM-DD`, the owner's local day); `sources` are the ids of the
    messages that it comes from.
    """

    key: str
    text: str
    revision: int
    written: datetime
    writer: Writer
    sources: tuple[str, ...] = ()

    @property
    def kind(self) -> NoteKind:
        return "page" if self.key == PAGE else "dated"


@dataclass(frozen=True, slots=True)
class Summary:
    """What was said in a thread before its window. `sources` are message ids."""

    thread: str
    text: str
    written: datetime
    sources: tuple[str, ...] = ()


class Cursor(NamedTuple):
    """How far a background pass has read a thread: the last message that it has read."""

    time: datetime
    message: str


class Unread(NamedTuple):
    """A message that a background pass has not read yet. `size` is in characters."""

    place: int
    role: Role
    size: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A line that is proposed for a note, and the ids of the messages that it comes from.

    A `lasting` one belongs on the page, another in the note of its day. `updates` is the line of
    the page that it makes out of date, if it names one.
    """

    text: str
    sources: tuple[str, ...]
    lasting: bool = False
    updates: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A note that is to be written. `expected_revision` is the one that the writer has read."""

    key: str
    text: str
    expected_revision: int
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the journal: who did what, when, to which note, from which messages."""

    time: datetime
    actor: str
    action: str
    subject: str
    sources: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ProviderIdentity:
    """What made a vector. Vectors whose identities differ in anything never meet."""

    provider: str
    model: str
    revision: str
    width: int

    def __str__(self) -> str:
        revision = f" {self.revision}" if self.revision else ""
        return f"{self.provider}:{self.model}{revision}, {self.width} wide"


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The score from which a passage of one kind is relevant to one provider, and where that comes
    from.

    `low` and `high` bound it with 95% confidence, `objective` is what it was chosen by, `data` the
    SHA-256 of what it was calibrated on, `date` the day of that (`YYYY-MM-DD`).
    """

    identity: ProviderIdentity
    kind: PassageKind
    cutoff: float
    low: float
    high: float
    objective: str
    data: str
    date: str


@dataclass(frozen=True, slots=True)
class QueuedPassage:
    """An item whose passages wait to be embedded.

    `attempts` counts how often a provider refused its text, `error` is what it said last.
    """

    kind: PassageKind
    item: str
    revision: int
    attempts: int = 0
    error: str = ""


LENGTH_BITS = 12
"""A message's number carries how many stems it has in its lowest bits, so that BM25 needs nothing
but numbers and frequencies of the thousands of messages that a query's words stand in."""

LONGEST = (1 << LENGTH_BITS) - 1
"""Stems; a longer message counts as this long."""


class Located(NamedTuple):
    """Where a message stands, by its number. `time` is in microseconds since 1970 (UTC), `size` in
    characters."""

    number: int
    id: str
    thread: str
    place: int
    time: int
    size: int


@dataclass(frozen=True, slots=True)
class Matches:
    """All that BM25 needs of one owner's messages, from any store.

    `documents` and `mean_length` describe the owner's messages alone, so that another tenant's
    text never moves a score. `postings` has an entry for every stem asked: how often it stands in
    each message that holds it, by the message's number. Numbers grow as messages are stored.
    """

    documents: int
    mean_length: float
    postings: Mapping[str, Mapping[int, int]]


class Near(NamedTuple):
    """An item that a search by meaning brought, by its best passage.

    `cosine` is what a provider's cutoff is compared with. `contrast` is how far it stands out: in
    standard deviations above the mean of all passages searched, once what these have in common
    (their mean vector) is taken out of them and of the query.
    """

    item: str
    cosine: float
    contrast: float


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that a search found, with its score and the piece that matched best."""

    message: Message
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A dated, attributed quotation of one or more neighbouring messages.

    `text` is the rendered form that stands in the prompt. `cut` is true where the one message
    that it quotes was too long and only its matching part is there. `rank` counts from 1 among
    the messages found; `seed` is the message that was found.
    """

    seed: str
    messages: tuple[str, ...]
    text: str
    score: float
    rank: int
    cut: bool


class Item(NamedTuple):
    """Something offered to a layer, kept or dropped.

    `size` is in rendered characters. `covers` are the ids of the messages that it carries: whole
    where `cut` is false. `place` is where it stood in the layer's order, from 1.
    """

    layer: Layer
    id: str
    kind: str
    size: int
    kept: bool
    place: int
    reason: Reason | None = None
    detail: str = ""
    score: float | None = None
    covers: tuple[str, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class LayerAccount:
    """What one layer asked for and what it received, in characters of the prompt.

    `asked` is what it would take were its own `cap` the only bound, `granted` what the ceiling
    left of that, `received` what is really in the prompt, headings and separators included. `cap`
    is None where the layer has none. `milliseconds` is how long reading and rendering took.
    """

    layer: Layer
    asked: int
    cap: int | None
    granted: int
    received: int
    offered: int
    kept: int
    dropped: int
    order: str
    status: LayerStatus
    note: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class VectorAccount:
    """What meaning could do for a turn.

    `identity` is None where the provider cannot say who it is. `invisible` passages of the owner
    were embedded by another, `waiting` items are not embedded yet. `error` says what the provider
    failed with, empty where it did not or was not asked.
    """

    identity: ProviderIdentity | None
    invisible: int = 0
    waiting: int = 0
    error: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Account:
    """A row per layer, and totals in characters.

    `total` is the length of the prompt, `spent` the part of it that counts against `ceiling`
    (all but the persona). `unchanged` is how many leading characters of the system prompt equal
    the previous turn's, None where there was none. `vectors` is None where no provider is set.
    """

    layers: tuple[LayerAccount, ...]
    ceiling: int
    spent: int
    total: int
    unchanged: int | None = None
    vectors: VectorAccount | None = None

    def row(self, layer: Layer) -> LayerAccount:
        return next(row for row in self.layers if row.layer is layer)


@dataclass(frozen=True, slots=True)
class PromptLayer:
    """The rendered text of one layer, with the separator that stands before it.

    For the last exchange and the window, which are sent as history, it is the text of their
    messages as they stand in the prefix.
    """

    layer: Layer
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the history, in the form that providers take."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Composition:
    """What one turn's model is shown, and what was paid for it.

    `system` is the system prompt, `prefix` the history before the new message, `layers` the text
    of each layer in prompt order, `items` everything that was offered to a layer.
    """

    layers: tuple[PromptLayer, ...]
    system: str
    prefix: tuple[Turn, ...]
    account: Account
    items: tuple[Item, ...] = field(repr=False)
    message: str = ""

    @property
    def messages(self) -> tuple[Turn, ...]:
        """The history and the new message, strictly alternating, ready to send."""
        if self.prefix and self.prefix[-1].role == "user":
            last = Turn("user", f"{self.prefix[-1].content}\n\n{self.message}")
            return (*self.prefix[:-1], last)
        return (*self.prefix, Turn("user", self.message))
