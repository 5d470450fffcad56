"""The background pass that re-reads a conversation once it has moved on, and writes down what
deserves to outlive it.

It reads what the person and the assistant said, never notes, excerpts, persona or tool output. A
pass writes its notes and moves its cursor in one transaction of the gate's, or leaves everything as
it was and reads the same again next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memcore.backoff import Attempts
from memcore.errors import Conflict, InvalidInput, StaleRevision
from memcore.extraction import propose
from memcore.merging import Dated, Merged, bare, fold, merge
from memcore.notes import Notes
from memcore.ports import Check, Proposer, Store, Transaction
from memcore.proposals import fault, is_unusable, parse
from memcore.screening import mask
from memcore.settings import Settings
from memcore.text import local_day
from memcore.types import PAGE, Cursor, Draft, Message, Owner, Proposal, Unread

READER = "curator"
_ATTEMPTS = 5
"""How often a pass starts over from the notes as they stand, where others write meanwhile."""


@dataclass(frozen=True, slots=True)
class Written:
    """A line that was written, the key of its note, and the messages it cites."""

    key: str
    line: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What one pass did. `refused` are lines with the reason, secrets in them masked. With an
    `error` nothing was written and the cursor stands where it stood; one that begins with
    `no summary` is about the thread's summary alone.

    `waiting` says that a model was not asked because it failed lately; the error says with what and
    until when. `summary_refused` are lines left out of the thread's summary.
    """

    proposed: int = 0
    written: tuple[Written, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    error: str = ""
    cursor: Cursor | None = None
    waiting: bool = False
    summary_refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Batch:
    """What a pass reads: messages of finished exchanges, and where the cursor goes from and to."""

    said: tuple[Message, ...]
    before: Cursor | None
    after: Cursor | None


class _Overtaken(Conflict):
    """Another pass has read this part of the thread; there is nothing left to do here."""


class Curator:
    """Curates every owner's threads, over one store.

    `check` tells whether messages support a line. Without a `proposer` only the person's explicit
    statements are proposed, as quotations; what the assistant says may repeat its own memory.
    With one, `attempts` spaces the passes after one that failed.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        notes: Notes,
        check: Check,
        proposer: Proposer | None = None,
        attempts: Attempts | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._notes = notes
        self._check = check
        self._proposer = proposer
        self._attempts = attempts if proposer else None

    def due(self, owner: Owner, thread: str) -> bool:
        """Whether enough was said in finished exchanges since the last pass. One indexed read."""
        settings = self._settings
        if not settings.curator_exchanges:
            return False
        with self._store.reading() as parts:
            rows = _finished(parts.state.unread(owner, thread, READER))
        exchanges = sum(role == "user" for _, role, _ in rows)
        if exchanges >= settings.curator_exchanges:
            return True
        said = sum(size for _, role, size in rows if role != "tool")
        return said >= settings.curator_characters

    def run(self, owner: Owner, thread: str) -> Report:
        """One pass over what was said since the last, whether due or not.

        At most about `curator_characters` are read, whole exchanges, at least one; the rest is for
        the next pass. A proposer that fails is reported, never raised, and is not asked again for a
        while; the same is read again then. Raises what the store does.
        """
        batch = self._read(owner, thread)
        if batch.after is None:
            return Report(cursor=batch.before)
        work = (READER, owner, thread)
        if self._attempts and (reason := self._attempts.reason(work)):
            return Report(error=mask(reason), cursor=batch.before, waiting=True)
        by_id = {one.id: one for one in batch.said}
        try:
            proposals = self._proposals(owner, batch.said)
            faults = [self._fault(one, by_id) for one in proposals]
            if faults and self._proposer and all(map(is_unusable, faults)):
                raise InvalidInput(f"no proposed line is usable: {faults[0]}")
        except Exception as error:  # a model's client may raise anything; the turn goes on
            told = f"{type(error).__name__}: {error}"
            if self._attempts:
                self._attempts.failed(work, error)
                told = self._attempts.reason(work) or told
            return Report(error=mask(told), cursor=batch.before)
        if self._attempts:
            self._attempts.succeeded(work)
        refused = [(p.text, why) for p, why in zip(proposals, faults, strict=True) if why]
        good = [p for p, why in zip(proposals, faults, strict=True) if not why]
        try:
            merged = self._write(owner, thread, batch, good)
        except (Conflict, InvalidInput) as error:
            return Report(len(proposals), error=mask(str(error)), cursor=batch.before)
        refused += [one for part in merged.values() for one in part.refused]
        written = tuple(
            Written(key, one.text, one.sources)
            for key, part in merged.items()
            for one in part.taken
        )
        masked = tuple((mask(line), mask(why)) for line, why in refused)
        return Report(len(proposals), written, masked, "", batch.after)

    def _read(self, owner: Owner, thread: str) -> _Batch:
        with self._store.reading() as parts:
            before = parts.state.cursor(owner, thread, READER)
            rows = _finished(parts.state.unread(owner, thread, READER))
            rows = _whole_exchanges(rows, self._settings.curator_characters)
            if not rows:
                return _Batch((), before, None)
            read = parts.messages.span(owner, thread, rows[0].place, rows[-1].place)
        said = tuple(one for one in read if one.role != "tool")
        return _Batch(said, before, Cursor(read[-1].time, read[-1].id))

    def _proposals(self, owner: Owner, said: Sequence[Message]) -> list[Proposal]:
        if self._proposer is None:
            return propose(said)
        return parse(self._proposer.propose(said, self._notes.get(owner, PAGE)))

    def _fault(self, proposal: Proposal, batch: dict[str, Message]) -> str | None:
        return fault(proposal, batch, self._check, self._settings.note_size)

    def _write(
        self, owner: Owner, thread: str, batch: _Batch, proposals: list[Proposal]
    ) -> dict[str, Merged]:
        """Appends the lines to their notes and moves the cursor, all or nothing.

        A note that others wrote meanwhile is read again. Raises `Conflict` where they do so too
        often, or where another pass was here first.
        """
        by_id = {one.id: one for one in batch.said}
        cited = sorted({id for one in proposals for id in one.sources})

        def also(tx: Transaction) -> None:
            assert batch.after is not None
            if not tx.state.advance(owner, thread, READER, batch.before, batch.after):
                raise _Overtaken("another pass has read this part of the conversation")
            found = tx.messages.get(owner, cited)
            if [one.text for one in found] != [by_id[id].text for id in cited]:
                raise _Overtaken("a message that a line cites is gone; the pass is made again")

        for _ in range(_ATTEMPTS):
            merged = self._merged(owner, by_id, proposals)
            drafts: list[Draft] = [part.draft for part in merged.values() if part.draft]
            try:
                self._notes.write_together(owner, drafts, writer="curator", also=also)
            except StaleRevision as error:
                stale = error
                continue
            return merged
        raise stale

    def _merged(
        self, owner: Owner, by_id: dict[str, Message], proposals: list[Proposal]
    ) -> dict[str, Merged]:
        zone, groups = self._settings.zone, dict[str, list[Dated]]()
        for one in proposals:
            newest = max(by_id[id].time for id in one.sources)
            day = local_day(newest, zone).isoformat()
            groups.setdefault(PAGE if one.lasting else day, []).append(Dated(one, day))
        merged: dict[str, Merged] = {}
        with self._store.reading() as parts:
            page = parts.notes.get(owner, PAGE)
            known = {fold(bare(line)) for line in page.text.splitlines()} if page else set()
            for key, lines in sorted(groups.items(), reverse=True):  # the page first
                note = page if key == PAGE else parts.notes.get(owner, key)
                of_page = key == PAGE and note is not None
                history = parts.notes.history(owner, PAGE) if of_page else []
                said = parts.messages.get(owner, note.sources) if of_page and note else []
                size = self._settings.note_size
                merged[key] = merge(key, note, lines, known, size, history, said)
                known |= {fold(one.text) for one in merged[key].taken}
        return merged


def _finished(rows: list[Unread]) -> list[Unread]:
    """Without the exchange in progress: what follows the newest user message, and that message,
    unless the assistant had the last word."""
    if not rows or rows[-1].role == "assistant":
        return rows
    newest = next((at for at in reversed(range(len(rows))) if rows[at].role == "user"), 0)
    return rows[:newest]


def _whole_exchanges(rows: list[Unread], characters: int) -> list[Unread]:
    """The oldest exchanges, up to the one that reaches so many characters."""
    said = 0
    for at, row in enumerate(rows):
        if row.role == "user" and said >= characters:
            return rows[:at]
        said += row.size if row.role != "tool" else 0
    return rows
