"""What was said: appended, read back and searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memcore import text as analysis
from memcore.errors import InvalidInput
from memcore.indexing import Index
from memcore.ports import Store, Transaction
from memcore.ranking import rank
from memcore.screening import mask
from memcore.settings import Settings
from memcore.types import Message, MessageHit, Owner, QueuedPassage

_ROLES = ("user", "assistant", "tool")
SNIPPET = 500
"""Characters of a search hit's snippet: as many as an excerpt may have, so most are whole."""


class Conversation:
    """Messages of every owner, over one store. With an `index` each is embedded once stored."""

    def __init__(self, store: Store, settings: Settings, index: Index | None = None) -> None:
        self._store = store
        self._settings = settings
        self._index = index

    def append(self, owner: Owner, message: Message) -> Message:
        """Stores a message with its search entry, in one transaction; returns it with its place.

        Raises `InvalidInput` for a message without id or text, with an unknown role or a time
        without zone, and `Conflict` where the owner has a message of that id. Lone surrogates in
        the text and the speaker's name become U+FFFD.
        """
        message = checked(message)
        with self._store.transaction() as tx:
            stored = _append(tx, owner, message)
        if self._index is not None:
            self._index.keep_up(owner)
        return stored

    def restore(self, tx: Transaction, owner: Owner, message: Message) -> Message:
        """Like `append`, as a part of the caller's transaction; nothing is embedded."""
        return _append(tx, owner, checked(message))

    def recent(
        self, owner: Owner, thread: str, limit: int, before: str | None = None
    ) -> list[Message]:
        """The last messages of a thread, newest first; `before` is the id to page back from.

        Returns an empty list where `before` is not a message of that thread.
        """
        with self._store.reading() as parts:
            place = None
            if before is not None:
                place = parts.messages.place_of(owner, thread, before)
                if place is None:
                    return []
            return parts.messages.recent(owner, thread, max(limit, 0), place)

    def search(
        self,
        owner: Owner,
        query: str,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[MessageHit]:
        """Ranked full-text search over all the owner's threads, best first.

        A query is data: nothing in it acts as an operator, nothing raises. Returns at most `limit`
        hits, each with a snippet of at most `SNIPPET` characters, secrets masked. `since` and
        `until` are included; raises `InvalidInput` where one has no zone.
        """
        for name, time in (("since", since), ("until", until)):
            if time is not None and time.tzinfo is None:
                raise InvalidInput(f"{name} is a time without a zone; give an aware time")
        wanted = analysis.query_stems(query)
        with self._store.reading() as parts:
            ranked = rank(
                parts.messages,
                owner,
                wanted,
                self._settings,
                max(limit, 0),
                since=since,
                until=until,
            ).best
            messages = parts.messages.get(owner, [one.id for one in ranked])
        return [
            MessageHit(message, one.score, _snippet(message.text, wanted))
            for one, message in zip(ranked, messages, strict=True)
        ]


def _append(tx: Transaction, owner: Owner, message: Message) -> Message:
    stored = tx.messages.append(owner, message, passage_stems(message))
    tx.queue.add(owner, QueuedPassage("message", message.id, 1))
    return stored


def _snippet(text: str, wanted: Sequence[str]) -> str:
    text = mask(text)  # before it is cut: half a secret looks like none
    if len(text) <= SNIPPET:
        return text
    start, end = analysis.cut_around(text, wanted, SNIPPET)
    return text[start:end]


def passage_stems(message: Message) -> list[str]:
    """What a message is found by: who said it, and its text."""
    return analysis.stems(message.speaker) + analysis.stems(message.text)


def checked(message: Message) -> Message:
    """The message as it may be stored; raises `InvalidInput` as `Conversation.append` does."""
    if message.role not in _ROLES:
        raise InvalidInput(
            f"message {message.id!r} has role {message.role!r}; use one of {', '.join(_ROLES)}"
        )
    if message.time.tzinfo is None:
        raise InvalidInput(f"message {message.id!r} has a time without a zone; give an aware time")
    if not message.id:
        raise InvalidInput(f"a message of thread {message.thread!r} has no id; give it one")
    if not message.text.strip():
        raise InvalidInput(f"message {message.id!r} has no text; leave it out")
    text, speaker = analysis.clean(message.text), analysis.clean(message.speaker)
    return replace(message, text=text, speaker=speaker)
